"""A thread that waits says so to whoever counts it."""

import threading
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from road import Road, as_json, result, tool
from support.turns import Watch, watch
from support.waiting import wait_until

from mcp_gateway import jsontext, turns
from mcp_gateway.turns import LENGTHY_BYTES, RECOVERY_S, Lengthy, at_length, away


def test_a_wait_begins_and_ends() -> None:
    with watch() as watching:
        with away:
            assert watching.is_away
        assert not watching.is_away


def test_a_wait_that_fails_ends_too() -> None:
    with watch() as watching:
        with pytest.raises(TimeoutError), away:
            raise TimeoutError
        assert watching.waits == 1


def test_one_thread_does_not_wait_in_the_name_of_another() -> None:
    def wait() -> None:
        with away:
            pass

    with watch() as watching:
        other = threading.Thread(target=wait)
        other.start()
        other.join(10)
        assert watching.waits == 0


# --- what takes long -------------------------------------------------------------------------------------------------


class Clock:
    """Stands in for the clock; whoever sleeps is seen to have said so."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []
        self.watch: Watch | None = None

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert self.watch is None or self.watch.is_away
        self.slept.append(round(seconds, 3))
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(turns, "time", clock)
    return clock


@pytest.mark.parametrize(("size", "alone"), [(LENGTHY_BYTES - 1, False), (LENGTHY_BYTES, True)])
def test_only_what_takes_long_takes_turns(size: int, alone: bool) -> None:
    assert isinstance(at_length(size), Lengthy) is alone
    with at_length(size):
        pass


def test_there_is_one_at_a_time_and_the_next_one_waits_without_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    lengthy, seen = Lengthy(), SimpleNamespace(watch=None, inside=False)
    monkeypatch.setattr(turns, "RECOVERY_S", 0)

    def other() -> None:
        with watch() as seen.watch, lengthy:
            seen.inside = True

    with lengthy:
        thread = threading.Thread(target=other)
        thread.start()
        wait_until(lambda: seen.watch is not None and seen.watch.is_away, "the other one's wait")
        assert not seen.inside
    thread.join(10)
    assert seen.inside


def test_within_each_other_they_are_one(clock: Clock) -> None:
    lengthy = Lengthy()
    with lengthy:
        clock.now += 1
        with lengthy:
            clock.now += 1
        with lengthy:
            clock.now += 1
    assert clock.slept == []


@pytest.mark.parametrize(("took", "recovery"), [(0.01, 0.01), (5.0, RECOVERY_S)], ids=["short", "long"])
def test_between_two_of_them_the_others_have_as_long_and_not_too_long(
    clock: Clock, took: float, recovery: float
) -> None:
    lengthy = Lengthy()
    with watch() as clock.watch:
        with lengthy:
            clock.now += took
        with lengthy:
            clock.now += 1
        clock.now += RECOVERY_S
        with lengthy:
            pass
    assert clock.slept == [recovery]


class Noted(Lengthy):
    """Counts how often something that takes long has begun; what is within it is no other."""

    times = 0

    def __enter__(self) -> None:
        super().__enter__()
        self.times += self._depth == 1


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Noted:
    noted = Noted()
    monkeypatch.setattr(turns, "_lengthy", noted)
    return noted


LONG = "x" * LENGTHY_BYTES


@pytest.mark.parametrize("read", [jsontext.parse, jsontext.glance])
def test_a_long_text_is_read_in_turn(noted: Noted, read: Callable[[bytes], object]) -> None:
    assert read(f'"{LONG}"'.encode()) == LONG
    assert noted.times == 1


def test_long_arguments_are_read_in_turn_and_checked_in_turn(noted: Noted) -> None:
    result(Road().legacy("tools/call", {"name": "core.search", "arguments": {"query": LONG}}))
    assert noted.times == 2


def test_a_long_answer_is_read_and_checked_in_one_turn(noted: Noted) -> None:
    road = Road(tool(outputSchema={"type": "object"}))
    road.service.gives = as_json(f'{{"a":"{LONG}"}}')
    result(road.legacy("tools/call", {"name": "core.search", "arguments": {"query": "x"}}))
    assert noted.times == 1
