"""Waiting for something that another thread or process does, always with a bound."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PAUSE = 0.02


def wait_until(look: Callable[[], T], what: str, seconds: float = 20.0) -> T:
    """
    Look again and again until there is something to see, and return it.

    Args:

        look: Returns something true when what is waited for is there.

        what: What is waited for, for the message of the failure.

        seconds: How long at most.

    Raises:

        AssertionError: It did not come in time.
    """
    end = time.monotonic() + seconds
    while True:
        seen = look()
        if seen:
            return seen
        if time.monotonic() > end:
            raise AssertionError(f"no {what} within {seconds:g} s; last seen: {seen!r}")
        time.sleep(PAUSE)
