"""
The only place that joins the rooms: a configuration in, something that serves out.

``Gateway`` is what a worker holds: the routes as they are now, behind one WSGI callable, and the loader that keeps
their tools fresh. ``create_app`` makes the Flask application for one set of routes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from flask import Blueprint, Flask

from . import __version__
from .caller import Headers
from .config import model
from .observe import logs
from .observe.interaction import Sink
from .observe.metrics import NO_METRICS, Metrics, RouteNumbers, ServiceNumbers
from .observe.tracing import Tracer
from .protocol import eras, rehearsal
from .protocol.reply import Reply
from .registry.last_good import NOTHING_KEPT, LastGood
from .registry.loader import Loader
from .registry.snapshot import RouteStatus
from .registry.snapshots import Snapshots, snapshots
from .tools.route import Client, Route
from .toolservice.client import ToolServiceClient
from .toolservice.traced import TracedClient
from .web import endpoint, guard, health
from .web import metrics as metrics_page
from .web.checks import Policy
from .web.console import views as console
from .web.health import Health
from .web.site import Site

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

USER_AGENT = f"mcp-gateway/{__version__}"


def create_app(
    config: model.Config,
    routes: Iterable[Route],
    look: Callable[[], Health],
    sinks: Sequence[Sink],
    metrics: Metrics = NO_METRICS,
) -> Flask:
    """
    Make the Flask application that serves *routes*.

    Args:

        look: Says how this worker is, for ``/readyz``.

        sinks: Get the record of each exchange.

        metrics: Counts what gets no record, and has the page of ``/metrics``.
    """
    app = Site("mcp_gateway", static_folder=None)
    app.url_map.merge_slashes = False  # a path is served as it is or not at all, never redirected to another
    server = config.server
    policy = Policy.of(config.profile, server.allowed_hosts, server.allowed_origins)
    guard.install(app, policy, metrics.turned_away)
    app.register_blueprint(health.blueprint(look))
    app.register_blueprint(metrics_page.blueprint(metrics.page))
    served = {route.config.key: route for route in routes}
    for route in served.values():
        app.register_blueprint(endpoint.blueprint(route, config.limits, sinks))
    if config.console.serves(config.profile):
        app.register_blueprint(_console(config, served, policy, look))
    return app


def _console(
    config: model.Config, routes: Mapping[str, Route], policy: Policy, look: Callable[[], Health]
) -> Blueprint:
    """Make the console, which gets to know the routes as they are configured and may call none of them."""

    def rehearse(key: str, headers: Headers, body: bytes) -> Reply | None:
        return rehearsal.rehearse(routes[key], headers, body)

    configured = [route.config for route in routes.values()]
    return console.blueprint(config, configured, policy, look, rehearse)


class Gateway:
    """
    What one worker serves: a WSGI application whose routes are swapped whole when a portal brings others.

    Args:

        config: The configuration that is in force.

        faults: Why a newer configuration was not taken, for ``/readyz``; empty: there is none.

        last_good: What earlier workers have read well of manifests and the portal.

        store: Where snapshots are published.

        sinks: Get the record of each exchange.

        metrics: Counts what happens in this worker, but for what its sink is told, which is one of *sinks*.

        tracer: Makes spans of exchanges and calls; ``None``: nobody wants any.
    """

    def __init__(
        self,
        config: model.Config,
        *,
        faults: Sequence[str] = (),
        last_good: LastGood = NOTHING_KEPT,
        store: Snapshots = snapshots,
        sinks: Sequence[Sink] = (logs.write,),
        metrics: Metrics = NO_METRICS,
        tracer: Tracer | None = None,
    ) -> None:
        self._config = config
        self._faults = tuple(faults)
        self._store = store
        self._sinks = tuple(sinks) if tracer is None else (*sinks, tracer.end)
        self._tracer = tracer
        self.metrics = metrics
        self._routes: tuple[Route, ...] = ()
        self._loader = Loader(
            config,
            versions=eras.VERSIONS,
            snapshots=store,
            user_agent=USER_AGENT,
            on_routes=self._serve,
            last_good=last_good,
            on_status=self._count,
        )
        self._serve(config.routes)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request, as if it had not asked for another protocol: werkzeug would route it as a websocket."""
        environ.pop("HTTP_UPGRADE", None)
        return self._app(environ, start_response)

    def start(self) -> None:
        """Load the tools; call it once in each worker. Returns within ``registry.load_timeout_s`` and never raises."""
        self.metrics.started(__version__, len(self._faults))
        self._loader.start()

    def stop(self) -> None:
        """End the loading, close the idle connections to Tool Services, and send the traces that are left."""
        self._loader.stop()
        for route in self._routes:
            for client in route.clients.values():
                client.close()
        if self._tracer is not None:
            self._tracer.close()

    def health(self) -> Health:
        """Return how this worker is."""
        status = self._loader.status()
        return Health(status, self._warnings(status), self._loader.source_error(), self._faults)

    def _count(self, status: Sequence[RouteStatus]) -> None:
        """Have the metrics show how the routes are."""
        routes = [
            RouteNumbers(
                each.route,
                tools=len(each.snapshot.tools) if each.snapshot else 0,
                loaded_at=each.snapshot.loaded_at.timestamp() if each.snapshot else 0.0,
                failures=each.failures,
                services=[ServiceNumbers(one.name, one.state, len(one.left_out)) for one in each.services],
            )
            for each in status
        ]
        self.metrics.registry(routes, error=self._loader.source_error() is not None)

    def _warnings(self, status: Sequence[RouteStatus]) -> dict[str, list[tuple[str, str]]]:
        configured = {route.config.key: route.config for route in self._routes}
        return {
            each.route: [
                (tool.name, sentence)
                for tool in each.snapshot.tools
                for sentence in eras.warnings(tool, configured[each.route])
            ]
            for each in status
            if each.snapshot is not None and each.route in configured
        }

    def _serve(self, routes: tuple[model.Route, ...]) -> None:
        """Serve these routes from the next request on; those under way end on the ones they began with."""
        kept = {
            (route.config.key, service.name): (service, route.clients[service.name])
            for route in self._routes
            for service in route.config.tool_services
        }

        def client(route: model.Route, service: model.ToolService) -> Client:
            known, existing = kept.get((route.key, service.name), (None, None))
            # A client is kept with its connections and its calls under way as long as its service is configured alike.
            return existing if existing is not None and known == service else self._new_client(route, service)

        self._routes = tuple(
            Route(
                route,
                self._config.server,
                self._store,
                {service.name: client(route, service) for service in route.tool_services},
                self._tracer,
            )
            for route in routes
        )
        self._app = create_app(self._config, self._routes, self.health, self._sinks, self.metrics)

    def _new_client(self, route: model.Route, service: model.ToolService) -> Client:
        client = ToolServiceClient(
            service,
            max_response_bytes=self._config.limits.max_response_bytes,
            user_agent=USER_AGENT,
            told=self.metrics.gate(route.key, service.name, service.max_in_flight),
        )
        return client if self._tracer is None else TracedClient(client, self._tracer)
