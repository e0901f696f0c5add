"""
Load the gateway and what it is held against in turn, and print what a call costs: ``make bench``.

Everything runs on loopback and is ended by its process id, on Ctrl-C and SIGTERM too. Exit status 1: an answer was
wrong, or something did not start.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import platform
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Final

from . import processes
from .load import PATIENCE_S, Job, Tally
from .revisions import MODERN
from .scenarios import NUMBER, SCENARIOS, Scenario

ROOT: Final = Path(__file__).resolve().parents[1]
PATH: Final = "/mcp/bench"
WORKERS: Final = "2"
START_WITHIN_S: Final = 30.0
WARM_UP_S: Final = 0.5
FOREIGN: Final = 0.25
"""How many CPUs others may use on average before the figures are called doubtful."""


class CannotMeasure(Exception):
    """Raised when something does not start or ends too early; the message is for who wanted to measure."""


@dataclass(frozen=True)
class Target:
    """A server under load: its listening port and its process."""

    name: str
    port: int
    pid: int


@dataclass(frozen=True)
class Cell:
    """One target under one scenario for one round."""

    calls_s: float
    cpu_ms: float
    peak_mb: float
    foreign: float


@dataclass(frozen=True)
class Options:
    """What was asked for on the command line."""

    scenarios: Sequence[Scenario]
    seconds: float
    rounds: int
    connections: int


# --- the servers -----------------------------------------------------------------------------------------------------


def configuration(tool_service: str) -> str:
    """Return a configuration of profile production with one route in front of the Tool Service."""
    service = {"name": "bench-tools", "base_url": tool_service, "max_in_flight": 1024}
    route = {"key": "bench", "public_path": PATH, "tool_services": [service]}
    return json.dumps({"profile": "production", "routes": [route]})


@contextlib.contextmanager
def tool_service() -> Iterator[tuple[str, int]]:
    """Run the Tool Service; gives its base URL and its process id."""
    command = [sys.executable, "-m", "bench.tool_service"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, process_group=0) as process:
        try:
            assert process.stdout is not None  # noqa: S101  said for the type checker
            yield f"http://127.0.0.1:{int(process.stdout.readline())}", process.pid
        finally:
            processes.end(process)


@contextlib.contextmanager
def serving(name: str, arguments: Sequence[str], folder: Path, env: dict[str, str]) -> Iterator[Target]:
    """Run gunicorn with these arguments until the block ends, and wait until it answers."""
    log = folder / f"{name}.log"
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        port = listener.getsockname()[1]
        bind = ["--bind", f"fd://{listener.fileno()}"]  # no other program can be given the port meanwhile
        command = [sys.executable, "-m", "gunicorn", *arguments, *bind]
        process = processes.start(command, folder=ROOT, env=env, log=log, keep=[listener.fileno()])
    try:
        if not _answers(port, process):
            raise CannotMeasure(f"{name} does not serve; it said:\n{log.read_text(errors='replace')[-4000:]}")
        yield Target(name, port, process.pid)
    finally:
        processes.end(process)


@contextlib.contextmanager
def targets(base_url: str) -> Iterator[list[Target]]:
    """Run the gateway as it is shipped, and the passthrough on gunicorn's own threaded worker."""
    # Variables of this shell, such as HOST, would make it another gateway than the one that is shipped.
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "HOME", "MCP_GATEWAY_LOG_LEVEL") if name in os.environ}
    with tempfile.TemporaryDirectory(prefix="mcp-gateway-bench-") as name:
        folder = Path(name)
        config = folder / "config.yaml"
        config.write_text(configuration(base_url))
        ours = {**kept, "MCP_GATEWAY_CONFIG": str(config), "WEB_CONCURRENCY": WORKERS, "MCP_GATEWAY_DRAIN_S": "0"}
        theirs = {**kept, "TOOL_SERVICE": base_url}
        # Without a configuration of its own it would take the gateway's, which lies in the folder.
        plain = f"-c {os.devnull} -k gthread -w {WORKERS} --threads 64 --keep-alive 75 --no-control-socket".split()
        with serving("gateway", ["-c", "gunicorn.conf.py", "wsgi:app"], folder, ours) as gateway:
            with serving("passthrough", [*plain, "bench.passthrough:app"], folder, theirs) as passthrough:
                yield [gateway, passthrough]


def _answers(port: int, process: subprocess.Popen[bytes]) -> bool:
    """Wait until a first call has its answer; ``False``: the process has ended, or there is none in time."""
    fast = SCENARIOS["fast"]
    end = time.monotonic() + START_WITHIN_S
    while process.poll() is None and time.monotonic() < end:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
        try:
            connection.request("POST", PATH, fast.body().replace(NUMBER, "1").encode(), fast.headers())
            if connection.getresponse().status == 200:
                return True
        except OSError:
            pass  # not yet
        finally:
            connection.close()
        time.sleep(0.05)
    return False


# --- measuring -------------------------------------------------------------------------------------------------------


def load(scenario: Scenario, port: int, connections: int, seconds: float) -> Tally:
    """
    Put a target under load from a process of its own.

    Raises:

        CannotMeasure: An answer was wrong, or there was none.
    """
    job = Job(port, PATH, scenario.headers(), scenario.body(), scenario.marker, connections, seconds)
    done = subprocess.run(
        [sys.executable, "-m", "bench.load"],
        cwd=ROOT,
        input=json.dumps(asdict(job)),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=seconds + 3 * PATIENCE_S,
        process_group=0,
    )
    tally = Tally(**json.loads(done.stdout))
    if tally.wrong or not tally.right:
        raise CannotMeasure(f"{tally.wrong} wrong answers beside {tally.right} right ones; the first: {tally.fault}")
    return tally


