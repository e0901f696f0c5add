"""For everybody: with assistive technology, with the keyboard alone, on a phone, in light and dark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from console.harness import Console, texts

ARGUMENTS = {"query": "근로계약서", "tags": ["하나", "둘"], "기간": {"from": "2026-01-31"}, "people": [{"name": "김"}]}


def overview(console: Console) -> None:
    """Every route."""
    console.open()


def route(console: Console) -> None:
    """One route, with tools that are left out."""
    console.open("core")


def tool(console: Console) -> None:
    """A tool that nothing has been done with yet."""
    console.tool("everything")


def answered(console: Console) -> None:
    """A tool with every control filled, its schemas open, and an answer."""
    console.tool("everything", ARGUMENTS)
    console.send()
    for summary in console.page.locator("summary").all():
        summary.click()


def faulty(console: Console) -> None:
    """A tool with faults at its fields."""
    console.tool("everything", {"limit": 99, "people": [{}], "either": {}})


def failed(console: Console) -> None:
    """A call that failed."""
    console.tool("breaks")
    console.send()


def kinds(console: Console) -> None:
    """Every kind of content."""
    console.tool("kinds")
    console.send()


def nothing(console: Console) -> None:
    """A tool that is not there."""
    console.expect("404")
    console.open("core/no.such.tool")


PLACES = [overview, route, tool, answered, faulty, failed, kinds, nothing]


def serious(console: Console, **options: Any) -> list[Any]:
    """Return what axe-core finds serious or critical on the page as it is."""
    found = Axe().run(console.page, options={"resultTypes": ["violations"], **options}).response["violations"]
    return [
        (each["id"], each["impact"], [node["html"][:160] for node in each["nodes"]])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("go", PLACES)
def test_a_page_is_for_everybody_in_light_in_dark_and_on_a_phone(
    console: Console, go: Callable[[Console], None]
) -> None:
    page = console.page
    page.emulate_media(color_scheme="light")
    go(console)
    assert serious(console) == []
    page.emulate_media(color_scheme="dark")
    assert serious(console, runOnly=["color-contrast"]) == []
    page.set_viewport_size({"width": 375, "height": 812})
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    assert serious(console, runOnly=["target-size"]) == []


def test_dark_is_dark_and_light_is_light(console: Console) -> None:
    ground = "() => getComputedStyle(document.body).backgroundColor"
    overview(console)
    console.page.emulate_media(color_scheme="dark")
    assert console.page.evaluate(ground) == "rgb(18, 21, 27)"
    console.page.emulate_media(color_scheme="light")
    assert console.page.evaluate(ground) == "rgb(246, 247, 249)"


def test_the_keyboard_alone_leads_from_the_first_page_to_an_answer(console: Console) -> None:
    page = console.open()
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip to the content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "core"
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Tools", exact=True).wait_for()
    assert page.evaluate("document.activeElement.tagName") == "H1", "a reader is told where it has come to"
    page.keyboard.press("/")
    page.keyboard.type("every control")
    page.keyboard.press("Tab")
    assert "everything" in page.locator(":focus").inner_text()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Try it").wait_for()
    place = """() => document.activeElement.tagName === 'TEXTAREA'
        && document.activeElement.closest('[data-place]').dataset.place"""
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate(place) == "query":
            break
    page.keyboard.type("한글")
    page.keyboard.press("Control+Enter")
    page.locator(".verdict").wait_for()
    assert console.arguments() == {"query": "한글"}
    assert "The tool answered" in console.outcome.inner_text()


def test_lists_revisions_and_details_obey_the_keyboard(console: Console) -> None:
    page = console.tool("everything", {"query": "x", "tags": ["가"]})
    page.get_by_role("button", name="Remove tags[0]").focus()
    page.keyboard.press("Enter")
    assert page.locator(":focus").inner_text() == "Add an item", "focus is not lost with what it was on"
    page.keyboard.press("Space")
    page.keyboard.type("나")
    console.wait_for_arguments({"query": "x", "tags": ["나"]})
    page.get_by_role("radio", checked=True).focus()
    page.keyboard.press("ArrowLeft")
    assert "MCP-Protocol-Version: 2026-07-28" in console.shown("HTTP request")
    page.get_by_text("inputSchema", exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_text("As it was written", exact=True).first.wait_for()


def test_every_control_shows_where_the_focus_is(console: Console) -> None:
    page = console.tool("everything", ARGUMENTS)
    bare = page.evaluate(
        """() => [...document.querySelectorAll('a, button, input, textarea, select, summary, [tabindex="0"]')]
            .filter((each) => each.checkVisibility())
            .filter((each) => (each.focus({focusVisible: true}), getComputedStyle(each).outlineStyle === 'none'))
            .map((each) => each.outerHTML.slice(0, 90))"""
    )
    assert bare == []


def test_status_is_said_in_words_not_by_colour_alone(console: Console) -> None:
    console.open("core")
    assert texts(console.page.locator(".tag")) == ["Loaded"]
    console.tool("fails")
    assert texts(console.send().locator(".headline")) == ["The call failed"]
