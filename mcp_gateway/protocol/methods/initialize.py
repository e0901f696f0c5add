"""``initialize``: the opening of MCP 2025-11-25. The session id it hands out is a label; nothing is stored."""

from __future__ import annotations

from typing import Any

from ...caller import new_id
from ...faults import InvalidParams
from ..era import Request, Result
from ..shapes import Member, Shape, faults, record, text


class _ClientInfo(Shape):
    name = text(required=True)
    version = text(required=True)


_CLIENT_INFO = _ClientInfo()


class _Params(Shape):
    protocolVersion = text(required=True)
    capabilities = record(required=True)
    clientInfo = Member(
        "must be an object with the strings 'name' and 'version'",
        lambda value: isinstance(value, dict) and not faults(_CLIENT_INFO, value),
        required=True,
    )


_PARAMS = _Params()


def answer(request: Request) -> Result:
    """
    Answer with the version that speaks, whatever version was asked for: the client then stays or leaves.

    Raises:

        InvalidParams: A required member is missing or of a wrong type.
    """
    wrong = faults(_PARAMS, request.message.params)
    if wrong:
        raise InvalidParams("; ".join(wrong))
    members: dict[str, Any] = {
        "protocolVersion": request.era.version,
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": request.route.server_info,
    }
    if request.route.instructions is not None:
        members["instructions"] = request.route.instructions
    return Result(members, {"Mcp-Session-Id": new_id()})
