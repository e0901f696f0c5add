from __future__ import annotations

import json
import re
import threading
from pathlib import Path

from support.load import Load
from support.processes import ROOT, configuration, gateway, gateway_process, route
from support.rpc import Answer, call, connect, envelope, rpc
from support.toolservice import Received, Reply, ToolService


def echo(received: Received) -> Reply:
    return Reply.of_json(received.body)


def test_a_tool_service_that_was_restarted_is_called_as_if_nothing_had_been(tmp_path: Path) -> None:
    with ToolService() as service:
        service.add("echo", echo)
        with gateway(tmp_path, configuration(service), workers=1) as here:
            for number in range(3):
                assert call(here.route(), "echo", {"n": number}).text == f'{{"n":{number}}}'
                service.stop()
                service.start()
        assert len(service.calls("echo")) == 3


def test_a_tool_service_that_is_down_is_said_so_and_works_again_when_it_is_back(tmp_path: Path) -> None:
    with ToolService() as service:
        service.add("echo", echo)
        with gateway(tmp_path, configuration(service)) as here:
            service.stop()
            failed = call(here.route(), "echo", {})
            assert failed.result["isError"] is True
            assert "echo" in failed.text
            assert failed.result["_meta"]["mcp-gateway/failure"]["reason"] == "refused"
            assert failed.result["_meta"]["mcp-gateway/failure"]["outcome"] == "not_sent"
            assert here.answers("/readyz")
            service.start()
            assert call(here.route(), "echo", {}).text == "{}"


def test_callers_that_hang_up_leave_no_trace_and_free_their_places(tmp_path: Path) -> None:
    gate = threading.Event()

    def hang(received: Received) -> Reply:
        received.hold(gate)
        return Reply.of_text("done")

    with ToolService() as service:
        service.add("hang", hang)
        config = configuration(service)
        config["routes"][0]["tool_services"][0]["max_in_flight"] = 4
        with gateway(tmp_path, config, workers=1) as here:
            body = envelope("tools/call", {"name": "hang"})
            head = (
                "POST /mcp/core HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                f"MCP-Protocol-Version: 2025-11-25\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            for number in range(4):
                with connect(here.url) as connection:
                    connection.sendall(head.encode() + body)
                    service.wait_for_calls("hang", number + 1)
            gate.set()
            with Load(lambda _: call(here.route(), "hang"), is_done, threads=2) as load:
                load.wait_for_more(10)
            assert [failure for failure in load.failures if "busy" not in failure] == []
            assert call(here.route(), "hang").text == "done"


def is_done(number: int, answer: Answer) -> str:
    return "" if b'"done"' in answer.body else answer.body.decode()


def test_nothing_a_caller_or_a_tool_service_says_makes_a_log_line_of_its_own(tmp_path: Path) -> None:
    forged = "\n16:00:00 ERROR forged: line\r\n[forged] line\x1b[31m\u2028forged line"

    def fail(received: Received) -> Reply:
        return Reply.of_text(f"oops{forged}", 500)

    for profile in ("local", "production"):
        with ToolService() as service:
            service.add("fail", fail)
            with gateway(tmp_path, configuration(service, profile=profile), name=profile) as here:
                call(here.route(), f"tool{forged}", {})
                rpc(here.route(), f"method{forged}")
                call(here.route(), "fail", {})
                rpc(here.route(), "ping", version=f"2025-11-25{'x' * 300}")
                here.get("/nowhere%0Aforged%20line")
                said = here.said()
        assert "forged" in said
        assert [line for line in re.split("[\r\n]", said) if line.startswith(("16:00:00", "[forged", "forged"))] == []
        assert "\x1b" not in said


def test_in_production_every_line_of_the_gateway_is_one_json_object(tmp_path: Path) -> None:
    with ToolService() as service:
        service.add("echo", echo)
        with gateway(tmp_path, configuration(service, profile="production")) as here:
            answer = call(
                here.route(), "echo", {}, headers={"mcp-session-id": "session-1", "x-request-id": "request-1"}
            )
        lines = [json.loads(line) for line in here.said().splitlines() if line.startswith("{")]
        rest = [line for line in here.said().splitlines() if not line.startswith(("{", "["))]
    (line,) = [line for line in lines if line.get("guid") == answer.headers["guid"]]
    assert line["tool"] == "echo"
    assert line["route"] == "core"
    assert line["requestId"] == "request-1"
    assert line["sessionId"] == "session-1"
    assert rest == []


def test_a_fallback_manifest_serves_local_and_is_refused_in_production(tmp_path: Path) -> None:
    fallback = str(ROOT / "config" / "local-core-tools-manifest-sample-v1.json")
    with ToolService(start=False) as service:
        routes = [route("core", service, fallback_manifest=fallback)]
        with gateway(tmp_path, configuration(routes=routes)) as here:
            assert rpc(here.route(), "tools/list").result["tools"]
            (only,) = here.readyz()["routes"]
            assert [state["state"] for state in only["toolServices"]] == ["fallback"]
        production = configuration(routes=routes, profile="production")
        with gateway_process(tmp_path, production, name="production") as refused:
            assert refused.exit_code() != 0
            assert "routes[0].fallback_manifest: " in refused.said()


def test_routes_of_a_portal_are_served_and_follow_it_without_a_restart(tmp_path: Path) -> None:
    with ToolService() as service, ToolService("portal") as portal:
        service.add("echo", echo)
        keys = ["first"]

        def registry() -> Reply:
            members = [{"name": service.name, "baseUrl": service.base_url}]
            routes = [{"key": key, "publicPath": f"/mcp/{key}", "toolServices": members} for key in keys]
            return Reply.of_json(json.dumps({"registryVersion": "0.1", "routes": routes}).encode())

        portal.pages["/registry/v0.1/routes"] = registry
        config = {
            "profile": "local",
            "registry": {
                "source": "portal",
                "refresh_interval_s": 1,
                "portal": {"base_url": portal.base_url, "token": "${PORTAL_TOKEN}"},
            },
        }
        with gateway(tmp_path, config, env={"PORTAL_TOKEN": "portal-token-55"}) as here:
            workers = here.workers()
            assert call(here.route("first"), "echo", {"a": 1}).text == '{"a":1}'
            assert rpc(here.route("second"), "ping").status == 404
            keys.append("second")
            here.wait_workers(
                lambda document: len(document["routes"]) == 2 and document["status"] == "ready", "new route"
            )
            assert call(here.route("second"), "echo", {"a": 2}).text == '{"a":2}'
            keys.remove("first")
            here.wait_workers(lambda document: len(document["routes"]) == 1, "route less")
            assert rpc(here.route("first"), "ping").status == 404
            portal.stop()
            assert call(here.route("second"), "echo", {"a": 3}).text == '{"a":3}'
            assert here.workers() == workers
            assert "portal-token-55" not in here.said()
