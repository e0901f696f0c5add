"""The log: one line for each exchange, as JSON or for people, with nothing in it that must not be."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from road import BOTH, GUID, LEGACY, META, MODERN, Road, dumps, message, result, text

import mcp_gateway
from mcp_gateway.caller import Trace
from mcp_gateway.environ import QUEUED_S
from mcp_gateway.faults import Busy, CannotStart, Fault, HttpFault
from mcp_gateway.observe import logs
from mcp_gateway.observe.interaction import Interaction, hand_over
from mcp_gateway.transport.answer import Reason

TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
CALL: dict[str, Any] = {"name": "core.search", "arguments": {"query": "s3cret-argument"}}


@pytest.fixture
def package() -> Iterator[logging.Logger]:
    """The package's logger, as it was before when the test is over, like all that are configured with it."""
    loggers = [logging.getLogger(name) for name in logs.LOGGERS]
    before = [(logger, logger.handlers[:], logger.propagate, logger.level) for logger in loggers]
    yield loggers[0]
    for logger, handlers, propagate, level in before:
        logger.handlers[:], logger.propagate = handlers, propagate
        logger.setLevel(level)


def seen(**fields: Any) -> Interaction:
    """Return the record of an exchange that is over."""
    record = Interaction("core", GUID, "req-1")
    for name, value in fields.items():
        setattr(record, name, value)
    return record


# --- what the line of an exchange says -------------------------------------------------------------------------------


def test_the_line_of_a_call_tells_all_that_is_known_in_this_order() -> None:
    record = seen(
        revision=MODERN,
        method="tools/call",
        tool="core.search",
        service="core-tools",
        session_id="s-1",
        trace=Trace(TRACEPARENT),
        outcome="tool_error",
        reason="status",
        status=200,
        tool_status=503,
        queue_ms=0.26,
        started=10.0,
        arrived=10.001,
        called=10.00232,
        returned=10.01466,
        ended=10.05678,
        bytes_in=100,
        bytes_out=200,
    )

    assert list(logs.fields(record).items()) == [
        ("route", "core"),
        ("revision", MODERN),
        ("method", "tools/call"),
        ("tool", "core.search"),
        ("toolService", "core-tools"),
        ("outcome", "tool_error"),
        ("reason", "status"),
        ("status", 200),
        ("toolStatus", 503),
        ("durationMs", 56.8),
        ("queueMs", 0.3),
        ("checksMs", 1.3),
        ("toolMs", 12.3),
        ("bytesIn", 100),
        ("bytesOut", 200),
        ("guid", GUID),
        ("requestId", "req-1"),
        ("sessionId", "s-1"),
        ("traceId", "4bf92f3577b34da6a3ce929d0e0e4736"),
    ]


def test_what_is_not_known_is_left_out() -> None:
    assert set(logs.fields(seen())) == {
        "route",
        "outcome",
        "status",
        "bytesIn",
        "bytesOut",
        "guid",
        "requestId",
    }


def test_the_end_of_an_exchange_is_noted_with_its_time() -> None:
    record = seen(started=-1.0)

    record.finish(413, 99)

    assert (record.status, record.bytes_out) == (413, 99)
    assert record.total_ms is not None
    assert record.total_ms > 1000


# --- what the road fills in ------------------------------------------------------------------------------------------


def test_a_call_leaves_one_record_that_says_what_it_was(road: Road) -> None:
    body = message("tools/call", CALL)
    response = road.legacy("tools/call", CALL, headers={"mcp-session-id": "s-1", "guid": GUID, "x-request-id": "r-1"})

    (record,) = road.seen
    assert logs.fields(record) | {"durationMs": 0, "checksMs": 0, "toolMs": 0} == {
        "route": "core",
        "revision": "2025-11-25",
        "method": "tools/call",
        "tool": "core.search",
        "toolService": "core-tools",
        "outcome": "ok",
        "status": 200,
        "toolStatus": 200,
        "durationMs": 0,
        "checksMs": 0,
        "toolMs": 0,
        "bytesIn": len(dumps(body)),
        "bytesOut": len(response.data),
        "guid": GUID,
        "requestId": "r-1",
        "sessionId": "s-1",
    }
    assert record.ended is not None
    moments = (record.started, record.arrived, record.called, record.returned, record.ended)
    assert list(moments) == sorted(moments)


@pytest.mark.parametrize(
    ("gives", "outcome", "reason", "status"),
    [
        (text("done"), "ok", None, 200),
        (text("no", 503), "tool_error", "status", 503),
        (RuntimeError("inside"), "fault", "internal", None),
    ],
)
def test_the_record_says_how_a_call_ended(
    road: Road, gives: Any, outcome: str, reason: str | None, status: int | None
) -> None:
    road.service.gives = gives

    road.modern("tools/call", CALL)

    (record,) = road.seen
    assert (record.outcome, record.reason, record.tool_status) == (outcome, reason, status)
    assert (record.revision, record.tool, record.service) == (MODERN, "core.search", "core-tools")


