"""
One walk over a route: the way to each of its Tool Services, what they come to together, and the call of one tool.

All of it is done with the gateway's own rooms; ``way`` and ``call`` take the steps.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from ...config.model import Config, Route, ToolService
from ...registry.loading import RouteLoad, ServiceLoad
from ...registry.snapshot import LeftOut, ServiceReport, Snapshot
from ..diagnosis import Culprit, Diagnosis, Layer
from . import causes
from .call import Asked, Call
from .report import Mark, Step, faulty
from .way import Way


class Walk:
    """
    One walk over a route.

    Args:

        config: The configuration.

        route: The route.

        services: Those of its Tool Services that are looked at.

        tool: The one tool that matters, to which what others lack is worth a warning; ``None``: each matters.
    """

    def __init__(self, config: Config, route: Route, services: Sequence[ToolService], *, tool: str | None) -> None:
        self._tool = tool
        self._left_out = Mark.FAULT if tool is None else Mark.WARNING
        self._config = config
        self._route = route
        self._loads = {service.name: ServiceLoad(service) for service in services}
        self._whole = RouteLoad(route, list(self._loads.values()))
        self._snapshot: Snapshot | None = None

    def close(self) -> None:
        """Let go of connections."""
        for load in self._loads.values():
            load.close()

    def owner(self, tool: str) -> str | None:
        """Return the Tool Service that runs *tool*, as far as the manifests that were had say so."""
        found = self._snapshot.find(tool) if self._snapshot else None
        return found.service if found else None

    def service(self, name: str) -> Iterator[Step]:
        """Yield the steps to a Tool Service and to its manifest; the last one is the first that fails."""
        load_timeout_s = self._config.registry.load_timeout_s
        way = Way(self._loads[name], self._whole, load_timeout_s=load_timeout_s, left_out=self._left_out)
        return way.steps()

    def assemble(self) -> Iterator[Step]:
        """Yield what is wrong when the Tool Services of the route are put together; nothing when all is well."""
        self._snapshot = self._whole.renew(max_tools=self._config.limits.max_tools_per_route, now=datetime.now(UTC))
        subject = f"Route {self._route.key}"
        if self._whole.error:
            advice = "Raise limits.max_tools_per_route, or spread the Tool Services over several routes."
            bad = Diagnosis(Layer.CONFIGURATION, Culprit.CONFIGURATION, self._whole.error, advice)
            yield faulty(bad, subject=subject)
        for report in self._snapshot.services if self._snapshot else ():
            for bad in self._lost(report):
                yield faulty(bad, (), self._left_out, subject=subject, service=report.name)

    def _lost(self, report: ServiceReport) -> Iterator[Diagnosis]:
        """Yield what a Tool Service has and another one of the route is called for."""
        manifest = self._loads[report.name].manifest
        own = manifest.left_out if manifest else ()
        for finding in _told(report.name, report.left_out[len(own) :], self._tool):
            advice = "Have one of the two renamed by its owner, or put the Tool Services on routes of their own."
            yield Diagnosis(Layer.MANIFEST, Culprit.CONFIGURATION, finding, advice)
        if self._tool is not None and self.owner(self._tool) not in (None, report.name):
            yield from (causes.of_left_out(_left_out(left, report.name)) for left in own if left.tool == self._tool)

    def call(self, asked: Asked, *, send: bool) -> Iterator[Step]:
        """Yield the steps of the call from the schema on; the last one is the first that fails."""
        subject = f"Tool {asked.tool}"
        tool = self._snapshot.find(asked.tool) if self._snapshot else None
        if tool is None or self._snapshot is None:
            yield self._missing(asked.tool, subject)
            return
        call = Call(self._config, self._route, self._snapshot, tool, asked)
        try:
            for step in call.steps(send=send):
                yield step
                if step.mark is Mark.FAULT:
                    return
        finally:
            call.close()

    def _missing(self, name: str, subject: str) -> Step:
        unknown = [load.service.name for load in self._loads.values() if load.manifest is None]
        for load in self._loads.values():
            for left in load.manifest.left_out if load.manifest else ():
                if left.tool == name:
                    bad = causes.of_left_out(f"it is left out: {left.place}: {left.reason}")
                    return faulty(bad, subject=subject, service=load.service.name)
        if unknown or self._snapshot is None:
            finding = f"not known: there is no manifest of {', '.join(unknown) or 'the route'}"
            return Step(Layer.SCHEMA, Mark.SKIPPED, finding, subject=subject)
        names = list(self._snapshot.by_name)
        near = difflib.get_close_matches(name, names, n=3)
        advice = f"Did you mean {' or '.join(near)}?" if near else f"There are: {', '.join(names) or '(none)'}."
        finding = f"the route has no tool {name!r}"
        return faulty(Diagnosis(Layer.SCHEMA, Culprit.CALLER, finding, advice), subject=subject)


def _left_out(left: LeftOut, service: str) -> str:
    return f"{left.tool} of Tool Service {service} is left out: {left.place}: {left.reason}"


def _told(service: str, clashes: Sequence[LeftOut], tool: str | None) -> Iterator[str]:
    """Yield what there is to say of tools whose names the route has already; of all but *tool* in one sentence."""
    others = [clash for clash in clashes if clash.tool != tool]
    for clash in clashes:
        if tool is None or clash.tool == tool or len(others) == 1:
            yield _left_out(clash, service)
    if tool is not None and len(others) > 1:
        more = "tools" if len(others) == len(clashes) else "more tools"
        yield f"{len(others)} {more} of Tool Service {service} are left out, whose names the route has already"
