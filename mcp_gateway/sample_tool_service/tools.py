"""The tools: arguments that fit the manifest in, an ``Answer`` out. No HTTP here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from . import chart
from .answers import Answer, json_answer, refusal, text_answer
from .documents import DocumentIndex
from .notes import Notes

RETRY_AFTER_S = 3
GRACE_S = 0.25
"""Slow work goes on this long after the caller's budget, so that it is the caller's own clock that speaks first."""


@dataclass(frozen=True, slots=True)
class Call:
    """
    One call of a tool.

    Args:

        arguments: The arguments: checked against the ``inputSchema``, its defaults filled in.

        budget_s: The seconds that the caller will wait; None when it did not say.

        stopping: Set when the service ends.
    """

    arguments: Mapping[str, Any]
    budget_s: float | None
    stopping: threading.Event


Tool = Callable[[Call], Answer]


def unavailable(message: str) -> Answer:
    """Answer 503 with the time after which another try makes sense."""
    return refusal(503, message, (("Retry-After", str(RETRY_AFTER_S)),))


def current_time(call: Call) -> Answer:
    """``core.current_time``."""
    name = call.arguments["timezone"]
    try:
        now = datetime.now(ZoneInfo(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        # Besides an unknown name: one that is no path (ValueError), and one that is a folder, such as Asia (OSError).
        return text_answer(f"'{name}' is not a known time zone; use an IANA name such as Asia/Seoul.", 400)
    answer = {
        "timezone": name,
        "datetime": now.isoformat(timespec="seconds"),
        "weekday": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")[now.weekday()],
        "utc_offset": now.isoformat(timespec="seconds")[19:],
    }
    return json_answer(answer)


def slow_answer(call: Call) -> Answer:
    """``core.slow_answer``."""
    seconds = call.arguments["seconds"]
    patience = seconds if call.budget_s is None else min(seconds, call.budget_s + GRACE_S)
    if call.stopping.wait(patience):
        return unavailable("The service is stopping.")
    if patience < seconds:
        return unavailable(f"Gave up: {seconds} seconds are more than the caller's time budget.")
    return text_answer(f"Answered after {seconds} seconds.")


def fail(call: Call) -> Answer:
    """``core.fail``."""
    status = int(call.arguments["status"])
    message = call.arguments.get("message", f"This is the status {status} that you asked for.")
    return refusal(status, message, (("Retry-After", str(RETRY_AFTER_S)),) if status in (429, 503) else ())


def draw_chart(call: Call) -> Answer:
    """``core.draw_chart``."""
    return Answer(200, chart.draw(call.arguments["values"]), "image/png")


@dataclass(frozen=True, slots=True)
class DocumentTools:
    """The tools that read documents."""

    index: DocumentIndex

    def search(self, call: Call) -> Answer:
        """``core.search_documents``."""
        query = call.arguments["query"]
        found = self.index.search(query, int(call.arguments["limit"]))
        documents = [
            {"id": hit.document.id, "title": hit.document.title, "snippet": hit.snippet, "score": hit.score}
            for hit in found.hits
        ]
        match = "all words" if found.every_word else "some words"
        return json_answer({"query": query, "match": match, "total": found.total, "documents": documents})

    def get(self, call: Call) -> Answer:
        """``core.get_document``."""
        document = self.index.get(call.arguments["id"])
        if document is None:
            return refusal(404, f"There is no document '{call.arguments['id']}'; core.search_documents gives the ids.")
        return text_answer(document.text, media_type="text/markdown")


def _day(created: Mapping[str, str], name: str) -> date | None:
    return date.fromisoformat(created[name]) if name in created else None


@dataclass(frozen=True, slots=True)
class NoteTools:
    """The tools that keep notes."""

    notes: Notes

    def add(self, call: Call) -> Answer:
        """``core.add_note``."""
        note = self.notes.add(call.arguments["title"], call.arguments["text"], call.arguments.get("tags", []))
        return json_answer({"id": note.id, "title": note.title, "tags": note.tags, "created_at": note.created_at})

    def list(self, call: Call) -> Answer:
        """``core.list_notes``."""
        created = call.arguments.get("created", {})
        first, last = _day(created, "from"), _day(created, "to")
        if first and last and first > last:
            return refusal(400, "'created.from' is after 'created.to'")
        notes = self.notes.list(int(call.arguments["limit"]), call.arguments.get("tag"), first, last)
        return json_answer([asdict(note) for note in notes])


def toolbox(index: DocumentIndex, notes: Notes) -> dict[str, Tool]:
    """Return the tools by the names they have in the manifest."""
    documents, keeper = DocumentTools(index), NoteTools(notes)
    return {
        "core.search_documents": documents.search,
        "core.get_document": documents.get,
        "core.current_time": current_time,
        "core.add_note": keeper.add,
        "core.list_notes": keeper.list,
        "core.slow_answer": slow_answer,
        "core.fail": fail,
        "core.draw_chart": draw_chart,
    }
