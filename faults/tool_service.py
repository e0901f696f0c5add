"""
Tool Services that do what a fault asks for: real sockets, in the loop that the callers run in as well.

A behaviour is a function that is given a call as it has come in and answers it, or does something else::

    async def silent(talk: Talk) -> None:
        await talk.gone()
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import struct
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from .wire import tool_answer

_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_NUMBER: Final = re.compile(rb'"n": ?(\d+)')

BACKLOG: Final = 1024


@dataclass
class Ledger:
    """Which call was seen how often by any Tool Service: none more than once, whatever happens."""

    seen: Counter[int] = field(default_factory=Counter)

    def repeated(self) -> list[int]:
        """Return the numbers of the calls that came more than once."""
        return [number for number, times in self.seen.items() if times > 1]


def http(body: str | bytes, *fields: str, status: str = "200 OK", length: int | None = None) -> bytes:
    """Return an HTTP answer; *length* is what it says of the body's length, by default the truth."""
    data = body.encode() if isinstance(body, str) else body
    named = fields or ("Content-Type: application/json",)
    said = len(data) if length is None else length
    return "\r\n".join([f"HTTP/1.1 {status}", *named, f"Content-Length: {said}", "", ""]).encode() + data


class Talk(asyncio.Protocol):
    """One connection to a Tool Service, and the request on it that is being answered."""

    def __init__(self, service: ToolService) -> None:
        self.service = service
        self.number = 0
        self._transport: asyncio.Transport | None = None
        self._got = b""
        self._gone = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def transport(self) -> asyncio.Transport:
        """The connection itself."""
        if self._transport is None:
            raise ConnectionError("there is no connection yet")
        return self._transport

    # --- what asyncio calls ------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        if isinstance(transport, asyncio.Transport):
            self._transport = transport
            self.service.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """End whatever still answers."""
        self.service.connections.discard(self)
        self._gone.set()
        self._writable.set()
        for task in self._tasks:
            task.cancel()

    def pause_writing(self) -> None:
        """Note that the other side does not read as fast as we write."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Note that it does again."""
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        """Take what has come, and answer the request when it is whole."""
        self._got += data
        head, end, body = self._got.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if not end or len(body) < (int(length[1]) if length else 0):
            return
        self._got = b""
        doing = self._answer(head, body)
        if doing is not None:
            task = asyncio.ensure_future(doing)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _answer(self, head: bytes, body: bytes) -> Doing:
        method, path = head.split(b" ", 2)[:2]
        if method == b"GET":
            self.service.manifests += 1
            return self.service.manifest(self)
        named = _NUMBER.search(body)
        self.number = int(named[1]) if named else 0
        if self.number:
            self.service.ledger.seen[self.number] += 1
        behaviour = self.service.tools.get(path.decode("latin-1").removeprefix("/tools/"))
        return (behaviour or missing)(self)

    # --- what behaviours use -----------------------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        """Send it, all at once as far as the other side reads."""
        if not self.transport.is_closing():
            self.transport.write(data)

    async def sent(self) -> None:
        """Wait until most of it has left."""
        await self._writable.wait()

    async def drip(self, data: bytes, every_s: float) -> None:
        """Send it byte by byte."""
        for byte in data:
            self.send(bytes([byte]))
            await asyncio.sleep(every_s)

    async def gone(self) -> None:
        """Wait until the caller has closed the connection."""
        await self._gone.wait()

    def end(self) -> None:
        """Close, once what was sent has left."""
        self.transport.close()

    def send_last(self, data: bytes) -> None:
        """Send what is sent from here on and the end of the connection together, in one packet."""
        here: socket.socket | None = self.transport.get_extra_info("socket")
        if here is not None:
            here.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
            self.send(data)
            here.shutdown(socket.SHUT_WR)
        self.transport.close()

    def reset(self) -> None:
        """Cut the connection with a reset."""
        here: socket.socket | None = self.transport.get_extra_info("socket")
        if here is not None:
            here.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()


Doing: TypeAlias = Coroutine[Any, Any, None] | None
Behaviour: TypeAlias = Callable[[Talk], Doing]


def missing(talk: Talk) -> None:
    """Say that there is no such tool."""
    talk.send(http("{}", status="404 Not Found"))


def answers(talk: Talk) -> None:
    """Do the work: answer with what only this call can get."""
    talk.send(http(tool_answer(talk.number)))


def after(seconds: float) -> Behaviour:
    """Do the work, which takes its time."""

    async def answers_late(talk: Talk) -> None:
        await asyncio.sleep(seconds)
        answers(talk)

    return answers_late


def publishes(talk: Talk) -> None:
    """Answer with the manifest as it is now."""
    talk.send(http(json.dumps(talk.service.document())))


class ToolService:
    """
    A Tool Service on a port that stays the same while it goes down and comes back.

    Args:

        name: What the configuration calls it.

        ledger: Where the calls that it sees are counted.

        tools: What each tool does, by its name.

        budgets: What a tool's manifest entry says in ``timeoutMs``, by its name.

    ``manifest`` is the behaviour that answers ``GET``.
    """

    def __init__(
        self,
        name: str,
        ledger: Ledger,
        tools: Mapping[str, Behaviour],
        budgets: Mapping[str, int] | None = None,
    ) -> None:
        self.name = name
        self.ledger = ledger
        self.tools = dict(tools)
        self.budgets = dict(budgets or {})
        self.manifest: Behaviour = publishes
        self.manifests = 0
        self.connections: set[Talk] = set()
        self.port = 0
        self._server: asyncio.Server | None = None

    @property
    def base_url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    def document(self) -> dict[str, Any]:
        """Return its manifest as it is now."""
        return {"manifestVersion": "1", "tools": [self._entry(name) for name in self.tools]}

    def _entry(self, name: str) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "name": name,
            "description": f"The tool {name}. 시험용 도구.",
            "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
            "endpoint": f"/tools/{name}",
        }
        return {**entry, "timeoutMs": self.budgets[name]} if name in self.budgets else entry

    async def start(self) -> None:
        """Come up."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Talk(self), "127.0.0.1", self.port, backlog=BACKLOG)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Go down: nobody listens, and open connections are cut."""
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        for talk in list(self.connections):
            talk.reset()
        await asyncio.sleep(0)  # connections that are cut say so in the next turn of the loop

    async def __aenter__(self) -> ToolService:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()
