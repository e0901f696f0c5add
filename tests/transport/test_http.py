"""One HTTP exchange against real peers, well-behaved and hostile."""

from __future__ import annotations

import contextlib
import errno
import gzip
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import peers
import pytest
from peers import Listener, answer, good, sending

from mcp_gateway.deadline import Deadline
from mcp_gateway.transport.answer import Answer, Delivery, Reason, Unanswered
from mcp_gateway.transport.http import HttpClient
from mcp_gateway.transport.names import HostAddresses

BUDGET_S = 0.4
BOUND_S = 3.0
"""Generous: it tells a call that is cut off from one that hangs, and measures nothing."""

MAX_BYTES = 1_000_000

Serve = Callable[..., Listener]
Connect = Callable[..., HttpClient]
Certified = Callable[[str], ssl.SSLContext]


def post(client: HttpClient, body: bytes = b'{"n": 1}', budget_s: float = 10.0, **headers: str) -> Answer:
    return client.send(
        "POST", "/tool", headers=headers, body=body, deadline=Deadline.after(budget_s), max_bytes=MAX_BYTES
    )


def fault_of(client: HttpClient, budget_s: float = 10.0) -> Unanswered:
    """Make a call that must fail, and must not take longer than it may."""
    began = time.monotonic()
    with pytest.raises(Unanswered) as caught:
        post(client, budget_s=budget_s)
    assert time.monotonic() - began < budget_s + BOUND_S
    return caught.value


B, L, U, T = Reason.BUDGET, Reason.CONNECTION_LOST, Reason.UNREADABLE, Reason.TOO_LARGE
UNKNOWN, ANSWERED = Delivery.UNKNOWN, Delivery.ANSWERED
BUDGET = (B, UNKNOWN, "its time budget was used up")
LOST = (L, UNKNOWN, "the connection was lost before an answer came")
BROKEN_OFF = (U, ANSWERED, "its answer broke off before its end")
BAD_HEAD = (U, ANSWERED, "the head of its answer is too long or malformed")
NOT_VALID = (U, ANSWERED, "its answer is not valid HTTP")
NO_HTTP = (U, UNKNOWN, "what came back is no HTTP answer")
NO_STATUS = (U, ANSWERED, "its status is none that HTTP knows")
TOO_LARGE = (T, ANSWERED, "its answer is larger than 1,000,000 bytes")

EXPECTED = {
    "silent": BUDGET,
    "dripping status line": BUDGET,
    "dripping headers": BUDGET,
    "dripping header lines": BUDGET,
    "dripping body": BUDGET,
    "dripping body without length": BUDGET,
    "dripping chunks": BUDGET,
    "dripping trailers": BUDGET,
    "endless trailers": BUDGET,
    "reset before reading": LOST,
    "reset after reading": LOST,
    "closed without a word": LOST,
    "closed within the head": LOST,
    "closed between headers": LOST,
    "closed after a 103": LOST,
    "truncated": BROKEN_OFF,
    "truncated chunk": BROKEN_OFF,
    "truncated between chunks": BROKEN_OFF,
    "bad chunk": BROKEN_OFF,
    "negative chunk": BROKEN_OFF,
    "reset within the body": BROKEN_OFF,
    "two lengths": NOT_VALID,
    "negative length": NOT_VALID,
    "length that is no number": NOT_VALID,
    "unknown transfer coding": NOT_VALID,
    "malformed header line": NOT_VALID,
    "garbage": NO_HTTP,
    "another protocol": NO_HTTP,
    "greeting without an end": NO_HTTP,
    "HTTP 2": BAD_HEAD,
    "8 MB header": BAD_HEAD,
    "many headers": BAD_HEAD,
    "endless 100": BAD_HEAD,
    "endless 103": BAD_HEAD,
    "dripping 100": BUDGET,
    "switching protocols": NO_STATUS,
    "status 999": NO_STATUS,
    "50 MB announced": TOO_LARGE,
    "50 MB unannounced": TOO_LARGE,
    "gzip bomb": TOO_LARGE,
    "deflate that is none": (U, ANSWERED, "its answer is not what its content coding says"),
    "unknown content coding": (U, ANSWERED, "its answer has a content coding that is not understood"),
    "truncated gzip": (U, ANSWERED, "its answer is not what its content coding says"),
}


