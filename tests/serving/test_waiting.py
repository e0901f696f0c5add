"""The connections that wait for the same thing."""

from types import SimpleNamespace
from typing import Any

from mcp_gateway.serving.waiting import Waiting


class Connection(SimpleNamespace):
    __hash__ = object.__hash__


def waiting(count: int) -> tuple[Waiting, list[Any]]:
    connections: list[Any] = [Connection(number=number) for number in range(count)]
    those = Waiting()
    for each in connections:
        those.append(each)
    return those, connections


def test_they_stand_in_the_order_in_which_they_came() -> None:
    those, connections = waiting(3)
    assert list(those) == connections
    assert those[0] is connections[0]
    assert len(those) == 3


def test_one_leaves_from_the_middle() -> None:
    those, connections = waiting(3)
    those.remove(connections[1])
    assert list(those) == [connections[0], connections[2]]


def test_the_first_leaves_first() -> None:
    those, connections = waiting(2)
    assert [those.popleft(), those.popleft()] == connections
    assert not those


def resting(deadlines: list[float], now: float) -> tuple[Waiting, list[Any], int]:
    connections: list[Any] = [Connection(timeout=each) for each in deadlines]
    those = Waiting()
    for each in connections:
        those.append(each)
    return those, connections, those.rest(now)


def test_those_rest_whose_deadline_is_near() -> None:
    those, connections, count = resting([1.0, 2.0, 3.0], 2.0)
    assert count == 2
    assert (list(those), those[0], len(those)) == (connections, connections[0], 3)


def test_who_rests_goes_on_resting() -> None:
    those, _, _ = resting([1.0, 2.0, 3.0], 1.0)
    assert [those.rest(2.0), those.rest(0.0)] == [2, 2]


def test_one_that_rests_leaves_like_any_other() -> None:
    those, connections, _ = resting([1.0, 2.0, 3.0], 2.0)
    those.remove(connections[1])
    assert (list(those), those.rest(2.0)) == ([connections[0], connections[2]], 1)
    assert [those.popleft(), those.popleft()] == [connections[0], connections[2]]
    assert not those


def test_one_that_comes_back_is_behind_those_that_stayed() -> None:
    those, connections, _ = resting([1.0, 2.0], 2.0)
    those.remove(connections[0])
    those.append(connections[0])
    assert (list(those), those.rest(0.0)) == ([connections[1], connections[0]], 1)
