"""
Callers: as many as are asked for, in one loop, each of which looks at every answer before it asks again.

A call is *lost* when it was sent whole and there is no whole answer: the connection was cut, or nothing came for
``PATIENCE_S``. It is *wrong* when there is an answer of another label than those that the fault allows, or when a Tool
Service saw it other than that label says.
"""

from __future__ import annotations

import asyncio
import itertools
import re
import socket
import time
from array import array
from collections import Counter
from collections.abc import Collection, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final

from .tool_service import Ledger
from .wire import LOST, NO_CONNECTION, RIGHT, Answer, Call, label

PATIENCE_S: Final = 60.0
"""How long a caller waits for an answer: longer than any budget here, so whoever meets it has been forgotten."""

FAULTS_SHOWN: Final = 3

_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_SERVER_ERROR: Final = re.compile(r"5\d\d ")

numbers: Final = itertools.count(1)
"""The number of the next call; no two of one run are alike."""


class NoAnswer(Exception):
    """Raised when a request that was sent has no whole answer."""


@dataclass
class Tally:
    """
    What came of a load.

    Args:

        expected: The labels that are right here.

        beside: It is the load of a healthy tool beside a fault, not the fault's own.
    """

    expected: Collection[str]
    beside: bool = False
    labels: Counter[str] = field(default_factory=Counter)
    times: array[float] = field(default_factory=lambda: array("d"))
    mishandled: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def calls(self) -> int:
        """How many calls there were."""
        return self.labels.total()

    @property
    def lost(self) -> int:
        """How many have no whole answer."""
        return self.labels[LOST]

    @property
    def wrong(self) -> int:
        """How many have an answer that they must not have."""
        unexpected = (count for name, count in self.labels.items() if name not in (*self.expected, LOST))
        return sum(unexpected) + self.mishandled

    @property
    def server_errors(self) -> int:
        """How many have an answer 500 to 599."""
        return sum(count for name, count in self.labels.items() if _SERVER_ERROR.match(name))

    def note(self, name: str, call: Call, seconds: float, seen: int) -> None:
        """Count one call that a Tool Service saw *seen* times."""
        kind = name.partition(":")[0]
        self.labels[kind] += 1
        if kind != NO_CONNECTION:
            self.times.append(seconds)
        mishandled = seen not in times_seen(kind)
        self.mishandled += mishandled
        if len(self.faults) < FAULTS_SHOWN and (kind not in self.expected or mishandled):
            also = f", and was seen {seen} times by the Tool Service" if mishandled else ""
            self.faults.append(f"call {call.number} of {call.tool} after {seconds:.3f} s: {name}{also}")

    def quantile(self, part: float) -> float:
        """Return the time in seconds that this part of the calls did not exceed; 0 when there were none."""
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(len(ordered) * part))] if ordered else 0.0

    @property
    def slowest(self) -> float:
        """How long the slowest call took, in seconds."""
        return max(self.times, default=0.0)


def times_seen(name: str) -> Collection[int]:
    """Return how often a Tool Service may have seen a call whose answer has this label."""
    if name == RIGHT or name.endswith("/answered"):
        return (1,)
    if name == LOST or name.endswith("/unknown") or _SERVER_ERROR.match(name):
        return (0, 1)
    return (0,)


class Line(asyncio.Protocol):
    """One connection of a caller: a request, its answer, and so on."""

    def __init__(self) -> None:
        self.closed = False
        self._transport: asyncio.Transport | None = None
        self._got = bytearray()
        self._whole = 0
        self._waiting: asyncio.Future[Answer] | None = None

    @classmethod
    async def open(cls, port: int) -> Line:
        """
        Connect.

        Raises:

            OSError: Nobody listens.
        """
        loop = asyncio.get_running_loop()
        _, line = await loop.create_connection(cls, "127.0.0.1", port, family=socket.AF_INET)
        return line

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        if isinstance(transport, asyncio.Transport):
            self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Take what has come; an answer is there when its Content-Length is."""
        self._got += data
        if not self._whole:
            head = self._got.find(b"\r\n\r\n")
            if head < 0:
                return
            length = _LENGTH.search(self._got, 0, head + 2)
            self._whole = head + 4 + (int(length[1]) if length else 0)
        if len(self._got) >= self._whole:
            self._answer(bytes(self._got))

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell whoever waits."""
        self.closed = True
        if self._waiting is not None and not self._waiting.done():
            had = f"after {len(self._got)} bytes of its answer" if self._got else "without an answer"
            self._waiting.set_exception(NoAnswer(f"the connection ended {had} ({exc!r})"))

    async def ask(self, request: bytes, patience_s: float = PATIENCE_S) -> Answer:
        """
        Send a request and return the answer.

        Raises:

            NoAnswer: There is none, or no whole one.
        """
        self._got.clear()
        self._whole = 0
        self._waiting = asyncio.get_running_loop().create_future()
        if self._transport is not None:
            self._transport.write(request)
        try:
            async with asyncio.timeout(patience_s):
                return await self._waiting
        except TimeoutError:
            self.close()
            raise NoAnswer(f"nothing came within {patience_s:g} s") from None
        finally:
            self._waiting = None

    def close(self) -> None:
        """Hang up."""
        self.closed = True
        if self._transport is not None:
            self._transport.close()

    def _answer(self, got: bytes) -> None:
        if self._waiting is None or self._waiting.done():
            return self.close()  # nothing was asked: whoever asks next must not take this for an answer
        if len(got) > self._whole:
            return self._waiting.set_exception(NoAnswer("there is more than one answer"))
        head, _, body = got.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if headers.get("connection") == "close":
            self.close()
        return self._waiting.set_result(Answer(int(first.split(" ")[1]), headers, body))


