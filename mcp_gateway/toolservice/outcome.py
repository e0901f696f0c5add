"""
What a call came to, and the table that says so, one small function for each row (pure: no I/O, no clock).

An answer is passed on whole or not at all. See ``docs/contracts/tool-service-manifest.md``.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .. import jsontext
from ..jsontext import Fragment
from ..transport.answer import Answer, Delivery, Reason, Unanswered
from ..transport.mediatype import MediaType, NotText
from . import blocks

MAX_LOG_CHARACTERS = 2_000
"""How much of a 5xx body goes to the log."""

_UTF8_BOM = b"\xef\xbb\xbf"
_NO_CONTENT = 204
_SECONDS = re.compile(r"[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class Failure:
    """
    Why a call failed, for machines (``result._meta["mcp-gateway/failure"]``).

    Args:

        status: The HTTP status that the Tool Service gave; ``None``: none came.

        retry_after: Seconds that its ``Retry-After`` asks for; ``None``: it does not say.
    """

    reason: Reason
    delivery: Delivery
    status: int | None = None
    retry_after: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    What the caller gets of a call.

    Args:

        content: MCP content blocks, at least one; without ``searchTime``, which whoever timed the call adds.

        is_error: The tool, its service or the way there failed.

        structured: The answer as JSON text when it is JSON, for ``structuredContent``; ``None`` when it is not.

        status: The status of the answer; ``None``: there was none.

        failure: Set when ``is_error`` is true because of the call.

        log: A line for the operator that the caller must not see (e.g. the body of a 5xx, cut); ``None``: nothing.
    """

    content: tuple[dict[str, Any], ...]
    is_error: bool = False
    structured: Fragment | None = None
    status: int | None = None
    failure: Failure | None = None
    log: str | None = None


def read(answer: Answer, *, tool: str, result_format: str | None) -> Outcome:
    """
    Return what an answer comes to.

    Args:

        answer: The Tool Service's answer.

        tool: The tool's name, for sentences.

        result_format: ``mcp``: JSON is a whole MCP result; ``None``: JSON is what it is.
    """
    match answer.status // 100:
        case 2:
            return _success(answer, tool, result_format)
        case 3:
            return _redirect(answer, tool)
        case 4:
            return _rejection(answer, tool)
        case _:
            return _server_error(answer, tool)


def unanswered(fault: Unanswered, *, tool: str, budget_s: float) -> Outcome:
    """
    Return what an exchange without an answer comes to.

    Args:

        fault: Why there is no answer.

        tool: The tool's name, for the sentence.

        budget_s: What the call could take in all.
    """
    failure = Failure(fault.reason, fault.delivery, fault.status)
    match fault.reason:
        case Reason.BUDGET if budget_s <= 0:
            return _failed(f"Tool '{tool}' was not called: the time for the whole request was used up before.", failure)
        case Reason.BUDGET:
            return _failed(f"Tool '{tool}' did not answer within its budget of {round(budget_s, 3):g} s.", failure)
        case Reason.TOO_LARGE | Reason.UNREADABLE:
            return _failed(_unusable(tool, fault.detail), failure)
        case _:
            return _failed(f"Tool '{tool}' could not be called: {fault.detail}.", failure)


def _success(answer: Answer, tool: str, result_format: str | None) -> Outcome:
    if answer.status == _NO_CONTENT or not answer.body:
        return _text("", answer)
    media = MediaType.of(answer.headers)
    try:
        match media.kind:
            case "text":
                return _text(media.text(answer.body), answer)
            case "image" | "audio":
                return _picture_or_sound(media, answer)
            case _:
                return _json(media, answer, result_format)
    except (NotText, jsontext.NotJson, blocks.BadResult) as fault:
        return _failed(_unusable(tool, str(fault)), _failure(Reason.UNREADABLE, answer))


