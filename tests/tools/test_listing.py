"""The list of tools, rendered once for each snapshot and revision."""

from __future__ import annotations

import json

from road import snapshot, tool

from mcp_gateway.registry.snapshot import Tool
from mcp_gateway.tools import listing


def test_the_list_leaves_out_the_output_schemas_that_are_not_shown() -> None:
    current = snapshot(tool("a", outputSchema={"type": "object"}), tool("b", outputSchema={"type": "array"}), tool("c"))

    rendered = listing.render(current, "v", lambda each: each.output_is_object)

    shown = json.loads(bytes(rendered))
    assert [(each["name"], "outputSchema" in each) for each in shown] == [("a", True), ("b", False), ("c", False)]


def test_the_list_is_rendered_once_for_each_variant() -> None:
    current, asked = snapshot(tool(outputSchema={"type": "object"})), []

    def shows(each: Tool) -> bool:
        asked.append(each.name)
        return True

    first = listing.render(current, "v", shows)

    assert listing.render(current, "v", shows) is first
    assert asked == ["core.search"]
    assert listing.render(current, "w", lambda each: False) is not first


def test_another_snapshot_has_a_list_of_its_own() -> None:
    listing.render(snapshot(tool("a")), "v", lambda each: True)

    assert json.loads(bytes(listing.render(snapshot(), "v", lambda each: True))) == []