@pytest.mark.parametrize("name", peers.HOSTILE)
def test_a_hostile_peer_ends_in_its_fault_within_the_budget_and_harms_no_later_call(
    name: str, serve: Serve, connect: Connect
) -> None:
    peer = serve(peers.HOSTILE[name], good)
    client = connect(peer)

    fault = fault_of(client, BUDGET_S if EXPECTED[name] is BUDGET else 10.0)

    assert (fault.reason, fault.delivery, fault.detail) == EXPECTED[name]
    assert post(client, b'{"n": 2}').body == b'{"n": 2}'
    assert peer.connections == 2
    bodies = [request.body for request in peer.requests]
    assert bodies == ([b'{"n": 2}'] if name == "reset before reading" else [b'{"n": 1}', b'{"n": 2}'])


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("closed without a word", None),
        ("closed after a 103", None),
        ("greeting without an end", None),
        ("another protocol", None),
        ("closed within the head", 200),
        ("dripping headers", 200),
        ("two lengths", 200),
        ("HTTP 2", 200),
        ("truncated", 200),
        ("status 999", 999),
    ],
)
def test_the_status_is_known_of_every_answer_whose_status_line_came(
    name: str, status: int | None, serve: Serve, connect: Connect
) -> None:
    client = connect(serve(peers.HOSTILE[name]))

    assert fault_of(client, BUDGET_S if EXPECTED[name] is BUDGET else 10.0).status == status


def test_a_reset_is_said_to_be_sent_only_when_something_may_have_been(serve: Serve, connect: Connect) -> None:
    peer = serve(peers.reset_at_once)
    client = connect(peer)

    for _ in range(20):
        fault = fault_of(client)
        # The reset races the connect and the first byte.
        assert fault.reason in (Reason.REFUSED, Reason.CONNECTION_LOST)
        assert fault.delivery is Delivery.NOT_SENT or fault.reason is Reason.CONNECTION_LOST
    assert not peer.requests


def test_a_good_answer_comes_whole_with_its_headers_in_lower_case(serve: Serve, connect: Connect) -> None:
    reply = answer('{"답": 1}'.encode(), "X-A: 1", "x-a: 2", "Set-Cookie: sid=1")
    client = connect(serve(sending(reply)))

    got = post(client)

    assert (got.status, got.body) == (200, '{"답": 1}'.encode())
    assert got.headers["x-a"] == "1, 2"
    assert got.headers["content-type"] == "application/json"


def test_a_request_has_exactly_the_headers_it_was_given_and_those_of_its_framing(
    serve: Serve, connect: Connect
) -> None:
    peer = serve(good)
    client = connect(peer.base_url + "/base/", headers={"Authorization": "Bearer t", "X-Who": "client"})

    post(client, b"{}", **{"x-who": "request"})
    client.send("GET", "/m?a=b", headers={}, body=None, deadline=Deadline.after(5), max_bytes=MAX_BYTES)

    first, second = peer.requests
    assert first.line == "POST /base/tool HTTP/1.1"
    assert first.headers == {
        "host": f"127.0.0.1:{peer.port}",
        "authorization": "Bearer t",
        "accept-encoding": "identity",
        "x-who": "request",
        "content-length": "2",
    }
    assert second.line == "GET /base/m?a=b HTTP/1.1"
    assert "content-length" not in second.headers


