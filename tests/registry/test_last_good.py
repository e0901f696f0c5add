"""What one worker has read well is there for the next one, and no disk fault is anybody's problem."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mcp_gateway.registry.last_good import LastGood


def test_what_is_kept_is_found_by_its_place(tmp_path: Path) -> None:
    LastGood(tmp_path).keep("manifest of a", b"one")
    LastGood(tmp_path).keep("manifest of b", b"two")

    assert LastGood(tmp_path).find("manifest of a") == b"one"


def test_the_newest_wins_and_nothing_else_is_left_behind(tmp_path: Path) -> None:
    kept = LastGood(tmp_path)
    kept.keep("a", b"old")
    kept.keep("a", b"new")

    assert kept.find("a") == b"new"
    assert len(list(tmp_path.iterdir())) == 1


def test_what_was_never_kept_is_not_found(tmp_path: Path) -> None:
    assert LastGood(tmp_path).find("a") is None


def test_without_a_folder_nothing_is_kept() -> None:
    LastGood().keep("a", b"one")

    assert LastGood().find("a") is None


def test_a_folder_that_cannot_be_written_is_told_and_not_fatal(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    gone = tmp_path / "gone"

    LastGood(gone).keep("a", b"one")

    assert os.strerror(2) in caplog.text
