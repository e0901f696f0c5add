"""
Every way in which the gateway itself refuses a request.

A fault says what went wrong and with what; how it is worded on the wire (code, HTTP status, ``data``) belongs to the
protocol revision that answers (``protocol/v….py``) or, outside JSON-RPC, to ``web/answers.py``. What a Tool Service
does wrong is no fault of a request and no exception here: see ``toolservice/outcome.py``.

::

    Fault
    ├── HttpFault                 answered outside JSON-RPC, with a status of its own
    ├── ParseError                the body is no JSON
    ├── InvalidRequest            the body is no JSON-RPC request
    │   └── BadCallerHeader       a caller header is malformed
    ├── VersionNotServed          the version header names none that the route serves
    ├── UnsupportedVersion        the body claims a version that the route does not serve
    ├── HeaderMismatch            a mirrored header does not say what the body says
    ├── MethodNotFound
    ├── InvalidParams
    │   ├── IncompleteMeta        a required member of params._meta is missing or of a wrong type
    │   ├── UnknownTool
    │   └── BadArguments          the arguments violate the tool's inputSchema
    └── CannotStart               the call cannot be started now
        ├── RegistryUnavailable   the route has no snapshot yet
        └── Busy                  the Tool Service has max_in_flight calls under way
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar


class Fault(Exception):
    """
    Base of all refusals; only its children are raised.

    ``reason`` is the word that logs, metrics and (for ``CannotStart``) the caller see.
    """

    reason: ClassVar[str] = "fault"


class HttpFault(Fault):
    """
    Raised when a request is refused before it is looked at as JSON-RPC (contract: HTTP).

    Args:

        status: The HTTP status.

        error: The word for machines, e.g. ``unsupported_media_type``.

        message: The sentence for a person.
    """

    reason = "http"

    def __init__(self, status: int, error: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.error = error


class ParseError(Fault):
    """Raised when the body is no JSON that can be read."""

    reason = "parse_error"


class InvalidRequest(Fault):
    """Raised when the body is JSON and no JSON-RPC 2.0 message, or a batch."""

    reason = "invalid_request"


class BadCallerHeader(InvalidRequest):
    """Raised when a caller header is malformed; names it and never holds its value."""

    reason = "bad_caller_header"

    def __init__(self, header: str, rule: str) -> None:
        super().__init__(f"header '{header}' must be {rule}")
        self.header = header


class VersionNotServed(Fault):
    """
    Raised when ``MCP-Protocol-Version`` names no version that the route serves, and the body claims none.

    Args:

        requested: What the header says; ``None``: it is missing.

        served: The versions that the route serves, newest first.
    """

    reason = "version_not_served"

    def __init__(self, requested: str | None, served: Sequence[str]) -> None:
        names = ", ".join(served)
        super().__init__(
            f"MCP-Protocol-Version is required; this route serves {names}"
            if requested is None
            else f"MCP-Protocol-Version '{requested[:64]}' is not supported; this route serves {names}"
        )
        self.requested = requested
        self.served = tuple(served)


class UnsupportedVersion(Fault):
    """
    Raised when a request that speaks for itself claims a version that the route does not serve.

    Args:

        requested: The version it names; ``None``: it names none.

        served: The versions that the route serves, newest first.
    """

    reason = "unsupported_version"

    def __init__(self, requested: str | None, served: Sequence[str]) -> None:
        super().__init__(f"this route serves {', '.join(served)}")
        self.requested = requested
        self.served = tuple(served)


class HeaderMismatch(Fault):
    """Raised when a mirrored header is missing, malformed, or differs from the body."""

    reason = "header_mismatch"


class MethodNotFound(Fault):
    """Raised when the revision that speaks has no such method."""

    reason = "method_not_found"

    def __init__(self, method: str) -> None:
        super().__init__(f"unknown method '{method[:128]}'")
        self.method = method


class InvalidParams(Fault):
    """Raised when ``params`` do not fit the method."""

    reason = "invalid_params"


class IncompleteMeta(InvalidParams):
    """Raised when ``params._meta`` lacks what MCP 2026-07-28 requires of every request."""

    reason = "incomplete_meta"


class UnknownTool(InvalidParams):
    """Raised when the route's snapshot has no tool of that name."""

    reason = "unknown_tool"

    def __init__(self, tool: str) -> None:
        super().__init__(f"unknown tool '{tool[:128]}'")
        self.tool = tool


@dataclass(frozen=True, slots=True)
class Violation:
    """
    One way in which a value violates its schema.

    Args:

        path: Where, as ``filter.from`` or ``tags[2]``; empty for the value itself.

        keyword: The JSON Schema keyword that is violated.

        message: The sentence, e.g. ``'tags[2]' must be string``. Holds names and rules, never the value itself.
    """

    path: str
    keyword: str
    message: str


class BadArguments(InvalidParams):
    """Raised when a call's arguments violate the tool's ``inputSchema``; nothing was sent."""

    reason = "bad_arguments"

    def __init__(self, violations: Sequence[Violation]) -> None:
        super().__init__("; ".join(violation.message for violation in violations))
        self.violations = tuple(violations)


class CannotStart(Fault):
    """Raised when the request is right and the call cannot be started now; nothing was sent."""


class RegistryUnavailable(CannotStart):
    """Raised when the route has no snapshot yet."""

    reason = "registry_unavailable"

    def __init__(self) -> None:
        super().__init__("the tools of this route have not been loaded yet; try again shortly")


class Busy(CannotStart):
    """Raised when a Tool Service already has ``max_in_flight`` calls of this worker under way."""

    reason = "busy"

    def __init__(self, service: str) -> None:
        super().__init__(f"Tool Service '{service}' is busy; try again shortly")
        self.service = service
