"""
A connection that serves one exchange at a time, and knows whether it may serve another.

Whatever stands behind an answer would reach the next caller as the answer to what they asked. So a connection is done
with as soon as there is a byte more than was asked for: already read, decrypted and waiting, or still in the kernel.
"""

from __future__ import annotations

import select
import socket
import ssl

from ..deadline import Deadline
from ..turns import away
from . import wire
from .exchange import Exchange, Phase
from .sockets import take_step
from .wire import Head, Unreadable

_PIECE = 65_536
"""Bytes read at once: a head at its longest, and more than most answers have."""


class Connection:
    """
    One connection to a service.

    Args:

        sock: Connected, secured if need be, and not blocking.

    ``rested_since`` belongs to whoever keeps it at rest.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.rested_since = 0.0
        self._sock = sock
        self._arrivals = select.poll()
        self._arrivals.register(sock, select.POLLIN)
        self._behind_head = b""

    def is_clean(self) -> bool:
        """Whether nothing that was received is left over."""
        decrypted = self._sock.pending() if isinstance(self._sock, ssl.SSLSocket) else 0
        return not (self._behind_head or decrypted)

    def is_quiet(self) -> bool:
        """Whether nothing waits in the kernel, not even the connection's end."""
        return not self._arrivals.poll(0)

    def ask(self, request: bytes, exchange: Exchange) -> Head:
        """
        Send a request and return the head of the answer to it.

        Raises:

            OSError: The connection was lost, or (``TimeoutError``) there was no head in time.
            Unreadable: The head is none that is taken.
        """
        exchange.phase = Phase.SENDING
        self._send(request, exchange)
        # It cannot be there yet: to try and read it first would cost a system call and an exception.
        patience = exchange.deadline.timeout()
        with away:
            self._arrivals.poll(patience * 1000)
        head = self._receive_head(exchange)
        exchange.phase, exchange.status = Phase.ANSWERED, head.status
        return head

    def receive(self, most: int, deadline: Deadline) -> bytes:
        """
        Return the next bytes of the answer, at least one; none when the connection has ended.

        Raises:

            OSError: The connection was lost, or (``TimeoutError``) nothing came in time.
        """
        if self._behind_head:
            taken, self._behind_head = self._behind_head[:most], self._behind_head[most:]
            return taken
        return take_step(self._sock.recv, most, self._sock, select.POLLIN, deadline)

    def close(self) -> None:
        """Close it."""
        self._sock.close()

    def _send(self, request: bytes, exchange: Exchange) -> None:
        exchange.deadline.timeout()
        # A TLS write that fails may still have put records on the wire.
        exchange.sent = isinstance(self._sock, ssl.SSLSocket)
        rest = memoryview(request)
        try:
            while rest:
                rest = rest[take_step(self._sock.send, rest, self._sock, select.POLLOUT, exchange.deadline) :]
                exchange.sent = True
        except (BrokenPipeError, ConnectionResetError):
            pass  # the service may have closed before it had read everything: its answer can still be read

    def _receive_head(self, exchange: Exchange) -> Head:
        data, limit = b"", wire.MAX_HEAD_BYTES
        try:
            data = self._receive_more(exchange.deadline)
            while True:
                head = wire.read_head(data, limit)
                if head is None:
                    data += self._receive_more(exchange.deadline)
                elif head.is_interim:
                    data = data[head.size :]
                    limit -= head.size
                else:
                    self._behind_head = data[head.size :]
                    return head
        except (OSError, Unreadable):
            exchange.status = wire.begun(data)
            raise

    def _receive_more(self, deadline: Deadline) -> bytes:
        data = self.receive(_PIECE, deadline)
        if not data:
            raise ConnectionResetError("the connection was closed within the head")
        return data
