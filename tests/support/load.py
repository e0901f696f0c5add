"""Calls from several threads at once, each of them held to its own answer."""

from __future__ import annotations

import http.client
import select
import threading
from collections.abc import Callable, Mapping
from http.client import HTTPException
from urllib.parse import urlsplit

from .rpc import Answer
from .waiting import PAUSE, wait_until


class Load:
    """
    Make calls again and again from several threads while the ``with`` block lasts.

    ``failures`` holds what was wrong with each call that did not succeed; ``done`` counts all of them. A failure of the
    test's own making (an assertion in *make*) is kept as one too.

    Args:

        make: Makes one call, given a number no other call has; returns the answer.

        fault: Says what is wrong with an answer, or nothing.

        threads: How many callers.
    """

    def __init__(self, make: Callable[[int], Answer], fault: Callable[[int, Answer], str], threads: int = 4) -> None:
        self.failures: list[str] = []
        self.done = 0
        self._make = make
        self._fault = fault
        self._next = 0
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._work, name=f"caller-{number}") for number in range(threads)]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in self._threads), "a caller does not end"

    def wait_for_more(self, count: int) -> None:
        """Wait until *count* more calls have been answered."""
        goal = self.done + count
        wait_until(lambda: self.done >= goal, f"{count} more answers", 60)

    def _work(self) -> None:
        while not self._stop.is_set():
            with self._lock:
                number = self._next = self._next + 1
            try:
                fault = self._fault(number, self._make(number))
            except (OSError, HTTPException, ValueError, AssertionError) as broken:
                fault = f"call {number}: {broken!r}"
            with self._lock:
                self.done += 1
                if fault:
                    self.failures.append(fault)


class NobodyListens(Exception):
    """Raised when a connection is refused: nothing was sent, and a client may go elsewhere."""


class Kept:
    """
    Sends requests as an HTTP client with a pool does: each thread over a connection of its own, which it keeps as long
    as the server does.

    Args:

        url: Where to.
    """

    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)
        self._mine = threading.local()
        self._all: list[http.client.HTTPConnection] = []

    def __enter__(self) -> Kept:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._all:
            connection.close()

    def post(self, body: bytes, headers: Mapping[str, str]) -> Answer:
        """
        POST *body*.

        Raises:

            NobodyListens: There is no connection to be had.
        """
        connection = self._connection()
        connection.request("POST", self._parts.path, body, dict(headers))
        response = connection.getresponse()  # closes the connection where the server says that it will
        return Answer(response.status, dict(response.getheaders()), response.read())

    def _connection(self) -> http.client.HTTPConnection:
        """Return this thread's connection, made anew when the server has closed it."""
        try:
            connection: http.client.HTTPConnection = self._mine.connection
        except AttributeError:
            connection = http.client.HTTPConnection(self._parts.hostname or "", self._parts.port, timeout=20)
            self._all.append(connection)
            self._mine.connection = connection
        if connection.sock is not None and select.select([connection.sock], [], [], 0)[0]:
            connection.close()
        if connection.sock is None:
            try:
                connection.connect()
            except ConnectionRefusedError:
                threading.Event().wait(PAUSE)  # a client that asks again and again would take all the time there is
                raise NobodyListens from None
        return connection
