"""
Every header that the gateway reads from a caller, and every one that it passes on to a Tool Service.

A leaf. What is not named in this file does not cross the gateway (contract: the caller's headers). Values are never
interpreted and never logged here.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from .faults import BadCallerHeader

GUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
SAFE_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
EMPLOYEE = re.compile(r"[\x21-\x7e]{1,2048}")

_GUID_RULE = "a UUID (8-4-4-4-12 hexadecimal digits)"
_SAFE_RULE = "1 to 128 of the characters A-Z a-z 0-9 . _ : -"
_EMPLOYEE_RULE = "1 to 2048 visible ASCII characters"

# W3C Trace Context, section 3.2: version "ff" and all-zero ids are invalid; later versions may append fields.
_TRACEPARENT = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})(?P<trace>[0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?P<rest>-[\x21-\x7e]*)?"
)
# W3C Trace Context 3.3 and W3C Baggage 3.3 are checked for what could harm a header line, and for their lengths.
_TRACESTATE = re.compile(r"[\x20-\x7e\t]{1,512}")
_BAGGAGE = re.compile(r"[\x20-\x7e\t]{1,8192}")


class Headers(Protocol):
    """The headers of one request."""

    def get(self, name: str) -> str | None:
        """Return the value of the header *name* (lower case), repeated ones joined with a comma; ``None``: absent."""

    def each(self, name: str) -> tuple[str, ...]:
        """Return every value of the header *name* (lower case), one for each time it came; empty: absent."""
        value = self.get(name)
        return () if value is None else (value,)


@dataclass(frozen=True, slots=True)
class Trace:
    """W3C trace context of a caller, already checked; ``None``: absent or invalid."""

    traceparent: str | None = None
    tracestate: str | None = None
    baggage: str | None = None

    @property
    def trace_id(self) -> str | None:
        """The 32 hexadecimal digits that logs are joined by."""
        return self.traceparent[3:35] if self.traceparent else None


@dataclass(frozen=True, slots=True)
class Correlation:
    """The two identifiers that every answer carries; the caller's own where they are well-formed, else new ones."""

    guid: str
    request_id: str


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, as far as the headers say; all checked, and none of it interpreted."""

    guid: str
    request_id: str
    session_id: str | None = None
    employee_no: str | None = None
    virtual_employee_no: str | None = None


def correlate(headers: Headers) -> Correlation:
    """Settle ``guid`` and ``x-request-id`` for an answer; a malformed one is replaced, never echoed."""
    return Correlation(
        guid=_matching(headers, "guid", GUID) or new_id(),
        request_id=_matching(headers, "x-request-id", SAFE_ID) or new_id(),
    )


def identify(headers: Headers, correlation: Correlation) -> Caller:
    """
    Read the caller headers strictly.

    Raises:

        BadCallerHeader: One is malformed, or has two values: whose call would it be? An empty one counts as absent, and
            the same value twice as one.
    """
    _required(headers, "guid", GUID, _GUID_RULE)
    _required(headers, "x-request-id", SAFE_ID, _SAFE_RULE)
    return Caller(
        guid=correlation.guid,
        request_id=correlation.request_id,
        session_id=_required(headers, "mcp-session-id", SAFE_ID, _SAFE_RULE),
        employee_no=_required(headers, "employee-no", EMPLOYEE, _EMPLOYEE_RULE),
        virtual_employee_no=_required(headers, "virtual-employee-no", EMPLOYEE, _EMPLOYEE_RULE),
    )


def trace(headers: Headers, meta: Mapping[str, Any]) -> Trace:
    """
    Read the trace context; ``params._meta`` wins over the headers, and what is invalid is dropped.

    ``tracestate`` belongs to its ``traceparent`` (W3C Trace Context 3.3): both are taken from the same place.
    """
    in_meta = "traceparent" in meta
    traceparent = _valid(meta["traceparent"] if in_meta else headers.get("traceparent"), _TRACEPARENT)
    if traceparent and traceparent.startswith("00") and len(traceparent) != 55:
        traceparent = None
    tracestate = meta.get("tracestate") if in_meta else headers.get("tracestate")
    return Trace(
        traceparent=traceparent,
        tracestate=_valid(tracestate, _TRACESTATE) if traceparent else None,
        baggage=_valid(meta.get("baggage", headers.get("baggage")), _BAGGAGE),
    )


def _valid(value: Any, pattern: re.Pattern[str]) -> str | None:
    return value if isinstance(value, str) and pattern.fullmatch(value) else None


def forwarded(caller: Caller, context: Trace) -> dict[str, str]:
    """Return the headers that a Tool Service gets of the caller's, and no others."""
    candidates = {
        "guid": caller.guid,
        "x-request-id": caller.request_id,
        "mcp-session-id": caller.session_id,
        "employee-no": caller.employee_no,
        "virtual-employee-no": caller.virtual_employee_no,
        "traceparent": context.traceparent,
        "tracestate": context.tracestate,
        "baggage": context.baggage,
    }
    return {name: value for name, value in candidates.items() if value is not None}


def new_id() -> str:
    """Return a new random UUID."""
    return str(uuid.uuid4())


def _matching(headers: Headers, name: str, pattern: re.Pattern[str]) -> str | None:
    values = set(filter(None, headers.each(name)))
    return values.pop() if len(values) == 1 and all(map(pattern.fullmatch, values)) else None


def _required(headers: Headers, name: str, pattern: re.Pattern[str], rule: str) -> str | None:
    values = set(filter(None, headers.each(name)))
    if not values:
        return None
    if len(values) > 1:
        raise BadCallerHeader(name, f"one value, {rule}")
    value = values.pop()
    if not pattern.fullmatch(value):
        raise BadCallerHeader(name, rule)
    return value
