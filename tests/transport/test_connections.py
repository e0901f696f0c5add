"""Which connections are used again, and what of a request or an answer is left on them."""

from __future__ import annotations

import contextlib
import gc
import ssl
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import peers
import pytest
from peers import Listener, Talk, answer, good, sending

from mcp_gateway.deadline import Deadline
from mcp_gateway.transport.answer import Answer, Delivery, Reason, Unanswered
from mcp_gateway.transport.http import HttpClient

Serve = Callable[..., Listener]
Connect = Callable[..., HttpClient]
Certified = Callable[[str], ssl.SSLContext]

LARGE = b'"' + b"x" * 200_000 + b'"'
"""More than is read at once, so that the last piece is asked for to the byte."""


def post(client: HttpClient, body: bytes = b'{"n": 1}', budget_s: float = 10.0) -> Answer:
    return client.send("POST", "/x", headers={}, body=body, deadline=Deadline.after(budget_s), max_bytes=1_000_000)


def answering(*replies: bytes) -> Callable[[Talk], None]:
    """Answer the requests of one connection with *replies* as they stand, then stay."""

    def script(talk: Talk) -> None:
        for reply in replies:
            talk.request()
            talk.send(reply)
        talk.stay()

    return script


def meeting() -> Callable[[Talk], None]:
    """Answer nobody before two have asked, so that two connections are open at once; then as usual."""
    both = threading.Barrier(2)

    def script(talk: Talk) -> None:
        request = talk.request()
        assert request is not None
        both.wait(10)
        talk.send(answer(request.body))
        good(talk)

    return script


def chunked(body: bytes, behind: bytes = b"") -> bytes:
    return peers.JSON_HEAD + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) + behind


@pytest.mark.parametrize("reply", [answer(LARGE), chunked(LARGE), answer(b""), chunked(b"{}")])
def test_a_connection_whose_answer_was_read_to_its_end_is_used_again(
    reply: bytes, serve: Serve, connect: Connect
) -> None:
    peer = serve(answering(reply, answer(b"2")))
    client = connect(peer, idle_limit_s=60.0)

    post(client)

    assert post(client).body == b"2"
    assert peer.connections == 1


@pytest.mark.parametrize("reply", [answer(b"1"), answer(LARGE), chunked(b"1"), chunked(LARGE)])
def test_a_connection_with_anything_behind_its_answer_is_not(reply: bytes, serve: Serve, connect: Connect) -> None:
    peer = serve(answering(reply + answer(b'"of another caller"')), answering(answer(b"2")))
    client = connect(peer, idle_limit_s=60.0)

    post(client)

    assert post(client).body == b"2"
    assert peer.connections == 2


@pytest.mark.parametrize(
    "reply",
    [
        answer(b"1", "Connection: close"),
        b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: keep-alive\r\n\r\n1",
        answer(b"{}", "Content-Encoding: br"),
    ],
)
def test_a_connection_that_is_to_be_closed_or_in_doubt_is_closed_at_once(
    reply: bytes, serve: Serve, connect: Connect
) -> None:
    peer = serve(answering(reply), good)
    client = connect(peer, idle_limit_s=60.0)

    with contextlib.suppress(Unanswered):
        post(client)

    peer.wait_finished(1)
    assert post(client, b"2").body == b"2"


def test_what_tls_has_decrypted_already_is_behind_an_answer_too(
    serve: Serve, connect: Connect, certified: Certified, ca_bundle: Path
) -> None:
    body = b'"' + b"x" * 20_000 + b'"'
    surplus = answering(answer(body) + answer(b'"of another caller"'))
    peer = serve(surplus, answering(answer(b"2")), tls=certified("127.0.0.1"))
    client = connect(peer, ca_bundle=ca_bundle, idle_limit_s=60.0)

    assert post(client).body == body
    peer.wait_finished(1)

    assert post(client).body == b"2"


def test_no_more_connections_are_kept_than_were_asked_for(serve: Serve, connect: Connect) -> None:
    peer = serve(meeting())
    client = connect(peer, pool_size=1, idle_limit_s=60.0)

    with ThreadPoolExecutor(2) as threads:
        bodies = list(threads.map(lambda body: post(client, body).body, [b"1", b"2"]))
    peer.wait_finished(1)

    assert bodies == [b"1", b"2"]
    assert post(client, b"3").body == b"3"
    assert peer.connections == 2


