"""Two instances behind a real nginx, with the configuration that users are told to take."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest
from support.load import Load
from support.nginx import CONFIGURATION, Nginx, nginx
from support.processes import Gateway, configuration, gateway, route
from support.rpc import Answer, call, connect, post, request, rpc
from support.toolservice import Received, Reply, ToolService
from support.waiting import wait_until

MODERN = "2026-07-28"
LIMITED = "core.slow_answer"
CALLERS = 16
THREADS = 16
CALLS = 200
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Pair:
    """Two instances, the nginx before them, and the Tool Service behind."""

    front: Nginx
    instances: tuple[Gateway, Gateway]
    service: ToolService
    gate: threading.Event

    @property
    def url(self) -> str:
        return f"{self.front.url}/mcp/core"

    def instance(self, answer: Answer) -> str:
        """Return the address of the instance that gave this answer, as nginx's log has it."""
        return str(self.front.line(answer.headers["guid"])["instance"])


def echo(received: Received) -> Reply:
    return Reply.of_json(received.body)


def big(received: Received) -> Reply:
    return Reply.of_text("가" * (6 * MEGABYTE))


@contextmanager
def started(folder: Path, **more: str) -> Iterator[Pair]:
    gate = threading.Event()

    def held(received: Received) -> Reply:
        received.hold(gate)
        return Reply.of_json(received.body)

    with ToolService() as service:
        for name, handler in (("echo", echo), (LIMITED, echo), ("big", big), ("held", held)):
            service.add(name, handler)
        # In production the log is JSON, and any Host is served, as behind a proxy it has to be.
        config = configuration(profile="production", routes=[route("core", service)])
        env = {"GUNICORN_THREADS": str(THREADS), **more}
        with (
            gateway(folder, config, workers=1, env=env, name="first") as first,
            gateway(folder, config, workers=1, env=env, name="second") as second,
            nginx(folder, first, second) as front,
        ):
            yield Pair(front, (first, second), service, gate)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with started(tmp_path_factory.mktemp("nginx")) as here:
        yield here


def modern(
    url: str, method: str, params: dict[str, Any] | None = None, headers: dict[str, str] | None = None
) -> Answer:
    """Make one request of 2026-07-28, with all that it has to say of itself."""
    claim = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1.0.0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    sent = {"Mcp-Method": method} | ({"Mcp-Name": params["name"]} if params else {}) | (headers or {})
    return rpc(url, method, {**(params or {}), "_meta": claim}, version=MODERN, headers=sent)


def modern_call(url: str, tool: str, arguments: dict[str, Any], headers: dict[str, str] | None = None) -> Answer:
    return modern(url, "tools/call", {"name": tool, "arguments": arguments}, headers)


def test_a_client_may_discover_on_one_instance_list_on_the_other_and_call_on_either(pair: Pair) -> None:
    discovered = modern(pair.url, "server/discover")
    listed = modern(pair.url, "tools/list")
    called = [modern_call(pair.url, "echo", {"n": number}) for number in range(2)]
    assert MODERN in discovered.result["supportedVersions"]
    assert [tool["name"] for tool in listed.result["tools"]] == ["echo", LIMITED, "big", "held"]
    assert [answer.text for answer in called] == ['{"n":0}', '{"n":1}']
    addresses = set(map(address, pair.instances))
    assert {pair.instance(discovered), pair.instance(listed)} == addresses
    assert {pair.instance(answer) for answer in called} == addresses
    for answer in (discovered, listed, *called):
        (instance,) = [one for one in pair.instances if one.url.endswith(pair.instance(answer))]
        assert answer.headers["guid"] in instance.said()


def test_a_session_of_2025_11_25_needs_no_instance_of_its_own(pair: Pair) -> None:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    opened = rpc(pair.url, "initialize", hello, version=None)
    session = {"Mcp-Session-Id": opened.headers["Mcp-Session-Id"]}
    answers = [call(pair.url, "echo", {"n": number}, headers=session) for number in range(4)]
    assert [answer.text for answer in answers] == [f'{{"n":{number}}}' for number in range(4)]
    assert len({pair.instance(answer) for answer in answers}) == 2


