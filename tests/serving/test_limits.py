"""How many connections a worker may hold, by what the system allows. In a process of its own: limits only go down."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import resource, sys
from mcp_gateway.serving.limits import connections, shortage
soft, hard = (int(text) for text in sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
print(connections(1000, 100), resource.getrlimit(resource.RLIMIT_NOFILE)[0], shortage(100))
"""


def told(soft: int, hard: int) -> tuple[str, str, str]:
    """Return, for 1,000 connections and 100 threads under these limits: the connections, the files, and the warning."""
    command = [sys.executable, "-c", SCRIPT, str(soft), str(hard)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.rstrip("\n")
    connections, files, warning = said.split(" ", 2)
    return connections, files, warning


@pytest.mark.parametrize(
    ("soft", "hard", "connections", "files"),
    [
        pytest.param(2000, 2000, 1000, 2000, id="enough"),
        pytest.param(256, 4000, 1000, 1328, id="raised as far as needed"),
        pytest.param(256, 500, 172, 500, id="raised as far as allowed"),
        pytest.param(256, 256, 101, 256, id="never fewer than threads"),
    ],
)
def test_the_limit_on_open_files_is_raised_or_fewer_connections_are_held(
    soft: int, hard: int, connections: int, files: int
) -> None:
    assert told(soft, hard)[:2] == (str(connections), str(files))


def test_threads_that_may_need_more_files_than_the_system_allows_are_warned_of() -> None:
    warning = told(427, 427)[2]
    assert "need up to 428" in warning
    assert "allows a worker 427" in warning


def test_as_many_files_as_threads_may_need_are_no_reason_to_warn() -> None:
    assert told(428, 428)[2] == ""
