"""``/metrics`` as Prometheus and as everybody else sees it."""

from __future__ import annotations

import pytest
from road import Road, parsed, refusal
from werkzeug.test import Client

from mcp_gateway.app import create_app
from mcp_gateway.observe.metrics import NoMetrics


class Page(NoMetrics):
    """Metrics of which only the page and what was turned away matter."""

    def __init__(self) -> None:
        self.statuses: list[int] = []

    def page(self) -> bytes | None:
        return b"# HELP a b\n"

    def turned_away(self, status: int) -> None:
        self.statuses.append(status)


@pytest.fixture
def page() -> Page:
    return Page()


@pytest.fixture
def client(road: Road, page: Page) -> Client:
    """A client of a gateway that counts."""
    return Client(create_app(road.config, [road.route], lambda: road.health, [], page))


@pytest.mark.parametrize("host", ["localhost", "10.1.2.3:8080", "evil.example", ""])
def test_the_text_is_there_for_whoever_asks_and_is_kept_by_nobody(client: Client, host: str) -> None:
    response = client.get("/metrics", headers={"Host": host})

    assert (response.status_code, response.data) == (200, b"# HELP a b\n")
    assert response.headers.getlist("Content-Type") == ["text/plain; version=0.0.4; charset=utf-8"]
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["guid"]
    assert response.headers["x-request-id"]


def test_its_head_may_be_asked_for(client: Client) -> None:
    response = client.head("/metrics")

    assert (response.status_code, response.data) == (200, b"")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_it_takes_no_other_method(client: Client, method: str) -> None:
    response = client.open("/metrics", method=method)

    refusal(response, 405, "method_not_allowed")
    assert response.headers["Allow"] == "GET, HEAD"


def test_without_a_place_to_count_it_says_so_and_nobody_takes_nothing_for_zero(road: Road) -> None:
    response = road.request("GET", "/metrics")

    refusal(response, 503, "metrics_unavailable")
    assert response.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["/metrics/", "/mcp/core/metrics", "/metrics/x", "//metrics"])
def test_it_is_at_no_other_path(client: Client, path: str) -> None:
    assert parsed(client.get(path, headers={"Host": "localhost"}))["error"] == "not_found"


def test_what_is_turned_away_before_a_route_is_counted_by_its_status(client: Client, page: Page) -> None:
    client.post("/nowhere", headers={"Host": "localhost"})
    client.get("/mcp/core", headers={"Host": "localhost"})
    client.post("/mcp/core", headers={"Host": "evil.example"})
    client.post("/mcp/core", headers={"Host": "localhost", "Origin": "https://evil.example"})
    client.get("/metrics")
    client.get("/healthz")

    assert page.statuses == [404, 405, 403, 403]
