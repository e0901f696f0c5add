"""
Traces: what a tracer is, what a span says of an exchange and of a call, and whether traces are wanted at all.

Nothing of OpenTelemetry is imported here. ``otel``, which is, is only imported where traces are wanted; without it
there is no tracer, and nothing along the road is called for one (contract: traces).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from .. import jsontext
from .interaction import UNKNOWN, Interaction

_log = logging.getLogger("mcp_gateway.observe")

Attributes: TypeAlias = dict[str, str | int]

LONGEST_ID = 128
"""Characters of a JSON-RPC id that a span has; a longer one is left out, since it says nothing and is the caller's."""

_HTTP: Attributes = {"network.transport": "tcp", "network.protocol.name": "http"}


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One call of a Tool Service, as its span names it: the tool, its path, and where the service is."""

    tool: str
    path: str
    peer: tuple[str, int]


class CallSpan(Protocol):
    """The span of one call under way."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the call, in which this span is the parent of whatever the Tool Service traces."""

    def end(self, status: int | None, error: str | None) -> None:
        """
        Close it.

        Args:

            status: The HTTP status that the Tool Service gave; ``None``: none.

            error: Why the call failed, one word; ``None``: it did not.
        """


class Tracer(Protocol):
    """Makes the spans of one worker. Threads share it."""

    def begin(self, seen: Interaction) -> None:
        """Begin the span of an exchange: from here on ``seen.trace`` is that of this span, not of the caller's."""

    def end(self, seen: Interaction) -> None:
        """Close the span of an exchange; a sink."""

    def call(self, outgoing: Outgoing, headers: Mapping[str, str]) -> CallSpan:
        """Begin the span of a call, within that of the exchange, which is the parent that *headers* name."""

    def close(self) -> None:
        """Send what has not been sent, within a bounded time."""


def tracer(environ: Mapping[str, str], version: str) -> Tracer | None:
    """
    Return the tracer of this worker as the ``OTEL_…`` variables have it; ``None``: no traces are wanted.

    Traces that cannot be had are no reason to serve nothing: the log says why.
    """
    if not wanted(environ):
        return None
    if (fault := unserved(environ)) is not None:
        _log.error("there are no traces: %s", fault)
        return None
    try:
        from . import otel
    except ModuleNotFoundError as missing:
        _log.error("there are no traces: the extra mcp-gateway[otel] is not installed: %s", missing)
        return None
    return otel.OpenTelemetryTracer(otel.provider(version), version)


def wanted(environ: Mapping[str, str]) -> bool:
    """Return whether an exporter or a collector is named, and the SDK is not switched off."""
    exporter = _said(environ, "OTEL_TRACES_EXPORTER")
    if _said(environ, "OTEL_SDK_DISABLED") == "true" or exporter == "none":
        return False
    return any(
        environ.get(name)
        for name in ("OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    )


def unserved(environ: Mapping[str, str]) -> str | None:
    """Return what the variables ask for that there is not; ``None``: nothing."""
    if _said(environ, "OTEL_TRACES_EXPORTER") not in ("", "otlp"):
        return "OTEL_TRACES_EXPORTER: only otlp and none are served"
    for name in ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        if _said(environ, name) not in ("", "http/protobuf"):
            return f"{name}: only http/protobuf is served"
    return None


def _said(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name, "").strip().lower()


# --- what a span says ------------------------------------------------------------------------------------------------


def exchange_name(seen: Interaction) -> str:
    """Return the name of an exchange's span: the method, and the tool where there is one."""
    method = seen.method or UNKNOWN
    return f"{method} {seen.tool}" if seen.tool else method


def exchange_attributes(seen: Interaction) -> Attributes:
    """Return what the span of an exchange says at its end; never an argument, an answer or an employee number."""
    named = {
        "mcp.method.name": seen.method or UNKNOWN,
        "mcp.protocol.version": seen.revision,
        "mcp.session.id": seen.session_id,
        "jsonrpc.request.id": _request_id(seen),
        "gen_ai.operation.name": "execute_tool" if seen.tool else None,
        "gen_ai.tool.name": seen.tool,
        "rpc.response.status_code": None if seen.code is None else str(seen.code),
        "error.type": exchange_error(seen),
        "http.response.status_code": seen.status,
        "mcp_gateway.route": seen.route,
        "mcp_gateway.tool_service": seen.service,
        "mcp_gateway.reason": seen.reason,
        "mcp_gateway.guid": seen.guid,
        "mcp_gateway.request_id": seen.request_id,
    }
    return _HTTP | {name: value for name, value in named.items() if value is not None}


def exchange_error(seen: Interaction) -> str | None:
    """Return how an exchange failed, one word; ``None``: it did not."""
    if seen.code is not None:
        return str(seen.code)
    if seen.outcome == "tool_error":
        return "tool_error"
    return seen.reason if seen.outcome in ("refused", "fault") else None


def call_attributes(outgoing: Outgoing) -> Attributes:
    """Return what the span of a call says from its beginning."""
    host, port = outgoing.peer
    return _HTTP | {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": outgoing.tool,
        "http.request.method": "POST",
        "url.template": outgoing.path,
        "server.address": host,
        "server.port": port,
    }


def _request_id(seen: Interaction) -> str | None:
    if seen.rpc_id is None:
        return None
    text = bytes(seen.rpc_id)
    if text == b"null" or len(text) > LONGEST_ID:
        return None
    return jsontext.string(text) if text.startswith(b'"') else text.decode("ascii")
