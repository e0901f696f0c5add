"""The folder that a server's processes share: private, locked while one of them lives, swept by the next server."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_gateway import scratch
from mcp_gateway.scratch import Scratch


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(scratch, "_MEMORY", tmp_path)
    return tmp_path


@pytest.fixture
def made() -> Iterator[Scratch]:
    made = Scratch.make()
    yield made
    made.remove()


def killed() -> Path:
    """Return the folder of a server that took nothing away: the system has closed what it had open."""
    made = Scratch.make()
    assert made.lock is not None
    os.close(made.lock)
    (made.folder / "metrics").mkdir()
    (made.folder / "metrics" / "counter_0.db").write_bytes(b"x")
    return made.folder


def test_it_is_private_and_lies_in_memory(made: Scratch, place: Path) -> None:
    assert made.folder.parent == place
    assert stat.S_IMODE(made.folder.stat().st_mode) == 0o700


def test_it_lies_in_the_temporary_folder_where_there_is_no_memory(
    place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(scratch, "_MEMORY", place / "missing")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = Scratch.make()
    assert made.folder.parent == tmp_path
    made.remove()


def test_nothing_is_left_where_there_is_no_room_for_it(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "open", full)
    with pytest.raises(OSError, match="No space left"):
        Scratch.make()
    monkeypatch.undo()
    assert list(place.iterdir()) == []


def test_it_goes_with_its_server(place: Path) -> None:
    made = Scratch.make()
    (made.folder / "manifest").write_bytes(b"{}")
    made.remove()
    assert list(place.iterdir()) == []


def test_what_a_killed_server_has_left_is_swept_away(place: Path) -> None:
    left = killed()
    assert scratch.sweep() == [left]
    assert list(place.iterdir()) == []


def test_what_a_server_has_in_use_stays(made: Scratch) -> None:
    assert scratch.sweep() == []
    assert made.folder.is_dir()


def test_it_stays_while_a_worker_lives_whose_master_was_killed(place: Path) -> None:
    made = Scratch.make()
    assert made.lock is not None
    inherited = os.dup(made.lock)
    os.close(made.lock)
    assert scratch.sweep() == []
    os.close(inherited)
    assert scratch.sweep() == [made.folder]


def test_a_folder_that_is_being_made_stays(place: Path) -> None:
    (place / "mcp-gateway-young").mkdir()
    assert scratch.sweep() == []


def test_what_only_has_such_a_name_stays(place: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "lock").touch()
    (place / "mcp-gateway-link").symlink_to(elsewhere)
    (place / "mcp-gateway-file").touch()
    assert scratch.sweep() == []
    assert (elsewhere / "lock").exists()


def test_what_belongs_to_somebody_else_stays(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = killed()
    monkeypatch.setattr(os, "getuid", lambda: left.stat().st_uid + 1)
    assert scratch.sweep() == []


def test_what_another_server_takes_away_at_the_same_moment_is_left_to_it(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = place / "mcp-gateway-gone"
    monkeypatch.setattr(Path, "glob", lambda *_: [gone])
    assert scratch.sweep() == []


def test_where_the_file_system_knows_no_locks_nothing_is_swept(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", unknown)
    made = Scratch.make()
    assert made.lock is None
    assert scratch.sweep() == []
    made.remove()
    assert list(place.iterdir()) == []
