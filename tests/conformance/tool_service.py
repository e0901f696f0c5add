#!/usr/bin/env python3
"""
Fixture Tool Service for the official MCP conformance suite.

::

    tool_service.py [--port 9190]

Publishes a manifest at GET /manifest and one plain HTTP endpoint per tool (POST, JSON object in, text or JSON out), as
docs/contracts/tool-service-manifest.md says. Standard library only, loopback only.

The tool names are the ones the suite looks up. What each endpoint sends is the most a plain HTTP endpoint can send: the
image tool really answers with PNG bytes, the audio tool with WAV bytes, the resource tools with a whole MCP result. A
check that is listed as cannot-pass in expected.yaml therefore fails because of what the contract turns that answer
into, and not because the tool is missing.

Left out on purpose, because no plain HTTP endpoint can behave as they must (a stand-in under the same name would only
earn empty passes): the test_input_required_result_* tools, test_missing_capability, test_sampling, test_elicitation*,
test_trigger_*, failing_job, confirm_delete, multi_input, protocol_error_job, test_tool_with_task, test_reconnection.
"""

from __future__ import annotations

import argparse
import base64
import json
import signal
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NO_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": False}

# One red pixel, and a WAV header with no samples behind it.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="
)
WAV = (
    b"RIFF"
    + (36).to_bytes(4, "little")
    + b"WAVEfmt "
    + (16).to_bytes(4, "little")
    + (1).to_bytes(2, "little")
    + (1).to_bytes(2, "little")
    + (8000).to_bytes(4, "little")
    + (8000).to_bytes(4, "little")
    + (1).to_bytes(2, "little")
    + (8).to_bytes(2, "little")
    + b"data"
    + (0).to_bytes(4, "little")
)

# The schema the json-schema-2020-12 scenario looks for: $schema, $defs, $anchor, additionalProperties, composition
# and conditional keywords must all reach tools/list as they stand here.
ADDRESS_BOOK_SCHEMA = {
    "$schema": DIALECT,
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

# The first string property with x-mcp-header is the one http-custom-header-server-validation exercises.
REGION_SCHEMA = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "description": "Where to run", "x-mcp-header": "Region"},
        "shard": {"type": "integer", "description": "Optional shard", "x-mcp-header": "Shard"},
        "query": {"type": "string"},
    },
    "required": ["region"],
}

# Tools that answer with a whole MCP result instead of plain text, JSON, an image or a sound.
ANSWERS_AS_MCP = {"test_embedded_resource", "test_multiple_content_types"}
RESOURCE_BLOCK = {
    "type": "resource",
    "resource": {
        "uri": "test://embedded-resource",
        "mimeType": "text/plain",
        "text": "This is an embedded resource content.",
    },
}


class Reply:
    """One HTTP answer of a tool endpoint."""

    def __init__(self, body: bytes | str, kind: str = "text/plain; charset=utf-8", status: int = 200) -> None:
        self.body = body.encode() if isinstance(body, str) else body
        self.kind = kind
        self.status = status


def as_json(value: object) -> Reply:
    return Reply(json.dumps(value, ensure_ascii=False), "application/json")


def slow_compute(arguments: dict[str, Any]) -> Reply:
    # The tasks scenarios ask for up to 60 seconds; this fixture has no tasks, so it never holds a worker for long.
    time.sleep(min(max(float(arguments.get("seconds", 0)), 0.0), 0.2))
    return Reply(f"computed {arguments.get('label', '')}".rstrip())


