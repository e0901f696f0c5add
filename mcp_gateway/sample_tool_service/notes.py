"""
Notes kept in a SQLite file.

Each call opens its own connection: calls come from many threads, and a connection costs less than a millisecond. The
write-ahead log lets readers go on while a note is written.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

KOREAN_TIME = timezone(timedelta(hours=9), "KST")
"""Fixed, so that notes need no time zone database; Korea has had no summer time since 1988."""

_BUSY_TIMEOUT_S = 5.0
_TABLE = """
CREATE TABLE IF NOT EXISTS notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    tags TEXT NOT NULL,
    created_at TEXT NOT NULL
)
"""
_SELECT = """
SELECT id, title, text, tags, created_at FROM notes
WHERE (:tag IS NULL OR EXISTS (SELECT 1 FROM json_each(notes.tags) WHERE value = :tag))
AND (:first IS NULL OR substr(created_at, 1, 10) >= :first)
AND (:last IS NULL OR substr(created_at, 1, 10) <= :last)
ORDER BY id DESC LIMIT :limit
"""


@dataclass(frozen=True, slots=True)
class Note:
    """One note; ``created_at`` is ISO 8601 in Korean time."""

    id: int
    title: str
    text: str
    tags: tuple[str, ...]
    created_at: str


def _now() -> datetime:
    return datetime.now(KOREAN_TIME)


class Notes:
    """
    The notes of one file, which is made when it is not there.

    Args:

        path: The SQLite file.

        now: The clock.

    Raises:

        sqlite3.Error: The file cannot be opened, or is no SQLite file.
    """

    def __init__(self, path: Path, now: Callable[[], datetime] = _now) -> None:
        self._path = path
        self._now = now
        with closing(self._connect()) as connection, connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(_TABLE)

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=_BUSY_TIMEOUT_S, isolation_level="IMMEDIATE")

    def add(self, title: str, text: str, tags: Sequence[str]) -> Note:
        """Keep a new note and return it; it is on the disk when this returns."""
        created_at = self._now().astimezone(KOREAN_TIME).isoformat(timespec="milliseconds")
        row = (title, text, json.dumps(tags, ensure_ascii=False), created_at)
        with closing(self._connect()) as connection, connection:
            connection.execute("INSERT INTO notes (title, text, tags, created_at) VALUES (?, ?, ?, ?)", row)
            (number,) = connection.execute("SELECT last_insert_rowid()").fetchone()
        return Note(number, title, text, tuple(tags), created_at)

    def list(
        self, limit: int, tag: str | None = None, first: date | None = None, last: date | None = None
    ) -> list[Note]:
        """Return the newest notes first, of the days from *first* to *last* (Korean time, both included)."""
        filters = {
            "limit": limit,
            "tag": tag,
            "first": first and first.isoformat(),
            "last": last and last.isoformat(),
        }
        with closing(self._connect()) as connection:
            rows = connection.execute(_SELECT, filters).fetchall()
        return [Note(number, title, text, tuple(json.loads(tags)), at) for number, title, text, tags, at in rows]
