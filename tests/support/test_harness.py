from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path

import pytest

from support.ports import FIRST, LAST, free_port
from support.processes import ROOT, process_table, running
from support.rpc import request
from support.toolservice import Received, Reply, ToolService
from support.waiting import wait_until


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def leave_at_once(code: str, log: Path, said: str = "") -> None:
    with running(python(code), log) as here:
        wait_until(lambda: said in here.said(), f"word {said}")
        if not said:
            assert here.exit_code() == 0


def test_a_child_that_outlives_its_process_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("support.processes.GROUP_S", 0.5)
    with pytest.raises(AssertionError, match="end of the whole process group"):
        leave_at_once("import os, time\nif not os.fork(): time.sleep(60)", tmp_path / "log")


def test_a_process_that_does_not_heed_sigterm_is_killed_and_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("support.processes.STOP_S", 0.5)
    deaf = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"
    )
    with pytest.raises(AssertionError, match="had to be killed"):
        leave_at_once(deaf, tmp_path / "log", "deaf")


def test_the_process_table_holds_a_child_while_it_lives(tmp_path: Path) -> None:
    with running(python("import time; time.sleep(60)"), tmp_path / "log") as here:
        assert here.pid in dict(process_table())
    assert here.pid not in dict(process_table())


def test_a_tool_service_keeps_its_port_over_a_stop_and_notes_what_it_received() -> None:
    with ToolService() as service:
        service.add("echo", lambda received: Reply.of_json(received.body))
        url = f"{service.base_url}/tools/echo"
        assert request("POST", url, b"1.10").body == b"1.10"
        service.stop()
        with pytest.raises(OSError, match="refused"):
            request("POST", url, b"2")
        service.start()
        assert request("POST", url, b"3", {"X-A": "b"}).body == b"3"
        assert [(received.body, received.header("x-a")) for received in service.calls("echo")] == [
            (b"1.10", None),
            (b"3", "b"),
        ]


def test_a_held_call_is_let_go_when_its_service_stops() -> None:
    def hang(received: Received) -> Reply:
        received.hold(threading.Event())
        return Reply.of_text("never")

    with ThreadPoolExecutor(1) as pool, ToolService() as service:
        service.add("hang", hang)
        answer = pool.submit(request, "POST", f"{service.base_url}/tools/hang")
        service.wait_for_calls("hang")
        service.stop()
        with pytest.raises((OSError, HTTPException)):
            answer.result(10)


def test_waiting_says_what_did_not_come() -> None:
    with pytest.raises(AssertionError, match=r"no answer within 0 s; last seen: \[\]"):
        wait_until(list, "answer", 0)


def test_ports_are_outside_the_range_of_outgoing_connections() -> None:
    assert FIRST <= free_port() <= LAST


STARTS = """
import sys, time
from pathlib import Path
from support.processes import running

with running(["/bin/sh", "-c", "trap '' TERM; sleep 60 & echo ready; wait"], Path(sys.argv[1])) as here:
    print(here.pid, flush=True)
    time.sleep(60)
"""


def test_what_a_test_has_started_ends_with_it_even_when_it_is_killed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with subprocess.Popen(
        [sys.executable, "-c", STARTS, str(log)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
        cwd=ROOT,
    ) as test:
        assert test.stdout
        group = int(test.stdout.readline())
        wait_until(lambda: "ready" in log.read_text(), "word of the process that it has started")
        test.kill()
    wait_until(lambda: not is_left(group), "end of the group of a test that was killed")


def is_left(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
