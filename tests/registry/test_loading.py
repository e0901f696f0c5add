from __future__ import annotations

import logging
import time
from datetime import UTC, datetime

import pytest

from mcp_gateway.registry.changes import changes
from mcp_gateway.registry.loading import NOT_YET, Turn
from mcp_gateway.registry.snapshot import LeftOut, RouteStatus, ServiceReport, ServiceState, Snapshot

NOW = datetime(2026, 7, 28, tzinfo=UTC)


def pause(turn: Turn) -> float:
    return round(turn.due - time.monotonic(), 1)


def test_after_failures_in_a_row_the_longest_pause_doubles_up_to_half_a_minute():
    turn, pauses = Turn(), []
    for _ in range(9):
        turn.failed(lambda: 1.0)
        pauses.append(pause(turn))
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]


def test_a_thousand_failures_in_a_row_are_no_trouble():
    turn = Turn(failures=10_000)
    turn.failed(lambda: 1.0)
    assert pause(turn) == 30.0


def test_the_pause_after_a_failure_is_any_part_of_the_longest():
    turn = Turn(failures=4)
    turn.failed(lambda: 0.25)
    assert pause(turn) == 2.0


def test_a_known_service_is_asked_again_at_the_latest_after_the_refresh_interval():
    turn = Turn(failures=9)
    turn.failed(lambda: 1.0, 5.0)
    assert pause(turn) == 5.0


@pytest.mark.parametrize(("random", "seconds"), [(0.0, 90.0), (0.5, 100.0), (1.0, 110.0)])
def test_refreshes_of_workers_do_not_march_in_step(random, seconds):
    turn = Turn(failures=3)
    turn.succeeded(100.0, lambda: random)
    assert (pause(turn), turn.failures) == (seconds, 0)


def test_without_an_interval_there_is_no_refresh():
    turn = Turn()
    turn.succeeded(0, lambda: 1.0)
    assert turn.due == float("inf")


# --- what is worth a line in the log ---------------------------------------------------------------------------------


def report(state=ServiceState.LOADED, tools=1, left_out=(), error=None, loaded_at=NOW) -> ServiceReport:
    return ServiceReport("core-tools", state, tools, left_out, error, loaded_at)


def status(*reports: ServiceReport, digest: str | None = "d1", error: str | None = None) -> RouteStatus:
    snapshot = None if digest is None else Snapshot("core", (), digest, NOW, reports)
    return RouteStatus("core", snapshot, reports, error)


LOADED = status(report())
STALE = status(report(ServiceState.STALE, error="it is down"))
SERVICE = "route 'core': Tool Service 'core-tools': "


def test_what_stays_as_it_was_is_not_logged():
    bad = status(report(left_out=(LeftOut("a", "tools[0]", "must be an object"),)), error="too many")
    for same in (LOADED, STALE, bad):
        assert list(changes([same], [same])) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            [],
            [LOADED],
            [
                (logging.INFO, f"{SERVICE}loaded; 1 of its tools are served"),
                (logging.INFO, "route 'core' serves 0 tools, digest d1"),
            ],
        ),
        ([], [status(report(ServiceState.FAILED, error=NOT_YET), digest=None)], []),
        ([LOADED], [], [(logging.INFO, "route 'core' is gone")]),
        ([LOADED], [STALE], [(logging.WARNING, f"{SERVICE}it is down (the last good manifest is kept)")]),
        (
            [STALE],
            [status(report(ServiceState.STALE, error="it lies"))],
            [(logging.WARNING, f"{SERVICE}it lies (the last good manifest is kept)")],
        ),
        ([STALE], [LOADED], [(logging.INFO, f"{SERVICE}loaded; 1 of its tools are served")]),
        (
            [LOADED],
            [status(report(loaded_at=datetime(2027, 1, 1, tzinfo=UTC)), digest="d2")],
            [
                (logging.INFO, f"{SERVICE}loaded; 1 of its tools are served"),
                (logging.INFO, "route 'core' serves 0 tools, digest d2"),
            ],
        ),
        (
            [],
            [status(report(ServiceState.FAILED, error="it is down"), digest=None)],
            [(logging.WARNING, f"{SERVICE}it is down (nothing of it is served)")],
        ),
        (
            [LOADED],
            [status(report(ServiceState.FALLBACK, error="it is down"))],
            [(logging.WARNING, f"{SERVICE}it is down (the fallback manifest stands in)")],
        ),
        (
            [LOADED],
            [status(report(), error="too many")],
            [(logging.ERROR, "route 'core' cannot be renewed: too many")],
        ),
        ([status(report(), error="too many")], [LOADED], []),
        (
            [LOADED],
            [status(report(left_out=(LeftOut("a", "tools[0].title", "must be a string"),)))],
            [(logging.WARNING, f"{SERVICE}tool 'a' is left out: tools[0].title: must be a string")],
        ),
    ],
)
def test_what_is_otherwise_than_before_is_logged(old, new, expected):
    assert list(changes(old, new)) == expected
