"""
Clients that are slow, silent or gone, on more connections than there are threads, beside callers who want an answer.

``patient`` gives a client an hour: a caller who is served beside slow clients there proves that they hold no thread.
``here`` gives it two seconds.
"""

from __future__ import annotations

import http.client
import re
import select
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from urllib.parse import urlsplit

import pytest
from serving.clients import PING, Dripping, head, many, posted, read_to_end, reset
from serving.conftest import THREADS, Start
from support.processes import Gateway, configuration, gateway_process
from support.rpc import call, connect, envelope, read_answer, rpc
from support.toolservice import Received, Reply, ToolService
from support.waiting import wait_until

MORE_THAN_THREADS = 3 * THREADS


def check_served(here: Gateway) -> None:
    """Ask more often than there are threads."""
    for number in range(2 * THREADS):
        assert rpc(here.route(), "ping", request_id=number).result == {}


def status_of(connection: socket.socket) -> int:
    """Read an answer that must be the last one on its connection, and announced as such."""
    answer = read_answer(connection)
    assert answer.headers["Connection"] == "close"
    assert connection.recv(1) == b""
    return answer.status


# --- no thread waits -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sent",
    [b"", head()[:40], head("Content-Length: 1000"), head("Transfer-Encoding: chunked") + b"3e8\r\n"],
    ids=["nothing", "half a head", "half a body", "half a chunk"],
)
@pytest.mark.parametrize("drips", [False, True], ids=["stops", "drips"])
def test_a_request_that_has_not_arrived_holds_no_thread(patient: Gateway, sent: bytes, drips: bool) -> None:
    with many(patient.url, 200, sent) as slow, ExitStack() as until_the_end:
        if drips:
            until_the_end.enter_context(Dripping(slow[:20], b"x"))
        check_served(patient)


def test_a_silent_connection_is_served_when_it_speaks(patient: Gateway) -> None:
    with many(patient.url, 200) as silent:
        for connection in silent[::50]:
            connection.sendall(posted(PING))
            assert read_answer(connection).result == {}


@pytest.mark.parametrize(
    "cut", [1, 40, -1], ids=["first byte of the next one", "half a head of it", "all of it but the last byte"]
)
def test_what_is_sent_behind_a_request_and_is_no_request_holds_no_thread(patient: Gateway, cut: int) -> None:
    request = posted(PING)
    with many(patient.url, MORE_THAN_THREADS, request + request[:cut]) as slow:
        assert [read_answer(connection).result for connection in slow] == [{}] * len(slow)
        check_served(patient)
        for connection in slow:
            connection.sendall(request[cut:])
            assert read_answer(connection).result == {}


def test_half_a_head_is_dropped_in_time(here: Gateway) -> None:
    with many(here.url, MORE_THAN_THREADS, head()[:40]) as slow:
        assert [read_to_end(connection) for connection in slow] == [b""] * len(slow)


def test_half_a_body_behind_a_request_gets_408_in_time(here: Gateway) -> None:
    with many(here.url, MORE_THAN_THREADS, posted(PING) + posted(PING)[:-1]) as slow:
        ends = [read_to_end(connection) for connection in slow]
    assert {re.findall(rb"HTTP/1.1 (\d+)", end) == [b"200", b"408"] for end in ends} == {True}


def test_half_a_body_gets_408_in_time_and_makes_no_call(here: Gateway, service: ToolService) -> None:
    body = envelope("tools/call", {"name": "echo", "arguments": {"half": "small"}})
    with many(here.url, MORE_THAN_THREADS, head(f"Content-Length: {len(body) + 1}") + body) as slow:
        answers = [read_answer(connection) for connection in slow]
    assert {answer.status for answer in answers} == {408}
    assert answers[0].json()["error"] == "request_timeout"
    assert answers[0].json()["guid"] == answers[0].headers["guid"]
    assert not [received for received in service.calls("echo") if b"small" in received.body]


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        pytest.param(head()[:40], b"", id="head"),
        pytest.param(head("Content-Length: 1000"), b"HTTP/1.1 408 ", id="body"),
        pytest.param(head("Transfer-Encoding: chunked") + b"3e8\r\n", b"HTTP/1.1 408 ", id="chunk"),
    ],
)
def test_dripping_wins_no_time(here: Gateway, sent: bytes, answer: bytes) -> None:
    with many(here.url, MORE_THAN_THREADS, sent) as slow, Dripping(slow, b"x"):
        ends = [read_to_end(connection) for connection in slow]
    assert {end[: len(answer)] for end in ends} == {answer}


