from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from mcp_gateway.sample_tool_service.main import started
from mcp_gateway.sample_tool_service.server import SampleServer

REPORT = "# 주간 보고서\n\n매주 금요일에 보고서를 올립니다. 근로계약서는 따로 보관합니다.\n"
GUIDE = "# Time budgets\n\nEvery call has a budget; a slow Tool Service is cut off.\n"


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def message(self) -> str:
        message = self.json["message"]
        assert isinstance(message, str)
        return message


@dataclass(frozen=True)
class Service:
    """A running service, and a client for it."""

    server: SampleServer
    documents: Path
    log: list[str]

    @property
    def address(self) -> tuple[str, int]:
        return "127.0.0.1", self.server.server_port

    def connect(self) -> HTTPConnection:
        return HTTPConnection(*self.address, timeout=20)

    def ask(self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> Reply:
        with closing(self.connect()) as connection:
            return exchange(connection, method, path, body, headers)

    def call(self, tool: str, arguments: Any, headers: Mapping[str, str] | None = None) -> Reply:
        body = arguments if isinstance(arguments, bytes) else json.dumps(arguments).encode()
        return self.ask("POST", f"/tools/{tool}", body, {"Content-Type": "application/json"} | dict(headers or {}))

    def raw(self, request: bytes) -> bytes:
        """Send bytes, say that there are no more, and return all that comes back."""
        with closing(socket.create_connection(self.address, timeout=20)) as connection:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            with connection.makefile("rb") as stream:
                return stream.read()


def exchange(
    connection: HTTPConnection,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    connection.request(method, path, body, dict(headers or {}))
    response = connection.getresponse()
    return Reply(response.status, dict(response.headers), response.read())


@contextmanager
def serving(server: SampleServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join(10)


@contextmanager
def run(documents: Path, data: Path) -> Iterator[Service]:
    log: list[str] = []
    with started("127.0.0.1", 0, documents, data, log.append) as server, serving(server):
        yield Service(server, documents, log)


@pytest.fixture
def start() -> Callable[[Path, Path], AbstractContextManager[Service]]:
    """Start a service on a folder of documents and a notes file."""
    return run


@pytest.fixture
def serve() -> Callable[[SampleServer], AbstractContextManager[None]]:
    """Let a server serve while a ``with`` block lasts."""
    return serving


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "report.ko.md").write_text(REPORT, encoding="utf-8")
    (folder / "budgets.md").write_text(GUIDE, encoding="utf-8")
    return folder


@pytest.fixture
def service(documents: Path, tmp_path: Path) -> Iterator[Service]:
    with run(documents, tmp_path / "notes.sqlite3") as running:
        yield running
