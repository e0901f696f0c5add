from __future__ import annotations

import json
import re
import struct
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mcp_gateway.sample_tool_service import manifest
from mcp_gateway.sample_tool_service.chart import HEIGHT, WIDTH

TOOLS: dict[str, dict[str, Any]] = {tool["name"]: tool for tool in json.loads(manifest.load().text)["tools"]}


def fits_its_output_schema(tool: str, answer: Any) -> bool:
    return Draft202012Validator(TOOLS[f"core.{tool}"]["outputSchema"]).is_valid(answer)


def test_a_search_answers_ranked_documents_as_its_schema_says(service: Any) -> None:
    reply = service.call("search_documents", {"query": "보고서"})
    assert reply.status == 200
    assert reply.headers["Content-Type"] == "application/json"
    assert fits_its_output_schema("search_documents", reply.json)
    assert reply.json["query"] == "보고서"
    assert reply.json["match"] == "all words"
    assert reply.json["total"] == 1
    (document,) = reply.json["documents"]
    assert (document["id"], document["title"]) == ("report.ko.md", "주간 보고서")
    assert "보고서를 올립니다" in document["snippet"]
    assert "보고서" in reply.text


def test_a_search_says_when_documents_hold_only_some_of_the_words(service: Any) -> None:
    reply = service.call("search_documents", {"query": "budget ostrich", "limit": 3.0})
    assert reply.json["match"] == "some words"
    assert [each["id"] for each in reply.json["documents"]] == ["budgets.md"]


def test_a_search_returns_five_documents_unless_told_otherwise(service: Any) -> None:
    for number in range(8):
        (service.documents / f"{number}.md").write_text("pelican", encoding="utf-8")
    assert len(service.call("search_documents", {"query": "pelican"}).json["documents"]) == 5
    assert len(service.call("search_documents", {"query": "pelican", "limit": 7}).json["documents"]) == 7


def test_a_document_comes_as_markdown_text(service: Any) -> None:
    reply = service.call("get_document", {"id": "report.ko.md"})
    assert reply.status == 200
    assert reply.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert reply.text.startswith("# 주간 보고서\n")


@pytest.mark.parametrize(
    "identity", ["없음.md", "../notes.sqlite3", "/etc/passwd", "./budgets.md", "..%2Fsecret.md", "budgets.md\x00"]
)
def test_a_document_that_is_not_in_the_folder_is_not_found(service: Any, identity: str) -> None:
    (service.documents.parent / "secret.md").write_text("secret", encoding="utf-8")
    reply = service.call("get_document", {"id": identity})
    assert reply.status == 404
    assert identity in reply.message


def test_the_time_is_korean_time_unless_told_otherwise(service: Any) -> None:
    answer = service.call("current_time", {}).json
    assert fits_its_output_schema("current_time", answer)
    assert (answer["timezone"], answer["utc_offset"]) == ("Asia/Seoul", "+09:00")
    moment = datetime.fromisoformat(answer["datetime"])
    assert abs(moment.timestamp() - time.time()) < 60
    assert answer["weekday"] == moment.strftime("%A")


def test_the_time_can_be_that_of_another_zone(service: Any) -> None:
    answer = service.call("current_time", {"timezone": "America/St_Johns"}).json
    assert answer["utc_offset"] in ("-03:30", "-02:30")
    assert answer["datetime"].endswith(answer["utc_offset"])


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd", "/etc/passwd", "Asia", "a\x00b", "서울"])
def test_an_unknown_time_zone_is_refused_with_a_text(service: Any, zone: str) -> None:
    reply = service.call("current_time", {"timezone": zone})
    assert reply.status == 400
    assert reply.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert f"'{zone}' is not a known time zone" in reply.text


def test_a_note_is_kept_and_listed_again(service: Any) -> None:
    made = service.call("add_note", {"title": "회의 📝", "text": "내용 👩‍💻", "tags": ["업무"]}).json
    assert fits_its_output_schema("add_note", made)
    assert service.call("list_notes", {}).json == [
        {"id": made["id"], "title": "회의 📝", "text": "내용 👩‍💻", "tags": ["업무"], "created_at": made["created_at"]}
    ]


def test_notes_can_be_narrowed_by_tag_and_by_day(service: Any) -> None:
    day = service.call("add_note", {"title": "a", "text": "b"}).json["created_at"][:10]
    assert len(service.call("list_notes", {"created": {"from": day, "to": day}}).json) == 1
    assert service.call("list_notes", {"created": {"to": "2020-01-01"}}).json == []
    assert service.call("list_notes", {"created": {"from": "9999-12-31"}}).json == []
    assert service.call("list_notes", {"tag": "none", "created": {}}).json == []


def test_days_in_the_wrong_order_are_refused(service: Any) -> None:
    reply = service.call("list_notes", {"created": {"from": "2026-02-01", "to": "2026-01-31"}})
    assert reply.status == 400
    assert reply.message == "'created.from' is after 'created.to'"


