"""The connections that wait for the same thing, the one with the nearest deadline first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .connection import Connection


class Waiting:
    """
    An ordered set of connections, with those methods of a deque that gunicorn uses of its own.

    Taking one out of a deque looks through all before it, for each request among a thousand kept connections.
    """

    def __init__(self) -> None:
        # Ordered ones, since a dict looks through the places of all that have left before it comes to its first.
        self._recent: OrderedDict[Connection, None] = OrderedDict()
        self._resting: OrderedDict[Connection, None] = OrderedDict()  # all of them have waited for longer than those

    def append(self, conn: Connection) -> None:
        """Put *conn*, whose deadline is later than that of the others, at the end."""
        self._recent[conn] = None

    def remove(self, conn: Connection) -> None:
        """Take *conn* out."""
        del (self._recent if conn in self._recent else self._resting)[conn]

    def popleft(self) -> Connection:
        """Take the first one out and return it."""
        first = self[0]
        self.remove(first)
        return first

    def rest(self, deadline: float) -> int:
        """Let those rest whose own deadline is not after that one; return how many do by now."""
        while self._recent and next(iter(self._recent)).timeout <= deadline:
            self._resting.update([self._recent.popitem(last=False)])
        return len(self._resting)

    def __getitem__(self, index: int) -> Connection:
        """Return the first one, the only one that is asked for."""
        return next(iter(self))

    def __iter__(self) -> Iterator[Connection]:
        return chain(self._resting, self._recent)

    def __len__(self) -> int:
        return len(self._resting) + len(self._recent)
