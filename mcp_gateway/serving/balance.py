"""
How many connections in use each worker of one master has, for the one that may leave a new one to the others.

A worker that takes a connection is back at the listener at once, so of sixteen that come together one worker may take
them all, and one processor does the work of two. The same would happen beside a worker with hundreds that rest, if
those counted: a worker that has just started would be given everything until it has as many.
"""

from __future__ import annotations

import mmap

SLOTS = 128
"""Workers that have a place of their own; one more shares the place of the first."""

_FREE = -1


class Balance:
    """
    The numbers, in memory that workers forked from here share; each writes its own alone, so there is no lock.

    What a killed worker leaves behind makes others hesitate for a moment, no more, until its place is taken again.
    """

    def __init__(self) -> None:
        self._counts = memoryview(mmap.mmap(-1, SLOTS * 4)).cast("i")
        for slot in range(SLOTS):
            self._counts[slot] = _FREE

    def note(self, worker: int, connections: int) -> None:
        """Say that the worker of that number now has so many connections in use."""
        self._counts[worker % SLOTS] = connections

    def leave(self, worker: int) -> None:
        """Say that the worker of that number is no more."""
        self._counts[worker % SLOTS] = _FREE

    def is_ahead(self, worker: int) -> bool:
        """Return whether another worker has fewer in use than the one of that number."""
        own = self._counts[worker % SLOTS]
        return any(_FREE < count < own for count in self._counts)
