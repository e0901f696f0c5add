"""The page that tells the story of a call has the steps of the code, in the code's order."""

from __future__ import annotations

import re
from pathlib import Path

import mcp_gateway

ROOT = Path(__file__).parents[2]
CODE = Path(mcp_gateway.__file__).parent / "protocol" / "exchange.py"


def test_the_page_names_the_numbered_steps_of_the_road() -> None:
    page = (ROOT / "docs" / "life-of-a-call.md").read_text(encoding="utf-8")
    shown = [(number, words.lower()) for number, words in re.findall(r"^(\d)\. \*\*(.+?)\.\*\*", page, re.MULTILINE)]
    written = [
        (number, words.lower()) for number, words in re.findall(r"# (\d)\. (.+)$", CODE.read_text(), re.MULTILINE)
    ]

    assert shown == written
    assert len(shown) == 6


def test_every_file_that_the_page_names_is_there() -> None:
    page = (ROOT / "docs" / "life-of-a-call.md").read_text(encoding="utf-8")
    package = {path.name for path in (ROOT / "mcp_gateway").rglob("*.py")} | {"gunicorn.conf.py"}

    named = set(re.findall(r"`(?:\w+/)?(\w+\.(?:conf\.)?py)`", page))

    assert named
    assert named <= package
