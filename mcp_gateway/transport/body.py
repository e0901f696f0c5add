"""The body of one answer, read off its connection as far as it goes and no further."""

from __future__ import annotations

from .connection import Connection
from .exchange import Exchange
from .pool import Pool
from .wire import BrokenOff, Chunks, Head


class Body:
    """
    What ``requests`` calls *raw*: the answer, of which the body is still to be read.

    Args:

        head: The answer's.

        connection: It comes on this one, which goes back to *pool* or is closed together with the body.

        exchange: Only when it is settled may the connection be used again.

        pool: Where the connection rests.

    ``length_remaining`` is what is still to come; ``None``: nobody has said.
    """

    def __init__(self, head: Head, connection: Connection, exchange: Exchange, pool: Pool) -> None:
        self.status = head.status
        self.reason = ""
        self.headers = head.headers
        self.length_remaining = head.length
        self._chunks = Chunks() if head.chunked else None
        self._keeps = head.keeps
        self._connection = connection
        self._exchange = exchange
        self._pool = pool
        self._closed = False

    def read(self, amt: int, decode_content: bool = False) -> bytes:
        """
        Return the next bytes, at least one; none when the body has ended as it should.

        Args:

            amt: How many there may be.

            decode_content: Is there because ``requests`` gives it; nothing is decoded here.

        Raises:

            OSError: The connection was lost, or (``TimeoutError``) nothing came in time.
            Unreadable: The body ends before its end.
        """
        if self._chunks is not None:
            return self._read_chunks(self._chunks, amt)
        if self.length_remaining is None:
            return self._connection.receive(amt, self._exchange.deadline)
        if self.length_remaining == 0:
            return b""
        piece = self._receive(min(amt, self.length_remaining))
        self.length_remaining -= len(piece)
        return piece

    def close(self) -> None:
        """Let go of the connection; it is used again only if it is beyond doubt."""
        if self._closed:
            return
        self._closed = True
        if not (self._exchange.settled and self._keeps and self._has_ended()):
            self._connection.close()
        elif self._connection.is_clean() and not self._is_followed():
            self._pool.put_back(self._connection)
        else:
            self._pool.give_up(self._connection)

    def _read_chunks(self, chunks: Chunks, amt: int) -> bytes:
        piece = b""
        while not (piece or chunks.ended):
            piece = chunks.feed(self._receive(amt))
        return piece

    def _receive(self, most: int) -> bytes:
        piece = self._connection.receive(most, self._exchange.deadline)
        if not piece:
            raise BrokenOff
        return piece

    def _has_ended(self) -> bool:
        return self.length_remaining == 0 if self._chunks is None else self._chunks.ended

    def _is_followed(self) -> bool:
        return self._chunks is not None and bool(self._chunks.behind)
