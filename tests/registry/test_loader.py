from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from registry.samples import DocumentServer, manifest, tool
from support.waiting import wait_until

from mcp_gateway.config.model import Config, Limits, Portal, Registry, Route, ToolService
from mcp_gateway.registry.last_good import NOTHING_KEPT, LastGood
from mcp_gateway.registry.loader import Loader
from mcp_gateway.registry.loading import NOT_YET
from mcp_gateway.registry.snapshot import RouteStatus, ServiceState
from mcp_gateway.registry.snapshots import Snapshots
from mcp_gateway.registry.source import SourceFault
from mcp_gateway.registry.sources import SOURCES

VERSIONS = ("2026-07-28", "2025-11-25")
REFUSED = "the manifest could not be fetched: the connection was refused"
TOKEN = "portal-secret"


def service(server: DocumentServer, name: str = "core-tools", **fields: Any) -> ToolService:
    return ToolService(name=name, base_url=server.base_url, **fields)


def route(*services: ToolService, key: str = "core", **fields: Any) -> Route:
    return Route(key=key, public_path=f"/mcp/{key}", tool_services=services, protocol_versions=VERSIONS, **fields)


def config(*routes: Route, interval: float = 0, budget: float = 10, max_tools: int = 50, portal: str = "") -> Config:
    return Config(
        limits=Limits(max_tools_per_route=max_tools),
        registry=Registry(
            source="portal" if portal else "config",
            load_timeout_s=budget,
            refresh_interval_s=interval,
            portal=Portal(portal, TOKEN) if portal else None,
        ),
        routes=routes,
    )


class Worker:
    """A loader with the store it fills and the routes it announced. It tries again after hundredths of seconds."""

    def __init__(self, config: Config, last_good: LastGood = NOTHING_KEPT) -> None:
        self.snapshots = Snapshots()
        self.routes: list[tuple[Route, ...]] = []
        self.served_when_announced: list[dict[str, list[str] | None]] = []
        self.loader = Loader(
            config,
            versions=VERSIONS,
            snapshots=self.snapshots,
            user_agent="mcp-gateway/test",
            on_routes=self._announced,
            last_good=last_good,
            jitter=lambda: 0.02,
        )

    def _announced(self, routes: tuple[Route, ...]) -> None:
        keys = {route.key for routes in [*self.routes, routes] for route in routes}
        self.routes.append(routes)
        self.served_when_announced.append({key: self.tools(key) for key in sorted(keys)})

    def tools(self, key: str = "core") -> list[str] | None:
        """Return the names of the tools that the route serves; ``None``: it has no snapshot."""
        snapshot = self.snapshots.current(key)
        return None if snapshot is None else [entry.name for entry in snapshot.tools]

    def status(self, key: str = "core") -> RouteStatus:
        (status,) = [status for status in self.loader.status() if status.route == key]
        return status

    def states(self, key: str = "core") -> list[ServiceState]:
        return [report.state for report in self.status(key).services]

    def wait_for(self, look: Callable[[], Any], what: str) -> Any:
        return wait_until(look, what, 10)


@pytest.fixture
def boot() -> Iterator[Callable[..., Worker]]:
    """Start a loader; all end with the test."""
    workers: list[Worker] = []

    def start(config: Config, last_good: LastGood = NOTHING_KEPT) -> Worker:
        workers.append(Worker(config, last_good))
        workers[-1].loader.start()
        return workers[-1]

    yield start
    for worker in workers:
        worker.loader.stop()


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "mcp_gateway.registry"]


# --- the next worker -------------------------------------------------------------------------------------------------


def test_a_worker_that_boots_while_the_service_is_down_serves_what_an_earlier_one_has_read(serve, boot, tmp_path):
    server = serve(manifest(tool("a")))
    settings = config(route(service(server)))
    boot(settings, LastGood(tmp_path))
    server.stop()

    later = boot(settings, LastGood(tmp_path))

    assert (later.tools(), later.states()) == (["a"], [ServiceState.STALE])
    (report,) = later.status().services
    assert report.error == REFUSED
    server.document = manifest(tool("a"), tool("b"))
    server.start()
    later.wait_for(lambda: later.tools() == ["a", "b"], "load")
    assert later.states() == [ServiceState.LOADED]


