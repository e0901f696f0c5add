"""The edges of a connection that no real client can be made to show at a given moment."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from gunicorn.app.wsgiapp import WSGIApplication
from gunicorn.config import Config
from gunicorn.glogging import Logger
from gunicorn.http.errors import InvalidChunkSize
from gunicorn.http.message import Request
from gunicorn.http.unreader import IterUnreader
from serving.clients import head, posted
from support.turns import watch
from support.waiting import wait_until

from mcp_gateway.serving.client_socket import ClientSocket
from mcp_gateway.serving.connection import Address, Connection, Reader
from mcp_gateway.serving.worker import Worker


def test_a_connection_that_was_taken_by_another_worker_is_none_of_ours() -> None:
    settings = Config()
    worker = Worker(1, os.getpid(), [], WSGIApplication, 30, settings, Logger(settings))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        worker.accept(listener)
    assert worker.nr_conns == 0
    worker.tmp.close()


def test_a_socket_that_only_seemed_readable_is_awaited_further() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        connection = Connection(Config(), ours, "", "", 10, 60, lambda _: False)
        assert connection.collect() is False
        theirs.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert connection.collect() is True
        connection.close(graceful=True)
    assert ours.fileno() == -1


def test_what_has_not_arrived_of_a_body_is_awaited_without_a_turn() -> None:
    ours, theirs = socket.socketpair()
    with theirs, watch() as watching:
        reader = Reader(ClientSocket.of(ours, 5))
        reader.begin(10, b"")

        def send() -> None:
            wait_until(lambda: watching.is_away, "thread that reads")
            theirs.sendall(b"the rest")

        client = threading.Thread(target=send)
        client.start()
        assert reader.chunk() == b"the rest"
        client.join()
        reader.sock.close()


@contextmanager
def asked(
    request: bytes, client: Address = ("127.0.0.1", 1), trusted: str = ""
) -> Iterator[tuple[Connection, Request]]:
    """A connection on which a request has come, and that request."""
    ours, theirs = socket.socketpair()
    config = Config()
    config.set("forwarded_allow_ips", trusted)
    with theirs:
        connection = Connection(config, ours, client, ("127.0.0.1", 2), 10, 60, lambda _: False)
        theirs.sendall(request)
        connection.collect()
        connection.init()
        assert connection.parser is not None
        yield connection, next(connection.parser)
        connection.close()


CHUNKED = head("Transfer-Encoding: chunked") + b"2\r\n{}\r\n0\r\n\r\n"


@pytest.mark.parametrize("request_", [posted(b"{}"), CHUNKED], ids=["length", "chunks"])
def test_the_next_request_is_read_when_nothing_is_left_of_this_one(request_: bytes) -> None:
    with asked(request_) as (connection, request):
        assert connection.parser.finish_body() is False
        assert request.body.read() == b"{}"
        assert connection.parser.finish_body() is True


def test_a_body_that_is_broken_is_never_finished() -> None:
    with asked(head("Transfer-Encoding: chunked") + b"no number\r\n") as (connection, request):
        with pytest.raises(InvalidChunkSize):
            request.body.read()
        assert connection.parser.finish_body() is False


@contextmanager
def reading(*pieces: bytes) -> Iterator[Callable[[bytearray], None]]:
    """What reads more of a head, of which these pieces are still to come."""
    with asked(posted(b"{}")) as (_, request):
        unreader = IterUnreader(iter(pieces))
        yield lambda head: request.read_into(unreader, head)


LARGE = b"x" * 20_000


def test_of_a_large_head_that_drips_as_much_again_is_read_before_gunicorn_looks_at_it_again() -> None:
    with reading(*[b"y"] * 30_000) as read_more:
        head = bytearray(LARGE)
        read_more(head)
        assert len(head) == 2 * len(LARGE)


@pytest.mark.parametrize("end", [[b"\r\n\r\n"], [b"\r", b"\n", b"\r", b"\n"], [b"a: b\r\n\r\n{}"]])
def test_no_more_is_read_of_a_large_head_than_there_is(end: list[bytes]) -> None:
    with reading(b"y", *end, b"the next request") as read_more:
        head = bytearray(LARGE)
        read_more(head)
        assert head == LARGE + b"y" + b"".join(end)


def test_the_end_of_a_large_head_is_found_in_its_first_piece() -> None:
    with reading(b"\n", b"the next request") as read_more:
        head = bytearray(LARGE + b"\r\n\r")
        read_more(head)
        assert head == LARGE + b"\r\n\r\n"


def test_a_small_head_is_looked_at_with_each_piece() -> None:
    with reading(b"y", b"z") as read_more:
        head = bytearray(b"x" * 100)
        read_more(head)
        assert head.endswith(b"xy")


def test_going_on_to_the_next_request_takes_no_system_call(monkeypatch: pytest.MonkeyPatch) -> None:
    with asked(posted(b"{}")) as (connection, request):
        request.body.read()
        monkeypatch.setattr(ClientSocket, "settimeout", None)
        assert connection.parser.finish_body() is True


@pytest.mark.parametrize("client", [("127.0.0.1", 1), ""], ids=["tcp", "unix"])
@pytest.mark.parametrize(("trusted", "scheme"), [("", "http"), ("*", "https")], ids=["nobody", "everybody"])
def test_a_request_is_what_its_headers_make_of_it_only_when_somebody_is_trusted(
    client: Address, trusted: str, scheme: str
) -> None:
    with asked(head("X-Forwarded-Proto: https"), client, trusted) as (_, request):
        assert request.scheme == scheme
