"""Processes that are started here: what their trees cost, from Linux's /proc, and their end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")
_TICK: Final = os.sysconf("SC_CLK_TCK")
_PEAK: Final = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)

END_WITHIN_S: Final = 15.0
"""How long a process may take to end before it is killed."""


def tree(root: int) -> dict[int, float]:
    """Return the process *root* and all below it, each with its CPU seconds (those of children that ended included)."""
    seen: dict[int, tuple[int, float]] = {}
    for path in PROC.glob("[0-9]*/stat"):
        try:
            # The name of the program stands in brackets and may hold anything.
            fields = path.read_text(errors="replace").rpartition(") ")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        seen[int(path.parent.name)] = (int(fields[1]), sum(map(int, fields[11:15])) / _TICK)
    found: dict[int, float] = {}
    level = [root]
    while level:
        found.update((pid, seen[pid][1]) for pid in level if pid in seen)
        level = [pid for pid, (parent, _) in seen.items() if parent in level]
    return found


def cpu_s(root: int) -> float:
    """Return the CPU seconds that a tree has taken so far."""
    return sum(tree(root).values())


def busy_s() -> float:
    """Return the CPU seconds that all processes of this machine have taken so far."""
    words = (PROC / "stat").read_text().split(None, 5)
    return sum(map(int, words[1:4])) / _TICK


def forget_peak(root: int) -> None:
    """Have the peak of a tree's memory count from now on."""
    for pid in tree(root):
        try:
            (PROC / str(pid) / "clear_refs").write_text("5")
        except OSError:  # it has ended meanwhile
            continue


def peak_mb(root: int) -> float:
    """Return the sum of the peaks of resident memory of a tree; pages that are shared count for each process."""
    kilobytes = 0
    for pid in tree(root):
        try:
            status = (PROC / str(pid) / "status").read_text(errors="replace")
        except OSError:  # it has ended meanwhile
            continue
        kilobytes += int(peak[1]) if (peak := _PEAK.search(status)) else 0  # one that has ended has none
    return kilobytes * 1.024 / 1000


def start(
    command: Sequence[str], *, folder: Path, env: dict[str, str], log: Path, keep: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    """Start a program as the head of a group of its own, out of reach of Ctrl-C; *keep*: file descriptors it gets."""
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=keep,
            process_group=0,
        )


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process that was started here and all below it, each by its id."""
    below = tree(process.pid)
    process.send_signal(signal.SIGTERM)  # does nothing when it has ended
    try:
        process.wait(END_WITHIN_S)
        return
    except subprocess.TimeoutExpired:
        pass
    for pid in below:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait(END_WITHIN_S)
