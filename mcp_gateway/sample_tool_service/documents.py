"""
Full-text search over a folder of documents, in English and Korean.

SQLite's FTS5 splits text at spaces and punctuation, which does not suit Korean: 계약 (contract) stands inside
근로계약서를, with other words before it and particles behind. So Korean, Chinese and Japanese text goes into the index
as overlapping pairs of characters, each run ending in its last character alone: 계약서 becomes 계약 약서 서. A query
goes the same way and is looked for as a phrase whose last term is a prefix. That finds a word of any length, one
character included, anywhere in another; English words are found whole, in other grammatical forms, and by their
beginning.

Only letters and digits of a query reach FTS5, in quotes: nothing a user types is ever FTS5 syntax.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

SUFFIXES = frozenset({".md", ".txt"})
MAX_FILE_BYTES = 4 * 1024 * 1024
"""Larger files are left out: they are data, hardly documents."""

SNIPPET_CHARACTERS = 200
_SNIPPET_LEAD = 60
_SNIPPET_TRIES = 100
_TITLE_WEIGHT = 5.0

_CJK = (
    "\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(f"([{_CJK}]+)|[^\\W_{_CJK}]+")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]++(.*)")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")

Stamp = tuple[int, int]
"""A file's time of change in nanoseconds and its size; when neither moved, the file is not read again."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document: ``id`` is its path in the folder, ``title`` its first heading."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One document found; a higher score is a better match."""

    document: Document
    snippet: str
    score: float


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found: how many documents in all, the best of them, and whether they hold every word."""

    total: int
    every_word: bool
    hits: tuple[Hit, ...]


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each run of letters and digits with whether it is Korean, Chinese or Japanese."""
    for match in _RUN.finditer(unicodedata.normalize("NFKC", text).casefold()):
        yield match[0], match[1] is not None


def terms(text: str) -> list[str]:
    """Return the terms under which *text* is kept in the index, in order."""
    found = []
    for run, is_cjk in _runs(text):
        found += [run[at : at + 2] for at in range(len(run))] if is_cjk else [run]
    return found


def _parts(text: str) -> list[str]:
    """Return the terms of *text* without the single character that ends a longer run: alone it says too little."""
    found = []
    for run, is_cjk in _runs(text):
        found += [run[at : at + 2] for at in range(len(run) - 1)] if is_cjk and len(run) > 1 else [run]
    return found


def _expression(phrases: Iterable[str], operator: str) -> str:
    return f" {operator} ".join(f'"{phrase}" *' for phrase in dict.fromkeys(phrases) if phrase)


def _title(text: str, otherwise: str) -> str:
    fenced = False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and (heading := _HEADING.fullmatch(line)) and heading[1]:
            return _without_closing_marks(heading[1])
    return otherwise


def _without_closing_marks(heading: str) -> str:
    # Not by a regular expression, which would try each place where many blanks could be parted.
    heading = heading.rstrip(" \t")
    before = heading.rstrip("#")
    return before.rstrip(" \t") if before.endswith((" ", "\t")) else heading