def test_an_answered_client_that_stays_holds_nothing(here: Gateway) -> None:
    with many(here.url, 20, posted(PING, "Connection: close")) as stays:
        check_served(here)
        assert {status_of(connection) for connection in stays} == {200}
        # … and is let go in the end: what it sends then meets no one.
        wait_until(lambda: meets_no_one(stays[0]), "end of the connection")


def meets_no_one(connection: socket.socket, sent: bytes = b"x") -> bool:
    try:
        connection.sendall(sent)
    except OSError:
        return True
    return False


# --- a thread waits, for a bounded time ------------------------------------------------------------------------------


@pytest.mark.parametrize("drips", [False, True], ids=["stops", "drips"])
@pytest.mark.parametrize(
    "start_of_request",
    [
        pytest.param(head("Content-Length: 100000"), id="large body"),
        pytest.param(head("Content-Length: 1000", "Expect: 100-continue"), id="asked for"),
    ],
)
def test_a_body_that_a_thread_reads_gets_408_in_time(here: Gateway, start_of_request: bytes, drips: bool) -> None:
    with many(here.url, MORE_THAN_THREADS, start_of_request) as slow, ExitStack() as until_the_end:
        if drips:
            until_the_end.enter_context(Dripping(slow, b"x"))
        check_served(here)
        ends = [read_to_end(connection).removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n") for connection in slow]
    assert all(end.startswith(b"HTTP/1.1 408 ") for end in ends)
    assert all(b"\r\nConnection: close\r\n" in end for end in ends)


def test_an_endless_head_is_read_in_a_bounded_time(here: Gateway) -> None:
    endless = head()[:-2] + b"".join(b"X-%d: %s\r\n" % (number, b"x" * 8000) for number in range(9))
    with many(here.url, MORE_THAN_THREADS, endless) as slow:
        check_served(here)
        assert [read_to_end(connection) for connection in slow] == [b""] * len(slow)


def test_a_head_that_is_too_large_is_refused_although_it_does_not_end(patient: Gateway) -> None:
    with connect(patient.url) as connection:
        connection.sendall(head()[:-2] + b"".join(b"X-%d: %s\r\n" % (number, b"x" * 8000) for number in range(105)))
        assert status_of(connection) == 431


def test_endless_trailers_are_refused(patient: Gateway) -> None:
    with connect(patient.url) as connection:
        connection.sendall(head("Transfer-Encoding: chunked") + b"0\r\n" + b"x: y\r\n" * 12_000)
        assert status_of(connection) == 400


def test_an_answer_that_nobody_reads_is_given_up(start: Start) -> None:
    with ToolService() as service:
        service.add("large", lambda _: Reply(b"x" * 20_000_000))
        here = start(service, MCP_GATEWAY_WRITE_TIMEOUT_S="1")
        body = envelope("tools/call", {"name": "large"})
        with many(here.url, MORE_THAN_THREADS, posted(body)):
            service.wait_for_calls("large", THREADS)
            check_served(here)


# --- what is slow but honest is served -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pieces",
    [
        [bytes([byte]) for byte in posted(PING)],
        [head(f"Content-Length: {len(PING)}"), PING],
        [head("Transfer-Encoding: chunked"), b"%x\r\n" % len(PING), PING, b"\r\n0\r\n", b"\r\n"],
        [head("Content-Length: 200000"), PING, b" " * 100_000, b" " * (100_000 - len(PING))],
    ],
    ids=["bytes", "head and body", "chunks", "large"],
)
def test_a_request_in_pieces_is_served(patient: Gateway, pieces: list[bytes]) -> None:
    with connect(patient.url) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            connection.sendall(piece)
        assert read_answer(connection).json()["id"] == 1


