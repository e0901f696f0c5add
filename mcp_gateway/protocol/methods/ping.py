"""``ping``: are you there (MCP 2025-11-25)."""

from __future__ import annotations

from ..era import Request, Result


def answer(request: Request) -> Result:
    """Answer at once, with nothing in it."""
    return Result({})
