"""
The metrics of one worker: a sink of the record, and what else there is to count.

Look-ups of labels take no lock: each set of labels is asked for once and then kept in a plain dictionary.
"""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from prometheus_client import Counter, Gauge, Histogram, generate_latest, values
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from . import declared
from .declared import Declared, Kind
from .interaction import UNKNOWN, Interaction
from .seats import NoRoom, Seat

_log = logging.getLogger("mcp_gateway.observe")

# The library has no types for these two.
_MultiProcessValue: Any = values.MultiProcessValue
_MultiProcessCollector: Any = MultiProcessCollector


@dataclass(frozen=True, slots=True)
class ServiceNumbers:
    """How a Tool Service's part of a route is in this worker; ``state`` is one of *STATES*."""

    name: str
    state: str
    left_out: int


@dataclass(frozen=True, slots=True)
class RouteNumbers:
    """How a route is in this worker; ``failures``: loads that failed since it started."""

    route: str
    tools: int
    loaded_at: float
    failures: int
    services: Sequence[ServiceNumbers]


STATES = ("loaded", "stale", "fallback", "failed")


class Metrics(Protocol):
    """What can be counted. Nothing here waits, and nothing fails for want of room."""

    def started(self, version: str, configuration_faults: int) -> None:
        """Note that this worker has started, and how many faults the newest configuration has."""
        ...

    def exchange(self, seen: Interaction) -> None:
        """Note an exchange at its end: a sink."""
        ...

    def turned_away(self, status: int) -> None:
        """Note a request that was refused as HTTP."""
        ...

    def gate(self, route: str, service: str, limit: int) -> Callable[[int], object]:
        """Return what is told 1 when a call of a Tool Service begins, and -1 when it is over."""
        ...

    def registry(self, routes: Iterable[RouteNumbers], error: bool) -> None:
        """Note how the routes are; *error*: the source could not say what they are."""
        ...

    def page(self) -> bytes | None:
        """Return the text that Prometheus reads, with the numbers of all workers; ``None``: nothing is counted."""
        ...


class NoMetrics(Metrics):
    """
    Counts nothing: there is no place for it.

    Args:

        page: What other workers have counted, where they have found a place.
    """

    def __init__(self, page: Page | None = None) -> None:
        self._page = page

    def started(self, version: str, configuration_faults: int) -> None:
        """Do nothing."""

    def exchange(self, seen: Interaction) -> None:
        """Do nothing."""

    def turned_away(self, status: int) -> None:
        """Do nothing."""

    def gate(self, route: str, service: str, limit: int) -> Callable[[int], object]:
        """Return what does nothing."""
        return _nothing

    def registry(self, routes: Iterable[RouteNumbers], error: bool) -> None:
        """Do nothing."""

    def page(self) -> bytes | None:
        """Return what others have counted, if there is anything."""
        return None if self._page is None else self._page.read() or None


NO_METRICS = NoMetrics()


def of(seat: Seat | None) -> Metrics:
    """Return the metrics of the worker on *seat*; those that count nothing when it has none, or no room there."""
    if seat is None:
        return NO_METRICS
    try:
        seat.prepare()
    except OSError as fault:
        _log.error("this worker counts nothing: there is no room for its metrics: %s", fault.strerror)
        return NoMetrics(Page(seat)) if seat.folder.is_dir() else NO_METRICS
    return WorkerMetrics(seat)