# name -> (description, inputSchema, endpoint function). Order matters: http-header-validation calls the first tool
# of tools/list with empty arguments and expects it to work.
TOOLS: dict[str, tuple[str, dict[str, Any], Callable[[dict[str, Any]], Reply]]] = {
    "test_simple_text": (
        "Answers with one line of text.",
        NO_ARGUMENTS,
        lambda _: Reply("This is a simple text response for testing."),
    ),
    "test_error_handling": (
        "Always fails: HTTP 400 with a message of its own.",
        NO_ARGUMENTS,
        lambda _: Reply("This tool intentionally returns an error for testing", status=400),
    ),
    "json_schema_2020_12_tool": (
        "Takes an address-book entry whose schema uses the JSON Schema 2020-12 vocabulary; answers with it.",
        ADDRESS_BOOK_SCHEMA,
        as_json,
    ),
    "test_x_mcp_header": (
        "Has parameters that a 2026-07-28 client mirrors into Mcp-Param-* headers; answers with its arguments.",
        REGION_SCHEMA,
        as_json,
    ),
    "test_streaming_elicitation": (
        "Answers with one line of text; a JSON-only server has no stream to ask anything on.",
        NO_ARGUMENTS,
        lambda _: Reply("nothing to ask"),
    ),
    "test_logging_tool": (
        "Answers with one line of text and logs nothing to the client.",
        NO_ARGUMENTS,
        lambda _: Reply("nothing logged"),
    ),
    "test_tool_with_logging": (
        "Answers with one line of text; there is no channel for log messages.",
        NO_ARGUMENTS,
        lambda _: Reply("done without log messages"),
    ),
    "test_tool_with_progress": (
        "Answers with one line of text; there is no channel for progress.",
        NO_ARGUMENTS,
        lambda _: Reply("done without progress"),
    ),
    "test_image_content": ("Answers with PNG bytes.", NO_ARGUMENTS, lambda _: Reply(PNG, "image/png")),
    "test_audio_content": ("Answers with WAV bytes.", NO_ARGUMENTS, lambda _: Reply(WAV, "audio/wav")),
    "test_embedded_resource": (
        "Answers with a whole MCP result (resultFormat mcp): one embedded resource.",
        NO_ARGUMENTS,
        lambda _: as_json({"content": [RESOURCE_BLOCK]}),
    ),
    "test_multiple_content_types": (
        "Answers with a whole MCP result (resultFormat mcp): text, image and resource.",
        NO_ARGUMENTS,
        lambda _: as_json(
            {
                "content": [
                    {"type": "text", "text": "Multiple content types test:"},
                    {"type": "image", "data": base64.b64encode(PNG).decode(), "mimeType": "image/png"},
                    RESOURCE_BLOCK,
                ]
            }
        ),
    ),
    "greet": (
        "Answers with a greeting.",
        {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        lambda arguments: Reply(f"Hello, {arguments['name']}!"),
    ),
    "slow_compute": (
        "Answers after a short pause, never more than 0.2 s.",
        {
            "type": "object",
            "properties": {"seconds": {"type": "number", "minimum": 0}, "label": {"type": "string"}},
        },
        slow_compute,
    ),
}


def manifest() -> dict[str, Any]:
    return {
        "manifestVersion": "1",
        "toolService": {"name": "conformance-fixture", "version": "1.0.0"},
        "tools": [
            {
                "name": name,
                "title": name.replace("_", " "),
                "description": description,
                "inputSchema": schema,
                "annotations": {"readOnlyHint": True},
                "endpoint": f"/tools/{name}",
                "timeoutMs": 5000,
                "_meta": {"version": "1.0.0"},
                **({"resultFormat": "mcp"} if name in ANSWERS_AS_MCP else {}),
            }
            for name, (description, schema, _) in TOOLS.items()
        ],
    }


def call(path: str, body: bytes) -> Reply:
    """Run the tool behind an endpoint."""
    name = path.removeprefix("/tools/")
    if not path.startswith("/tools/") or name not in TOOLS:
        return Reply("no such tool", status=404)
    try:
        arguments = json.loads(body or b"{}")
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        return Reply("the body must be a JSON object", status=400)
    return TOOLS[name][2](arguments)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "conformance-fixture/1"

    def log_message(self, *_: object) -> None:
        pass

    def answer(self, reply: Reply) -> None:
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.kind)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def do_GET(self) -> None:
        if self.path == "/manifest":
            self.answer(as_json(manifest()))
        else:
            self.answer(Reply("no such path", status=404))

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.answer(call(self.path, raw))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().splitlines()[0])
    parser.add_argument("--port", type=int, default=9190)
    port = parser.parse_args().port
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: threading.Thread(target=server.shutdown).start())
    print(f"fixture Tool Service on http://127.0.0.1:{server.server_port} with {len(TOOLS)} tools", flush=True)
    server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main())
