"""
Play one fault after the other on a real gateway under load, and print what came of it: ``make faults``.

Everything runs on loopback and is ended by its process id, on Ctrl-C and SIGTERM too. Exit status 1: something is
wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from bench.processes import PROC

from .cases import FAULTS
from .stage import QUICK_S, CannotPlay, Fault, Stage

FILES: Final = 16_384
"""Open files that the callers want; as many as the system allows are taken."""


@dataclass(frozen=True, slots=True)
class Row:
    """
    What came of one fault.

    Args:

        slowest: The slowest call, in seconds; *beside*: of those of a healthy tool beside the fault.

        left: Threads and open files that the workers had more than before, once all was over.

        labels: How often each label came.

        skipped: Why it was not played; empty: it was.
    """

    name: str
    what: str
    expected: str
    calls: int = 0
    wrong: int = 0
    lost: int = 0
    slowest: float = 0.0
    beside: float | None = None
    left: str = ""
    seconds: float = 0.0
    labels: dict[str, int] | None = None
    notes: Sequence[str] = ()
    problems: Sequence[str] = ()
    skipped: str = ""


def row(fault: Fault, stage: Stage, seconds: float) -> Row:
    """Sum up what was found on a stage."""
    beside = [tally.slowest for tally in stage.tallies if tally.beside]
    own = [tally.slowest for tally in stage.tallies if not tally.beside]
    labels: dict[str, int] = {}
    for tally in stage.tallies:
        for name, count in tally.labels.items():
            labels[name] = labels.get(name, 0) + count
    return Row(
        fault.name,
        fault.what,
        fault.expected,
        calls=sum(tally.calls for tally in stage.tallies),
        wrong=sum(tally.wrong for tally in stage.tallies),
        lost=sum(tally.lost for tally in stage.tallies),
        slowest=max(own or beside, default=0.0),
        beside=max(beside) if own and beside else None,
        left=", ".join(stage.left),
        seconds=seconds,
        labels=labels,
        notes=stage.notes,
        problems=problems(stage),
    )


def problems(stage: Stage) -> list[str]:
    """Return everything that is wrong, one line each."""
    found = list(stage.problems)
    for tally in stage.tallies:
        lost = 0 if "lost" in tally.expected else tally.lost
        if tally.wrong or lost:
            found += [f"{tally.wrong} wrong, {lost} lost calls; the first:", *tally.faults]
        if tally.server_errors and not any(name.startswith("5") for name in tally.expected):
            found.append(f"{tally.server_errors} answers are 5xx")
    if repeated := stage.ledger.repeated():
        found.append(f"{len(repeated)} calls reached a Tool Service more than once, call {repeated[0]} first")
    if not any(tally.calls for tally in stage.tallies):
        found.append("not one call was made")
    return found


def play(fault: Fault, folder: Path, options: Options) -> Row:
    """Play one fault and say what came of it, whatever it was."""
    seconds = options.seconds or (min(QUICK_S, fault.seconds) if options.quick else fault.seconds)
    stage = Stage(folder, seconds, options.quick, options.seed)
    began = time.monotonic()
    try:
        asyncio.run(fault.play(stage))
    except CannotPlay as why:
        return Row(fault.name, fault.what, fault.expected, skipped=str(why))
    except Exception as broken:  # noqa: BLE001  the other faults are played all the same
        stage.problems.append(f"the fault could not be played to its end: {broken!r}")
    return row(fault, stage, time.monotonic() - began)


# --- the table -------------------------------------------------------------------------------------------------------


def table(rows: Sequence[Row]) -> str:
    """Write the rows as a table that a page can hold."""
    lines = [
        "| fault | what happens | callers get | calls | wrong | lost | slowest | left behind |",
        "|---|---|---|---:|---:|---:|---:|---|",
    ]
    for each in rows:
        if each.skipped:
            lines.append(f"| {each.name} | {each.what} | {each.expected} | | | | | skipped: {each.skipped} |")
            continue
        slowest = f"{each.slowest:.2f} s" + ("" if each.beside is None else f" ({each.beside:.2f} s)")
        several = "s" if len(each.problems) > 1 else ""
        verdict = f"**{len(each.problems)} problem{several}**" if each.problems else each.left or "–"
        figures = f"{each.calls:,} | {each.wrong} | {each.lost} | {slowest}"
        lines.append(f"| {each.name} | {each.what} | {each.expected} | {figures} | {verdict} |")
    return "\n".join(lines)


def page(rows: Sequence[Row], seconds: float) -> str:
    """Write the table with what must be known to read it, the notes, and everything that is wrong."""
    played = [each for each in rows if not each.skipped]
    wrong = [each for each in rows if each.problems]
    machine = f"2 workers, {os.cpu_count()} CPUs, Python {platform.python_version()}, {platform.system()}"
    lines = [
        table(rows),
        "",
        f"{len(played)} faults in {seconds / 60:.0f} min, {sum(each.calls for each in rows):,} calls; {machine}.",
        "slowest: of the fault's own calls, in brackets of a healthy tool's beside it.",
        "left behind: threads that wait for something / open files, more than before the load.",
    ]
    for each in rows:
        lines += [f"- {each.name}: {note}" for note in each.notes]
    for each in wrong:
        lines += ["", f"WRONG: {each.name}", *(f"  {problem}" for problem in each.problems)]
    return "\n".join(lines)


# --- the command -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for on the command line."""

    only: Sequence[str]
    seconds: float | None
    quick: bool
    seed: int
    json: Path | None
    markdown: Path | None


