"""``server/discover``: what this server speaks and offers (MCP 2026-07-28). It needs no snapshot and never waits."""

from __future__ import annotations

from typing import Any

from ..era import Request, Result


def answer(request: Request) -> Result:
    """Answer with the versions of the route, newest first."""
    route = request.route
    members: dict[str, Any] = {"supportedVersions": route.versions, "capabilities": {"tools": {}}}
    if route.instructions is not None:
        members["instructions"] = route.instructions
    return Result(request.era.listed(members, route))