def _decoded(content: bytes) -> str:
    # Korean text files from Windows are often in its old code page.
    for encoding in ("utf-8-sig", "cp949"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode("utf-8", "replace")


def _snippet(text: str, query: str) -> str:
    """Return the passage of *text* that holds the most different parts of *query*."""
    flat = " ".join(text.split())
    words = (word for word in query.casefold().split() if terms(word))
    needles = sorted({*words, *_parts(query)}, key=len, reverse=True)
    places = (match.start() for match in re.finditer("|".join(map(re.escape, needles)), flat, re.IGNORECASE))

    def start(place: int) -> int:
        return max(0, min(place - _SNIPPET_LEAD, len(flat) - SNIPPET_CHARACTERS))

    def worth(begin: int) -> int:
        window = flat[begin : begin + SNIPPET_CHARACTERS].casefold()
        return sum(needle in window for needle in needles)

    begin = max(map(start, islice(places, _SNIPPET_TRIES)), key=worth, default=0)
    if begin:
        begin = flat.find(" ", begin - 1, begin + _SNIPPET_LEAD // 2) + 1 or begin
    end = begin + SNIPPET_CHARACTERS
    return ("…" if begin else "") + flat[begin:end].strip() + ("…" if end < len(flat) else "")


def files(folder: Path) -> Iterator[tuple[str, Path, Stamp]]:
    """
    Yield the id, path and stamp of each document below *folder*.

    Hidden files and folders are left out, and so are symbolic links: a document is what lies in the folder itself.
    """
    for place, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if not each.startswith(".")]
        for name in names:
            path = Path(place, name)
            if name.startswith(".") or path.suffix.lower() not in SUFFIXES:
                continue
            try:
                status = path.lstat()
                identity = unicodedata.normalize("NFC", path.relative_to(folder).as_posix())
                identity.encode()
            except (OSError, UnicodeEncodeError):
                continue
            if stat.S_ISREG(status.st_mode) and status.st_size <= MAX_FILE_BYTES:
                yield identity, path, (status.st_mtime_ns, status.st_size)


class DocumentIndex:
    """
    The documents of a folder, searchable; brought up to date before each answer.

    Args:

        folder: The folder.

        read: Reads a file.

    Raises:

        sqlite3.Error: This Python's SQLite has no FTS5.
    """

    def __init__(self, folder: Path, read: Callable[[Path], bytes] = Path.read_bytes) -> None:
        self._folder = folder
        self._read = read
        self._lock = threading.Lock()
        self._documents: dict[str, Document] = {}
        self._stamps: dict[str, Stamp] = {}
        self._database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._database.execute(
            "CREATE VIRTUAL TABLE pages USING fts5(id UNINDEXED, title, body, tokenize = 'porter unicode61')"
        )
        self._refresh()

    def close(self) -> None:
        """Let the index go."""
        with self._lock:
            self._database.close()

    def __len__(self) -> int:
        return len(self._documents)

    def get(self, identity: str) -> Document | None:
        """Return the document of that id; None when the folder has none."""
        with self._lock:
            self._refresh()
            return self._documents.get(identity)

    def search(self, query: str, limit: int) -> Found:
        """Find documents that hold every word of *query*; when there are none, those that hold parts of it."""
        every = _expression((" ".join(terms(word)) for word in query.split()), "AND")
        if not every:
            return Found(0, True, ())
        some = _expression(_parts(query), "OR")
        with self._lock:
            self._refresh()
            rows = self._matches(every)
            every_word = bool(rows)
            rows = rows or self._matches(some)
            best = [(self._documents[identity], cost) for identity, cost in rows[:limit]]
        hits = tuple(Hit(document, _snippet(document.text, query), round(-cost, 6)) for document, cost in best)
        return Found(len(rows), every_word, hits)

    def _matches(self, expression: str) -> list[tuple[str, float]]:
        return self._database.execute(
            "SELECT id, bm25(pages, 0, ?, 1) AS cost FROM pages WHERE pages MATCH ? ORDER BY cost, id",
            (_TITLE_WEIGHT, expression),
        ).fetchall()

    def _refresh(self) -> None:
        present = {identity: (path, stamp) for identity, path, stamp in files(self._folder)}
        for identity in self._stamps.keys() - present.keys():
            self._remove(identity)
        for identity, (path, stamp) in present.items():
            if self._stamps.get(identity) != stamp:
                self._remove(identity)
                self._add(identity, path, stamp)

    def _remove(self, identity: str) -> None:
        self._stamps.pop(identity, None)
        if self._documents.pop(identity, None):
            self._database.execute("DELETE FROM pages WHERE id = ?", (identity,))

    def _add(self, identity: str, path: Path, stamp: Stamp) -> None:
        try:
            text = unicodedata.normalize("NFC", _decoded(self._read(path)))
        except OSError:
            return
        title = _title(text, path.stem)
        self._documents[identity] = Document(identity, title, text)
        self._stamps[identity] = stamp
        page = (identity, " ".join(terms(f"{title} {identity}")), " ".join(terms(text)))
        self._database.execute("INSERT INTO pages VALUES (?, ?, ?)", page)