def test_cookies_proxies_and_passwords_of_the_environment_are_not_used(
    serve: Serve, connect: Connect, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login a password b\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    peer = serve(sending(answer(b"{}", "Set-Cookie: sid=1; Path=/")), good)
    client = connect(peer, idle_limit_s=0.0)

    post(client)
    post(client)

    assert all({"cookie", "authorization"}.isdisjoint(request.headers) for request in peer.requests)


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
def test_a_redirect_is_an_answer_and_its_target_is_never_contacted(status: str, serve: Serve, connect: Connect) -> None:
    target = serve(good)
    peer = serve(sending(answer(b"", f"Location: {target.base_url}/x", status=status)))

    got = post(connect(peer))

    assert (got.status, got.headers["location"]) == (int(status[:3]), f"{target.base_url}/x")
    assert target.connections == 0
    assert len(peer.requests) == 1


def test_a_get_that_is_told_to_come_back_later_is_not_repeated(serve: Serve, connect: Connect) -> None:
    peer = serve(sending(answer(b"", "Retry-After: 0", status="503 Busy")), good)

    got = connect(peer).send("GET", "/m", headers={}, body=None, deadline=Deadline.after(5), max_bytes=9)

    assert got.status == 503
    assert len(peer.requests) == 1


def test_a_connection_is_used_again_when_its_answer_was_read_to_the_end(serve: Serve, connect: Connect) -> None:
    peer = serve(good)
    client = connect(peer, idle_limit_s=60.0)

    bodies = [post(client, b'{"n": %d}' % number).body for number in range(5)]

    assert bodies == [b'{"n": %d}' % number for number in range(5)]
    assert peer.connections == 1


def test_a_connection_that_may_not_rest_is_not_used_again(serve: Serve, connect: Connect) -> None:
    peer = serve(good)
    client = connect(peer, idle_limit_s=0.0)

    post(client)
    post(client)

    assert peer.connections == 2


def test_a_connection_that_the_peer_closed_at_rest_is_replaced(serve: Serve, connect: Connect) -> None:
    peer = serve(peers.once, good)
    client = connect(peer, idle_limit_s=60.0)

    post(client)
    peer.wait_finished(1)

    assert post(client, b'{"n": 2}').body == b'{"n": 2}'
    assert peer.connections == 2


def test_bytes_behind_an_answer_never_reach_the_next_call(serve: Serve, connect: Connect) -> None:
    peer = serve(peers.surplus)
    client = connect(peer, idle_limit_s=60.0)

    bodies = [post(client, b'{"n": %d}' % number).body for number in range(3)]

    assert bodies == [b'{"n": 0}', b'{"n": 1}', b'{"n": 2}']
    assert peer.connections == 3


def test_bytes_that_come_while_a_connection_rests_never_reach_the_next_call(serve: Serve, connect: Connect) -> None:
    sent = threading.Event()
    peer = serve(peers.late_surplus(sent), good)
    client = connect(peer, idle_limit_s=60.0)

    post(client)
    assert sent.wait(5)

    assert post(client, b'{"n": 2}').body == b'{"n": 2}'
    assert peer.connections == 2


def test_a_connection_with_bytes_behind_its_answer_is_closed_at_once(serve: Serve, connect: Connect) -> None:
    peer = serve(peers.surplus)

    post(connect(peer, idle_limit_s=60.0))

    peer.wait_finished(1)


def test_early_hints_are_skipped_and_every_caller_gets_its_own_answer(serve: Serve, connect: Connect) -> None:
    peer = serve(peers.early_hints)
    client = connect(peer, idle_limit_s=60.0)

    answers = [post(client, b'{"n": %d}' % number) for number in range(3)]

    assert [(got.status, got.body) for got in answers] == [(200, b'{"n": %d}' % number) for number in range(3)]
    assert all("link" not in got.headers for got in answers)
    assert peer.connections == 1


def test_an_answer_may_come_before_the_request_has_been_read(serve: Serve, connect: Connect) -> None:
    def rejecting(talk: peers.Talk) -> None:
        talk.send(answer(b'{"too": "large"}', status="413 Too Large"))
        talk.request()

    client = connect(serve(rejecting))

    assert post(client, b'{"n": "%s"}' % (b"x" * 3_000_000)).status == 413


def test_a_large_request_arrives_whole(serve: Serve, connect: Connect) -> None:
    peer = serve(sending(answer(b"{}")))
    body = bytes(range(256)) * 12_000

    post(connect(peer), body)

    assert peer.requests[0].body == body


def test_a_peer_that_reads_nothing_is_given_up_when_the_budget_ends(serve: Serve, connect: Connect) -> None:
    client = connect(serve(peers.mute))
    began = time.monotonic()

    with pytest.raises(Unanswered) as caught:
        post(client, bytes(30_000_000), BUDGET_S)

    assert time.monotonic() - began < BOUND_S
    assert (caught.value.reason, caught.value.delivery) == (Reason.BUDGET, Delivery.UNKNOWN)


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(b'{"a": 1}', mtime=0)),
        ("x-gzip", gzip.compress(b'{"a": 1}', mtime=0)),
        (" GZIP ", gzip.compress(b'{"a": 1}', mtime=0)),
        ("deflate", zlib.compress(b'{"a": 1}')),
        ("deflate", zlib.compress(b'{"a": 1}', wbits=-15)),
        ("identity", b'{"a": 1}'),
    ],
)
def test_a_content_coding_that_nobody_asked_for_is_undone(
    coding: str, body: bytes, serve: Serve, connect: Connect
) -> None:
    client = connect(serve(sending(answer(body, f"Content-Encoding: {coding}"))))

    assert post(client).body == b'{"a": 1}'


