"""The threads that answer requests, and how many of them compute at a time."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

from .. import turns

Job = TypeVar("Job")

AT_ONCE = 2
"""
Jobs that may compute at a time: one has the interpreter, and one is ready when that one makes a system call.

With no limit, one of a hundred calls of 256 callers took 1.1 s instead of 0.25, on up to half as much CPU again.
"""

PATIENCE_S = 0.05
"""When none of them has moved for so long, they compute at length or wait where nobody said so: one more may begin …"""

LOOSE_S = 1.0
"""… and if that was not needed again for so long, it is over."""


class Threads(Generic[Job]):
    """
    Does jobs in threads, which are started as they are needed and then stay.

    A job that waits says so (``turns.away``) and does not count meanwhile: so many jobs wait side by side, few compute,
    and those that wait for their turn wait in a queue instead of asking for the interpreter.

    Args:

        most: How many threads there may be; further jobs wait for one.

        work: Does one job.
    """

    def __init__(self, most: int, work: Callable[[Job], None]) -> None:
        self._most = most
        self._work = work
        self._lock = threading.Lock()
        self._queue: deque[Job] = deque()
        self._idle: list[SimpleQueue[Job | None]] = []  # the last one to finish is the first to be taken: it is warm
        self._started = 0
        self._computing = 0
        self._at_once = AT_ONCE
        self._moved_at = self._loosened_at = 0.0
        self._closed = False
        # A thread that starts another waits for it to have the interpreter. Whoever submits jobs cannot.
        self._to_start: SimpleQueue[Job | None] = SimpleQueue()
        threading.Thread(target=self._start, name="starter", daemon=True).start()

    def submit(self, job: Job) -> None:
        """Have a job done, by a thread without one or a new one, as soon as one may begin."""
        with self._lock:
            if not self._queue:
                self._moved_at = time.monotonic()
            self._queue.append(job)
            self._begin()

    def leave(self) -> None:
        """Let the next job begin, since the job of the calling thread is about to wait."""
        with self._lock:
            self._computing -= 1
            self._moved_at = time.monotonic()
            self._begin()

    def resume(self) -> None:
        """Count the calling thread again: it goes on at once, before any job that has not begun."""
        with self._lock:
            self._computing += 1

    def look(self) -> float:
        """Let one job more begin if nothing moves; return in how many seconds to look again."""
        if not self._queue:
            return math.inf
        with self._lock:
            now = time.monotonic()
            left = self._moved_at + PATIENCE_S - now
            if left > 0:
                return left
            self._moved_at = now
            if self._computing >= self._limit():
                self._at_once = self._computing + 1
                self._loosened_at = now
            self._begin()
        return PATIENCE_S

    def shutdown(self, wait: bool = False) -> None:
        """Let each thread end when nothing is left to do; gunicorn calls it when a worker stops."""
        with self._lock:
            self._closed = True
            for box in (*self._idle, self._to_start):
                box.put(None)
            self._idle.clear()

    def _begin(self) -> None:
        if not self._queue or self._computing >= self._limit():
            return
        if self._idle:
            box = self._idle.pop()
        elif self._started < self._most and not self._closed:
            box = self._to_start
            self._started += 1
        else:
            return
        self._computing += 1
        box.put(self._queue.popleft())

    def _next(self, box: SimpleQueue[Job | None]) -> Job | None:
        """Return the next job for the thread of that *box*, at once when one may begin; ``None``: no more will come."""
        with self._lock:
            if self._queue and self._computing <= self._limit():
                self._moved_at = time.monotonic()
                return self._queue.popleft()
            self._computing -= 1
            self._moved_at = time.monotonic()
            if self._closed:
                return None
            self._idle.append(box)
        return box.get()

    def _limit(self) -> int:
        """Return how many may compute now."""
        if self._at_once > AT_ONCE and time.monotonic() - self._loosened_at > LOOSE_S:
            self._at_once = AT_ONCE
        return self._at_once

    def _start(self) -> None:
        number = 0
        while (job := self._to_start.get()) is not None:
            number += 1
            box: SimpleQueue[Job | None] = SimpleQueue()
            box.put(job)
            try:
                threading.Thread(target=self._run, args=(box,), name=f"request-{number}", daemon=False).start()
            except RuntimeError:  # the system has no room for one more: the job waits for another thread, or for room
                with self._lock:
                    self._started -= 1
                    self._computing -= 1
                    self._queue.appendleft(job)
            del job  # or its connection would be held until the next one comes

    def _run(self, box: SimpleQueue[Job | None]) -> None:
        turns.belong_to(self)
        try:
            job = box.get()
            while job is not None:
                self._work(job)
                del job  # as above
                job = self._next(box)
        except BaseException:
            with self._lock:
                self._started -= 1
                self._computing -= 1
                self._begin()
            raise
