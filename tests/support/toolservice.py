"""
A Tool Service that does what a test tells it: real HTTP on a loopback port, in threads of the test's own process.

::

    with ToolService() as service:
        service.add("echo", lambda received: Reply.of_json(received.body))
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .ports import free_port
from .waiting import wait_until

ANY_OBJECT: Mapping[str, Any] = {"type": "object"}


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool's endpoint answers."""

    body: bytes
    content_type: str = "text/plain; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_text(cls, text: str, status: int = 200) -> Reply:
        """Answer with plain text."""
        return cls(text.encode(), status=status)

    @classmethod
    def of_json(cls, body: bytes, status: int = 200) -> Reply:
        """Answer with *body* as it stands, declared JSON."""
        return cls(body, "application/json", status)


@dataclass(frozen=True, slots=True)
class Received:
    """One call as it came in."""

    tool: str
    headers: Mapping[str, str]
    body: bytes
    service: ToolService = field(repr=False)

    def header(self, name: str) -> str | None:
        """Return the header of that name, or ``None``."""
        return {key.lower(): value for key, value in self.headers.items()}.get(name.lower())

    def hold(self, gate: threading.Event) -> None:
        """Keep the caller waiting until the test opens *gate* (or the service ends)."""
        self.service.hold(gate)


Handler = Callable[[Received], Reply]


class ToolService:
    """
    A scripted Tool Service. Its port stays the same while it goes down and comes back.

    Args:

        name: What it calls itself in its manifest.

        start: Whether it is up when the ``with`` block begins.

    While ``manifest_gate`` is cleared, a request for the manifest gets no answer. ``pages`` holds what else it answers
    to GET, by path: so it can be a portal as well.
    """

    def __init__(self, name: str = "core-tools", *, start: bool = True) -> None:
        self.name = name
        self.port = free_port()
        self.received: list[Received] = []
        self.manifest_requests = 0
        self.pages: dict[str, Callable[[], Reply]] = {}
        self.manifest_gate = threading.Event()
        self.manifest_gate.set()
        self._start = start
        self._tools: dict[str, tuple[dict[str, Any], Handler]] = {}
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> ToolService:
        if self._start:
            self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def base_url(self) -> str:
        """Return what belongs into ``base_url`` of the configuration."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def up(self) -> bool:
        """Say whether it answers."""
        return self._server is not None

    def add(self, name: str, handler: Handler, schema: Mapping[str, Any] = ANY_OBJECT, **fields: Any) -> None:
        """
        Offer one more tool from the next manifest request on.

        Args:

            name: The tool's name.

            handler: What it answers.

            schema: Its ``inputSchema``.

            fields: Further members of its manifest entry, e.g. ``timeoutMs``.
        """
        entry = {"name": name, "description": f"The tool {name}.", "inputSchema": schema, "endpoint": f"/tools/{name}"}
        self._tools[name] = ({**entry, **fields}, handler)

    def manifest(self) -> bytes:
        """Return the manifest as it is now."""
        document = {
            "manifestVersion": "1",
            "toolService": {"name": self.name, "version": "1.0.0"},
            "tools": [entry for entry, _ in self._tools.values()],
        }
        return json.dumps(document).encode()

    def start(self) -> None:
        """Come up on the port."""
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), name=self.name)
        self._thread.start()

    def stop(self) -> None:
        """Go down: no new connections, and the open ones are cut."""
        server = self._server
        if server is None or self._thread is None:
            return
        server.shutdown()
        server.cut()
        # Only now are held calls let go: none of them is answered after all.
        self._server = None
        server.server_close()
        self._thread.join(10)
        assert not self._thread.is_alive(), f"the scripted Tool Service {self.name} does not end"

    def calls(self, tool: str) -> list[Received]:
        """Return the calls of one tool that came in so far."""
        return [received for received in self.received if received.tool == tool]

    def wait_for_calls(self, tool: str, count: int = 1) -> list[Received]:
        """Wait until a tool was called *count* times, and return the calls."""
        return wait_until(
            lambda: calls if len(calls := self.calls(tool)) >= count else [], f"{count} calls of {tool} at {self.name}"
        )

    def hold(self, gate: threading.Event) -> None:
        """Wait until *gate* is open, or until the service ends."""
        while not gate.wait(0.02) and self.up:
            pass

    def answer(self, tool: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Note one call and run its handler."""
        received = Received(tool, headers, body, self)
        self.received.append(received)
        if tool not in self._tools:
            return Reply.of_text("no such tool", 404)
        return self._tools[tool][1](received)


class _Server(ThreadingHTTPServer):
    """The listening side of a scripted Tool Service; knows its open connections, so that it can cut them."""

    daemon_threads = False
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, service: ToolService) -> None:
        self.service = service
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", service.port), _RequestHandler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a caller that hangs up is part of many tests."""

    def cut(self) -> None:
        """Cut every open connection."""
        with self._lock:
            for connection in self._open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue


class _RequestHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        if page := self.server.service.pages.get(self.path):
            return self._send(page())
        if self.path != "/manifest":
            return self._send(Reply.of_text("no such path", 404))
        self.server.service.manifest_requests += 1
        self.server.service.hold(self.server.service.manifest_gate)
        return self._send(Reply.of_json(self.server.service.manifest()))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._send(self.server.service.answer(self.path.removeprefix("/tools/"), dict(self.headers.items()), body))

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Content-Length", str(len(reply.body)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, *_: object) -> None:
        """Keep the test's output free of access logs."""
