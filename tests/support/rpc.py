"""A small HTTP and JSON-RPC client that hides nothing: every byte of the answer can be looked at."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

LEGACY = "2025-11-25"


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer, the body as it came over the wire."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the body read as JSON."""
        return json.loads(self.body)

    @property
    def result(self) -> Any:
        """Return the JSON-RPC result; fails with the whole answer when there is none."""
        document = self.json()
        assert "result" in document, f"HTTP {self.status}: {document}"
        return document["result"]

    @property
    def error(self) -> Any:
        """Return the JSON-RPC error; fails with the whole answer when there is none."""
        document = self.json()
        assert "error" in document, f"HTTP {self.status}: {document}"
        return document["error"]

    @property
    def text(self) -> str:
        """Return the text of the one content block of a ``tools/call`` result."""
        (block,) = self.result["content"]
        text: str = block["text"]
        return text


def request(
    method: str,
    url: str,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    timeout: float = 20.0,
) -> Answer:
    """Send one request on a connection of its own; a ``Host`` among *headers* replaces the usual one."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout)
    try:
        connection.request(method, parts.path, body, dict(headers or {}))
        response = connection.getresponse()
        return Answer(response.status, dict(response.getheaders()), response.read())
    finally:
        connection.close()


def envelope(method: str, params: Any = None, request_id: Any = 1) -> bytes:
    """Write a JSON-RPC request; *params* ``None``: left out, *request_id* ``None``: a notification."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if request_id is not None:
        message["id"] = request_id
    if params is not None:
        message["params"] = params
    return json.dumps(message, ensure_ascii=False).encode()


def post(
    url: str,
    body: bytes,
    *,
    version: str | None = LEGACY,
    headers: Mapping[str, str] | None = None,
    timeout: float = 20.0,
) -> Answer:
    """POST *body* as an MCP client would; *version* ``None``: without ``MCP-Protocol-Version``."""
    sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    if version is not None:
        sent["MCP-Protocol-Version"] = version
    return request("POST", url, body, sent | dict(headers or {}), timeout)


def rpc(
    url: str,
    method: str,
    params: Any = None,
    *,
    request_id: Any = 1,
    version: str | None = LEGACY,
    headers: Mapping[str, str] | None = None,
    timeout: float = 20.0,
) -> Answer:
    """Make one JSON-RPC request over a connection of its own."""
    return post(url, envelope(method, params, request_id), version=version, headers=headers, timeout=timeout)


def call(url: str, tool: str, arguments: Any = None, **options: Any) -> Answer:
    """Make one ``tools/call``; *arguments* ``None``: left out."""
    params = {"name": tool} if arguments is None else {"name": tool, "arguments": arguments}
    return rpc(url, "tools/call", params, **options)


def connect(url: str, timeout: float = 20.0) -> socket.socket:
    """Open a bare connection to the server of *url*, for requests no HTTP library would send."""
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname, parts.port), timeout=timeout)


def read_answer(connection: socket.socket) -> Answer:
    """Read one whole answer from a bare connection."""
    response = http.client.HTTPResponse(connection)
    response.begin()
    return Answer(response.status, dict(response.getheaders()), response.read())