class WorkerMetrics(Metrics):
    """
    What one worker counts into its seat.

    There is one in a process: prometheus_client has one place for all metrics that it is asked for.

    Args:

        seat: Where to; its files are prepared.
    """

    def __init__(self, seat: Seat) -> None:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(seat.folder)
        values.ValueClass = _MultiProcessValue(lambda: seat.number)
        made = {metric: _Children(metric, seat) for metric in declared.ALL}
        self._operation = made[declared.OPERATION]
        self._tool_service = made[declared.TOOL_SERVICE_DURATION]
        self._queue = made[declared.QUEUE_DURATION]
        self._in_flight = made[declared.IN_FLIGHT]
        self._max_in_flight = made[declared.MAX_IN_FLIGHT]
        self._busy = made[declared.BUSY]
        self._turned_away = made[declared.TURNED_AWAY]
        self._others = made
        self._failures: dict[str, int] = {}
        self._manifests: set[tuple[str, str]] = set()
        self._page = Page(seat)

    def started(self, version: str, configuration_faults: int) -> None:
        """Note that this worker has started, and how many faults the newest configuration has."""
        self._others[declared.WORKERS].of().set(1)
        self._others[declared.WORKER_STARTS].of().inc()
        self._others[declared.BUILD].of(version).set(1)
        self._others[declared.CONFIGURATION_FAULTS].of().set(configuration_faults)

    def exchange(self, seen: Interaction) -> None:
        """Note an exchange at its end."""
        queue_s = 0.0
        if seen.queue_ms is not None:
            queue_s = seen.queue_ms / 1000
            self._queue.of().observe(queue_s)
        if seen.revision is None and seen.code is None:
            self.turned_away(seen.status)
            return
        method, tool = seen.method or UNKNOWN, seen.tool or ""
        labels = (seen.route, method, seen.revision or "", tool, error_type(seen), seen.reason or "")
        self._operation.of(*labels).observe(queue_s + (seen.ended or seen.started) - seen.started)
        if seen.service is None:
            return
        if seen.reason == "busy":
            self._busy.of(seen.route, seen.service).inc()
        elif seen.called is not None and seen.returned is not None:
            self._tool_service.of(seen.route, seen.service, failure(seen)).observe(seen.returned - seen.called)

    def turned_away(self, status: int) -> None:
        """Note a request that was refused as HTTP."""
        self._turned_away.of(str(status)).inc()

    def gate(self, route: str, service: str, limit: int) -> Callable[[int], object]:
        """Return what is told 1 when a call of a Tool Service begins, and -1 when it is over."""
        self._max_in_flight.of(route, service).set(limit)
        # There from the start, so that the first of each is a step up from 0 and not a series that begins with 1.
        self._busy.of(route, service).inc(0)
        self._tool_service.of(route, service, "")
        in_flight = self._in_flight.of(route, service)
        in_flight.set(0)
        tell: Callable[[int], object] = in_flight.inc
        return tell

    def registry(self, routes: Iterable[RouteNumbers], error: bool) -> None:
        """Note how the routes are; called by the one thread that loads."""
        self._others[declared.REGISTRY_ERROR].of().set(error)
        manifests: set[tuple[str, str]] = set()
        gone = set(self._failures)
        for route in routes:
            gone.discard(route.route)
            self._others[declared.ROUTE_TOOLS].of(route.route).set(route.tools)
            self._others[declared.SNAPSHOT_TIME].of(route.route).set(route.loaded_at)
            failed = self._failures.get(route.route, 0)
            self._others[declared.LOAD_FAILURES].of(route.route).inc(max(0, route.failures - failed))
            self._failures[route.route] = route.failures
            for service in route.services:
                manifests.add((route.route, service.name))
                self._manifest(route.route, service.name, service.state)
                self._others[declared.LEFT_OUT].of(route.route, service.name).set(service.left_out)
        for route_key, name in self._manifests - manifests:
            self._manifest(route_key, name, None)
            self._others[declared.LEFT_OUT].of(route_key, name).set(0)
        self._manifests = manifests
        for route_key in gone:
            # A series cannot be taken away, and 0 would say that there is such a route, without tools.
            self._others[declared.ROUTE_TOOLS].of(route_key).set(math.nan)
            self._others[declared.SNAPSHOT_TIME].of(route_key).set(math.nan)
            del self._failures[route_key]

    def page(self) -> bytes | None:
        """Return the text that Prometheus reads."""
        return self._page.read()

    def _manifest(self, route: str, service: str, now: str | None) -> None:
        for state in STATES:
            self._others[declared.MANIFEST_WORKERS].of(route, service, state).set(state == now)