def test_nginx_logs_what_is_asked_for_without_reading_a_body(pair: Pair) -> None:
    guid = str(uuid.uuid4())
    answer = modern_call(
        pair.url, "echo", {"secret": "비밀"}, {"guid": guid, "x-request-id": "r-1", "employee-no": "e77"}
    )
    line = pair.front.line(guid)
    assert answer.headers["guid"] == guid
    assert line["requestId"] == answer.headers["x-request-id"] == "r-1"
    assert (line["mcpProtocolVersion"], line["mcpMethod"], line["mcpName"]) == (MODERN, "tools/call", "echo")
    assert (line["httpMethod"], line["path"], line["status"], line["instanceStatus"]) == (
        "POST",
        "/mcp/core",
        200,
        "200",
    )
    assert min(line["durationS"], float(line["connectS"]), float(line["answerS"])) >= 0
    assert not {"비밀", "e77"} & set(re.findall(r"\w+", json.dumps(line, ensure_ascii=False)))
    received = pair.service.calls("echo")[-1]
    assert (received.header("guid"), received.header("x-request-id"), received.header("employee-no")) == (
        guid,
        "r-1",
        "e77",
    )


def test_a_request_without_ids_has_the_same_ones_in_nginx_the_gateway_and_the_answer(pair: Pair) -> None:
    answer = modern_call(pair.url, "echo", {})
    line = pair.front.line(answer.headers["guid"])
    assert line["requestId"] == answer.headers["x-request-id"]
    assert sum(answer.headers["guid"] in instance.said() for instance in pair.instances) == 1


def test_a_malformed_id_is_refused_by_the_gateway_through_nginx_too(pair: Pair) -> None:
    answer = modern_call(pair.url, "echo", {}, {"guid": "no-uuid"})
    assert answer.error["code"] == -32600
    assert pair.front.line(answer.headers["guid"])["status"] == 400


def test_what_a_caller_says_in_a_header_stays_inside_its_own_log_line(pair: Pair) -> None:
    forged = 'x","status":999,"y":"\\'
    guid = str(uuid.uuid4())
    assert modern(pair.url, "tools/list", headers={"Mcp-Name": forged, "guid": guid}).status in (200, 400)
    line = pair.front.line(guid)
    assert line["mcpName"] == forged
    assert line["status"] != 999


def test_one_tool_is_limited_by_its_header_alone_in_either_form_and_no_other(pair: Pair) -> None:
    forms = [LIMITED, "=?base64?Y29yZS5zbG93X2Fuc3dlcg==?="]

    def both(number: int) -> tuple[Answer, Answer]:
        limited = modern_call(pair.url, LIMITED, {"n": number}, {"Mcp-Name": forms[number % 2]})
        return limited, modern_call(pair.url, "echo", {"n": number})

    before, began = len(pair.service.calls(LIMITED)), time.monotonic()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(both, range(24)))
    seconds = time.monotonic() - began
    assert [other.text for _, other in answers] == [f'{{"n":{number}}}' for number in range(24)]
    refused = [limited for limited, _ in answers if limited.status == 429]
    served = [limited for limited, _ in answers if limited.status == 200]
    assert len(refused) + len(served) == 24
    # The first, a burst of four, and two for each second that has gone by.
    assert 5 <= len(served) <= 6 + 2 * seconds
    assert len(pair.service.calls(LIMITED)) == before + len(served)
    for answer in refused:
        body = answer.json()
        assert (body["error"], body["guid"]) == ("rate_limited", answer.headers["guid"])
        assert set(body) == {"error", "message", "guid"}
        assert answer.headers["Content-Type"] == "application/json"
        assert answer.headers["Retry-After"] == "1"
        line = pair.front.line(answer.headers["guid"])
        assert (line["limit"], line["mcpMethod"], line["instance"]) == ("REJECTED", "tools/call", "")
    assert {pair.front.line(answer.headers["guid"])["mcpName"] for answer in refused} == set(forms)


