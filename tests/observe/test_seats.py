"""Seats: files that are written whole before anybody maps them, taken in turn and never piled up."""

from __future__ import annotations

import errno
import io
import os
from pathlib import Path
from typing import Any

import pytest

from mcp_gateway.observe import seats
from mcp_gateway.observe.seats import FIRST_BYTES, MOST_BYTES, PREFIXES, NoRoom, Seat, Seats


def test_each_worker_gets_the_lowest_seat_that_is_free(tmp_path: Path) -> None:
    here = Seats(tmp_path)
    assert [here.take(worker).number for worker in (1, 2, 3)] == [0, 1, 2]

    here.leave(2)
    assert here.take(4).number == 1
    here.leave(1)
    here.leave(3)
    assert [here.take(worker).number for worker in (5, 6, 7)] == [0, 2, 3]


def test_what_a_worker_showed_of_itself_goes_with_it_and_what_it_counted_stays(tmp_path: Path) -> None:
    here = Seats(tmp_path)
    here.take(1).prepare()
    here.take(2).prepare()

    here.leave(1)
    here.leave(1)
    here.leave(99)

    left = {path.name for path in tmp_path.glob("*_0.db")}
    assert left == {"counter_0.db", "histogram_0.db"}
    assert len(list(tmp_path.glob("*_1.db"))) == len(PREFIXES)


def test_files_that_cannot_be_taken_away_do_not_end_the_master(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture
) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(seats, "_mark_dead", denied)
    here = Seats(tmp_path)
    here.take(1)

    here.leave(1)

    assert "Operation not permitted" in log.text
    assert here.take(2).number == 0


def test_every_byte_of_a_file_is_there_before_it_is_used(tmp_path: Path) -> None:
    Seat(tmp_path / "metrics", 7).prepare()

    folder = tmp_path / "metrics"
    assert {path.name for path in folder.iterdir()} == {f"{prefix}_7.db" for prefix in PREFIXES}
    for path in folder.iterdir():
        found = path.stat()
        assert found.st_size == FIRST_BYTES
        assert found.st_blocks * 512 >= FIRST_BYTES
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_file_that_finds_no_room_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nearly_full(self: Path, data: bytes) -> int:
        self.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", nearly_full)
    with pytest.raises(OSError, match="No space"):
        Seat(tmp_path, 0).prepare()

    assert list(tmp_path.iterdir()) == []


def test_files_of_an_earlier_worker_are_taken_over_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "counter_0.db").write_bytes(b"x" * 100)
    Seat(tmp_path, 0).prepare()

    assert (tmp_path / "counter_0.db").read_bytes() == b"x" * 100


def used(path: Path, count: int) -> None:
    """Let a file say that so many of its bytes are used."""
    with path.open("r+b") as file:
        file.write(count.to_bytes(4, "little"))


def test_a_file_grows_before_it_is_full_and_to_what_the_library_will_make_of_it(tmp_path: Path) -> None:
    seat, path = Seat(tmp_path, 0), tmp_path / "counter_0.db"
    seat.prepare()

    used(path, FIRST_BYTES // 2)
    seat.make_room("counter")
    assert path.stat().st_size == FIRST_BYTES
    used(path, FIRST_BYTES - 100)
    seat.make_room("counter")
    assert path.stat().st_size == 2 * FIRST_BYTES
    assert path.stat().st_blocks * 512 >= 2 * FIRST_BYTES
    seat.make_room("counter")
    assert path.stat().st_size == 2 * FIRST_BYTES


def test_a_file_does_not_grow_without_end(tmp_path: Path) -> None:
    seat, path = Seat(tmp_path, 0), tmp_path / "counter_0.db"
    seat.prepare()
    path.write_bytes(bytes(MOST_BYTES))
    used(path, MOST_BYTES - 100)

    with pytest.raises(NoRoom):
        seat.make_room("counter")


def test_a_file_that_cannot_grow_is_left_as_long_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seat, path = Seat(tmp_path, 0), tmp_path / "counter_0.db"
    seat.prepare()
    used(path, FIRST_BYTES - 100)
    really = Path.open

    class NearlyFull(io.BufferedRandom):
        def write(self, data: Any) -> int:
            os.pwrite(self.fileno(), b"\0" * 10, FIRST_BYTES)
            raise OSError(errno.ENOSPC, "No space left on device")

    def opened(self: Path, *_: object) -> Any:
        return NearlyFull(really(self, "r+b", 0))

    monkeypatch.setattr(Path, "open", opened)
    with pytest.raises(OSError, match="No space"):
        seat.make_room("counter")

    assert path.stat().st_size == FIRST_BYTES
