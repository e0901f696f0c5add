"""
The road from the bytes of an HTTP request to the bytes of its answer, in this process and without a socket.

Everything is the gateway's own but the Tool Service, which is a value that is passed in. Each answer is held to the
WSGI rules on its way out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from werkzeug.middleware.lint import LintMiddleware
from werkzeug.test import Client, TestResponse

from mcp_gateway.app import create_app
from mcp_gateway.config.model import Config, Limits, Profile, Route, Server, ToolService
from mcp_gateway.deadline import Deadline
from mcp_gateway.observe.interaction import Interaction
from mcp_gateway.registry import manifest
from mcp_gateway.registry.snapshot import Part, RouteStatus, ServiceState, Snapshot, assemble
from mcp_gateway.registry.snapshots import Snapshots
from mcp_gateway.tools import route
from mcp_gateway.toolservice import outcome
from mcp_gateway.toolservice.client import Call
from mcp_gateway.toolservice.outcome import Outcome
from mcp_gateway.transport.answer import Answer, Unanswered
from mcp_gateway.web.health import Health

LEGACY = "2025-11-25"
MODERN = "2026-07-28"
BOTH = (MODERN, LEGACY)

CLAIM = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
SERVER_INFO = "io.modelcontextprotocol/serverInfo"

META: Mapping[str, Any] = {
    CLAIM: MODERN,
    CLIENT_INFO: {"name": "builder", "version": "1"},
    CAPABILITIES: {},
}
HELLO: Mapping[str, Any] = {
    "protocolVersion": LEGACY,
    "capabilities": {},
    "clientInfo": {"name": "builder", "version": "1"},
}

PATH = "/mcp/core"
GUID = "3f0e7a52-0a3c-4a7e-8a1a-9a3d0d3f7c11"
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
NOW = datetime(2026, 8, 22, 9, 30, tzinfo=UTC)


def tool(name: str = "core.search", **fields: Any) -> dict[str, Any]:
    """Return the manifest entry of a tool that needs a ``query``."""
    return {
        "name": name,
        "description": "Searches.",
        "inputSchema": {
            "type": "object",
            "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
            "required": ["query"],
        },
        "endpoint": "/tools/search",
        **fields,
    }


ANYTHING = tool("core.anything", inputSchema={"type": "object"}, endpoint="/tools/anything?echo=1")
TOOLS = (tool(title="Search"), ANYTHING)


def snapshot(*tools: Mapping[str, Any], key: str = "core", service: str = "core-tools") -> Snapshot:
    """Return the snapshot of one Tool Service's manifest; every tool of it must be valid."""
    read = manifest.read(json.dumps({"manifestVersion": "1", "tools": tools}).encode(), service=service)
    assert not read.left_out, read.left_out
    part = Part(service, ServiceState.LOADED, read, loaded_at=NOW)
    return assemble(key, [part], max_tools=50, now=NOW)


def text(body: str | bytes, status: int = 200, **headers: str) -> Answer:
    """Return an answer of a Tool Service that is plain text."""
    given = {"content-type": "text/plain; charset=utf-8"} | {k.replace("_", "-"): v for k, v in headers.items()}
    return Answer(status, given, body.encode() if isinstance(body, str) else body)


def as_json(body: str | bytes, status: int = 200) -> Answer:
    """Return an answer of a Tool Service that is JSON."""
    return Answer(status, {"content-type": "application/json"}, body.encode() if isinstance(body, str) else body)


class FakeToolService:
    """
    Stands where the client of a Tool Service stands: notes each call, and gives what it was told to give.

    ``gives``: an answer or the reason why there is none, read by the gateway's own table; an outcome, given as it is;
    or an exception, raised.
    """

    def __init__(self) -> None:
        self.gives: Answer | Unanswered | Outcome | Exception = text("done")
        self.calls: list[Call] = []
        self.deadlines: list[Deadline] = []
        self.closed = False
        self.peer = ("127.0.0.1", 9100)

    def call(self, call: Call, deadline: Deadline) -> Outcome:
        """Note the call and give what it was told."""
        self.calls.append(call)
        self.deadlines.append(deadline)
        match self.gives:
            case Answer() as answer:
                return outcome.read(answer, tool=call.tool, result_format=call.result_format)
            case Unanswered() as fault:
                return outcome.unanswered(fault, tool=call.tool, budget_s=60)
            case Outcome() as ready:
                return ready
            case fault:
                raise fault

    def close(self) -> None:
        """Note the end."""
        self.closed = True


