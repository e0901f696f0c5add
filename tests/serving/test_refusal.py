"""What is no HTTP request is answered in the form of every other error."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from support.processes import configuration, gateway
from support.toolservice import ToolService

SECRET = "s3cret-4711"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory):
    with ToolService() as service:
        service.add("echo", lambda received: received)
        folder: Path = tmp_path_factory.mktemp("gateway")
        with gateway(folder, configuration(service), workers=1) as running:
            yield running


def exchange(url: str, request: bytes) -> tuple[int, dict[str, str], dict[str, str]]:
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as sock:
        sock.sendall(request)
        answer = b""
        while piece := sock.recv(65536):
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    return int(status.split(" ")[1]), headers, json.loads(body)


HEAD = b"POST /mcp/core HTTP/1.1\r\nHost: 127.0.0.1\r\n"
MANY = b"".join(b"X%d: 1\r\n" % number for number in range(200))


@pytest.mark.parametrize(
    ("request_sent", "status", "error"),
    [
        (b"nonsense\r\n\r\n", 400, "bad_request"),
        (HEAD + b"employee-no: " + SECRET.encode() + b"\x01\r\n\r\n", 400, "bad_request"),
        (HEAD + b"X: " + b"x" * 9000 + b"\r\n\r\n", 431, "request_header_fields_too_large"),
        (
            HEAD + b"".join(b"X%d: 1\r\n" % number for number in range(200)) + b"\r\n",
            431,
            "request_header_fields_too_large",
        ),
        (b"POST /" + b"x" * 5000 + b" HTTP/1.1\r\n\r\n", 414, "uri_too_long"),
        (HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "bad_request"),
    ],
)
def test_a_malformed_request_gets_the_json_error_with_its_identifiers(served, request_sent, status, error) -> None:
    answered, headers, body = exchange(served.url, request_sent)

    assert (answered, body["error"]) == (status, error)
    assert set(body) == {"error", "message", "guid"}
    assert headers["guid"] == body["guid"]
    assert headers["x-request-id"]
    assert headers["content-type"] == "application/json"


def test_what_was_sent_is_neither_echoed_nor_logged(served) -> None:
    _, _, body = exchange(served.url, HEAD + b"employee-no: " + SECRET.encode() + b"\x01\r\n\r\n")

    assert SECRET not in json.dumps(body)
    assert SECRET not in served.said()
