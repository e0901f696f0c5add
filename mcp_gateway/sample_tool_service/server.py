"""
HTTP/1.1 around the tools: keep-alive, one thread a connection, one log line a request.

A request's body is read before anything is answered, so that the connection can be used again; where that cannot be
done the answer closes it. Headers and body leave in one piece: two small packets would wait for each other.
"""

from __future__ import annotations

import re
import socket
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any

from .answers import Answer, json_answer, refusal
from .checking import Unreadable, faults, read_object, with_defaults
from .manifest import Manifest
from .tools import Call, Tool, unavailable

MAX_BODY_BYTES = 1024 * 1024
MAX_DRAINED_BYTES = 16 * 1024 * 1024
"""A body that is too large is read and thrown away up to here: closing on unread bytes could lose the answer."""

IDLE_TIMEOUT_S = 75.0
CLOSING_TIMEOUT_S = 2.0
_MAX_FAULTS_SHOWN = 10
_SHOWN = re.compile(r"[\x21-\x7e]{1,128}")
_WHOLE_NUMBER = re.compile(r"[0-9]{1,9}")


def write_to_stderr(line: str) -> None:
    """Write one line of the log."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _shown(value: str | None) -> str:
    """Return a header's value for the log; what could forge a line is left out."""
    return value if value and _SHOWN.fullmatch(value) else "-"


