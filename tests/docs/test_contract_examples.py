"""The examples of the contract pages are sent to a gateway in front of the sample Tool Service, and hold."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.stack import Stack, sample_stack

PAGES = Path(__file__).parents[2] / "docs" / "contracts"
BLOCK = re.compile(r"^```http (request|response)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MORE = "…"


@dataclass(frozen=True)
class Part:
    """A request or a response of a page: its first line, its headers, its body."""

    first: str
    headers: dict[str, str]
    body: str


def parts_of(page: Path) -> Iterator[tuple[str, Part]]:
    """Yield each example block of a page, as the word behind ``http`` and what it holds."""
    for kind, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        head, _, body = text.partition("\n\n")
        first, *lines = head.strip().split("\n")
        yield kind, Part(first, dict(line.split(": ", 1) for line in lines), body.strip())


def examples() -> Iterator[Any]:
    """Yield each request of the pages with the response that follows it."""
    for page in sorted(PAGES.glob("*.md")):
        parts = list(parts_of(page))
        for number, ((asks, request), (answers, response)) in enumerate(zip(parts[::2], parts[1::2], strict=True), 1):
            assert (asks, answers) == ("request", "response"), f"{page.name}: a request must be followed by a response"
            yield pytest.param(request, response, id=f"{page.stem}-{number}")


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with sample_stack() as running:
        yield running


def same(shown: Any, got: Any) -> bool:
    """Return whether *got* is what a page shows; ``<…>`` stands for a kind of value, ``…`` for more of them."""
    if shown == "<uuid>":
        return isinstance(got, str) and UUID.fullmatch(got) is not None
    if shown == "<text>":
        return isinstance(got, str) and got != ""
    if shown == "<integer>":
        return type(got) is int
    if isinstance(shown, dict) and isinstance(got, dict):
        named = {name: value for name, value in shown.items() if name != MORE}
        complete = MORE in shown or named.keys() == got.keys()
        return complete and all(name in got and same(value, got[name]) for name, value in named.items())
    if isinstance(shown, list) and isinstance(got, list):
        if shown[-1:] == [MORE]:
            shown, got = shown[:-1], got[: len(shown) - 1]
        return len(shown) == len(got) and all(map(same, shown, got))
    return type(shown) is type(got) and shown == got


@pytest.mark.parametrize(("request_shown", "response_shown"), list(examples()))
def test_the_example_is_answered_as_the_page_shows(stack: Stack, request_shown: Part, response_shown: Part) -> None:
    method, path = request_shown.first.split(" ")
    connection = http.client.HTTPConnection("127.0.0.1", stack.port, timeout=20)
    try:
        connection.request(method, path, request_shown.body.encode("utf-8") or None, request_shown.headers)
        response = connection.getresponse()
        body = response.read()
    finally:
        connection.close()

    assert response_shown.first == f"HTTP/1.1 {response.status}", body
    for name, shown in response_shown.headers.items():
        if shown == "<absent>":
            assert response.headers[name] is None
        else:
            assert same(shown, response.headers[name]), f"{name}: {response.headers[name]}"
    if response_shown.body:
        got = json.loads(body)
        assert same(json.loads(response_shown.body), got), json.dumps(got, ensure_ascii=False, indent=1)
    else:
        assert body == b""


def test_a_page_that_shows_something_else_than_what_comes_would_fail() -> None:
    assert not same({"a": 1}, {"a": 1, "b": 2})
    assert not same({"a": 1, MORE: MORE}, {"a": True})
    assert not same([1, MORE], [2, 3])
    assert not same("<integer>", "5")