def test_notes_outlive_the_service(start: Callable[..., AbstractContextManager[Any]], tmp_path: Path) -> None:
    with start(tmp_path, tmp_path / "notes.sqlite3") as first:
        first.call("add_note", {"title": "남는 노트", "text": "😀"})
    with start(tmp_path, tmp_path / "notes.sqlite3") as second:
        assert [note["title"] for note in second.call("list_notes", {}).json] == ["남는 노트"]


def test_a_slow_answer_comes_after_the_time_asked_for(service: Any) -> None:
    begun = time.monotonic()
    reply = service.call("slow_answer", {"seconds": 0.3}, {"x-timeout-ms": "5000"})
    assert time.monotonic() - begun >= 0.3
    assert (reply.status, reply.text) == (200, "Answered after 0.3 seconds.")
    assert reply.headers["Content-Type"] == "text/plain; charset=utf-8"


def test_a_slow_answer_is_given_up_when_the_callers_budget_is_over_and_not_before(service: Any) -> None:
    begun = time.monotonic()
    reply = service.call("slow_answer", {"seconds": 30}, {"x-timeout-ms": "200"})
    assert 0.2 <= time.monotonic() - begun < 10
    assert reply.status == 503
    assert reply.headers["Retry-After"] == "3"
    assert "time budget" in reply.message


def test_a_slow_answer_ends_when_the_service_stops(
    start: Callable[..., AbstractContextManager[Any]], tmp_path: Path
) -> None:
    replies: list[Any] = []
    with start(tmp_path, tmp_path / "notes.sqlite3") as service:
        thread = threading.Thread(target=lambda: replies.append(service.call("slow_answer", {"seconds": 30})))
        thread.start()
        service.server.stopping.set()
        thread.join(10)
    assert replies[0].status == 503
    assert replies[0].message == "The service is stopping."


@pytest.mark.parametrize("status", TOOLS["core.fail"]["inputSchema"]["properties"]["status"]["enum"])
def test_fail_answers_with_the_status_asked_for(service: Any, status: int) -> None:
    reply = service.call("fail", {"status": status, "message": "일부러 실패"})
    assert (reply.status, reply.message) == (status, "일부러 실패")
    assert reply.headers.get("Retry-After") == ("3" if status in (429, 503) else None)


def test_fail_has_a_message_of_its_own(service: Any) -> None:
    assert service.call("fail", {"status": 409}).message == "This is the status 409 that you asked for."


def pixels(png: bytes) -> list[bytes]:
    """Check a PNG of one byte a pixel and return its rows."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, rest = {}, png[8:]
    while rest:
        (length,) = struct.unpack(">I", rest[:4])
        kind, content = rest[4:8], rest[8 : 8 + length]
        assert struct.unpack(">I", rest[8 + length : 12 + length]) == (zlib.crc32(kind + content),)
        chunks[kind], rest = content, rest[12 + length :]
    assert list(chunks) == [b"IHDR", b"PLTE", b"IDAT", b"IEND"]
    width, height, depth, colour, *_ = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (width, height, depth, colour) == (WIDTH, HEIGHT, 8, 3)
    data = zlib.decompress(chunks[b"IDAT"])
    rows = [data[at : at + width + 1] for at in range(0, len(data), width + 1)]
    assert len(rows) == height
    assert all(row[0] == 0 for row in rows)
    return [row[1:] for row in rows]


def shape(service: Any, values: list[float]) -> list[str]:
    """Draw *values* and return, for the middle of each bar, its pixels from top to bottom in short."""
    reply = service.call("draw_chart", {"values": values})
    assert (reply.status, reply.headers["Content-Type"]) == (200, "image/png")
    rows = pixels(reply.body)
    middles = [WIDTH * (2 * index + 1) // (2 * len(values)) for index in range(len(values))]
    columns = ["".join(str(row[middle]) for row in rows) for middle in middles]
    return [re.sub(r"(.)\1*", r"\1", column) for column in columns]


def test_a_chart_shows_positive_bars_above_the_line_and_negative_ones_below(service: Any) -> None:
    assert shape(service, [4, -2, 2, 0]) == ["130", "032", "0130", "030"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [([0], "30"), ([-1.5], "32"), ([1e12], "13"), ([1] * 60, "13"), ([0.001], "13")],
)
def test_a_chart_of_any_numbers_is_a_picture(service: Any, values: list[float], expected: str) -> None:
    assert shape(service, values)[-1] == expected


def test_a_bar_of_half_the_value_is_half_as_high(service: Any) -> None:
    rows = pixels(service.call("draw_chart", {"values": [10, 5]}).body)
    full, half = (sum(row[column] == 1 for row in rows) for column in (WIDTH // 4, WIDTH * 3 // 4))
    assert abs(full - 2 * half) <= 1
    assert full == HEIGHT - 1
