"""
A Tool Service that misbehaves, beside a healthy one on the same route.

Each function answers one call, or does not; its row says what the caller must get. The healthy tool's callers must
notice nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import socket
from collections.abc import Callable, Coroutine
from typing import Any

from ..load import all_of
from ..stage import HEALTHY, Stage, fault
from ..tool_service import Behaviour, Talk, ToolService, answers, http
from ..wire import RIGHT, tool_answer

BUDGET_MS = 1_000
"""The budget of a tool that uses it up."""

PATIENT_MS = 10_000
"""That of any other, which must not be met even on a busy machine."""

USED_UP = "budget/unknown"

LATE_S = 10.0
"""How much longer than its budget a call may take on a busy machine."""

CALLERS = 8

_MEGABYTE = b" " * 1_000_000
_ENDLESS_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
_BOMB = gzip.compress(_MEGABYTE * 50)


async def play(stage: Stage, tool: Behaviour, *expected: str) -> None:
    """Call a tool that behaves like that, and a healthy one beside it."""
    budget_ms = BUDGET_MS if USED_UP in expected else PATIENT_MS
    async with stage.service("odd", {"odd": budget_ms}, odd=tool) as odd, stage.healthy() as well:
        async with stage.gateway(odd, well) as gateway:
            load = stage.load(gateway, "odd", expected, callers=CALLERS)
            beside = stage.load(gateway, HEALTHY, beside=True, callers=CALLERS)
            await all_of(load.run(seconds=stage.seconds), beside.run(seconds=stage.seconds))
            stage.within(load.tally, budget_ms / 1000 + LATE_S)
            stage.within(beside.tally, LATE_S)


def misbehaves(
    name: str, what: str, *expected: str, words: str = "", seconds: float = 10
) -> Callable[[Behaviour], Behaviour]:
    """Put a fault of this kind into the table: a function that answers, and the labels that its callers may get."""

    def put(tool: Behaviour) -> Behaviour:
        async def played(stage: Stage) -> None:
            await play(stage, tool, *expected)

        fault(name, what, words or " or ".join(expected), seconds=seconds)(played)
        return tool

    return put


@misbehaves("silent", "takes the call and says nothing", USED_UP)
async def silent(talk: Talk) -> None:
    """Wait until the caller has gone."""
    await talk.gone()


@misbehaves("dripping-head", "sends the head of its answer a byte every 50 ms", USED_UP)
async def dripping_head(talk: Talk) -> None:
    """Never come to the end of the head within the budget."""
    await talk.drip(http(tool_answer(talk.number), "X-Filler: " + "x" * 200), 0.05)


@misbehaves("dripping-body", "sends its body a byte every 20 ms", USED_UP)
async def dripping_body(talk: Talk) -> None:
    """Never come to the end of the body within the budget."""
    head, _, body = http(tool_answer(talk.number) + " " * 200).partition(b"\r\n\r\n")
    talk.send(head + b"\r\n\r\n")
    await talk.drip(body, 0.02)


@misbehaves("resetting", "reads the call and resets the connection", "connection_lost/unknown")
def resetting(talk: Talk) -> None:
    """Cut."""
    talk.reset()


@misbehaves("closing", "reads the call and closes the connection", "connection_lost/unknown")
def closing(talk: Talk) -> None:
    """Hang up without a word."""
    talk.end()


@misbehaves("truncating", "breaks off in the middle of its body", "unreadable/answered")
def truncating(talk: Talk) -> None:
    """Send half of what was promised."""
    whole = http(tool_answer(talk.number))
    talk.send(whole[: -len(tool_answer(talk.number)) // 2])
    talk.end()


@misbehaves("length-too-short", "says its body is shorter than it is", "unreadable/answered")
def length_too_short(talk: Talk) -> None:
    """Send more than was promised; what was promised is half a JSON text."""
    body = tool_answer(talk.number).encode()
    talk.send(http(body, length=len(body) // 2))


@misbehaves("length-too-long", "says its body is longer than it is, and waits", USED_UP)
def length_too_long(talk: Talk) -> None:
    """Promise a byte that never comes."""
    body = tool_answer(talk.number).encode()
    talk.send(http(body, length=len(body) + 1))


@misbehaves("two-lengths", "says two different lengths of one body", "unreadable/answered")
def two_lengths(talk: Talk) -> None:
    """Leave in doubt where the answer ends."""
    talk.send(http(tool_answer(talk.number), "Content-Type: application/json", "Content-Length: 5"))


@misbehaves("wrong-chunks", "says the wrong size of a chunk", "unreadable/answered")
def wrong_chunks(talk: Talk) -> None:
    """Send a chunk that is longer than its size."""
    head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    talk.send(f"{head}5\r\n{tool_answer(talk.number)}\r\n0\r\n\r\n".encode())


@misbehaves("surplus-bytes", "sends another call's answer behind each answer", RIGHT)
def surplus_bytes(talk: Talk) -> None:
    """Answer, and add what nobody asked for; it must not reach the next caller."""
    talk.send(http(tool_answer(talk.number)) + http(tool_answer(talk.number + 1)))


@misbehaves("closing-unsaid", "closes each connection behind its answer, without saying so", RIGHT)
def closing_unsaid(talk: Talk) -> None:
    """Answer, and close in the same breath."""
    talk.send_last(http(tool_answer(talk.number)))


@misbehaves(
    "closing-idle",
    "closes connections that rest, now and then just when a call comes",
    RIGHT,
    "connection_lost/unknown",
    words="right; where the closing crosses a call, connection_lost/unknown",
)
async def closing_idle(talk: Talk) -> None:
    """Answer, and close a moment later."""
    answers(talk)
    await asyncio.sleep(0.002)
    talk.end()


@misbehaves("no-http", "answers with bytes that are no HTTP", "unreadable/unknown")
def no_http(talk: Talk) -> None:
    """Speak another protocol."""
    talk.send(b"-ERR unknown command\r\n" * 20)


@misbehaves("endless-head", "sends headers without end", "unreadable/answered")
async def endless_head(talk: Talk) -> None:
    """Send 8 MB of header."""
    talk.send(b"HTTP/1.1 200 OK\r\nX-Filler: ")
    await _pour(talk, 8)


@misbehaves("fifty-megabytes", "announces 50 MB and sends them (the limit is 32 MiB)", "too_large/answered")
async def fifty_megabytes(talk: Talk) -> None:
    """Send as much as is taken."""
    talk.send(http(b"", length=50_000_000))
    await _pour(talk, 50)


@misbehaves("fifty-megabytes-unannounced", "sends 50 MB without saying how many", "too_large/answered")
async def fifty_megabytes_unannounced(talk: Talk) -> None:
    """Send as much as is taken."""
    talk.send(_ENDLESS_HEAD)
    await _pour(talk, 50)


async def _pour(talk: Talk, megabytes: int) -> None:
    for _ in range(megabytes):
        talk.send(_MEGABYTE)
        await talk.sent()
    talk.end()


@misbehaves("gzip-bomb", "sends 50 kB that unpack to 50 MB", "too_large/answered")
def gzip_bomb(talk: Talk) -> None:
    """Send what is small only as long as it is packed."""
    talk.send(http(_BOMB, "Content-Type: application/json", "Content-Encoding: gzip"))


@misbehaves("redirecting", "answers every call with a redirect to itself", "redirect/answered")
def redirecting(talk: Talk) -> None:
    """Send the caller somewhere else, which would repeat the call."""
    talk.send(http("", "Location: /tools/odd", status="307 Temporary Redirect"))


@misbehaves("failing", "answers every call with 503", "status/answered")
def failing(talk: Talk) -> None:
    """Fail."""
    talk.send(http('{"secret":"of the inside"}', "Retry-After: 7", status="503 Service Unavailable"))


Accept = Callable[[ToolService, socket.socket], Coroutine[Any, Any, None]]


async def _listening(stage: Stage, accept: Accept, budget_ms: int, *expected: str) -> None:
    """Play a Tool Service that has published its tools and whose listener now behaves oddly."""
    async with stage.service("odd", {"odd": budget_ms}, odd=answers_once) as odd, stage.healthy() as well:
        # To connect may take 0.4 s here, so that this bound is seen as well as that of the whole call.
        async with stage.gateway(odd, well, service_fields={"connect_timeout_s": 0.4}) as gateway:
            await odd.stop()
            with socket.create_server(("127.0.0.1", odd.port), backlog=CALLERS) as listener:
                listener.setblocking(False)
                accepting = asyncio.ensure_future(accept(odd, listener))
                load = stage.load(gateway, "odd", expected, callers=CALLERS)
                beside = stage.load(gateway, HEALTHY, beside=True, callers=CALLERS)
                await all_of(load.run(seconds=stage.seconds), beside.run(seconds=stage.seconds))
                accepting.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await accepting
            stage.within(load.tally, budget_ms / 1000 + LATE_S)
            stage.within(beside.tally, LATE_S)


def answers_once(talk: Talk) -> None:
    """Answer, and say that this was the last answer on the connection."""
    talk.send(http(tool_answer(talk.number), "Content-Type: application/json", "Connection: close"))
    talk.end()


@fault("slow-to-accept", "accepts one connection every 0.1 s, and one call on each", RIGHT, seconds=10)
async def slow_to_accept(stage: Stage) -> None:
    """Let connections wait in the listener's queue."""

    async def slowly(odd: ToolService, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            connection, _ = await loop.sock_accept(listener)
            await loop.connect_accepted_socket(lambda: Talk(odd), connection)
            await asyncio.sleep(0.1)

    await _listening(stage, slowly, PATIENT_MS, RIGHT)


@fault("full-queue", "accepts nobody, and its queue is full", "refused/not_sent, after the connect time", seconds=10)
async def full_queue(stage: Stage) -> None:
    """Have connections of our own fill the queue of a listener that nobody accepts from."""

    async def nobody(_service: ToolService, listener: socket.socket) -> None:
        with contextlib.ExitStack() as kept:
            for _ in range(CALLERS + 4):
                filler = kept.enter_context(socket.socket())
                filler.setblocking(False)
                filler.connect_ex(listener.getsockname())
            await asyncio.Event().wait()

    await _listening(stage, nobody, BUDGET_MS, "refused/not_sent")


@fault("nobody-listens", "is not there any more", "refused/not_sent, at once", seconds=5)
async def nobody_listens(stage: Stage) -> None:
    """Stop it once its tools are known."""
    async with stage.service("odd", odd=answers) as odd, stage.healthy() as well:
        async with stage.gateway(odd, well) as gateway:
            await odd.stop()
            load = stage.load(gateway, "odd", ["refused/not_sent"], callers=CALLERS)
            beside = stage.load(gateway, HEALTHY, beside=True, callers=CALLERS)
            await all_of(load.run(seconds=stage.seconds), beside.run(seconds=stage.seconds))
            stage.within(load.tally, LATE_S)
