"""What the pages show of routes and tools."""

from __future__ import annotations

import re

from console.harness import Console, texts
from support.processes import Gateway


def test_the_first_page_lists_every_route_with_its_state(console: Console) -> None:
    page = console.open()
    card = page.locator(".routes .card")
    assert texts(card.locator("h2")) == ["core"]
    assert "/mcp/core" in card.inner_text()
    assert "Ready" in card.inner_text()
    assert "38 tools" in card.inner_text()
    card.get_by_role("link", name="core").click()
    page.get_by_role("heading", name="Tools", exact=True).wait_for()


def test_a_route_shows_its_snapshot_and_the_state_of_each_tool_service(console: Console, served: Gateway) -> None:
    page = console.open("core")
    report = served.readyz()["routes"][0]
    facts = page.locator(".page-head").inner_text()
    assert report["digest"][:12] in facts
    assert "2026-07-28, 2025-11-25" in facts
    assert page.locator(".page-head time").get_attribute("datetime") == report["loadedAt"]
    assert re.search(r"just now|ago", facts)
    services = page.locator(".services").inner_text()
    assert "core-tools" in services
    assert "Loaded" in services
    assert "38 of its tools are served" in services


def test_a_route_names_the_tools_that_are_left_out_with_place_and_reason(console: Console) -> None:
    left_out = console.open("core").locator("section", has=console.page.get_by_role("heading", name="Left out (1)"))
    assert texts(left_out.locator("code")) == ["left.out", "tools[14].endpoint"]
    assert texts(left_out.locator(".bad")) == ['must not hold "//"']


def test_a_route_shows_what_is_legal_and_harmful(console: Console) -> None:
    page = console.open("core")
    warnings = page.locator("section", has=page.get_by_role("heading", name=re.compile("Legal and harmful")))
    assert "inputSchema.properties without a description: region, page" in warnings.inner_text()


def test_a_long_list_is_narrowed_by_words_of_name_title_and_description(console: Console) -> None:
    page = console.open("core")
    search = page.get_by_role("searchbox", name="Search tools")
    tools = page.locator(".tools > li:visible")
    search.fill("many 1")
    assert len(texts(tools)) == 11
    assert page.locator(".search [role=status]").inner_text() == "11 of 38 tools"
    search.fill("모든 입력")
    assert texts(tools.locator(".tool-link code")) == ["everything"]
    search.fill("there is no such thing")
    assert texts(tools) == []
    assert "No tool has “there is no such thing”." in page.locator("section").first.inner_text()


def test_a_tool_shows_what_a_model_and_its_owner_need_to_see(console: Console) -> None:
    page = console.tool("everything")
    head = page.locator(".page-head").inner_text()
    for words in (
        "Every control · 모든 입력",
        "everything",
        "The tool everything.",
        "reads only",
        "may be repeated",
        "stays inside",
        "core-tools",
        "/tools/everything",
        "60 s",
        "1.2.0",
    ):
        assert words in head


def test_both_schemas_can_be_read_in_words_and_as_they_were_written(console: Console) -> None:
    page = console.tool("everything")
    page.get_by_text("inputSchema", exact=True).click()
    schema = page.locator("details", has=page.get_by_text("inputSchema", exact=True)).first
    limit = schema.locator(".tree > li", has=page.locator("code", has_text="limit")).first.inner_text()
    assert "integer" in limit
    assert "1 to 20" in limit
    assert "default 5" in limit
    assert "From when to when." in schema.inner_text(), "a reference is followed"
    assert "query\nrequired" in schema.inner_text()
    assert "again #/$defs/node, as above" in schema.inner_text(), "one that refers to itself ends"
    schema.get_by_text("As it was written", exact=True).click()
    assert '"$ref": "#/$defs/span"' in console.shown("inputSchema")
    output = page.locator("details", has=page.get_by_text("outputSchema", exact=True)).first
    output.locator("summary").first.click()
    output.get_by_text("As it was written", exact=True).click()
    assert console.shown("outputSchema") == '{\n  "type": "object"\n}'


def test_a_tool_or_a_route_that_is_not_there_is_said_so(console: Console) -> None:
    console.expect("404")
    console.open("core/no.such.tool").get_by_role("alert").filter(has_text="there is no such tool").wait_for()
    console.open("none").get_by_role("alert").filter(has_text="There is no route “none”").wait_for()


def test_the_trail_leads_back(console: Console) -> None:
    page = console.tool("text")
    trail = page.get_by_role("navigation", name="Where you are")
    assert texts(trail.get_by_role("link")) == ["MCP Gateway", "core", "text"]
    trail.get_by_role("link", name="core").click()
    page.get_by_role("heading", name="Tools", exact=True).wait_for()
    page.go_back()
    page.get_by_role("heading", name="Try it").wait_for()