def test_chunks_with_a_trailer_are_served_though_not_at_once(here: Gateway) -> None:
    request = head("Transfer-Encoding: chunked") + b"%x\r\n%s\r\n0\r\nx-trailer: 1\r\n\r\n" % (len(PING), PING)
    with connect(here.url) as connection:
        for _ in range(2):
            connection.sendall(request)
            assert read_answer(connection).result == {}
        connection.sendall(head("Content-Length: 100000") + PING)
        connection.sendall(b" " * (100_000 - len(PING)))
        assert read_answer(connection).result == {}


def test_a_connection_is_used_again_and_again(patient: Gateway) -> None:
    with connect(patient.url) as connection:
        for number in range(10):
            body = envelope("ping", request_id=number)
            request = posted(body)
            connection.sendall(request[:number])
            connection.sendall(request[number:])
            answer = read_answer(connection)
            assert (answer.json()["id"], answer.headers["Connection"]) == (number, "keep-alive")


def test_requests_that_are_sent_together_are_answered_one_after_another(here: Gateway) -> None:
    with connect(here.url) as connection:
        connection.sendall(b"".join(posted(envelope("ping", request_id=number)) for number in range(5)))
        answers = b""
        while answers.count(b'"result"') < 5:
            answers += connection.recv(65536)
    assert [answers.index(b'"id":%d' % number) for number in range(5)] == sorted(
        answers.index(b'"id":%d' % number) for number in range(5)
    )


# --- a 413 is seen ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunked", [False, True])
def test_a_client_that_posts_too_much_sees_the_413(here: Gateway, chunked: bool) -> None:
    parts = urlsplit(here.url)
    client = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    body = iter([b"x" * 65536] * 160) if chunked else b"x" * 10_485_760
    client.request("POST", "/mcp/core", body, {"Content-Type": "application/json"}, encode_chunked=chunked)
    answer = client.getresponse()
    assert (answer.status, answer.headers["Connection"]) == (413, "close")
    assert b"payload_too_large" in answer.read()
    client.close()


def test_a_client_that_never_stops_is_cut_off(here: Gateway) -> None:
    with connect(here.url) as connection:
        connection.sendall(head("Content-Length: 99999999999"))
        taken = 0
        while not meets_no_one(connection, b"x" * 8_388_608):
            taken += 8_388_608
    # 64 MiB are thrown away; the rest is what the system takes on both sides.
    assert taken < 200_000_000
    check_served(here)


# --- clients that have gone ------------------------------------------------------------------------------------------


def test_connections_that_break_leave_nothing_behind(here: Gateway) -> None:
    for sends in (b"", head()[:40], head("Content-Length: 1000"), head("Content-Length: 100000"), posted(PING)):
        with many(here.url, 5, sends) as broken:
            for connection in broken:
                reset(connection)
    check_served(here)


def test_a_call_that_waits_for_a_thread_is_not_made_when_its_client_has_hung_up(start: Start) -> None:
    gate = Event()

    def hang(received: Received) -> Reply:
        received.hold(gate)
        return Reply.of_text("done")

    with ToolService() as service, ThreadPoolExecutor(2) as pool:
        service.add("hang", hang)
        service.add("effect", lambda _: Reply.of_text("done"))
        here = start(service, GUNICORN_THREADS="1")
        first = pool.submit(call, here.route(), "hang")
        service.wait_for_calls("hang")
        patient = pool.submit(call, here.route(), "effect", {"who": "patient"})
        with connect(here.url) as gone:
            gone.sendall(posted(envelope("tools/call", {"name": "effect", "arguments": {"who": "gone"}})))
        begun = time.monotonic()
        wait_until(lambda: time.monotonic() - begun > 1.5, "queue that is old enough")
        gate.set()
        assert (first.result(20).text, patient.result(20).text) == ("done", "done")
        assert call(here.route(), "effect", {"who": "last"}).text == "done"
        assert [received.body for received in service.calls("effect")] == [b'{"who": "patient"}', b'{"who": "last"}']


