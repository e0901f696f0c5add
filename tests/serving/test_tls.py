"""TLS belongs to the proxy in front. When an operator lets gunicorn speak it all the same, requests are served."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trustme
from gunicorn.config import Config
from serving.clients import PING, head, many, posted, read_to_end
from serving.conftest import THREADS
from support.processes import Gateway, configuration, gateway_process
from support.rpc import connect, envelope, read_answer
from support.toolservice import ToolService
from support.turns import watch
from support.waiting import wait_until

from mcp_gateway.serving.connection import Connection

Encrypted = Callable[[], socket.socket]

AUTHORITY = trustme.CA()


def listens(url: str) -> bool:
    try:
        connect(url).close()
    except OSError:
        return False
    return True


def keys(folder: Path) -> dict[str, str]:
    """Write a certificate and its key, and return the settings that name them."""
    pem = folder / "server.pem"
    AUTHORITY.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(pem))
    return {"certfile": str(pem), "keyfile": str(pem)}


def trusting() -> ssl.SSLContext:
    """A client that takes that certificate."""
    client = ssl.create_default_context()
    AUTHORITY.configure_trust(client)
    return client


@pytest.fixture(scope="module")
def here(service: ToolService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """A gateway that speaks TLS and gives a request two seconds, an answer a minute."""
    folder = tmp_path_factory.mktemp("tls")
    env = {
        "GUNICORN_CMD_ARGS": " ".join(f"--{name} {path}" for name, path in keys(folder).items()),
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
    with ExitStack() as ends:

        def begin() -> socket.socket:
            name = urlsplit(here.url).hostname
            plain = ends.enter_context(connect(here.url))
            return ends.enter_context(trusting().wrap_socket(plain, server_hostname=name))

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
    "sent", [b"\x16", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"], ids=["a byte", "half a hello"]
)
def test_a_handshake_that_stops_is_ended_in_time_and_is_no_fault_of_ours(here: Gateway, sent: bytes) -> None:
    with many(here.url, 3 * THREADS, sent) as slow:
        assert [read_to_end(connection) for connection in slow] == [b""] * len(slow)
    assert "Traceback" not in here.said()


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


@pytest.mark.parametrize("when", [False, True], ids=["after connecting", "on connecting"])
def test_a_handshake_is_awaited_without_a_turn(tmp_path: Path, when: bool) -> None:
    config = Config()
    for name, value in {**keys(tmp_path), "do_handshake_on_connect": when}.items():
        config.set(name, value)
    ours, theirs = socket.socketpair()
    with watch() as watching, ThreadPoolExecutor(1) as pool:
        connection = Connection(config, ours, "", "", 10, 60, lambda _: False)

        def shake_hands() -> None:
            wait_until(lambda: watching.is_away, "thread that waits for the client")
            with trusting().wrap_socket(theirs, server_hostname="127.0.0.1"):
                pass

        client = pool.submit(shake_hands)
        connection.init()
        client.result(20)
        assert watching.waits == 1
        assert connection.sock.gettimeout() == 60
        connection.close()
