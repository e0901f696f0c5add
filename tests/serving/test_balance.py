"""Which worker may leave a new connection to the others."""

from __future__ import annotations

import os

from mcp_gateway.serving.balance import SLOTS, Balance


def test_a_worker_that_is_alone_takes_what_comes() -> None:
    balance = Balance()
    balance.note(1, 50)

    assert not balance.is_ahead(1)


def test_a_worker_is_ahead_of_one_that_has_fewer() -> None:
    balance = Balance()
    balance.note(1, 2)
    balance.note(2, 1)

    assert balance.is_ahead(1)
    assert not balance.is_ahead(2)


def test_equals_are_not_ahead_of_each_other() -> None:
    balance = Balance()
    balance.note(1, 3)
    balance.note(2, 3)

    assert not balance.is_ahead(1)
    assert not balance.is_ahead(2)


def test_a_worker_that_has_left_holds_nobody_up() -> None:
    balance = Balance()
    balance.note(1, 5)
    balance.note(2, 0)
    balance.leave(2)

    assert not balance.is_ahead(1)


def test_a_place_is_taken_again_when_all_have_been_used() -> None:
    balance = Balance()
    balance.note(1, 0)
    balance.note(1 + SLOTS, 7)
    balance.note(2, 8)

    assert balance.is_ahead(2)
    assert not balance.is_ahead(1 + SLOTS)


def test_what_one_process_notes_another_sees() -> None:
    balance = Balance()
    balance.note(1, 5)
    child = os.fork()
    if child == 0:
        balance.note(2, 1)
        os._exit(0)
    os.waitpid(child, 0)

    assert balance.is_ahead(1)