def test_where_no_connection_is_kept_a_new_one_still_has_time_to_speak(start: Start, service: ToolService) -> None:
    here = start(service, "--keep-alive 0")
    with many(here.url, 5) as silent:
        check_served(here)
        silent[0].sendall(posted(PING))
        assert status_of(silent[0]) == 200


# --- the number of connections ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("sent", [b"", head()[:40]], ids=["nothing", "half a head"])
def test_connections_that_wait_make_room_when_there_are_too_many(
    start: Start, service: ToolService, sent: bytes
) -> None:
    here = start(service, "--worker-connections 20", MCP_GATEWAY_READ_TIMEOUT_S="3600")
    for _ in range(3):  # connections that are gone are not counted
        with many(here.url, 15, posted(PING, "Connection: close")) as answered:
            assert {status_of(connection) for connection in answered} == {200}
    with many(here.url, 60, sent) as waiting:
        check_served(here)
        assert waiting[0].recv(1) == b""
        waiting[-1].sendall(posted(PING)[len(sent) :])
        assert read_answer(waiting[-1]).result == {}


def test_connections_that_rest_make_room_when_there_are_too_many(start: Start, service: ToolService) -> None:
    here = start(service, "--worker-connections 20")
    with many(here.url, 20 - THREADS, posted(PING)) as kept:
        assert [read_answer(connection).headers["Connection"] for connection in kept] == ["keep-alive"] * len(kept)
        check_served(here)  # or the others could come before the last one rests
        with many(here.url, THREADS):
            check_served(here)
            ended, _, _ = select.select(kept, [], [], 20)
            assert {connection.recv(1) for connection in ended} == {b""}


# --- the end ---------------------------------------------------------------------------------------------------------


def test_a_stop_waits_for_no_client(start: Start, service: ToolService) -> None:
    here = start(service, MCP_GATEWAY_READ_TIMEOUT_S="3600")
    with (
        many(here.url, 50) as silent,
        many(here.url, MORE_THAN_THREADS, head("Content-Length: 1000")) as arriving,
        many(here.url, MORE_THAN_THREADS, posted(PING, "Connection: close")) as answered,
    ):
        assert {status_of(connection) for connection in answered} == {200}
        here.signal(signal.SIGTERM)
        assert here.exit_code() == 0
        assert [read_to_end(connection) for connection in silent] == [b""] * len(silent)
        assert {status_of(connection) for connection in arriving} == {408}


def test_a_reload_fails_no_request_that_is_arriving(start: Start, service: ToolService) -> None:
    here = start(service)
    request = posted(PING)
    with connect(here.url) as slow:
        slow.sendall(request[:-4])
        old = here.workers()
        here.reload()
        wait_until(lambda: here.workers() - old, "a new worker", 20)
        slow.settimeout(4)  # longer than a stopping worker waits for the silent
        with pytest.raises(TimeoutError):
            slow.recv(1)
        slow.settimeout(20)
        slow.sendall(request[-4:])

        assert read_answer(slow).result == {}


# --- settings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", ["--protocol uwsgi", "--http-protocols h2,h1"])
def test_a_protocol_that_would_hold_threads_is_refused(tmp_path: Path, service: ToolService, arguments: str) -> None:
    with gateway_process(tmp_path, configuration(service), env={"GUNICORN_CMD_ARGS": arguments}) as here:
        assert here.exit_code() == 1
        assert "http_protocols" in here.said()
