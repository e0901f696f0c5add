"""The times that go together, and which of gunicorn's own settings contradict them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from mcp_gateway.timings import PRODUCTION_DRAIN_S, Timings


@dataclass
class Given:
    """gunicorn's settings as the file has them for calls of 300 s, unless told otherwise."""

    graceful_timeout: int = 325
    timeout: int = 60
    keepalive: int = 75


def test_all_times_follow_from_the_longest_call_and_the_drain() -> None:
    timings = Timings.of(300, PRODUCTION_DRAIN_S)

    assert (timings.drain_s, timings.graceful_timeout_s, timings.grace_period_s) == (15, 325, 330)


def test_the_page_says_the_same_times() -> None:
    page = Path(__file__).resolve().parents[1] / "docs" / "contracts" / "configuration.md"
    table = page.read_text("utf-8").partition("| with 300 s and 15 s |")[2]
    timings = Timings.of(300, 15)

    assert [int(number) for number in re.findall(r"\| (\d+) s \|$", table, re.MULTILINE)] == [
        timings.graceful_timeout_s,
        timings.grace_period_s,
        timings.keepalive_s,
        timings.heartbeat_s,
    ]


@pytest.mark.parametrize(("interaction", "drain"), [(300, 0), (0.5, 0.25), (120, 3600)])
def test_a_call_that_begins_last_can_end_before_its_worker_must_and_that_before_the_server_is_killed(
    interaction: float, drain: float
) -> None:
    timings = Timings.of(interaction, drain)

    assert drain + interaction + 10 <= timings.graceful_timeout_s < timings.grace_period_s


def test_proxies_close_an_idle_connection_before_the_server_does() -> None:
    assert Timings.of(300, 0).keepalive_s > 60


def test_what_the_file_of_gunicorn_sets_contradicts_nothing() -> None:
    timings = Timings.of(300, 15)
    given = Given(timings.graceful_timeout_s, timings.heartbeat_s, timings.keepalive_s)

    assert timings.contradictions(given, 5) == ()


@pytest.mark.parametrize(
    ("given", "load", "named"),
    [
        (Given(graceful_timeout=324), 5, "graceful_timeout to be at least 325 s (with 15 s to drain"),
        (Given(timeout=5), 5, "gunicorn's timeout (5 s)"),
        (Given(), 60, "registry.load_timeout_s: "),
        (Given(keepalive=60), 5, "keepalive: must be 0 or more than 60 s, not 60 s"),
    ],
)
def test_a_setting_under_which_calls_or_connections_would_be_cut_is_named(
    given: Given, load: float, named: str
) -> None:
    (fault,) = Timings.of(300, 15).contradictions(given, load)

    assert named in fault


def test_more_patience_and_features_that_are_off_contradict_nothing() -> None:
    assert Timings.of(300, 15).contradictions(Given(600, 0, 0), 5) == ()
