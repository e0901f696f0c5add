"""TLS belongs to the proxy in front. When an operator lets gunicorn speak it all the same, requests are served."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest
import trustme
from serving.clients import PING, head, posted
from serving.conftest import THREADS
from support.processes import Gateway, configuration, gateway_process
from support.rpc import connect, envelope, read_answer
from support.toolservice import ToolService
from support.waiting import wait_until

Encrypted = Callable[[], socket.socket]

AUTHORITY = trustme.CA()


def listens(url: str) -> bool:
    try:
        connect(url).close()
    except OSError:
        return False
    return True


@pytest.fixture(scope="module")
def here(service: ToolService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """A gateway that speaks TLS and gives a request two seconds, an answer a minute."""
    folder = tmp_path_factory.mktemp("tls")
    pem = folder / "server.pem"
    AUTHORITY.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(pem))
    env = {
        "GUNICORN_CMD_ARGS": f"--certfile {pem} --keyfile {pem}",
        "GUNICORN_THREADS": str(THREADS),
        "MCP_GATEWAY_READ_TIMEOUT_S": "2",
        "MCP_GATEWAY_WRITE_TIMEOUT_S": "60",
    }
    with gateway_process(folder, configuration(service), workers=1, env=env) as running:
        wait_until(lambda: listens(running.url), "listening", 30)
        yield running


@pytest.fixture
def encrypted(here: Gateway) -> Iterator[Encrypted]:
    """Opens connections that have their keys."""
    client = ssl.create_default_context()
    AUTHORITY.configure_trust(client)
    with ExitStack() as ends:

        def begin() -> socket.socket:
            name = urlsplit(here.url).hostname
            return ends.enter_context(client.wrap_socket(ends.enter_context(connect(here.url)), server_hostname=name))

        yield begin


def test_requests_over_tls_are_served(encrypted: Encrypted) -> None:
    connection = encrypted()
    for _ in range(3):
        connection.sendall(posted(PING))
        assert read_answer(connection).result == {}


def test_too_much_over_tls_is_refused(encrypted: Encrypted) -> None:
    connection = encrypted()
    connection.sendall(head("Content-Length: 99999999"))
    assert read_answer(connection).status == 413


def test_half_a_request_over_tls_gets_408_in_time(encrypted: Encrypted) -> None:
    connection = encrypted()
    connection.sendall(head("Content-Length: 10"))
    assert read_answer(connection).status == 408


@pytest.mark.parametrize(
    "length", [None, 8192], ids=["as they are", "the first one as long as what is read at once of what is decrypted"]
)
def test_requests_that_are_sent_together_over_tls_are_answered_one_after_another(
    encrypted: Encrypted, length: int | None
) -> None:
    first, second = (posted(envelope("ping", request_id=number)) for number in (1, 2))
    if length is not None:
        padding = length - len(first) - len("X: \r\n")
        first = first.replace(b"\r\n\r\n", b"\r\nX: " + b"x" * padding + b"\r\n\r\n")
    connection = encrypted()
    connection.sendall(first + second)
    assert [_read_one(connection), _read_one(connection)] == [1, 2]


def _read_one(connection: socket.socket) -> int:
    """Read the answer to a ping, and nothing of the next one."""
    answer = b""
    while not answer.endswith(b"}}"):
        answer += connection.recv(1)
    return int(answer.partition(b'"id":')[2].partition(b",")[0])
