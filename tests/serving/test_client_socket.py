"""A client's socket: what need not wait costs one system call, what has to wait is bounded."""

import os
import socket
import threading
from collections.abc import Iterator

import pytest
from support.turns import watch
from support.waiting import wait_until

from mcp_gateway.serving.client_socket import ClientSocket

Pair = tuple[ClientSocket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    ours, theirs = socket.socketpair()
    with ClientSocket.of(ours, 5) as client_socket, theirs:
        yield client_socket, theirs


def test_it_takes_over_the_connection_of_the_accepted_socket() -> None:
    accepted, theirs = socket.socketpair()
    with ClientSocket.of(accepted, 5) as ours, theirs:
        ours.sendall(b"hello")
        assert theirs.recv(10) == b"hello"
        assert accepted.fileno() == -1


def test_it_takes_what_has_arrived(pair: Pair) -> None:
    ours, theirs = pair
    theirs.sendall(b"hello")
    assert ours.receive(3) == b"hel"
    assert ours.receive(10) == b"lo"


def test_it_does_not_wait_for_what_has_not_arrived(pair: Pair) -> None:
    ours, _ = pair
    with pytest.raises(BlockingIOError):
        ours.receive(10)


@pytest.mark.parametrize("asked", [True, False])
def test_nobody_changes_how_it_waits(pair: Pair, asked: bool) -> None:
    ours, _ = pair
    ours.setblocking(asked)
    assert ours.gettimeout() == 5


def test_an_answer_larger_than_the_kernel_takes_at_once_arrives_whole(pair: Pair) -> None:
    ours, theirs = pair
    answer = bytes(range(256)) * 40_000
    taken = bytearray()

    def take() -> None:
        while len(taken) < len(answer):
            taken.extend(theirs.recv(65_536))

    client = threading.Thread(target=take)
    client.start()
    ours.sendall(answer)
    client.join()
    assert taken == answer


def test_an_answer_waits_for_room_where_there_is_none(pair: Pair) -> None:
    ours, theirs = pair
    full = _fill(ours)
    taken = bytearray()

    def take() -> None:
        while len(taken) < full + len(b"the end"):
            taken.extend(theirs.recv(65_536))

    client = threading.Thread(target=take)
    client.start()
    ours.sendall(b"the end")
    client.join()
    assert taken.endswith(b"xthe end")


def test_an_answer_that_waits_for_its_client_leaves_the_turn_to_others(pair: Pair) -> None:
    ours, theirs = pair
    full = _fill(ours)

    with watch() as watching:

        def take() -> None:
            wait_until(lambda: watching.is_away, "answer that waits")
            theirs.recv(full + 10, socket.MSG_WAITALL)

        client = threading.Thread(target=take)
        client.start()
        ours.sendall(b"the end")
        assert watching.waits == 1
        theirs.shutdown(socket.SHUT_WR)
        ours.shutdown(socket.SHUT_WR)
        client.join()


def _fill(ours: ClientSocket) -> int:
    sent = 0
    try:
        while True:
            sent += os.write(ours.fileno(), b"x" * 65_536)
    except BlockingIOError:
        return sent


def test_a_client_that_takes_nothing_is_not_awaited_for_ever() -> None:
    accepted, theirs = socket.socketpair()
    with ClientSocket.of(accepted, 0.05) as ours, theirs:
        with pytest.raises(TimeoutError):
            ours.sendall(bytes(50_000_000))


def test_a_client_that_has_taken_nothing_yet_is_not_awaited_for_ever_either() -> None:
    accepted, theirs = socket.socketpair()
    with ClientSocket.of(accepted, 0.05) as ours, theirs:
        _fill(ours)
        with pytest.raises(TimeoutError):
            ours.sendall(b"the end")
