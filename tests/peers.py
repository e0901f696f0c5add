"""
Tool Services that misbehave, as functions on a listening socket.

::

    with Listener(silent, good) as peer:      # the first connection is served by silent, every later one by good
        ...

Real sockets on loopback, in threads of the test's own process. Nothing here imports ``mcp_gateway``.
"""

from __future__ import annotations

import gzip
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass

JOIN_S = 10.0
DRIP_S = 0.01


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came in; header names in lower case."""

    line: str
    headers: dict[str, str]
    body: bytes


class Talk:
    """One connection, as the functions below see it."""

    def __init__(self, sock: socket.socket, listener: Listener) -> None:
        self._sock = sock
        self._listener = listener
        self._buffer = b""
        self._last: Request | None = None

    @property
    def ended(self) -> threading.Event:
        """Set when the test is over."""
        return self._listener.ended

    def unread(self, request: Request) -> None:
        """Let the next ``request()`` return *request* once more, as if it came again."""
        self._last = request

    def request(self) -> Request | None:
        """Read one whole request; ``None`` when the caller has gone."""
        if self._last is not None:
            request, self._last = self._last, None
            return request
        while b"\r\n\r\n" not in self._buffer:
            if not self._receive():
                return None
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        line, *fields = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
        length = int(headers.get("content-length", "0"))
        while len(self._buffer) < length:
            if not self._receive():
                return None
        body, self._buffer = self._buffer[:length], self._buffer[length:]
        request = Request(line, headers, body)
        self._listener.requests.append(request)
        return request

    def _receive(self) -> bool:
        piece = self._sock.recv(65_536)
        self._buffer += piece
        return bool(piece)

    def send(self, data: bytes) -> None:
        """Send all of *data*."""
        self._sock.sendall(data)

    def send_raw(self, data: bytes) -> None:
        """Send *data* past TLS."""
        with socket.socket(fileno=socket.dup(self._sock.fileno())) as raw:
            raw.sendall(data)

    def wait_for_bytes(self) -> None:
        """Wait until there is something to read, and leave it there."""
        self._sock.recv(1, socket.MSG_PEEK)

    def stay(self) -> None:
        """Keep the connection open until the caller has gone."""
        while self._sock.recv(65_536):
            pass

    def reset(self) -> None:
        """Cut the connection with a reset instead of a goodbye."""
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._sock.close()

    def drip(self, data: bytes) -> None:
        """Send *data* byte by byte."""
        for byte in data:
            self.send(bytes([byte]))
            self._listener.ended.wait(DRIP_S)


Script = Callable[[Talk], None]


class Listener:
    """
    A listening socket whose connections are served by functions.

    Args:

        scripts: The first serves the first connection, and so on; the last serves all that follow.

        tls: Makes it speak TLS.

    ``connections`` counts what was accepted, ``requests`` holds what was read whole.
    """

    def __init__(self, *scripts: Script, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[Request] = []
        self.connections = 0
        self.ended = threading.Event()
        self._finished = threading.Condition()
        self._finished_count = 0
        self._scripts = scripts
        self._tls = tls
        self._faults: list[BaseException] = []
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._socket.getsockname()[1]

    @property
    def base_url(self) -> str:
        """Return where it listens."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def __enter__(self) -> Listener:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        # shutdown() is what wakes a thread that waits in accept() or recv(); close() alone does not.
        for sock in (self._socket, *self._open):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it has gone already
        for thread in self._threads:
            thread.join(JOIN_S)
        self._socket.close()
        assert not any(thread.is_alive() for thread in self._threads), "a peer does not end"
        assert not self._faults, f"a peer broke: {self._faults!r}"

    def wait_finished(self, count: int) -> None:
        """Wait until *count* connections have been served to their end and closed."""
        with self._finished:
            assert self._finished.wait_for(lambda: self._finished_count >= count, JOIN_S), "a connection stays open"

    def _start(self, work: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=work, args=args)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self.ended.is_set():
            try:
                sock, _ = self._socket.accept()
            except OSError:
                return
            script = self._scripts[min(self.connections, len(self._scripts) - 1)]
            self.connections += 1
            self._open.append(sock)
            self._start(self._serve, sock, script)

    def _serve(self, sock: socket.socket, script: Script) -> None:
        try:
            with sock if self._tls is None else self._tls.wrap_socket(sock, server_side=True) as talking:
                self._open.append(talking)
                script(Talk(talking, self))
        except OSError:
            pass  # the caller cut the connection, as it should
        except Exception as fault:  # noqa: BLE001 - shown when the listener ends
            self._faults.append(fault)
        finally:
            sock.close()
            with self._finished:
                self._finished_count += 1
                self._finished.notify_all()


