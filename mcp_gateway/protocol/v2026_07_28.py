"""
MCP 2026-07-28, the revision without sessions: all that it does its own way.

Every request says for itself which version it speaks, in a header and in ``params._meta``, and mirrors its method and
tool name in headers, so that any instance can take it and a proxy can route it unread. See
``docs/contracts/mcp-2026-07-28.md``.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar, Final, cast

from ..caller import Headers
from ..faults import (
    BadArguments,
    Fault,
    HeaderMismatch,
    IncompleteMeta,
    InvalidParams,
    InvalidRequest,
    MethodNotFound,
    ParseError,
    UnsupportedVersion,
)
from ..jsontext import Fragment
from ..registry.snapshot import MirroredHeader, Tool
from ..tools.calling import Structure
from ..tools.route import Route
from . import jsonrpc, refusals
from .era import Era, Method, Result, broken_promise
from .jsonrpc import Message
from .methods import discover, tools_call, tools_list
from .reply import Reply
from .shapes import Member, Shape, faults, record, text

CLAIM: Final = "io.modelcontextprotocol/protocolVersion"
"""The key of ``params._meta`` by which a request says that it is of this kind."""

CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
CLIENT_INFO: Final = "io.modelcontextprotocol/clientInfo"
LOG_LEVEL: Final = "io.modelcontextprotocol/logLevel"
SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"

LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

STATUS: Final[tuple[tuple[type[Fault], int], ...]] = (
    (ParseError, 400),
    (InvalidRequest, 400),
    (IncompleteMeta, 400),
    (HeaderMismatch, 400),
    (UnsupportedVersion, 400),
    (MethodNotFound, 404),
    (Fault, 200),
)
"""The HTTP status of each kind of fault (Streamable HTTP, "Server Validation"); the first row that fits counts."""


class _ClientInfo(Shape):
    name = text(required=True)
    version = text(required=True)


_CLIENT = _ClientInfo()


def _shape(members: dict[str, Member]) -> Shape:
    """Return a shape whose members have names that are no Python names."""
    return cast(type[Shape], Shape.from_dict(dict(members)))()


_META = _shape(
    {
        CLAIM: text(required=True),
        CAPABILITIES: record(required=True),
        CLIENT_INFO: Member(
            "must be an object with the strings 'name' and 'version'",
            lambda value: isinstance(value, dict) and not faults(_CLIENT, value),
        ),
        LOG_LEVEL: Member(f"must be one of {', '.join(LEVELS)}", lambda value: value in LEVELS),
    }
)

_MULTI_ROUND = _shape({"inputResponses": record(), "requestState": text()})


class V2026_07_28(Era):
    """The revision as one object; see ``Era`` for what each member is."""

    version = "2026-07-28"
    per_request = True
    methods: ClassVar[Mapping[str, Method]] = {
        "server/discover": discover.answer,
        "tools/list": tools_list.answer,
        "tools/call": tools_call.answer,
    }
    notifications = frozenset({"notifications/cancelled"})

    def admit(self, message: Message, version: str | None, headers: Headers, route: Route) -> None:
        """
        Hold ``_meta`` to its shape, then the headers to the body, then the version to the route, in this order.

        Raises:

            IncompleteMeta: A required member of ``_meta`` is missing, or one is of a wrong type.
            HeaderMismatch: A mirrored header is missing or differs.
            UnsupportedVersion: The route does not serve the version that header and body agree on.
        """
        wrong = faults(_META, message.meta)
        if wrong:
            raise IncompleteMeta("_meta: " + "; ".join(wrong))
        claimed = message.meta[CLAIM]
        _mirrors("MCP-Protocol-Version", version, claimed)
        if claimed != self.version:
            raise UnsupportedVersion(claimed, route.versions)
        _mirrors("Mcp-Method", headers.get("mcp-method"), message.method)

    def admit_name(self, message: Message, headers: Headers) -> None:
        """
        Hold what a multi-round request carries to its shape, though it is never asked for here, then ``Mcp-Name``.

        Raises:

            InvalidParams: The state of a multi-round request is of a wrong type.
            HeaderMismatch: ``Mcp-Name`` is missing or differs.
        """
        wrong = faults(_MULTI_ROUND, message.params)
        if wrong:
            raise InvalidParams("; ".join(wrong))
        _mirrors("Mcp-Name", _decoded("Mcp-Name", headers), message.params["name"])

    def admit_call(self, tool: Tool, arguments: Mapping[str, Any], headers: Headers) -> None:
        """
        Hold each ``Mcp-Param-*`` header that the tool asks for to its argument.

        Raises:

            HeaderMismatch: One is missing, malformed, differs, or stands there without its argument.
        """
        for mark in tool.mirrored:
            _mirrors_argument(headers, mark, _at(arguments, mark.path))

    def structure(self, tool: Tool, route: Route) -> Structure:
        """Give any JSON value, wherever the tool promises one."""
        return Structure.ANY if route.config.structured_output else Structure.NONE

    def shows_output_schema(self, tool: Tool, route: Route) -> bool:
        """Show it always: any JSON Schema may stand there."""
        return True

    def warnings(self, tool: Tool, structured_output: bool) -> Iterator[str]:
        """Tell of an ``outputSchema`` whose promise is not kept."""
        yield from broken_promise(tool, structured_output)

    def listed(self, members: Mapping[str, Any], route: Route) -> Mapping[str, Any]:
        """Add how long, and by whom, the list may be kept."""
        return {**members, "ttlMs": int(route.config.list_ttl_s * 1000), "cacheScope": route.config.cache_scope}

    def answer(self, request_id: Fragment, result: Result, route: Route) -> Reply:
        """Write the result with its type and who gives it; never a session."""
        meta = {**result.members.get("_meta", {}), SERVER_INFO: route.server_info}
        members = {"resultType": "complete", **result.members, "_meta": meta}
        return Reply(200, jsonrpc.result(request_id, members), result.headers)

    def refusal(self, request_id: Fragment, fault: Fault, guid: str, route: Route) -> Reply:
        """Write a JSON-RPC error with the HTTP status of its kind; bad arguments are a result that a model can mend."""
        if isinstance(fault, BadArguments):
            words = {"type": "text", "text": refusals.sentence(fault), "_meta": {"searchTime": 0}}
            return self.answer(request_id, Result({"content": [words], "isError": True}), route)
        status = next(status for kind, status in STATUS if isinstance(fault, kind))
        return Reply(status, refusals.error(request_id, fault, guid), code=refusals.code(fault))

    def broken(self, request_id: Fragment, guid: str) -> Reply:
        """Write it at HTTP 200, as clients lose the code of a 5xx."""
        return Reply(200, refusals.broken(request_id, guid), code=jsonrpc.INTERNAL_ERROR)


# --- mirrored headers ------------------------------------------------------------------------------------------------

_ENCODED = re.compile(r"=\?base64\?(?P<payload>.*)\?=", re.DOTALL)
_VISIBLE = re.compile(r"[\x20-\x7e\t]*")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


def _mirrors(name: str, sent: str | None, value: str) -> None:
    """
    Hold what a header says to the text that it mirrors.

    Raises:

        HeaderMismatch: It is missing or differs.
    """
    if sent is None:
        raise HeaderMismatch(f"header {name} is required")
    if sent != value:
        raise HeaderMismatch(f"header {name} does not match the body")


def _mirrors_argument(headers: Headers, mark: MirroredHeader, argument: Any) -> None:
    name = f"Mcp-Param-{mark.name}"
    sent = _decoded(name, headers)
    if argument is None:
        # An intermediary may have routed on the header, so one without its argument is a lie, not a surplus.
        if sent is not None:
            raise HeaderMismatch(f"header {name} stands without the argument '{'.'.join(mark.path)}'")
        return
    if sent is None:
        raise HeaderMismatch(f"header {name} is required: it mirrors the argument '{'.'.join(mark.path)}'")
    if not _equals(sent, argument):
        raise HeaderMismatch(f"header {name} does not match the argument '{'.'.join(mark.path)}'")


def _equals(sent: str, argument: Any) -> bool:
    if isinstance(argument, bool):
        return sent == ("true" if argument else "false")
    if isinstance(argument, (int, Decimal)):
        try:
            return _NUMBER.fullmatch(sent) is not None and Decimal(sent) == argument  # 42.0 equals 42
        except InvalidOperation:  # an exponent beyond all measure
            return False
    return isinstance(argument, str) and sent == argument


def _decoded(name: str, headers: Headers) -> str | None:
    """
    Return the text that a header stands for: itself, or what is wrapped in ``=?base64?…?=``; ``None``: it is missing.

    Raises:

        HeaderMismatch: It has characters that a header value may not have, or its wrapping is not canonical Base64 of
            UTF-8 text.
    """
    sent = headers.get(name.lower())
    if sent is None:
        return None
    if not _VISIBLE.fullmatch(sent):
        raise HeaderMismatch(f"header {name} has characters that must be Base64-encoded")
    wrapped = _ENCODED.fullmatch(sent)
    if wrapped is None:
        return sent
    payload = wrapped["payload"]
    try:
        raw = base64.b64decode(payload, validate=True)
        text = raw.decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        raise HeaderMismatch(f"header {name} is not Base64 of UTF-8 text") from None
    if base64.b64encode(raw).decode("ascii") != payload:
        raise HeaderMismatch(f"header {name} is not canonical Base64")
    return text


def _at(arguments: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    """Return the argument at *path*; ``None`` when it, or an object on the way, is not there."""
    value: Any = arguments
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value
