"""Who comes by at connections that rest, and when nobody has to."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest
from support.waiting import wait_until

from mcp_gateway.transport.sweeper import Sweeper


class Resting:
    """Has so many connections at rest, of which each visit takes one."""

    watched = False

    def __init__(self, count: int) -> None:
        self.left = count

    def drop_stale(self) -> bool:
        self.left -= 1
        return self.left > 0


def sweepers() -> int:
    return sum(thread.name == "sweeper" for thread in threading.enumerate())


def test_pools_are_visited_until_nothing_rests_in_them_and_then_the_thread_ends() -> None:
    before = sweepers()
    sweeper, few, many = Sweeper(0.01), Resting(1), Resting(5)
    sweeper.watch(few)
    sweeper.watch(many)

    wait_until(lambda: not few.watched and not many.watched, "end of the watch")
    assert (few.left, many.left) == (0, 0)
    wait_until(lambda: sweepers() <= before, "end of the thread")


def test_a_pool_in_which_something_rests_again_is_visited_again() -> None:
    sweeper, pool = Sweeper(0.01), Resting(1)
    sweeper.watch(pool)
    wait_until(lambda: not pool.watched, "end of the watch")

    pool.left = 2
    sweeper.watch(pool)

    wait_until(lambda: not pool.watched, "end of the second watch")
    assert pool.left == 0


def test_a_pool_that_was_dropped_is_not_kept() -> None:
    sweeper, pool = Sweeper(0.01), Resting(10**9)
    kept = weakref.ref(pool)
    sweeper.watch(pool)

    del pool
    wait_until(lambda: gc.collect() is not None and kept() is None, "end of the pool")


def test_where_no_thread_can_be_started_nothing_fails_and_whoever_asks_next_is_visited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    sweeper, pool = Sweeper(0.01), Resting(1)
    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", fail)
        sweeper.watch(pool)
    assert not pool.watched

    sweeper.watch(pool)

    wait_until(lambda: not pool.watched, "end of the watch")
    assert pool.left == 0
