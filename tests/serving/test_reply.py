"""How the pieces of an answer leave."""

from __future__ import annotations

import socket
import time
from email.utils import parsedate_to_datetime
from types import SimpleNamespace
from typing import Any

import pytest
from gunicorn.config import Config
from support.turns import watch

from mcp_gateway.serving.client_socket import ClientSocket
from mcp_gateway.serving.reply import COPIED_BYTES, OneWriteResponse, http_date


class Wire:
    """A socket that remembers each write."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []

    def sendall(self, data: bytes) -> None:
        self.writes.append(data)


def response(
    wire: Wire | socket.socket, status: str, *headers: tuple[str, str], method: str = "POST"
) -> OneWriteResponse:
    request = SimpleNamespace(method=method, version=(1, 1), headers=[], should_close=lambda: False)
    answer: Any = OneWriteResponse(request, wire, Config())
    answer.start_response(status, list(headers))
    return answer


def test_head_and_body_leave_in_one_write() -> None:
    wire = Wire()
    answer = response(wire, "200 OK", ("Content-Length", "4"), ("guid", "g"))

    answer.write(b"body")
    answer.close()

    (written,) = wire.writes
    assert written.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"\r\nguid: g\r\n" in written
    assert written.endswith(b"\r\n\r\nbody")


def test_a_body_in_two_pieces_leaves_in_two_writes() -> None:
    wire = Wire()
    answer = response(wire, "200 OK", ("Content-Length", "4"))

    answer.write(b"bo")
    answer.write(b"dy")
    answer.close()

    assert [write[-2:] for write in wire.writes] == [b"bo", b"dy"]


def test_a_large_body_is_not_copied_to_stand_behind_its_head() -> None:
    wire, body = Wire(), b"x" * COPIED_BYTES + b"the rest"
    answer = response(wire, "200 OK", ("Content-Length", str(len(body))))

    answer.write(body)
    answer.close()

    first, rest = wire.writes
    assert first.endswith(b"\r\n\r\n" + b"x" * COPIED_BYTES)
    assert bytes(rest) == b"the rest"
    assert memoryview(rest).obj is body


@pytest.mark.parametrize("status", ["202 Accepted", "204 No Content"])
def test_an_answer_without_a_body_leaves_when_it_ends(status: str) -> None:
    wire = Wire()
    answer = response(wire, status, ("Content-Length", "0"))

    answer.close()

    (written,) = wire.writes
    assert written.endswith(b"\r\n\r\n")


def test_a_body_of_unknown_length_leaves_in_chunks() -> None:
    wire = Wire()
    answer = response(wire, "200 OK")

    answer.write(b"abc")
    answer.close()

    head, *chunks = wire.writes
    assert head.endswith(b"\r\n\r\n")
    assert b"".join(chunks) == b"3\r\nabc\r\n0\r\n\r\n"


def test_a_socket_that_does_not_say_itself_when_it_waits_may_wait_in_each_write() -> None:
    with watch() as watching:
        answer = response(Wire(), "200 OK", ("Content-Length", "4"))
        answer.write(b"body")
        answer.close()
        assert watching.waits == 1


def test_a_client_socket_that_need_not_wait_keeps_its_turn() -> None:
    ours, theirs = socket.socketpair()
    with watch() as watching, ClientSocket.of(ours, 5) as client_socket, theirs:
        answer = response(client_socket, "200 OK", ("Content-Length", "4"))
        answer.write(b"body")
        answer.close()
        assert watching.waits == 0
        assert theirs.recv(65_536).endswith(b"body")


@pytest.mark.parametrize(
    ("timestamp", "date"),
    [(0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784111777.9, "Sun, 06 Nov 1994 08:49:37 GMT")],
    ids=["first", "rfc-9110"],
)
def test_a_date_is_in_the_form_of_http(timestamp: float, date: str) -> None:
    assert [http_date(timestamp), http_date(timestamp)] == [date, date]


def test_the_date_of_an_answer_is_that_of_now() -> None:
    before = int(time.time())
    date = parsedate_to_datetime(http_date()).timestamp()
    assert before <= date <= time.time()
