from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from hypothesis import settings
from road import Road

# The same examples in every run: a suite that fails must fail again when it is run again.
settings.register_profile("gateway", derandomize=True, deadline=None, max_examples=60, database=None)
settings.load_profile("gateway")


@pytest.fixture
def road() -> Road:
    """A gateway of one route in this process, with a Tool Service that answers everything with ``done``."""
    return Road()


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """What the package logs, whether or not a test before has configured its log."""
    package = logging.getLogger("mcp_gateway")
    before = (package.handlers[:], package.propagate, package.level)
    package.handlers[:], package.propagate = [], True
    package.setLevel(logging.INFO)
    with caplog.at_level(logging.INFO):
        yield caplog
    package.handlers[:], package.propagate = before[0], before[1]
    package.setLevel(before[2])
