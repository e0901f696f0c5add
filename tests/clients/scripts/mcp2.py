"""
What an application does with the official Python SDK 2.x; run by a Python that has it, never imported.

::

    mcp2.py URL MODE REQUESTS

MODE is what the SDK calls so: ``auto``, ``legacy`` or a protocol version to pin. REQUESTS is a JSON object of labels
and ``[tool, arguments]``. Prints one JSON document with what the application sees.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from mcp import Client, MCPError


async def attempt(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        result = await client.call_tool(tool, arguments)
    except MCPError as fault:
        return {"code": fault.code, "message": fault.message, "data": fault.data}
    return {
        "isError": result.is_error,
        "content": [block.model_dump(by_alias=True, mode="json", exclude_none=True) for block in result.content],
        "structuredContent": result.structured_content,
    }


async def use(url: str, mode: str, requests: dict[str, tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    async with Client(url, mode=mode, read_timeout_seconds=15) as client:
        seen: dict[str, Any] = {
            "protocolVersion": client.protocol_version,
            "server": client.server_info.name if client.server_info else None,
            "tools": [tool.name for tool in (await client.list_tools()).tools],
        }
        for label, (tool, arguments) in requests.items():
            seen[label] = await attempt(client, tool, arguments)
    return seen | {"closed": True}


print(json.dumps(asyncio.run(use(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))))