def test_a_connection_that_a_burst_left_behind_is_closed_while_calls_go_on(serve: Serve, connect: Connect) -> None:
    peer = serve(meeting())
    client = connect(peer, idle_limit_s=0.2)
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda body: post(client, body), [b"1", b"2"]))

    # One of the two is kept busy from here on, and never rests for long.
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        post(client, b"3")

    peer.wait_finished(1)


def test_a_connection_that_rests_too_long_is_closed_though_nobody_calls_any_more(
    serve: Serve, connect: Connect
) -> None:
    peer = serve(good)
    client = connect(peer, idle_limit_s=0.2)

    post(client)
    peer.wait_finished(1)

    assert post(client, b"2").body == b"2"
    assert peer.connections == 2


def test_a_connection_in_use_when_its_client_is_closed_serves_its_call_to_the_end(
    serve: Serve, connect: Connect
) -> None:
    arrived, release = threading.Event(), threading.Event()

    def holding(talk: Talk) -> None:
        request = talk.request()
        assert request is not None
        arrived.set()
        release.wait(10)
        talk.send(answer(request.body))
        talk.stay()

    peer = serve(holding)
    client = connect(peer, idle_limit_s=60.0)

    with ThreadPoolExecutor(1) as threads:
        under_way = threads.submit(post, client)
        assert arrived.wait(10)
        client.close()
        release.set()
        assert under_way.result(10).body == b'{"n": 1}'

    peer.wait_finished(1)


def test_a_client_that_is_dropped_leaves_no_connection_open(serve: Serve) -> None:
    peer = serve(good)
    client = HttpClient(peer.base_url, connect_timeout_s=5.0, pool_size=1, ca_bundle=None, headers={})
    post(client)

    del client
    gc.collect()

    peer.wait_finished(1)


def test_a_call_on_a_closed_client_says_so(serve: Serve, connect: Connect) -> None:
    client = connect(serve(good))
    client.close()

    with pytest.raises(Unanswered, match="the gateway has closed its connections"):
        post(client)


# What goes out


def test_an_answer_is_read_although_the_peer_closed_before_it_had_read_the_request(
    serve: Serve, connect: Connect
) -> None:
    def rejecting(talk: Talk) -> None:
        talk.wait_for_bytes()
        talk.send(answer(b'{"too": "large"}', status="413 Too Large"))

    peer = serve(rejecting, good)
    client = connect(peer, idle_limit_s=60.0)

    assert post(client, bytes(30_000_000)).status == 413
    assert post(client, b"2").body == b"2"


def test_a_tls_peer_that_reads_nothing_is_given_up_when_the_budget_ends(
    serve: Serve, connect: Connect, certified: Certified, ca_bundle: Path
) -> None:
    client = connect(serve(peers.mute, tls=certified("127.0.0.1")), ca_bundle=ca_bundle)

    with pytest.raises(Unanswered) as caught:
        post(client, bytes(30_000_000), 0.4)

    assert (caught.value.reason, caught.value.delivery) == (Reason.BUDGET, Delivery.UNKNOWN)


def test_a_large_request_arrives_whole_over_tls(
    serve: Serve, connect: Connect, certified: Certified, ca_bundle: Path
) -> None:
    peer = serve(sending(answer(b"{}")), tls=certified("127.0.0.1"))
    body = bytes(range(256)) * 12_000

    post(connect(peer, ca_bundle=ca_bundle), body)

    assert peer.requests[0].body == body


def test_a_base_url_is_sent_as_urls_are_written(serve: Serve, connect: Connect) -> None:
    peer = serve(good)
    client = connect(f"HTTP://user:secret@LocalHost:{peer.port}/한/")

    client.send("GET", "/m n", headers={}, body=None, deadline=Deadline.after(10), max_bytes=10)

    assert peer.requests[0].line == "GET /%ED%95%9C/m%20n HTTP/1.1"
    assert peer.requests[0].headers == {"host": f"localhost:{peer.port}", "accept-encoding": "identity"}