class Road:
    """
    A gateway of one route.

    Args:

        tools: The manifest entries of its tools; ``None``: nothing has been loaded yet.

        route_options: Members of the route's configuration.
    """

    def __init__(
        self,
        *tools: Mapping[str, Any],
        versions: tuple[str, ...] = BOTH,
        loaded: bool = True,
        profile: Profile = "local",
        server: Server | None = None,
        limits: Limits | None = None,
        **route_options: Any,
    ) -> None:
        self.service = FakeToolService()
        self.store = Snapshots()
        if loaded:
            self.store.publish(snapshot(*(tools or TOOLS)))
        self.seen: list[Interaction] = []
        self.health = Health([RouteStatus("core", self.store.current("core"), ())])
        configured = Route(
            key="core",
            public_path=PATH,
            tool_services=(ToolService("core-tools", "http://127.0.0.1:9100"),),
            protocol_versions=versions,
            **route_options,
        )
        server = server or Server()
        self.route = route.Route(configured, server, self.store, {"core-tools": self.service})  # a fake is as good
        self.config = Config(profile=profile, server=server, limits=limits or Limits(), routes=(configured,))
        self.app = create_app(self.config, [self.route], lambda: self.health, [self.seen.append])
        self.client = Client(LintMiddleware(self.app))

    def request(
        self,
        method: str = "POST",
        path: str = PATH,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        **environ: Any,
    ) -> TestResponse:
        """Send a request with these headers and no others but ``Host``."""
        sent = {"Host": "localhost", **(headers or {})}
        return self.client.open(path, method=method, data=body, headers=sent, **environ)

    def post(self, body: Any, headers: Mapping[str, str | None] | None = None) -> TestResponse:
        """POST bytes as they are, or a value as JSON; a header of ``None`` is not sent."""
        sent = {"Content-Type": "application/json", **(headers or {})}
        data = body if isinstance(body, bytes) else dumps(body)
        return self.request(body=data, headers={name: value for name, value in sent.items() if value is not None})

    def legacy(
        self, method: str, params: Any = None, headers: Mapping[str, str | None] | None = None, **members: Any
    ) -> TestResponse:
        """Send a request as a client of 2025-11-25 does; *members* are put over those of the message."""
        return self.post(message(method, params, **members), {"MCP-Protocol-Version": LEGACY, **(headers or {})})

    def modern(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
        meta: Mapping[str, Any] | None = None,
        **members: Any,
    ) -> TestResponse:
        """Send a request as a client of 2026-07-28 does; *meta* is put over the usual members of ``_meta``."""
        sent = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
        if isinstance((params or {}).get("name"), str):
            sent["Mcp-Name"] = (params or {})["name"]
        whole = {**(params or {}), "_meta": {**META, **(meta or {})}}
        return self.post(message(method, whole, **members), {**sent, **(headers or {})})

    def speak(self, version: str, method: str, params: Any = None, **options: Any) -> TestResponse:
        """Send a request as a client of *version* does."""
        return (self.modern if version == MODERN else self.legacy)(method, params, **options)


def message(method: str, params: Any = None, **members: Any) -> dict[str, Any]:
    """Return a JSON-RPC request with id 1; *params* ``None``: left out."""
    given = {} if params is None else {"params": params}
    return {"jsonrpc": "2.0", "id": 1, "method": method, **given, **members}


def dumps(value: Any) -> bytes:
    """Write JSON as most callers do: UTF-8, not escaped."""
    return json.dumps(value, ensure_ascii=False).encode()


def parsed(response: TestResponse) -> dict[str, Any]:
    """Return an answer's JSON object, after a look at what every answer must have."""
    assert response.headers["Content-Type"] == "application/json"
    assert response.headers["guid"]
    assert response.headers["x-request-id"]
    document = json.loads(response.data)
    assert isinstance(document, dict)
    return document


def result(response: TestResponse) -> dict[str, Any]:
    """Return the result of an answer that must have one."""
    document = parsed(response)
    assert response.status_code == 200, document
    assert set(document) == {"jsonrpc", "id", "result"}, document
    assert document["jsonrpc"] == "2.0"
    members: dict[str, Any] = document["result"]
    return members


def error(response: TestResponse, code: int, status: int = 200, request_id: Any = 1) -> dict[str, Any]:
    """Return the ``error`` of a JSON-RPC error that must have this code, HTTP status and id."""
    document = parsed(response)
    assert set(document) == {"jsonrpc", "id", "error"}, document
    assert document["jsonrpc"] == "2.0"
    found: dict[str, Any] = document["error"]
    assert (found["code"], response.status_code, document["id"]) == (code, status, request_id), document
    assert type(document["id"]) is type(request_id)
    assert set(found) == {"code", "message", "data"}
    assert found["data"]["guid"] == response.headers["guid"]
    return found


def refusal(response: TestResponse, status: int, word: str) -> dict[str, Any]:
    """Return the body of an error outside JSON-RPC that must have this HTTP status and error word."""
    document = parsed(response)
    assert (response.status_code, document["error"]) == (status, word), document
    assert set(document) == {"error", "message", "guid"}
    assert document["guid"] == response.headers["guid"]
    assert document["message"]
    return document


def version_refusal(response: TestResponse, served: tuple[str, ...] = BOTH) -> dict[str, Any]:
    """Return the body of the HTTP 400 that names the versions served."""
    document = parsed(response)
    assert response.status_code == 400, document
    assert set(document) == {"error", "message", "supportedVersions", "guid"}
    assert document["error"] == "unsupported_protocol_version"
    assert document["supportedVersions"] == list(served)
    assert document["guid"] == response.headers["guid"]
    return document


def accepted(response: TestResponse) -> None:
    """Hold the answer to a notification to what it must be."""
    assert (response.status_code, response.data) == (202, b""), response.data
    assert "Content-Type" not in response.headers
    assert response.headers["guid"]
    assert response.headers["x-request-id"]
