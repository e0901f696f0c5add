"""The way to a service, looked at step by step."""

from __future__ import annotations

import select
import socket
import ssl
import struct
from typing import Any

import pytest
from peers import good, surplus

from mcp_gateway.deadline import Deadline
from mcp_gateway.transport.answer import Reason, Unanswered
from mcp_gateway.transport.http import HttpClient
from mcp_gateway.transport.names import HostAddresses
from mcp_gateway.transport.probe import Probe
from mcp_gateway.transport.sockets import secure


def test_each_step_tells_what_it_found_and_nothing_is_sent(serve: Any, connect: Any) -> None:
    peer = serve(good)
    with Probe(connect(peer.base_url), Deadline.after(10)) as probe:
        assert probe.look_up() == ("127.0.0.1",)
        assert probe.connect() == "127.0.0.1"
        assert probe.secure() is None
        assert (probe.port, probe.is_plain) == (peer.port, True)
    peer.wait_finished(1)
    assert peer.requests == []


def test_a_step_that_fails_is_told_in_the_words_of_an_exchange() -> None:
    def refuse(*_: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    addresses = HostAddresses("nowhere.invalid", 80, lookup=refuse)  # type: ignore[arg-type]
    client = HttpClient(
        "http://nowhere.invalid",
        connect_timeout_s=10,
        pool_size=1,
        ca_bundle=None,
        headers={},
        addresses=addresses,
    )
    with Probe(client, Deadline.after(10)) as probe:
        with pytest.raises(Unanswered) as caught:
            probe.look_up()
        assert (caught.value.reason, caught.value.detail) == (Reason.REFUSED, "its host name could not be resolved")
        assert not probe.speaks_tls()


def test_a_service_that_presents_no_certificate_speaks_no_tls(serve: Any, connect: Any) -> None:
    with Probe(connect(serve(lambda talk: talk.reset()).base_url), Deadline.after(10)) as probe:
        assert not probe.speaks_tls()


def test_bytes_behind_an_answer_are_counted(serve: Any, connect: Any) -> None:
    client = connect(serve(surplus).base_url)
    answer = client.send("POST", "/", headers={}, body=b"{}", deadline=Deadline.after(10), max_bytes=1000)
    assert answer.body == b"{}"
    assert client.surplus == 1


def test_a_connection_that_was_reset_before_tls_began_is_closed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = socket.create_connection(server.getsockname())
        theirs, _ = server.accept()
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        theirs.close()
        assert select.select([ours], [], [], 10)[0]  # the reset has arrived
        with pytest.raises(ConnectionResetError):
            secure(ours, ssl.create_default_context(), "127.0.0.1", Deadline.after(10))
        assert ours.fileno() == -1