def test_an_empty_body_has_no_content_coding_to_undo(serve: Serve, connect: Connect) -> None:
    client = connect(serve(sending(answer(b"", "Content-Encoding: gzip"))))

    assert post(client).body == b""


def test_bytes_behind_a_compressed_body_make_it_unreadable(serve: Serve, connect: Connect) -> None:
    client = connect(serve(sending(answer(gzip.compress(b"{}", mtime=0) + b"{}", "Content-Encoding: gzip"))))

    assert fault_of(client).reason is Reason.UNREADABLE


def test_an_answer_of_exactly_the_limit_is_taken(serve: Serve, connect: Connect) -> None:
    body = b"x" * MAX_BYTES
    client = connect(
        serve(sending(answer(body)), sending(answer(gzip.compress(body, mtime=0), "Content-Encoding: gzip"))),
        idle_limit_s=0.0,
    )

    assert post(client).body == body
    assert post(client).body == body


def test_a_chunked_answer_comes_whole_even_byte_by_byte(serve: Serve, connect: Connect) -> None:
    reply = peers.JSON_HEAD + b'Transfer-Encoding: chunked\r\n\r\n3;x=y\r\n{"a\r\n5\r\n": 1}\r\n0\r\nX-T: 1\r\n\r\n'

    def script(talk: peers.Talk) -> None:
        talk.request()
        talk.drip(reply)
        talk.stay()

    client = connect(serve(script))

    assert post(client).body == b'{"a": 1}'


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
def test_an_answer_that_has_no_body_by_its_status_ends_with_its_head(
    status: str, serve: Serve, connect: Connect
) -> None:
    def script(talk: peers.Talk) -> None:
        while talk.request():
            talk.send(f"HTTP/1.1 {status}\r\nETag: x\r\n\r\n".encode())

    peer = serve(script)
    client = connect(peer, idle_limit_s=60.0)

    assert [post(client).status for _ in range(2)] == [int(status[:3])] * 2
    assert peer.connections == 1


def test_a_refused_connection_was_not_sent(connect: Connect) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        client = connect(f"http://127.0.0.1:{unused.getsockname()[1]}")
        fault = fault_of(client)

    assert (fault.reason, fault.delivery, fault.detail) == (
        Reason.REFUSED,
        Delivery.NOT_SENT,
        "the connection was refused",
    )


def test_a_budget_that_is_used_up_already_sends_nothing(serve: Serve, connect: Connect) -> None:
    peer = serve(good)
    client = connect(peer, idle_limit_s=60.0)
    post(client)

    fresh, reused = connect(peer), client
    faults = [fault_of(fresh, budget_s=0.0), fault_of(reused, budget_s=0.0)]

    assert [(fault.reason, fault.delivery) for fault in faults] == [(Reason.BUDGET, Delivery.NOT_SENT)] * 2
    assert len(peer.requests) == 1