def test_what_an_earlier_worker_has_read_wins_over_the_fallback(serve, boot, tmp_path, fallback):
    server = serve(manifest(tool("a")))
    settings = config(route(service(server), fallback_manifest=fallback))
    boot(settings, LastGood(tmp_path))
    server.stop()

    assert boot(settings, LastGood(tmp_path)).tools() == ["a"]


@pytest.mark.parametrize("other", [{"headers": {"Authorization": "Bearer b"}}, {"manifest_path": "/other"}])
def test_what_one_was_shown_is_not_served_to_another_who_could_not_read_it(serve, boot, tmp_path, other):
    server = serve(manifest(tool("secret")))
    boot(config(route(service(server, headers={"Authorization": "Bearer a"}))), LastGood(tmp_path))
    server.stop()

    assert boot(config(route(service(server, **other))), LastGood(tmp_path)).tools() is None


def test_a_manifest_that_could_not_be_read_is_not_kept(serve, boot, tmp_path):
    server = serve(b"no manifest")
    settings = config(route(service(server)))

    boot(settings, LastGood(tmp_path))

    assert list(tmp_path.iterdir()) == []


def test_what_was_kept_and_is_no_manifest_any_more_is_passed_over(serve, boot, tmp_path):
    server = serve(manifest(tool("a")))
    settings = config(route(service(server)))
    boot(settings, LastGood(tmp_path))
    server.stop()
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(b"from another version")

    assert boot(settings, LastGood(tmp_path)).tools() is None


def test_a_worker_that_boots_while_the_portal_is_down_serves_the_routes_an_earlier_one_was_told(serve, boot, tmp_path):
    server = serve(manifest(tool("a")))
    portal = serve(listed(portal_route(server)))
    settings = config(portal=portal.base_url)
    boot(settings, LastGood(tmp_path))
    portal.stop()

    later = boot(settings, LastGood(tmp_path))

    assert later.tools() == ["a"]
    assert later.loader.source_error() == "the route list could not be fetched: the connection was refused"


def test_a_kept_route_list_that_is_none_any_more_is_passed_over(serve, boot, tmp_path):
    portal = serve(listed())
    settings = config(portal=portal.base_url)
    boot(settings, LastGood(tmp_path))
    portal.stop()
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(b"from another version")

    assert boot(settings, LastGood(tmp_path)).routes == []


# --- boot ------------------------------------------------------------------------------------------------------------


def test_after_boot_each_route_serves_the_tools_of_all_its_services(serve, boot):
    one, two, three = serve(manifest(tool("a"))), serve(manifest(tool("b"), tool("c"))), serve(manifest(tool("a")))
    both, other = route(service(one), service(two, "extra")), route(service(three), key="other")
    worker = boot(config(both, other))
    assert (worker.tools(), worker.tools("other")) == (["a", "b", "c"], ["a"])
    assert worker.routes == [(both, other)]
    assert [status.route for status in worker.loader.status()] == ["core", "other"]
    assert worker.status().snapshot is worker.snapshots.current("core")
    assert worker.status().services == worker.snapshots.current("core").services
    assert (worker.status().error, worker.status().failures, worker.loader.source_error()) == (None, 0, None)


def test_a_manifest_is_asked_for_with_the_services_own_headers_and_path(serve, boot):
    server = serve(manifest(tool()))
    boot(config(route(service(server, manifest_path="/m?v=1", headers={"Authorization": "Bearer secret"}))))
    ((path, headers),) = server.requests
    assert path == "/m?v=1"
    assert (headers["authorization"], headers["user-agent"]) == ("Bearer secret", "mcp-gateway/test")


def test_manifests_are_fetched_side_by_side(serve, boot):
    servers = [serve(manifest(tool(f"t{index}"))) for index in range(5)]
    for server in servers:
        server.gate.clear()

    def open_when_all_have_been_asked() -> None:
        wait_until(lambda: all(server.requests for server in servers), "request at every service", 10)
        for server in servers:
            server.gate.set()

    opener = threading.Thread(target=open_when_all_have_been_asked)
    opener.start()
    worker = boot(config(route(*(service(server, f"s{index}") for index, server in enumerate(servers)))))
    opener.join()
    assert worker.tools() == ["t0", "t1", "t2", "t3", "t4"]


