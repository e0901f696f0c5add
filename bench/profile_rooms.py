"""
Show in which room of the gateway the CPU time of a call goes, and how much of it is spent in libraries.

``python -m bench.profile_rooms [SCENARIO] [SECONDS]`` runs the gateway in this process, without gunicorn, against the
Tool Service in another. The system's profiling timer asks every few milliseconds of CPU time where the call stands: so
waiting does not count, and nothing is slowed down as it is by a profiler that notes every call.
"""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any, Final

from mcp_gateway.app import Gateway
from mcp_gateway.config import load
from mcp_gateway.observe import logs, metrics
from mcp_gateway.observe.seats import Seat
from mcp_gateway.protocol.eras import VERSIONS

from . import run
from .load import FIRST
from .scenarios import NUMBER, SCENARIOS, Scenario

INTERVAL_S: Final = 0.001
"""Asked for; the kernel's own clock, often 4 ms, is the least that comes."""

PACKAGE: Final = str(run.ROOT / "mcp_gateway") + os.sep
SITE: Final = sysconfig.get_paths()["purelib"] + os.sep
OURS, THEIRS = "own code", "libraries"


def place(file: str) -> tuple[str, str]:
    """Return whose code a file is: ours with its room, or a library with its name."""
    for folder, whose in ((PACKAGE, OURS), (SITE, THEIRS)):
        if file.startswith(folder):
            return whose, file.removeprefix(folder).split(os.sep)[0].removesuffix(".py")
    return THEIRS, "standard library"


class Profile:
    """Where the samples of CPU time fell."""

    def __init__(self) -> None:
        self.rooms: Counter[tuple[str, str]] = Counter()
        self.libraries: Counter[str] = Counter()

    def sample(self, _: int, frame: FrameType | None) -> None:
        """Note where the call stands: in a room's own code, or in a library that the room has called."""
        whose, name = place(frame.f_code.co_filename if frame else "")
        if whose == THEIRS:
            self.libraries[name] += 1
        while frame is not None:
            owner, room = place(frame.f_code.co_filename)
            if owner == OURS:
                self.rooms[room, whose] += 1
                return
            frame = frame.f_back

    def table(self, cpu_ms: float) -> str:
        """Write the samples as shares of *cpu_ms*, the CPU time of one call."""
        total = self.rooms.total() or 1
        scale = cpu_ms * 1000 / total
        per_room = Counter[str]()
        for (room, _), count in self.rooms.items():
            per_room[room] += count
        lines = ["| room | µs per call | share | own code | libraries it calls |", "|---|---:|---:|---:|---:|"]
        for room, count in per_room.most_common():
            own, others = (self.rooms[room, whose] * scale for whose in (OURS, THEIRS))
            lines.append(f"| {room} | {count * scale:.0f} | {count / total:.0%} | {own:.0f} | {others:.0f} |")
        lines += ["", "| library | µs per call |", "|---|---:|"]
        lines += [f"| {library} | {count * scale:.0f} |" for library, count in self.libraries.most_common(8)]
        return "\n".join(lines)


def environ(scenario: Scenario, number: int) -> dict[str, Any]:
    """Return the WSGI environment of one request, as gunicorn makes it."""
    body = scenario.body().replace(NUMBER, str(FIRST + number)).encode()
    made = {
        "REQUEST_METHOD": "POST",
        "SCRIPT_NAME": "",
        "PATH_INFO": run.PATH,
        "RAW_URI": run.PATH,
        "QUERY_STRING": "",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8080",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": "127.0.0.1:8080",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for name, value in scenario.headers().items():
        variable = name.upper().replace("-", "_")
        made[variable if variable == "CONTENT_TYPE" else f"HTTP_{variable}"] = value
    return made


def answer(gateway: Gateway, scenario: Scenario, number: int) -> bytes:
    """Make one call, to the last byte of its answer."""
    made = environ(scenario, number)
    chunks = gateway(made, lambda *_: lambda _: None)
    try:
        return b"".join(chunks)
    finally:
        getattr(chunks, "close", lambda: None)()


def profile(scenario: Scenario, seconds: float, base_url: str, folder: Path) -> str:
    """Profile one scenario, and return the tables."""
    config = folder / "config.yaml"
    config.write_text(run.configuration(base_url))
    counted = metrics.of(Seat(folder / "metrics", 0))
    sinks = (logs.write, counted.exchange)
    gateway = Gateway(load.load(config, {}, versions=VERSIONS), sinks=sinks, metrics=counted)
    gateway.start()
    try:
        for number in range(200):
            body = answer(gateway, scenario, number)
        if scenario.marker.encode() not in body:
            raise run.CannotMeasure(f"a wrong answer: {body[:300]!r}")
        seen = Profile()
        signal.signal(signal.SIGPROF, seen.sample)
        end, calls, begin = time.monotonic() + seconds, 0, time.thread_time()
        signal.setitimer(signal.ITIMER_PROF, INTERVAL_S, INTERVAL_S)
        while time.monotonic() < end:
            answer(gateway, scenario, calls)
            calls += 1
        signal.setitimer(signal.ITIMER_PROF, 0)
        cpu_ms = (time.thread_time() - begin) * 1000 / calls
        title = f"{scenario.name}: {cpu_ms:.3f} ms of CPU per call, {calls} calls, {seen.rooms.total()} samples"
        return f"{title}\n\n{seen.table(cpu_ms)}"
    finally:
        gateway.stop()


def main(arguments: list[str]) -> int:
    """Profile and print; the log line of each call is written too, to where nobody reads it."""
    parser = argparse.ArgumentParser(prog="python -m bench.profile_rooms", description=__doc__)
    parser.add_argument("scenario", nargs="?", default="fast", choices=SCENARIOS)
    parser.add_argument("seconds", nargs="?", type=float, default=5.0)
    options = parser.parse_args(arguments)
    with open(os.devnull, "w") as nowhere:
        logs.configure("info", as_json=True, descriptor=nowhere.fileno())
        with run.tool_service() as (base_url, _), tempfile.TemporaryDirectory() as folder:
            print(profile(SCENARIOS[options.scenario], options.seconds, base_url, Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
