"""
Servers as processes of their own: a real gunicorn with the project's own settings, and anything else a test starts.

::

    with ToolService() as service, gateway(tmp_path, configuration(service)) as running:
        call(running.route(), "echo", {})

Each process is the head of a process group of its own. It is ended by its id, and leaving the ``with`` block fails when
anything of its group is left, or when the gateway logged a traceback. It ends with the test, too, when that is killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import leash
from .ports import free_port
from .rpc import Answer, request
from .toolservice import ToolService
from .waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
START_S = 30.0
STOP_S = 20.0
GROUP_S = 5.0

# A proxy that would break every call: the gateway must not take one from its environment.
HOSTILE_ENVIRONMENT = dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"), "http://127.0.0.1:9")


@dataclass(frozen=True, slots=True)
class Running:
    """A process that was started, and the file that holds all it says."""

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def pid(self) -> int:
        """Return its process id, which is the id of its group too."""
        return self.process.pid

    def said(self) -> str:
        """Return all that it said on both its outputs so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def exit_code(self) -> int:
        """Wait until it has ended, and return its exit code."""
        return self.process.wait(STOP_S)

    def group_is_left(self) -> bool:
        """Say whether any process of its group is alive."""
        try:
            os.killpg(self.pid, 0)
        except ProcessLookupError:
            return False
        return True


@contextlib.contextmanager
def running(
    command: Sequence[str], log: Path, *, env: Mapping[str, str | None] | None = None, cwd: Path = ROOT
) -> Iterator[Running]:
    """
    Run a command while the block lasts, then end it and make sure that nothing of it is left.

    Args:

        command: The program and its arguments.

        log: The file that gets its outputs.

        env: Variables to set on top of this process's own; ``None`` unsets one.

        cwd: Where it runs.
    """
    environment = dict(os.environ)
    for name, value in (env or {}).items():
        environment.pop(name, None)
        if value is not None:
            environment[name] = value
    with log.open("ab") as output:
        process = subprocess.Popen(
            command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output, process_group=0
        )
    here = Running(process, log)
    with leash.held(here.pid):
        try:
            yield here
        finally:
            late = not _end(here)
    assert not late, f"{command[:4]} had to be killed; it said:\n{here.said()[-4000:]}"
    try:
        wait_until(lambda: not here.group_is_left(), "end of the whole process group", GROUP_S)
    except AssertionError:
        os.killpg(here.pid, signal.SIGKILL)
        raise


def _end(here: Running) -> bool:
    """End the process, gently first; say whether that was enough."""
    if here.process.poll() is None:
        here.signal(signal.SIGTERM)
    try:
        here.exit_code()
        return True
    except subprocess.TimeoutExpired:
        os.killpg(here.pid, signal.SIGKILL)
        here.exit_code()
        return False


@dataclass(frozen=True, slots=True)
class Gateway(Running):
    """A running gateway."""

    url: str
    config: Path

    def route(self, key: str = "core") -> str:
        """Return the URL of a route of ``configuration()``."""
        return f"{self.url}/mcp/{key}"

    def get(self, path: str) -> Answer:
        """GET one path."""
        return request("GET", self.url + path)

    def readyz(self) -> Any:
        """Return the document of ``/readyz``, whatever its status."""
        return self.get("/readyz").json()

    def answers(self, path: str = "/healthz", status: int = 200) -> bool:
        """Say whether *path* is answered with *status* at this moment."""
        assert self.process.poll() is None, f"the gateway ended; it said:\n{self.said()[-4000:]}"
        try:
            return self.get(path).status == status
        except OSError:
            return False

    def wait_ready(self, seconds: float = START_S) -> None:
        """Wait until ``/readyz`` of every worker says 200."""
        self.wait_workers(lambda document: document["status"] == "ready", "ready worker", seconds)

    def wait_workers(self, right: Callable[[Any], bool], what: str, seconds: float = START_S) -> None:
        """
        Wait until *right* holds for ``/readyz`` of every worker.

        Args:

            right: Looks at the document of one worker.

            what: What each worker is waited for to be, for the message of the failure.

            seconds: How long at most.
        """
        good: set[int] = set()

        def all_right() -> bool:
            # Which worker answers is the system's choice; a connection of its own for each question asks them all.
            document = self.readyz()
            good.discard(document["pid"])
            good.update({document["pid"]} if right(document) else ())
            return self.workers() <= good

        wait_until(all_right, f"{what} everywhere", seconds)

    def workers(self) -> set[int]:
        """Return the process ids of its workers."""
        return {pid for pid, parent in process_table() if parent == self.pid}

    def reload(self, config: Mapping[str, Any] | str | None = None) -> None:
        """Send SIGHUP, after putting another configuration in place if one is given."""
        if config is not None:
            write_config(self.config, config)
        self.signal(signal.SIGHUP)

    def wait_replaced(self, old: set[int], seconds: float = START_S) -> None:
        """Wait until none of the *old* workers is left and as many others are there."""
        wait_until(
            lambda: not (now := self.workers()) & old and len(now) == len(old), f"workers other than {old}", seconds
        )


