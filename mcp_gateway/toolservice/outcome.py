"""What a call came to, and the table of CONTRACT section 3 that says so (pure: no I/O, no clock)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..jsontext import Fragment
from ..transport.answer import Delivery, Reason


@dataclass(frozen=True, slots=True)
class Failure:
    """
    Why a call failed, for machines (``result._meta["mcp-gateway/failure"]``, CONTRACT section 3).

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

        value: The same, parsed, for checking against ``outputSchema``; only set together with *structured*.

        failure: Set when ``is_error`` is true because of the call.

        log: A line for the operator that the caller must not see (e.g. the body of a 5xx, cut); ``None``: nothing.
    """

    content: tuple[dict[str, Any], ...]
    is_error: bool = False
    structured: Fragment | None = None
    value: Any = None
    failure: Failure | None = None
    log: str | None = None
