"""Manifests to test with, and a server that publishes one document at every path."""

from __future__ import annotations

import json
import socket
import threading
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from support.ports import free_port


def tool(name: str = "search", **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "description": "Searches.",
        "inputSchema": {"type": "object", "properties": {"query": {"type": "string", "description": "What for."}}},
        "endpoint": "/tools/search",
        **fields,
    }


def manifest(*tools: Any, **fields: Any) -> bytes:
    return json.dumps({"manifestVersion": "1", "tools": list(tools), **fields}).encode()


class DocumentServer:
    """
    Answers every GET with its document, and keeps connections open. It keeps its port while it is down.

    ``gate`` cleared: requests wait. ``tagged``: with an ``ETag``, and 304 to a request that knows it. ``accepted``
    counts the connections so far; ``connections`` are those that are open.
    """

    def __init__(self, document: bytes = b"", *, up: bool = True) -> None:
        self.document = document
        self.status = 200
        self.tagged = False
        self.headers: dict[str, str] = {}
        self.gate = threading.Event()
        self.gate.set()
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.answered: list[int] = []
        self.accepted = 0
        self.connections: set[socket.socket] = set()
        self.port = free_port()
        self.base_url = f"http://127.0.0.1:{self.port}"
        self._server: ThreadingHTTPServer | None = None
        if up:
            self.start()

    def start(self) -> None:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self) -> None:
                outer.accepted += 1
                outer.connections.add(self.request)
                super().setup()

            def finish(self) -> None:
                super().finish()
                outer.connections.discard(self.request)

            def do_GET(self) -> None:
                outer.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
                outer.gate.wait(30)
                etag = f'"{sha256(outer.document).hexdigest()}"'
                known = outer.tagged and self.headers.get("If-None-Match") == etag
                status, body = (304, b"") if known else (outer.status, outer.document)
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                if outer.tagged:
                    self.send_header("ETag", etag)
                for name, value in outer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
                outer.answered.append(status)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = False

            def handle_error(self, *_: object) -> None:
                pass

        self._server = Server(("127.0.0.1", self.port), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def stop(self) -> None:
        if self._server is not None:
            self.gate.set()
            self._server.shutdown()
            for connection in list(self.connections):
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue
            self._server.server_close()
            self._thread.join(10)
            self._server = None
