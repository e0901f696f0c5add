"""What stands behind an answer, seen on one connection."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

import pytest

from mcp_gateway.deadline import Deadline
from mcp_gateway.transport.connections import AnswerFile
from mcp_gateway.transport.exchange import Exchange, Peer
from mcp_gateway.transport.names import HostAddresses
from mcp_gateway.transport.sockets import DeadlineSocket


@pytest.fixture
def pair() -> Iterator[tuple[DeadlineSocket, socket.socket]]:
    """Both ends of one TCP connection; ours is bound to an exchange."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = DeadlineSocket()
        ours.connect(server.getsockname())
        theirs, _ = server.accept()
    ours.exchange = Exchange(Peer(HostAddresses("127.0.0.1", 1), 1.0, 1.5), Deadline.after(10))
    with ours, theirs:
        yield ours, theirs


def opened(sock: DeadlineSocket) -> AnswerFile:
    return AnswerFile(sock.makefile("rb", buffering=0), sock)


def test_an_answer_with_nothing_behind_it_leaves_the_connection_usable(
    pair: tuple[DeadlineSocket, socket.socket],
) -> None:
    ours, theirs = pair
    theirs.sendall(b"HTTP/1.1 200 OK\r\n")
    file = opened(ours)

    assert file.readline() == b"HTTP/1.1 200 OK\r\n"
    file.close()
    file.close()

    assert not ours.worn
    assert ours.fileno() != -1


def test_bytes_behind_an_answer_close_the_connection(pair: tuple[DeadlineSocket, socket.socket]) -> None:
    ours, theirs = pair
    theirs.sendall(b"HTTP/1.1 200 OK\r\nsurplus")
    file = opened(ours)

    file.readline()
    file.close()

    assert ours.worn
    assert ours.fileno() == -1


def test_bytes_that_only_the_kernel_holds_close_the_connection_too(pair: tuple[DeadlineSocket, socket.socket]) -> None:
    ours, theirs = pair
    theirs.sendall(b"surplus")

    opened(ours).close()

    assert ours.worn


def test_a_connection_that_was_reset_is_not_used_again(pair: tuple[DeadlineSocket, socket.socket]) -> None:
    ours, theirs = pair
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    theirs.close()

    opened(ours).close()

    assert ours.worn
