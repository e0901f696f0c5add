"""The budget as a point in time."""

from __future__ import annotations

import time

import pytest

from mcp_gateway.deadline import Deadline


def test_what_is_left_shrinks_with_time() -> None:
    before = time.monotonic()

    deadline = Deadline.after(10)

    assert before + 10 <= deadline.end <= time.monotonic() + 10
    assert 9 < deadline.left() <= 10
    assert 9 < deadline.timeout() <= 10


def test_a_deadline_that_has_passed_leaves_nothing_and_allows_no_step() -> None:
    deadline = Deadline(time.monotonic() - 1)

    assert deadline.left() <= -1
    with pytest.raises(TimeoutError, match="used up"):
        deadline.timeout()


def test_a_step_within_a_deadline_ends_at_the_earlier_of_the_two() -> None:
    deadline = Deadline.after(10)

    assert deadline.within(1).left() <= 1
    assert deadline.within(100) == deadline
