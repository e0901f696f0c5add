from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from clients.expected import (
    HUGE,
    KOREAN,
    REQUESTS,
    check_2025_11_25,
    check_2026_07_28,
    check_what_every_client_sees,
)
from conformance.run import Unable, find_node, npm_ci
from support.processes import ROOT, Gateway
from support.toolservice import ToolService

NODE = Path(__file__).parent / "node"
CACHE = ROOT / ".cache"


def application(line: int) -> tuple[str, Path]:
    """Return a Node, and the application beside one line of the SDK, which npm brings when it is not there yet."""
    folder = CACHE / "clients" / f"ts-{line}"
    try:
        npm_ci(NODE / f"sdk-{line}", folder)
        node = find_node(CACHE / "conformance")
    except Unable as fault:
        if os.environ.get("CI"):
            pytest.fail(str(fault))
        pytest.skip(str(fault))
    for source in (NODE / "common.mjs", NODE / f"sdk-{line}" / "use.mjs"):
        shutil.copyfile(source, folder / source.name)
    return node, folder / "use.mjs"


def use(line: int, url: str, mode: str = "") -> Any:
    node, script = application(line)
    command = [node, str(script), url, mode, json.dumps(REQUESTS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


def headers(seen: Any, name: str) -> list[str | None]:
    """Return what each POST said in one header."""
    return [sent.get(name) for sent in seen["sent"]]


# Installing an SDK for the first time takes longer than any test may.
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("key", "mode", "check"),
    [
        ("legacy", "auto", check_2025_11_25),
        ("legacy", "legacy", check_2025_11_25),
        ("default", "auto", check_2026_07_28),
        ("default", "legacy", check_2025_11_25),
        ("default", "2026-07-28", check_2026_07_28),
    ],
)
def test_the_client_2_works_in_each_of_its_modes(
    running: Gateway, key: str, mode: str, check: Callable[[Any], None]
) -> None:
    seen = use(2, running.route(key), mode)
    check_what_every_client_sees(seen)
    check(seen)
    assert seen["server"] == "mcp-gateway"


@pytest.mark.timeout(600)
def test_the_client_2_mirrors_what_it_asks_for_and_never_a_session(running: Gateway) -> None:
    seen = use(2, running.route("default"), "auto")
    tools = [tool for tool, _ in REQUESTS.values()]
    assert headers(seen, "mcp-method") == ["server/discover", "tools/list", *["tools/call"] * len(tools)]
    assert headers(seen, "mcp-name") == [None, None, *tools]
    mirrored = [None, None, *("=?base64?7ISc7Jq4?=" if tool == "core.region" else None for tool in tools)]
    assert headers(seen, "mcp-param-region") == mirrored
    assert set(headers(seen, "mcp-session-id")) == {None}
    assert "sessionId" not in seen


@pytest.mark.timeout(600)
@pytest.mark.parametrize("key", ["legacy", "default"])
def test_the_sdk_1_works(running: Gateway, key: str) -> None:
    seen = use(1, running.route(key))
    check_what_every_client_sees(seen)
    check_2025_11_25(seen)
    assert headers(seen, "mcp-session-id")[1:] == [seen["sessionId"]] * (len(seen["sent"]) - 1)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("line", "mode"), [(1, ""), (2, "legacy"), (2, "auto")])
def test_arguments_reach_the_tool_service_byte_for_byte(
    running: Gateway, service: ToolService, line: int, mode: str
) -> None:
    before = len(service.calls("core.echo"))
    use(line, running.route("default"), mode)
    written = f'{{"query":"{KOREAN}","limit":{HUGE}}}'.encode()
    assert [received.body for received in service.calls("core.echo")[before:]] == [written, written]
