"""The pages of docs/reference that are made from the code are its picture."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("scripts_reference", ROOT / "scripts" / "reference.py")
assert _spec is not None
assert _spec.loader is not None
reference = sys.modules[_spec.name] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(reference)

PAGES = reference.pages()


@pytest.mark.parametrize("name", PAGES)
def test_the_page_shows_the_code_as_it_is(name: str) -> None:
    assert (reference.FOLDER / name).read_text("utf-8") == PAGES[name], "run: python scripts/reference.py"


def test_the_pages_hold_something_of_everything() -> None:
    assert "| `tools[].inputSchema` | required | object |" in PAGES["manifest-fields.md"]
    assert "## mcp-gateway manifest from-openapi" in PAGES["command-line-options.md"]
    assert "| `busy` | `-32603` | 200 |" in PAGES["errors.md"]
    assert "| 413 | `payload_too_large` |" in PAGES["errors.md"]
