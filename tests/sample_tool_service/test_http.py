from __future__ import annotations

import json
import socket
import sqlite3
import struct
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import pytest

from mcp_gateway.sample_tool_service import manifest
from mcp_gateway.sample_tool_service.answers import Answer, text_answer
from mcp_gateway.sample_tool_service.main import CannotStart, started
from mcp_gateway.sample_tool_service.server import MAX_BODY_BYTES, SampleServer
from mcp_gateway.sample_tool_service.tools import Call

GUID = "3f2b8c1e-6a54-4d8e-9b7a-0c1d2e3f4a5b"


def test_the_manifest_is_served_as_it_lies_in_the_package(service: Any) -> None:
    reply = service.ask("GET", "/manifest?again=1")
    assert (reply.status, reply.body) == (200, manifest.load().text)
    assert reply.headers["Content-Type"] == "application/json"
    assert reply.headers["ETag"] == manifest.load().etag


@pytest.mark.parametrize("known", ["{}", "W/{}", '"other", {}', "*"])
def test_a_known_manifest_is_answered_with_304_and_the_connection_goes_on(service: Any, known: str) -> None:
    etag = service.ask("GET", "/manifest").headers["ETag"]
    with closing(service.connect()) as connection:
        connection.request("GET", "/manifest", headers={"If-None-Match": known.format(etag)})
        response = connection.getresponse()
        assert (response.status, response.read(), response.headers["ETag"]) == (304, b"", etag)
        connection.request("GET", "/healthz")
        assert connection.getresponse().read() == b'{"status": "ok"}'


def test_another_entity_tag_gets_the_whole_manifest(service: Any) -> None:
    reply = service.ask("GET", "/manifest", headers={"If-None-Match": '"other"'})
    assert (reply.status, reply.body) == (200, manifest.load().text)


def test_head_answers_as_get_without_the_body(service: Any) -> None:
    reply = service.ask("HEAD", "/manifest")
    assert (reply.status, reply.body) == (200, b"")
    assert reply.headers["Content-Length"] == str(len(manifest.load().text))
    assert service.ask("HEAD", "/healthz").status == 200


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/manifest", "GET, HEAD"),
        ("DELETE", "/healthz", "GET, HEAD"),
        ("GET", "/tools/fail", "POST"),
        ("PUT", "/tools/fail", "POST"),
        ("PATCH", "/tools/fail", "POST"),
        ("OPTIONS", "/tools/fail", "POST"),
    ],
)
def test_another_method_is_refused_with_those_allowed(service: Any, method: str, path: str, allowed: str) -> None:
    reply = service.ask(method, path, b"{}")
    assert (reply.status, reply.headers["Allow"]) == (405, allowed)
    assert allowed in reply.message


@pytest.mark.parametrize("path", ["/", "/tools", "/tools/nothing", "/tools/fail/", "/MANIFEST", "/tools/../manifest"])
def test_an_unknown_path_is_not_found(service: Any, path: str) -> None:
    assert service.ask("GET", path).status == 404
    assert "GET /manifest" in service.ask("POST", path, b"{}").message


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_call_that_does_not_say_json_is_refused(service: Any, media_type: str) -> None:
    reply = service.ask("POST", "/tools/fail", b'{"status": 404}', {"Content-Type": media_type})
    assert reply.status == 415
    assert "application/json" in reply.message


def test_a_call_without_a_media_type_is_refused(service: Any) -> None:
    assert service.ask("POST", "/tools/fail", b'{"status": 404}').status == 415


def test_a_media_type_may_have_parameters(service: Any) -> None:
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert service.ask("POST", "/tools/current_time", b"{}", headers).status == 200


def test_one_connection_serves_call_after_call_also_after_errors(service: Any) -> None:
    calls = [("/tools/fail", b'{"status": 500}', 500), ("/nowhere", b"x" * 5000, 404), ("/tools/fail", b"{", 400)]
    with closing(service.connect()) as connection:
        connection.connect()
        port = connection.sock.getsockname()[1]
        for path, body, status in calls * 2:
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            assert (response.status, bool(response.read())) == (status, True)
            assert connection.sock.getsockname()[1] == port


