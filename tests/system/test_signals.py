from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path

from support.processes import configuration, gateway
from support.rpc import Answer, call
from support.toolservice import Received, Reply, ToolService
from support.waiting import wait_until


def echo(received: Received) -> Reply:
    return Reply.of_json(received.body)


class Gate:
    """A tool that answers when the test says so."""

    def __init__(self) -> None:
        self.open = threading.Event()

    def __call__(self, received: Received) -> Reply:
        received.hold(self.open)
        return Reply.of_text("done")


def test_sigterm_during_a_call_lets_it_be_answered_and_ends_with_0(tmp_path: Path) -> None:
    gate = Gate()
    with ToolService() as service, ThreadPoolExecutor(1) as pool:
        service.add("slow", gate)
        with gateway(tmp_path, configuration(service)) as here:
            answer = pool.submit(call, here.route(), "slow")
            service.wait_for_calls("slow")
            here.signal(signal.SIGTERM)
            wait_until(lambda: refuses(here.url), "end of listening")
            gate.open.set()
            assert answer.result(20).text == "done"
            assert here.exit_code() == 0


def refuses(url: str) -> bool:
    try:
        call(url, "anything", timeout=2)
    except (OSError, HTTPException):
        return True
    return False


def test_a_killed_worker_is_replaced_while_the_calls_of_the_other_go_on(tmp_path: Path) -> None:
    gate = Gate()
    with ToolService() as service, ThreadPoolExecutor(8) as pool:
        service.add("slow", gate)
        service.add("echo", echo)
        with gateway(tmp_path, configuration(service)) as here:
            victim, survivor = sorted(here.workers())
            answers = [pool.submit(call, here.route(), "slow") for _ in range(8)]
            service.wait_for_calls("slow", 8)
            os.kill(victim, signal.SIGKILL)
            wait_until(lambda: len(now := here.workers()) == 2 and victim not in now, "new worker")
            assert survivor in here.workers()
            for number in range(20):
                assert call(here.route(), "echo", {"n": number}).text == f'{{"n":{number}}}'
            gate.open.set()
            outcomes = [outcome_of(answer) for answer in answers]
    # Which worker took which call is the kernel's choice: those of the victim are cut, all others answered.
    assert set(outcomes) <= {"done", "cut"}
    assert len(service.calls("slow")) == 8, "a call that may have reached the Tool Service was sent again"


def outcome_of(answer: Future[Answer]) -> str:
    try:
        return answer.result(20).text
    except (OSError, HTTPException):
        return "cut"


def test_sigterm_while_a_manifest_is_awaited_does_not_wait_for_it(tmp_path: Path) -> None:
    with ToolService() as silent:
        silent.manifest_gate.clear()
        config = configuration(silent, registry={"source": "config", "load_timeout_s": 2})
        with gateway(tmp_path, config, ready=False) as here:
            asked = silent.manifest_requests
            wait_until(lambda: silent.manifest_requests > asked, "another manifest request")
            here.signal(signal.SIGTERM)
            assert here.exit_code() == 0