def test_without_refresh_a_service_is_asked_once(serve, boot):
    quick, retried = serve(manifest(tool("a"))), serve(manifest(tool("b")))
    retried.status = 503
    worker = boot(config(route(service(quick), service(retried, "extra"))))
    worker.wait_for(lambda: len(retried.requests) > 3, "retry")
    assert len(quick.requests) == 1
    retried.status = 200
    worker.wait_for(lambda: worker.tools() == ["a", "b"], "load of the second service")
    asked = len(retried.requests)
    worker.loader.stop()
    assert len(retried.requests) == asked


def test_a_service_that_is_dead_at_boot_is_loaded_when_it_comes_up(serve, boot):
    server = serve(manifest(tool("a")), up=False)
    worker = boot(config(route(service(server))))
    assert worker.tools() is None
    status = worker.status()
    assert (status.snapshot, status.error, status.failures >= 1) == (None, None, True)
    (report,) = status.services
    assert (report.state, report.error, report.tools, report.loaded_at) == (ServiceState.FAILED, REFUSED, 0, None)
    server.start()
    worker.wait_for(lambda: worker.tools() == ["a"], "load")
    worker.wait_for(lambda: worker.states() == [ServiceState.LOADED], "report of it")
    assert worker.status().services[0].error is None


def test_one_dead_service_takes_nothing_from_the_others_of_its_route(serve, boot):
    alive, dead = serve(manifest(tool("a"))), serve(up=False)
    worker = boot(config(route(service(dead, "dead"), service(alive))))
    assert worker.tools() == ["a"]
    assert worker.states() == [ServiceState.FAILED, ServiceState.LOADED]


def test_a_silent_service_holds_the_boot_no_longer_than_the_budget(serve, boot):
    silent, alive = serve(manifest(tool("a"))), serve(manifest(tool("b")))
    silent.gate.clear()
    started = time.monotonic()
    worker = boot(config(route(service(silent)), route(service(alive), key="other"), budget=0.5))
    assert time.monotonic() - started < 5
    assert (worker.tools(), worker.tools("other")) == (None, ["b"])
    budget = "the manifest could not be fetched: its time budget was used up"
    worker.wait_for(lambda: worker.status().services[0].error == budget, "end of the budget")
    silent.gate.set()
    worker.wait_for(lambda: worker.tools() == ["a"], "load")


def test_a_route_is_served_as_soon_as_its_own_services_have_answered(serve):
    slow, quick = serve(manifest(tool("a"))), serve(manifest(tool("b")))
    slow.gate.clear()
    worker = Worker(config(route(service(slow)), route(service(quick), key="other")))
    starter = threading.Thread(target=worker.loader.start)
    starter.start()
    worker.wait_for(lambda: worker.tools("other") == ["b"], "tools of the quick route")
    assert starter.is_alive()
    assert worker.status().services[0].error == NOT_YET
    slow.gate.set()
    starter.join()
    assert worker.tools() == ["a"]
    worker.loader.stop()


def test_a_route_is_served_when_each_of_its_services_has_had_its_first_turn(serve):
    slow, quick = serve(manifest(tool("a"))), serve(manifest(tool("b")))
    slow.gate.clear()
    worker = Worker(config(route(service(slow), service(quick, "quick"))))
    starter = threading.Thread(target=worker.loader.start)
    starter.start()
    worker.wait_for(lambda: worker.loader.status(), "first status")
    worker.wait_for(lambda: worker.states()[1] is ServiceState.LOADED, "load of the quick service")
    assert worker.tools() is None
    slow.gate.set()
    starter.join()
    assert worker.tools() == ["a", "b"]
    worker.loader.stop()


def test_a_portal_and_a_service_that_are_slow_one_after_the_other_hold_the_boot_no_longer_than_the_budget(serve, boot):
    silent = serve(manifest(tool("a")))
    portal = serve(listed(portal_route(silent)))
    silent.gate.clear()
    portal.gate.clear()
    opener = threading.Timer(1.5, portal.gate.set)
    opener.start()
    started = time.monotonic()
    worker = boot(config(portal=portal.base_url, budget=2))
    assert time.monotonic() - started < 3
    opener.join()
    worker.wait_for(lambda: silent.requests, "request at the service")