def test_a_body_of_the_largest_size_is_read_and_a_larger_one_is_refused(service: Any) -> None:
    head, tail = b'{"status": 409, "message": "a"', b"}"
    largest = head + b" " * (MAX_BODY_BYTES - len(head) - len(tail)) + tail
    assert service.call("fail", largest).status == 409
    reply = service.call("fail", largest + b" ")
    assert reply.status == 413
    assert reply.headers["Connection"] == "close"
    assert str(MAX_BODY_BYTES) in reply.message


def test_the_refusal_of_a_large_body_arrives_though_the_client_sends_it_all_first(service: Any) -> None:
    assert service.call("fail", b" " * (8 * MAX_BODY_BYTES)).status == 413


def test_a_large_body_that_ends_early_is_refused_all_the_same(service: Any) -> None:
    answer = service.raw(b"POST /tools/fail HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\nxx")
    assert answer.startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    ("head", "body", "status", "words"),
    [
        (b"Content-Length: -1", b"", 400, b"not one whole number"),
        (b"Content-Length: 1_0", b"", 400, b"not one whole number"),
        (b"Content-Length: 12345678901", b"", 400, b"not one whole number"),
        (b"Content-Length: 2\r\nContent-Length: 3", b"{}", 400, b"not one whole number"),
        (b"Content-Length: 10", b"{}", 400, b"shorter than its Content-Length"),
        (b"Transfer-Encoding: chunked", b"2\r\n{}\r\n0\r\n\r\n", 411, b"Content-Length"),
    ],
)
def test_a_body_without_a_clear_length_is_refused_and_the_connection_closed(
    service: Any, head: bytes, body: bytes, status: int, words: bytes
) -> None:
    answer = service.raw(b"POST /tools/fail HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n\r\n" + body)
    assert answer.startswith(b"HTTP/1.1 %d " % status)
    assert b"Connection: close" in answer
    assert words in answer
    assert answer.count(b"HTTP/1.1 ") == 1


def test_the_same_length_said_twice_is_one_length(service: Any) -> None:
    lengths = b"Content-Length: 2\r\nContent-Length: 2\r\n"
    head = b"POST /tools/current_time HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    assert service.raw(head + lengths + b"\r\n{}").startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (b"NONSENSE\r\n\r\n", b" 400 "),
        (b"BREW / HTTP/1.1\r\n\r\n", b" 501 "),
        (b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\n\r\n", b" 414 "),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n", b" 431 "),
        (b"GET / HTTP/9.9\r\n\r\n", b" 505 "),
    ],
)
def test_a_request_that_cannot_be_read_gets_a_json_message(service: Any, request_line: bytes, status: bytes) -> None:
    answer = service.raw(request_line)
    body = answer.rpartition(b"\r\n\r\n")[2]
    assert json.loads(body)["message"]
    assert status in answer.partition(b"\r\n")[0] or answer == body
    assert service.log == [f"unreadable request {status.decode().strip()}"]


def test_a_client_that_waits_for_leave_to_send_gets_it(service: Any) -> None:
    with closing(socket.create_connection(service.address, timeout=20)) as connection:
        connection.sendall(
            b"POST /tools/current_time HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Content-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
        )
        assert connection.recv(1000).startswith(b"HTTP/1.1 100 ")
        connection.sendall(b"{}")
        assert connection.recv(1000).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("budget", ["soon", "-5", "1.5", "1e3", "9999999999"])
def test_a_budget_that_is_no_whole_number_is_refused(service: Any, budget: str) -> None:
    reply = service.call("current_time", {}, {"x-timeout-ms": budget})
    assert reply.status == 400
    assert "x-timeout-ms" in reply.message


def test_a_call_whose_budget_is_used_up_is_not_begun(service: Any) -> None:
    reply = service.call("add_note", {"title": "a", "text": "b"}, {"x-timeout-ms": "0"})
    assert (reply.status, reply.headers["Retry-After"]) == (503, "3")
    assert service.call("list_notes", {}).json == []


def test_each_request_leaves_one_line_with_its_ids_and_without_the_employee(service: Any) -> None:
    headers = {"guid": GUID, "x-request-id": "r-1", "employee-no": "E12345", "virtual-employee-no": "V67890"}
    service.call("fail", {"status": 422, "message": "secret"}, headers)
    service.ask("GET", "/healthz")
    first, second = service.log
    assert first.startswith("POST /tools/fail 422 ")
    assert first.endswith(f"ms guid={GUID} x-request-id=r-1")
    assert not {"E12345", "V67890", "secret"} & set(first.replace("=", " ").split())
    assert second.startswith("GET /healthz 200 ")
    assert second.endswith("guid=- x-request-id=-")


