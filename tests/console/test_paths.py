"""The paths of the console as any HTTP client sees them (``docs/contracts/console.md``)."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from console.roads import console_road
from road import NOW, PATH, Road, refusal, tool

from mcp_gateway.config.model import Console, Server
from mcp_gateway.registry.snapshot import LeftOut, RouteStatus, ServiceReport, ServiceState
from mcp_gateway.web.console.assets import Assets
from mcp_gateway.web.health import Health

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "t" * 24
FILES = ("/console", "/console/", "/console/manifest-v1.schema.json")
DOCUMENTS = ("/console/api/routes", "/console/api/tool?route=core&tool=core.search")
CHECK = "/console/api/check?route=core&tool=core.search"


def document(road: Road, path: str, **headers: str) -> Any:
    response = road.request("GET", path, headers=headers)
    assert response.status_code == 200, response.data
    assert response.headers["Content-Type"] == "application/json"
    assert response.headers["Cache-Control"] == "no-store"
    return json.loads(response.data)


def assets(road: Road) -> list[str]:
    page = road.request("GET", "/console").get_data(as_text=True)
    return re.findall(r'(?:href|src)="(/console/assets/[^"]+)"', page)


def test_the_page_runs_its_own_files_and_nothing_else(road: Road) -> None:
    response = road.request("GET", "/console")
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    policy = dict(part.split(" ", 1) for part in response.headers["Content-Security-Policy"].split("; "))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data: blob:",
        "media-src": "data: blob:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }


@pytest.mark.parametrize("path", [*FILES, *DOCUMENTS, CHECK, "/console/api/tool"])
def test_every_answer_carries_its_marks(road: Road, path: str) -> None:
    response = road.request("POST" if path == CHECK else "GET", path)
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert response.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert response.headers["guid"]
    assert response.headers["x-request-id"]


def test_the_files_of_the_page_are_kept_for_ever_and_asked_for_under_another_name_when_they_change(road: Road) -> None:
    found = assets(road)
    assert len(found) > 20
    for path in found:
        response = road.request("GET", path)
        assert response.status_code == 200, path
        assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    stale = road.request("GET", "/console/assets/0123456789abcdef/main.js")
    assert (stale.status_code, stale.headers["Cache-Control"]) == (200, "no-store")
    changed = replace(Assets.read(), digest="other").index(locked=False)
    assert b"/console/assets/other/main.js" in changed


@pytest.mark.parametrize("path", FILES)
def test_a_browser_that_has_a_file_already_is_told_so(road: Road, path: str) -> None:
    first = road.request("GET", path)
    assert first.headers["Cache-Control"] == "no-cache"
    again = road.request("GET", path, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


@pytest.mark.parametrize("name", ["index.html", "nothing.js", "..%2fviews.py", "%2e%2e/views.py", ""])
def test_no_other_file_can_be_had(road: Road, name: str) -> None:
    digest = Assets.read().digest
    assert road.request("GET", f"/console/assets/{digest}/{name}").status_code == 404


def test_the_schema_of_a_manifest_is_the_published_one(road: Road) -> None:
    response = road.request("GET", "/console/manifest-v1.schema.json")
    assert response.headers["Content-Type"] == "application/schema+json"
    assert response.data == (ROOT / "docs" / "contracts" / "manifest-v1.schema.json").read_bytes()


@pytest.mark.parametrize("path", [*FILES, *DOCUMENTS])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_what_is_read_takes_get_only(road: Road, path: str, method: str) -> None:
    response = road.request(method, path)
    refusal(response, 405, "method_not_allowed")
    assert response.headers["Allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", [*FILES, *DOCUMENTS])
def test_head_is_answered_like_get_without_the_body(road: Road, path: str) -> None:
    got, headed = road.request("GET", path), road.request("HEAD", path)
    assert (headed.status_code, headed.data) == (200, b"")
    for name in ("Content-Type", "Cache-Control"):
        assert headed.headers[name] == got.headers[name]


def test_the_check_takes_post_only(road: Road) -> None:
    response = road.request("GET", CHECK)
    refusal(response, 405, "method_not_allowed")
    assert response.headers["Allow"] == "POST"


@pytest.mark.parametrize("path", [*FILES, *DOCUMENTS, "/console/assets/x/main.js"])
def test_host_is_held_to_the_names_that_are_served(road: Road, path: str) -> None:
    refusal(road.request("GET", path, headers={"Host": "evil.example"}), 403, "host_not_allowed")


@pytest.mark.parametrize("path", [*FILES, *DOCUMENTS])
def test_a_page_of_another_origin_gets_nothing(road: Road, path: str) -> None:
    refusal(road.request("GET", path, headers={"Origin": "https://evil.example"}), 403, "origin_not_allowed")
    refusal(road.request("POST", CHECK, headers={"Origin": "https://evil.example"}), 403, "origin_not_allowed")


def test_that_host_and_origin_agree_proves_nothing() -> None:
    road = console_road(profile="production", console=Console(enabled=True, authentication="none"))
    rebound = {"Host": "evil.example", "Origin": "http://evil.example", "Content-Type": "application/json"}
    refusal(road.request("POST", CHECK, b"{}", rebound), 403, "origin_not_allowed")
    refusal(road.request("POST", PATH, b"{}", rebound), 403, "origin_not_allowed")


def test_the_files_of_the_page_are_given_whatever_origin_a_browser_names() -> None:
    road = console_road(profile="production", console=Console(enabled=True, authentication="none"))
    main = next(path for path in assets(road) if path.endswith("main.js"))
    assert road.request("GET", main, headers={"Origin": "https://gateway.example"}).status_code == 200


@pytest.mark.parametrize("path", [*FILES, *DOCUMENTS, CHECK])
def test_where_the_console_is_off_there_is_nothing(path: str) -> None:
    for road in (Road(profile="production"), console_road(console=Console(enabled=False))):
        refusal(road.request("GET", path), 404, "not_found")
        refusal(road.request("POST", path), 404, "not_found")


def test_a_console_with_a_token_gives_its_documents_to_who_shows_it_and_its_files_to_everybody() -> None:
    road = console_road(console=Console(token=TOKEN))
    for path in FILES:
        assert road.request("GET", path).status_code == 200
    assert b'data-locked="true"' in road.request("GET", "/console").data
    for path in DOCUMENTS:
        refusal(road.request("GET", path), 401, "unauthorized")
        for wrong in ("Bearer " + "x" * 24, f"Secret {TOKEN}", f"Basic {TOKEN}"):
            refusal(road.request("GET", path, headers={"Authorization": wrong}), 401, "unauthorized")
        for scheme in ("Bearer", "bearer"):
            document(road, path, Authorization=f"{scheme} {TOKEN}")


def test_a_console_without_one_says_so_to_its_page(road: Road) -> None:
    assert b'data-locked="false"' in road.request("GET", "/console").data


def test_the_overview_says_what_readyz_says_and_how_each_route_is_served(road: Road) -> None:
    left_out = LeftOut("core.bad", "tools[2].endpoint", "must not hold a fragment")
    report = ServiceReport("core-tools", ServiceState.STALE, 2, (left_out,), "it was refused", NOW)
    gone = RouteStatus("gone", None, ())
    road.health = Health(
        [RouteStatus("core", road.store.current("core"), (report,)), gone],
        {"core": [("core.search", "a warning")]},
        registry_error="no portal",
        configuration_faults=["a fault"],
    )
    overview = document(road, "/console/api/routes?origin=http://localhost")
    assert overview["status"] == "not_ready"
    assert (overview["registryError"], overview["configurationFaults"]) == ("no portal", ["a fault"])
    (route,) = overview["routes"]  # one that the portal has taken away meanwhile is not shown
    assert (route["route"], route["publicPath"], route["versions"]) == ("core", PATH, ["2026-07-28", "2025-11-25"])
    assert [each["name"] for each in route["tools"]] == ["core.search", "core.anything"]
    assert route["tools"][0] == {
        "name": "core.search",
        "toolService": "core-tools",
        "title": "Search",
        "description": "Searches.",
    }
    assert route["toolServices"][0]["leftOut"][0]["place"] == "tools[2].endpoint"
    assert route["warnings"] == [{"tool": "core.search", "warning": "a warning"}]


def test_a_route_without_tools_is_shown_without_tools() -> None:
    road = console_road(loaded=False)
    (route,) = document(road, "/console/api/routes")["routes"]
    assert (route["ready"], route["tools"]) == (False, [])


def test_a_gateway_that_is_about_to_stop_says_so(road: Road) -> None:
    response = road.client.get("/console/api/routes", environ_overrides={"mcp_gateway.draining": True})
    assert json.loads(response.data)["status"] == "draining"


def test_the_page_is_told_whether_its_own_origin_may_call() -> None:
    server = Server(allowed_origins=("https://gateway.example",))
    road = console_road(profile="production", server=server, console=Console(enabled=True, authentication="none"))
    for path in DOCUMENTS:
        mark = "&" if "?" in path else "?"
        assert document(road, f"{path}{mark}origin=https://gateway.example")["mayCall"] is True
        assert document(road, f"{path}{mark}origin=https://other.example")["mayCall"] is False
        assert document(road, path)["mayCall"] is False


def test_a_tool_is_shown_whole_and_as_its_manifest_writes_it() -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 1, "x-mcp-header": "Count"}},
        "required": ["n"],
    }
    road = console_road(
        tool(inputSchema=schema, timeoutMs=1500, annotations={"readOnlyHint": True}, _meta={"version": "2"})
    )
    road.health = replace(road.health, warnings={"core": [("core.search", "a warning"), ("core.other", "another")]})
    shown = document(road, DOCUMENTS[1])
    assert shown["inputSchema"] == schema
    assert shown["annotations"] == {"readOnlyHint": True}
    assert (shown["toolService"], shown["endpoint"], shown["budgetS"]) == ("core-tools", "/tools/search", 1.5)
    assert shown["mirrored"] == [{"header": "Mcp-Param-Count", "path": ["n"]}]
    assert shown["example"] == {"n": 1}
    assert shown["warnings"] == ["a warning"]


def test_a_tool_without_a_budget_of_its_own_has_that_of_its_service(road: Road) -> None:
    assert document(road, DOCUMENTS[1])["budgetS"] == 60


@pytest.mark.parametrize(
    "query", ["", "?route=core", "?tool=core.search", "?route=core&tool=none", "?route=x&tool=core.search"]
)
def test_what_is_not_there_is_404(road: Road, query: str) -> None:
    refusal(road.request("GET", f"/console/api/tool{query}"), 404, "not_found")
    refusal(
        road.request("POST", f"/console/api/check{query}", b"{}", {"Content-Type": "application/json"}),
        404,
        "not_found",
    )
