from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
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


@pytest.fixture(autouse=True)
def _at_a_free_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", str(free_port()))
    for name in ("HOST", "GUNICORN_CMD_ARGS", "LISTEN_FDS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def taken() -> Iterator[int]:
    """A port of loopback on which somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture
def service(configure: Configure) -> ToolService:
    service = ToolService()
    configure(configuration(service))
    return service


def test_gunicorn_is_run_with_the_projects_settings_and_what_the_options_say(
    service: ToolService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GUNICORN_THREADS", "7")
    execute, port = Execute(), str(free_port())
    assert serve.run(options("--host", "localhost", "--port", port, "--workers", "2"), execute) == 0
    assert execute.program == sys.executable
    assert execute.arguments[1:4] == ["-m", "gunicorn", "-c"]
    assert Path(execute.arguments[4]).is_file()
    said = ("HOST", "PORT", "WEB_CONCURRENCY", "GUNICORN_THREADS")
    assert [execute.environ[name] for name in said] == ["localhost", port, "2", "7"]


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


# --- the address -----------------------------------------------------------------------------------------------------


def test_a_port_that_is_taken_is_named_in_one_line_before_gunicorn_says_anything(
    service: ToolService, taken: int
) -> None:
    command = [sys.executable, "-m", "mcp_gateway", "serve", "--port", str(taken)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=START_S, check=False)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == (
        f"127.0.0.1:{taken} is taken: another process listens there; choose another port "
        f"(PORT={taken + 1} or --port {taken + 1}) or another address (HOST or --host)\n"
    )


def test_the_last_port_has_no_next_one(service: ToolService) -> None:
    with pytest.raises(Failed, match=r"\(PORT=65534 or --port 65534\)"):
        serve.run(options("--port", "65535", "--host", "192.0.2.1"), Execute())


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("192.0.2.1", r"192\.0\.2\.1:\d+ cannot be listened on: \w"),
        ("2001:db8::1", r"\[2001:db8::1\]:\d+ cannot be listened on: \w"),
        ("no address", r"no address:\d+ cannot be listened on: \w"),
        ("a..b", r"a\.\.b:\d+ cannot be listened on: \w"),
        ("가..b", r"가\.\.b:\d+ is no address"),
    ],
)
def test_an_address_that_is_not_of_this_machine_is_named(service: ToolService, host: str, said: str) -> None:
    execute = Execute()
    with pytest.raises(Failed, match=f"^{said}.*; choose another port"):
        serve.run(options("--host", host), execute)
    assert execute.program is None


def test_connections_that_are_still_ending_do_not_keep_a_port(service: ToolService) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as caller:
            accepted, _ = listener.accept()
            accepted.close()  # first, so that it is this side whose port lingers
            assert caller.recv(1) == b""
    execute = Execute()
    assert serve.run(options("--port", str(port)), execute) == 0
    assert execute.program


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GUNICORN_CMD_ARGS", "--bind 127.0.0.1:0"),
        ("GUNICORN_CMD_ARGS", "--pid a.pid -b 127.0.0.1:0"),
        ("GUNICORN_CMD_ARGS", "--reuse-port"),
        ("LISTEN_FDS", "1"),
    ],
)
def test_where_gunicorn_may_listen_elsewhere_it_is_left_to_gunicorn(
    service: ToolService, taken: int, name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    execute = Execute()
    assert serve.run(options("--port", str(taken)), execute) == 0
    assert execute.program


def test_other_arguments_of_gunicorn_change_nothing(
    service: ToolService, taken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GUNICORN_CMD_ARGS", "--pid my-bind.pid --backlog 9")
    with pytest.raises(Failed, match="is taken"):
        serve.run(options("--port", str(taken)), Execute())


# --- a real one ------------------------------------------------------------------------------------------------------


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
