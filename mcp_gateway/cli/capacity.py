"""``mcp-gateway capacity``: what to set for a load, with the assumptions beside the numbers."""

from __future__ import annotations

import argparse
import json
import textwrap
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator
from dataclasses import asdict

from . import options as shared
from . import sizing
from .sizing import Load, Plan
from .terminal import Failed

WIDTH = 100


def add(commands: shared.Commands) -> None:
    """Add the command."""
    command: argparse.ArgumentParser = commands.add_parser(
        "capacity",
        help="say how many instances, workers and threads a load needs",
        description="Say what carries R calls a second that take S seconds each: instances, workers, threads, and the "
        "max_in_flight of the Tool Service. Nothing is asked and no configuration is read.",
    )
    command.add_argument("--rate", type=_number(1e6), required=True, metavar="R", help="calls a second, at peak")
    command.add_argument(
        "--seconds",
        type=_number(sizing.LONGEST_CALL_S),
        required=True,
        metavar="S",
        help="how long a call takes, on average",
    )
    command.add_argument(
        "--p99-seconds",
        type=_number(sizing.LONGEST_CALL_S),
        metavar="S",
        help="how long calls take when the Tool Service has a bad time; places are sized for it (default: --seconds)",
    )
    command.add_argument(
        "--cpus", type=_whole(128), default=2, metavar="N", help="CPUs of an instance (default: %(default)s)"
    )
    command.add_argument(
        "--cpu-ms",
        type=_number(10_000),
        default=sizing.CPU_MS,
        metavar="MS",
        help="CPU of the gateway for one call (default: %(default)g; measure yours with make bench)",
    )
    command.add_argument(
        "--threads",
        type=_whole(4096),
        default=sizing.THREADS,
        metavar="N",
        help="threads of a worker, GUNICORN_THREADS (default: %(default)s)",
    )
    command.add_argument("--json", action="store_true", help="print it as JSON")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """
    Print the plan.

    Raises:

        Failed: The p99 is below the average.
    """
    slow: float = options.p99_seconds or options.seconds
    if slow < options.seconds:
        raise Failed("--p99-seconds: must not be less than --seconds", status=2)
    load = Load(
        rate=options.rate,
        seconds=options.seconds,
        slow_seconds=slow,
        cpus=options.cpus,
        cpu_ms=options.cpu_ms,
        threads=options.threads,
    )
    plan = sizing.plan(load)
    if options.json:
        print(json.dumps({"load": asdict(load), "plan": asdict(plan)}, indent=2))
    else:
        print("\n".join(lines(load, plan)))
    return 0


def lines(load: Load, plan: Plan) -> Iterator[str]:
    """Yield the plan as a person reads it."""
    yield f"{load.rate:g} calls a second x {load.seconds:g} s = {_calls(plan.in_flight)} under way (Little's law)"
    if load.slow_seconds > load.seconds:
        yield f"{load.rate:g} calls a second x {load.slow_seconds:g} s = {_calls(plan.slow_in_flight)} in a bad time"
    yield ""
    for name, value, why in _settings(load, plan):
        yield f"  {name:<17} {value:<7} {why}"
    for note in _notes(load, plan):
        yield ""
        yield textwrap.fill(note, WIDTH)


def _settings(load: Load, plan: Plan) -> Iterator[tuple[str, str, str]]:
    needed = plan.instances - 1
    yield (
        "instances",
        f"{plan.instances}",
        f"{needed} {'carries' if needed == 1 else 'carry'} it, 1 may be lost or replaced",
    )
    yield "WEB_CONCURRENCY", f"{plan.workers}", "workers of an instance, one for each CPU"
    default = "the default; " if plan.threads == sizing.THREADS else ""
    yield (
        "GUNICORN_THREADS",
        f"{plan.threads}",
        f"{default}{plan.max_in_flight} for these calls, {plan.reserve} kept for lists, pings and probes",
    )
    yield "max_in_flight", f"{plan.max_in_flight}", f"of the Tool Service, in one worker; {_against_default(plan)}"
    yield "CPU", f"{load.cpus}", f"of an instance, {plan.cpu_share:.0%} used with an instance gone"
    yield "memory", f"{plan.memory_mb} MB", "of an instance with all these calls under way"


def _against_default(plan: Plan) -> str:
    default = f"the default of {sizing.MAX_IN_FLIGHT} is"
    if plan.threads - plan.reserve < sizing.MAX_IN_FLIGHT:
        return f"set it: {default} too many for {plan.threads} threads"
    return f"{default} {'too few' if plan.max_in_flight > sizing.MAX_IN_FLIGHT else 'enough'}"


def _notes(load: Load, plan: Plan) -> Iterator[str]:
    bad = " in a bad time" if load.slow_seconds > load.seconds else ""
    yield (
        f"A worker has {_calls(plan.each)} calls under way, {_calls(plan.each_short)} with an instance gone{bad}, and "
        f"more than {plan.max_in_flight} in one moment of a thousand: those are refused at once, as busy. The Tool "
        f"Service may see {plan.at_tool_service} calls at once from all workers together, and has to bear them."
    )
    fit = "enough" if plan.connections <= plan.worker_connections else "too few: put a proxy in front that keeps fewer"
    yield (
        f"If each call comes on a connection of its own that is then kept for {sizing.KEEPALIVE_S:g} s, a worker has "
        f"{plan.connections} open; it may have {plan.worker_connections}, which is {fit}."
    )
    yield (
        f"Assumed: calls arrive independently of each other; one costs {load.cpu_ms:g} ms of CPU (measured, by "
        "machine, 0.65 to 1.1 for a small answer, 0.95 to 2.4 for 100 kB: make bench, docs/performance.md); no more "
        f"than {sizing.CPU_SHARE:.0%} of a CPU is planned with; answers are small (one of N MB takes up to 3 N MB more "
        "while it passes)."
    )


def _calls(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def _number(most: float) -> Callable[[str], float]:
    def number(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = 0.0
        if not 0.001 <= value <= most:
            raise ArgumentTypeError(f"{text!r} is no number from 0.001 to {most:g}")
        return value

    return number


def _whole(most: int) -> Callable[[str], int]:
    def whole(text: str) -> int:
        if text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= most:
            return int(text)
        raise ArgumentTypeError(f"{text!r} is no whole number from 1 to {most}")

    return whole
