"""The connections that wait for the same thing, the one with the nearest deadline first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .connection import Connection


class Waiting:
    """
    An ordered set of connections, with those methods of a deque that gunicorn uses of its own.

    Taking one out of a deque looks through all before it, for each request among a thousand kept connections.
    """

    def __init__(self) -> None:
        self._connections: dict[Connection, None] = {}

    def append(self, conn: Connection) -> None:
        """Put *conn*, whose deadline is later than that of the others, at the end."""
        self._connections[conn] = None

    def remove(self, conn: Connection) -> None:
        """Take *conn* out."""
        del self._connections[conn]

    def popleft(self) -> Connection:
        """Take the first one out and return it."""
        first = self[0]
        self.remove(first)
        return first

    def __getitem__(self, index: int) -> Connection:
        """Return the first one, the only one that is asked for."""
        return next(iter(self._connections))

    def __iter__(self) -> Iterator[Connection]:
        return iter(self._connections)

    def __len__(self) -> int:
        return len(self._connections)