def measure(scenario: Scenario, target: Target, tool_service_pid: int, options: Options) -> Cell:
    """Measure one cell."""

    def own_s() -> float:
        mine = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(used.ru_utime + used.ru_stime for used in mine) + processes.cpu_s(tool_service_pid)

    processes.forget_peak(target.pid)
    begin, busy, own, spent = time.monotonic(), processes.busy_s(), own_s(), processes.cpu_s(target.pid)
    tally = load(scenario, target.port, options.connections, options.seconds)
    spent = processes.cpu_s(target.pid) - spent
    foreign = processes.busy_s() - busy - (own_s() - own) - spent
    peak = processes.peak_mb(target.pid)
    return Cell(
        tally.right / tally.seconds, spent * 1000 / tally.right, peak, max(0.0, foreign / (time.monotonic() - begin))
    )


Cells = dict[tuple[str, str], list[Cell]]


def measure_all(options: Options, served: Sequence[Target], tool_service_pid: int) -> Cells:
    """Measure every scenario with every target, round by round, in one order and in the other: A B, B A, A B."""
    pairs = [(scenario, target) for scenario in options.scenarios for target in served]
    for scenario, target in pairs:
        load(scenario, target.port, options.connections, min(WARM_UP_S, options.seconds))
    cells: Cells = {(scenario.name, target.name): [] for scenario, target in pairs}
    for number in range(options.rounds):
        for scenario, target in reversed(pairs) if number % 2 else pairs:
            cells[scenario.name, target.name].append(measure(scenario, target, tool_service_pid, options))
    return cells


# --- the table -------------------------------------------------------------------------------------------------------


def ratio(ours: Sequence[Cell], theirs: Sequence[Cell], figure: Callable[[Cell], float]) -> float:
    """Return the median of the ratios that each round gives; NaN when nothing can be divided."""
    pairs = [(figure(one), figure(other)) for one, other in zip(ours, theirs, strict=True)]
    return median(one / other if other else float("nan") for one, other in pairs)


def table(cells: Cells, options: Options) -> str:
    """Write what was measured: gateway / reference, medians, and in brackets the ratio."""

    def column(scenario: Scenario, figure: Callable[[Cell], float], digits: int) -> str:
        ours, theirs = cells[scenario.name, "gateway"], cells[scenario.name, "passthrough"]
        one, other = (f"{median(map(figure, side)):.{digits}f}" for side in (ours, theirs))
        return f"{one} / {other} ({ratio(ours, theirs, figure):.2f})"

    machine = f"{WORKERS} workers each, {os.cpu_count()} CPUs, Python {platform.python_version()}"
    how = f"medians of {options.rounds} rounds of {options.seconds:g} s, {options.connections} connections"
    lines = [
        f"gateway / reference (ratio of the two): {how}; {machine}",
        "",
        "| scenario | gateway against | calls/s | CPU ms per call | peak RSS MB |",
        "|---|---|---|---|---|",
        *(
            f"| {scenario.name} | {scenario.reference} | {column(scenario, lambda cell: cell.calls_s, 0)}"
            f" | {column(scenario, lambda cell: cell.cpu_ms, 3)} | {column(scenario, lambda cell: cell.peak_mb, 0)} |"
            for scenario in options.scenarios
        ),
    ]
    old, new = cells.get(("fast", "gateway")), cells.get((f"fast@{MODERN}", "gateway"))
    if old and new:
        lines += ["", f"CPU of fast on {MODERN} against 2025-11-25: {ratio(new, old, lambda cell: cell.cpu_ms):.2f}"]
    foreign = median(cell.foreign for kept in cells.values() for cell in kept)
    if foreign > FOREIGN:
        lines += ["", f"Others used {foreign:.2f} CPUs meanwhile: calls/s are doubtful, CPU ms and ratios less so."]
    return "\n".join(lines)


# --- the command -----------------------------------------------------------------------------------------------------


def parse(arguments: Sequence[str]) -> Options:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="make bench ARGS=…", description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each cell is under load (2)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each cell is measured (3)")
    parser.add_argument("--connections", type=int, default=16, help="how many callers at once (16)")
    parser.add_argument("--scenarios", default=",".join(SCENARIOS), help=f"any of {', '.join(SCENARIOS)}")
    given = parser.parse_args(arguments)
    names = given.scenarios.split(",")
    unknown = [name for name in names if name not in SCENARIOS]
    if unknown or given.rounds < 1 or given.connections < 1 or not 0 < given.seconds <= 600:
        parser.error(f"unknown scenarios {unknown}" if unknown else "a number is out of its range")
    return Options([SCENARIOS[name] for name in names], given.seconds, given.rounds, given.connections)


def main(arguments: Sequence[str]) -> int:
    """Measure and print."""
    options = parse(arguments)
    if not processes.PROC.is_dir():
        print("This system has no /proc, from which CPU and memory are read.", file=sys.stderr)
        return 1
    for asked in (signal.SIGTERM, signal.SIGINT):
        signal.signal(asked, lambda *_: sys.exit(1))  # what was started is ended on the way out
    try:
        with tool_service() as (base_url, pid), targets(base_url) as served:
            print(table(measure_all(options, served, pid), options))
    except (CannotMeasure, subprocess.SubprocessError) as fault:
        print(fault, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
