"""
A gateway as it is shipped: ``gunicorn -c gunicorn.conf.py wsgi:app``, started, watched from ``/proc``, and ended.

What it must never do, whatever the fault, is looked for here: a traceback in its log, a worker that was restarted
without being asked, threads and sockets that are left behind, an end with another exit status than 0.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench import processes

from .load import Line, NoAnswer, get, numbers
from .tool_service import ToolService
from .wire import Call

ROOT: Final = Path(__file__).resolve().parents[1]
WORKERS: Final = 2
START_S: Final = 120.0
"""How long a start may take on a machine that is busy with other things."""

SETTLE_S: Final = 25.0
"""How long a gateway may take to be at rest after a load: some connections are kept for a few seconds on purpose."""

END_S: Final = 60.0

MORE_FILES: Final = 4
"""Open files that all workers together may have more than before: a log, a module that was not needed before."""

_MEMORY: Final = re.compile(r"^Anonymous:\s+(\d+) kB", re.MULTILINE)
"""
What a process has of memory that is no file's, pages that it still shares with its master included: any figure that is
divided by the number of sharers grows when one of them writes, or when another program ends.
"""


@dataclass(frozen=True, slots=True)
class Figures:
    """What the workers hold: open files, threads, those of them that wait for something outside, own memory in MB."""

    files: int
    threads: int
    waiting: int
    megabytes: float


def route(key: str, *services: ToolService, **fields: Any) -> dict[str, Any]:
    """Return one route of the configuration in front of these Tool Services; *fields* go to each of these."""
    members = [{"name": service.name, "base_url": service.base_url, **fields} for service in services]
    return {"key": key, "public_path": f"/mcp/{key}", "tool_services": members}


class Gateway:
    """
    A running gateway.

    Args:

        folder: Where its configuration and its log are put.

        name: Tells several gateways of one folder apart.

        configuration: What its file holds.

        environment: Variables on top of those that every gateway here has.

        within: A command that runs another one, as its last arguments, in surroundings that are odd.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        configuration: Mapping[str, Any],
        environment: Mapping[str, str],
        within: Sequence[str] = (),
    ) -> None:
        self.port = free_port()
        self.log = folder / f"{name}.log"
        self.problems: list[str] = []
        self.path = configuration["routes"][0]["public_path"]
        self._config = folder / f"{name}.yaml"
        self._given = environment
        self._within = within
        self._known: set[int] = set()
        self._before: Figures | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self.configure(configuration)

    def configure(self, configuration: Mapping[str, Any]) -> None:
        """Write its configuration, for the start or for the next SIGHUP; JSON is YAML too."""
        fresh = self._config.with_suffix(".new")
        fresh.write_text(json.dumps(configuration))
        fresh.replace(self._config)

    # --- life --------------------------------------------------------------------------------------------------------

    @property
    def pid(self) -> int:
        """The id of its master."""
        if self._process is None:
            raise RuntimeError("the gateway has not been started")
        return self._process.pid

    def start(self) -> None:
        """Start it, without waiting for anything."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "HOME") if name in os.environ}
        own = {"MCP_GATEWAY_CONFIG": str(self._config), "PORT": str(self.port), "HOST": "127.0.0.1"}
        # The time in which a load balancer notices that an instance leaves is waited for where that is the fault.
        usual = {"WEB_CONCURRENCY": str(WORKERS), "MCP_GATEWAY_DRAIN_S": "0"}
        environment = {**kept, **own, **usual, **self._given}
        command = [*self._within, sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"]
        self._process = processes.start(command, folder=ROOT, env=environment, log=self.log)

    async def serves(self, *, ready: bool = True) -> None:
        """
        Wait until all workers are there and serve, and, if *ready*, have the tools of every route.

        Raises:

            RuntimeError: They do not.
        """
        await until(lambda: self._all_serve(ready), "ready gateway", START_S)
        self._known = self.workers()

    async def _all_serve(self, ready: bool) -> bool:
        """Ask twelve times, each time on a connection of its own, and return whether every worker has answered well."""
        if self._process is None or self._process.poll() is not None:
            raise RuntimeError(f"the gateway has ended; it said:\n{self.said()[-3000:]}")
        good: set[int] = set()
        for _ in range(6 * WORKERS):
            try:
                answer = await get(self.port, "/readyz")
            except (OSError, NoAnswer):
                return False
            if answer.status == 200 or not ready:
                good.add(json.loads(answer.body)["pid"])
        workers = self.workers()
        return len(workers) == WORKERS and workers <= good

    def signal(self, number: signal.Signals) -> None:
        """Send its master a signal."""
        os.kill(self.pid, number)

    def reload(self) -> None:
        """Have it read configuration and manifests again."""
        self.signal(signal.SIGHUP)

    def kill(self, *workers: int) -> None:
        """Kill these workers; with none, the whole gateway, which is a process group of its own."""
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
        if not workers and self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()

    async def replaced(self, former: set[int]) -> None:
        """Wait until none of these workers is left and new ones stand in for them, which is as it should be."""
        await until(lambda: len(now := self.workers()) == WORKERS and not now & former, "new workers", START_S)
        self._known = self.workers()

    async def ended(self) -> int:
        """Wait until it has ended, and return its exit status; it must be killed when it does not."""
        process = self._process
        if process is None:
            raise RuntimeError("the gateway has not been started")
        try:
            await until(lambda: process.poll() is not None, "end of the gateway", END_S)
        except RuntimeError:
            self.problems.append(f"it did not end within {END_S:g} s")
            self.kill()
        return process.wait()

    async def stop(self) -> None:
        """End it; an end with another status than 0 is a problem."""
        if self._process is not None and self._process.poll() is None:
            self.signal(signal.SIGTERM)
            if status := await self.ended():
                self.problems.append(f"it ended with status {status}")

    # --- what it must not do -----------------------------------------------------------------------------------------

    def said(self) -> str:
        """Return its log."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def look_at_log(self) -> None:
        """Note tracebacks and what gunicorn itself calls critical."""
        said = self.said()
        for word in ("Traceback", '"level":"critical"', "WORKER TIMEOUT"):
            if times := said.count(word):
                at = said.find(word)
                self.problems.append(f"{word} is in its log {times} times: {said[max(0, at - 200) : at + 600]}")

    def look_at_workers(self) -> None:
        """Note workers that are not those that were there."""
        if lost := self._known - self.workers():
            self.problems.append(f"{len(lost)} workers were restarted without being asked to")

    def workers(self) -> set[int]:
        """Return the process ids of its workers."""
        return set(processes.tree(self.pid)) - {self.pid}

    def figures(self) -> Figures:
        """Return what its workers hold now."""
        found = [_figures(pid) for pid in self.workers()]
        return Figures(*(sum(column) for column in zip(*found, strict=True))) if found else Figures(0, 0, 0, 0.0)

    async def remember(self, tools: Sequence[str]) -> None:
        """Make some calls of these healthy tools, and note what the workers hold once they rest again."""
        for tool in (tool for tool in tools for _ in range(6 * WORKERS)):
            line = await Line.open(self.port)
            await line.ask(Call(next(numbers), tool, self.path).request())
            line.close()
        await until(lambda: not self.figures().waiting, "rest before the load", SETTLE_S, pause_s=0.2)
        self._before = self.figures()

    async def rests(self) -> str:
        """Wait until the workers hold no more than before; return what is left, and note it if it is too much."""
        before = now = self._before or self.figures()

        def is_at_rest() -> bool:
            nonlocal now
            now = self.figures()
            return now.files - before.files <= MORE_FILES and not now.waiting

        try:
            await until(is_at_rest, "rest", SETTLE_S, pause_s=0.2)
        except RuntimeError:
            self.problems.append(
                f"left behind: {now.files - before.files} open files, {now.waiting} threads that wait for something"
            )
        return f"{now.waiting} / {max(0, now.files - before.files)}"