def test_a_service_that_lies_is_left_out_with_its_reason(serve, boot):
    worker = boot(config(route(service(serve(b"<html>")), service(serve(manifest(tool("b"))), "extra"))))
    assert worker.tools() == ["b"]
    assert worker.status().services[0].error.startswith("the manifest is no JSON that can be read: ")


def test_a_ca_bundle_that_cannot_be_read_fails_its_own_service_only(serve, boot, tmp_path):
    lost = ToolService("lost", "https://127.0.0.1:1", ca_bundle=tmp_path / "missing.pem")
    worker = boot(config(route(lost, service(serve(manifest(tool("b")))))))
    assert worker.tools() == ["b"]
    assert worker.status().services[0].error == "its ca_bundle cannot be used: No such file or directory"


def test_left_out_tools_are_reported(serve, boot):
    worker = boot(config(route(service(serve(manifest(tool("a"), tool("b", title=None)))))))
    (left_out,) = worker.status().services[0].left_out
    assert (left_out.tool, left_out.place, left_out.reason) == ("b", "tools[1].title", "must be a string")


def test_without_routes_there_is_nothing_to_wait_for(boot):
    worker = boot(config())
    assert (worker.routes, worker.loader.status()) == ([()], ())


# --- refresh ---------------------------------------------------------------------------------------------------------


def test_a_changed_manifest_is_served_after_a_refresh(serve, boot):
    server = serve(manifest(tool("a")))
    worker = boot(config(route(service(server)), interval=0.05))
    former = worker.snapshots.current("core")
    server.document = manifest(tool("b"))
    worker.wait_for(lambda: worker.tools() == ["b"], "new tools")
    assert worker.snapshots.current("core").digest != former.digest
    assert worker.snapshots.current("core").services[0].loaded_at > former.services[0].loaded_at


@pytest.mark.parametrize("tagged", [True, False])
def test_an_unchanged_manifest_changes_nothing(serve, boot, tagged):
    server = serve(manifest(tool("a")))
    server.tagged = tagged
    worker = boot(config(route(service(server)), interval=0.05))
    former = worker.snapshots.current("core")
    worker.wait_for(lambda: len(server.answered) > 3, "refresh")
    assert set(server.answered[1:]) == {304 if tagged else 200}
    assert worker.snapshots.current("core") is former


def test_a_reload_that_fails_keeps_the_last_good_tools_and_says_so(serve, boot):
    server = serve(manifest(tool("a")))
    server.tagged = True
    worker = boot(config(route(service(server)), interval=0.05))
    loaded_at = worker.status().services[0].loaded_at
    server.status, good = 503, server.document
    server.document = b"down"
    worker.wait_for(lambda: worker.states() == [ServiceState.STALE], "failed reload")
    assert worker.tools() == ["a"]
    (report,) = worker.snapshots.current("core").services
    assert report.error == "the manifest was answered with HTTP status 503; it must be 200"
    assert (report.tools, report.loaded_at) == (1, loaded_at)
    failures = worker.status().failures
    worker.wait_for(lambda: worker.status().failures > failures, "one more try")
    assert worker.states() == [ServiceState.STALE]
    server.document = good
    worker.wait_for(lambda: worker.states() == [ServiceState.LOADED], "recovery")
    assert server.answered[-1] == 304
    assert worker.status().services[0].error is None


def test_a_service_that_has_been_loaded_is_asked_again_at_the_refresh_interval_however_often_it_fails(serve, boot):
    server = serve(manifest(tool("a")))
    worker = boot(config(route(service(server)), interval=0.01))
    server.status = 503
    wait_until(lambda: worker.status().failures > 25, "26 failures", 5)


def test_a_reload_that_lies_keeps_the_last_good_tools(serve, boot):
    server = serve(manifest(tool("a")))
    worker = boot(config(route(service(server)), interval=0.05))
    server.document = manifest(tool("b"), manifestVersion="2")
    worker.wait_for(lambda: worker.states() == [ServiceState.STALE], "failed reload")
    assert worker.tools() == ["a"]
    assert worker.status().services[0].error == 'manifestVersion: must be "1"'


