"""``/healthz`` and ``/readyz``."""

from __future__ import annotations

import os
from datetime import UTC, datetime

import pytest
from road import NOW, Road, parsed, refusal, snapshot, tool

from mcp_gateway import __version__
from mcp_gateway.registry.snapshot import LeftOut, RouteStatus, ServiceReport, ServiceState
from mcp_gateway.web.health import Health

LOADED = ServiceReport("core-tools", ServiceState.LOADED, 2, loaded_at=NOW)


def test_healthz_is_200_whatever_is_behind_it() -> None:
    road = Road(loaded=False)
    road.health = Health([])

    response = road.request("GET", "/healthz")

    assert (response.status_code, parsed(response)) == (200, {"status": "ok", "version": __version__})
    assert response.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
@pytest.mark.parametrize("host", ["10.1.2.3:8080", "evil.example", "", "a..b"])
def test_the_probes_answer_whatever_the_host_says(road: Road, path: str, host: str) -> None:
    assert road.request("GET", path, headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_a_probe_may_be_asked_for_its_head(road: Road, path: str) -> None:
    response = road.request("HEAD", path)

    assert (response.status_code, response.data) == (200, b"")


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_a_probe_takes_no_other_method_and_says_which_it_takes(road: Road, path: str, method: str) -> None:
    response = road.request(method, path)

    assert "GET, HEAD" in refusal(response, 405, "method_not_allowed")["message"]
    assert response.headers["Allow"] == "GET, HEAD"


def test_readyz_shows_each_route_and_each_tool_service(road: Road) -> None:
    left_out = LeftOut("core.bad", "tools[2].inputSchema", "it must be a JSON object")
    stale = ServiceReport(
        "other", ServiceState.STALE, 1, (left_out,), "connection refused", datetime(2026, 1, 2, tzinfo=UTC)
    )
    current = snapshot(tool(), tool("core.bare", inputSchema={"type": "object"}))
    road.health = Health(
        [RouteStatus("core", current, (LOADED, stale), "too many tools", 3)],
        {"core": [("core.search", "description is empty")]},
        "portal is away",
        ["routes: x"],
    )

    response = road.request("GET", "/readyz")

    assert response.status_code == 200
    assert response.headers["Cache-Control"] == "no-store"
    assert parsed(response) == {
        "status": "ready",
        "version": __version__,
        "pid": os.getpid(),
        "routes": [
            {
                "route": "core",
                "ready": True,
                "tools": ["core.search", "core.bare"],
                "digest": current.digest,
                "loadedAt": "2026-08-22T09:30:00.000+00:00",
                "error": "too many tools",
                "loadFailures": 3,
                "toolServices": [
                    {
                        "name": "core-tools",
                        "state": "loaded",
                        "tools": 2,
                        "error": None,
                        "loadedAt": "2026-08-22T09:30:00.000+00:00",
                        "leftOut": [],
                    },
                    {
                        "name": "other",
                        "state": "stale",
                        "tools": 1,
                        "error": "connection refused",
                        "loadedAt": "2026-01-02T00:00:00.000+00:00",
                        "leftOut": [
                            {
                                "tool": "core.bad",
                                "place": "tools[2].inputSchema",
                                "reason": "it must be a JSON object",
                            }
                        ],
                    },
                ],
                "warnings": [{"tool": "core.search", "warning": "description is empty"}],
            }
        ],
        "registryError": "portal is away",
        "configurationFaults": ["routes: x"],
    }


def test_readyz_is_503_while_a_route_has_no_snapshot(road: Road) -> None:
    failed = ServiceReport("hr-tools", ServiceState.FAILED, 0, error="connection refused")
    road.health = Health([RouteStatus("core", snapshot(tool()), (LOADED,)), RouteStatus("hr", None, (failed,))])

    response = road.request("GET", "/readyz")
    document = parsed(response)

    assert (response.status_code, document["status"]) == (503, "not_ready")
    assert [route["ready"] for route in document["routes"]] == [True, False]
    nothing = document["routes"][1]
    assert (nothing["tools"], nothing["digest"], nothing["loadedAt"], nothing["warnings"]) == ([], None, None, [])
    assert nothing["toolServices"][0]["loadedAt"] is None


def test_readyz_is_503_while_no_route_is_known(road: Road) -> None:
    road.health = Health([], registry_error="the portal did not answer")

    assert road.request("GET", "/readyz").status_code == 503
