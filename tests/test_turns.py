"""A thread that waits says so to whoever counts it."""

import threading

import pytest
from support.turns import watch

from mcp_gateway.turns import away


def test_a_wait_begins_and_ends() -> None:
    with watch() as watching:
        with away:
            assert watching.is_away
        assert not watching.is_away


def test_a_wait_that_fails_ends_too() -> None:
    with watch() as watching:
        with pytest.raises(TimeoutError), away:
            raise TimeoutError
        assert watching.waits == 1


def test_one_thread_does_not_wait_in_the_name_of_another() -> None:
    def wait() -> None:
        with away:
            pass

    with watch() as watching:
        other = threading.Thread(target=wait)
        other.start()
        other.join(10)
        assert watching.waits == 0
