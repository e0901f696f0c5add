"""
A client's connection: what of a request has arrived, and how long the rest of it may take.

These classes stand in for gunicorn's own at the points that ``tests/serving/test_gunicorn.py`` lists, since some of
them are no public interface of gunicorn; the lock file pins its version.
"""

from __future__ import annotations

import errno
import select
import socket
import ssl
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias, cast

from gunicorn.http.body import ChunkedReader, LengthReader
from gunicorn.http.message import Request
from gunicorn.http.parser import RequestParser
from gunicorn.http.unreader import SocketUnreader, Unreader
from gunicorn.workers.gthread import TConn

from ..turns import away
from .client_socket import ClientSocket
from .framing import AWAITED_BYTES, Arrival

if TYPE_CHECKING:
    from gunicorn.config import Config

    from .waiting import Waiting

Address: TypeAlias = str | int | tuple[str, int]

BYTES_PER_S = 65_536
"""Each so many bytes of a request give its client one more second: 4 MiB may take a minute more than a small body."""

_LARGEST_READ = 1_048_576

_SMALL_HEAD = 16_384

_MOST_TRAILERS = 8_192
"""Nobody asks for trailers here. gunicorn takes 800 KB of them, and looks at all of it for each byte that drips in."""

_HUNG_UP = getattr(select, "POLLRDHUP", 0)
"""Linux tells that a peer has closed although what it sent before is not read yet; elsewhere only a reset shows."""


class Reader(SocketUnreader):
    """Reads one request after another, each within one deadline however slowly its bytes drip."""

    _end = 0.0

    def begin(self, seconds: float, received: bytes) -> None:
        """Start the time of one request, of which *received* has come already."""
        self._end = time.monotonic() + seconds
        if received:
            self.unread(received)

    def chunk(self, size_hint: int | None = None) -> bytes:
        """
        Read what is there; wait for it if need be.

        Raises:

            TimeoutError: The request did not arrive in time. It has the number of a reset connection, which gunicorn
                closes without a traceback in the log when it reads a head.
        """
        bound = self.sock.gettimeout()
        left = self._end - time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            self.sock.settimeout(left if bound is None else min(left, bound))
            with away:
                data = self.sock.recv(max(self.mxchunk, min(size_hint or 0, _LARGEST_READ)))
        except TimeoutError:
            raise TimeoutError(errno.ECONNRESET, "the request did not arrive in time") from None
        finally:
            self.sock.settimeout(bound)
        self._end += len(data) / BYTES_PER_S
        return data


class WholeRequest(Request):
    """
    A request after which the connection ends unless its body was read to the end.

    gunicorn would keep it open, or say so and then reset it, depending on how much is left; the client of a 413 or 408
    is told ``Connection: close`` instead.
    """

    queued_s = 0.0

    def read_into(self, unreader: Unreader, buf: bytearray, stop: bool | None = False) -> None:
        """
        Read more of the head: of a large one as much again as there is, unless it ends before or becomes too large.

        gunicorn looks at all of it whenever something has come: where a head of 700 KB dripped, each byte took 0.4 ms.
        """
        looked = len(buf)
        enough = min(2 * looked, self.max_buffer_headers + 1) if looked >= _SMALL_HEAD else 0
        super().read_into(unreader, buf, stop)
        while len(buf) < enough and buf.find(b"\r\n\r\n", looked - 3) < 0:
            looked = len(buf)
            super().read_into(unreader, buf)

    def set_body_reader(self) -> None:
        """Choose how the body is read, once the head is."""
        super().set_body_reader()
        reader = self.body.reader if self.body else None
        if isinstance(reader, ChunkedReader):
            reader.limit_trailer_section = _MOST_TRAILERS  # type: ignore[attr-defined]  # its stubs are of an older gunicorn

    def _peer_is_trusted_proxy(self) -> bool:
        """
        Return whether headers of this peer may change the scheme and the path: nobody's may unless somebody is named.

        gunicorn trusts whoever comes through a Unix socket, and parses every other address to compare it with none.
        """
        return bool(self.cfg.forwarded_allow_ips) and super()._peer_is_trusted_proxy()  # type: ignore[misc]  # as above

    def should_close(self) -> bool:
        """Return whether the connection ends after the answer; asked when its head is written."""
        return not self.is_read() or super().should_close()

    def is_read(self) -> bool:
        """Return whether nothing of the body is still to come."""
        reader = self.body.reader if self.body else None
        return not (
            (isinstance(reader, LengthReader) and reader.length > 0)
            or (isinstance(reader, ChunkedReader) and reader.parser is not None)
        )


