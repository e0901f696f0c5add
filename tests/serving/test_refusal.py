"""What is no HTTP request is answered in the form of every other error."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
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
JSON = b"Content-Type: application/json\r\n"

# What is sent for each row of the table on the page, which says what is answered.
SENT = {
    "a malformed request line, header or chunk; two lengths": [
        b"nonsense\r\n\r\n",
        HEAD + b"employee-no: " + SECRET.encode() + b"\x01\r\n\r\n",
        HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + JSON + b"Transfer-Encoding: chunked\r\n\r\nnonsense\r\n",
    ],
    "another version than HTTP/1.0 and HTTP/1.1": [b"GET /healthz HTTP/2.0\r\n\r\n", b"GET /healthz HTTP/0.9\r\n\r\n"],
    "a request line of more than 4094 bytes": [b"POST /" + b"x" * 5000 + b" HTTP/1.1\r\n\r\n"],
    "an `Expect` other than `100-continue`": [HEAD + b"Expect: foo\r\n\r\n"],
    "a header of more than 8190 bytes, or more than 100 headers": [
        HEAD + b"X: " + b"x" * 9000 + b"\r\n\r\n",
        HEAD + b"".join(b"X%d: 1\r\n" % number for number in range(200)) + b"\r\n",
    ],
    "a `Transfer-Encoding` that HTTP does not know": [HEAD + b"Transfer-Encoding: foo\r\n\r\n"],
}
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "contracts" / "agent-builder.md").read_text("utf-8")


def rows() -> Iterator[tuple[str, int, str]]:
    """Yield what is no HTTP request, with the status and the error that the page promises."""
    _, _, table = PAGE.partition("| no HTTP request | status | error |\n| --- | --- | --- |\n")
    for what, status, error in re.findall(r"\| (.*) \| (\d+) \| `(\w+)` \|\n", table.partition("\n\n")[0]):
        yield what, int(status), error


def test_the_page_and_this_test_know_the_same_cases() -> None:
    assert [what for what, _, _ in rows()] == list(SENT)


@pytest.mark.parametrize(
    ("request_sent", "status", "error"),
    [(sent, status, error) for what, status, error in rows() for sent in SENT.get(what, [])],
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
