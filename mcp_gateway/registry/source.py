"""What a source of routes is: something that can be asked for them, and that can fail."""

from __future__ import annotations

from typing import Protocol

from ..config.model import Route
from ..deadline import Deadline


class SourceFault(Exception):
    """
    Raised when a source cannot say what the routes are; the message is a clause that says why.

    Args:

        last_good: What an earlier worker was last told; ``None``: nothing.
    """

    def __init__(self, why: str, last_good: tuple[Route, ...] | None = None) -> None:
        super().__init__(why)
        self.last_good = last_good


class Source(Protocol):
    """Where routes come from; asked by one thread at a time."""

    def routes(self, deadline: Deadline, /) -> tuple[Route, ...]:
        """
        Return all routes as of now.

        Raises:

            SourceFault: It cannot say before the *deadline*.
        """
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...