class Parser(RequestParser):
    """Parses the requests of one connection."""

    mesg_class = WholeRequest

    def __init__(self, cfg: Config, reader: Reader, client: Address) -> None:
        super().__init__(cfg, reader.sock, client)
        self.unreader = reader

    def finish_body(  # type: ignore[override]  # its stubs are of an older gunicorn
        self, deadline: float | None = None, max_bytes: int | None = None
    ) -> bool:
        """
        Return whether the next request can be read, now that nothing is left of the body of the last one.

        gunicorn would read that body again, and set the socket's time limit three times for each request.
        """
        return self.mesg is None or cast("WholeRequest", self.mesg).is_read()


class Connection(TConn):
    """
    A connection that collects a request while no thread waits for it.

    Args:

        read_s: How long a request may take to arrive, in seconds.

        write_s: How long its answer may take to be taken, in seconds.

        linger: Ends the connection later, once the client has had a chance to read the answer; returns false when there
            is no use in that.
    """

    def __init__(
        self,
        cfg: Config,
        sock: socket.socket,
        client: Address,
        server: Address,
        read_s: float,
        write_s: float,
        linger: Callable[[Connection], bool],
    ) -> None:
        super().__init__(cfg, ClientSocket.of(sock, write_s), client, server)
        self.waiting: Waiting | None = None  # None: a thread has it
        self.watched = False
        self.timeout: float = 0.0
        self.data_ready = True  # the poller has seen the first byte: no thread waits for it
        self.queued_at = self.answered_at = 0.0
        self.queued_s = 0.0
        self.late = False
        self.discarded = 0
        self._arrival = Arrival()
        self._read_s = read_s
        self._write_s = write_s
        self._linger = linger

    def collect(self) -> bool:
        """Take what has arrived, without waiting; return whether it is worth a thread."""
        if self.cfg.is_ssl:
            return True  # what arrives encrypted says nothing before its thread has the keys
        try:
            data = self.receive(AWAITED_BYTES)
        except BlockingIOError:
            return False
        except OSError:
            return True  # the thread sees that the connection is broken
        return self._arrival.add(data) or not data

    def receive(self, most: int) -> bytes:
        """
        Take what has arrived, without waiting.

        Raises:

            OSError: Nothing has (``BlockingIOError``, ``ssl.SSLWantReadError``), or the connection is broken.
        """
        if isinstance(self.sock, ClientSocket):
            return self.sock.receive(most)
        received: bytes = self.sock.recv(most)
        return received

    def init(self) -> None:
        """Make ready to read a request; a thread calls it before each one."""
        first = not self.initialized
        if first and self.cfg.is_ssl:
            self._shake_hands()
        else:
            super().init()
        if first:
            self._reader = Reader(self.sock)
            self.parser = Parser(self.cfg, self._reader, self.client)
        if self.cfg.is_ssl:
            self.sock.settimeout(self._write_s)
        self._reader.begin(0 if self.late else self._read_s, self._arrival.take())
        self.late = False

    def _shake_hands(self) -> None:
        """
        Get the keys of TLS, for which the client has as long as for a request.

        Raises:

            TimeoutError: It did not answer in time; with the number of a reset connection, as above.
        """
        self.sock.settimeout(self._read_s)
        try:
            with away:
                super().init()
        except TimeoutError:
            raise TimeoutError(errno.ECONNRESET, "the client did not finish the TLS handshake in time") from None

    def has_more(self) -> bool:
        """Return whether more than the answered request has been read from the client."""
        return bool(self._reader.buf.getvalue()) or self._decrypted() > 0

    def go_on(self) -> bool:
        """Count what was read behind the answered request as just arrived; return whether it is worth a thread."""
        read = self._reader.take_buffered()
        if length := self._decrypted():
            read += self.sock.recv(length)
        return self._arrival.add(read)

    def _decrypted(self) -> int:
        """Return how many bytes have been decrypted with others and not been read: no poller sees these."""
        return self.sock.pending() if isinstance(self.sock, ssl.SSLSocket) else 0

    def has_hung_up(self) -> bool:
        """Return whether the client has closed its side, even when the request before that is not read yet."""
        poll = select.poll()
        poll.register(self.sock, _HUNG_UP)
        return bool(poll.poll(0))

    def close(self, graceful: bool = False) -> None:
        """Close; *graceful*: not before the client could read the answer."""
        if not (graceful and self._linger(self)):
            super().close()