def test_a_refusal_is_recorded_with_its_word(road: Road) -> None:
    road.post(b"{")
    road.legacy("ping", headers={"guid": "x"})
    road.legacy("ping", headers={"MCP-Protocol-Version": "x"})
    road.legacy("tools/run")
    road.legacy("tools/call", {})
    road.legacy("tools/call", {"name": "core.none"})
    road.modern("tools/call", {"name": "core.search"})
    road.request()

    assert {record.outcome for record in road.seen} == {"refused"}
    assert [record.reason for record in road.seen] == [
        "parse_error",
        "bad_caller_header",
        "version_not_served",
        "method_not_found",
        "invalid_params",
        "unknown_tool",
        "bad_arguments",
        "unsupported_media_type",
    ]


def test_what_a_caller_makes_up_does_not_become_a_word_of_the_record(road: Road) -> None:
    road.legacy("made/up")
    road.legacy("tools/call", {"name": "made.up"})
    road.post(b"{}")
    for made_up in ("notifications/made-up", "tools/call"):
        road.post({"jsonrpc": "2.0", "method": made_up}, {"MCP-Protocol-Version": LEGACY})

    assert [(record.method, record.tool) for record in road.seen] == [
        ("unknown", None),
        ("tools/call", None),
        (None, None),
        ("unknown", None),
        ("unknown", None),
    ]


@pytest.mark.parametrize("version", BOTH)
def test_a_notification_that_the_revision_knows_is_recorded_by_its_name(road: Road, version: str) -> None:
    meta = {"_meta": META} if version == MODERN else {}
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, **meta}}
    road.post(note, {"MCP-Protocol-Version": version})

    assert [(record.method, record.outcome) for record in road.seen] == [("notifications/cancelled", "accepted")]


def test_a_response_is_recorded_without_a_method(road: Road) -> None:
    road.post({"jsonrpc": "2.0", "id": 1, "result": {}}, {"MCP-Protocol-Version": LEGACY})

    assert [(record.method, record.outcome) for record in road.seen] == [(None, "accepted")]


def test_a_refusal_is_recorded_with_the_code_that_the_caller_got_and_the_trace_it_belongs_to(road: Road) -> None:
    road.legacy("tools/run", headers={"traceparent": TRACEPARENT})
    road.legacy("ping", headers={"guid": "x", "traceparent": TRACEPARENT})
    road.service.gives = RuntimeError("inside")
    road.legacy("tools/call", CALL, headers={"traceparent": TRACEPARENT})
    road.modern("tools/call", {"name": "core.search"}, meta={"traceparent": TRACEPARENT})

    assert [record.code for record in road.seen] == [-32601, -32600, -32603, None]
    assert {record.trace.traceparent for record in road.seen} == {TRACEPARENT}


def test_a_call_that_is_not_begun_has_no_time_of_its_own(road: Road) -> None:
    road.service.gives = Busy("core-tools")
    road.legacy("tools/call", CALL)

    (record,) = road.seen
    assert (record.reason, record.peer, record.tool_ms, record.checks_ms) == ("busy", None, None, None)


def test_the_server_says_how_long_a_request_waited_for_a_thread(road: Road) -> None:
    road.request(body=b"{}", environ_overrides={QUEUED_S: 0.25})
    road.request(body=b"{}")

    assert [record.queue_ms for record in road.seen] == [250, None]


def test_a_sink_that_fails_is_told_in_the_log_and_costs_no_answer(road: Road, log: pytest.LogCaptureFixture) -> None:
    def broken(_: Interaction) -> None:
        raise RuntimeError("no room")

    record, others = seen(), list[Interaction]()
    hand_over(record, [broken, others.append])

    assert others == [record]
    (line,) = log.records
    assert (line.levelname, line.__dict__["fields"]) == ("ERROR", record.context())
    assert "no room" in log.text


def test_neither_arguments_nor_answers_nor_employees_are_logged(road: Road, log: pytest.LogCaptureFixture) -> None:
    road.service.gives = text("s3cret-answer")

    road.legacy("tools/call", CALL, headers={"employee-no": "s3cret-1", "virtual-employee-no": "s3cret-2"})
    road.service.gives = text("s3cret-refusal", 403)
    road.legacy("tools/call", CALL, headers={"employee-no": "s3cret-1", "Authorization": "s3cret"})
    for record in road.seen:
        logs.write(record)

    assert len(log.records) == 2
    assert "s3cret" not in str(road.seen)
    assert "s3cret" not in " ".join(logs.JsonLines().format(record) for record in log.records)
    assert "s3cret" not in " ".join(logs.PlainLines().format(record) for record in log.records)


