"""Clients that are slow, silent, idle, or many, beside a normal load."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections import Counter

from ..gateway import Gateway
from ..load import Line, NoAnswer, all_of, numbers
from ..stage import HEALTHY, Stage, fault, listed
from ..tool_service import Talk, after, answers, http
from ..wire import RIGHT, Call, label

READ_S = 3
WRITE_S = 5
IMPATIENT = {"MCP_GATEWAY_READ_TIMEOUT_S": str(READ_S), "MCP_GATEWAY_WRITE_TIMEOUT_S": str(WRITE_S)}
"""Shorter than the defaults, so that the bounds are met again and again."""

BESIDE_S = 10.0
"""How long a normal call may take beside all this; generous, since the callers share the machine."""


def connected(gateway: Gateway) -> socket.socket:
    """Return a connection of which nothing is asked yet; small buffers make it slow on purpose."""
    here = socket.socket()
    here.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    here.connect(("127.0.0.1", gateway.port))
    here.setblocking(False)
    return here


async def _slow_client(gateway: Gateway, part: bytes, end: float, ends: Counter[str], bound_s: float) -> None:
    """Send a part of a request and no more, again and again; each time the gateway must make an end of it."""
    loop = asyncio.get_running_loop()
    while time.monotonic() < end:
        with connected(gateway) as here:
            await loop.sock_sendall(here, part)
            try:
                async with asyncio.timeout(bound_s):
                    said = await loop.sock_recv(here, 4096)
            except ConnectionResetError:
                said = b""
            except TimeoutError:
                ends["nothing"] += 1
                continue
            ends[said[9:12].decode() or "closed"] += 1


async def _never_reads(gateway: Gateway, end: float, ends: Counter[str]) -> None:
    """Ask for a large answer and leave it where it is, until the gateway gives up."""
    loop = asyncio.get_running_loop()
    while time.monotonic() < end:
        with connected(gateway) as here:
            await loop.sock_sendall(here, Call(next(numbers), "large", gateway.path).request())
            await asyncio.sleep(WRITE_S + 1)
            ends["not read"] += 1


@fault(
    "slow-clients",
    "200 clients send half a head, half a body, or never read their answer of 2 MB",
    "right for 8 callers beside them; the slow ones are closed or get 408 in time",
    seconds=20,
)
async def slow_clients(stage: Stage) -> None:
    """Keep 200 of them there all the time."""
    each, ends = (20 if stage.quick else 67), Counter[str]()

    def large(talk: Talk) -> None:
        talk.send(http('"' + "x" * 2_000_000 + '"'))

    async with stage.healthy() as well, stage.service("large", large=large) as wide:
        async with stage.gateway(well, wide, environment=IMPATIENT, service_fields={"max_in_flight": 64}) as gateway:
            request = Call(0, HEALTHY, gateway.path).request()
            half_head, half_body = request[:80], request[:-20]
            beside = stage.load(gateway, HEALTHY, beside=True)
            end = time.monotonic() + stage.seconds
            slow = [
                _slow_client(gateway, part, end, ends, READ_S + 7)
                for part in (half_head, half_body)
                for _ in range(each)
            ]
            async with beside:
                await all_of(*slow, *(_never_reads(gateway, end, ends) for _ in range(each)))
            stage.within(beside.tally, BESIDE_S)
            stage.must(not ends["nothing"], f"{ends['nothing']} slow clients were left waiting for ever")
            stage.must(ends["408"] > 0 and ends["closed"] > 0, f"how they ended: {listed(ends)}")
            stage.notes.append(f"how the slow clients ended: {listed(ends)}")


@fault(
    "silent-connections",
    "1,000 connections that never send a byte",
    "right for 8 callers beside them, on kept connections and on new ones",
    seconds=15,
)
async def silent_connections(stage: Stage) -> None:
    """Open them, and call."""
    async with stage.healthy() as well, stage.gateway(well) as gateway:
        with contextlib.ExitStack() as kept:
            for _ in range(100 if stage.quick else 1_000):
                kept.enter_context(connected(gateway))
            old, new = stage.load(gateway), stage.load(gateway, fresh=True)
            await all_of(old.run(seconds=stage.seconds), new.run(seconds=stage.seconds))
            stage.within(old.tally, BESIDE_S)
            stage.within(new.tally, BESIDE_S)


@fault(
    "idle-connections",
    "1,000 callers keep their connections and say nothing for a while",
    "right for 8 callers beside them, and for each of the 1,000 when it calls again",
    seconds=15,
)
async def idle_connections(stage: Stage) -> None:
    """Have each of them call, rest, and call once more on the same connection."""
    async with stage.healthy() as well, stage.gateway(well) as gateway:
        lines = [await Line.open(gateway.port) for _ in range(100 if stage.quick else 1_000)]

        async def each_calls() -> None:
            for line in lines:
                call = Call(next(numbers), HEALTHY, gateway.path)
                try:
                    name = label(call, await line.ask(call.request()))
                except NoAnswer as fault:
                    name = str(fault)
                stage.must(name == RIGHT, f"a caller on a kept connection got {name}")

        await each_calls()
        beside = stage.load(gateway, beside=True)
        await beside.run(seconds=stage.seconds)
        await each_calls()
        stage.within(beside.tally, BESIDE_S)
        for line in lines:
            line.close()


@fault(
    "2000-callers",
    "2,000 callers at once on 2 workers, a tool that takes 50 ms",
    "right; nobody is turned away",
    seconds=20,
)
async def two_thousand(stage: Stage) -> None:
    """Have all of them call at once, and again."""
    callers = 300 if stage.quick else 2_000
    async with stage.service("well", healthy=answers, slow=after(0.05)) as well:
        async with stage.gateway(well, service_fields={"max_in_flight": 1_000}) as gateway:
            load = stage.load(gateway, "slow", callers=callers)
            await load.run(seconds=stage.seconds)
            tally = load.tally
            stage.notes.append(f"half within {tally.quantile(0.5):.2f} s, 99 % within {tally.quantile(0.99):.2f} s")