# --- the limit of tools ----------------------------------------------------------------------------------------------


def test_a_route_with_too_many_tools_is_not_loaded(serve, boot):
    worker = boot(config(route(service(serve(manifest(tool("a"), tool("b"))))), max_tools=1))
    assert worker.tools() is None
    status = worker.status()
    assert status.error == "its Tool Services have 2 tools together, and a route may have 1"
    assert (status.snapshot, status.failures, status.services[0].state) == (None, 1, ServiceState.LOADED)


def test_a_reload_with_too_many_tools_keeps_the_last_good_ones(serve, boot):
    server = serve(manifest(tool("a")))
    worker = boot(config(route(service(server)), max_tools=1, interval=0.05))
    server.document = manifest(tool("b"), tool("c"))
    worker.wait_for(lambda: worker.status().error, "refusal")
    assert worker.tools() == ["a"]
    assert worker.status().services[0].tools == 1
    server.document = manifest(tool("b"))
    worker.wait_for(lambda: worker.tools() == ["b"], "renewal")
    worker.wait_for(lambda: worker.status().error is None, "end of the error")


# --- fallback --------------------------------------------------------------------------------------------------------


@pytest.fixture
def fallback(tmp_path) -> Path:
    path = tmp_path / "sample.json"
    path.write_bytes(manifest(tool("sample"), toolService={"name": "core-tools"}))
    return path


def test_the_fallback_manifest_stands_in_until_the_service_answers(serve, boot, fallback):
    server = serve(manifest(tool("a")), up=False)
    worker = boot(config(route(service(server), fallback_manifest=fallback)))
    assert worker.tools() == ["sample"]
    assert worker.snapshots.current("core").tools[0].service == "core-tools"
    (report,) = worker.status().services
    assert (report.state, report.error, report.loaded_at) == (ServiceState.FALLBACK, REFUSED, None)
    fallback.unlink()
    failures = worker.status().failures
    worker.wait_for(lambda: worker.status().failures > failures + 1, "one more try")
    assert (worker.states(), worker.status().services[0].error) == ([ServiceState.FALLBACK], REFUSED)
    server.start()
    worker.wait_for(lambda: worker.tools() == ["a"], "real tools")
    worker.wait_for(lambda: worker.states() == [ServiceState.LOADED], "report of it")


def test_a_service_that_answers_needs_no_fallback(serve, boot, tmp_path):
    worker = boot(config(route(service(serve(manifest(tool("a")))), fallback_manifest=tmp_path / "missing.json")))
    assert (worker.tools(), worker.status().services[0].error) == (["a"], None)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "the fallback manifest cannot be read: No such file or directory"),
        (b"[]", "the fallback manifest cannot be used: the manifest: must be an object"),
    ],
)
def test_a_fallback_manifest_that_is_no_use_is_reported(serve, boot, tmp_path, content, reason):
    path = tmp_path / "sample.json"
    if content is not None:
        path.write_bytes(content)
    worker = boot(config(route(service(serve(up=False)), fallback_manifest=path)))
    assert worker.tools() is None
    assert worker.status().services[0].error == f"{REFUSED}; {reason}"


@pytest.mark.parametrize(
    ("names", "states"),
    [
        (["other", "core-tools"], [ServiceState.FAILED, ServiceState.FALLBACK]),
        (["one", "two"], [ServiceState.FALLBACK, ServiceState.FAILED]),
    ],
)
def test_the_fallback_is_that_of_the_service_it_names_or_of_the_first_one(serve, boot, fallback, names, states):
    services = [service(serve(up=False), name) for name in names]
    worker = boot(config(route(*services, fallback_manifest=fallback)))
    assert (worker.tools(), worker.states()) == (["sample"], states)


def test_of_several_services_the_first_one_tells_that_the_fallback_is_no_use(serve, boot, tmp_path):
    services = [service(serve(up=False), name) for name in ("one", "two")]
    worker = boot(config(route(*services, fallback_manifest=tmp_path / "missing.json")))
    errors = [report.error for report in worker.status().services]
    assert errors == [f"{REFUSED}; the fallback manifest cannot be read: No such file or directory", REFUSED]


