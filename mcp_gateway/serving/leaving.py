"""
The end of the server: the master has been told to stop, and every worker sees it at once.

gunicorn's master closes its sockets on SIGTERM and tells its workers one word, the same one that a worker hears when
another takes its place. Here it also says that nobody takes the place of this one, so that a worker can go on serving
until whoever sends requests has noticed.
"""

from __future__ import annotations

import mmap
import os
import signal
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gunicorn.arbiter import Arbiter


class Leaving:
    """Whether the server is on its way out, in memory that workers forked from here share."""

    def __init__(self) -> None:
        self._said = mmap.mmap(-1, 1)

    @property
    def said(self) -> bool:
        """Whether the master has been told to stop."""
        return self._said[0] != 0

    def say(self) -> None:
        """Let all workers see it."""
        self._said[0] = 1


class Farewell:
    """
    What SIGTERM means to the master: the first one a farewell, a second one that there is no time for it.

    SIGINT and SIGQUIT mean what they mean to gunicorn. But a worker that gunicorn has just forked still hears with the
    master's ears, and would forget them; the master would wait for it as long as for a call.

    Args:

        server: The master.

        leaving: Where it is said.
    """

    def __init__(self, server: Arbiter, leaving: Leaving) -> None:
        self._server: Any = server
        self._leaving = leaving
        self._told = False

    def heed(self) -> None:
        """Hear the signals that end a server before gunicorn does."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
            signal.signal(number, self._hear)
        # gunicorn hears nothing while it waits for workers that it has replaced, which may take as long as their calls;
        # but it calls this ten times a second.
        self._server.reap_workers = self._reap

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._server.pid:
            os._exit(0)  # forked a moment ago: a worker that has not taken its own signals yet, nor anything else
        if number != signal.SIGTERM:
            self._server.signal(number, frame)
            return
        # Another master may go on with these sockets, or the system keeps them for the next start: then nothing ends.
        if not (self._server.reexec_pid or self._server.master_pid or self._server.systemd):
            self._leaving.say()
        self._server.signal(signal.SIGQUIT if self._told else signal.SIGTERM, frame)
        self._told = True

    def _reap(self) -> None:
        type(self._server).reap_workers(self._server)
        if self._told and self._server.LISTENERS:  # not stopping yet
            raise StopIteration  # gunicorn's own word for it
