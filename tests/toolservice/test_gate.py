"""How many calls of one Tool Service may be under way."""

from __future__ import annotations

import pytest

from mcp_gateway.faults import Busy
from mcp_gateway.toolservice.gate import Gate


def test_a_gate_lets_as_many_in_as_it_has_room_for_and_refuses_the_next() -> None:
    gate = Gate("core-tools", 2)

    with gate, gate:
        assert gate.in_flight == 2
        with pytest.raises(Busy, match="'core-tools' is busy"), gate:
            pass
        assert gate.in_flight == 2

    assert gate.in_flight == 0


def test_whoever_leaves_makes_room_even_when_it_fails() -> None:
    gate = Gate("core-tools", 1)

    with pytest.raises(ZeroDivisionError), gate:
        raise ZeroDivisionError

    with gate:
        assert gate.in_flight == 1


def test_a_gate_tells_of_each_that_goes_in_and_comes_out_and_of_none_that_it_refuses() -> None:
    told: list[int] = []
    gate = Gate("core-tools", 1, told.append)

    with gate, pytest.raises(Busy), gate:
        pass
    with pytest.raises(ZeroDivisionError), gate:
        raise ZeroDivisionError

    assert told == [1, -1, 1, -1]
