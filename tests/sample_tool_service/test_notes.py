from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from mcp_gateway.sample_tool_service.notes import Notes


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 1, 31, 14, 59, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def test_a_note_keeps_every_character(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes.sqlite3")
    made = notes.add("회의록 📝", "한 줄\n둘째 줄 👩‍👩‍👧 \x00 'quoted'", ["업무", "🎉", 'a"b'])
    assert notes.list(10) == [made]
    assert made.tags == ("업무", "🎉", 'a"b')


def test_notes_are_listed_newest_first_up_to_the_limit(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes.sqlite3")
    for title in "abc":
        notes.add(title, "text", [])
    assert [note.title for note in notes.list(2)] == ["c", "b"]


def test_the_same_note_twice_is_two_notes(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes.sqlite3")
    first, second = notes.add("t", "x", []), notes.add("t", "x", [])
    assert first.id != second.id
    assert len(notes.list(10)) == 2


def test_a_tag_is_matched_whole(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes.sqlite3")
    notes.add("work", "text", ["업무", "urgent"])
    notes.add("homework", "text", ["업무외"])
    assert [note.title for note in notes.list(10, tag="업무")] == ["work"]


def test_days_are_korean_days_and_both_ends_are_included(tmp_path: Path) -> None:
    clock = Clock()
    notes = Notes(tmp_path / "notes.sqlite3", clock)
    assert notes.add("on the 31st", "text", []).created_at == "2026-01-31T23:59:00.000+09:00"
    clock.now = clock.now.replace(hour=15)
    notes.add("on the 1st", "text", [])
    january, february = date(2026, 1, 31), date(2026, 2, 1)
    assert [note.title for note in notes.list(10, last=january)] == ["on the 31st"]
    assert [note.title for note in notes.list(10, first=february)] == ["on the 1st"]
    assert len(notes.list(10, first=january, last=february)) == 2


def test_notes_are_still_there_when_the_file_is_opened_again(tmp_path: Path) -> None:
    made = Notes(tmp_path / "notes.sqlite3").add("kept", "text", ["tag"])
    assert Notes(tmp_path / "notes.sqlite3").list(10) == [made]


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear Sir or Madam, " * 100, encoding="utf-8")
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        Notes(path)
    assert path.read_text(encoding="utf-8").startswith("Dear Sir")


def test_notes_added_by_twenty_threads_at_once_are_all_kept(service: Any) -> None:
    def add(number: int) -> int:
        reply = service.call("add_note", {"title": f"노트 {number}", "text": "동시에", "tags": [f"t{number % 20}"]})
        assert reply.status == 200, reply.text
        made = reply.json["id"]
        assert isinstance(made, int)
        return made

    with ThreadPoolExecutor(20) as pool:
        made = list(pool.map(add, range(100)))
    kept = service.call("list_notes", {"limit": 100}).json
    assert len(set(made)) == 100
    assert {note["id"] for note in kept} == set(made)
    assert {note["title"] for note in kept} == {f"노트 {number}" for number in range(100)}
    assert len(service.call("list_notes", {"tag": "t7"}).json) == 5