# --- the end ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def new_threads() -> Callable[[], list[str]]:
    """Return what names the loaders' threads that the test has started and that still run."""
    others = set(threading.enumerate())
    return lambda: [each.name for each in threading.enumerate() if each.name == "registry" and each not in others]


def test_stopping_is_prompt_whatever_is_under_way(serve, boot, new_threads):
    silent = serve(manifest(tool("a")))
    silent.gate.clear()
    worker = Worker(config(route(service(silent)), budget=60))
    starter = threading.Thread(target=worker.loader.start, daemon=True)
    starter.start()
    worker.wait_for(lambda: silent.requests, "request")
    assert new_threads()
    started = time.monotonic()
    worker.loader.stop()
    assert time.monotonic() - started < 5
    assert new_threads() == []


def test_no_connection_stays_open_after_the_end(serve, boot):
    server, portal = serve(manifest(tool("a"))), serve()
    portal.document = listed(portal_route(server))
    worker = boot(config(portal=portal.base_url))
    assert (len(server.connections), len(portal.connections)) == (1, 1)
    worker.loader.stop()
    worker.wait_for(lambda: not server.connections, "end of the connection to the service")
    worker.wait_for(lambda: not portal.connections, "end of the connection to the portal")


def test_what_was_published_stays_after_the_end(serve, boot):
    worker = boot(config(route(service(serve(manifest(tool("a")))))))
    worker.loader.stop()
    assert worker.tools() == ["a"]


def test_a_loader_that_was_never_started_can_be_stopped(serve):
    server = serve(manifest(tool("a")))
    Worker(config(route(service(server)))).loader.stop()
    assert server.requests == []


# --- once ------------------------------------------------------------------------------------------------------------


def test_loading_once_says_how_each_service_did(serve, new_threads):
    alive, dead = serve(manifest(tool("a"))), serve(up=False)
    worker = Worker(config(route(service(alive), service(dead, "dead"))))
    (status,) = worker.loader.load_once()
    assert [report.state for report in status.services] == [ServiceState.LOADED, ServiceState.FAILED]
    assert (worker.tools(), new_threads()) == (["a"], [])


def test_loading_once_from_a_portal_that_is_down_is_a_fault(serve):
    worker = Worker(config(portal=serve(up=False).base_url))
    with pytest.raises(SourceFault, match=r"^the route list could not be fetched: the connection was refused$"):
        worker.loader.load_once()


# --- the log ---------------------------------------------------------------------------------------------------------


def test_a_failure_that_lasts_is_logged_once(serve, boot, caplog):
    caplog.set_level(logging.DEBUG)
    server = serve(manifest(tool("a")), up=False)
    secret = {"Authorization": "Bearer service-secret"}
    worker = boot(config(route(service(server, headers=secret))))
    worker.wait_for(lambda: worker.status().failures > 3, "several failures")
    failed = f"route 'core': Tool Service 'core-tools': {REFUSED} (nothing of it is served)"
    assert lines(caplog) == [failed]
    server.start()
    worker.wait_for(lambda: worker.states() == [ServiceState.LOADED], "load")
    digest = worker.snapshots.current("core").digest
    assert lines(caplog) == [
        failed,
        "route 'core': Tool Service 'core-tools': loaded; 1 of its tools are served",
        f"route 'core' serves 1 tools, digest {digest}",
    ]
    assert "service-secret" not in caplog.text


# --- portal ----------------------------------------------------------------------------------------------------------


def listed(*routes: dict[str, Any]) -> bytes:
    return json.dumps({"registryVersion": "0.1", "routes": list(routes)}).encode()


def portal_route(*services: DocumentServer, key: str = "core", **fields: Any) -> dict[str, Any]:
    return {
        "key": key,
        "publicPath": f"/mcp/{key}",
        "toolServices": [{"name": f"s{index}", "baseUrl": server.base_url} for index, server in enumerate(services)],
    } | fields


