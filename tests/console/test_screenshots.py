"""The pictures of the README: taken from a running gateway with the sample Tool Service (``make screenshots``)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from console.harness import tab
from playwright.sync_api import Browser
from support.stack import Stack, sample_stack

FOLDER = os.environ.get("CONSOLE_SCREENSHOTS")
DESK = {"width": 1280, "height": 860}
PHONE = {"width": 375, "height": 812}


def place(tool: str, arguments: Any) -> str:
    return f"core/{tool}?version=2025-11-25&arguments={quote(json.dumps(arguments, ensure_ascii=False))}"


NOTE = {"title": "주간 보고", "text": "게이트웨이 시험을 마쳤습니다.", "tags": ["보고", "시험"]}
CHART = {"values": [{"label": "월", "value": 12}, {"label": "화", "value": 7.5}, {"label": "수", "value": 19}]}

PICTURES: dict[str, tuple[str, bool, dict[str, Any]]] = {
    "console-route": ("core", False, {"viewport": DESK}),
    "console-tool": (place("core.add_note", NOTE), True, {"viewport": DESK}),
    "console-failure-dark": (
        place("core.fail", {"status": 503}),
        True,
        {"viewport": DESK, "color_scheme": "dark"},
    ),
    "console-phone": (
        place("core.search_documents", {"query": "deadline", "limit": "two"}),
        False,
        {"viewport": PHONE},
    ),
}
"""Where each is taken, whether Send is pressed before, and how the browser looks."""


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with sample_stack() as running:
        yield running


@pytest.mark.parametrize("name", PICTURES)
def test_the_pictures_of_the_readme_can_be_taken(browser: Browser, stack: Stack, tmp_path: Path, name: str) -> None:
    where, sends, options = PICTURES[name]
    picture = Path(FOLDER or tmp_path) / f"{name}.png"
    with tab(browser, f"http://127.0.0.1:{stack.port}", reduced_motion="reduce", **options) as console:
        console.open(where)
        if sends:
            console.send()
            console.page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
        elif "/" in where:
            console.wait_for_state("must be")
        console.page.screenshot(path=picture, full_page=sends)
    assert picture.stat().st_size > 10_000


def test_every_picture_that_is_kept_is_shown_in_the_readme_and_the_other_way_round() -> None:
    root = Path(__file__).resolve().parents[2]
    kept = {path.name for path in (root / "docs" / "images").glob("console-*.png")}
    assert kept == {f"{name}.png" for name in PICTURES}
    readme = (root / "README.md").read_text("utf-8")
    assert [name for name in kept if f"docs/images/{name}" not in readme] == []
