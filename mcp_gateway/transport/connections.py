"""
Connections that serve one exchange at a time and are used again only when they are beyond doubt.

Built on ``urllib3``, whose pools bind nothing to a call: the exchange travels down as its ``Timeout``. A connection is
used again only if its last answer was read to the end, nothing stood behind it, and it has not rested for too long.
"""

from __future__ import annotations

import email.errors
import http.client
import io
import re
import socket
import ssl
import time
from typing import Any, cast

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, Timeout
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import NewConnectionError

from .exchange import Exchange, Phase
from .sockets import DeadlineSocket, DeadlineTLSSocket, dial

MAX_HEAD_BYTES = 65_536
"""
Status lines and headers of one answer, interim answers included. ``http.client`` alone would take 6.5 MB and any number
of interim answers. Precedents: Node.js 16 KiB, nginx 32 KiB, Go 1 MiB.
"""

_LENGTH = re.compile(r"[0-9]{1,19}")
_SWITCHING_PROTOCOLS = 101
_OK = 200

_BROKEN_LINES = (
    email.errors.FirstHeaderLineIsContinuationDefect,
    email.errors.InvalidHeaderDefect,
    email.errors.MisplacedEnvelopeHeaderDefect,
    email.errors.MissingHeaderBodySeparatorDefect,
)


class MalformedHead(http.client.HTTPException):
    """Raised when an answer's head leaves in doubt where the answer ends."""


class AnswerFile(io.BufferedReader):
    """
    The bytes of one answer, with a bounded head and a look at what stands behind the answer when it is closed.

    Args:

        raw: Reads from *sock*.

        sock: Is marked ``worn`` when bytes stand behind the answer: the next caller must never get them.
    """

    def __init__(self, raw: io.RawIOBase, sock: DeadlineSocket) -> None:
        super().__init__(raw)
        self._sock = sock
        self._head_left: int | None = MAX_HEAD_BYTES

    def end_head(self) -> Exchange:
        """Lift the bound: the head has been read. Return the exchange that the answer belongs to."""
        self._head_left = None
        return self._sock.exchange

    def readline(self, size: int | None = -1) -> bytes:
        """
        Read a line.

        Raises:

            LineTooLong: The head as a whole is too long.
            RemoteDisconnected: It ends within the head, which ``http.client`` would take for its end.
        """
        if self._head_left is None:
            return super().readline(size)
        line = super().readline(self._head_left + 1)
        self._head_left -= len(line)
        if self._head_left < 0:
            raise http.client.LineTooLong("head")
        if not line.endswith(b"\n"):
            raise http.client.RemoteDisconnected("the connection was closed within the head")
        return line

    def close(self) -> None:
        """Let go of the answer, and of the connection too when something stands behind the answer."""
        if not self.closed:
            self._sock.rested_since = time.monotonic()
            if self._has_surplus():
                self._sock.worn = True
                self._sock.close()
        super().close()

    def _has_surplus(self) -> bool:
        self._sock.probing = True
        try:
            return bool(self.peek(1))
        except ssl.SSLWantReadError:
            return False
        except OSError:
            return True
        finally:
            self._sock.probing = False


class FinalResponse(http.client.HTTPResponse):
    """
    An answer that begins with its final status line, whatever interim answers come before.

    ``http.client`` skips ``100`` alone: it takes ``103 Early Hints`` for the answer and gives the real one to the next
    caller on that connection (CPython issue 42550).
    """

    fp: AnswerFile

    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp = AnswerFile(self.fp.detach(), cast(DeadlineSocket, sock))

    def begin(self) -> None:
        """
        Read up to the end of the head.

        Raises:

            MalformedHead: It leaves in doubt where the answer ends.
        """
        super().begin()
        while self.status < _OK and self.status != _SWITCHING_PROTOCOLS:
            # begin() does nothing while the headers of an earlier answer are there.
            self.headers = self.msg = cast(http.client.HTTPMessage, None)
            super().begin()
        self.fp.end_head().phase = Phase.ANSWERED
        _refuse_doubtful_head(self.headers)


def _refuse_doubtful_head(headers: http.client.HTTPMessage) -> None:
    if any(isinstance(defect, _BROKEN_LINES) for defect in headers.defects):
        raise MalformedHead("a header line is malformed")
    codings = [coding.strip().lower() for coding in headers.get_all("transfer-encoding", [])]
    if codings not in ([], ["chunked"]):
        raise MalformedHead("the transfer coding is not understood")
    lengths = {length.strip() for length in headers.get_all("content-length", [])}
    if len(lengths) > 1 or not all(_LENGTH.fullmatch(length) for length in lengths):
        raise MalformedHead("the length is malformed")


class ExchangeTimeout(Timeout):
    """Carries an exchange through ``HTTPAdapter.send`` down to the connection; the sockets look at its deadline."""

    def __init__(self, exchange: Exchange) -> None:
        super().__init__(connect=None, read=None)
        self.exchange = exchange

    def clone(self) -> ExchangeTimeout:
        """Return a fresh copy for the same exchange."""
        return ExchangeTimeout(self.exchange)


class BoundConnection(HTTPConnection):
    """A connection that serves one exchange at a time."""

    response_class = FinalResponse
    exchange: Exchange

    def bind(self, exchange: Exchange) -> None:
        """Serve *exchange* from now on."""
        self.exchange = exchange
        if self.sock is not None:
            self._serve()

    def connect(self) -> None:
        """Connect (and, in the child class, secure) within the exchange's connect time."""
        super().connect()
        self._serve()

    def _serve(self) -> None:
        cast(DeadlineSocket, self.sock).exchange = self.exchange
        self.exchange.phase = Phase.SENDING

    def _new_conn(self) -> socket.socket:
        peer, exchange = self.exchange.peer, self.exchange
        deadline = exchange.deadline.within(peer.connect_timeout_s)
        try:
            exchange.phase = Phase.LOOKING_UP
            addresses = peer.addresses.get(deadline)
            exchange.phase = Phase.CONNECTING
            sock = dial(addresses, deadline)
        except (OSError, ValueError) as fault:
            # A bare ECONNRESET would be taken for one while sending: urllib3 goes on after it, without a socket.
            raise NewConnectionError(self, "no connection") from fault
        exchange.phase = Phase.SECURING
        return sock

    @property
    def is_connected(self) -> bool:
        """Whether another exchange may use it; the pool asks, and closes it when not."""
        sock = cast(DeadlineSocket | None, self.sock)
        return (
            sock is not None
            and self.exchange.settled
            and not sock.worn
            and time.monotonic() - sock.rested_since < self.exchange.peer.idle_limit_s
            and super().is_connected
        )


class BoundTLSConnection(BoundConnection, HTTPSConnection):
    """The same over TLS."""

    def connect(self) -> None:
        """Connect and secure; from then on an end without TLS's own goodbye is a fault: anybody may have cut there."""
        super().connect()
        cast(DeadlineTLSSocket, self.sock).suppress_ragged_eofs = False


class BoundPool(HTTPConnectionPool):
    """The connections of one service."""

    ConnectionCls = BoundConnection

    def _make_request(self, conn: Any, *args: Any, **kwargs: Any) -> Any:
        # The one place where urllib3 has both the connection and the call, before it dials.
        conn.bind(kwargs["timeout"].exchange)
        return super()._make_request(conn, *args, **kwargs)


class BoundTLSPool(BoundPool, HTTPSConnectionPool):
    """The same over TLS."""

    ConnectionCls = BoundTLSConnection
