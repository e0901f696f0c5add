"""
The addresses of one host, looked up in a thread that may be left behind.

``getaddrinfo`` takes no timeout and may hang for as long as the resolver's own patience lasts. So it runs in a daemon
thread: whoever needs the answer waits for it as long as the deadline allows, and a late answer serves the next call.
One host has at most one look-up under way.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from ..deadline import Deadline
from ..turns import away

AddressInfo = tuple[socket.AddressFamily, socket.SocketKind, int, str, Any]
"""One row of ``socket.getaddrinfo``."""

Lookup = Callable[[str, int, int, int], Sequence[AddressInfo]]

FRESH_S = 30.0
"""How long an answer is used without asking again; the time to live that container platforms give service names."""


class HostAddresses:
    """
    Where one host is.

    Args:

        host: A name or a numeric address; the latter is never looked up.

        port: Its port.

        lookup: Asks the resolver.

        fresh_s: How long an answer is used without asking again.
    """

    def __init__(self, host: str, port: int, *, lookup: Lookup = socket.getaddrinfo, fresh_s: float = FRESH_S) -> None:
        self._host = host
        self._port = port
        self._lookup = lookup
        self._fresh_s = fresh_s
        self._lock = threading.Lock()
        self._pending: Future[Sequence[AddressInfo]] | None = None
        self._known = _numeric(host, port)
        self._fresh_until = float("inf") if self._known else 0.0

    def get(self, deadline: Deadline) -> Sequence[AddressInfo]:
        """
        Return the host's addresses; a stale answer beats none.

        Raises:

            OSError: The name has no address, or (``TimeoutError``) none was found in time.
            ValueError: It is no name that can be looked up.
        """
        with self._lock:
            if time.monotonic() < self._fresh_until:
                return self._known
            pending = self._pending = self._pending or self._ask()
        # With a stale answer in hand, waiting to the end would leave no time to use it.
        patience = deadline.timeout() / (2 if self._known else 1)
        try:
            with away:
                return pending.result(patience)
        except (OSError, ValueError):
            if not self._known:
                raise
            return self._known

    def _ask(self) -> Future[Sequence[AddressInfo]]:
        answer: Future[Sequence[AddressInfo]] = Future()
        threading.Thread(target=self._look_up, args=(answer,), name="name-look-up", daemon=True).start()
        return answer

    def _look_up(self, answer: Future[Sequence[AddressInfo]]) -> None:
        try:
            found = self._lookup(self._host, self._port, socket.AF_UNSPEC, socket.SOCK_STREAM)
        except (OSError, ValueError) as fault:
            with self._lock:
                self._pending = None
            answer.set_exception(fault)
        else:
            with self._lock:
                self._known, self._fresh_until, self._pending = found, time.monotonic() + self._fresh_s, None
            answer.set_result(found)


def _numeric(host: str, port: int) -> Sequence[AddressInfo]:
    """Return the one address of a host that is written as a numeric address, else nothing."""
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except (socket.gaierror, ValueError):
        return []
