"""The snapshots of this worker: the one place where the loader writes and requests read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from threading import Lock

from .snapshot import Snapshot


class Snapshots:
    """
    The current snapshot of each route.

    Readers take no lock: the mapping is never changed, only replaced by another one.
    """

    def __init__(self) -> None:
        self._by_route: Mapping[str, Snapshot] = {}
        self._writing = Lock()

    def current(self, route: str) -> Snapshot | None:
        """Return the snapshot of the route with that key; ``None``: it has none yet."""
        return self._by_route.get(route)

    def publish(self, snapshot: Snapshot) -> None:
        """Put *snapshot* in the place of its route's former one."""
        with self._writing:
            self._by_route = {**self._by_route, snapshot.route: snapshot}

    def retire(self, routes: Collection[str]) -> None:
        """Forget the snapshots of the routes with these keys."""
        with self._writing:
            self._by_route = {key: kept for key, kept in self._by_route.items() if key not in routes}


snapshots = Snapshots()
"""What this worker serves; filled on boot by ``loader.Loader``."""
