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
