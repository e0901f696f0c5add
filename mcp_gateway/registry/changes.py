"""What is worth a line in the log when the status of a route changes (pure)."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from .loading import NOT_YET
from .snapshot import RouteStatus, ServiceReport, ServiceState

Line = tuple[int, str]
"""A level of ``logging``, and a message."""


def changes(old: Sequence[RouteStatus], new: Sequence[RouteStatus]) -> Iterator[Line]:
    """Yield a line for each thing that is now otherwise than before; nothing for what stays as bad as it was."""
    former = {status.route: status for status in old}
    for status in new:
        yield from _of_route(former.pop(status.route, None), status)
    for route in former:
        yield logging.INFO, f"route '{route}' is gone"


def _of_route(old: RouteStatus | None, new: RouteStatus) -> Iterator[Line]:
    reports = {report.name: report for report in old.services} if old else {}
    for report in new.services:
        for level, text in _of_service(reports.get(report.name), report):
            yield level, f"route '{new.route}': Tool Service '{report.name}': {text}"
    if new.error and new.error != (old.error if old else None):
        yield logging.ERROR, f"route '{new.route}' cannot be renewed: {new.error}"
    was = old.snapshot.digest if old and old.snapshot else None
    if new.snapshot and new.snapshot.digest != was:
        yield logging.INFO, f"route '{new.route}' serves {len(new.snapshot.tools)} tools, digest {new.snapshot.digest}"


def _of_service(old: ServiceReport | None, new: ServiceReport) -> Iterator[Line]:
    known = old.left_out if old else ()
    if new.error and new.error != NOT_YET and new.error != (old.error if old else None):
        yield logging.WARNING, f"{new.error} ({_MEANWHILE[new.state]})"
    if new.state is ServiceState.LOADED and (old is None or (old.state, old.loaded_at) != (new.state, new.loaded_at)):
        yield logging.INFO, f"loaded; {new.tools} of its tools are served"
    for left_out in new.left_out:
        if left_out not in known:
            yield logging.WARNING, f"tool '{left_out.tool}' is left out: {left_out.place}: {left_out.reason}"


_MEANWHILE = {
    ServiceState.LOADED: "its tools are served",
    ServiceState.STALE: "the last good manifest is kept",
    ServiceState.FALLBACK: "the fallback manifest stands in",
    ServiceState.FAILED: "nothing of it is served",
}