@pytest.mark.parametrize(("name", "value"), [("x-a", "b\r\nx-c: d"), ("x-a", "답"), ("x a", "b\n")])
def test_a_header_that_http_forbids_is_not_sent(name: str, value: str, serve: Serve, connect: Connect) -> None:
    peer = serve(good)

    with pytest.raises(Unanswered) as caught:
        post(connect(peer), **{name: value})

    assert (caught.value.reason, caught.value.delivery) == (Reason.REFUSED, Delivery.NOT_SENT)
    assert value not in str(caught.value)
    assert not peer.requests


def test_nothing_of_the_peer_or_its_address_is_in_a_fault(serve: Serve, connect: Connect) -> None:
    peer = serve(sending(b"secret garbage\r\n\r\n"))

    fault = fault_of(connect(peer))

    assert "secret" not in str(fault)
    assert str(peer.port) not in str(fault)


def test_a_closed_client_refuses_and_sends_nothing(serve: Serve, connect: Connect) -> None:
    peer = serve(good)
    client = connect(peer)
    client.close()

    fault = fault_of(client)

    assert (fault.reason, fault.delivery) == (Reason.REFUSED, Delivery.NOT_SENT)
    assert peer.connections == 0


# Names


def test_a_host_name_is_resolved_and_each_of_its_addresses_tried(serve: Serve, connect: Connect) -> None:
    peer = serve(good)

    assert post(connect(f"http://localhost:{peer.port}")).body == b'{"n": 1}'
    assert peer.requests[0].headers["host"] == f"localhost:{peer.port}"


def test_a_numeric_ipv6_address_is_called(connect: Connect) -> None:
    with socket.socket(socket.AF_INET6) as unused:
        try:
            unused.bind(("::1", 0))
        except OSError:
            pytest.skip("the machine has no IPv6")

        assert fault_of(connect(f"http://[::1]:{unused.getsockname()[1]}")).detail == "the connection was refused"


def test_a_name_that_does_not_resolve_was_not_sent(connect: Connect) -> None:
    def unknown(*_: object) -> list[object]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    client = connect("http://tools.example:1", addresses=HostAddresses("tools.example", 1, lookup=unknown))

    fault = fault_of(client)

    assert (fault.reason, fault.delivery, fault.detail) == (
        Reason.REFUSED,
        Delivery.NOT_SENT,
        "its host name could not be resolved",
    )


@pytest.mark.parametrize("kind", [ConnectionResetError, BrokenPipeError, UnicodeError])
def test_whatever_goes_wrong_before_there_is_a_connection_was_not_sent(kind: type[Exception], connect: Connect) -> None:
    def failing(*_: object) -> list[object]:
        raise kind(errno.ECONNRESET, "Connection reset by peer")

    fault = fault_of(connect("http://tools.example:1", addresses=HostAddresses("tools.example", 1, lookup=failing)))

    assert (fault.reason, fault.delivery) == (Reason.REFUSED, Delivery.NOT_SENT)


def test_a_resolver_that_hangs_is_given_up_when_the_budget_ends(connect: Connect) -> None:
    release = threading.Event()

    def hanging(*_: object) -> list[object]:
        release.wait(10)
        return []

    client = connect("http://tools.example:1", addresses=HostAddresses("tools.example", 1, lookup=hanging))

    fault = fault_of(client, BUDGET_S)
    release.set()

    assert (fault.reason, fault.delivery) == (Reason.BUDGET, Delivery.NOT_SENT)


def test_the_connect_time_alone_may_end_a_call_before_its_budget(connect: Connect) -> None:
    with full_listener() as port:
        fault = fault_of(connect(f"http://127.0.0.1:{port}", connect_timeout_s=0.2))

    assert (fault.reason, fault.delivery, fault.detail) == (
        Reason.REFUSED,
        Delivery.NOT_SENT,
        "no connection came about within the connect time",
    )


def test_an_address_that_does_not_answer_leaves_time_for_the_next(serve: Serve, connect: Connect) -> None:
    peer = serve(good)
    with full_listener() as port:
        found = [*rows(port), *rows(port), *rows(peer.port)]
        client = connect(
            "http://tools.example",
            connect_timeout_s=0.9,
            addresses=HostAddresses("tools.example", 80, lookup=lambda *_: found),
        )

        assert post(client).body == b'{"n": 1}'