def test_the_body_of_a_5xx_goes_to_the_log_with_what_it_belongs_to(road: Road, log: pytest.LogCaptureFixture) -> None:
    road.service.gives = text("Traceback: table users", 500)

    response = road.legacy("tools/call", CALL, headers={"guid": GUID})

    assert b"Traceback" not in response.data
    (record,) = log.records
    line = json.loads(logs.JsonLines().format(record))
    assert (line["message"], line["level"]) == ("Traceback: table users", "warning")
    assert (line["guid"], line["route"], line["tool"]) == (GUID, "core", "core.search")


# --- lines -----------------------------------------------------------------------------------------------------------


def record(words: str, *arguments: Any, **extra: Any) -> logging.LogRecord:
    made = logging.LogRecord(
        "mcp_gateway.test", logging.WARNING, __file__, 1, words, arguments, extra.pop("exc_info", None)
    )
    made.__dict__.update(extra)
    return made


def failure() -> Any:
    try:
        raise ValueError("what went wrong")
    except ValueError:
        return sys.exc_info()


def test_a_json_line_is_one_object_with_its_context() -> None:
    line = logs.JsonLines().format(
        record("a %s\nof two lines", "도구", fields={"guid": GUID, "route": "core", "status": 200})
    )

    assert "\n" not in line
    document = json.loads(line)
    assert datetime.fromisoformat(document.pop("time")).utcoffset() is not None
    assert document == {
        "level": "warning",
        "logger": "mcp_gateway.test",
        "message": "a 도구\nof two lines",
        "guid": GUID,
        "route": "core",
        "status": 200,
    }


def test_a_json_line_holds_the_traceback() -> None:
    document = json.loads(logs.JsonLines().format(record("oops", exc_info=failure())))

    assert "what went wrong" in document["exception"]
    assert "Traceback" in document["exception"]


def test_a_json_line_stays_one_line_for_every_reader_of_lines_and_speaks_to_no_terminal() -> None:
    said = "first\r\n\x0b\x0c\x1b[31m\x7f\x85\x9b31m\u2028\u2029 가"

    line = logs.JsonLines().format(record(said, fields={"tool": said}))

    assert line.isprintable()
    document = json.loads(line)
    assert (document["message"], document["tool"]) == (said, said)


def test_what_json_has_no_word_for_is_written_as_well_as_it_can_be() -> None:
    line = logs.JsonLines().format(record("x", fields={"where": os, "what": ValueError("odd")}))

    assert "odd" in json.loads(line)["what"]


def test_a_plain_line_is_for_people() -> None:
    line = logs.PlainLines().format(record("the service is away", fields={"guid": GUID, "tool": "core.search"}))

    assert line[2] == line[5] == ":"
    assert line[8:] == f" WARNING mcp_gateway.test: the service is away guid={GUID} tool=core.search"


def test_a_plain_line_stays_one_line_and_speaks_to_no_terminal() -> None:
    line = logs.PlainLines().format(
        record("first\r\n12:00:00 ERROR forged \x1b[31m", fields={"tool": "\u2028\u0085가"})
    )

    assert line.isprintable()
    assert line.endswith("first\\r\\n12:00:00 ERROR forged \\x1b[31m tool=\\u2028\\x85가")


def test_a_plain_line_has_its_context_before_the_traceback() -> None:
    first, *rest = logs.PlainLines().format(record("oops", exc_info=failure(), fields={"guid": GUID})).split("\n")

    assert first.endswith(f"oops guid={GUID}")
    assert rest[0].startswith("Traceback")
    assert rest[-1] == "ValueError: what went wrong"


# --- where they go ---------------------------------------------------------------------------------------------------


def test_an_exchange_is_one_json_line_on_standard_error(
    package: logging.Logger, capfd: pytest.CaptureFixture[str]
) -> None:
    logs.configure("info", as_json=True)

    logs.write(seen(status=200))

    out, err = capfd.readouterr()
    assert out == ""
    document = json.loads(err)
    assert (document["message"], document["logger"], document["level"]) == ("exchange", "mcp_gateway.exchange", "info")
    assert (document["route"], document["status"], document["guid"]) == ("core", 200, GUID)


def test_an_exchange_is_one_plain_line_when_people_read_it(
    package: logging.Logger, capfd: pytest.CaptureFixture[str]
) -> None:
    logs.configure("info", as_json=False)

    logs.write(seen(status=200))

    assert capfd.readouterr().err.count("\n") == 1


def test_a_second_configuration_takes_the_place_of_the_first(
    package: logging.Logger, capfd: pytest.CaptureFixture[str]
) -> None:
    logs.configure("info", as_json=True)
    logs.configure("info", as_json=True)

    logs.write(seen())

    assert capfd.readouterr().err.count("\n") == 1


