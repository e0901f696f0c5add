"""What signals do to a running server: it drains, ends, ends at once, or gets other workers, and loses nothing."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

import pytest
from support.load import Kept, Load, NobodyListens
from support.processes import Gateway, configuration, gateway, gateway_process
from support.rpc import LEGACY, Answer, call, connect, envelope, read_answer, rpc
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


@dataclass(frozen=True, slots=True)
class UnderWay:
    """A server with a call under way, which is answered when the test says so."""

    here: Gateway
    answer: Future[Answer]
    gate: Gate

    def finish(self) -> None:
        """Let the tool answer, and see that its caller gets the answer."""
        self.gate.open.set()
        assert self.answer.result(20).text == "done"

    def wait_told_of_reload(self, old: set[int]) -> None:
        """Wait until, of the *old* workers, only the one with the call is left: both have been told by then."""
        here = self.here
        wait_until(lambda: len(here.workers()) == 3 and len(here.workers() & old) == 1, "old worker beside new ones")


@contextlib.contextmanager
def call_under_way(folder: Path, drain_s: int = 0) -> Iterator[UnderWay]:
    gate, env = Gate(), {"MCP_GATEWAY_DRAIN_S": str(drain_s)}
    with ToolService() as service, ThreadPoolExecutor(1) as pool:
        service.add("slow", gate)
        with gateway(folder, configuration(service), env=env) as here:
            answer = pool.submit(call, here.route(), "slow")
            service.wait_for_calls("slow")
            yield UnderWay(here, answer, gate)


def test_sigterm_during_a_call_lets_it_be_answered_and_ends_with_0(tmp_path: Path) -> None:
    with call_under_way(tmp_path) as slow:
        here = slow.here
        here.signal(signal.SIGTERM)
        wait_until(lambda: nobody_listens(here.url), "end of listening")
        slow.finish()
        assert here.exit_code() == 0


def nobody_listens(url: str) -> bool:
    """Say whether a connection is refused; one that is taken and never answered would not be."""
    try:
        connect(url, timeout=5).close()
    except ConnectionRefusedError:
        return True
    return False


def draining(here: Gateway) -> bool:
    answer = here.get("/readyz")
    return (answer.status, answer.json()["status"]) == (503, "draining")


# --- draining --------------------------------------------------------------------------------------------------------


class Echoes:
    """Calls of a tool that echoes, over kept connections, each with a number of its own."""

    def __init__(self, kept: Kept) -> None:
        self.answered: list[int] = []
        self._kept = kept

    def make(self, number: int) -> Answer:
        body = envelope("tools/call", {"name": "echo", "arguments": {"n": number}})
        try:
            return self._kept.post(body, {"Content-Type": "application/json", "MCP-Protocol-Version": LEGACY})
        except NobodyListens:
            return Answer(0, {}, b"")

    def fault(self, number: int, answer: Answer) -> str:
        if not answer.status:
            return ""
        self.answered.append(number)
        return "" if answer.status == 200 and answer.text == f'{{"n":{number}}}' else f"call {number}: {answer}"


def test_sigterm_under_load_says_so_at_once_everywhere_goes_on_meanwhile_and_loses_nothing(tmp_path: Path) -> None:
    with ToolService() as service:
        service.add("echo", echo)
        with (
            gateway(tmp_path, configuration(service), env={"MCP_GATEWAY_DRAIN_S": "2"}) as here,
            Kept(here.route()) as kept,
        ):
            calls = Echoes(kept)
            with Load(calls.make, calls.fault, threads=16) as load:
                load.wait_for_more(100)
                here.signal(signal.SIGTERM)
                here.wait_workers(lambda document: document["status"] == "draining", "draining worker")
                assert draining(here)
                load.wait_for_more(100)
                assert here.exit_code() == 0
            assert load.failures == []
            received = sorted(json.loads(each.body)["n"] for each in service.calls("echo"))
            assert received == sorted(calls.answered), "a call was made twice, or made and not answered"


def test_a_draining_server_takes_new_connections_until_the_drain_is_over_and_then_refuses_them(tmp_path: Path) -> None:
    with call_under_way(tmp_path, drain_s=1) as slow:
        here = slow.here
        here.signal(signal.SIGTERM)
        wait_until(lambda: draining(here), "draining")
        fresh = rpc(here.route(), "ping")
        assert (fresh.result, fresh.headers["Connection"]) == ({}, "close")
        wait_until(lambda: nobody_listens(here.url), "end of listening")
        slow.finish()
        assert here.exit_code() == 0


def test_an_idle_kept_connection_is_told_to_close_by_the_answer_to_its_next_request(tmp_path: Path) -> None:
    request = posted(envelope("ping"))
    with (
        ToolService() as service,
        gateway(tmp_path, configuration(service), env={"MCP_GATEWAY_DRAIN_S": "3600"}) as here,
        connect(here.url) as connection,
    ):
        connection.sendall(request)
        assert read_answer(connection).headers["Connection"] == "keep-alive"
        here.signal(signal.SIGTERM)
        wait_until(lambda: draining(here), "draining")
        connection.sendall(request)
        answer = read_answer(connection)
        assert (answer.result, answer.headers["Connection"]) == ({}, "close")
        assert connection.recv(1) == b""
        here.signal(signal.SIGTERM)


def test_a_call_under_way_at_sigterm_is_told_in_its_answer_that_the_connection_ends(tmp_path: Path) -> None:
    with call_under_way(tmp_path) as slow:
        slow.here.signal(signal.SIGTERM)
        wait_until(lambda: nobody_listens(slow.here.url), "end of listening")
        slow.finish()
        assert slow.answer.result().headers["Connection"] == "close"


def test_a_call_under_way_at_sighup_is_told_in_its_answer_that_the_connection_ends(tmp_path: Path) -> None:
    with call_under_way(tmp_path) as slow:
        old = slow.here.workers()
        slow.here.reload()
        slow.wait_told_of_reload(old)
        slow.finish()
        assert slow.answer.result().headers["Connection"] == "close"


def posted(body: bytes) -> bytes:
    head = "POST /mcp/core HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}MCP-Protocol-Version: {LEGACY}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def test_a_worker_that_is_told_alone_is_replaced_and_the_server_stays_ready(tmp_path: Path) -> None:
    with (
        ToolService() as service,
        gateway(tmp_path, configuration(service), env={"MCP_GATEWAY_DRAIN_S": "3600"}) as here,
    ):
        one, other = here.workers()
        os.kill(one, signal.SIGTERM)
        wait_until(lambda: one not in here.workers(), "end of the worker")
        assert here.answers("/readyz")
        here.wait_ready()
        assert other in here.workers()
        here.signal(signal.SIGQUIT)
        assert here.exit_code() == 0


@pytest.mark.parametrize(
    "signals",
    [(signal.SIGTERM, signal.SIGTERM), (signal.SIGINT,), (signal.SIGQUIT,)],
    ids=["SIGTERM twice", "SIGINT", "SIGQUIT"],
)
def test_who_is_in_a_hurry_waits_neither_for_the_drain_nor_for_calls(
    tmp_path: Path, signals: tuple[signal.Signals, ...]
) -> None:
    with call_under_way(tmp_path, drain_s=3600) as slow:
        here = slow.here
        *first, last = signals
        for number in first:
            here.signal(number)
            wait_until(lambda: draining(here), "draining")
        here.signal(last)
        assert here.exit_code() == 0
        assert outcome_of(slow.answer) == "cut"


def test_sigterm_is_heard_while_old_workers_still_answer_their_calls_after_sighup(tmp_path: Path) -> None:
    with call_under_way(tmp_path, drain_s=1) as slow:
        here = slow.here
        old = here.workers()
        here.reload()
        slow.wait_told_of_reload(old)
        new, asked = here.workers() - old, set[int]()
        wait_until(lambda: asked.add(here.readyz()["pid"]) or new <= asked, "answer of both new workers")
        here.signal(signal.SIGTERM)
        wait_until(lambda: draining(here), "draining")
        wait_until(lambda: nobody_listens(here.url), "end of listening")
        slow.finish()
        assert here.exit_code() == 0


def test_nobody_listens_any_more_when_the_master_is_gone_and_calls_under_way_end(tmp_path: Path) -> None:
    with call_under_way(tmp_path) as slow:
        here = slow.here
        here.signal(signal.SIGKILL)
        here.exit_code()
        wait_until(lambda: nobody_listens(here.url), "end of listening")
        slow.finish()
        wait_until(lambda: not here.group_is_left(), "end of the workers", 60)


# --- at other moments ------------------------------------------------------------------------------------------------


def test_sigterm_while_workers_boot_does_not_wait_for_their_manifests(tmp_path: Path) -> None:
    with ToolService() as silent:
        silent.manifest_gate.clear()
        config = configuration(silent, registry={"source": "config", "load_timeout_s": 59})
        with gateway_process(tmp_path, config) as here:
            wait_until(lambda: silent.manifest_requests, "manifest request", 60)
            here.signal(signal.SIGTERM)
            assert here.exit_code() == 0


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


def test_a_worker_that_is_aborted_ends_with_the_threads_that_have_nothing_to_do_and_is_replaced(tmp_path: Path) -> None:
    with ToolService() as service, gateway_process(tmp_path, configuration(service), workers=1) as here:
        wait_until(here.answers, "answer of /healthz")  # by a thread, which stays
        (one,) = here.workers()
        os.kill(one, signal.SIGABRT)
        wait_until(lambda: here.workers() - {one}, "new worker")
        here.wait_ready()


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
