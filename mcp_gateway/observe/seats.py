"""
Where workers keep their metrics: a folder of the master's, in which each worker has a seat with files of its own.

A seat has a number, and the worker that comes after another one takes the lowest that is free, with the files that it
finds there. So counters go on where they were, and there are never more files than workers at one time, however many
have come and gone.

prometheus_client writes into its files through memory. On a full disk such a write would not fail, it would end the
process (SIGBUS): so every byte is on the disk, as a zero, before it is handed over.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable
from pathlib import Path

from prometheus_client.multiprocess import mark_process_dead

from .declared import ALL, Kind

_log = logging.getLogger("mcp_gateway.observe")

FIRST_BYTES = 65_536
"""How long a file is at first; prometheus_client doubles it whenever it is full."""

ROOM_BYTES = 24_576
"""What one more set of labels may need: 16 buckets and a sum, with names at their longest."""

MOST_BYTES = 16_777_216
"""How long a file may become, which some two thousand sets of labels of a histogram fill."""

PREFIXES = tuple(
    sorted({f"gauge_{metric.over_workers}" if metric.kind is Kind.GAUGE else metric.kind.value for metric in ALL})
)
"""What the files of a seat are called before their number, as prometheus_client names them."""

_USED = struct.Struct("i")

_mark_dead: Callable[[int, str], None] = mark_process_dead  # untyped


class NoRoom(Exception):
    """Raised when a file is as long as it may become."""


class Seats:
    """
    Who sits where, for the master, which has no threads.

    Args:

        folder: Where the files are.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._taken: dict[int, int] = {}

    def take(self, worker: int) -> Seat:
        """Give a worker that is about to start the lowest seat that is free."""
        taken = set(self._taken.values())
        number = next(number for number in range(len(taken) + 1) if number not in taken)
        self._taken[worker] = number
        return Seat(self._folder, number)

    def leave(self, worker: int) -> None:
        """Free the seat of a worker that is gone; what it showed of itself alone goes with it."""
        number = self._taken.pop(worker, None)
        if number is None:
            return
        try:
            _mark_dead(number, str(self._folder))
        except OSError as fault:
            _log.warning("what a worker showed of itself could not be taken away: %s", fault.strerror)


class Seat:
    """
    The files of one worker.

    Args:

        folder: Where they are.

        number: What tells them from those of other workers.
    """

    def __init__(self, folder: Path, number: int) -> None:
        self.folder = folder
        self.number = number

    def prepare(self) -> None:
        """
        Make the files that are not there yet.

        Raises:

            OSError: There is no room for them, or they may not be written.
        """
        self.folder.mkdir(mode=0o700, exist_ok=True)
        for prefix in PREFIXES:
            path = self._path(prefix)
            if not path.exists():
                # Readers take every file of that ending for whole.
                unfinished = path.with_suffix(".new")
                try:
                    unfinished.write_bytes(bytes(FIRST_BYTES))
                    unfinished.rename(path)
                except OSError:
                    unfinished.unlink(missing_ok=True)
                    raise

    def make_room(self, prefix: str) -> None:
        """
        See to it that one more set of labels fits into a file.

        Raises:

            OSError: The disk is full.
            NoRoom: The file is as long as it may become.
        """
        with self._path(prefix).open("r+b") as file:
            (used,) = _USED.unpack(file.read(_USED.size))
            size = file.seek(0, 2)
            if used + ROOM_BYTES <= size:
                return
            if size * 2 > MOST_BYTES:
                raise NoRoom
            try:
                file.write(bytes(size))
                file.flush()
            except OSError:
                file.truncate(size)
                raise

    def _path(self, prefix: str) -> Path:
        return self.folder / f"{prefix}_{self.number}.db"