def test_routes_come_from_the_portal_which_alone_gets_the_token(serve, boot):
    server = serve(manifest(tool("a")))
    portal = serve(listed(portal_route(server, title="Core")))
    worker = boot(config(portal=portal.base_url))
    assert worker.tools() == ["a"]
    ((announced,),) = worker.routes
    assert (announced.key, announced.public_path, announced.title) == ("core", "/mcp/core", "Core")
    ((path, headers),) = portal.requests
    assert (path, headers["authorization"]) == ("/registry/v0.1/routes", f"Bearer {TOKEN}")
    assert headers["user-agent"] == "mcp-gateway/test"
    assert "authorization" not in server.requests[0][1]


def test_a_portal_that_is_down_at_boot_is_asked_until_it_answers(serve, boot):
    server = serve(manifest(tool("a")))
    portal = serve(listed(portal_route(server)), up=False)
    worker = boot(config(portal=portal.base_url))
    down = "the route list could not be fetched: the connection was refused"
    assert (worker.routes, worker.loader.source_error()) == ([], down)
    portal.start()
    worker.wait_for(lambda: worker.tools() == ["a"], "load")
    assert worker.loader.source_error() is None


def test_a_portal_that_fails_for_long_is_logged_once_and_without_its_token(serve, boot, caplog):
    caplog.set_level(logging.DEBUG)
    portal = serve(listed())
    portal.status = 401
    worker = boot(config(portal=portal.base_url))
    worker.wait_for(lambda: len(portal.requests) > 3, "several failures")
    reason = "the route list was answered with HTTP status 401; it must be 200"
    assert lines(caplog) == [f"the routes could not be had from 'portal': {reason}"]
    assert TOKEN not in caplog.text


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (b"<html>", "the route list is no JSON that can be read: "),
        (b'{"registryVersion": "0.1", "routes": [{"key": "Core!"}]}', "the route list is not valid: routes[0]"),
    ],
)
def test_a_portal_that_lies_keeps_the_routes_that_are_known(serve, boot, document, reason):
    server = serve(manifest(tool("a")))
    portal = serve(listed(portal_route(server)))
    worker = boot(config(portal=portal.base_url, interval=0.05))
    portal.document = document
    worker.wait_for(worker.loader.source_error, "failure of the source")
    assert worker.loader.source_error().startswith(reason)
    assert (worker.tools(), len(worker.routes)) == (["a"], 1)


def test_routes_that_the_portal_adds_and_takes_away_come_and_go(serve, boot, caplog):
    caplog.set_level(logging.DEBUG)
    one, two = serve(manifest(tool("a"))), serve(manifest(tool("b")))
    portal = serve(listed(portal_route(one)))
    worker = boot(config(portal=portal.base_url, interval=0.05))
    portal.document = listed(portal_route(one), portal_route(two, key="other"))
    worker.wait_for(lambda: worker.tools("other") == ["b"], "tools of the new route")
    portal.document = listed(portal_route(two, key="other"))
    worker.wait_for(lambda: worker.tools() is None, "end of the old route")
    worker.wait_for(lambda: [status.route for status in worker.loader.status()] == ["other"], "status")
    assert worker.tools("other") == ["b"]
    assert [[each.key for each in routes] for routes in worker.routes] == [["core"], ["core", "other"], ["other"]]
    assert worker.served_when_announced == [
        {"core": None},
        {"core": ["a"], "other": None},
        {"core": None, "other": ["b"]},
    ]
    assert "route 'core' is gone" in lines(caplog)


def test_an_unchanged_route_list_is_announced_once(serve, boot):
    portal = serve(listed(portal_route(serve(manifest(tool("a"))))))
    worker = boot(config(portal=portal.base_url, interval=0.05))
    worker.wait_for(lambda: len(portal.requests) > 3, "refresh")
    assert len(worker.routes) == 1


def test_a_service_that_a_route_loses_is_gone_before_the_new_routes_are_announced(serve, boot):
    one, two = serve(manifest(tool("a"))), serve(manifest(tool("b")))
    portal = serve(listed(portal_route(one, two)))
    worker = boot(config(portal=portal.base_url, interval=0.05))
    assert worker.tools() == ["a", "b"]
    portal.document = listed(portal_route(one))
    worker.wait_for(lambda: len(worker.routes) == 2, "new routes")
    assert worker.served_when_announced[1] == {"core": ["a"]}
    assert len(worker.status().services) == 1


