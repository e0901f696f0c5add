"""
Steps on a socket of which each waits for what is left of one deadline, never for a timeout of its own.

A socket's timeout bounds one ``recv``, so a service that sends one byte a second is never cut off by it. Here sockets
do not block at all: a step is tried, and where it cannot be taken yet, waited for until the deadline at most. (To set a
timeout anew before each step would do too, at two more system calls for every step that need not wait.)
"""

from __future__ import annotations

import select
import socket
import ssl
from collections.abc import Callable, Sequence
from typing import TypeVar

from ..deadline import Deadline
from ..turns import away
from .names import AddressInfo

Argument = TypeVar("Argument")
Result = TypeVar("Result")


def take_step(
    step: Callable[[Argument], Result], argument: Argument, sock: socket.socket, event: int, deadline: Deadline
) -> Result:
    """
    Do ``step(argument)`` on a socket, as soon as it can be done.

    Args:

        event: What to wait for when the socket says that it cannot be done yet; TLS knows better and says so itself.

    Raises:

        OSError: It failed, or (``TimeoutError``) could not be done in time.
    """
    while True:
        left = deadline.timeout()
        try:
            return step(argument)
        except BlockingIOError:
            wanted = event
        except ssl.SSLWantReadError:
            wanted = select.POLLIN
        except ssl.SSLWantWriteError:
            wanted = select.POLLOUT
        poller = select.poll()
        poller.register(sock, wanted)
        with away:
            poller.poll(left * 1000)


def dial(addresses: Sequence[AddressInfo], deadline: Deadline) -> socket.socket:
    """
    Connect to the first address that answers; each gets its share of the time, so that a dead one leaves some.

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


def _connect(address: AddressInfo, deadline: Deadline, sharers: int) -> socket.socket:
    family, kind, protocol, _, location = address
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.settimeout(deadline.timeout() / sharers)
        with away:
            sock.connect(location)
        sock.setblocking(False)
    except OSError:
        sock.close()
        raise
    return sock


def _check_peer(sock: socket.socket) -> None:
    try:
        sock.getpeername()
    except OSError:  # the library would lose the socket that it makes of one whose peer has reset it
        raise ConnectionResetError("the connection was reset before TLS began") from None


def secure(sock: socket.socket, context: ssl.SSLContext, host: str, deadline: Deadline) -> ssl.SSLSocket:
    """
    Put TLS on a connected socket, which belongs to the result from then on, or is closed.

    Raises:

        OSError: There is no TLS at the other end, none that is trusted, or (``TimeoutError``) none in time.
        ValueError: *host* is none that a certificate could name.
    """
    owner: socket.socket = sock
    try:
        _check_peer(sock)
        # An end without TLS's own goodbye is then a fault: anybody may have cut there.
        owner = secured = context.wrap_socket(
            sock, server_hostname=host, do_handshake_on_connect=False, suppress_ragged_eofs=False
        )
        take_step(secured.do_handshake, False, secured, select.POLLIN, deadline)
    except (OSError, ValueError):
        owner.close()
        raise
    return secured
