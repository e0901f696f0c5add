"""The threads that answer requests: started as needed, never more than allowed, gone when their worker stops."""

import threading
from queue import SimpleQueue

from support.waiting import wait_until

from mcp_gateway.serving.threads import Threads


class Work:
    """Jobs that last until they are told to end."""

    def __init__(self) -> None:
        self.begun: SimpleQueue[str] = SimpleQueue()
        self.ended = threading.Semaphore(0)
        self.names: list[str] = []

    def __call__(self, job: str) -> None:
        self.names.append(threading.current_thread().name)
        self.begun.put(job)
        assert self.ended.acquire(timeout=10)


def stop(threads: Threads[str]) -> None:
    started = [thread for thread in threading.enumerate() if thread.name.startswith("request-")]
    threads.shutdown()
    for thread in started:
        thread.join(10)
        assert not thread.is_alive()


def test_jobs_that_come_together_are_done_side_by_side() -> None:
    work = Work()
    threads = Threads(2, work)
    threads.submit("one")
    threads.submit("two")
    assert {work.begun.get(timeout=10), work.begun.get(timeout=10)} == {"one", "two"}
    work.ended.release(2)
    stop(threads)


def test_a_job_waits_when_every_thread_has_one() -> None:
    work = Work()
    threads = Threads(1, work)
    threads.submit("one")
    threads.submit("two")
    assert work.begun.get(timeout=10) == "one"
    assert work.begun.empty()
    work.ended.release()
    assert work.begun.get(timeout=10) == "two"
    work.ended.release()
    stop(threads)
    assert set(work.names) == {"request-1"}


def test_a_free_thread_is_taken_before_one_is_started() -> None:
    work = Work()
    threads = Threads(8, work)
    threads.submit("one")
    work.ended.release()
    work.begun.get(timeout=10)
    wait_until(lambda: threads._free, "free thread")  # a job is done a moment before its thread is free
    threads.submit("two")
    work.ended.release()
    assert work.begun.get(timeout=10) == "two"
    stop(threads)
    assert set(work.names) == {"request-1"}


def test_a_job_under_way_is_done_before_its_thread_ends() -> None:
    work = Work()
    threads = Threads(1, work)
    threads.submit("one")
    work.begun.get(timeout=10)
    threads.shutdown()
    assert any(thread.name == "request-1" for thread in threading.enumerate())
    work.ended.release()
    stop(threads)
