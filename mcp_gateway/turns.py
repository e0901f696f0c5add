"""
Turns at the interpreter: a thread that waits for somebody else says so, and another request may begin.

One thread of a process computes at a time, whatever their number. Those that want to wake up two hundred times a second
to ask for the interpreter, and whoever gives it up for a system call stands behind all of them; so only a few requests
are begun at a time (``serving/threads.py``), and what follows the wait is never behind what has not begun.
"""

from __future__ import annotations

import threading
from typing import Protocol


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