def test_a_line_is_written_once_though_others_have_a_log_of_their_own(
    package: logging.Logger, caplog: pytest.LogCaptureFixture
) -> None:
    logs.configure("info", as_json=True)

    logs.write(seen())

    assert not caplog.records


@pytest.mark.parametrize(
    ("level", "lines"),
    [("debug", 1), ("info", 1), ("INFO", 1), ("warning", 0), ("error", 0), ("critical", 0), ("loud", 1), ("", 1)],
)
def test_the_level_says_whether_exchanges_are_written(
    package: logging.Logger, capfd: pytest.CaptureFixture[str], level: str, lines: int
) -> None:
    logs.configure(level, as_json=True)

    logs.write(seen())

    assert capfd.readouterr().err.count("\n") == lines


def test_a_ping_is_recorded_too(road: Road) -> None:
    assert result(road.legacy("ping")) == {}

    assert [(record.method, record.outcome, record.status) for record in road.seen] == [("ping", "ok", 200)]


def test_a_line_leaves_whole_however_little_is_taken_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[bytes] = []

    def take(descriptor: int, line: memoryview) -> int:
        taken.append(bytes(line[:7]))
        return len(taken[-1])

    monkeypatch.setattr(os, "write", take)
    handler = logs.OneWrite(2)
    handler.setFormatter(logs.JsonLines())

    handler.handle(record("가" * 100))

    assert json.loads(b"".join(taken))["message"] == "가" * 100


def test_a_line_that_cannot_be_made_harms_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    failed: list[logging.LogRecord] = []
    handler = logs.OneWrite(2)
    handler.setFormatter(logs.JsonLines())
    monkeypatch.setattr(handler, "handleError", failed.append)

    handler.handle(record("half of a pair: \ud800"))

    assert len(failed) == 1


@pytest.mark.parametrize("name", ["gunicorn.error", "opentelemetry.exporter"])
def test_the_lines_of_the_server_and_of_the_exporter_have_the_same_form(
    package: logging.Logger, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    logs.configure("info", as_json=True)

    logging.getLogger(name).warning("about to %s", "stop")

    document = json.loads(capfd.readouterr().err)
    assert (document["logger"], document["level"], document["message"]) == (name, "warning", "about to stop")


def test_a_log_that_cannot_be_written_harms_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    failed: list[logging.LogRecord] = []

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    handler = logs.OneWrite(2)
    monkeypatch.setattr(handler, "handleError", failed.append)

    handler.handle(record("a line"))

    assert len(failed) == 1


# --- the page --------------------------------------------------------------------------------------------------------

PAGE = (Path(__file__).parents[2] / "docs" / "contracts" / "logs.md").read_text(encoding="utf-8")


def words(cells: str) -> set[str]:
    """Return the words of a text that are written as code."""
    return set(re.findall(r"`([^`]+)`", cells))


def test_the_page_explains_every_member_of_the_line_of_an_exchange() -> None:
    table = PAGE.split("## The line of an exchange")[1].split("`reason` for")[0]
    explained = set().union(*(words(row.split("|")[1]) for row in table.splitlines() if row.startswith("| `")))
    full = seen(
        revision=MODERN, method="ping", tool="t", service="s", session_id="s", trace=Trace(TRACEPARENT), reason="busy",
        tool_status=200, queue_ms=1.0, arrived=1.0, called=1.0, returned=1.0, ended=1.0,
    )  # fmt: skip

    assert explained == set(logs.fields(full))


def test_the_page_names_every_reason_that_there_is() -> None:
    named = words(PAGE.split("`reason` for `tool_error`")[1].split("```json")[0])

    def below(kind: type[Fault]) -> set[str]:
        children = kind.__subclasses__()
        return set().union({kind.reason}, *map(below, children))

    refusals = below(Fault) - {Fault.reason, HttpFault.reason, CannotStart.reason}
    assert refusals <= named
    assert {str(reason) for reason in Reason} <= named
    sources = (Path(mcp_gateway.__file__).parent / "web").glob("*.py")
    http = set().union(*(re.findall(r'HttpFault\(4\d\d, "(\w+)"', path.read_text()) for path in sources))
    assert http - {"host_not_allowed", "origin_not_allowed"} <= named
    assert named <= refusals | http | {
        *map(str, Reason),
        "tool_error",
        "refused",
        "fault",
        "internal",
        "guid",
        "reason",
    }


def test_the_example_of_the_page_has_no_member_that_is_not_explained() -> None:
    (example,) = re.findall(r"```json\n(.*)\n```", PAGE)

    assert set(json.loads(example)) <= words(PAGE)
