"""JSON-RPC 2.0: the envelope of a message read, and the envelope of an answer written (contract: the envelope)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from .. import jsontext
from ..faults import Fault, InvalidRequest, ParseError
from ..jsontext import Fragment
from .shapes import Member, Shape, faults, record, text

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603

NULL: Final = Fragment(b"null")
"""The ``id`` of an answer to a message whose own ``id`` cannot be read."""

EMPTY: Final = Fragment(b"{}")
"""The ``params`` of a message that has none."""

_INTEGER = re.compile(rb"-?(?:0|[1-9][0-9]*)")


class Kind(Enum):
    """What a message is."""

    REQUEST = "request"
    NOTIFICATION = "notification"
    RESPONSE = "response"


@dataclass(frozen=True, slots=True)
class Document:
    """
    A body, read as JSON as far as it can be.

    Args:

        value: What it holds, to look at.

        texts: The JSON texts of its members, when it is an object.

        id: The text of its ``id`` when that is one that can be echoed, else ``null``.

        fault: Why it is refused whatever its members say; ``None``: nothing is wrong so far.
    """

    value: Any
    texts: Mapping[str, Fragment]
    id: Fragment
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """
    One JSON-RPC message.

    Args:

        id: The text of its ``id``, echoed as it stands; ``null`` for notifications and responses.

        params: ``params`` to look at; empty when absent.

        params_text: Their JSON text; ``{}`` when absent.
    """

    kind: Kind
    id: Fragment
    method: str
    params: Mapping[str, Any]
    params_text: Fragment

    @property
    def meta(self) -> Mapping[str, Any]:
        """``params._meta``; empty when there is none or it is no object."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}


def read(body: bytes) -> Document:
    """Read a body as JSON. What is none still gives its ``id`` where that can be read: callers wait for it."""
    try:
        value = jsontext.parse(body)
    except jsontext.NotJson as fault:
        return _glanced_at(body, _refusal(body, fault))
    if not isinstance(value, dict):
        return Document(value, {}, NULL)
    texts = jsontext.members(body)
    return Document(value, texts, _usable(texts.get("id", NULL)))


def _refusal(body: bytes, fault: jsontext.NotJson) -> Fault:
    if isinstance(fault, jsontext.DuplicateMember):
        try:
            jsontext.parse(body, unique=False)
            return InvalidRequest(f"an object has two members named '{fault.name[:128]}'")
        except jsontext.NotJson as other:
            fault = other
    return ParseError(f"the body is not JSON: {fault}")


def _glanced_at(body: bytes, fault: Fault) -> Document:
    value = jsontext.glance(body)
    found = jsontext.written(value.get("id")) if isinstance(value, dict) else NULL
    return Document(value, {}, _usable(found), fault)


def _usable(request_id: Fragment) -> Fragment:
    return request_id if _is_id(bytes(request_id)) else NULL


def _is_id(text: bytes) -> bool:
    # Judged by its text, as 1.0 and 1e2 are numbers that Python calls integral and JSON-RPC's rule does not allow.
    return text.startswith(b'"') or _INTEGER.fullmatch(text) is not None


class _Envelope(Shape):
    """The members of a message that a server receives."""

    jsonrpc = Member('must be "2.0"', lambda value: value == "2.0", required=True)
    method = text()
    params = record()


_ENVELOPE = _Envelope()


def envelope(document: Document) -> Message:
    """
    Read a document as one JSON-RPC message.

    Raises:

        ParseError: It is no JSON.
        InvalidRequest: It is a batch, no object, or breaks a rule of the envelope; the message names every one.
    """
    if document.fault is not None:
        raise document.fault
    value = document.value
    if isinstance(value, list):
        raise InvalidRequest("batches are not supported: send one message in each POST")
    if not isinstance(value, dict):
        raise InvalidRequest("the body must be a JSON object")
    is_response = "method" not in value and ("result" in value or "error" in value)
    wrong = faults(_ENVELOPE, value)
    if "method" not in value and not is_response:
        wrong.append("'method' is required")
    if "id" in value and document.id is NULL and not is_response:
        wrong.append("'id' must be a string or an integer")
    if wrong:
        raise InvalidRequest("; ".join(wrong))
    if is_response:
        return Message(Kind.RESPONSE, NULL, "", {}, EMPTY)
    kind = Kind.REQUEST if "id" in value else Kind.NOTIFICATION
    return Message(kind, document.id, value["method"], value.get("params", {}), document.texts.get("params", EMPTY))


def result(request_id: Fragment, members: Mapping[str, Any]) -> bytes:
    """Write a result response."""
    return jsontext.encode({"jsonrpc": "2.0", "id": request_id, "result": members})


def error(request_id: Fragment, code: int, message: str, data: Mapping[str, Any]) -> bytes:
    """Write an error response; it has exactly the members ``jsonrpc``, ``id`` and ``error``."""
    return jsontext.encode(
        {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message, "data": data}}
    )
