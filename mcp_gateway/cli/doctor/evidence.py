"""
What went over the wire, as lines for people and as values for scripts (pure).

A secret of the configuration and the number of an employee are never shown: a report is made for sending around.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ... import jsontext
from ...config.model import ToolService
from ...protocol.methods.tools_call import FAILURE_NOTE
from ...transport.answer import Reason
from ...transport.certificate import Certificate
from ...transport.mediatype import MediaType
from ...transport.wire import NoAnswer
from .. import answers
from .witness import Witness

LONGEST = 600
"""As many characters of a body as are shown."""

_PERSONAL = ("employee-no", "virtual-employee-no")
_SECRET = ("set-cookie", "www-authenticate", "proxy-authenticate")


def cut(text: str, longest: int = LONGEST) -> str:
    """Return the beginning of a text, and how much more there is."""
    more = len(text) - longest
    return text if more <= 0 else f"{text[:longest]}… ({more:,} more characters)"


def certificate(shown: Certificate | None) -> Iterator[str]:
    """Yield what a certificate says."""
    if shown is None:
        return
    if shown.subject or shown.issuer:
        yield f"certificate of {shown.subject or '(nobody)'}, issued by {shown.issuer}"
    if shown.names:
        yield f"good for {', '.join(shown.names)}"
    if shown.begins and shown.ends:
        yield f"valid from {shown.begins:%Y-%m-%d %H:%M} to {shown.ends:%Y-%m-%d %H:%M} UTC"


def request(witness: Witness, service: ToolService) -> dict[str, Any]:
    """Return the last request, with what nobody else may know masked."""
    head, _, content = witness.request.partition(b"\r\n\r\n")
    line, *fields = head.decode("latin-1").split("\r\n")
    method, target, _ = line.split(" ")
    named = dict(field.split(": ", 1) for field in fields)
    scheme = service.base_url.partition("://")[0].lower()
    fixed = {name.lower() for name in service.headers}
    shown = {name: _masked(name, value, fixed) for name, value in named.items()}
    text = content.decode("utf-8", "replace")
    return {"method": method, "url": f"{scheme}://{named['Host']}{target}", "headers": shown, "body": text}


def _masked(name: str, value: str, fixed: set[str]) -> str:
    if name.lower() in fixed:
        return f"({len(value)} characters, from the configuration)"
    return f"({len(value)} characters)" if name.lower() in _PERSONAL else value


def exchange(witness: Witness, service: ToolService) -> Iterator[str]:
    """Yield the last request's line, and what was answered."""
    sent = request(witness, service)
    yield f"{sent['method']} {sent['url']}"
    yield answered(witness)
    yield from headers(witness)
    yield from body(witness)


def answered(witness: Witness) -> str:
    """Return the answer's status, type, size and time in one line."""
    came = witness.answer
    if came is None:
        status = _status(witness)
        began = "no answer" if status is None else f"HTTP {status}, and no whole answer"
        return f"{began}, {witness.elapsed_ms:,} ms"
    kind = came.headers.get("content-type") or "(no Content-Type)"
    return f"HTTP {came.status}, {kind}, {len(came.body):,} bytes, {witness.elapsed_ms:,} ms"


def _status(witness: Witness) -> int | None:
    """Return the status that came, be it that of an answer that could not be taken."""
    if witness.answer is not None:
        return witness.answer.status
    return None if witness.fault is None else witness.fault.status


def headers(witness: Witness) -> Iterator[str]:
    """Yield the headers of the answer."""
    for name, value in witness.answer.headers.items() if witness.answer else ():
        yield f"{name}: {f'({len(value)} characters)' if name in _SECRET else value}"


def body(witness: Witness) -> Iterator[str]:
    """Yield how the body of the answer begins, or what came instead of HTTP."""
    cause = witness.fault.__cause__ if witness.fault else None
    if witness.answer is not None and witness.answer.body:
        yield ""
        yield cut(_readable(witness.answer.body, MediaType.of(witness.answer.headers)))
    elif isinstance(cause, NoAnswer):
        yield f"what came begins with: {cause.came.decode('utf-8', 'backslashreplace')}"


def _readable(body: bytes, media: MediaType) -> str:
    if media.kind in ("image", "audio"):
        return f"({len(body):,} bytes)"
    return (
        body[: LONGEST * 4].decode("utf-8", "replace") if len(body) > LONGEST * 4 else body.decode("utf-8", "replace")
    )


def data(witness: Witness) -> dict[str, Any]:
    """Return the last exchange for scripts."""
    came = witness.answer
    shown = None
    if came is not None:
        headers = {name: value for name, value in came.headers.items() if name not in _SECRET}
        shown = {"status": came.status, "headers": headers, "bytes": len(came.body)}
    return {"elapsedMs": witness.elapsed_ms, "status": _status(witness), "answer": shown}


# --- what the gateway makes of it ------------------------------------------------------------------------------------


def result(body: bytes) -> Mapping[str, Any]:
    """Return the ``result`` that the caller gets; empty: an error."""
    value = jsontext.parse(body, unique=False)
    found = value.get("result")
    return found if isinstance(found, dict) else {}


def refusal(body: bytes) -> str:
    """Return the words with which the gateway refuses a call."""
    value = jsontext.parse(body, unique=False)
    error = value.get("error")
    if isinstance(error, dict):
        return str(error["message"])
    return str(value["message"]) if "message" in value else first_text(result(body))


def first_text(found: Mapping[str, Any]) -> str:
    """Return the first text block of a result; empty: it has none."""
    return next((block["text"] for block in found.get("content", ()) if block.get("type") == "text"), "")


def reason(found: Mapping[str, Any]) -> Reason | None:
    """Return why a call failed, from the gateway's note; ``None``: the tool itself says that it failed."""
    note = found.get("_meta", {}).get(FAILURE_NOTE)
    return None if note is None else Reason(note["reason"])


def given(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the caller gets: each block of the content in a line."""
    structured = " and structuredContent" if "structuredContent" in found else ""
    yield ""
    yield f"the caller gets, isError {str(found.get('isError')).lower()}{structured}:"
    for text in answers.texts(found):
        yield f"  {cut(text)}"
