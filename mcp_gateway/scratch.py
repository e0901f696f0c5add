"""
A folder for what the processes of one server share, in memory where there is such a place; it goes with them.

A server that is killed cannot take its folder away. So each holds a lock in it, which its workers inherit and the
system lets go of when the last of them is gone: the next server takes folders away that nobody holds.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PREFIX = "mcp-gateway-"

_MEMORY = Path("/dev/shm")  # noqa: S108  mkdtemp makes it private
_LOCK = "lock"


@dataclass(frozen=True, slots=True)
class Scratch:
    """
    A folder that this user alone can read.

    Args:

        folder: The folder.

        lock: Says that it is in use, as long as one process has it open; ``None``: the file system knows no locks.
    """

    folder: Path
    lock: int | None

    @classmethod
    def make(cls) -> Scratch:
        """
        Make one.

        Raises:

            OSError: There is no place for it.
        """
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=_place()))
        try:
            return cls(folder, _hold(folder))
        except OSError:
            folder.rmdir()  # no room for a file either: without a lock nobody would ever take it away
            raise

    def remove(self) -> None:
        """Take it away."""
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.lock is not None:
            os.close(self.lock)


def sweep() -> list[Path]:
    """Take away what killed servers of this user have left; return what that was."""
    return [folder for folder in sorted(_place().glob(PREFIX + "*")) if _is_ours(folder) and _take_away(folder)]


def _place() -> Path:
    return _MEMORY if os.access(_MEMORY, os.W_OK) else Path(tempfile.gettempdir())


def _hold(folder: Path) -> int | None:
    # It gets its name when it is locked: a file of that name without a lock is of a server that is no more.
    unnamed = folder / f"{_LOCK}.new"
    lock = os.open(unnamed, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    unnamed.rename(folder / _LOCK)
    return lock


def _is_ours(folder: Path) -> bool:
    """Return whether it is a folder of this user: anybody may have put a link of such a name there."""
    with suppress(OSError):
        found = folder.lstat()
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return False


def _take_away(folder: Path) -> bool:
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True
