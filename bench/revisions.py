"""
The revisions of MCP that the load of ``bench`` and of ``faults`` speaks, and who it says it is.

Written from the outside, as a client would: nothing here is shared with the gateway, which could be wrong alike.
"""

from __future__ import annotations

from typing import Any, Final

LEGACY: Final = "2025-11-25"
MODERN: Final = "2026-07-28"


def client(name: str) -> dict[str, str]:
    """Return what a client called *name* says of itself."""
    return {"name": name, "version": "1.0"}


def meta(name: str) -> dict[str, Any]:
    """Return the ``_meta`` of each request that a client called *name* makes in ``MODERN``."""
    return {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": client(name),
        "io.modelcontextprotocol/clientCapabilities": {},
    }
