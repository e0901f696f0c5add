"""How many connections a worker may hold, by what the system allows. In a process of its own: limits only go down."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import resource, sys
from mcp_gateway.serving.limits import connections
soft, hard = (int(text) for text in sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
print(connections(1000, 100), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


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
    command = [sys.executable, "-c", SCRIPT, str(soft), str(hard)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert told == [str(connections), str(files)]