async def get(port: int, path: str, patience_s: float = 10.0) -> Answer:
    """
    GET a path on a connection of its own.

    Raises:

        OSError: Nobody listens.
        NoAnswer: There is no whole answer.
    """
    line = await Line.open(port)
    try:
        return await line.ask(f"GET {path} HTTP/1.1\r\nHost: gateway.example\r\n\r\n".encode(), patience_s)
    finally:
        line.close()


class Load:
    """
    Calls of one tool.

    Args:

        port: Where the gateway, or a proxy in front of it, listens.

        tool: Which tool is called.

        tally: Where each call is counted.

        ledger: What the Tool Services saw.

        path: The route's.

        callers: How many callers at once, each on a kept connection.

        rate: How many calls a second all of them make at most; ``None``: as many as they can.

        fresh: Whether each call has a connection of its own.

    As an asynchronous context manager it goes on while the block lasts.
    """

    def __init__(
        self,
        port: int,
        tool: str,
        tally: Tally,
        ledger: Ledger,
        *,
        path: str,
        callers: int = 8,
        rate: float | None = None,
        fresh: bool = False,
    ) -> None:
        self.tally = tally
        self._port = port
        self._tool = tool
        self._ledger = ledger
        self._path = path
        self._callers = callers
        self._pause_s = callers / rate if rate else 0.0
        self._fresh = fresh
        self._stopped = False
        self._left: int | None = None
        self._running: asyncio.Task[Tally] | None = None

    async def run(self, *, seconds: float = float("inf"), count: int | None = None) -> Tally:
        """Call for so long, or so often, and return the tally once every call has its answer."""
        self._left = count
        end = time.monotonic() + seconds
        async with asyncio.TaskGroup() as group:
            for place in range(self._callers):
                group.create_task(self._call_again_and_again(end, place * self._pause_s / self._callers))
        return self.tally

    async def arrive(self, *, rate: float, seconds: float) -> Tally:
        """Have a new caller come *rate* times a second, whether those before have their answers or not."""
        begin = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for place in range(int(rate * seconds)):
                await asyncio.sleep(max(0.0, begin + place / rate - time.monotonic()))
                group.create_task(self._call_once())
        return self.tally

    def stop(self) -> None:
        """Make no more calls; those under way end."""
        self._stopped = True

    async def __aenter__(self) -> Load:
        self._running = asyncio.ensure_future(self.run())
        return self

    async def __aexit__(self, *_: object) -> None:
        self.stop()
        if self._running is not None:
            await self._running

    def _may_go_on(self, end: float) -> bool:
        if self._stopped or time.monotonic() >= end:
            return False
        if self._left is None:
            return True
        self._left -= 1
        return self._left >= 0

    async def _call_again_and_again(self, end: float, begin_s: float) -> None:
        await asyncio.sleep(begin_s)
        line: Line | None = None
        while self._may_go_on(end):
            began = time.monotonic()
            if line is None or line.closed:
                line = await self._connected()
            if line is not None:
                await self._call(line)
            elif NO_CONNECTION in self.tally.expected:
                return
            if self._fresh and line is not None:
                line.close()
            # One that has no connection must not come back at once, again and again.
            pause_s = self._pause_s if line is not None else max(self._pause_s, 0.1)
            if pause_s:
                await asyncio.sleep(max(0.0, began + pause_s - time.monotonic()))
        if line is not None:
            line.close()

    async def _call_once(self) -> None:
        line = await self._connected()
        if line is not None:
            await self._call(line)
            line.close()

    async def _connected(self) -> Line | None:
        try:
            return await Line.open(self._port)
        except OSError as fault:
            self.tally.note(f"{NO_CONNECTION}: {fault}", Call(next(numbers), self._tool), 0.0, 0)
            return None

    async def _call(self, line: Line) -> None:
        call = Call(next(numbers), self._tool, self._path)
        began = time.monotonic()
        try:
            name = label(call, await line.ask(call.request()))
        except NoAnswer as fault:
            line.close()
            name = f"{LOST}: {fault}"
        self.tally.note(name, call, time.monotonic() - began, self._ledger.seen[call.number])


async def all_of(*loads: Coroutine[Any, Any, object]) -> None:
    """Run several at once, to their ends."""
    async with asyncio.TaskGroup() as group:
        for load in loads:
            group.create_task(load)
