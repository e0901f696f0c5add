from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.processes import Gateway, configuration, gateway
from support.rpc import Answer, call, connect, envelope, post, read_answer, request, rpc
from support.toolservice import Received, Reply, ToolService

LIMIT = 4096
PING = envelope("ping")


def echo(received: Received) -> Reply:
    return Reply.of_json(received.body)


@pytest.fixture(scope="module")
def service() -> Iterator[ToolService]:
    with ToolService() as here:
        here.add("echo", echo)
        yield here


@pytest.fixture(scope="module")
def here(service: ToolService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    config = configuration(
        service,
        limits={"max_request_bytes": LIMIT},
        server={"allowed_origins": ["https://builder.example"]},
    )
    with gateway(tmp_path_factory.mktemp("http"), config) as running:
        yield running


def check_refusal(answer: Answer, status: int) -> dict[str, Any]:
    """Hold an answer outside JSON-RPC to its one shape."""
    assert answer.status == status, answer
    assert answer.headers["Content-Type"].startswith("application/json")
    document: dict[str, Any] = answer.json()
    assert set(document) == {"error", "message", "guid"}
    assert answer.headers["guid"] == document["guid"]
    assert answer.headers["x-request-id"]
    return document


def raw(here: Gateway, *parts: bytes, end: bool = False) -> Answer:
    with connect(here.url) as connection:
        for part in parts:
            connection.sendall(part)
        if end:
            connection.shutdown(socket.SHUT_WR)
        return read_answer(connection)


def head(*lines: str) -> bytes:
    usual = ["POST /mcp/core HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json"]
    usual.append("MCP-Protocol-Version: 2025-11-25")
    return "\r\n".join([*usual, *lines, "", ""]).encode()


def chunked(body: bytes, size: int = 100) -> bytes:
    parts = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def ping_of(size: int) -> bytes:
    body = envelope("ping", {"padding": ""})
    return body.replace(b'""', b'"' + b"x" * (size - len(body)) + b'"')


def test_a_body_of_exactly_the_limit_is_served(here: Gateway) -> None:
    assert post(here.route(), ping_of(LIMIT)).result == {}
    assert raw(here, head("Transfer-Encoding: chunked"), chunked(ping_of(LIMIT))).result == {}


def test_a_body_over_the_limit_is_413(here: Gateway) -> None:
    check_refusal(post(here.route(), ping_of(LIMIT + 1)), 413)


def test_a_chunked_body_over_the_limit_is_413(here: Gateway) -> None:
    check_refusal(raw(here, head("Transfer-Encoding: chunked"), chunked(ping_of(LIMIT + 1))), 413)


def test_a_length_over_the_limit_is_413_before_the_body_is_there(here: Gateway) -> None:
    check_refusal(raw(here, head("Content-Length: 99999999")), 413)


@pytest.mark.parametrize("content_type", ["text/plain", "application/xml", "application/json5", ""])
def test_a_body_that_is_not_declared_json_is_415(here: Gateway, content_type: str) -> None:
    check_refusal(post(here.route(), PING, headers={"Content-Type": content_type}), 415)


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON;profile=x"])
def test_parameters_and_case_of_the_content_type_do_not_matter(here: Gateway, content_type: str) -> None:
    assert post(here.route(), PING, headers={"Content-Type": content_type}).result == {}


def test_a_compressed_body_is_415(here: Gateway) -> None:
    check_refusal(post(here.route(), PING, headers={"Content-Encoding": "gzip"}), 415)


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"])
def test_other_methods_are_405_and_told_what_is_allowed(here: Gateway, method: str) -> None:
    answer = request(method, here.route(), headers={"Content-Type": "application/json"})
    assert answer.status == 405
    assert answer.headers["Allow"] == "POST"
    if method != "HEAD":
        check_refusal(answer, 405)


@pytest.mark.parametrize("path", ["/mcp/core/", "/mcp/cor", "/mcp", "/", "/mcp/core/x", "/mcp//core", "/MCP/core"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_unknown_path_is_404_at_once(here: Gateway, method: str, path: str) -> None:
    body = PING if method == "POST" else None
    check_refusal(request(method, here.url + path, body, {"Content-Type": "application/json"}), 404)


@pytest.mark.parametrize("host", ["evil.example.com", "127.0.0.1.evil.example.com", "evil.example.com:80"])
def test_a_foreign_host_is_403(here: Gateway, host: str) -> None:
    check_refusal(post(here.route(), PING, headers={"Host": host}), 403)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:80", "LOCALHOST:1", "[::1]"])
def test_a_loopback_host_is_served_in_profile_local(here: Gateway, host: str) -> None:
    assert post(here.route(), PING, headers={"Host": host}).result == {}


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_are_answered_under_any_host(here: Gateway, path: str) -> None:
    assert request("GET", here.url + path, headers={"Host": "10.1.2.3:8080"}).status == 200


@pytest.mark.parametrize("origin", ["https://evil.example.com", "null", "https://builder.example.evil.com"])
def test_a_foreign_origin_is_403(here: Gateway, origin: str) -> None:
    check_refusal(post(here.route(), PING, headers={"Origin": origin}), 403)


@pytest.mark.parametrize("origin", ["https://builder.example", "http://localhost:3000", "http://127.0.0.1:6274"])
def test_an_allowed_origin_is_served_and_told_so(here: Gateway, origin: str) -> None:
    answer = post(here.route(), PING, headers={"Origin": origin})
    assert answer.result == {}
    assert answer.headers["Access-Control-Allow-Origin"] == origin
    preflight = request("OPTIONS", here.route(), headers={"Origin": origin, "Access-Control-Request-Method": "POST"})
    assert preflight.status == 204
    assert preflight.headers["Access-Control-Allow-Origin"] == origin


def test_a_client_that_expects_100_continue_is_asked_for_the_body(here: Gateway) -> None:
    with connect(here.url) as connection:
        connection.sendall(head(f"Content-Length: {len(PING)}", "Expect: 100-continue"))
        assert connection.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(PING)
        assert read_answer(connection).result == {}


@pytest.mark.parametrize("framing", ["length", "chunks"])
def test_half_a_body_makes_no_call(here: Gateway, service: ToolService, framing: str) -> None:
    body = envelope("tools/call", {"name": "echo", "arguments": {"half": framing}})
    with connect(here.url) as connection:
        if framing == "length":
            # The part that is there is a whole call; only its length says that more was meant.
            connection.sendall(head(f"Content-Length: {len(body) + 5}") + body)
        else:
            connection.sendall(head("Transfer-Encoding: chunked") + b"%x\r\n%s\r\n" % (len(body), body))
        connection.shutdown(socket.SHUT_WR)
        # Whatever is answered, the end of the connection says that the gateway is through with it.
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert b" 200 " not in answer
    assert b" 500 " not in answer
    assert call(here.route(), "echo", {"half": "no"}).text == '{"half":"no"}'
    assert not [received for received in service.calls("echo") if framing.encode() in received.body]


def test_a_broken_chunk_is_a_bad_request_and_no_call(here: Gateway) -> None:
    answer = raw(here, head("Transfer-Encoding: chunked"), b"5\r\nhello\r\nzz\r\nnonsense")
    assert answer.status == 400


def test_requests_on_one_connection_do_not_mix(here: Gateway) -> None:
    with connect(here.url) as connection:
        for number in range(20):
            body = envelope("tools/call", {"name": "echo", "arguments": {"n": number}}, f"id-{number}")
            connection.sendall(head(f"Content-Length: {len(body)}") + body)
            answer = read_answer(connection)
            assert answer.json()["id"] == f"id-{number}"
            assert answer.text == json.dumps({"n": number}, separators=(",", ":"))


def test_the_caller_gets_its_own_guid_and_request_id_back(here: Gateway) -> None:
    sent = {"guid": "0B0E9F2C-5C2D-4f0a-9a51-9c7a7b1f0d11", "x-request-id": "request-1:a.b_c"}
    answer = rpc(here.route(), "ping", headers=sent)
    assert {name: answer.headers[name] for name in sent} == sent


def test_a_missing_version_header_is_400_with_the_versions_served(here: Gateway) -> None:
    answer = rpc(here.route(), "ping", version=None)
    assert answer.status == 400
    assert "2025-11-25" in answer.json()["supportedVersions"]


def test_production_serves_any_host_and_only_the_origins_it_names(tmp_path: Path) -> None:
    with ToolService() as service, gateway(tmp_path, configuration(service, profile="production")) as production:
        assert post(production.route(), PING, headers={"Host": "gateway.example"}).result == {}
        check_refusal(post(production.route(), PING, headers={"Origin": "http://localhost:3000"}), 403)
