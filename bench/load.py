"""
Callers that wait for their answer before they ask again, each on one kept connection, all in one process.

``python -m bench.load`` reads a ``Job`` as JSON from its standard input and prints a ``Tally`` as JSON. Every answer is
looked at: its status, its id, the marker of its scenario.
"""

from __future__ import annotations

import json
import re
import selectors
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import count
from typing import Final

from .scenarios import NUMBER

PATIENCE_S: Final = 10.0
"""How long to wait for answers that are still missing at the end."""

FIRST: Final = 10_000_000
"""All numbers have as many digits, so that all requests are of one length."""

_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_ID: Final = re.compile(rb'"id": ?(\d+)')


@dataclass(frozen=True)
class Job:
    """What to send where, by how many callers at once, for how long."""

    port: int
    path: str
    headers: dict[str, str]
    body: str
    marker: str
    connections: int
    seconds: float


@dataclass
class Tally:
    """What came of it; ``fault`` says what was wrong with the first wrong answer."""

    right: int = 0
    wrong: int = 0
    seconds: float = 0.0
    fault: str = ""

    def note(self, fault: str) -> None:
        """Count one answer; *fault* empty: it was right."""
        if fault:
            self.wrong += 1
            self.fault = self.fault or fault
        else:
            self.right += 1


class Caller:
    """One caller and its connection."""

    def __init__(self, job: Job, message: list[bytes], numbers: Iterator[int]) -> None:
        self.sock = socket.create_connection(("127.0.0.1", job.port), timeout=PATIENCE_S)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._message = message
        self._marker = job.marker.encode()
        self._numbers = numbers
        self._number = 0
        self._got = bytearray()
        self._whole = 0

    def ask(self) -> None:
        """Send the next request."""
        self._number = next(self._numbers)
        self._got.clear()
        self._whole = 0
        self.sock.sendall(str(self._number).encode().join(self._message))

    def collect(self) -> str | None:
        """
        Read what has come; ``None``: more is to come, else what is wrong with the answer, empty when it is right.

        Raises:

            ConnectionError: There is no answer, or none whose end can be told.
        """
        data = self.sock.recv(1_048_576)
        if not data:
            raise ConnectionError("the connection was closed without an answer")
        self._got += data
        if not self._whole:
            head = self._got.find(b"\r\n\r\n")
            if head < 0:
                return None
            length = _LENGTH.search(self._got, 0, head)
            if length is None:
                raise ConnectionError("an answer has no Content-Length")
            self._whole = head + 4 + int(length[1])
        return self._judge() if len(self._got) >= self._whole else None

    def _judge(self) -> str:
        if len(self._got) > self._whole:
            return "there is more than one answer"
        if not self._got.startswith(b"HTTP/1.1 200 "):
            return f"no 200: {bytes(self._got[:300])!r}"
        found = _ID.search(self._got)
        if found is None or int(found[1]) != self._number:
            return f"another id than {self._number}: {bytes(self._got[:300])!r}"
        return "" if self._marker in self._got else f"no marker: {bytes(self._got[:300])!r}"


def run(job: Job) -> Tally:
    """Keep asking until the time is over, then wait for what is still to come."""
    fields = "".join(f"{name}: {value}\r\n" for name, value in job.headers.items())
    length = len(job.body.replace(NUMBER, str(FIRST)).encode())
    head = f"POST {job.path} HTTP/1.1\r\nHost: localhost\r\n{fields}Content-Length: {length}\r\n\r\n"
    message = (head + job.body).encode().split(NUMBER.encode())
    numbers = count(FIRST)
    tally = Tally()
    with selectors.DefaultSelector() as selector:
        for _ in range(job.connections):
            caller = Caller(job, message, numbers)
            selector.register(caller.sock, selectors.EVENT_READ, caller)
        begin = time.monotonic()
        for key in list(selector.get_map().values()):
            key.data.ask()
        _talk(selector, begin + job.seconds, tally)
        tally.seconds = time.monotonic() - begin
    return tally


def _talk(selector: selectors.BaseSelector, end: float, tally: Tally) -> None:
    while selector.get_map():
        ready = selector.select(max(0.0, end + PATIENCE_S - time.monotonic()))
        if not ready:
            tally.wrong += len(selector.get_map())
            tally.fault = tally.fault or "no answer"
            return
        for key, _ in ready:
            caller: Caller = key.data
            try:
                fault = caller.collect()
                if fault is None:
                    continue
                tally.note(fault)
                if time.monotonic() < end:
                    caller.ask()
                    continue
            except OSError as broken:
                tally.note(str(broken))
            selector.unregister(caller.sock)
            caller.sock.close()


if __name__ == "__main__":
    print(json.dumps(asdict(run(Job(**json.load(sys.stdin))))))
