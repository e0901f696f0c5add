"""The fault suite calls wrong what is wrong: its own words, its counting, and a short run of a few faults."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from faults.cases import FAULTS
from faults.load import Tally
from faults.run import Row, page
from faults.wire import LOST, RIGHT, Answer, Call, label, tool_answer

ROOT = Path(__file__).resolve().parents[2]
PROCESSES_END_S = 110.0

CALL = Call(4_001, "healthy")


def answer(document: Any, status: int = 200, call: Call = CALL) -> Answer:
    """Answer with the ids of *call*."""
    headers = {"guid": call.guid, "x-request-id": f"faults-{call.number}"}
    return Answer(status, headers, json.dumps(document).encode())


def result(text: str, failure: Any = None, request_id: Any = CALL.id) -> Any:
    """Write the result of a call."""
    meta = {} if failure is None else {"_meta": {"mcp-gateway/failure": failure}}
    content = [{"type": "text", "text": text, "_meta": {"searchTime": 3}}]
    return {"jsonrpc": "2.0", "id": request_id, "result": {"content": content, "isError": failure is not None, **meta}}


def error(data: Any, code: int = -32603) -> Any:
    """Write a JSON-RPC error."""
    return {"jsonrpc": "2.0", "id": CALL.id, "error": {"code": code, "message": "x", "data": data}}


GIVEN_UP = {"reason": "budget", "outcome": "unknown", "guid": CALL.guid}


@pytest.mark.parametrize(
    ("said", "name"),
    [
        (answer(result(tool_answer(4_001))), RIGHT),
        (answer(result("Tool 'healthy' is late", GIVEN_UP)), "budget/unknown"),
        (answer(error({"reason": "busy", "guid": CALL.guid})), "busy"),
        (answer(error({"guid": CALL.guid}, -32602)), "-32602"),
        (answer({"error": "payload_too_large", "message": "x", "guid": CALL.guid}, 413), "413 payload_too_large"),
    ],
)
def test_an_answer_of_the_call_has_its_name(said: Answer, name: str) -> None:
    assert label(CALL, said) == name


@pytest.mark.parametrize(
    "said",
    [
        answer(result(tool_answer(4_002))),
        answer(result(tool_answer(4_001)[:-1])),
        answer(result(tool_answer(4_001), request_id=4_002)),
        answer(result(tool_answer(4_001)), call=Call(4_002, "healthy")),
        answer(result(tool_answer(4_001)), status=201),
        answer(result("Tool 'other' is late", GIVEN_UP)),
        answer(result("Tool 'healthy' is late", {**GIVEN_UP, "guid": "of another"})),
        answer(error({"reason": "busy", "guid": "of another"})),
        answer({"jsonrpc": "2.0", "id": CALL.id, "result": {}}),
        answer([]),
        Answer(200, {}, b"half a JSON {"),
    ],
)
def test_an_answer_that_is_mixed_up_cut_or_malformed_is_wrong(said: Answer) -> None:
    assert label(CALL, said).startswith("wrong: ")


@pytest.mark.parametrize(
    ("name", "seen", "wrong"),
    [
        (RIGHT, 1, 0),
        (RIGHT, 0, 1),
        (RIGHT, 2, 1),
        ("status/answered", 1, 0),
        ("budget/unknown", 0, 0),
        ("budget/unknown", 1, 0),
        ("budget/unknown", 2, 1),
        ("refused/not_sent", 0, 0),
        ("refused/not_sent", 1, 1),
        ("busy", 1, 1),
    ],
)
def test_a_call_is_wrong_that_a_tool_service_saw_other_than_its_answer_says(name: str, seen: int, wrong: int) -> None:
    tally = Tally([name])
    tally.note(name, CALL, 0.1, seen)
    assert tally.wrong == wrong


def test_what_is_not_expected_is_wrong_and_what_is_lost_is_lost() -> None:
    tally = Tally([RIGHT])
    for name in (RIGHT, "busy", "wrong: mixed up", f"{LOST}: cut", "503 unavailable"):
        tally.note(name, CALL, 0.5, 1 if name == RIGHT else 0)
    assert (tally.calls, tally.wrong, tally.lost, tally.server_errors) == (5, 3, 1, 1)
    assert "mixed up" in "".join(tally.faults)


def test_the_page_names_every_problem_and_says_why_a_fault_was_skipped() -> None:
    rows = [
        Row("one", "what one does", "right", calls=1_234, slowest=0.5, problems=["it is late"]),
        Row("two", "what two does", "right", skipped="there is no nginx"),
    ]
    said = page(rows, 60.0)
    assert "| one | what one does | right | 1,234 | 0 | 0 | 0.50 s | **1 problem** |" in said
    assert "skipped: there is no nginx" in said
    assert "WRONG: one\n  it is late" in said


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "faults.run", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=PROCESSES_END_S)


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="figures are read from /proc")


@needs_proc
def test_a_short_run_of_two_faults_finds_nothing_wrong(tmp_path: Path) -> None:
    done = run("--only", "resetting,surplus-bytes", "--seconds", "0.5", "--json", str(tmp_path / "rows.json"))
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads((tmp_path / "rows.json").read_text())["rows"]
    assert [row["name"] for row in rows] == ["resetting", "surplus-bytes"]
    assert all(row["calls"] > 0 and row["wrong"] == row["lost"] == 0 for row in rows)
    assert "connection_lost/unknown" in rows[0]["labels"]


@needs_proc
def test_a_fault_whose_callers_get_something_else_ends_the_run_with_status_1() -> None:
    other = (
        "import sys; from faults import run; from faults.cases import answers;"
        "answers.misbehaves('odd', 'resets', 'budget/unknown')(answers.resetting);"
        "sys.exit(run.main(['--only', 'odd', '--seconds', '0.2']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", other], cwd=ROOT, capture_output=True, text=True, check=False, timeout=PROCESSES_END_S
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "WRONG: odd" in done.stdout
    assert "connection_lost/unknown" in done.stdout


def test_a_fault_that_does_not_exist_is_refused() -> None:
    done = run("--only", "silent,loud")
    assert done.returncode == 2
    assert "loud" in done.stderr


def test_every_fault_of_the_suite_has_its_row_on_the_page_about_reliability() -> None:
    written = (ROOT / "docs" / "reliability.md").read_text("utf-8")
    missing = [name for name in FAULTS if f"| {name} |" not in written]
    assert not missing, "play them, and write what came of it into docs/reliability.md"
