"""
How long a worker takes from its fork to its first answer, and what many schemas cost it.

``python -m bench.start`` runs the gateway with one worker and the manifest of 50 tools, kills the worker again and
again, and asks for ``/readyz``, which waits for the next one. Then it reads a manifest of 500 tools, each with a schema
of its own.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

from mcp_gateway.registry import manifest

from . import processes
from .run import CannotMeasure, configuration, serving, tool_service

TIMES: Final = 7
SCHEMAS: Final = 500
PATIENCE_S: Final = 30.0
_TICK: Final = os.sysconf("SC_CLK_TCK")


def forked_at(pid: int) -> float:
    """Return when a process came to be, in seconds since the machine was started."""
    fields = (processes.PROC / str(pid) / "stat").read_text(errors="replace").rpartition(") ")[2].split()
    return int(fields[19]) / _TICK


def ready(port: int) -> int:
    """
    Ask until a worker says that it has its tools, and return its process id.

    Raises:

        CannotMeasure: None said so in time.
    """
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        try:
            connection.request("GET", "/readyz", headers={"Connection": "close"})
            answer = connection.getresponse()
            said: dict[str, Any] = json.loads(answer.read())
            if answer.status == 200:
                return int(said["pid"])
        except (OSError, http.client.HTTPException):
            pass  # the worker has been killed meanwhile
        finally:
            connection.close()
    raise CannotMeasure("no worker was ready in time")


def starts() -> Iterator[float]:
    """Yield for how many seconds each new worker had existed when it answered."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "HOME") if name in os.environ}
    with tempfile.TemporaryDirectory(prefix="mcp-gateway-bench-") as name, tool_service() as (base_url, _):
        folder = Path(name)
        config = folder / "config.yaml"
        config.write_text(configuration(base_url))
        environ = {**kept, "MCP_GATEWAY_CONFIG": str(config), "WEB_CONCURRENCY": "1", "MCP_GATEWAY_DRAIN_S": "0"}
        with serving("gateway", ["-c", "gunicorn.conf.py", "wsgi:app"], folder, environ) as gateway:
            for _ in range(TIMES):
                before = ready(gateway.port)
                os.kill(before, signal.SIGKILL)
                while (pid := ready(gateway.port)) == before:
                    pass
                yield time.clock_gettime(time.CLOCK_BOOTTIME) - forked_at(pid)


def many_tools(count: int) -> bytes:
    """Return a manifest of so many tools, as teams have them, no two with the same schema."""
    return json.dumps({"manifestVersion": "1", "tools": [_tool(number) for number in range(count)]}).encode()


def _tool(number: int) -> dict[str, Any]:
    text = {"type": "string", "minLength": 1, "maxLength": 100 + number, "description": f"검색어 {number}"}
    day = {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", "description": "YYYY-MM-DD."}
    period = {
        "type": "object",
        "properties": {"from": day, "to": day},
        "required": ["from"],
        "additionalProperties": False,
    }
    schema = {
        "type": "object",
        "properties": {
            "query": text,
            "kind": {"type": "string", "enum": [f"kind-{number}", "a", "b"], "description": "Which records."},
            "period": period,
            "tags": {
                "type": "array",
                "items": {"type": "string", "maxLength": 40},
                "maxItems": 10,
                "uniqueItems": True,
            },
            "limit": {"type": "integer", "minimum": 1, "maximum": 100 + number, "default": 10},
            "owner": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "Whose."},
            "address": {"$ref": "#/$defs/address"},
        },
        "required": ["query"],
        "$defs": {"address": {"type": "object", "properties": {"city": text, "zip": text}, "required": ["city"]}},
    }
    described = {"title": f"Tool {number}", "description": f"Looks up records of kind {number}."}
    return {"name": f"bench.tool{number}", **described, "inputSchema": schema, "endpoint": f"/tools/{number}"}


def reading() -> float:
    """
    Return the CPU seconds of reading a manifest of many tools: checked, compiled, made ready to serve.

    Raises:

        CannotMeasure: Tools of it were left out.
    """
    text = many_tools(SCHEMAS)
    begun = time.process_time()
    read = manifest.read(text, service="bench-tools")
    spent = time.process_time() - begun
    if len(read.tools) != SCHEMAS:
        raise CannotMeasure(f"{SCHEMAS - len(read.tools)} tools were left out")
    return spent


def _figures(measured: Sequence[float]) -> str:
    return f"{median(measured):.2f} ({min(measured):.2f} to {max(measured):.2f})"


def main() -> int:
    """Measure and print."""
    try:
        seconds = list(starts())
        spent = [reading() for _ in range(TIMES)]
    except CannotMeasure as fault:
        print(fault, file=sys.stderr)
        return 1
    print(f"from the fork of a worker until it has its 50 tools: {_figures(seconds)} s")
    print(f"to read a manifest of {SCHEMAS} tools: {_figures(spent)} s of CPU")
    return 0


if __name__ == "__main__":
    sys.exit(main())
