"""
What a caller sends, and what it takes an answer to be, in one word.

Every call has a number that no other call of the run has. It is in the ``id``, in the ``guid``, in the arguments and
in the tool's answer: an answer that has reached the wrong caller cannot look right. Half of the calls speak
MCP 2025-11-25, half MCP 2026-07-28.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from bench.revisions import LEGACY, MODERN, meta

RIGHT: Final = "right"
"""The label of the answer that the tool gave, whole and to this call."""

NO_CONNECTION: Final = "no connection"
"""The label of a call that was never taken: nobody listens."""

LOST: Final = "lost"
"""The label of a call that was sent whole and has no whole answer."""

_META: Final = meta("faults")


@dataclass(frozen=True, slots=True)
class Answer:
    """One whole HTTP answer; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Call:
    """One ``tools/call``, told apart from all others by its number."""

    number: int
    tool: str
    path: str = "/mcp/faults"

    @property
    def revision(self) -> str:
        """The protocol revision that it speaks."""
        return MODERN if self.number % 2 else LEGACY

    @property
    def id(self) -> int | str:
        """Its JSON-RPC id: an integer or a string in turn."""
        return self.number if self.number % 4 < 2 else f"call-{self.number}"

    @property
    def guid(self) -> str:
        """Its ``guid``."""
        return f"{self.number:08x}-0000-4000-8000-{self.number:012x}"

    def request(self) -> bytes:
        """Return the bytes of the whole request."""
        params: dict[str, Any] = {"name": self.tool, "arguments": {"n": self.number}}
        mirrored = ""
        if self.revision == MODERN:
            params["_meta"] = _META
            mirrored = f"Mcp-Method: tools/call\r\nMcp-Name: {self.tool}\r\n"
        message = {"jsonrpc": "2.0", "id": self.id, "method": "tools/call", "params": params}
        body = json.dumps(message).encode()
        head = (
            f"POST {self.path} HTTP/1.1\r\nHost: gateway.example\r\nContent-Type: application/json\r\n"
            f"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {self.revision}\r\n{mirrored}"
            f"guid: {self.guid}\r\nx-request-id: faults-{self.number}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body


def tool_answer(number: int) -> str:
    """Return what a tool that does its work answers to the call of that number: JSON of a length of its own."""
    return f'{{"n":{number},"said":"{"휴가 규정 " * (number % 97)}","end":{number}}}'


def label(call: Call, answer: Answer) -> str:
    """
    Return in one word what an answer is.

    ``right``; ``busy`` and the like for a JSON-RPC error with a reason, else its code; ``budget/unknown`` and the like
    for a result that failed; ``413 payload_too_large`` and the like outside JSON-RPC. Anything that no answer to this
    call may be begins with ``wrong:``.
    """
    try:
        document = json.loads(answer.body)
    except ValueError:
        return f"wrong: status {answer.status}, no JSON: {answer.body[:200]!r}"
    if not isinstance(document, dict):
        return f"wrong: no object: {answer.body[:200]!r}"
    if answer.headers.get("guid") != call.guid or answer.headers.get("x-request-id") != f"faults-{call.number}":
        return f"wrong: the ids of another call: {dict(answer.headers)}"
    if "jsonrpc" not in document:
        return f"{answer.status} {document.get('error')}"
    if document.get("id") != call.id or isinstance(document["id"], bool):
        return f"wrong: the id {document.get('id')!r} instead of {call.id!r}"
    if "error" in document:
        return _refusal(call, document["error"])
    if answer.status != 200:
        return f"wrong: a result with status {answer.status}"
    try:
        return _result(call, document["result"])
    except (KeyError, TypeError, ValueError, IndexError):
        return f"wrong: no result of a call: {answer.body[:300]!r}"


def _refusal(call: Call, error: Mapping[str, Any]) -> str:
    data = error.get("data") or {}
    if data.get("guid") != call.guid:
        return f"wrong: an error without this call's guid: {error}"
    return str(data.get("reason") or error.get("code"))


def _result(call: Call, result: Mapping[str, Any]) -> str:
    (block,) = result["content"]
    if not isinstance(block["_meta"]["searchTime"], int):
        return "wrong: searchTime is no whole number"
    if not result["isError"]:
        return RIGHT if block["text"] == tool_answer(call.number) else f"wrong: another text: {block['text'][:200]!r}"
    failure = result["_meta"]["mcp-gateway/failure"]
    if failure["guid"] != call.guid or f"'{call.tool}'" not in block["text"]:
        return f"wrong: the failure of another call: {result}"
    return f"{failure['reason']}/{failure['outcome']}"