def _picture_or_sound(media: MediaType, answer: Answer) -> Outcome:
    data = base64.b64encode(answer.body).decode("ascii")
    return Outcome(({"type": media.kind, "data": data, "mimeType": media.essence},), status=answer.status)


def _json(media: MediaType, answer: Answer, result_format: str | None) -> Outcome:
    text = _compacted(media, answer.body)
    if result_format == "mcp":
        result = blocks.read(text)
        return Outcome(result.content, result.is_error, result.structured, answer.status)
    return Outcome(({"type": "text", "text": _shown(text)},), structured=Fragment(text), status=answer.status)


def _shown(text: bytes) -> str:
    """Return JSON as a caller reads it: a string's own characters, anything else as it is written."""
    return jsontext.string(text) if text.startswith(b'"') else text.decode("utf-8")


def _compacted(media: MediaType, body: bytes) -> bytes:
    """Return a body as compact JSON text: anything that is declared JSON, else an object or an array."""
    try:
        text = jsontext.compact(_utf8(media, body))
    except (NotText, jsontext.NotJson) as fault:
        if not media.says_json:
            raise NotText(_neither(media)) from None
        raise NotText(f"it says it is JSON and is none: {fault}") from None
    if not media.says_json and not text.startswith((b"{", b"[")):
        raise NotText(_neither(media))
    return text


def _neither(media: MediaType) -> str:
    return f"its media type {media.essence or '(none)'} is neither text, JSON, an image nor audio"


def _utf8(media: MediaType, body: bytes) -> bytes:
    text = body if media.charset is None else media.text(body).encode()
    return text.removeprefix(_UTF8_BOM)


def _redirect(answer: Answer, tool: str) -> Outcome:
    sentence = f"Tool '{tool}' answered with a redirect (status {answer.status}), which is not followed."
    return _failed(sentence, _failure(Reason.REDIRECT, answer))


def _rejection(answer: Answer, tool: str) -> Outcome:
    return _failed(_own_message(answer) or _status(answer, tool), _failure(Reason.STATUS, answer))


def _own_message(answer: Answer) -> str:
    """Return what a 4xx answer says of itself; empty when it says nothing that can be read."""
    media = MediaType.of(answer.headers)
    try:
        message = media.text(answer.body) if media.kind == "text" else _shown(_compacted(media, answer.body))
    except NotText:
        return ""
    return message if message.strip() else ""


def _server_error(answer: Answer, tool: str) -> Outcome:
    log = answer.body[: MAX_LOG_CHARACTERS * 4].decode("utf-8", "replace")[:MAX_LOG_CHARACTERS]
    return _failed(_status(answer, tool), _failure(Reason.STATUS, answer), log or None)


def _status(answer: Answer, tool: str) -> str:
    return f"Tool '{tool}' answered with status {answer.status}."


def _unusable(tool: str, detail: str) -> str:
    return f"Tool '{tool}' gave an answer that cannot be used: {detail}."


def _text(text: str, answer: Answer) -> Outcome:
    return Outcome(({"type": "text", "text": text},), status=answer.status)


def _failed(sentence: str, failure: Failure, log: str | None = None) -> Outcome:
    return Outcome(
        ({"type": "text", "text": sentence},), is_error=True, status=failure.status, failure=failure, log=log
    )


def _failure(reason: Reason, answer: Answer) -> Failure:
    return Failure(reason, Delivery.ANSWERED, answer.status, _retry_after(answer))


def _retry_after(answer: Answer) -> int | None:
    """Return the seconds that ``Retry-After`` asks for; a date in it counts from the answer's own ``Date``."""
    asked = answer.headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(asked):
        return int(asked)
    try:
        seconds = (_date(asked) - _date(answer.headers.get("date", ""))).total_seconds()
    except ValueError:
        return None
    return max(0, int(seconds))


def _date(text: str) -> datetime:
    return datetime.strptime(text.replace("GMT", "+0000"), "%a, %d %b %Y %H:%M:%S %z")
