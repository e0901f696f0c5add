"""
Turns at the interpreter: a thread that waits for somebody else says so, and another request may begin.

One thread of a process computes at a time, whatever their number. Those that want to wake up two hundred times a second
to ask for the interpreter, and whoever gives it up for a system call stands behind all of them; so only a few requests
are begun at a time (``serving/threads.py``), and what follows the wait is never behind what has not begun. But for what
takes long: that waits for its own kind, so that the rest of the requests share the interpreter with one of them.
"""

from __future__ import annotations

import threading
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

LENGTHY_BYTES = 131_072
"""From so many bytes on, a text takes long to read: some milliseconds, and one of 4 MiB up to a second."""

RECOVERY_S = 0.05
"""How long others have the interpreter for themselves between two that take long, or as long as the first one took."""


class Turns(Protocol):
    """Whoever decides how many compute at a time."""

    def leave(self) -> None:
        """Take note that the calling thread is about to wait."""

    def resume(self) -> None:
        """Take note that it has waited."""


class _Mine(threading.local):
    turns: Turns | None = None


_mine = _Mine()


def belong_to(turns: Turns | None) -> None:
    """Have the calling thread tell *turns* of its waits from now on; ``None``: nobody."""
    _mine.turns = turns


class _Away:
    __slots__ = ()

    def __enter__(self) -> None:
        if (turns := _mine.turns) is not None:
            turns.leave()

    def __exit__(self, *_: object) -> None:
        if (turns := _mine.turns) is not None:
            turns.resume()


away = _Away()
"""Surrounds a wait for somebody else; does nothing in a thread that belongs to nobody. It does not nest."""


class Lengthy:
    """
    Surrounds what computes for long, of which there is one at a time; within each other they are one.

    Much of it never gives the interpreter up until it is done, and others need it a dozen times for one request.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._depth = 0
        self._began_at = self._next_at = 0.0

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            with away:
                self._lock.acquire()
        self._depth += 1
        if self._depth > 1:
            return
        early = self._next_at - time.monotonic()
        if early > 0:
            with away:
                time.sleep(early)
        self._began_at = time.monotonic()

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            now = time.monotonic()
            self._next_at = now + min(now - self._began_at, RECOVERY_S)
        self._lock.release()


_lengthy = Lengthy()
_short = nullcontext()


def at_length(size: int) -> AbstractContextManager[None]:
    """Return what surrounds the reading of a text of *size* bytes, or of the value that it stands for."""
    return _lengthy if size >= LENGTHY_BYTES else _short
