"""What one HTTP exchange can end in: an answer, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why a call brought no usable answer; a closed list that callers may rely on."""

    BUDGET = "budget"
    REFUSED = "refused"
    CONNECTION_LOST = "connection_lost"
    TLS = "tls"
    STATUS = "status"
    REDIRECT = "redirect"
    TOO_LARGE = "too_large"
    UNREADABLE = "unreadable"
    OUTPUT_SCHEMA = "output_schema"


class Delivery(StrEnum):
    """Whether the service can have seen the request (``outcome`` of the failure note)."""

    NOT_SENT = "not_sent"
    UNKNOWN = "unknown"
    ANSWERED = "answered"


@dataclass(frozen=True, slots=True)
class Answer:
    """
    A whole HTTP answer.

    Args:

        status: The final status code, 200 to 599; interim (1xx) answers have been skipped.

        headers: Lower-case names; repeated ones joined with a comma. Values are text as latin-1.

        body: The bytes after transfer and content decoding, never longer than the limit that was asked for.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class Unanswered(Exception):
    """
    Raised when an exchange ended without a whole answer.

    Args:

        reason: One of ``budget``, ``refused``, ``connection_lost``, ``tls``, ``too_large``, ``unreadable``.

        delivery: ``not_sent`` only when no byte of the request was handed to the kernel.

        detail: A short clause for a person, e.g. ``"the connection was refused"``; holds nothing that the peer sent and
            no address. It completes the sentence "Tool 'x' could not be called: …".

        status: The status of the answer that could not be taken; ``None``: none came.
    """

    def __init__(self, reason: Reason, delivery: Delivery, detail: str, status: int | None = None) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.delivery = delivery
        self.detail = detail
        self.status = status