def test_a_host_without_any_address_cannot_be_reached(connect: Connect) -> None:
    client = connect("http://tools.example", addresses=HostAddresses("tools.example", 80, lookup=lambda *_: []))

    fault = fault_of(client)

    assert (fault.reason, fault.delivery, fault.detail) == (
        Reason.REFUSED,
        Delivery.NOT_SENT,
        "its host could not be reached",
    )


def rows(port: int) -> list[tuple[socket.AddressFamily, socket.SocketKind, int, str, tuple[str, int]]]:
    return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("127.0.0.1", port))]


@contextlib.contextmanager
def full_listener() -> Iterator[int]:
    """A loopback port whose queue is full: connecting to it gets no answer at all."""
    with contextlib.ExitStack() as sockets:
        server = sockets.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        port: int = server.getsockname()[1]
        for _ in range(4):
            waiting = sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.1", port))
        yield port


# TLS


def test_a_tls_service_is_called_and_its_connection_used_again(
    serve: Serve, connect: Connect, certified: Certified, ca_bundle: Path
) -> None:
    peer = serve(good, tls=certified("127.0.0.1"))
    client = connect(peer, ca_bundle=ca_bundle, idle_limit_s=60.0)

    bodies = [post(client, b'{"n": %d}' % number).body for number in range(3)]

    assert bodies == [b'{"n": 0}', b'{"n": 1}', b'{"n": 2}']
    assert peer.connections == 1


def test_a_tls_peer_that_drips_or_stays_silent_is_cut_off(
    serve: Serve, connect: Connect, certified: Certified, ca_bundle: Path
) -> None:
    peer = serve(peers.HOSTILE["silent"], peers.HOSTILE["dripping body"], good, tls=certified("127.0.0.1"))
    client = connect(peer, ca_bundle=ca_bundle)

    faults = [fault_of(client, BUDGET_S), fault_of(client, BUDGET_S)]

    assert [(fault.reason, fault.delivery) for fault in faults] == [(Reason.BUDGET, Delivery.UNKNOWN)] * 2
    assert post(client).body == b'{"n": 1}'


def test_a_certificate_of_an_unknown_authority_is_refused(serve: Serve, connect: Connect, certified: Certified) -> None:
    fault = fault_of(connect(serve(good, tls=certified("127.0.0.1"))))

    assert (fault.reason, fault.delivery, fault.detail) == (
        Reason.TLS,
        Delivery.NOT_SENT,
        "its certificate is not trusted",
    )


@pytest.mark.parametrize("host", ["tools.example", "127.0.0.2"])
def test_a_certificate_for_another_host_is_refused(
    host: str, serve: Serve, connect: Connect, certified: Certified, ca_bundle: Path
) -> None:
    peer = serve(good, tls=certified(host))

    fault = fault_of(connect(peer, ca_bundle=ca_bundle))

    assert (fault.reason, fault.delivery, fault.detail) == (
        Reason.TLS,
        Delivery.NOT_SENT,
        "its certificate is for another host",
    )
    assert not peer.requests


@pytest.mark.parametrize(
    ("connect_timeout_s", "budget_s", "expected"),
    [
        (0.3, 10.0, (Reason.TLS, "the TLS handshake was not finished within the connect time")),
        (10.0, 0.3, (Reason.BUDGET, "its time budget was used up")),
    ],
)
def test_a_tls_handshake_that_stalls_is_given_up(
    connect_timeout_s: float, budget_s: float, expected: tuple[Reason, str], serve: Serve, connect: Connect
) -> None:
    port = serve(peers.mute).port
    client = connect(f"https://127.0.0.1:{port}", connect_timeout_s=connect_timeout_s)

    fault = fault_of(client, budget_s)

    assert (fault.reason, fault.detail) == expected
    assert fault.delivery is Delivery.NOT_SENT


def test_a_peer_that_speaks_no_tls_is_refused(serve: Serve, connect: Connect) -> None:
    def plain(talk: peers.Talk) -> None:
        talk.send(answer(b"{}", status="400 Bad Request"))
        talk.stay()

    fault = fault_of(connect(f"https://127.0.0.1:{serve(plain).port}"))

    assert (fault.reason, fault.delivery, fault.detail) == (
        Reason.TLS,
        Delivery.NOT_SENT,
        "the TLS handshake failed",
    )


