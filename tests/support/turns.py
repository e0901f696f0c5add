"""Whether the thread of a test has said that it waits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mcp_gateway import turns


class Watch:
    """Hears of the waits of the thread that entered ``watch``; *waits* is how many there were."""

    def __init__(self) -> None:
        self.is_away = False
        self.waits = 0

    def leave(self) -> None:
        assert not self.is_away
        self.is_away = True
        self.waits += 1

    def resume(self) -> None:
        assert self.is_away
        self.is_away = False


@contextmanager
def watch() -> Iterator[Watch]:
    """Hear of the waits of the calling thread; all of them have ended in the end."""
    watch = Watch()
    turns.belong_to(watch)
    try:
        yield watch
    finally:
        turns.belong_to(None)
    assert not watch.is_away
