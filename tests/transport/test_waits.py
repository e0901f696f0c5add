"""Whoever waits for a Tool Service says so, whatever it is that does not come: others have its turn meanwhile."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path

from peers import Listener, Talk, answer
from support.turns import Watch, watch
from support.waiting import wait_until

from mcp_gateway.deadline import Deadline
from mcp_gateway.transport.http import HttpClient
from mcp_gateway.transport.names import AddressInfo, HostAddresses

Serve = Callable[..., Listener]
Connect = Callable[..., HttpClient]

LARGE = b'"' + b"x" * 30_000_000 + b'"'
"""More than the kernel takes at once."""


def post(client: HttpClient, body: bytes = b"{}") -> bytes:
    sent = client.send("POST", "/x", headers={}, body=body, deadline=Deadline.after(10), max_bytes=1_000_000)
    return sent.body


def once_away(watching: Watch, *pieces: bytes) -> Callable[[Talk], None]:
    """Answer in *pieces*, each when the caller has said that it waits."""

    def script(talk: Talk) -> None:
        talk.request()
        for piece in pieces:
            wait_until(lambda: watching.is_away, "caller that waits")
            talk.send(piece)
        talk.stay()

    return script


def test_for_the_answer(serve: Serve, connect: Connect) -> None:
    with watch() as watching:
        assert post(connect(serve(once_away(watching, answer(b"1"))))) == b"1"


def test_for_the_rest_of_an_answer(serve: Serve, connect: Connect) -> None:
    whole = answer(b"[1, 2]")
    with watch() as watching:
        assert post(connect(serve(once_away(watching, whole[:10], whole[10:-3], whole[-3:])))) == b"[1, 2]"


def test_until_a_large_request_is_taken(serve: Serve, connect: Connect) -> None:
    with watch() as watching:

        def script(talk: Talk) -> None:
            talk.wait_for_bytes()
            wait_until(lambda: watching.is_away, "caller that waits")
            talk.request()
            talk.send(answer(b"1"))
            talk.stay()

        assert post(connect(serve(script)), LARGE) == b"1"


def test_for_a_connection(serve: Serve, connect: Connect) -> None:
    with watch() as watching:
        client = connect(serve(once_away(watching, answer(b"1"))))
        post(client)
        assert watching.waits == 2  # to be connected, and for the answer


def test_for_the_tls_handshake(
    serve: Serve, connect: Connect, certified: Callable[[str], ssl.SSLContext], ca_bundle: Path
) -> None:
    with watch() as watching:
        peer = serve(once_away(watching, answer(b"1")), tls=certified("127.0.0.1"))
        assert post(connect(peer, ca_bundle=ca_bundle)) == b"1"
        assert watching.waits > 2


def test_for_an_address() -> None:
    found: Sequence[AddressInfo] = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 80))]
    with watch() as watching:

        def look_up(*_: object) -> Sequence[AddressInfo]:
            wait_until(lambda: watching.is_away, "caller that waits")
            return found

        assert HostAddresses("tools.example", 80, lookup=look_up).get(Deadline.after(10)) == found
