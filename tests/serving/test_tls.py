"""TLS belongs to the proxy in front. When an operator lets gunicorn speak it all the same, requests are served."""

from __future__ import annotations

import socket
import ssl
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import trustme
from serving.clients import PING, head, posted
from support.processes import configuration, gateway_process
from support.rpc import connect, read_answer
from support.toolservice import ToolService
from support.waiting import wait_until


def listens(url: str) -> bool:
    try:
        connect(url).close()
    except OSError:
        return False
    return True


def test_requests_over_tls_are_served(tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    pem = tmp_path / "server.pem"
    certificate.private_key_and_cert_chain_pem.write_to_path(str(pem))
    client = ssl.create_default_context()
    authority.configure_trust(client)
    env = {"GUNICORN_CMD_ARGS": f"--certfile {pem} --keyfile {pem}", "MCP_GATEWAY_READ_TIMEOUT_S": "2"}
    with ToolService() as service, gateway_process(tmp_path, configuration(service), workers=1, env=env) as here:
        wait_until(lambda: listens(here.url), "listening", 30)

        def encrypted(ends: ExitStack) -> socket.socket:
            name = urlsplit(here.url).hostname
            return ends.enter_context(client.wrap_socket(ends.enter_context(connect(here.url)), server_hostname=name))

        with ExitStack() as ends:
            connection = encrypted(ends)
            for _ in range(3):
                connection.sendall(posted(PING))
                assert read_answer(connection).result == {}
            too_much = encrypted(ends)
            too_much.sendall(head("Content-Length: 99999999"))
            assert read_answer(too_much).status == 413
            late = encrypted(ends)
            late.sendall(head("Content-Length: 10"))
            assert read_answer(late).status == 408
