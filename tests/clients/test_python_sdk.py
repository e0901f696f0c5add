from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from clients.expected import (
    ARGUMENTS,
    KOREAN,
    REQUESTS,
    check_2025_11_25,
    check_2026_07_28,
    check_what_every_client_sees,
)
from support.processes import ROOT, Gateway
from support.toolservice import ToolService

SCRIPTS = Path(__file__).parent / "scripts"


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


@pytest.mark.timeout(300)
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
def test_the_sdk_2_works_in_each_of_its_modes(
    running: Gateway, key: str, mode: str, check: Callable[[Any], None]
) -> None:
    seen = use(2, running.route(key), mode)
    check_what_every_client_sees(seen)
    check(seen)
    # Told which version to speak, this SDK asks nobody and opens with the first request of the application.
    assert seen["server"] == (None if mode == "2026-07-28" else "mcp-gateway")


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
