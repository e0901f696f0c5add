from __future__ import annotations

from collections.abc import Iterator

import pytest
from clients.expected import PIXEL
from support.processes import Gateway, configuration, gateway, route
from support.toolservice import Received, Reply, ToolService

ECHO_SCHEMA = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["query"],
}
COUNT_SCHEMA = {"type": "object", "properties": {"documents": {"type": "integer"}}, "required": ["documents"]}
REGION_SCHEMA = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    "required": ["region"],
}


def echo(received: Received) -> Reply:
    return Reply.of_json(received.body)


def fail(received: Received) -> Reply:
    return Reply.of_text("문서가 없습니다", 404)


def count(received: Received) -> Reply:
    return Reply.of_json(b'{"documents": 7}')


def pixel(received: Received) -> Reply:
    return Reply(PIXEL, "image/png")


@pytest.fixture(scope="package")
def service() -> Iterator[ToolService]:
    """A Tool Service with one tool for each way in which an SDK may look at an answer."""
    with ToolService() as here:
        here.add("core.echo", echo, ECHO_SCHEMA, title="Echo", _meta={"version": "1.0.0"})
        here.add("core.fail", fail)
        here.add("core.count", count, outputSchema=COUNT_SCHEMA)
        here.add("core.pixel", pixel)
        here.add("core.region", echo, REGION_SCHEMA)
        yield here


@pytest.fixture(scope="package")
def running(service: ToolService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """A gateway with one route for both protocol versions and one for the older alone."""
    config = configuration(
        routes=[route("legacy", service, protocol_versions=["2025-11-25"]), route("default", service)]
    )
    with gateway(tmp_path_factory.mktemp("clients"), config) as here:
        yield here
