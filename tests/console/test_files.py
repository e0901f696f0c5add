"""Rules about the console's static files, where no tool of its own exists for them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import mcp_gateway
from mcp_gateway.web.console.assets import TYPES

STATIC = Path(mcp_gateway.__file__).parent / "web" / "console" / "static"
SCRIPTS = sorted(STATIC.glob("*.js"))
IMPORT = re.compile(r'from "\./([^"]+)"')
LONGEST = 260

# Whatever could read text as markup or code, or leave something behind.
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|DOMParser|createContextualFragment|"
    r"srcdoc|localStorage|indexedDB|document\.cookie|\.style\b|setInterval\(\s*[\"'`]|setTimeout\(\s*[\"'`]"
)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_module_is_small_says_what_it_is_and_reads_no_markup(script: Path) -> None:
    text = script.read_text("utf-8")
    assert text.startswith("// ")
    assert len(text.splitlines()) <= LONGEST
    assert FORBIDDEN.findall(text) == []


def test_modules_import_only_what_is_there_and_all_of_them_are_reached() -> None:
    reached, todo = set(), ["main.js"]
    while todo:
        name = todo.pop()
        if name not in reached:
            reached.add(name)
            todo += IMPORT.findall((STATIC / name).read_text("utf-8"))
    assert reached == {script.name for script in SCRIPTS}


def test_no_file_names_another_host() -> None:
    for file in STATIC.iterdir():
        addresses = set(re.findall(r"https?://[\w.-]+", file.read_text("utf-8")))
        assert addresses <= {"http://www.w3.org"}, file.name


def test_every_file_has_a_media_type() -> None:
    assert {file.suffix[1:] for file in STATIC.iterdir()} <= set(TYPES)


def test_the_page_has_no_script_or_style_of_its_own() -> None:
    page = (STATIC / "index.html").read_text("utf-8")
    assert "style=" not in page
    assert re.findall(r"<script(?![^>]* src=)", page) == []
    assert re.findall(r" on\w+=", page) == []
