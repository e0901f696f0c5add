"""
What would become of a call with these arguments, in each revision that the route speaks, without making it.

What the gateway would refuse is not told here a second time: the request goes down the gateway's own road, up to the
door of the Tool Service (``Rehearse``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ... import jsontext
from ...caller import Headers
from ...client import wire
from ...client.script import script
from ...client.wire import Message
from ...config import model
from ...jsontext import Fragment
from ...registry.snapshot import Tool
from .documents import input_schema

CLIENT = "mcp-gateway-console"
"""Who the requests say they come from."""


class Refusal(Protocol):
    """The answer to a call that does not get as far as its Tool Service."""

    @property
    def status(self) -> int:
        """The HTTP status."""

    @property
    def body(self) -> bytes:
        """The JSON body."""


Rehearse = Callable[[str, Headers, bytes], Refusal | None]
"""Takes a route's key, headers and a body; returns the refusal, or ``None`` when the call would be made."""


class SentHeaders(Headers):
    """The headers of a request that is only thought of."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = {name.lower(): value for name, value in headers.items()}

    def get(self, name: str) -> str | None:
        """Return the value of the header *name* (lower case); ``None``: absent."""
        return self._headers.get(name)

    def each(self, name: str) -> tuple[str, ...]:
        """Return the value of the header *name* (lower case), which is sent once; empty: absent."""
        return (self._headers[name],) if name in self._headers else ()


def tried(route: model.Route, tool: Tool, arguments: bytes, origin: str, rehearse: Rehearse) -> dict[str, Any]:
    """
    Return the faults of *arguments*, and of each revision the request and how it would be refused.

    Args:

        arguments: The JSON text as it was written.

        origin: Where the gateway is for whoever asks, e.g. ``https://gateway.example``.
    """
    try:
        value = jsontext.parse(arguments)
    except jsontext.NotJson as fault:
        return {"problem": f"The arguments are no JSON that can be read: {fault}", "violations": [], "revisions": []}
    text = Fragment(arguments)
    revisions = [_revision(version, route, tool, text, origin, rehearse) for version in route.protocol_versions]
    return {"problem": None, "violations": _violations(tool, value), "revisions": revisions}


def _violations(tool: Tool, value: Any) -> list[dict[str, str]]:
    if not isinstance(value, dict):  # refused before the schema is looked at
        return []
    return [
        {"path": each.path, "keyword": each.keyword, "message": each.message}
        for each in tool.input_schema.violations(value, "arguments")
    ]


def _revision(
    version: str, route: model.Route, tool: Tool, arguments: Fragment, origin: str, rehearse: Rehearse
) -> dict[str, Any]:
    message = wire.call_tool(version, tool.name, arguments, input_schema(tool), client=CLIENT)
    refusal = rehearse(route.key, SentHeaders(message.headers), message.body)
    return {
        "version": version,
        "headers": message.headers,
        "body": message.body.decode("utf-8"),
        "http": _http(route.public_path, origin, message),
        "curl": script(origin + route.public_path, message),
        "refusal": refusal and {"status": refusal.status, "body": refusal.body.decode("utf-8")},
    }


def _http(path: str, origin: str, message: Message) -> str:
    """Return the request as it stands on the wire, the line ends as a screen shows them."""
    lines = [
        f"POST {path} HTTP/1.1",
        f"Host: {origin.partition('://')[2]}",
        *(f"{name}: {value}" for name, value in message.headers.items()),
        f"Content-Length: {len(message.body)}",
    ]
    return "\n".join(lines) + "\n\n" + message.body.decode("utf-8")
