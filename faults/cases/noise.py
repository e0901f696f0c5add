"""Bytes that are no requests, requests that are almost right, and headers without end, beside a normal load."""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from ..load import all_of
from ..stage import HEALTHY, Stage, fault, listed
from ..tool_service import Ledger, ToolService, answers
from ..wire import Call

CALLERS: Final = 8
PATIENCE_S: Final = 0.5
"""How long the answer to noise is waited for: most of it asks for none."""

BESIDE_S: Final = 10.0
"""How long a normal call may take beside it: the noise is made on the same processors, 20,000 headers at a time."""

WARM_UP: Final = 0.5
"""The part of the time after which memory is looked at: until then every kind of request comes for the first time."""

GROWTH_MB: Final = 20.0

_STATUS: Final = re.compile(rb"HTTP/1\.1 (\d{3}) ")


def random_bytes(chance: random.Random) -> bytes:
    """Return bytes, with a line end here and there."""
    data = chance.randbytes(chance.choice([1, 16, 300, 5_000]))
    return data + b"\r\n\r\n" if chance.random() < 0.5 else data


def mutated(chance: random.Random, request: bytes) -> bytes:
    """Return a request in which a few places are wrong."""
    data = bytearray(request)
    for _ in range(chance.choice([1, 1, 1, 2, 5, 20])):
        at = chance.randrange(len(data)) if data else 0
        match chance.randrange(6):
            case 0:
                data[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                data[at:at] = chance.randbytes(chance.choice([1, 1, 10]))
            case 2:
                del data[at : at + chance.choice([1, 1, 40])]
            case 3:
                data[at:at] = data[at : at + chance.choice([1, 20, 200])]
            case 4:
                data[at:at] = chance.choice(
                    [b"\r\n", b"\n", b"\0", b"\xff", b"{", b"]", b'"', b"Content-Length: 7\r\n"]
                )
            case _:
                del data[at:]
    return bytes(data)


def flood(chance: random.Random, request: bytes) -> bytes:
    """Return a request with too many headers, or with one that is too long."""
    line, _, rest = request.partition(b"\r\n")
    match chance.randrange(4):
        case 0:
            more = b"".join(
                b"X-Flood-%d: %d\r\n" % (number, number) for number in range(chance.choice([99, 2_000, 20_000]))
            )
        case 1:
            more = b"X-Flood: " + b"x" * chance.choice([8_000, 100_000, 2_000_000]) + b"\r\n"
        case 2:
            more = b"X" * 200_000 + b": 1\r\n"
        case _:
            more = b"Content-Type: application/json\r\n" * 500
    return line + b"\r\n" + more + rest


async def say(port: int, data: bytes, said: Counter[str]) -> None:
    """Send it on a connection of its own and count the statuses that come back."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError as broken:
        said[f"no connection: {broken}"] += 1
        return
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(PATIENCE_S):
            writer.write(data)
            await writer.drain()
            while piece := await reader.read(65_536):
                for status in _STATUS.findall(piece):
                    said[status.decode()] += 1
    said["connections"] += 1
    writer.transport.abort()


async def noise(port: int, make: Callable[[], bytes], end: float, said: Counter[str]) -> None:
    """Send one after the other until the time is over."""
    while time.monotonic() < end:
        await say(port, make(), said)


def _requests(path: str, chance: random.Random) -> Iterator[bytes]:
    """Yield right requests of a tool that nobody counts."""
    while True:
        yield Call(chance.randrange(2**31), "unheard", path).request()


@fault(
    "noise",
    "random bytes, mutated requests and header floods, from 8 callers each",
    "right for 8 callers beside them (100 calls a second); no 5xx, no traceback",
    seconds=600,
)
async def noise_of_all_kinds(stage: Stage) -> None:
    """Send noise of all three kinds at once."""
    chance, said = random.Random(stage.seed), Counter[str]()  # noqa: S311  to be played again by its seed
    async with stage.healthy() as well, ToolService("unheard", Ledger(), {"unheard": answers}) as unheard:
        async with stage.gateway(well, unheard) as gateway:
            requests = _requests(gateway.path, chance)
            kinds: list[Callable[[], bytes]] = [
                lambda: random_bytes(chance),
                lambda: mutated(chance, next(requests)),
                lambda: flood(chance, next(requests)),
            ]
            end = time.monotonic() + stage.seconds
            beside = stage.load(gateway, HEALTHY, callers=8, rate=100)
            async with beside:
                noises = [noise(gateway.port, make, end, said) for make in kinds for _ in range(CALLERS)]
                loud = asyncio.ensure_future(all_of(*noises))
                await asyncio.sleep(stage.seconds * WARM_UP)
                before = gateway.figures().megabytes
                await loud
            growth = gateway.figures().megabytes - before
            stage.within(beside.tally, BESIDE_S)
            wrong = {name: count for name, count in said.items() if name.startswith(("5", "no connection"))}
            stage.must(not wrong, f"noise was answered with {listed(wrong)}")
            stage.must(stage.quick or growth < GROWTH_MB, f"the workers have grown by {growth:.1f} MB")
            stage.notes.append(f"answers to the noise by status: {listed(said)}")
            stage.notes.append(f"after the warm-up the workers grew by {growth:.1f} MB")
