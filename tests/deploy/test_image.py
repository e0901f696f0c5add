"""The image, made by hand as its Dockerfile says, and run as a container runs it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from support.image import Image, build, contained, every
from support.processes import ROOT
from support.rpc import call
from support.toolservice import Received, Reply, ToolService
from test_locks import pins

# Whichever comes first waits for the installation of the whole lock.
pytestmark = pytest.mark.timeout(300)

KUBERNETES = ROOT / "deploy" / "kubernetes" / "base" / "gateway.yaml"
COMPOSE = ROOT / "deploy" / "compose" / "config" / "gateway.yaml"


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return build(tmp_path_factory.mktemp("image"))


def packages(image: Image) -> dict[str, str]:
    program = "import importlib.metadata as m, json; print(json.dumps({d.name: d.version for d in m.distributions()}))"
    done = subprocess.run([image.python, "-c", program], capture_output=True, check=True, cwd=image.app)
    return {name.lower().replace("_", "-"): version for name, version in json.loads(done.stdout).items()}


def echo(received: Received) -> Reply:
    return Reply.of_json(received.body)


def test_it_holds_the_runtime_lock_and_the_gateway_and_nothing_that_installs(image: Image) -> None:
    assert packages(image) == pins(ROOT / "requirements" / "runtime.lock") | {"mcp-gateway": "0.1.0"}


def test_it_holds_no_file_but_the_code_the_configuration_and_the_environment(image: Image) -> None:
    held = {path.name for path in image.app.iterdir()}
    assert held == {".venv", "config", "gunicorn.conf.py", "mcp_gateway", "pyproject.toml", "setup.cfg", "wsgi.py"}


def test_its_command_line_is_there_and_knows_its_version(image: Image) -> None:
    command = image.app / ".venv" / "bin" / "mcp-gateway"
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == "mcp-gateway 0.1.0\n"


def test_a_container_needs_neither_root_nor_a_writable_file_system(image: Image, tmp_path: Path) -> None:
    with ToolService() as service:
        service.add("echo", echo)
        with contained(image, tmp_path / "log", {"CORE_TOOLS_URL": service.base_url}) as here:
            here.wait_ready()
            assert call(here.route(), "echo", {"text": "한국어"}).text == '{"text":"한국어"}'
            status = Path(f"/proc/{here.pid}/status").read_text("ascii")
            assert "\nUid:\t10001\t10001\t10001\t10001\n" in status
            assert "\nCapEff:\t0000000000000000\n" in status
            root = Path(f"/proc/{here.pid}/mountinfo").read_text("ascii").splitlines()
            assert any(line.split()[4] == "/" and line.split()[5].startswith("ro") for line in root)
        assert "Traceback" not in here.said()
        assert here.process.returncode == 0


def test_the_health_check_tells_a_gateway_that_serves_from_one_that_does_not(image: Image, tmp_path: Path) -> None:
    (check,) = every("HEALTHCHECK", -1)
    command = json.loads(check.partition("CMD ")[2])
    command[0] = str(image.python)
    with contained(image, tmp_path / "log", {"CORE_TOOLS_URL": "http://127.0.0.1:9"}) as here:
        environ = {**os.environ, "PORT": here.url.rpartition(":")[2]}
        assert subprocess.run(command, env=environ, check=False).returncode == 0
    assert subprocess.run(command, env=environ, check=False, stderr=subprocess.DEVNULL).returncode == 1


@pytest.mark.parametrize("shipped", [KUBERNETES, COMPOSE], ids=["kubernetes", "compose"])
def test_the_configurations_that_are_shipped_serve_their_tools(image: Image, tmp_path: Path, shipped: Path) -> None:
    (address,) = (line for line in shipped.read_text("utf-8").splitlines() if "base_url:" in line)
    with ToolService() as service:
        service.add("echo", echo)
        text = shipped.read_text("utf-8").replace(address.partition("base_url:")[2], f" {service.base_url}")
        config = image.app / f"{tmp_path.name}.yaml"
        config.write_text(text, "utf-8")
        with contained(image, tmp_path / "log", {"MCP_GATEWAY_CONFIG": str(config)}) as here:
            here.wait_ready()
            assert call(here.route(), "echo", {"n": 1}).text == '{"n":1}'