def test_a_tls_connection_that_is_tampered_with_is_a_tls_fault(
    serve: Serve, connect: Connect, certified: Certified, ca_bundle: Path
) -> None:
    def tampering(talk: peers.Talk) -> None:
        talk.request()
        talk.send_raw(b"\x17\x03\x03\x00\x20" + b"x" * 32)
        talk.stay()

    client = connect(serve(tampering, good, tls=certified("127.0.0.1")), ca_bundle=ca_bundle)

    fault = fault_of(client)

    assert (fault.reason, fault.delivery, fault.detail) == (
        Reason.TLS,
        Delivery.UNKNOWN,
        "the TLS connection failed before an answer came",
    )
    assert post(client).body == b'{"n": 1}'


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b"", (Reason.CONNECTION_LOST, Delivery.UNKNOWN, "the connection was lost before an answer came")),
        (peers.JSON_HEAD + b"\r\n{}", (Reason.UNREADABLE, ANSWERED, "its answer broke off before its end")),
    ],
)
def test_a_tls_connection_that_ends_without_tls_goodbye_is_broken_off(
    sent: bytes,
    expected: tuple[Reason, Delivery, str],
    serve: Serve,
    connect: Connect,
    certified: Certified,
    ca_bundle: Path,
) -> None:
    client = connect(serve(sending(sent), tls=certified("127.0.0.1")), ca_bundle=ca_bundle)

    fault = fault_of(client)

    assert (fault.reason, fault.delivery, fault.detail) == expected


def test_a_trust_file_that_is_not_there_is_said_when_the_client_is_made(connect: Connect, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        connect("https://tools.example", ca_bundle=tmp_path / "nowhere.pem")


# Many at once


def test_sixteen_threads_over_good_and_hostile_peers_mix_nothing_up(serve: Serve, connect: Connect) -> None:
    """Each good answer carries the number of its own call."""
    names = ["silent", "reset after reading", "truncated", "dripping body", "gzip bomb", "endless 100", "garbage"]

    def moody(talk: peers.Talk) -> None:
        while request := talk.request():
            number = peers.number(request.body)
            if number % 3:
                talk.send(b"HTTP/1.1 103 Early Hints\r\n\r\n" if number % 2 else b"")
                talk.send(answer(request.body) + (answer(b'{"n": -1}') if number % 5 == 0 else b""))
            else:
                talk.unread(request)
                peers.HOSTILE[names[number % len(names)]](talk)
                return

    peer = serve(moody)
    client = connect(peer, pool_size=16)

    def one(number: int) -> tuple[int, int | Reason]:
        try:
            budget_s = 20.0 if number % 3 else BUDGET_S
            return number, peers.number(post(client, b'{"n": %d}' % number, budget_s=budget_s).body)
        except Unanswered as fault:
            return number, fault.reason

    with ThreadPoolExecutor(16) as threads:
        results = dict(threads.map(one, range(240)))

    assert {number: got for number, got in results.items() if number % 3 and got != number} == {}
    assert all(isinstance(got, Reason) for number, got in results.items() if not number % 3)
    sent = [peers.number(request.body) for request in peer.requests]
    assert len(sent) == len(set(sent))


def test_the_answer_of_an_http_1_0_server_ends_where_the_connection_does(serve: Serve, connect: Connect) -> None:
    client = connect(serve(sending(b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{}")))

    assert post(client).body == b"{}"


def test_a_fault_of_an_answer_says_the_status_that_it_began_with(serve: Serve, connect: Connect) -> None:
    short = answer(b"ab", status="201 Created", length=10)
    large = answer(b"", status="202 Accepted", length=MAX_BYTES + 1)

    assert fault_of(connect(serve(sending(short)))).status == 201
    assert fault_of(connect(serve(sending(large)))).status == 202


def test_a_fault_before_any_answer_has_no_status(serve: Serve, connect: Connect) -> None:
    assert fault_of(connect(serve(peers.reset_after_reading))).status is None
