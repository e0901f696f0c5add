"""The threads that answer requests."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

Job = TypeVar("Job")


class Threads(Generic[Job]):
    """
    Does jobs in threads, which are started as they are needed and then stay.

    The standard library's pool makes a future with a condition of its own for each job; nobody waits for one here.

    Args:

        most: How many threads there may be; further jobs wait for one.

        work: Does one job.
    """

    def __init__(self, most: int, work: Callable[[Job], None]) -> None:
        self._most = most
        self._work = work
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._free: deque[None] = (
            deque()
        )  # as many as there are threads without a job; appending and popping are atomic
        self._started = 0

    def submit(self, job: Job) -> None:
        """Hand a job to a free thread, a new one, or the first that will be free. One thread alone may call it."""
        self._jobs.put(job)
        try:
            self._free.pop()
        except IndexError:
            if self._started < self._most:
                self._started += 1
                threading.Thread(target=self._run, name=f"request-{self._started}").start()

    def shutdown(self, wait: bool = False) -> None:
        """Let each thread end after its job; gunicorn calls it when a worker stops."""
        for _ in range(self._started):
            self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._work(job)
            del job  # or its connection would be held until the next one comes
            self._free.append(None)
