from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.ports import free_port
from support.processes import gateway, running
from support.rpc import request
from support.waiting import wait_until

HERE = Path(__file__).resolve().parent
NOT_INSTALLED = 3

SPECS = ["2025-11-25", "2026-07-28"]


def answers(url: str) -> bool:
    try:
        return request("GET", url).status == 200
    except OSError:
        return False


# Installing the suite for the first time takes longer than any test may.
@pytest.mark.timeout(600)
@pytest.mark.parametrize("spec", SPECS)
def test_the_official_suite_comes_out_as_expected_yaml_says(spec: str, tmp_path: Path) -> None:
    port = free_port()
    fixture = [sys.executable, str(HERE / "tool_service.py"), "--port", str(port)]
    with running(fixture, tmp_path / "tool_service.log"):
        wait_until(lambda: answers(f"http://127.0.0.1:{port}/manifest"), "manifest of the fixture")
        config = (HERE / "gateway.yaml").read_text()
        with gateway(tmp_path, config, env={"CONFORMANCE_TOOL_PORT": str(port)}) as here:
            command = [sys.executable, str(HERE / "run.py"), "--url", here.route("conformance"), "--spec", spec]
            done = subprocess.run(command, capture_output=True, text=True, timeout=500)
    if done.returncode == NOT_INSTALLED and not os.environ.get("CI"):
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr
