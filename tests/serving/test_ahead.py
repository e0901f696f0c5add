"""Clients that do something on their connection while a thread has their call: the poller sees it, and must not act."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from threading import Event

import pytest
from support.processes import Gateway
from support.rpc import call, connect, envelope
from support.toolservice import Received, Reply, ToolService

from .clients import posted, reset
from .conftest import THREADS, Start

HELD = posted(envelope("tools/call", {"name": "held"}, request_id="held"))
NEXT = posted(envelope("ping", request_id="next"))


@pytest.fixture
def gate() -> Iterator[Event]:
    """Calls of the tool ``held`` end when this is set."""
    opens = Event()
    yield opens
    opens.set()


@pytest.fixture
def service(gate: Event) -> Iterator[ToolService]:
    def hold(received: Received) -> Reply:
        received.hold(gate)
        return Reply.of_text("done")

    with ToolService() as here:
        here.add("held", hold)
        here.add("free", lambda _: Reply.of_text("done"))
        yield here


@pytest.fixture
def here(start: Start, service: ToolService) -> Gateway:
    return start(service)


def ids(connection: socket.socket, count: int) -> list[bytes]:
    """Read so many answers and return their ids, in the order in which they came."""
    read = b""
    while len(found := re.findall(rb'"id":"(\w+)"', read)) < count:
        part = connection.recv(65_536)
        assert part, f"the connection ended after {read!r}"
        read += part
    return found


def test_a_request_that_comes_before_the_last_one_is_answered_waits_for_that(
    here: Gateway, service: ToolService, gate: Event
) -> None:
    with connect(here.url) as connection:
        connection.sendall(HELD)
        service.wait_for_calls("held")
        connection.sendall(NEXT)
        assert call(here.route(), "free").text == "done"  # the poller has seen it by now
        gate.set()
        assert ids(connection, 2) == [b"held", b"next"]
        connection.sendall(NEXT)
        assert ids(connection, 1) == [b"next"]


def test_half_a_request_that_comes_before_the_last_one_is_answered_is_kept(
    here: Gateway, service: ToolService, gate: Event
) -> None:
    with connect(here.url) as connection:
        connection.sendall(HELD)
        service.wait_for_calls("held")
        connection.sendall(NEXT[:30])
        assert call(here.route(), "free").text == "done"
        gate.set()
        assert ids(connection, 1) == [b"held"]
        connection.sendall(NEXT[30:])
        assert ids(connection, 1) == [b"next"]


@pytest.mark.parametrize("hangs_up", [socket.socket.close, reset], ids=["closes", "resets"])
def test_clients_that_hang_up_during_their_calls_leave_their_threads_to_others(
    here: Gateway, service: ToolService, gate: Event, hangs_up: object
) -> None:
    assert callable(hangs_up)
    for number in range(1, THREADS):
        connection = connect(here.url)
        connection.sendall(HELD)
        service.wait_for_calls("held", number)
        hangs_up(connection)
    assert call(here.route(), "free").text == "done"
    gate.set()
    for _ in range(2 * THREADS):
        assert call(here.route(), "free").text == "done"
