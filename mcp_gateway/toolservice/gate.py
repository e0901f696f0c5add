"""How many calls of one Tool Service may be under way, so that a service that hangs cannot hold every thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType

from ..faults import Busy


class Gate:
    """
    Lets a limited number in, as a context manager, and turns the next away at once.

    Args:

        service: The Tool Service's name, for the refusal.

        limit: How many may be inside.

        told: Is told 1 when one goes in, -1 when one comes out.
    """

    def __init__(self, service: str, limit: int, told: Callable[[int], object] = lambda _: None) -> None:
        self._service = service
        self._limit = limit
        self._told = told
        self._inside = 0
        self._lock = threading.Lock()

    @property
    def in_flight(self) -> int:
        """How many are inside at this moment."""
        return self._inside

    def __enter__(self) -> None:
        with self._lock:
            if self._inside >= self._limit:
                raise Busy(self._service)
            self._inside += 1
        self._told(1)

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._inside -= 1
        self._told(-1)