def parse(arguments: Sequence[str]) -> Options:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="make faults ARGS=…", description=__doc__)
    parser.add_argument("--only", default="", help="the faults to play, by name, with commas between; default: all")
    parser.add_argument("--seconds", type=float, help="how long each load lasts; default: as the table of faults says")
    parser.add_argument("--quick", action="store_true", help="a few seconds each, and smaller numbers")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32, help="of what is left to chance")
    parser.add_argument("--json", type=Path, help="write what came of it into this file too")
    parser.add_argument("--markdown", type=Path, help="write the table into this file too")
    parser.add_argument("--list", action="store_true", help="only say what faults there are")
    given = parser.parse_args(arguments)
    names = [name for name in given.only.split(",") if name]
    if unknown := [name for name in names if name not in FAULTS]:
        parser.error(f"there is no fault {', '.join(unknown)}; there are {', '.join(FAULTS)}")
    if given.seconds is not None and not 0 < given.seconds <= 86_400:
        parser.error("--seconds is out of its range")
    if given.list:
        print("\n".join(f"{each.name:28} {each.what}" for each in FAULTS.values()))
        parser.exit()
    return Options(names or list(FAULTS), given.seconds, given.quick, given.seed, given.json, given.markdown)


def play_all(options: Options, folder: Path) -> list[Row]:
    """Play what was asked for, and say on standard error how it goes."""
    rows = []
    for name in options.only:
        print(f"{name} …", end=" ", file=sys.stderr, flush=True)
        here = folder / name
        here.mkdir()
        played = play(FAULTS[name], here, options)
        said = f"skipped: {played.skipped}" if played.skipped else f"{played.calls:,} calls, {played.seconds:.0f} s"
        print(said + (": WRONG" if played.problems else ""), file=sys.stderr, flush=True)
        if not played.problems:
            shutil.rmtree(here, ignore_errors=True)
        rows.append(played)
    return rows


def main(arguments: Sequence[str]) -> int:
    """Play and print."""
    options = parse(arguments)
    if not PROC.is_dir():
        print("This system has no /proc, from which threads, files and memory are read.", file=sys.stderr)
        return 1
    _allow_files()
    for asked in (signal.SIGTERM, signal.SIGINT):
        signal.signal(asked, lambda *_: sys.exit(1))  # what was started is ended on the way out
    folder = Path(tempfile.mkdtemp(prefix="mcp-gateway-faults-"))
    began = time.monotonic()
    print(f"seed {options.seed}; logs of what goes wrong are kept in {folder}", file=sys.stderr)
    rows = play_all(options, folder)
    written = page(rows, time.monotonic() - began)
    print(written)
    if options.markdown is not None:
        options.markdown.write_text(written + "\n")
    if options.json is not None:
        document: Any = {"seed": options.seed, "rows": [asdict(each) for each in rows]}
        options.json.write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    if any(each.problems for each in rows):
        return 1
    shutil.rmtree(folder, ignore_errors=True)
    return 0


def _allow_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
