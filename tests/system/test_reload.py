from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.load import Kept, Load
from support.processes import Gateway, configuration, gateway, route
from support.rpc import LEGACY, Answer, call, envelope, rpc
from support.toolservice import Received, Reply, ToolService

ENOUGH = 40


def echo(received: Received) -> Reply:
    return Reply.of_json(received.body)


def tools_of(url: str) -> list[str]:
    return [tool["name"] for tool in rpc(url, "tools/list").result["tools"]]


def digest(here: Gateway) -> Any:
    (only,) = here.readyz()["routes"]
    return only["digest"]


def make_echo(here: Gateway, number: int) -> Answer:
    return call(here.route(), "echo", {"number": number})


def fault_of_echo(number: int, answer: Answer) -> str:
    right = answer.status == 200 and answer.text == json.dumps({"number": number}, separators=(",", ":"))
    return "" if right else f"call {number}: {answer}"


def test_sighup_under_load_gives_every_worker_the_new_manifest_and_loses_no_call(tmp_path: Path) -> None:
    with ToolService() as service:
        service.add("echo", echo)
        with gateway(tmp_path, configuration(service)) as here:
            old, before = here.workers(), digest(here)
            with Load(lambda number: make_echo(here, number), fault_of_echo) as load:
                load.wait_for_more(ENOUGH)
                service.add("added", echo)
                here.reload()
                here.wait_replaced(old)
                for _ in range(ENOUGH):
                    assert tools_of(here.route()) == ["echo", "added"]
                    assert digest(here) != before
                load.wait_for_more(ENOUGH)
            assert load.failures == []
            assert len(service.calls("echo")) == load.done


def test_sighup_again_and_again_costs_clients_that_keep_their_connections_no_call(tmp_path: Path) -> None:
    def make(number: int) -> Answer:
        body = envelope("tools/call", {"name": "echo", "arguments": {"number": number}})
        return kept.post(body, {"Content-Type": "application/json", "MCP-Protocol-Version": LEGACY})

    with ToolService() as service:
        service.add("echo", echo)
        with gateway(tmp_path, configuration(service)) as here, Kept(here.route()) as kept:
            with Load(make, fault_of_echo, threads=16) as load:
                for _ in range(3):
                    old = here.workers()
                    load.wait_for_more(ENOUGH)
                    here.reload()
                    here.wait_replaced(old)
                load.wait_for_more(ENOUGH)
            assert load.failures == []
            made = [received.body for received in service.calls("echo")]
            assert len(made) == len(set(made)) == load.done


def test_sighup_brings_a_changed_configuration_into_force(tmp_path: Path) -> None:
    with ToolService() as service, gateway(tmp_path, configuration(service)) as here:
        old = here.workers()
        here.reload(configuration(routes=[route("core", service), route("second", service)]))
        here.wait_replaced(old)
        for _ in range(ENOUGH):
            assert rpc(here.route("second"), "ping").result == {}


@pytest.mark.parametrize(
    ("change", "named"), [("routes: [", "gateway.yaml: "), ({"colour": "blue"}, "colour: ")], ids=["no YAML", "a fault"]
)
def test_sighup_with_a_faulty_configuration_goes_on_with_the_last_good_one(
    tmp_path: Path, change: Any, named: str
) -> None:
    with ToolService() as service:
        service.add("echo", echo)
        good = configuration(service)
        faulty = change if isinstance(change, str) else {**good, **change}
        with gateway(tmp_path, good) as here:
            old = here.workers()
            with Load(lambda number: make_echo(here, number), fault_of_echo, threads=2) as load:
                load.wait_for_more(ENOUGH)
                service.add("added", echo)
                here.reload(faulty)
                here.wait_replaced(old)
                load.wait_for_more(ENOUGH)
                for _ in range(ENOUGH):
                    assert tools_of(here.route()) == ["echo", "added"]
                    probe = here.get("/readyz")
                    assert probe.status == 200
                    (fault,) = probe.json()["configurationFaults"]
                    assert named in fault
                    assert fault in here.said()
            assert load.failures == []

            faulty_ones = here.workers()
            here.reload(good)
            here.wait_replaced(faulty_ones)
            assert here.readyz()["configurationFaults"] == []


def test_sighup_while_the_tool_service_is_down_keeps_its_tools(tmp_path: Path) -> None:
    with ToolService() as service:
        service.add("echo", echo)
        with gateway(tmp_path, configuration(service)) as here:
            old, before = here.workers(), digest(here)
            service.stop()
            here.reload()
            here.wait_replaced(old)
            for _ in range(ENOUGH):
                assert tools_of(here.route()) == ["echo"]
                assert digest(here) == before
            service.start()
            assert call(here.route(), "echo", {"a": 1}).text == '{"a":1}'


def test_a_periodic_refresh_finds_a_changed_manifest_by_itself(tmp_path: Path) -> None:
    with ToolService() as service:
        service.add("echo", echo)
        config = configuration(service, registry={"source": "config", "refresh_interval_s": 1})
        with gateway(tmp_path, config) as here:
            workers = here.workers()
            service.add("added", echo)
            here.wait_workers(lambda document: document["routes"][0]["tools"] == ["echo", "added"], "new tool")
            assert tools_of(here.route()) == ["echo", "added"]
            assert here.workers() == workers
