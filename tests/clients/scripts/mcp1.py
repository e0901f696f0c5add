"""
What an application does with the official Python SDK 1.x; run by a Python that has it, never imported.

::

    mcp1.py URL REQUESTS

REQUESTS is a JSON object of labels and ``[tool, arguments]``. Prints one JSON document with what the application sees.
"""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import timedelta
from typing import Any

from mcp import ClientSession, McpError
from mcp.client.streamable_http import streamable_http_client


async def attempt(session: ClientSession, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        result = await session.call_tool(tool, arguments)
    except McpError as fault:
        return {"code": fault.error.code, "message": fault.error.message, "data": fault.error.data}
    return {
        "isError": result.isError,
        "content": [block.model_dump(by_alias=True, mode="json", exclude_none=True) for block in result.content],
        "structuredContent": result.structuredContent,
    }


async def use(url: str, requests: dict[str, tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    async with (
        streamable_http_client(url) as (read, write, session_id),
        ClientSession(read, write, read_timeout_seconds=timedelta(seconds=15)) as session,
    ):
        opened = await session.initialize()
        seen: dict[str, Any] = {
            "protocolVersion": opened.protocolVersion,
            "server": opened.serverInfo.name,
            "sessionId": session_id(),
            "tools": [tool.name for tool in (await session.list_tools()).tools],
        }
        for label, (tool, arguments) in requests.items():
            seen[label] = await attempt(session, tool, arguments)
    return seen | {"closed": True}


print(json.dumps(asyncio.run(use(sys.argv[1], json.loads(sys.argv[2])))))
