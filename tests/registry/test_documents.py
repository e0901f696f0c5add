"""The pages about manifests and portals, example by example and row by row."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from registry.samples import manifest

from mcp_gateway.config.model import Config, Portal, Registry
from mcp_gateway.deadline import Deadline
from mcp_gateway.registry.manifest import ManifestFault, read
from mcp_gateway.registry.source import SourceFault
from mcp_gateway.registry.source_portal import PortalSource

CONTRACTS = Path(__file__).resolve().parents[2] / "docs" / "contracts"
MANIFEST = (CONTRACTS / "tool-service-manifest.md").read_text(encoding="utf-8")
PORTAL = (CONTRACTS / "portal-registry.md").read_text(encoding="utf-8")


def examples(page: str) -> list[bytes]:
    return [block.encode() for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL)]


def rows(page: str, *head: str) -> list[tuple[str, ...]]:
    """Return the rows, two pieces of code each, of all tables with that head."""
    found = []
    for body in re.findall(rf"\| {re.escape(' | '.join(head))} \|\n\| --- \| --- \|\n((?:\|.*\n)+)", page):
        found += [re.fullmatch(r"\| `(.*)` \| `(.*)` \|", row).groups() for row in body.splitlines()]
    assert found
    return found


def changed(field: str) -> bytes:
    """Return the page's first example with one field of its tool changed."""
    entry = json.loads(examples(MANIFEST)[0])["tools"][0]
    return manifest(entry | json.loads(f"{{{field}}}"))


@pytest.mark.parametrize("text", examples(MANIFEST))
def test_each_manifest_on_the_page_loads_without_a_fault_or_a_warning(text):
    loaded = read(text, service="core-tools")
    assert (len(loaded.tools), loaded.left_out, loaded.tools[0].warnings) == (1, (), ())


@pytest.mark.parametrize(("text", "reason"), rows(MANIFEST, "the manifest", "the reason"))
def test_each_manifest_that_fails_as_a_whole_fails_as_the_page_says(text, reason):
    with pytest.raises(ManifestFault) as caught:
        read(text.encode(), service="core-tools")
    assert str(caught.value) == reason


@pytest.mark.parametrize(("field", "reason"), rows(MANIFEST, "the field", "the reason"))
def test_each_wrong_field_makes_the_tool_invalid_as_the_page_says(field, reason):
    loaded = read(changed(field), service="core-tools")
    assert [f"{left_out.place}: {left_out.reason}" for left_out in loaded.left_out] == [reason]


@pytest.mark.parametrize(("field", "warning"), rows(MANIFEST, "the field", "the warning"))
def test_each_harmful_field_brings_the_warning_that_the_page_names(field, warning):
    (entry,) = read(changed(field), service="core-tools").tools
    assert entry.warnings == (warning,)


def routes(server):
    settings = Registry(source="portal", portal=Portal(server.base_url, "secret"))
    source = PortalSource(Config(registry=settings), ("2026-07-28", "2025-11-25"), "mcp-gateway/test")
    try:
        return source.routes(Deadline.after(10))
    finally:
        source.close()


@pytest.mark.parametrize("text", examples(PORTAL))
def test_each_route_list_on_the_page_is_taken(serve, text):
    (route,) = routes(serve(text))
    (service,) = route.tool_services
    assert (route.key, route.public_path, route.title) == ("core", "/mcp/core", "Core tools")
    assert (service.name, service.base_url) == ("core-tools", "https://core-tools.example")
    assert (service.manifest_path, service.timeout_s, service.max_in_flight) == ("/manifest", 20.0, 16)


@pytest.mark.parametrize(("text", "reason"), rows(PORTAL, "the answer", "the reason"))
def test_each_wrong_route_list_is_refused_as_the_page_says(serve, text, reason):
    with pytest.raises(SourceFault) as caught:
        routes(serve(text.encode()))
    assert str(caught.value) == reason


def test_of_many_faults_of_a_route_list_the_first_are_told(serve):
    many = [{"key": f"a{index}", "publicPath": f"/a{index}", "toolServices": []} for index in range(9)]
    with pytest.raises(SourceFault, match=r"routes\[4\].*; and 4 more$") as caught:
        routes(serve(json.dumps({"registryVersion": "0.1", "routes": many}).encode()))
    assert "routes[5]" not in str(caught.value)