def test_what_a_changed_route_keeps_goes_on_and_what_it_loses_is_let_go(serve, boot):
    kept, lost = serve(manifest(tool("a"))), serve(manifest(tool("b")))
    portal = serve(listed(portal_route(kept, lost)))
    worker = boot(config(portal=portal.base_url, interval=0.05))
    portal.document = listed(portal_route(kept, title="Other"))
    worker.wait_for(lambda: len(worker.routes) == 2, "new routes")
    worker.wait_for(lambda: not lost.connections, "end of the connection to the lost service")
    asked = len(kept.requests)
    worker.wait_for(lambda: len(kept.requests) > asked + 1, "refresh")
    assert kept.accepted == 1


def test_a_service_that_moves_is_loaded_anew(serve, boot):
    one, two = serve(manifest(tool("a"))), serve(manifest(tool("b")))
    portal = serve(listed(portal_route(one)))
    worker = boot(config(portal=portal.base_url, interval=0.05))
    portal.document = listed(portal_route(two))
    worker.wait_for(lambda: worker.tools() == ["b"], "tools of the new place")
    assert worker.served_when_announced[1] == {"core": None}


def test_a_service_whose_limits_change_keeps_its_tools_even_while_it_is_down(serve, boot):
    server = serve(manifest(tool("a")))
    portal = serve(listed(portal_route(server)))
    worker = boot(config(portal=portal.base_url, interval=0.05))
    loaded_at = worker.status().services[0].loaded_at
    server.stop()
    worker.wait_for(lambda: worker.status().failures >= 30, "many failures")
    limited = {"name": "s0", "baseUrl": server.base_url, "maxInFlight": 3}
    portal.document = listed(portal_route(toolServices=[limited]))
    worker.wait_for(lambda: len(worker.routes) == 2, "new routes")
    assert worker.status().failures >= 30
    assert worker.routes[1][0].tool_services[0].max_in_flight == 3
    worker.wait_for(lambda: worker.states() == [ServiceState.STALE], "failed reload")
    assert worker.served_when_announced[1] == {"core": ["a"]}
    assert (worker.tools(), worker.status().services[0].loaded_at) == (["a"], loaded_at)


def test_an_answer_from_a_service_that_was_taken_away_meanwhile_is_ignored(serve, boot):
    one, two = serve(manifest(tool("a"))), serve(manifest(tool("b")))
    portal = serve(listed(portal_route(one)))
    worker = boot(config(portal=portal.base_url, interval=0.05))
    asked = len(one.requests)
    one.gate.clear()
    worker.wait_for(lambda: len(one.requests) > asked, "request under way")
    portal.document = listed(portal_route(two))
    worker.wait_for(lambda: worker.tools() == ["b"], "tools of the new place")
    answered, one.document = len(one.answered), manifest(tool("late"))
    one.gate.set()
    worker.wait_for(lambda: len(one.answered) > answered, "late answer")
    refreshed = len(two.answered)
    worker.wait_for(lambda: len(two.answered) > refreshed + 1, "refresh after it")
    assert worker.tools() == ["b"]


# --- sources ---------------------------------------------------------------------------------------------------------


def test_a_portal_source_without_a_portal_is_refused():
    with pytest.raises(ValueError, match=r"^registry\.portal is missing$"):
        SOURCES["portal"](Config(), VERSIONS, "mcp-gateway/test")


class Broken:
    """A source with a bug: it fails in a way that no source may, once."""

    def __init__(self, config: Config, *_: object) -> None:
        self.config = config
        self.asked = 0

    def routes(self, _: object) -> tuple[Route, ...]:
        self.asked += 1
        if self.asked == 1:
            raise RuntimeError("a bug")
        return self.config.routes

    def close(self) -> None:
        pass


def test_a_bug_in_one_request_is_reported_and_does_not_end_the_loading(serve, boot, monkeypatch):
    reported = []
    monkeypatch.setattr(threading, "excepthook", reported.append)
    monkeypatch.setitem(SOURCES, "config", Broken)
    worker = boot(config(route(service(serve(manifest(tool("a")))))))
    worker.wait_for(lambda: worker.tools() == ["a"], "load")
    assert [str(report.exc_value) for report in reported] == ["a bug"]
