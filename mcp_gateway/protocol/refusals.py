"""How a fault is worded in JSON-RPC: its code, its sentence and its ``data``, the same for every revision."""

from __future__ import annotations

from typing import Any, Final

from .. import jsontext
from ..faults import (
    BadArguments,
    CannotStart,
    Fault,
    HeaderMismatch,
    InvalidParams,
    InvalidRequest,
    MethodNotFound,
    ParseError,
    UnsupportedVersion,
    VersionNotServed,
)
from ..jsontext import Fragment
from . import jsonrpc
from .reply import Reply

# MCP 2026-07-28, "Error Codes": the range -32020 to -32099 is the specification's own.
HEADER_MISMATCH: Final = -32020
UNSUPPORTED_VERSION: Final = -32022

CODES: Final[tuple[tuple[type[Fault], int, str], ...]] = (
    (ParseError, jsonrpc.PARSE_ERROR, "Parse error"),
    (InvalidRequest, jsonrpc.INVALID_REQUEST, "Invalid Request"),
    (MethodNotFound, jsonrpc.METHOD_NOT_FOUND, "Method not found"),
    (InvalidParams, jsonrpc.INVALID_PARAMS, "Invalid params"),
    (CannotStart, jsonrpc.INTERNAL_ERROR, "Internal error"),
    (HeaderMismatch, HEADER_MISMATCH, "Header mismatch"),
    (UnsupportedVersion, UNSUPPORTED_VERSION, "Unsupported protocol version"),
)
"""Each kind of fault with its code and the words that its message begins with; a child has its parent's row."""


def sentence(fault: Fault) -> str:
    """Return the fault in words: ``Invalid params: 'query' is required``."""
    return f"{_row(fault)[1]}: {fault}"


def code(fault: Fault) -> int:
    """Return the JSON-RPC error code for *fault*."""
    return _row(fault)[0]


def error(request_id: Fragment, fault: Fault, guid: str) -> bytes:
    """Write the JSON-RPC error for *fault*."""
    return jsonrpc.error(request_id, code(fault), sentence(fault), _data(fault, guid))


def broken(request_id: Fragment, guid: str) -> bytes:
    """Write the JSON-RPC error for a failure of the gateway itself: the ``guid`` to search the logs for, no more."""
    return jsonrpc.error(request_id, jsonrpc.INTERNAL_ERROR, "Internal error", {"guid": guid})


def version_refusal(fault: VersionNotServed, guid: str) -> Reply:
    """Write the HTTP 400 body that is no JSON-RPC, which every client takes for "speak another version"."""
    body = {
        "error": "unsupported_protocol_version",
        "message": str(fault),
        "supportedVersions": fault.served,
        "guid": guid,
    }
    return Reply(400, jsontext.encode(body))


def _row(fault: Fault) -> tuple[int, str]:
    return next((code, words) for kind, code, words in CODES if isinstance(fault, kind))


def _data(fault: Fault, guid: str) -> dict[str, Any]:
    data: dict[str, Any] = {"guid": guid}
    if isinstance(fault, BadArguments):
        data["errors"] = [
            {"path": each.path, "keyword": each.keyword, "message": each.message} for each in fault.violations
        ]
    if isinstance(fault, CannotStart):
        data["reason"] = fault.reason
    if isinstance(fault, UnsupportedVersion):
        data["supported"] = fault.served
        if fault.requested is not None:
            data["requested"] = fault.requested
    return data
