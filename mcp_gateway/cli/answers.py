"""What the gateway answered, as a value or in words (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .. import jsontext
from ..jsontext import Fragment
from ..transport.answer import Answer
from .terminal import Failed, one_line

FAILURE_NOTE = "mcp-gateway/failure"
_SNIPPET = 200


@dataclass(frozen=True, slots=True)
class Result:
    """The ``result`` of a JSON-RPC answer, to look at and as the text that came."""

    members: Mapping[str, Any]
    text: Fragment


def result(answer: Answer) -> Result:
    """
    Return the result.

    Raises:

        Failed: There is none; the message says what there is instead.
    """
    body = _object(answer.body)
    error = body.get("error")
    if isinstance(error, dict):
        raise Failed("\n".join(_rpc_error(error)))
    if isinstance(error, str):
        raise Failed("\n".join(_http_error(answer.status, body)))
    if not isinstance(body.get("result"), dict):
        start = answer.body[:_SNIPPET].decode("utf-8", "replace")
        raise Failed(one_line(f"HTTP {answer.status}, and the answer is no JSON-RPC: {start or '(empty)'}"))
    return Result(body["result"], jsontext.members(answer.body)["result"])


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        value = jsontext.parse(body, unique=False)
    except jsontext.NotJson:
        return {}
    return value if isinstance(value, dict) else {}


def _rpc_error(error: Mapping[str, Any]) -> Iterator[str]:
    yield one_line(f"error {error.get('code')}: {error.get('message')}")
    data = error.get("data")
    data = dict(data) if isinstance(data, dict) else {}
    violations = data.pop("errors", None)
    for each in violations if isinstance(violations, list) else ():
        if isinstance(each, dict):
            place = each.get("path") or "(the arguments themselves)"
            yield one_line(f"  {place}: {each.get('message')} ({each.get('keyword')})")
    yield from _details(data)


def _http_error(status: int, body: Mapping[str, Any]) -> Iterator[str]:
    yield one_line(f"HTTP {status} {body['error']}: {body.get('message')}")
    yield from _details({name: value for name, value in body.items() if name not in ("error", "message")})


def _details(members: Mapping[str, Any]) -> Iterator[str]:
    for name, value in members.items():
        words = ", ".join(map(str, value)) if isinstance(value, list) else value
        yield one_line(f"  {name}: {words}")


def failure(members: Mapping[str, Any]) -> str | None:
    """Return what is to be said of a result that is an error, with the gateway's note on it; ``None``: it is none."""
    if members.get("isError") is not True:
        return None
    meta = members.get("_meta")
    found = meta.get(FAILURE_NOTE) if isinstance(meta, dict) else None
    words = [f"{name} {value}" for name, value in found.items()] if isinstance(found, dict) else []
    return one_line(f"the call failed ({', '.join(words)})" if words else "the call failed (isError)")


def texts(members: Mapping[str, Any]) -> Iterator[str]:
    """Yield each content block as text: its own, or what it is and how large."""
    blocks = members.get("content")
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, dict):
            yield _text(block)


def _text(block: Mapping[str, Any]) -> str:
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image" | "audio" as kind, "mimeType": str(media_type), "data": str(data)}:
            return one_line(f"[{kind} {media_type}, {_size(data)} bytes]")
        case {"type": "resource", "resource": {"uri": str(uri), "text": str(text)}}:
            return f"{one_line(f'[resource {uri}]')}\n{text}"
        case {"type": "resource", "resource": {"uri": str(uri), "blob": str(data)}}:
            return one_line(f"[resource {uri}, {_size(data)} bytes]")
        case {"type": "resource_link", "uri": str(uri)}:
            return one_line(f"[resource_link {uri}]")
    return one_line(f"[{block.get('type')}]")


def _size(base64_text: str) -> int:
    """Return how many bytes Base64 text stands for."""
    return len(base64_text) * 3 // 4 - base64_text[-2:].count("=")
