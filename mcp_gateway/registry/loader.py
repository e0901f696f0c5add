"""
Brings the snapshots in: on boot, again after a failure, and, if wanted, every now and then.

One thread decides and publishes; each request to a Tool Service or a portal has a short-lived thread of its own, whose
result comes back as a function that the first thread runs. So nothing here needs a lock, a silent Tool Service holds
nobody up, and whatever happens the gateway goes on with the last good snapshot.
"""

from __future__ import annotations

import logging
import queue
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from ..config.model import Config, Route, ToolService
from ..deadline import Deadline
from .changes import changes
from .fetch import FetchFault, fetch
from .last_good import NOTHING_KEPT, LastGood
from .loading import LAST_RETRY_S, RouteLoad, ServiceLoad, Turn
from .manifest import ManifestFault
from .snapshot import Manifest, RouteStatus
from .snapshots import Snapshots
from .source import SourceFault
from .sources import open_source

logger = logging.getLogger("mcp_gateway.registry")

Result = Callable[[], None]


class Loader:
    """
    Loads the routes of one worker and keeps them fresh.

    Args:

        config: The configuration.

        versions: The protocol versions that a route may serve, for a portal's routes.

        snapshots: Where the snapshots go.

        user_agent: What requests to Tool Services and portals say they come from.

        on_routes: Called with all routes, first on boot and then whenever they have changed, before a snapshot of a
            new route is published.

        last_good: What earlier workers have read well.

        jitter: Returns a random number from 0 to 1; it spreads the workers' requests in time.

        on_status: Called with what is known of each route whenever that may have changed.
    """

    def __init__(
        self,
        config: Config,
        *,
        versions: Sequence[str],
        snapshots: Snapshots,
        user_agent: str,
        on_routes: Callable[[tuple[Route, ...]], None],
        last_good: LastGood = NOTHING_KEPT,
        jitter: Callable[[], float] = random.random,
        on_status: Callable[[Sequence[RouteStatus]], object] = lambda _: None,
    ) -> None:
        self._registry = config.registry
        self._max_tools = config.limits.max_tools_per_route
        self._snapshots = snapshots
        self._user_agent = user_agent
        self._on_routes = on_routes
        self._jitter = jitter
        self._on_status = on_status
        self._last_good = last_good
        self._source = open_source(config, versions=versions, user_agent=user_agent, last_good=last_good)
        self._source_turn = Turn()
        self._source_error: str | None = None
        self._routes: tuple[Route, ...] | None = None
        self._loads: dict[str, RouteLoad] = {}
        self._status: tuple[RouteStatus, ...] = ()
        self._results: queue.SimpleQueue[Result] = queue.SimpleQueue()
        self._first_round = threading.Event()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="registry", daemon=True)

    def start(self) -> None:
        """Begin to load; return when everything has answered or failed once, at the latest after ``load_timeout_s``."""
        self._thread.start()
        self._first_round.wait(self._registry.load_timeout_s)

    def stop(self) -> None:
        """End the loading; what has been published stays."""
        self._results.put(self._stop)
        if self._thread.is_alive():
            self._thread.join()
        self._close()

    def status(self) -> tuple[RouteStatus, ...]:
        """Return what is known of each route, in the order of the routes."""
        return self._status

    def source_error(self) -> str | None:
        """Return why the source could not say the routes when it was last asked; ``None``: it could."""
        return self._source_error

    def load_once(self) -> tuple[RouteStatus, ...]:
        """
        Load everything once in the calling thread, instead of ``start`` and ``stop``.

        Raises:

            SourceFault: The source does not say what the routes are.
        """
        try:
            self._run_until(self._first_round.is_set)
        finally:
            self._close()
        if self._source_error is not None:
            raise SourceFault(self._source_error)
        return self._status

    # --- the loop ----------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        self._run_until(lambda: self._stopped)

    def _run_until(self, done: Callable[[], bool]) -> None:
        while not done():
            pause = self._ask_whoever_is_due()
            try:
                result = self._results.get(timeout=pause)
            except queue.Empty:
                continue
            result()
            self._note()

    def _ask_whoever_is_due(self) -> float | None:
        """Start the requests that are due; return the seconds until the next one is, or ``None``."""
        now, pauses = time.monotonic(), []
        for turn, ask in self._turns():
            if not turn.under_way and turn.due <= now:
                turn.under_way = True
                threading.Thread(target=self._work, args=(turn, ask), name="registry-request", daemon=True).start()
            elif not turn.under_way and turn.due < float("inf"):
                pauses.append(turn.due - now)
        return min(pauses, default=None)

    def _turns(self) -> Iterator[tuple[Turn, Callable[[], Result]]]:
        yield self._source_turn, self._ask_source
        for route in self._loads.values():
            for load in route.services:
                yield load.turn, partial(self._ask_service, load)

    def _work(self, turn: Turn, ask: Callable[[], Result]) -> None:
        # Should a request end in a way that nobody thought of, the thread reports it, and the loop asks again later.
        result: Result = partial(turn.failed, self._jitter)
        try:
            result = ask()
        finally:
            self._results.put(result)

    def _note(self) -> None:
        """Show and log how things stand now."""
        status = tuple(load.status() for load in self._loads.values())
        for level, line in changes(self._status, status):
            logger.log(level, "%s", line)
        self._status = status
        self._on_status(status)
        if self._source_turn.tried and all(load.tried for load in self._loads.values()):
            self._first_round.set()

    def _stop(self) -> None:
        self._stopped = True

    def _close(self) -> None:
        self._source.close()
        for route in self._loads.values():
            for load in route.services:
                load.close()

    # --- routes ------------------------------------------------------------------------------------------------------

    def _ask_source(self) -> Result:
        try:
            routes = self._source.routes(Deadline.after(self._registry.load_timeout_s))
        except SourceFault as fault:
            return partial(self._source_failed, str(fault), fault.last_good)
        return partial(self._source_answered, routes)

    def _source_failed(self, error: str, last_good: tuple[Route, ...] | None) -> None:
        self._source_turn.failed(self._jitter)
        if self._routes is None and last_good is not None:
            self._take(last_good)
        if error != self._source_error:
            logger.error("the routes could not be had from '%s': %s", self._registry.source, error)
        self._source_error = error

    def _source_answered(self, routes: tuple[Route, ...]) -> None:
        self._source_turn.succeeded(self._registry.refresh_interval_s, self._jitter)
        self._source_error = None
        if routes != self._routes:
            self._take(routes)

    def _take(self, routes: tuple[Route, ...]) -> None:
        """Go over to other routes; what is known of their Tool Services already is kept."""
        former, self._routes = self._loads, routes
        self._loads = {route.key: self._adopt(route, former.get(route.key)) for route in routes}
        kept = {id(load) for route in self._loads.values() for load in route.services}
        for load in (load for route in former.values() for load in route.services):
            if id(load) not in kept:
                load.close()
        # Old routes first lose what the new ones do not have: no caller may see a tool that its route cannot call.
        for route_load in self._loads.values():
            self._renew(route_load)
        self._snapshots.retire({key for key in former if key not in self._loads or not self._loads[key].snapshot})
        self._on_routes(routes)

    def _adopt(self, route: Route, former: RouteLoad | None) -> RouteLoad:
        if former is None:
            return RouteLoad(route, [ServiceLoad(service) for service in route.tool_services])
        known = {load.service.name: load for load in former.services}
        services = [self._known_or_new(service, known.get(service.name)) for service in route.tool_services]
        some_left = any(load.manifest for load in services)
        return RouteLoad(route, services, former.snapshot if some_left else None, failures=former.failures)

    def _known_or_new(self, service: ToolService, known: ServiceLoad | None) -> ServiceLoad:
        if known is not None and known.service == service:
            return known
        load = ServiceLoad(service)
        if known is not None and (known.service.base_url, known.service.manifest_path) == (
            service.base_url,
            service.manifest_path,
        ):
            load.take_over(known)
        return load

    # --- manifests ---------------------------------------------------------------------------------------------------

    def _ask_service(self, load: ServiceLoad) -> Result:
        deadline = Deadline.after(self._registry.load_timeout_s)
        try:
            client = load.client(self._user_agent)
            answer = fetch(client, load.service.manifest_path, what="manifest", etag=load.etag, deadline=deadline)
            manifest = load.read(answer.text)
        except (FetchFault, ManifestFault) as fault:
            return self._service_failure(load, str(fault))
        except OSError as fault:
            return self._service_failure(load, f"its ca_bundle cannot be used: {fault.strerror}")
        if manifest is not None and answer.text is not None:
            self._last_good.keep(load.place, answer.text)
            manifest = replace(manifest, says_json=answer.says_json)
        return partial(self._service_loaded, load, partial(load.loaded, manifest, answer.text, answer.etag))

    def _service_failure(self, load: ServiceLoad, error: str) -> Result:
        return partial(self._service_failed, load, error, load.recall(self._last_good.find(load.place)))

    def _service_failed(self, load: ServiceLoad, error: str, last_good: Manifest | None) -> None:
        interval = self._registry.refresh_interval_s
        load.turn.failed(self._jitter, interval if load.has_loaded and interval else LAST_RETRY_S)
        for route in self._routes_of(load):
            load.failed(error, route.fallback_for(load), last_good)
            route.failures += 1
            self._renew(route)

    def _service_loaded(self, load: ServiceLoad, note: Callable[[datetime], None]) -> None:
        load.turn.succeeded(self._registry.refresh_interval_s, self._jitter)
        note(datetime.now(UTC))
        for route in self._routes_of(load):
            self._renew(route)

    def _routes_of(self, load: ServiceLoad) -> list[RouteLoad]:
        """Return the route of *load*; none when it has been taken away while its request was under way."""
        return [route for route in self._loads.values() if load in route.services]

    def _renew(self, route: RouteLoad) -> None:
        """Publish the route's tools as of now; for the first time when each of its Tool Services has been tried."""
        if route.snapshot is None and not route.tried:
            return
        renewed = route.renew(max_tools=self._max_tools, now=datetime.now(UTC))
        if renewed is not None:
            self._snapshots.publish(renewed)