def test_nobody_gets_past_the_limit_by_naming_another_tool(pair: Pair) -> None:
    before = len(pair.service.received)
    lied = modern_call(pair.url, LIMITED, {}, {"Mcp-Name": "echo"})
    claim = json.dumps(
        {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
    )
    body = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{LIMITED}","_meta":{claim}}}}}'
    silent = post(pair.url, body.encode(), version=MODERN, headers={"Mcp-Method": "tools/call"})
    assert [(answer.status, answer.error["code"]) for answer in (lied, silent)] == [(400, -32020), (400, -32020)]
    assert len(pair.service.received) == before


def test_paths_pass_as_they_are_and_what_an_instance_says_of_itself_stays_inside(pair: Pair) -> None:
    assert request("GET", f"{pair.front.url}/healthz").status == 200
    assert rpc(f"{pair.front.url}/mcp/core/", "ping").json()["error"] == "not_found"
    unknown = modern(pair.url, "no/such")
    assert (unknown.status, unknown.error["code"]) == (404, -32601)
    wrong = request("GET", pair.url)
    assert (wrong.status, wrong.headers["Allow"]) == (405, "POST")
    for path in ("/readyz", "/metrics"):
        answer = request("GET", pair.front.url + path)
        assert (answer.status, answer.json()["error"]) == (404, "not_found")
        assert answer.headers["guid"] == answer.json()["guid"] == str(uuid.UUID(answer.json()["guid"]))
        assert pair.front.line(answer.headers["guid"])["instance"] == ""


def test_bodies_of_megabytes_pass_whole_in_both_directions(pair: Pair) -> None:
    text = "한국어 👩‍👩‍👧‍👦 " * 90_000
    answer = modern_call(pair.url, "echo", {"text": text, "number": 12345678901234567890})
    assert answer.text == json.dumps(
        {"text": text, "number": 12345678901234567890}, ensure_ascii=False, separators=(",", ":")
    )
    assert call(pair.url, "big").text == "가" * (6 * MEGABYTE)


def test_a_body_over_the_limit_is_refused_by_nginx_in_the_form_of_the_gateway(pair: Pair) -> None:
    limit = 4 * 1024 * 1024
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    assert post(pair.url, body.ljust(limit)).result == {}
    answer = post(pair.url, body.ljust(limit + 1), headers={"guid": "00000000-0000-0000-0000-00000000abcd"})
    assert (answer.status, answer.json()["error"]) == (413, "payload_too_large")
    assert answer.json()["guid"] == answer.headers["guid"] == "00000000-0000-0000-0000-00000000abcd"
    declared = {"Content-Type": "application/json", "Content-Length": str(limit + 1)}
    of_the_gateway = request("POST", pair.instances[0].route(), headers=declared)
    assert (of_the_gateway.status, of_the_gateway.json()["error"]) == (413, "payload_too_large")
    assert of_the_gateway.json().keys() == answer.json().keys()


def test_callers_that_stall_in_the_middle_of_a_body_hold_no_thread_of_an_instance(pair: Pair) -> None:
    head = (
        "POST /mcp/core HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "MCP-Protocol-Version: 2025-11-25\r\nContent-Length: 100\r\n\r\n{"
    )
    with ExitStack() as stalled:
        for _ in range(4 * THREADS):
            stalled.enter_context(connect(pair.url)).sendall(head.encode())
        answers = [call(pair.url, "echo", {"n": number}) for number in range(4)]
    assert [answer.text for answer in answers] == [f'{{"n":{number}}}' for number in range(4)]


def test_nginx_waits_longer_than_any_call_may_take() -> None:
    waits = re.findall(r"proxy_read_timeout (\d+)s;", CONFIGURATION.read_text(encoding="utf-8"))
    assert [int(wait) > 300 for wait in waits] == [True]


@pytest.mark.timeout(180)
def test_when_an_instance_is_killed_only_the_calls_under_way_on_it_are_lost(tmp_path: Path) -> None:
    with started(tmp_path) as pair, ThreadPoolExecutor(2 * CALLERS) as pool:
        victim, survivor = pair.instances
        guids = [str(uuid.uuid4()) for _ in range(CALLS)]
        places = threading.Semaphore(CALLERS)

        def one(number: int) -> Answer | None:
            with places:
                return unless_cut(pair.url, "echo", number, guids[number])

        held_guids = [str(uuid.uuid4()) for _ in range(8)]
        held = [pool.submit(unless_cut, pair.url, "held", number, guid) for number, guid in enumerate(held_guids)]
        pair.service.wait_for_calls("held", 8)
        calls = [pool.submit(one, number) for number in range(CALLS)]
        wait_until(lambda: sum(call.done() for call in calls) >= CALLS // 4, "quarter of the calls")
        # All at once, or a caller that lost a call could lose its next one on the worker that is left.
        os.killpg(victim.pid, signal.SIGKILL)
        answered = {guid: call.result(60) for guid, call in zip(guids, calls, strict=True)}
        pair.gate.set()
        held_answered = {guid: call.result(60) for guid, call in zip(held_guids, held, strict=True)}

        lost = [*lost_of(answered), *lost_of(held_answered)]
        assert len(lost_of(held_answered)) == 4
        assert len(lost) <= 4 + CALLERS
        assert {pair.front.line(guid)["instance"] for guid in lost} == {address(victim)}
        for tool, count in (("echo", CALLS), ("held", 8)):
            bodies = [received.body for received in pair.service.calls(tool)]
            assert len(bodies) == len(set(bodies)), "a call that may have reached the Tool Service was sent again"
            assert count - len(lost) <= len(bodies) <= count

        after = [modern_call(pair.url, "echo", {"n": CALLS + number}) for number in range(8)]
        assert [answer.text for answer in after] == [f'{{"n":{CALLS + number}}}' for number in range(8)]
        assert {pair.instance(answer).rpartition(" ")[2] for answer in after} == {address(survivor)}


def test_an_instance_where_nobody_listens_costs_no_call(tmp_path: Path) -> None:
    with started(tmp_path) as pair:
        ended, staying = pair.instances
        ended.signal(signal.SIGTERM)
        assert ended.exit_code() == 0
        answers = [modern_call(pair.url, "echo", {"n": number}) for number in range(6)]
        assert [answer.text for answer in answers] == [f'{{"n":{number}}}' for number in range(6)]
        asked = {pair.instance(answer) for answer in answers}
        assert f"{address(ended)}, {address(staying)}" in asked
        assert {addresses.rpartition(" ")[2] for addresses in asked} == {address(staying)}


def test_an_instance_that_is_taken_out_first_is_ended_without_losing_a_call(tmp_path: Path) -> None:
    with started(tmp_path) as pair:
        leaving, staying = pair.instances
        with Load(lambda number: modern_call(pair.url, "echo", {"n": number}), fault_of, threads=8) as load:
            load.wait_for_more(50)
            text = pair.front.instances.read_text(encoding="utf-8")
            pair.front.reload(text.replace(f"server {address(leaving)} ", f"server {address(leaving)} down "))
            leaving.signal(signal.SIGTERM)
            assert leaving.exit_code() == 0
            load.wait_for_more(50)
        assert load.failures == []
        assert pair.instance(modern_call(pair.url, "echo", {})) == address(staying)


def test_an_instance_that_is_told_to_stop_under_load_drains_and_costs_no_call(tmp_path: Path) -> None:
    with started(tmp_path, MCP_GATEWAY_DRAIN_S="2") as pair:
        leaving, staying = pair.instances
        with Load(lambda number: modern_call(pair.url, "echo", {"n": number}), fault_of, threads=8) as load:
            load.wait_for_more(100)
            leaving.signal(signal.SIGTERM)
            wait_until(lambda: leaving.readyz()["status"] == "draining", "draining")
            assert leaving.exit_code() == 0
            load.wait_for_more(100)
        assert load.failures == []
        made = [received.body for received in pair.service.calls("echo")]
        assert len(made) == len(set(made)) == load.done
        assert pair.instance(modern_call(pair.url, "echo", {})).rpartition(" ")[2] == address(staying)


def fault_of(number: int, answer: Answer) -> str:
    right = answer.status == 200 and answer.text == f'{{"n":{number}}}'
    return "" if right else f"call {number}: {answer.status} {answer.body.decode()}"


def address(instance: Gateway) -> str:
    return instance.url.removeprefix("http://")


def unless_cut(url: str, tool: str, number: int, guid: str) -> Answer | None:
    """Call a tool; ``None`` when the answer breaks off, which a caller sees as a broken connection."""
    try:
        answer = modern_call(url, tool, {"n": number}, {"guid": guid})
    except HTTPException:
        return None
    if answer.status == 502:
        assert (answer.json()["error"], answer.json()["guid"]) == ("instance_lost", guid)
    else:
        assert (answer.status, answer.text) == (200, f'{{"n":{number}}}')
    return answer


def lost_of(answered: dict[str, Answer | None]) -> list[str]:
    return [guid for guid, answer in answered.items() if answer is None or answer.status == 502]
