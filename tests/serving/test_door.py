"""A listening socket whose door is closed: who is inside is served, nobody else comes in."""

from __future__ import annotations

import socket
import sys

import pytest

from mcp_gateway.serving import door

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a kernel of another kind has no such filter")


@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_who_was_connected_before_is_served_and_nobody_is_connected_after(family: int, host: str) -> None:
    with socket.create_server((host, 0), family=family) as listener:
        address = listener.getsockname()[:2]
        with socket.create_connection(address, timeout=10) as before:
            before.sendall(b"hello")
            door.close(listener)

            with pytest.raises(TimeoutError):
                socket.create_connection(address, timeout=0.3)
            before.sendall(b" again")
            served, _ = listener.accept()
            with served:
                assert served.recv(100)[:5] == b"hello"
                served.sendall(b"welcome")
                assert before.recv(100) == b"welcome"
                served.shutdown(socket.SHUT_WR)
                assert before.recv(100) == b""


def test_a_socket_that_takes_no_filter_is_left_as_it_is() -> None:
    closed = socket.socket()
    closed.close()
    door.close(closed)