class SampleServer(ThreadingHTTPServer):
    """
    The running service.

    Args:

        address: Host and port to listen on; port 0 takes a free one.

        manifest: The manifest.

        tools: The tools by their names in the manifest.

        log: Takes one line for each request.

    Raises:

        OSError: The address cannot be listened on.
    """

    # Threads are joined in server_close, which can wait for them because close() ends their connections first.
    daemon_threads = False
    request_queue_size = 128

    def __init__(
        self,
        address: tuple[str, int],
        manifest: Manifest,
        tools: Mapping[str, Tool],
        log: Callable[[str], None] = write_to_stderr,
    ) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.manifest = manifest
        self.tools = tools
        self.log = log
        self.stopping = threading.Event()
        self._connections: set[socket.socket] = set()
        self._calls = 0
        self._changed = threading.Condition()
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Bind without the look-up of the host's own name, which takes seconds on some machines."""
        TCPServer.server_bind(self)
        host, port, *_ = self.socket.getsockname()
        self.server_name, self.server_port = host, port

    @property
    def url(self) -> str:
        """The base URL, with the port that was taken."""
        host = f"[{self.server_name}]" if ":" in self.server_name else self.server_name
        return f"http://{host}:{self.server_port}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection while it is open."""
        with self._changed:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget the connection."""
        with self._changed:
            self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that went away; show anything else."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def call_begins(self) -> None:
        """Count a request whose answer is owed."""
        with self._changed:
            self._calls += 1

    def call_ends(self) -> None:
        """Count it as answered."""
        with self._changed:
            self._calls -= 1
            self._changed.notify_all()

    def close(self) -> None:
        """Let the calls under way end, slow ones early, then end all connections and threads."""
        self.stopping.set()
        with self._changed:
            self._changed.wait_for(lambda: self._calls == 0, CLOSING_TIMEOUT_S)
            for connection in self._connections:
                with suppress(OSError):  # the client has just gone
                    connection.shutdown(socket.SHUT_RDWR)
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: SampleServer
    protocol_version = "HTTP/1.1"
    timeout = IDLE_TIMEOUT_S
    wbufsize = -1
    disable_nagle_algorithm = True

    def version_string(self) -> str:
        return "sample-tool-service"

    def log_message(self, *_: Any) -> None:
        """Nothing: ``respond`` writes the one line of a request."""

    def handle_expect_100(self) -> bool:
        goes_on = super().handle_expect_100()
        self.wfile.flush()
        return goes_on

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a request that the base class cannot read."""
        self.close_connection = True
        self.server.log(f"unreadable request {int(code)}")
        self._send(refusal(code, ": ".join(filter(None, (message, explain))) or HTTPStatus(code).phrase))

    def respond(self) -> None:
        """Answer one request, whatever its method."""
        begun = time.monotonic()
        self.server.call_begins()
        try:
            answer = self._answer()
            took = round((time.monotonic() - begun) * 1000)
            guid, request_id = _shown(self.headers.get("guid")), _shown(self.headers.get("x-request-id"))
            line = f"{self.command} {_shown(self.path)} {answer.status} {took}ms guid={guid} x-request-id={request_id}"
            # Before the answer leaves: whoever has the answer finds the line.
            self.server.log(line)
            self._send(answer)
        finally:
            self.server.call_ends()

    def _answer(self) -> Answer:
        body = self._body()
        if isinstance(body, Answer):
            return body
        path = self.path.partition("?")[0]
        if path == "/manifest":
            return self._manifest() if self.command in ("GET", "HEAD") else _not_allowed("GET, HEAD")
        if path == "/healthz":
            return json_answer({"status": "ok"}) if self.command in ("GET", "HEAD") else _not_allowed("GET, HEAD")
        if path not in self.server.manifest.by_endpoint:
            return refusal(404, "There is nothing at this path; GET /manifest lists the tools.")
        if self.command != "POST":
            return _not_allowed("POST")
        return self._call(path, body)

    def _body(self) -> bytes | Answer:
        """Read the body; an ``Answer`` says why that was not possible."""
        if self.headers.get("Transfer-Encoding"):
            return self._closing(refusal(411, "Send the body with Content-Length."))
        lengths = set(self.headers.get_all("Content-Length", ["0"]))
        length = lengths.pop()
        if lengths or not _WHOLE_NUMBER.fullmatch(length):
            return self._closing(refusal(400, "Content-Length is not one whole number."))
        if int(length) > MAX_BODY_BYTES:
            self._drain(min(int(length), MAX_DRAINED_BYTES))
            return self._closing(refusal(413, f"The body is larger than {MAX_BODY_BYTES} bytes."))
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            return self._closing(refusal(400, "The body is shorter than its Content-Length."))
        return body

    def _drain(self, count: int) -> None:
        while count > 0 and (piece := self.rfile.read(min(count, 65536))):
            count -= len(piece)

    def _closing(self, answer: Answer) -> Answer:
        self.close_connection = True
        return answer

    def _manifest(self) -> Answer:
        manifest = self.server.manifest
        headers = (("ETag", manifest.etag), ("Cache-Control", "no-cache"))
        known = {tag.strip().removeprefix("W/") for tag in self.headers.get("If-None-Match", "").split(",")}
        if known & {manifest.etag, "*"}:
            return Answer(304, b"", "application/json", headers)
        return Answer(200, manifest.text, "application/json", headers)

    def _call(self, path: str, body: bytes) -> Answer:
        """Check one call and let its tool answer it."""
        if self.headers.get_content_type() != "application/json" or "Content-Type" not in self.headers:
            return refusal(415, "Send the arguments as application/json.")
        budget_ms = self.headers.get("x-timeout-ms")
        if budget_ms is not None and not _WHOLE_NUMBER.fullmatch(budget_ms):
            return refusal(400, "The header x-timeout-ms is not a whole number of milliseconds.")
        if budget_ms is not None and int(budget_ms) == 0:
            return unavailable("The caller's time budget is used up.")
        try:
            arguments = read_object(body)
        except Unreadable as fault:
            return refusal(400, f"Bad request: {fault}")
        entry = self.server.manifest.by_endpoint[path]
        wrong = list(faults(entry.input_schema, arguments))
        if wrong:
            return refusal(400, "Bad arguments: " + "; ".join(wrong[:_MAX_FAULTS_SHOWN]))
        budget_s = None if budget_ms is None else int(budget_ms) / 1000
        call = Call(with_defaults(entry.input_schema, arguments), budget_s, self.server.stopping)
        try:
            return self.server.tools[entry.name](call)
        except sqlite3.Error as fault:
            self.server.log(f"{entry.name}: {fault}")
            return refusal(500, "The service's database failed.")

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        if answer.status != HTTPStatus.NOT_MODIFIED:
            self.send_header("Content-Type", answer.media_type)
            self.send_header("Content-Length", str(len(answer.body)))
        for name, value in answer.headers:
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)
        self.wfile.flush()


for _method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
    setattr(_Handler, f"do_{_method}", _Handler.respond)


def _not_allowed(methods: str) -> Answer:
    return refusal(405, f"This path takes {methods} only.", (("Allow", methods),))
