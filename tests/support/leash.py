"""
What a test has started ends with the test's own process, even when that is killed and can end nothing itself.

A watcher, one process for all of them, reads the process groups from a pipe that this process alone can write to. When
the pipe ends, this process is gone, and the watcher kills the groups that are left.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache


@contextlib.contextmanager
def held(group: int) -> Iterator[None]:
    """Keep a process group from outliving this process while the block lasts."""
    _tell(group)
    try:
        yield
    finally:
        _tell(group)


def _tell(group: int) -> None:
    pipe = _watcher().stdin
    assert pipe
    pipe.write(b"%d\n" % group)  # in one step: tests may start processes from several threads
    pipe.flush()


@cache
def _watcher() -> subprocess.Popen[bytes]:
    # In a session of its own, so that what kills the group of this process does not kill it too; -I -S: it is no
    # program of the project, and nothing measures it.
    command = [sys.executable, "-I", "-S", __file__]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)
    atexit.register(process.communicate)
    return process


def _watch(told: Iterable[bytes]) -> None:
    """Take note of groups as they begin and end; when nobody is left to say so, end what is left."""
    left: set[int] = set()
    for line in told:
        left ^= {int(line)}
    for group in left:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    _watch(sys.stdin.buffer)
