from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest
from cli.harness import Cli, Configure
from support import rpc
from support.ports import free_port
from support.processes import ROOT, START_S, configuration, running
from support.toolservice import Reply, ToolService
from support.waiting import wait_until

from mcp_gateway.cli import main, serve
from mcp_gateway.cli.terminal import Failed


class Execute:
    """Stands where the process would be replaced."""

    def __init__(self) -> None:
        self.program: str | None = None
        self.arguments: list[str] = []
        self.environ: dict[str, str] = {}

    def __call__(self, program: str, arguments: list[str], environ: dict[str, str]) -> None:
        self.program, self.arguments, self.environ = program, arguments, environ


def options(*arguments: str) -> object:
    return main.parser().parse_args(["serve", *arguments])


@pytest.fixture
def service(configure: Configure) -> ToolService:
    service = ToolService()
    configure(configuration(service))
    return service


def test_gunicorn_is_run_with_the_projects_settings_and_what_the_options_say(
    service: ToolService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GUNICORN_THREADS", "7")
    execute = Execute()
    assert serve.run(options("--host", "::1", "--port", "9000", "--workers", "2"), execute) == 0
    assert execute.program == sys.executable
    assert execute.arguments[1:4] == ["-m", "gunicorn", "-c"]
    assert Path(execute.arguments[4]).is_file()
    said = ("HOST", "PORT", "WEB_CONCURRENCY", "GUNICORN_THREADS")
    assert [execute.environ[name] for name in said] == ["::1", "9000", "2", "7"]


def test_config_is_handed_on(service: ToolService, tmp_path: Path, configure: Configure) -> None:
    other = configure(configuration(service)).rename(tmp_path / "config" / "other.yaml")
    execute = Execute()
    serve.run(options("--config", str(other), "--threads", "3"), execute)
    assert execute.environ["MCP_GATEWAY_CONFIG"] == str(other)
    assert execute.environ["GUNICORN_THREADS"] == "3"


@pytest.mark.parametrize(
    ("option", "variable"), [("--port", "PORT"), ("--workers", "WEB_CONCURRENCY"), ("--threads", "GUNICORN_THREADS")]
)
def test_a_number_that_is_none_is_told(service: ToolService, cli: Cli, option: str, variable: str) -> None:
    ran = cli("serve", option, "many")
    assert ran.status == 1
    assert ran.err.startswith(f"{variable}: must be a whole number from 1 to ")


def test_a_faulty_configuration_is_told_and_nothing_starts(cli: Cli, configure: Configure) -> None:
    path = configure({"routes": []})
    ran = cli("serve")
    assert ran.status == 1
    fault, last = ran.err.splitlines()
    assert fault.startswith("routes: at least one route is required")
    assert last == f"{path}: 1 fault"


def test_without_the_settings_beside_the_package_it_says_where_it_works(service: ToolService, tmp_path: Path) -> None:
    execute = Execute()
    with pytest.raises(Failed, match="works from a clone of the project"):
        serve.run(options(), execute, tmp_path / "gunicorn.conf.py")
    assert execute.program is None


def test_the_gateway_serves_from_any_folder_until_sigterm(tmp_path: Path, configure: Configure) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    (tmp_path / "wsgi.py").write_text("raise SystemExit('the wrong one')")
    with ToolService() as service:
        service.add("greeting", lambda _: Reply.of_text("안녕하세요"))
        config = configure(configuration(service))
        command = [sys.executable, "-m", "mcp_gateway", "serve", "--config", str(config), "--port", str(port)]
        command += ["--workers", "1", "--threads", "4"]
        with running(command, tmp_path / "log", env={"PYTHONPATH": str(ROOT), "HOST": None}, cwd=tmp_path) as gateway:

            def ready() -> bool:
                assert gateway.process.poll() is None, gateway.said()
                try:
                    return rpc.request("GET", f"{url}/readyz").status == 200
                except OSError:
                    return False

            wait_until(ready, "ready gateway", START_S)
            assert rpc.call(f"{url}/mcp/core", "greeting").text == "안녕하세요"
            gateway.signal(signal.SIGTERM)
            assert gateway.exit_code() == 0
    assert "Traceback" not in gateway.said()
