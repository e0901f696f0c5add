"""
Sockets of which every blocking step gets what is left of one deadline, never a timeout of its own.

A socket's timeout bounds one ``recv``, so a service that sends one byte a second is never cut off by it, whatever is
given to ``requests`` or ``urllib3``. Here the timeout is set anew before each step, from the exchange that the socket
currently serves.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Sequence
from typing import Any

from ..deadline import Deadline
from .exchange import Exchange
from .names import AddressInfo

_PIECE = 262_144
"""Bytes handed to the kernel at once: large enough to cost nothing, small enough to look at the clock in between."""


class DeadlineSocket(socket.socket):
    """
    A plain socket bound to an exchange.

    ``exchange`` is set by the connection that owns it. ``worn`` is set when the connection must not be used again;
    ``probing`` makes reads return at once.
    """

    exchange: Exchange
    worn: bool = False
    probing: bool = False
    rested_since: float = 0.0

    def recv_into(self, buffer: Any, nbytes: int | None = None, flags: int = 0) -> int:
        """Read what is there; wait for it until the deadline at most."""
        self.settimeout(0.0 if self.probing else self.exchange.deadline.timeout())
        return super().recv_into(buffer, nbytes or memoryview(buffer).nbytes, flags)

    def send(self, data: Any, flags: int = 0) -> int:
        """Hand over what the kernel takes; wait for it until the deadline at most, and note that something left."""
        self.settimeout(self.exchange.deadline.timeout())
        count = super().send(data, flags)
        self.exchange.sent = True
        return count

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Hand over everything, until the deadline at most."""
        # SSLSocket.sendall would renew the timeout for each piece.
        rest = memoryview(data).cast("B")
        while rest:
            rest = rest[self.send(rest[:_PIECE], flags) :]


class DeadlineTLSSocket(DeadlineSocket, ssl.SSLSocket):
    """The same over TLS."""

    suppress_ragged_eofs: bool

    def send(self, data: Any, flags: int = 0) -> int:
        """Hand over what the kernel takes; a TLS write that fails may still have put records on the wire."""
        self.exchange.deadline.timeout()
        self.exchange.sent = True
        return super().send(data, flags)


def dial(addresses: Sequence[AddressInfo], deadline: Deadline) -> DeadlineSocket:
    """
    Connect to the first address that answers; each gets its share of the time, so that a dead one leaves some.

    The socket's timeout is left at what remains, which bounds a TLS handshake as one operation.

    Raises:

        OSError: None could be connected to, or (``TimeoutError``) not in time.
    """
    fault = OSError("the name has no address")
    for place, address in enumerate(addresses):
        try:
            return _connect(address, deadline, len(addresses) - place)
        except OSError as failed:
            fault = failed
    raise fault


def _connect(address: AddressInfo, deadline: Deadline, sharers: int) -> DeadlineSocket:
    family, kind, protocol, _, location = address
    sock = DeadlineSocket(family, kind, protocol)
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.settimeout(deadline.timeout() / sharers)
        sock.connect(location)
        sock.settimeout(deadline.timeout())
    except OSError:
        sock.close()
        raise
    return sock