def answer(body: bytes, *fields: str, status: str = "200 OK", length: int | None = None) -> bytes:
    """Return an HTTP answer: JSON unless *fields* has another Content-Type, its length as it is unless it is given."""
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *fields]
    if not any(field.lower().startswith("content-type:") for field in fields):
        head.append("Content-Type: application/json")
    return "\r\n".join([*head, "", ""]).encode("latin-1") + body


def good(talk: Talk) -> None:
    """Answer every request with its own body, as JSON."""
    while request := talk.request():
        talk.send(answer(request.body))


def silent(talk: Talk) -> None:
    """Take the request and never answer."""
    talk.request()
    talk.stay()


def mute(talk: Talk) -> None:
    """Read nothing and say nothing; in place of a TLS server this stalls the handshake."""
    talk.ended.wait(JOIN_S)


def reset_at_once(talk: Talk) -> None:
    """Reset the connection, perhaps before the request has left."""
    talk.reset()


def reset_before_reading(talk: Talk) -> None:
    """Reset the connection when the request is there, without reading it."""
    talk.wait_for_bytes()
    talk.reset()


def reset_after_reading(talk: Talk) -> None:
    """Read the whole request, then reset: the call may have been carried out."""
    talk.request()
    talk.reset()


def closing(talk: Talk) -> None:
    """Read the whole request, then close without a word."""
    talk.request()


def sending(data: bytes, *, stay: bool = False) -> Script:
    """Answer one request with *data* as it stands, then close (or *stay*)."""

    def script(talk: Talk) -> None:
        talk.request()
        talk.send(data)
        if stay:
            talk.stay()

    return script


def resetting_within(start: bytes, rest: bytes) -> Script:
    """Answer one request with *start*, then *rest* byte by byte, then reset the connection."""

    def script(talk: Talk) -> None:
        talk.request()
        talk.send(start)
        talk.drip(rest)
        talk.reset()

    return script


def repeating(start: bytes, piece: bytes) -> Script:
    """Answer one request with *start* and then *piece* again and again, as fast as the caller reads."""

    def script(talk: Talk) -> None:
        talk.request()
        talk.send(start)
        while not talk.ended.is_set():
            talk.send(piece)

    return script


def dripping(start: bytes, byte: bytes) -> Script:
    """Answer one request with *start* at once and then *byte* again and again, one at a time."""

    def script(talk: Talk) -> None:
        talk.request()
        talk.send(start)
        while not talk.ended.is_set():
            talk.drip(byte)

    return script


