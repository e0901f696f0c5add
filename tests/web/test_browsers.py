"""What a browser page on an allowed origin needs (CORS), and what no other page gets."""

from __future__ import annotations

import pytest
from road import LEGACY, PATH, Road, refusal, result

ORIGIN = {"Origin": "http://localhost:3000"}

NEEDED = (
    "content-type",
    "authorization",
    "accept",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "mcp-session-id",
    "last-event-id",
    "traceparent",
    "tracestate",
    "baggage",
    "guid",
    "x-request-id",
    "employee-no",
    "virtual-employee-no",
)


def allowed(road: Road, asked: str) -> set[str]:
    response = road.request("OPTIONS", headers=ORIGIN | {"Access-Control-Request-Headers": asked})
    return {name.strip() for name in response.headers["Access-Control-Allow-Headers"].split(",")}


def test_a_preflight_says_what_the_page_may_send(road: Road) -> None:
    response = road.request("OPTIONS", headers=ORIGIN | {"Access-Control-Request-Method": "POST"})

    assert (response.status_code, response.data) == (204, b"")
    assert "Content-Type" not in response.headers
    assert response.headers["Access-Control-Allow-Origin"] == ORIGIN["Origin"]
    assert response.headers["Access-Control-Allow-Methods"] == "POST"
    assert response.headers["Vary"] == "Origin"
    assert not set(NEEDED) - allowed(road, "")


def test_a_preflight_allows_the_mirrored_arguments_that_are_asked_for(road: Road) -> None:
    asked = "content-type,Mcp-Param-Region, mcp-param-dry-run,x-other,not-mcp-param-x,mcp-param-a_b\t"

    assert allowed(road, asked) - set(NEEDED) == {"mcp-param-region", "mcp-param-dry-run"}


@pytest.mark.parametrize("origin", ["https://evil.example", "null"])
def test_a_preflight_of_another_origin_is_refused(road: Road, origin: str) -> None:
    response = road.request("OPTIONS", headers={"Origin": origin})

    refusal(response, 403, "origin_not_allowed")
    assert not [name for name, _ in response.headers if name.startswith("Access-Control")]


def test_options_without_an_origin_is_no_preflight(road: Road) -> None:
    response = road.request("OPTIONS")

    refusal(response, 405, "method_not_allowed")
    assert response.headers["Allow"] == "POST"


def test_a_preflight_of_a_path_that_takes_no_post_is_405(road: Road) -> None:
    refusal(road.request("OPTIONS", "/healthz", headers=ORIGIN), 405, "method_not_allowed")


def test_an_answer_tells_the_page_which_headers_it_may_read(road: Road) -> None:
    response = road.legacy("ping", headers=ORIGIN)

    assert result(response) == {}
    assert response.headers["Access-Control-Allow-Origin"] == ORIGIN["Origin"]
    assert response.headers["Access-Control-Expose-Headers"] == "guid, x-request-id, mcp-session-id"
    assert response.headers["Vary"] == "Origin"


@pytest.mark.parametrize("path", [PATH, "/nothing"])
def test_a_page_may_read_the_errors_too(road: Road, path: str) -> None:
    response = road.request("GET", path, headers=ORIGIN)

    assert response.status_code in (404, 405)
    assert response.headers["Access-Control-Allow-Origin"] == ORIGIN["Origin"]


def test_a_caller_that_is_no_browser_gets_none_of_this(road: Road) -> None:
    response = road.legacy("ping", headers={"MCP-Protocol-Version": LEGACY, "Sec-Fetch-Mode": "cors"})

    assert not [name for name, _ in response.headers if name.startswith("Access-Control")]
