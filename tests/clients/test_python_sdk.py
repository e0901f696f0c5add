from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.processes import ROOT, Gateway, configuration, gateway, route
from support.toolservice import Received, Reply, ToolService

SCRIPTS = Path(__file__).parent / "scripts"

KOREAN = "한국어 문서를 찾아 줘 👩‍👩‍👧‍👦🚀"
HUGE = 12345678901234567890
ARGUMENTS = {"query": KOREAN, "limit": HUGE}
REQUESTS = {
    "called": ("core.echo", ARGUMENTS),
    "unknown": ("core.nowhere", {}),
    "bad": ("core.echo", {"limit": "many"}),
    "failed": ("core.fail", {}),
    "structured": ("core.count", {}),
    "called_again": ("core.echo", ARGUMENTS),
}
ECHO_SCHEMA = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["query"],
}
COUNT_SCHEMA = {"type": "object", "properties": {"documents": {"type": "integer"}}, "required": ["documents"]}


def echo(received: Received) -> Reply:
    return Reply.of_json(received.body)


def fail(received: Received) -> Reply:
    return Reply.of_text("문서가 없습니다", 404)


def count(received: Received) -> Reply:
    return Reply.of_json(b'{"documents": 7}')


@pytest.fixture(scope="module")
def service() -> Iterator[ToolService]:
    with ToolService() as here:
        here.add("core.echo", echo, ECHO_SCHEMA, title="Echo", _meta={"version": "1.0.0"})
        here.add("core.fail", fail)
        here.add("core.count", count, outputSchema=COUNT_SCHEMA)
        yield here


@pytest.fixture(scope="module")
def running(service: ToolService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    config = configuration(
        routes=[route("legacy", service, protocol_versions=["2025-11-25"]), route("default", service)]
    )
    with gateway(tmp_path_factory.mktemp("clients"), config) as here:
        yield here


def python_with(line: int) -> str:
    """Return the Python of the environment with one line of the SDK, made by ``make`` when it is not there yet."""
    environment = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    }
    folder = f".cache/mcp-client-{line}"
    try:
        made = subprocess.run(["make", f"{folder}/.made"], cwd=ROOT, env=environment, capture_output=True, text=True)
        fault = f"{folder} cannot be made: {made.stderr[-500:]}" if made.returncode else ""
    except FileNotFoundError:
        fault = f"{folder} cannot be made: there is no make"
    if fault and os.environ.get("CI"):
        pytest.fail(fault)
    if fault:
        pytest.skip(fault)
    return str(ROOT / folder / "bin" / "python")


def use(line: int, *arguments: str) -> Any:
    command = [python_with(line), str(SCRIPTS / f"mcp{line}.py"), *arguments, json.dumps(REQUESTS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


def text_of(result: Any) -> str:
    (block,) = result["content"]
    assert block["type"] == "text"
    assert isinstance(block["_meta"]["searchTime"], int)
    return str(block["text"])


def check_what_every_client_sees(seen: Any) -> None:
    """Hold what an application saw to the contract, whatever the SDK and the protocol version."""
    assert seen["tools"] == ["core.echo", "core.fail", "core.count"]
    for label in ("called", "called_again"):
        assert seen[label]["isError"] is False
        assert json.loads(text_of(seen[label])) == ARGUMENTS
        assert KOREAN in text_of(seen[label])
        assert str(HUGE) in text_of(seen[label])
    assert seen["unknown"]["code"] == -32602
    assert seen["unknown"]["message"] == "Invalid params: unknown tool 'core.nowhere'"
    assert seen["unknown"]["data"]["guid"]
    assert seen["failed"]["isError"] is True
    assert text_of(seen["failed"]) == "문서가 없습니다"
    assert seen["structured"]["structuredContent"] == {"documents": 7}
    assert seen["closed"] is True


def check_2025_11_25(seen: Any) -> None:
    """Hold what is special about 2025-11-25: bad arguments are an error of the request."""
    assert seen["protocolVersion"] == "2025-11-25"
    assert seen["bad"]["code"] == -32602
    assert seen["bad"]["message"].startswith("Invalid params: ")
    assert "'query' is required" in seen["bad"]["message"]
    assert "'limit' must be integer" in seen["bad"]["message"]
    assert {error["path"] for error in seen["bad"]["data"]["errors"]} == {"query", "limit"}


def check_2026_07_28(seen: Any) -> None:
    """Hold what is special about 2026-07-28: bad arguments are an answer that a model can learn from."""
    assert seen["protocolVersion"] == "2026-07-28"
    assert seen["bad"]["isError"] is True
    assert "'query' is required" in text_of(seen["bad"])
    assert "'limit' must be integer" in text_of(seen["bad"])


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("key", "mode", "check"),
    [
        ("legacy", "auto", check_2025_11_25),
        ("legacy", "legacy", check_2025_11_25),
        ("default", "auto", check_2026_07_28),
        ("default", "legacy", check_2025_11_25),
    ],
)
def test_the_sdk_2_works_in_each_of_its_modes(
    running: Gateway, key: str, mode: str, check: Callable[[Any], None]
) -> None:
    seen = use(2, running.route(key), mode)
    check_what_every_client_sees(seen)
    check(seen)
    assert seen["server"] == "mcp-gateway"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("key", ["legacy", "default"])
def test_the_sdk_1_works(running: Gateway, key: str) -> None:
    seen = use(1, running.route(key))
    check_what_every_client_sees(seen)
    check_2025_11_25(seen)
    assert seen["sessionId"]


@pytest.mark.timeout(300)
def test_arguments_reach_the_tool_service_as_the_application_gave_them(running: Gateway, service: ToolService) -> None:
    before = len(service.calls("core.echo"))
    use(1, running.route("legacy"))
    calls = service.calls("core.echo")[before:]
    assert [json.loads(received.body) for received in calls] == [ARGUMENTS, ARGUMENTS]
    assert all(KOREAN.encode() in received.body for received in calls)
