"""The connections of one service, and what of them may be used again."""

from __future__ import annotations

import ssl
import time
import weakref
from collections import deque

from .answer import Delivery, Reason, Unanswered
from .approach import Approach
from .connection import Connection
from .exchange import Exchange
from .names import HostAddresses
from .sweeper import SWEEPER


class Pool:
    """
    Connections to one service. Threads may share it: a deque's ends are safe to take from and to put to.

    Args:

        addresses: Where the service is.

        host: Its name, which its certificate must bear.

        tls: Secures each connection; ``None``: they are plain.

        size: How many connections are kept at rest.

        connect_timeout_s: What look-up, connect and TLS handshake may take together.

        idle_limit_s: How long a connection may have rested and still be used again; 0: none is.

    ``surplus`` counts the connections on which more came than was asked for; ``watched`` belongs to the sweeper.
    """

    def __init__(
        self,
        addresses: HostAddresses,
        *,
        host: str,
        tls: ssl.SSLContext | None,
        size: int,
        connect_timeout_s: float,
        idle_limit_s: float,
    ) -> None:
        self._addresses = addresses
        self._host = host
        self._tls = tls
        self._size = size
        self._connect_timeout_s = connect_timeout_s
        self._idle_limit_s = idle_limit_s
        self._resting: deque[Connection] = deque()
        weakref.finalize(self, _close_all, self._resting)  # whoever drops a pool need not close it
        self._closed = False
        self.watched = False
        self.surplus = 0

    def take(self, exchange: Exchange) -> Connection:
        """
        Return a connection for one exchange: the one that rested last, else a new one.

        Raises:

            Unanswered: The pool was closed.
            OSError: No connection came about, or (``TimeoutError``) none in time.
            ValueError: The host's name is none.
        """
        if self._closed:
            raise Unanswered(Reason.REFUSED, Delivery.NOT_SENT, "the gateway has closed its connections")
        while (connection := _pop(self._resting)) is not None:
            if self._is_fresh(connection) and connection.is_quiet():
                return connection
            connection.close()
        return self._connect(exchange)

    def put_back(self, connection: Connection) -> None:
        """Let a connection rest that is beyond doubt, if there is room for it."""
        if len(self._resting) >= self._size:
            connection.close()
            return
        connection.rested_since = time.monotonic()
        self._resting.append(connection)
        self.drop_stale()
        if self._closed:
            self.close()
        elif not self.watched:
            SWEEPER.watch(self)

    def give_up(self, connection: Connection) -> None:
        """Close a connection on which more came than was asked for, and count it."""
        self.surplus += 1
        connection.close()

    def close(self) -> None:
        """Close the connections at rest, and from now on each that is put back."""
        self._closed = True
        _close_all(self._resting)

    def drop_stale(self) -> bool:
        """
        Close what has rested too long, which nobody would take again; return whether something still rests.

        The one that has rested longest stands first. Another thread may take that between the look and the grip: then
        the next one is closed, early and without harm.
        """
        try:
            while not self._is_fresh(self._resting[0]):
                self._resting.popleft().close()
        except IndexError:
            return False
        return True

    def _is_fresh(self, connection: Connection) -> bool:
        return time.monotonic() - connection.rested_since < self._idle_limit_s

    def approach(self, exchange: Exchange) -> Approach:
        """Return the way to a new connection, of which no step has been taken."""
        return Approach(
            self._addresses,
            host=self._host,
            tls=self._tls,
            exchange=exchange,
            connect_timeout_s=self._connect_timeout_s,
        )

    def _connect(self, exchange: Exchange) -> Connection:
        approach = self.approach(exchange)
        sock = approach.connect(approach.look_up())
        return Connection(sock if approach.tls is None else approach.secure(sock, approach.tls))


def _pop(resting: deque[Connection]) -> Connection | None:
    try:
        return resting.pop()
    except IndexError:
        return None


def _close_all(resting: deque[Connection]) -> None:
    while (connection := _pop(resting)) is not None:
        connection.close()