def test_a_header_cannot_forge_a_line_of_the_log(service: Any) -> None:
    service.raw(b"GET /health\x1bz HTTP/1.1\r\nguid: a b\r\nx-request-id: x\r\n y\x0bz\r\nConnection: close\r\n\r\n")
    (line,) = service.log
    assert line.startswith("GET - 404 ")
    assert line.endswith("guid=- x-request-id=-")


class Held:
    """A tool that holds its call until it is told to let go."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.let_go = threading.Event()

    def __call__(self, call: Call) -> Answer:
        self.begun.set()
        self.let_go.wait(30)
        return text_answer("late")


def raises(fault: Exception) -> Callable[[Call], Answer]:
    def tool(call: Call) -> Answer:
        raise fault

    return tool


def request_for(tool: str) -> bytes:
    head = f"POST /tools/{tool} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n"
    return head.encode() + b'{"status":409}'


def test_a_database_that_fails_is_a_500_and_a_line_of_the_log(
    serve: Callable[[SampleServer], AbstractContextManager[None]],
) -> None:
    log: list[str] = []
    tools = {"core.fail": raises(sqlite3.OperationalError("disk is full"))}
    server = SampleServer(("127.0.0.1", 0), manifest.load(), tools, log.append)
    with serve(server), closing(socket.create_connection(server.socket.getsockname(), timeout=20)) as connection:
        connection.sendall(request_for("fail"))
        answer = connection.recv(4096)
    server.close()
    assert answer.startswith(b"HTTP/1.1 500 ")
    assert b"disk" not in answer
    assert log[0] == "core.fail: disk is full"


def test_a_bug_in_a_tool_closes_the_connection_and_is_shown_to_the_operator(
    serve: Callable[[SampleServer], AbstractContextManager[None]], capfd: pytest.CaptureFixture[str]
) -> None:
    server = SampleServer(("127.0.0.1", 0), manifest.load(), {"core.fail": raises(RuntimeError("a bug"))})
    with serve(server), closing(socket.create_connection(server.socket.getsockname(), timeout=20)) as connection:
        connection.sendall(request_for("fail"))
        assert connection.recv(4096) == b""
    server.close()
    assert "RuntimeError: a bug" in capfd.readouterr().err


def test_a_client_that_goes_away_is_no_error_and_does_not_hold_up_the_end(
    serve: Callable[[SampleServer], AbstractContextManager[None]], capfd: pytest.CaptureFixture[str]
) -> None:
    held = Held()
    server = SampleServer(("127.0.0.1", 0), manifest.load(), {"core.fail": held})
    with serve(server):
        connection = socket.create_connection(server.socket.getsockname(), timeout=20)
        connection.sendall(request_for("fail"))
        assert held.begun.wait(20)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
    closer = threading.Thread(target=server.close)
    closer.start()
    closer.join(2.5)
    held.let_go.set()
    closer.join(20)
    assert not closer.is_alive()
    assert "Traceback" not in capfd.readouterr().err


def test_an_idle_connection_does_not_hold_up_the_end(
    start: Callable[..., AbstractContextManager[Any]], tmp_path: Path
) -> None:
    with start(tmp_path, tmp_path / "notes.sqlite3") as service:
        connection = service.connect()
        connection.request("GET", "/healthz")
        connection.getresponse().read()
    with closing(connection):
        assert connection.sock.recv(1) == b""


def test_the_service_listens_on_ipv6_as_well(tmp_path: Path) -> None:
    with closing(socket.socket(socket.AF_INET6)) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no IPv6")
    with started("::1", 0, tmp_path, tmp_path / "notes.sqlite3") as server:
        assert server.url == f"http://[::1]:{server.server_port}"


def test_an_address_in_use_is_said_in_words(service: Any, tmp_path: Path) -> None:
    port = service.server.server_port
    service = started("127.0.0.1", port, tmp_path, tmp_path / "other.sqlite3")
    with pytest.raises(CannotStart, match=f"cannot listen on 127.0.0.1 port {port}"):
        service.__enter__()
