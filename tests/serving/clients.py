"""Clients that do with their connections what no HTTP library does."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from support.rpc import connect, envelope

PING = envelope("ping")
USUAL = (
    b"POST /mcp/core HTTP/1.1\r\n"
    b"Host: 127.0.0.1\r\n"
    b"Content-Type: application/json\r\n"
    b"MCP-Protocol-Version: 2025-11-25\r\n"
)


def head(*lines: str) -> bytes:
    return USUAL + b"".join(line.encode() + b"\r\n" for line in lines) + b"\r\n"


def posted(body: bytes, *lines: str) -> bytes:
    return head(f"Content-Length: {len(body)}", *lines) + body


@contextmanager
def many(url: str, count: int, sends: bytes = b"") -> Iterator[list[socket.socket]]:
    """Open many connections, each of which has sent the same and says no more."""
    with ExitStack() as ends:
        connections = [ends.enter_context(connect(url)) for _ in range(count)]
        for connection in connections:
            connection.sendall(sends)
        yield connections


def read_to_end(connection: socket.socket) -> bytes:
    """Read until the server ends the connection; a reset is an end too."""
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def reset(connection: socket.socket) -> None:
    """End the connection with a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


class Dripping:
    """Sends a byte to each of some connections again and again while the ``with`` block lasts."""

    def __init__(self, connections: list[socket.socket], byte: bytes, every_s: float = 0.1) -> None:
        self._connections = connections
        self._byte = byte
        self._every_s = every_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._drip)

    def __enter__(self) -> Dripping:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(20)
        assert not self._thread.is_alive()

    def _drip(self) -> None:
        while not self._stop.wait(self._every_s):
            for connection in self._connections:
                try:
                    connection.sendall(self._byte)
                except OSError:  # the server has ended this one
                    continue