async def until(look: Callable[[], Any], what: str, seconds: float, *, pause_s: float = 0.05) -> None:
    """
    Look again and again until there is something to see.

    Raises:

        RuntimeError: It did not come in time.
    """
    end = time.monotonic() + seconds
    while True:
        seen = look()
        if await seen if asyncio.iscoroutine(seen) else seen:
            return
        if time.monotonic() > end:
            raise RuntimeError(f"no {what} within {seconds:g} s")
        await asyncio.sleep(pause_s)


@contextlib.asynccontextmanager
async def running(gateway: Gateway) -> AsyncIterator[Gateway]:
    """Start a gateway and end it, whatever happens; what it must not do is noted in its ``problems``."""
    gateway.start()
    try:
        yield gateway
        await gateway.stop()
        gateway.look_at_log()
    finally:
        gateway.kill()


def _figures(pid: int) -> tuple[int, int, int, float]:
    """Return what one process holds; nothing of it when it is gone."""
    folder = processes.PROC / str(pid)
    try:
        tasks = [task.name for task in (folder / "task").iterdir()]
        files = len(list((folder / "fd").iterdir()))
        memory = _MEMORY.search((folder / "smaps_rollup").read_text())
    except OSError:
        return 0, 0, 0, 0.0
    waiting = sum(_waits_outside(folder / "task" / task / "wchan") for task in tasks if task != str(pid))
    return files, len(tasks), waiting, int(memory[1]) * 1.024 / 1000 if memory else 0.0


def _waits_outside(place: Path) -> bool:
    """Return whether a thread waits for a socket or a file: one without work waits for a lock, a futex, or sleeps."""
    try:
        where = place.read_text()
    except OSError:
        return False
    return where not in ("", "0") and not where.startswith(("futex", "hrtimer_nanosleep"))


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as here:
        port: int = here.getsockname()[1]
        return port
