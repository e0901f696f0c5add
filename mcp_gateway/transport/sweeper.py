"""
Ends the rest of connections that nobody takes again: one thread for all pools of a process, none while all is quiet.

Without it the connections of a service that is not called any more would stay for as long as that lasts: half-closed,
when the service has long hung up, and an open file each.
"""

from __future__ import annotations

import threading
import time
import weakref
from typing import Protocol


class Swept(Protocol):
    """A pool, as it is seen from here."""

    watched: bool
    """Whether the sweeper will come by."""

    def drop_stale(self) -> bool:
        """Close what has rested too long; return whether something still rests."""
        ...


class Sweeper:
    """
    Comes by at every pool that has connections at rest. Threads may share it.

    Args:

        every_s: How often, in seconds.
    """

    def __init__(self, every_s: float) -> None:
        self._every_s = every_s
        self._lock = threading.Lock()
        self._pools: weakref.WeakSet[Swept] = weakref.WeakSet()
        self._runs = False

    def watch(self, pool: Swept) -> None:
        """Come by at *pool* until nothing rests in it; where the system has no room for a thread, ask again later."""
        with self._lock:
            if not self._runs:
                try:
                    threading.Thread(target=self._sweep, name="sweeper", daemon=True).start()
                except RuntimeError:
                    return
                self._runs = True
            self._pools.add(pool)
            pool.watched = True

    def _sweep(self) -> None:
        while True:
            time.sleep(self._every_s)
            with self._lock:
                self._visit_all()
                if not self._pools:
                    self._runs = False
                    return

    def _visit_all(self) -> None:
        for pool in list(self._pools):
            # Unwatched before the look: whoever puts a connection back behind it asks for the sweeper again.
            pool.watched = False
            pool.watched = pool.drop_stale()
            if not pool.watched:
                self._pools.discard(pool)


SWEEPER = Sweeper(every_s=1.0)
"""That of this process."""
