"""A worker's gateway as a whole: loaded over real sockets, and swapped to other routes while calls are under way."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from road import LEGACY, dumps, error, message, parsed, refusal, result
from support.toolservice import Received, Reply, ToolService
from support.waiting import wait_until
from werkzeug.middleware.lint import LintMiddleware
from werkzeug.test import Client, TestResponse

from mcp_gateway import __version__
from mcp_gateway.app import Gateway
from mcp_gateway.config import model
from mcp_gateway.observe.interaction import Interaction
from mcp_gateway.observe.metrics import NoMetrics, RouteNumbers, ServiceNumbers
from mcp_gateway.registry.snapshots import Snapshots, snapshots
from mcp_gateway.web import endpoint

ECHO = {"name": "core.echo", "arguments": {"말": 1.10}}
PORTAL_PATH = "/registry/v0.1/routes"


def echo(received: Received) -> Reply:
    return Reply.of_json(received.body)


@pytest.fixture
def service() -> Iterator[ToolService]:
    with ToolService() as running:
        running.add("core.echo", echo)
        yield running


@pytest.fixture
def make() -> Iterator[Callable[..., Gateway]]:
    """Make gateways; all stop with the test."""
    made: list[Gateway] = []

    def gateway(config: model.Config, **options: Any) -> Gateway:
        made.append(Gateway(config, store=Snapshots(), **options))
        return made[-1]

    yield gateway
    for each in made:
        each.stop()


def configured(service: ToolService, key: str = "core", **options: Any) -> model.Route:
    return model.Route(
        key=key,
        public_path=f"/mcp/{key}",
        tool_services=(model.ToolService(service.name, service.base_url, **options),),
        protocol_versions=("2026-07-28", LEGACY),
    )


def post(gateway: Gateway, method: str, params: Any = None, path: str = "/mcp/core") -> TestResponse:
    body = dumps(message(method, params))
    headers = {"Content-Type": "application/json", "MCP-Protocol-Version": LEGACY, "Host": "localhost"}
    return Client(LintMiddleware(gateway)).post(path, data=body, headers=headers)


def status(gateway: Gateway) -> dict[str, Any]:
    return parsed(Client(gateway).get("/readyz"))


# --- one set of routes -----------------------------------------------------------------------------------------------


def test_a_started_gateway_calls_the_tools_of_its_services(make: Callable[..., Gateway], service: ToolService) -> None:
    records: list[Interaction] = []
    gateway = make(model.Config(routes=(configured(service),)), sinks=[records.append])
    gateway.start()

    members = result(post(gateway, "tools/call", ECHO))

    assert members["content"][0]["text"] == '{"말":1.1}'
    assert service.received[0].header("User-Agent") == f"mcp-gateway/{__version__}"
    assert status(gateway)["status"] == "ready"
    assert [record.tool for record in records] == ["core.echo"]


class Counted(NoMetrics):
    """Metrics that remember how the routes were said to be, and how many calls were under way."""

    def __init__(self) -> None:
        super().__init__()
        self.routes: dict[str, RouteNumbers] = {}
        self.error = False
        self.versions: list[tuple[str, int]] = []
        self.under_way: dict[tuple[str, str, int], list[int]] = {}

    def started(self, version: str, configuration_faults: int) -> None:
        self.versions.append((version, configuration_faults))

    def registry(self, routes: Iterable[RouteNumbers], error: bool) -> None:
        self.routes, self.error = {route.route: route for route in routes}, error

    def gate(self, route: str, service: str, limit: int) -> Callable[[int], object]:
        return self.under_way.setdefault((route, service, limit), []).append


def test_metrics_hear_how_the_routes_are_and_of_each_call_as_it_begins_and_ends(
    make: Callable[..., Gateway], service: ToolService
) -> None:
    counted = Counted()
    service.add("core.bad", echo, {"type": "string"})
    config = model.Config(routes=(configured(service),))
    gateway = make(config, metrics=counted, faults=("one", "two"))
    gateway.start()
    result(post(gateway, "tools/call", ECHO))

    current = gateway.health().routes[0].snapshot
    assert current is not None
    assert counted.versions == [(__version__, 2)]
    assert counted.routes["core"] == RouteNumbers(
        "core", 1, current.loaded_at.timestamp(), 0, [ServiceNumbers(service.name, "loaded", 1)]
    )
    assert counted.error is False
    assert counted.under_way == {("core", service.name, 16): [1, -1]}


def test_metrics_hear_of_a_route_that_has_nothing_yet(make: Callable[..., Gateway], service: ToolService) -> None:
    counted = Counted()
    service.stop()
    gateway = make(model.Config(routes=(configured(service),)), metrics=counted)
    gateway.start()

    route = counted.routes["core"]
    assert (route.tools, route.loaded_at) == (0, 0.0)
    assert route.failures >= 1
    assert [one.state for one in route.services] == ["failed"]


def test_a_gateway_serves_before_it_has_loaded_anything(make: Callable[..., Gateway], service: ToolService) -> None:
    gateway = make(model.Config(routes=(configured(service),)))

    assert result(post(gateway, "ping")) == {}
    assert error(post(gateway, "tools/list"), -32603)["data"]["reason"] == "registry_unavailable"


def test_a_start_with_a_silent_service_takes_no_longer_than_the_budget_and_the_rest_is_served(
    make: Callable[..., Gateway], service: ToolService
) -> None:
    with ToolService("silent") as silent:
        silent.manifest_gate.clear()
        config = model.Config(
            registry=model.Registry(load_timeout_s=0.3), routes=(configured(service), configured(silent, "silent"))
        )
        gateway = make(config)
        gateway.start()

        assert result(post(gateway, "tools/list"))["tools"]
        error(post(gateway, "tools/list", path="/mcp/silent"), -32603)
        assert status(gateway)["status"] == "not_ready"


def test_each_route_has_its_own_path_tools_and_name(make: Callable[..., Gateway], service: ToolService) -> None:
    with ToolService("hr-tools") as other:
        other.add("hr.leave", echo)
        gateway = make(model.Config(routes=(configured(service), configured(other, "hr"))))
        gateway.start()

        core, hr = (result(post(gateway, "tools/list", path=f"/mcp/{key}"))["tools"] for key in ("core", "hr"))

    assert [[each["name"] for each in tools] for tools in (core, hr)] == [["core.echo"], ["hr.leave"]]
    assert "unknown tool" in error(post(gateway, "tools/call", ECHO, "/mcp/hr"), -32602)["message"]


def test_the_answer_of_a_service_may_not_be_larger_than_the_limit(
    make: Callable[..., Gateway], service: ToolService
) -> None:
    gateway = make(model.Config(limits=model.Limits(max_response_bytes=5), routes=(configured(service),)))
    gateway.start()

    members = result(post(gateway, "tools/call", ECHO))

    assert members["_meta"]["mcp-gateway/failure"]["reason"] == "too_large"


def test_a_request_to_change_the_protocol_is_answered_as_if_it_had_not_been_made(
    make: Callable[..., Gateway], service: ToolService
) -> None:
    gateway = make(model.Config(routes=(configured(service),)))

    response = Client(gateway).get("/healthz", headers={"Connection": "Upgrade", "Upgrade": "websocket"})

    assert response.status_code == 200


def test_faults_of_a_newer_configuration_are_shown(make: Callable[..., Gateway], service: ToolService) -> None:
    gateway = make(model.Config(routes=(configured(service),)), faults=["routes[0].key: is wrong"])

    assert status(gateway)["configurationFaults"] == ["routes[0].key: is wrong"]


def test_a_gateway_publishes_where_this_worker_looks_unless_it_is_told_another_place(service: ToolService) -> None:
    gateway = Gateway(model.Config(routes=(configured(service, "default-store"),)))
    gateway.start()
    gateway.stop()

    assert snapshots.current("default-store") is not None
    snapshots.retire({"default-store"})


def test_a_failure_outside_the_road_is_a_500_in_the_shape_of_all_errors(
    make: Callable[..., Gateway],
    service: ToolService,
    log: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(_: object) -> None:
        raise RuntimeError("the inside")

    monkeypatch.setattr(endpoint, "queue_ms", broken)
    response = post(make(model.Config(routes=(configured(service),))), "ping")

    assert "inside" not in str(refusal(response, 500, "internal_error"))
    assert "the inside" in log.text


class Listener(ThreadingHTTPServer):
    """A Tool Service that tells when the connection of a call ends."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Connection)
        self.ended = threading.Event()


class Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Listener

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._send(b"done", "text/plain")

    def do_GET(self) -> None:
        entry = {"name": "a", "description": "A.", "inputSchema": {"type": "object"}, "endpoint": "/a"}
        self.close_connection = True
        self._send(json.dumps({"manifestVersion": "1", "tools": [entry]}).encode(), "application/json")

    def _send(self, body: bytes, content_type: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def finish(self) -> None:
        super().finish()
        if self.command == "POST":
            self.server.ended.set()

    def log_message(self, *_: object) -> None:
        """Keep the test's output free of access logs."""


def test_a_gateway_that_stops_closes_the_connections_at_rest(make: Callable[..., Gateway]) -> None:
    with Listener() as listener:
        serving = threading.Thread(target=listener.serve_forever, args=(0.01,))
        serving.start()
        service = model.ToolService("core-tools", f"http://127.0.0.1:{listener.server_port}")
        gateway = make(model.Config(routes=(model.Route("core", "/mcp/core", (service,), (LEGACY,)),)))
        gateway.start()
        try:
            assert result(post(gateway, "tools/call", {"name": "a"}))["isError"] is False
            assert not listener.ended.wait(0.1)

            gateway.stop()

            assert listener.ended.wait(10)
        finally:
            listener.shutdown()
            serving.join()


# --- routes of a portal ----------------------------------------------------------------------------------------------


class Portal:
    """A portal registry whose routes a test sets, and the gateway that asks it every tenth of a second."""

    def __init__(self, make: Callable[..., Gateway], service: ToolService) -> None:
        self.routes: list[dict[str, Any]] = []
        service.pages[PORTAL_PATH] = self._page
        config = model.Config(
            registry=model.Registry(
                source="portal", refresh_interval_s=0.1, portal=model.Portal(service.base_url, "token")
            )
        )
        self.gateway = make(config)

    def _page(self) -> Reply:
        return Reply.of_json(json.dumps({"registryVersion": "0.1", "routes": self.routes}).encode())

    def serves(self, *keys: str) -> None:
        """Wait until these routes are served, with tools."""
        wait_until(
            lambda: (
                [route["route"] for route in status(self.gateway)["routes"] if route["ready"]] == list(keys)
                and all(post(self.gateway, "tools/list", path=f"/mcp/{key}").status_code == 200 for key in keys)
            ),
            f"routes {keys}",
        )


def listed(service: ToolService, key: str = "core", **options: Any) -> dict[str, Any]:
    """Return a route as a portal lists it."""
    tools = {"name": service.name, "baseUrl": service.base_url, **options}
    return {"key": key, "publicPath": f"/mcp/{key}", "toolServices": [tools]}


@pytest.fixture
def portal(make: Callable[..., Gateway], service: ToolService) -> Portal:
    return Portal(make, service)


def test_routes_come_and_go_with_the_portals_list(portal: Portal, service: ToolService) -> None:
    portal.routes = [listed(service)]
    portal.gateway.start()
    portal.serves("core")

    portal.routes = [listed(service, "hr"), listed(service)]
    portal.serves("hr", "core")
    assert result(post(portal.gateway, "tools/call", ECHO, "/mcp/hr"))["isError"] is False

    portal.routes = [listed(service, "hr")]
    portal.serves("hr")
    refusal(post(portal.gateway, "ping"), 404, "not_found")


def test_a_portal_that_cannot_say_the_routes_is_shown_and_nothing_is_served(portal: Portal) -> None:
    portal.routes = [{"key": "core"}]
    portal.gateway.start()

    shown = status(portal.gateway)

    assert (shown["status"], shown["routes"]) == ("not_ready", [])
    assert "publicPath" in shown["registryError"]
    refusal(post(portal.gateway, "ping"), 404, "not_found")


def test_a_service_that_is_configured_alike_keeps_its_client_and_a_changed_one_gets_another(
    portal: Portal, service: ToolService
) -> None:
    gate = threading.Event()

    def held(received: Received) -> Reply:
        received.hold(gate)
        return Reply.of_text("done")

    service.add("core.held", held)
    portal.routes = [listed(service, maxInFlight=1)]
    portal.gateway.start()
    portal.serves("core")
    with ThreadPoolExecutor(1) as other:
        under_way = other.submit(post, portal.gateway, "tools/call", {"name": "core.held"})
        service.wait_for_calls("core.held")

        # Another title makes other routes, not another service: the call under way still counts.
        portal.routes = [listed(service, maxInFlight=1) | {"title": "Core"}, listed(service, "hr")]
        portal.serves("core", "hr")
        assert error(post(portal.gateway, "tools/call", ECHO), -32603)["data"]["reason"] == "busy"
        assert result(post(portal.gateway, "tools/call", ECHO, "/mcp/hr"))["isError"] is False

        portal.routes = [listed(service, maxInFlight=2)]
        portal.serves("core")
        assert result(post(portal.gateway, "tools/call", ECHO))["isError"] is False

        gate.set()
        assert result(under_way.result(20))["content"][0]["text"] == "done"
