"""What the gateway answered, as a value or in words (pure)."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from .. import jsontext
from ..jsontext import Fragment
from ..transport.answer import Answer
from . import diagnosis
from .diagnosis import WHO, Diagnosis
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

    What is said of an error names the layer and who can mend it, where the gateway's code tells.

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


def error(answer: Answer | None) -> Fragment | None:
    """Return the JSON-RPC error as it came; ``None``: there is none."""
    if answer is None or not isinstance(_object(answer.body).get("error"), dict):
        return None
    return jsontext.members(answer.body)["error"]


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
    yield from _whose(diagnosis.of_error(error.get("code"), data))


def _whose(found: Diagnosis | None) -> Iterator[str]:
    """Yield at which layer it fails, who can mend it, and how."""
    if found is not None:
        yield f"  layer: {found.layer}; whose fault: {WHO[found.culprit]}"
        yield f"  {found.advice}"


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
    note = meta.get(FAILURE_NOTE) if isinstance(meta, dict) else None
    found = note if isinstance(note, dict) else {}
    words = [f"{name} {value}" for name, value in found.items()]
    said = one_line(f"the call failed ({', '.join(words)})" if words else "the call failed (isError)")
    return "\n".join([said, *_whose(diagnosis.of_note(found))])


def texts(members: Mapping[str, Any]) -> Iterator[str]:
    """Yield each content block as text: its own, or what it is and how large."""
    yield from map(_text, blocks(members))


def blocks(members: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the content blocks."""
    content = members.get("content")
    yield from (block for block in content if isinstance(block, dict)) if isinstance(content, list) else ()


def structured(answer: Result) -> Fragment | None:
    """Return ``structuredContent`` as it came, unless one of the texts says the same."""
    if "structuredContent" not in answer.members:
        return None
    value = answer.members["structuredContent"]
    if any(_json(block.get("text")) == value for block in blocks(answer.members)):
        return None
    return jsontext.members(answer.text)["structuredContent"]


def _json(text: Any) -> Any:
    try:
        return jsontext.parse(text.encode("utf-8"), unique=False) if isinstance(text, str) else ...
    except (jsontext.NotJson, UnicodeEncodeError):
        return ...


def readable(text: str) -> str:
    """Return a text that is a JSON object or list with line breaks and indents, its digits as they are."""
    if not text.startswith(("{", "[")):
        return text
    try:
        return jsontext.indented(text.encode("utf-8")).decode("utf-8")
    except (jsontext.NotJson, UnicodeEncodeError):
        return text


class Attachment(NamedTuple):
    """What came as bytes: an image, sound or a resource, with its media type."""

    media_type: str
    data: bytes


def attachments(members: Mapping[str, Any]) -> Iterator[Attachment]:
    """Yield what is bytes among the content; what is no Base64 is passed over."""
    for block in blocks(members):
        match block:
            case {"type": "image" | "audio", "mimeType": str(media_type), "data": str(data)}:
                yield from _decoded(media_type, data)
            case {"type": "resource", "resource": {"blob": str(data), **about}}:
                yield from _decoded(str(about.get("mimeType")), data)


def _decoded(media_type: str, data: str) -> Iterator[Attachment]:
    try:
        yield Attachment(media_type, base64.b64decode(data, validate=True))
    except ValueError:
        return


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