def error_type(seen: Interaction) -> str:
    """Return ``error.type`` as the conventions for MCP have it: a JSON-RPC code, ``tool_error``, or an HTTP status."""
    if seen.outcome in ("ok", "accepted"):
        return ""
    if seen.code is not None:
        return str(seen.code)
    return str(seen.status) if seen.status >= 400 else "tool_error"


def failure(seen: Interaction) -> str:
    """Return why a call of a Tool Service brought no usable answer; a status by its class, which says whose fault."""
    if seen.outcome != "tool_error":
        return ""
    if seen.reason == "status" and seen.tool_status is not None:
        return f"{seen.tool_status // 100}xx"
    return seen.reason or ""


class Page:
    """
    The text that Prometheus reads, made of the files of all workers.

    Requests that come while it is being made wait for the next one and share it, so that many scrapers cost no more
    than two.
    """

    def __init__(self, seat: Seat) -> None:
        self._collector = _Described(seat)
        self._lock = threading.Lock()
        self._begun = 0.0
        self._text = b""

    def read(self) -> bytes:
        """Return the text with all that had been counted when this was called."""
        called = time.monotonic()
        with self._lock:
            if self._begun <= called:
                self._begun = time.monotonic()
                self._text = generate_latest(self._collector)
            return self._text


class _Described(Collector):
    """What all workers have counted, each metric with the words that are declared for it."""

    def __init__(self, seat: Seat) -> None:
        self._files = _MultiProcessCollector(None, str(seat.folder))

    def collect(self) -> Iterable[Metric]:
        """Yield the metrics in the order of their declaration."""
        found = {metric.name: metric for metric in self._files.collect()}
        for family, metric in declared.BY_FAMILY.items():
            if family in found:
                found[family].documentation = metric.help
                yield found[family]


class _Children:
    """
    The series of one metric, by the values of its labels.

    What there is no room for is not counted, and the log says so once.
    """

    def __init__(self, metric: Declared, seat: Seat) -> None:
        self._metric = metric
        self._seat = seat
        self._known: dict[tuple[str, ...], Any] = {}
        self._lock = threading.Lock()
        # No help, as it would be in the files with each series.
        makers: dict[Kind, Callable[..., Any]] = {
            Kind.COUNTER: Counter,
            Kind.GAUGE: partial(Gauge, multiprocess_mode=metric.over_workers),
            Kind.HISTOGRAM: partial(Histogram, buckets=metric.buckets),
        }
        self._prefix = f"gauge_{metric.over_workers}" if metric.kind is Kind.GAUGE else metric.kind.value
        self._make = partial(makers[metric.kind], metric.name, "", metric.labels, registry=None)
        self._family: Any = None

    def of(self, *labels: str) -> Any:
        """Return what counts for these values of the labels."""
        child = self._known.get(labels)
        return self._new(labels) if child is None else child

    def _new(self, labels: tuple[str, ...]) -> Any:
        with self._lock:
            try:
                self._seat.make_room(self._prefix)
                if self._family is None:
                    self._family = self._make()
                child = self._family.labels(*labels) if labels else self._family
            except (OSError, NoRoom) as fault:
                _log.error("%s%s is not counted: there is no room for it: %s", self._metric.name, list(labels), fault)
                child = _NOTHING
            self._known[labels] = child
            return child


class _Nothing:
    """Stands where a series would be."""

    def inc(self, amount: float = 1) -> None:
        """Do nothing."""

    def set(self, value: float) -> None:
        """Do nothing."""

    def observe(self, amount: float) -> None:
        """Do nothing."""


_NOTHING = _Nothing()


def _nothing(_: int) -> None:
    """Do nothing."""
