"""What the tests of the command line share: what a command did, and a Tool Service with every kind of answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.toolservice import Received, Reply, ToolService
from werkzeug.serving import WSGIRequestHandler

SEARCH = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "examples": ["근로계약서 '1부'"]},
        "limit": {"type": "integer", "minimum": 3},
        "filter": {"type": "object", "properties": {"from": {"type": "string"}}, "required": ["from"]},
    },
    "required": ["query"],
}
MIRRORED = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "page": {"type": "object", "properties": {"size": {"type": "integer", "x-mcp-header": "Page-Size"}}},
        "fresh": {"type": "boolean", "x-mcp-header": "Fresh"},
    },
    "required": ["region"],
}


@dataclass(frozen=True)
class Ran:
    """What a command did: its exit status and what it said."""

    status: int
    out: str
    err: str


@dataclass(frozen=True)
class Running:
    """A gateway that runs in a thread, its configuration, and the Tool Service behind it."""

    url: str
    port: int
    config: Path
    service: ToolService


Cli = Callable[..., Ran]
Configure = Callable[[Any], Path]


class Quiet(WSGIRequestHandler):
    def log(self, *_: Any) -> None:
        """Keep the test's output free of access logs."""


def echo(received: Received) -> Reply:
    return Reply.of_json(received.body)


def script(service: ToolService) -> ToolService:
    blocks = (
        b'{"content": [{"type": "text", "text": "first\\n"},'
        b'{"type": "audio", "mimeType": "audio/wav", "data": "AAAA"},'
        b'{"type": "resource", "resource": {"uri": "file:///a.txt", "text": "inside"}},'
        b'{"type": "resource", "resource": {"uri": "file:///b.bin", "blob": "AAA="}},'
        b'{"type": "resource_link", "uri": "file:///c", "name": "c"}]}'
    )
    service.add("search", echo, SEARCH, title="문서 검색")
    service.add("echo", echo)
    service.add("mirrored", echo, MIRRORED)
    service.add("greeting", lambda _: Reply.of_text("안녕하세요, 세계"))
    service.add("picture", lambda _: Reply(b"\x89PNG\r\n\x1a\n", "image/png"))
    service.add("blocks", lambda _: Reply.of_json(blocks), resultFormat="mcp")
    both = b'{"content": [{"type": "text", "text": "[no object"}], "structuredContent": {"n": 1.10}}'
    service.add("facts", lambda _: Reply.of_json(both), resultFormat="mcp", outputSchema={"type": "object"})
    service.add("broken", lambda _: Reply.of_text("secret", 503))
    service.add("refusing", lambda _: Reply.of_text("no such document", 404))
    return service
