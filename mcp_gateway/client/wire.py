"""
What a client says to the gateway, in each protocol version: headers and body of one request (pure).

Written from the outside, as any client would be: nothing here is shared with the code that reads it in ``protocol``.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from .. import __version__, jsontext
from ..jsontext import Fragment

PER_REQUEST = "2026-07-28"
"""The version in which every request says all about itself, and mirrors parts of its body in headers."""

PROTOCOLS = ("2025-11-25", PER_REQUEST)
"""The versions that can be spoken, the preferred one first."""

COMMAND_LINE = "mcp-gateway-cli"
"""Who a request says it comes from, unless it is told otherwise."""

_MARK = "x-mcp-header"
_MARK_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_PLAIN = re.compile(r"[!-~](?:[ -~\t]*[!-~])?")
_LOOKS_WRAPPED = re.compile(r"=\?base64\?.*\?=", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Message:
    """One request: the body of a POST, and its headers as text; a character outside ASCII goes out as UTF-8."""

    headers: Mapping[str, str]
    body: bytes

    def adding(self, others: Mapping[str, str]) -> Message:
        """Return it with more headers; one that is there already, in whatever case, gives way."""
        new = {name.lower() for name in others}
        kept = {name: value for name, value in self.headers.items() if name.lower() not in new}
        return Message({**kept, **others}, self.body)


def list_tools(version: str) -> Message:
    """Write ``tools/list``."""
    return _message(version, "tools/list", {}, {}, COMMAND_LINE)


def call_tool(
    version: str, tool: str, arguments: Fragment, input_schema: Any = None, *, client: str = COMMAND_LINE
) -> Message:
    """
    Write ``tools/call``; the text of *arguments* goes in as it stands.

    Args:

        input_schema: The tool's as listed; its ``x-mcp-header`` marks ask for headers. ``None``: it is not known.

        client: Who the request says it comes from.
    """
    mirrored = {"Mcp-Name": header_value(tool), **mirror(input_schema, jsontext.parse(bytes(arguments)))}
    return _message(version, "tools/call", {"name": tool, "arguments": arguments}, mirrored, client)


def _message(version: str, method: str, params: dict[str, Any], mirrored: Mapping[str, str], client: str) -> Message:
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": version,
    }
    if version == PER_REQUEST:
        headers |= {"Mcp-Method": method, **mirrored}
        params = {**params, "_meta": _meta(client)}
    return Message(headers, jsontext.encode({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))


def _meta(client: str) -> dict[str, Any]:
    return {
        "io.modelcontextprotocol/protocolVersion": PER_REQUEST,
        "io.modelcontextprotocol/clientInfo": {"name": client, "version": __version__},
        "io.modelcontextprotocol/clientCapabilities": {},
    }


def header_value(text: str) -> str:
    """Return *text* as a mirrored header carries it: as it is, or as Base64 where a header could not carry it."""
    if _PLAIN.fullmatch(text) and not _LOOKS_WRAPPED.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8')).decode('ascii')}?="


def mirror(input_schema: Any, arguments: Any) -> dict[str, str]:
    """Return the ``Mcp-Param-…`` headers that the marks of *input_schema* ask for."""
    return {f"Mcp-Param-{mark}": header_value(text) for mark, text in _marked(input_schema, arguments)}


def _marked(schema: Any, value: Any) -> Iterator[tuple[str, str]]:
    """Yield each mark whose argument is there, with the argument as text."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or not isinstance(value, dict):
        return
    for name, part in properties.items():
        mark = part.get(_MARK) if isinstance(part, dict) else None
        text = _text(value.get(name))
        if isinstance(mark, str) and _MARK_NAME.fullmatch(mark) and text is not None:
            yield mark, text
        yield from _marked(part, value.get(name))


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int, Decimal)) else None
