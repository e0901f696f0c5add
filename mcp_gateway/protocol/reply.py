"""The answer to one POST, ready for the wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Reply:
    """
    What goes back to the caller.

    Args:

        status: HTTP status.

        body: JSON bytes; empty for an accepted notification.

        headers: Headers besides ``Content-Type`` and those that every answer carries.

        code: The code of the JSON-RPC error in *body*; ``None``: it is none.
    """

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    code: int | None = None


ACCEPTED = Reply(202)
"""The answer to every notification and to a posted response: taken note of, nothing done."""
