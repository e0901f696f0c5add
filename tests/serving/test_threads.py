"""The threads that answer requests: started as needed, never more than allowed, few that compute at a time."""

import os
import random
import threading
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any

import pytest
from support.waiting import wait_until

from mcp_gateway.serving import threads as module
from mcp_gateway.serving.threads import AT_ONCE, LOOSE_S, PATIENCE_S, Threads
from mcp_gateway.turns import away


class Clock:
    """A clock that stands still until it is moved."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


class Work:
    """Jobs that last until they are told to end; a name in capitals waits for somebody else meanwhile."""

    def __init__(self) -> None:
        self.begun: SimpleQueue[str] = SimpleQueue()
        self.ends: dict[str, threading.Event] = {}
        self.names: list[str] = []

    def __call__(self, job: str) -> None:
        self.names.append(threading.current_thread().name)
        end = self.ends.setdefault(job, threading.Event())
        self.begun.put(job)
        if job == "raises":
            raise RuntimeError(job)
        if job.isupper():
            with away:
                assert end.wait(10)
        else:
            assert end.wait(10)

    def end(self, *jobs: str) -> None:
        for job in jobs:
            self.ends.setdefault(job, threading.Event()).set()

    def began(self, how_many: int) -> set[str]:
        """Return the next so many jobs that begin."""
        return {self.begun.get(timeout=10) for _ in range(how_many)}


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


@pytest.fixture
def threads(work: Work) -> Iterator[Threads[str]]:
    threads = Threads(8, work)
    yield threads
    stop(threads)


def stop(threads: Threads[Any]) -> None:
    started = [thread for thread in threading.enumerate() if thread.name.startswith("request-")]
    threads.shutdown()
    for thread in started:
        thread.join(10)
        assert not thread.is_alive()


def waiting(threads: Threads[str]) -> list[str]:
    """Return the jobs that may not begin yet; it is settled in the moment in which a job comes, waits or ends."""
    return list(threads._queue)


def submit(threads: Threads[str], *jobs: str) -> None:
    for job in jobs:
        threads.submit(job)


def test_a_few_jobs_compute_side_by_side_and_the_others_begin_when_one_of_them_is_done(
    work: Work, threads: Threads[str]
) -> None:
    first = {f"job {number}" for number in range(AT_ONCE)}
    submit(threads, *sorted(first), "later")
    assert waiting(threads) == ["later"]
    assert work.began(AT_ONCE) == first
    work.end("job 0")
    assert work.began(1) == {"later"}
    work.end(*first, "later")


def test_jobs_that_wait_for_somebody_else_leave_their_turn_to_others(work: Work, threads: Threads[str]) -> None:
    waiting = {"A", "B", "C", "D", "E"}
    submit(threads, *waiting)
    assert work.began(5) == waiting
    work.end(*waiting)


def test_a_job_that_has_waited_goes_on_before_those_that_have_not_begun(work: Work, threads: Threads[str]) -> None:
    computing = {f"job {number}" for number in range(AT_ONCE)}
    submit(threads, "WAITS")
    assert work.began(1) == {"WAITS"}
    submit(threads, *sorted(computing), "later")
    assert waiting(threads) == ["later"]
    assert work.began(AT_ONCE) == computing
    work.end("WAITS")  # counts again, is done, and leaves no turn over: as many as may compute still do
    wait_until(lambda: threads._idle, "thread without a job")
    assert waiting(threads) == ["later"]
    work.end("job 0")
    assert work.began(1) == {"later"}
    work.end(*computing, "later")


def test_a_job_waits_when_every_thread_has_one(work: Work) -> None:
    threads = Threads(1, work)
    submit(threads, "ONE", "TWO")
    assert work.began(1) == {"ONE"}
    work.end("ONE")
    assert work.began(1) == {"TWO"}
    work.end("TWO")
    stop(threads)
    assert set(work.names) == {"request-1"}


def test_a_free_thread_is_taken_before_one_is_started(work: Work, threads: Threads[str]) -> None:
    for job in ("one", "two"):
        work.end(job)
        submit(threads, job)
        work.began(1)
        wait_until(lambda: threads._idle, "thread without a job")  # a job is done a moment before its thread is free
    assert set(work.names) == {"request-1"}


def test_a_job_under_way_is_done_before_its_thread_ends(work: Work) -> None:
    threads = Threads(1, work)
    submit(threads, "one")
    work.began(1)
    threads.shutdown()
    assert any(thread.name == "request-1" for thread in threading.enumerate())
    work.end("one")
    stop(threads)


def test_jobs_that_wait_for_a_thread_are_done_before_the_threads_end(work: Work) -> None:
    threads = Threads(1, work)
    submit(threads, "ONE", "TWO")
    work.began(1)
    threads.shutdown()
    work.end("ONE", "TWO")
    assert work.began(1) == {"TWO"}
    stop(threads)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_job_that_raises_costs_its_thread_and_no_turn(work: Work, threads: Threads[str]) -> None:
    submit(threads, *["raises"] * (AT_ONCE + 1), "one")
    work.began(AT_ONCE + 2)
    work.end("one")


def test_a_job_for_which_no_thread_can_be_started_waits_until_one_can(
    work: Work, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, refused = threading.Thread.start, threading.Event()

    def full(thread: threading.Thread) -> None:
        if thread.name.startswith("request-") and not refused.is_set():
            refused.set()
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", full)
    threads = Threads(1, work)
    submit(threads, "one")
    assert refused.wait(10)
    wait_until(lambda: threads._queue, "job that waits again")
    clock.now += PATIENCE_S
    threads.look()
    assert work.began(1) == {"one"}
    work.end("one")
    stop(threads)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("most", [1, 2, 3, 16])
def test_whatever_jobs_do_each_is_done_once_and_all_turns_are_free_in_the_end(most: int) -> None:
    chance = random.Random(most)
    jobs = [(number, chance.choice(("computes", "waits", "waits often", "raises"))) for number in range(2_000)]
    done: SimpleQueue[int] = SimpleQueue()

    def work(job: tuple[int, str]) -> None:
        number, what = job
        for _ in range({"computes": 0, "waits": 1, "waits often": 5, "raises": 1}[what]):
            with away:
                os.sched_yield()
        done.put(number)
        if what == "raises":
            raise RuntimeError(what)

    threads = Threads(most, work)
    for job in jobs:
        threads.submit(job)
        threads.look()
    assert sorted(done.get(timeout=20) for _ in jobs) == list(range(len(jobs)))
    wait_until(lambda: threads._computing == 0, "free turns")
    assert (len(threads._queue), threads._started - len(threads._idle)) == (0, 0)
    assert done.empty()
    stop(threads)


class TestWhenNothingMoves:
    """Jobs that compute at length, or wait where nobody said so, do not hold up the others for long."""

    def test_there_is_nothing_to_look_for_while_no_job_waits(self, threads: Threads[str]) -> None:
        assert threads.look() == float("inf")

    def test_one_more_may_begin(self, work: Work, threads: Threads[str], clock: Clock) -> None:
        stuck = [f"stuck {number}" for number in range(AT_ONCE)]
        submit(threads, *stuck, "one", "two")
        work.began(AT_ONCE)
        assert threads.look() == pytest.approx(PATIENCE_S)
        clock.now += PATIENCE_S
        assert threads.look() == PATIENCE_S
        assert work.began(1) == {"one"}
        work.end("one")
        assert work.began(1) == {"two"}  # in the turn that was added
        work.end("two", *stuck)

    def test_a_move_shows_that_there_is_no_need(self, work: Work, threads: Threads[str], clock: Clock) -> None:
        jobs = [f"job {number}" for number in range(AT_ONCE)]
        submit(threads, *jobs, "one", "two")
        work.began(AT_ONCE)
        clock.now += PATIENCE_S
        work.end("job 0")
        assert work.began(1) == {"one"}
        assert threads.look() == pytest.approx(PATIENCE_S)
        assert waiting(threads) == ["two"]
        work.end("one", "two", *jobs)

    def test_the_turn_that_was_added_is_taken_away_again(self, work: Work, threads: Threads[str], clock: Clock) -> None:
        slow = [f"slow {number}" for number in range(AT_ONCE)]
        submit(threads, *slow, "one")
        work.began(AT_ONCE)
        clock.now += PATIENCE_S
        threads.look()
        work.began(1)
        clock.now += LOOSE_S + 1
        work.end("one", *slow)
        wait_until(lambda: len(threads._idle) == AT_ONCE + 1, "end of all jobs")
        jobs = [f"job {number}" for number in range(AT_ONCE)]
        submit(threads, *jobs, "later")
        assert waiting(threads) == ["later"]
        work.end("later", *jobs)

    def test_however_many_were_added_all_are_over_together(
        self, work: Work, threads: Threads[str], clock: Clock
    ) -> None:
        slow = [f"slow {number}" for number in range(AT_ONCE + 3)]
        submit(threads, *slow)
        work.began(AT_ONCE)
        for _ in range(3):
            clock.now += PATIENCE_S
            threads.look()
            work.began(1)
        clock.now += LOOSE_S + 0.001
        submit(threads, "later")
        work.end(slow[0])
        wait_until(lambda: len(threads._idle) == 1, "end of a job")
        assert waiting(threads) == ["later"]
        work.end("later", *slow[1:])

    def test_no_turn_is_added_where_a_thread_is_lacking(self, work: Work, clock: Clock) -> None:
        threads = Threads(1, work)
        submit(threads, "ONE", "TWO")
        work.began(1)
        clock.now += PATIENCE_S
        threads.look()
        assert threads._at_once == AT_ONCE
        work.end("ONE", "TWO")
        stop(threads)
