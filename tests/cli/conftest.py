from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli.harness import Cli, Configure, Quiet, Ran, Running, script
from support.ports import free_port
from support.processes import configuration, route, write_config
from support.toolservice import ToolService
from werkzeug.serving import make_server

from mcp_gateway.app import Gateway
from mcp_gateway.cli.main import main
from mcp_gateway.config import load
from mcp_gateway.protocol import eras
from mcp_gateway.registry.snapshots import Snapshots


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    path = tmp_path_factory.mktemp("project") / "config" / "local.yaml"
    path.parent.mkdir()
    with script(ToolService()) as service:
        only_new = route("new", service, protocol_versions=["2026-07-28"])
        only_old = route("old", service, protocol_versions=["2025-11-25"])
        write_config(path, configuration(service, routes=[route("core", service), only_new, only_old]))
        gateway = Gateway(load.load(path, {}, versions=eras.VERSIONS), store=Snapshots())
        gateway.start()
        server = make_server("127.0.0.1", free_port(), gateway, threaded=True, request_handler=Quiet)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield Running(f"http://127.0.0.1:{server.port}", server.port, path, service)
        finally:
            server.shutdown()
            thread.join(10)
            server.server_close()
            gateway.stop()


@pytest.fixture
def gateway(running: Running, monkeypatch: pytest.MonkeyPatch) -> Running:
    """A running gateway, which the environment names too."""
    running.service.received.clear()
    monkeypatch.setenv("MCP_GATEWAY_CONFIG", str(running.config))
    monkeypatch.setenv("PORT", str(running.port))
    monkeypatch.delenv("HOST", raising=False)
    return running


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command in this process."""

    def run(*arguments: str) -> Ran:
        status = main(arguments)
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return Ran(status, said.out, said.err)

    return run


@pytest.fixture
def configure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configure:
    """Write the configuration that commands without ``--config`` read."""

    def write(document: Any) -> Path:
        path = tmp_path / "config" / "test.yaml"
        path.parent.mkdir(exist_ok=True)
        write_config(path, document)
        monkeypatch.setenv("MCP_GATEWAY_CONFIG", str(path))
        return path

    return write
