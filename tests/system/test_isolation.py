"""Callers, Tool Services and instances do not get in each other's way."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support.load import Load
from support.processes import configuration, gateway, route
from support.rpc import Answer, call, rpc
from support.toolservice import Received, Reply, ToolService

CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


GENEROUS_S = 20.0
"""A call that takes as long has been forgotten; one that is only slow on a busy machine has not."""


def echo(received: Received) -> Reply:
    return Reply.of_json(received.body)


def test_thirty_calls_at_once_each_get_their_own_answer(tmp_path: Path) -> None:
    together = threading.Barrier(30)

    def meet(received: Received) -> Reply:
        together.wait(20)
        return echo(received)

    with ToolService() as service, ThreadPoolExecutor(30) as pool:
        service.add("meet", meet)
        config = configuration(service)
        config["routes"][0]["tool_services"][0]["max_in_flight"] = 30
        with gateway(tmp_path, config) as here:
            calls = [pool.submit(call, here.route(), "meet", {"n": n}, request_id=f"id-{n}") for n in range(30)]
            answers = [made.result(30) for made in calls]
    assert [answer.text for answer in answers] == [f'{{"n":{n}}}' for n in range(30)]
    assert [answer.json()["id"] for answer in answers] == [f"id-{n}" for n in range(30)]
    assert len({answer.headers["guid"] for answer in answers}) == 30


def test_a_hung_tool_service_makes_only_its_own_callers_wait(tmp_path: Path) -> None:
    gate = threading.Event()

    def hang(received: Received) -> Reply:
        received.hold(gate)
        return Reply.of_text("at last")

    with ToolService("hung") as hung, ToolService("lively") as lively, ThreadPoolExecutor(2) as pool:
        hung.add("hang", hang)
        lively.add("echo", echo)
        same = route("core", hung, lively)
        same["tool_services"][0]["max_in_flight"] = 2
        # One worker, because max_in_flight counts in each of them.
        with gateway(tmp_path, configuration(routes=[same, route("other", lively)]), workers=1) as here:
            waiting = [pool.submit(call, here.route(), "hang") for _ in range(2)]
            hung.wait_for_calls("hang", 2)

            refused = call(here.route(), "hang", timeout=5)
            assert refused.status == 200
            assert refused.error["code"] == -32603
            assert refused.error["data"]["reason"] == "busy"
            assert refused.error["data"]["guid"] == refused.headers["guid"]
            assert call(here.route(), "echo", {"a": 1}, timeout=5).text == '{"a":1}'
            assert call(here.route("other"), "echo", {"a": 2}, timeout=5).text == '{"a":2}'
            assert rpc(here.route(), "tools/list", timeout=5).status == 200
            assert len(hung.calls("hang")) == 2

            gate.set()
            assert [made.result(20).text for made in waiting] == ["at last", "at last"]
            assert call(here.route(), "hang", timeout=5).text == "at last"


def test_a_hung_and_flooded_tool_service_takes_neither_threads_nor_time_of_others(tmp_path: Path) -> None:
    gate = threading.Event()
    places = 4

    def hang(received: Received) -> Reply:
        received.hold(gate)
        return Reply.of_text("at last")

    def not_busy(number: int, answer: Answer) -> str:
        reason = answer.json().get("error", {}).get("data", {}).get("reason")
        return "" if reason == "busy" else f"call {number}: {answer.body!r}"

    def not_own(number: int, answer: Answer) -> str:
        return "" if answer.text == f'{{"n":{number}}}' else f"call {number}: {answer.body!r}"

    with ToolService("hung") as hung, ToolService("lively") as lively, ThreadPoolExecutor(places) as pool:
        hung.add("hang", hang)
        lively.add("echo", echo)
        same = route("core", hung, lively)
        same["tool_services"][0]["max_in_flight"] = places
        config = configuration(routes=[same, route("other", lively)])
        # Two threads more than the hung calls hold: whatever else took one would be noticed.
        with gateway(tmp_path, config, workers=1, env={"GUNICORN_THREADS": str(places + 2)}) as here:
            waiting = [pool.submit(call, here.route(), "hang") for _ in range(places)]
            hung.wait_for_calls("hang", places)
            flood = Load(lambda _: call(here.route(), "hang", timeout=GENEROUS_S), not_busy, threads=8)
            beside = [
                Load(lambda n, key=key: call(here.route(key), "echo", {"n": n}, timeout=GENEROUS_S), not_own, threads=2)
                for key in ("core", "other")
            ]
            with flood, beside[0], beside[1]:
                flood.wait_for_more(200)
                for load in beside:
                    load.wait_for_more(20)
            assert here.get("/healthz").status == 200
            assert flood.failures == beside[0].failures == beside[1].failures == []
            assert len(hung.calls("hang")) == places, "a call that was refused has reached the Tool Service"

            gate.set()
            assert [made.result(20).text for made in waiting] == ["at last"] * places


def test_a_hung_tool_service_is_given_up_when_the_budget_is_used_up(tmp_path: Path) -> None:
    gate = threading.Event()

    def hang(received: Received) -> Reply:
        received.hold(gate)
        return Reply.of_text("too late")

    with ToolService() as service:
        service.add("hang", hang, timeoutMs=500)
        with gateway(tmp_path, configuration(service)) as here:
            answer = call(here.route(), "hang", timeout=10)
            failure = answer.result["_meta"]["mcp-gateway/failure"]
            assert answer.result["isError"] is True
            assert "hang" in answer.text
            assert (failure["reason"], failure["outcome"]) == ("budget", "unknown")
            assert 0 < int(service.calls("hang")[0].header("x-timeout-ms") or 0) <= 500
            assert len(service.calls("hang")) == 1
            gate.set()


def test_two_instances_share_nothing(tmp_path: Path) -> None:
    with ToolService() as service:
        service.add("echo", echo)
        config = configuration(service)
        with gateway(tmp_path, config, name="first") as first, gateway(tmp_path, config, name="second") as second:
            opened = rpc(first.route(), "initialize", CLIENT, version=None)
            session = {"Mcp-Session-Id": opened.headers["Mcp-Session-Id"]}
            assert rpc(first.route(), "notifications/initialized", request_id=None, headers=session).status == 202
            assert call(second.route(), "echo", {"a": 1}, headers=session).text == '{"a":1}'
            assert service.calls("echo")[-1].header("mcp-session-id") == session["Mcp-Session-Id"]
            first.process.terminate()
            assert first.exit_code() == 0
            assert call(second.route(), "echo", {"a": 2}, headers=session).text == '{"a":2}'


def test_workers_and_instances_have_the_same_digest_for_the_same_tools(tmp_path: Path) -> None:
    with ToolService() as service:
        service.add("echo", echo)
        config = configuration(service)
        with gateway(tmp_path, config, name="first") as first, gateway(tmp_path, config, name="second") as second:
            digests = {here.readyz()["routes"][0]["digest"] for here in (first, second) for _ in range(20)}
    assert len(digests) == 1