def process_table() -> list[tuple[int, int]]:
    """Return the id and the parent's id of every process that is alive."""
    if Path("/proc/self/stat").is_file():
        return [row for path in Path("/proc").glob("[0-9]*/stat") if (row := _read_stat(path))]
    lines = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,state="], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in lines.splitlines()]
    return [(int(pid), int(parent)) for pid, parent, state in rows if not state.startswith("Z")]


def _read_stat(path: Path) -> tuple[int, int] | None:
    """Read one process of Linux's /proc; ``None`` when it is gone, or dead and not yet taken note of."""
    try:
        pid, rest = path.read_text(errors="replace").split(" (", 1)
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name stands in brackets and may hold anything, a bracket too.
    state, parent = rest.rpartition(") ")[2].split()[:2]
    return None if state == "Z" else (int(pid), int(parent))


def configuration(*services: ToolService, **changes: Any) -> dict[str, Any]:
    """
    Write a configuration with one route, ``core`` at ``/mcp/core``, in front of *services*.

    Args:

        services: Its Tool Services.

        changes: Top-level members to add or replace.
    """
    return {"profile": "local", "routes": [route("core", *services)], **changes}


def route(key: str, *services: ToolService, **fields: Any) -> dict[str, Any]:
    """Write one route of the configuration, with its public path below ``/mcp/``."""
    members = [{"name": service.name, "base_url": service.base_url} for service in services]
    return {"key": key, "public_path": f"/mcp/{key}", "tool_services": members, **fields}


def write_config(path: Path, config: Mapping[str, Any] | str) -> None:
    """Put a configuration into a file in one step; text is written as it is."""
    # JSON is YAML too, and json.dumps quotes whatever needs quotes.
    text = config if isinstance(config, str) else json.dumps(config, indent=2)
    fresh = path.with_suffix(".new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)


@contextlib.contextmanager
def gateway_process(
    folder: Path,
    config: Mapping[str, Any] | str,
    *,
    workers: int = 2,
    env: Mapping[str, str | None] | None = None,
    name: str = "gateway",
) -> Iterator[Gateway]:
    """
    Start gunicorn with the project's ``gunicorn.conf.py`` and ``wsgi:app``, without waiting for anything.

    Args:

        folder: Where its configuration and its log are put.

        config: What ``MCP_GATEWAY_CONFIG`` shall name.

        workers: How many worker processes.

        env: Further variables; ``None`` unsets one.

        name: Tells several gateways in one folder apart.
    """
    path = folder / "config" / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    write_config(path, config)
    port = free_port()
    environment: dict[str, str | None] = {
        **HOSTILE_ENVIRONMENT,
        "HOST": "127.0.0.1",
        "PORT": str(port),
        "WEB_CONCURRENCY": str(workers),
        "MCP_GATEWAY_CONFIG": str(path),
        "MCP_GATEWAY_PROFILE": None,
        "MCP_GATEWAY_DRAIN_S": "0",  # who waits for it says so
        **(env or {}),
    }
    command = [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"]
    with running(command, folder / f"{name}.log", env=environment) as here:
        yield Gateway(here.process, here.log, f"http://127.0.0.1:{port}", path)
    assert "Traceback" not in here.said(), here.said()


@contextlib.contextmanager
def gateway(
    folder: Path,
    config: Mapping[str, Any] | str,
    *,
    workers: int = 2,
    env: Mapping[str, str | None] | None = None,
    name: str = "gateway",
    ready: bool = True,
) -> Iterator[Gateway]:
    """
    Start a gateway as ``gateway_process`` does and wait until it serves.

    Args:

        ready: Whether to wait for ``/readyz`` too, not for ``/healthz`` alone.
    """
    with gateway_process(folder, config, workers=workers, env=env, name=name) as here:
        wait_until(here.answers, "answer of /healthz", START_S)
        wait_until(lambda: len(here.workers()) == workers, f"{workers} workers", START_S)
        if ready:
            here.wait_ready()
        yield here