def early_hints(talk: Talk) -> None:
    """Send ``103 Early Hints`` before every answer, and the answer a little later."""
    while request := talk.request():
        talk.send(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n")
        talk.ended.wait(0.05)
        talk.send(answer(request.body))


def surplus(talk: Talk) -> None:
    """Send somebody else's answer right behind the answer of every request."""
    while request := talk.request():
        talk.send(answer(request.body) + answer(b'{"secret": "of another caller"}'))


def late_surplus(sent: threading.Event) -> Script:
    """Answer one request, and later send something that nobody asked for."""

    def script(talk: Talk) -> None:
        request = talk.request()
        assert request is not None
        talk.send(answer(request.body))
        talk.ended.wait(0.05)
        talk.send(answer(b'{"secret": "of another caller"}'))
        sent.set()
        talk.stay()

    return script


def once(talk: Talk) -> None:
    """Answer one request as if the connection stayed open, and close it."""
    request = talk.request()
    assert request is not None
    talk.send(answer(request.body))


BOMB = gzip.compress(bytes(50_000_000))
"""50 MB of zeros in 49 kB."""

JSON_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

HOSTILE: dict[str, Script] = {
    "silent": silent,
    "dripping status line": dripping(b"", b"H"),
    "dripping headers": dripping(b"HTTP/1.1 200 OK\r\n", b"X"),
    "dripping header lines": dripping(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n"),
    "dripping body": dripping(JSON_HEAD + b"Content-Length: 1000000\r\n\r\n", b" "),
    "dripping body without length": dripping(JSON_HEAD + b"\r\n", b" "),
    "dripping chunks": dripping(JSON_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "dripping trailers": dripping(JSON_HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n", b"X: y\r\n"),
    "endless trailers": repeating(JSON_HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X-Trailer: endless\r\n"),
    "reset before reading": reset_before_reading,
    "reset after reading": reset_after_reading,
    "closed without a word": closing,
    "closed within the head": sending(b"HTTP/1.1 200 OK\r\nContent-Ty"),
    "closed between headers": sending(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"),
    "closed after a 103": sending(b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "truncated": sending(answer(b'{"a": 1}', length=100)),
    "truncated chunk": sending(JSON_HEAD + b"Transfer-Encoding: chunked\r\n\r\n40\r\n{}"),
    "truncated between chunks": sending(JSON_HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"),
    "bad chunk": sending(JSON_HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"),
    "negative chunk": sending(JSON_HEAD + b"Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n"),
    "reset within the body": resetting_within(answer(b"", length=100), b'{"a": 1}'),
    "two lengths": sending(answer(b"{}", "Content-Length: 7")),
    "negative length": sending(answer(b"{}", length=-2)),
    "length that is no number": sending(JSON_HEAD + b"Content-Length: two\r\n\r\n{}"),
    "unknown transfer coding": sending(JSON_HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
    "malformed header line": sending(JSON_HEAD + b"no colon here\r\nContent-Length: 2\r\n\r\n{}", stay=True),
    "garbage": sending(b"\x15\x03\x01\x00\x02\x02\x16 this is no HTTP\r\n\r\n"),
    "another protocol": sending(b"SSH-2.0-OpenSSH_9.6\r\n", stay=True),
    "greeting without an end": sending(b"220 mail.example ESMTP"),
    "HTTP 2": sending(b"HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
    "8 MB header": repeating(b"HTTP/1.1 200 OK\r\nX-Large: ", b"x" * 65_536),
    "many headers": sending(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"Content-Length: 2\r\n\r\n{}"),
    "endless 100": repeating(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "endless 103": repeating(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "dripping 100": dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "switching protocols": sending(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", stay=True),
    "status 999": sending(answer(b"{}", status="999 Odd")),
    "50 MB announced": repeating(JSON_HEAD + b"Content-Length: 50000000\r\n\r\n", b" " * 65_536),
    "50 MB unannounced": repeating(JSON_HEAD + b"\r\n", b" " * 65_536),
    "gzip bomb": sending(answer(BOMB, "Content-Encoding: gzip"), stay=True),
    "deflate that is none": sending(answer(b"{}", "Content-Encoding: deflate")),
    "unknown content coding": sending(answer(b"{}", "Content-Encoding: br")),
    "truncated gzip": sending(answer(gzip.compress(b'{"a": 1}', mtime=0)[:-4], "Content-Encoding: gzip")),
}
"""Each of them fails a call in its own way; none is a right answer."""


def number(request_body: bytes) -> int:
    """Return the number that a test wrote into a request or got back in an answer."""
    value = json.loads(request_body)["n"]
    assert isinstance(value, int)
    return value
