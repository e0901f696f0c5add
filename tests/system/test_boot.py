from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.processes import configuration, gateway, gateway_process, route
from support.rpc import call, rpc
from support.toolservice import Received, Reply, ToolService

CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def echo(received: Received) -> Reply:
    return Reply.of_json(received.body)


def test_a_gateway_boots_without_its_tool_service_and_becomes_ready_without_a_restart(tmp_path: Path) -> None:
    with ToolService(start=False) as service, gateway(tmp_path, configuration(service), ready=False) as here:
        service.add("echo", echo)
        workers = here.workers()

        assert rpc(here.route(), "initialize", CLIENT, version=None).result["serverInfo"]["name"] == "mcp-gateway"
        assert rpc(here.route(), "ping").result == {}
        assert here.get("/healthz").status == 200
        for method, params in (("tools/list", None), ("tools/call", {"name": "echo"})):
            refused = rpc(here.route(), method, params)
            assert refused.status == 200
            assert refused.error["code"] == -32603
            assert refused.error["data"]["reason"] == "registry_unavailable"
        probe = here.get("/readyz")
        assert probe.status == 503
        (only,) = probe.json()["routes"]
        (state,) = only["toolServices"]
        assert (state["name"], state["state"]) == (service.name, "failed")
        assert "refused" in state["error"]

        service.start()
        here.wait_ready()
        assert call(here.route(), "echo", {"a": 1}).text == '{"a":1}'
        assert here.workers() == workers


def test_one_dead_tool_service_does_not_take_down_the_others_of_its_route(tmp_path: Path) -> None:
    with ToolService("alive") as alive, ToolService("dead", start=False) as dead:
        alive.add("echo", echo)
        with gateway(tmp_path, configuration(alive, dead)) as here:
            listed = rpc(here.route(), "tools/list").result["tools"]
            assert [tool["name"] for tool in listed] == ["echo"]
            assert call(here.route(), "echo", {}).text == "{}"
            (only,) = here.readyz()["routes"]
            assert [state["state"] for state in only["toolServices"]] == ["loaded", "failed"]


def start_that_is_refused(folder: Path, config: Any, **options: Any) -> str:
    with gateway_process(folder, config, **options) as here:
        assert here.exit_code() != 0
        return here.said()


def lines_with(text: str, *words: str) -> list[str]:
    return [line for line in text.splitlines() if all(word in line for word in words)]


def test_a_first_start_with_a_faulty_configuration_says_each_fault_in_one_line_and_ends(tmp_path: Path) -> None:
    config = {
        "profile": "local",
        "limits": {"interaction_timeout_s": 301},
        "colour": "blue",
        "routes": [
            {
                "key": "core",
                "public_path": "/mcp/core",
                "tool_services": [
                    {"name": "a", "base_url": "ftp://127.0.0.1"},
                    {"name": "b", "base_url": "http://127.0.0.1:9100", "headers": {"X-Key": "top secret\nX-More: 1"}},
                ],
            }
        ],
    }
    said = start_that_is_refused(tmp_path, config)
    assert len(lines_with(said, "limits.interaction_timeout_s:")) == 1, said
    assert len(lines_with(said, "colour")) == 1, said
    assert len(lines_with(said, "routes[0].tool_services[0].base_url:")) == 1, said
    assert len(lines_with(said, "routes[0].tool_services[1].headers")) == 1, said
    assert "Traceback" not in said
    assert "top secret" not in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("routes: [", "gateway.yaml: "),
        ("- a list", "gateway.yaml: "),
        ("", "gateway.yaml: "),
        ("profile: local", "routes: "),
        ("profile: local\nprofile: production\n", "profile: is given twice"),
    ],
)
def test_a_file_that_is_no_configuration_is_refused_in_words(tmp_path: Path, text: str, words: str) -> None:
    said = start_that_is_refused(tmp_path, text)
    assert lines_with(said, words), said
    assert "Traceback" not in said


def test_a_configuration_that_is_not_there_is_named(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere.yaml")
    said = start_that_is_refused(tmp_path, "", env={"MCP_GATEWAY_CONFIG": nowhere})
    assert lines_with(said, nowhere), said


def test_a_variable_that_is_not_set_is_named_with_its_place(tmp_path: Path) -> None:
    with ToolService() as service:
        config = configuration(service)
        config["routes"][0]["tool_services"][0]["headers"] = {"Authorization": "Bearer ${NOT_SET_ANYWHERE}"}
        said = start_that_is_refused(tmp_path, config)
    assert lines_with(said, "routes[0].tool_services[0].headers.Authorization:", "NOT_SET_ANYWHERE"), said


def test_a_budget_that_outlives_the_graceful_stop_is_refused(tmp_path: Path) -> None:
    settings = {"GUNICORN_CMD_ARGS": "--graceful-timeout 20"}
    with ToolService() as service:
        said = start_that_is_refused(tmp_path, configuration(service), env=settings)
        assert lines_with(said, "limits.interaction_timeout_s:", "20"), said
        lower = configuration(service, limits={"interaction_timeout_s": 10})
        with gateway(tmp_path, lower, env=settings, name="lower") as here:
            assert here.answers("/readyz")


@pytest.mark.parametrize(
    ("setting", "named", "why"),
    [
        ("--keep-alive 5", "keepalive: ", "5 s"),
        ("--timeout 5", "registry.load_timeout_s: ", "5 s"),
        ("--preload", "preload_app: ", "must be left as it is"),
        ("--worker-class sync", "worker_class: ", "must be left as it is"),
        ("--worker-class gthread", "worker_class: ", "must be left as it is"),
    ],
)
def test_a_setting_of_gunicorn_that_contradicts_the_other_times_or_undoes_a_promise_is_refused(
    tmp_path: Path, setting: str, named: str, why: str
) -> None:
    with ToolService() as service:
        said = start_that_is_refused(tmp_path, configuration(service), env={"GUNICORN_CMD_ARGS": setting})
    assert lines_with(said, named, why), said
    assert "Traceback" not in said


def test_a_tool_service_that_never_answers_does_not_hold_the_start(tmp_path: Path) -> None:
    with ToolService("silent") as silent, ToolService("alive") as alive:
        alive.add("echo", echo)
        silent.manifest_gate.clear()
        routes = [route("silent", silent), route("alive", alive)]
        config = configuration(routes=routes, registry={"source": "config", "load_timeout_s": 1})
        with gateway(tmp_path, config, ready=False) as here:
            assert rpc(here.route("silent"), "ping").result == {}
            assert call(here.route("alive"), "echo", {}).text == "{}"
            assert here.get("/readyz").status == 503
            silent.manifest_gate.set()
            here.wait_ready()
