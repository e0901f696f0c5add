from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest
from support.processes import Gateway, configuration, gateway
from support.toolservice import Received, Reply, ToolService

THREADS = 4
Start = Callable[..., Gateway]


def echo(received: Received) -> Reply:
    return Reply.of_json(received.body)


@pytest.fixture(scope="module")
def service() -> Iterator[ToolService]:
    with ToolService() as here:
        here.add("echo", echo)
        yield here


def started(service: ToolService, folder: Path, seconds: int) -> AbstractContextManager[Gateway]:
    """Start a gateway of one worker with few threads, which gives a client so many seconds."""
    times = dict.fromkeys(("MCP_GATEWAY_READ_TIMEOUT_S", "MCP_GATEWAY_WRITE_TIMEOUT_S"), str(seconds))
    return gateway(folder, configuration(service), workers=1, env={"GUNICORN_THREADS": str(THREADS), **times})


@pytest.fixture(scope="module")
def here(service: ToolService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """A gateway that gives a client two seconds."""
    with started(service, tmp_path_factory.mktemp("here"), 2) as running:
        yield running


@pytest.fixture(scope="module")
def patient(service: ToolService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """A gateway that gives a client an hour."""
    with started(service, tmp_path_factory.mktemp("patient"), 3600) as running:
        yield running


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a gateway of one worker of a test's own."""
    with ExitStack() as ends:

        def begin(service: ToolService, arguments: str = "", **env: Any) -> Gateway:
            settings = {"GUNICORN_THREADS": str(THREADS), "GUNICORN_CMD_ARGS": arguments, **env}
            return ends.enter_context(gateway(tmp_path, configuration(service), workers=1, env=settings))

        yield begin
