"""Names that are given once each."""

from __future__ import annotations

import pytest

from mcp_gateway.openapi.names import Names


@pytest.mark.parametrize(
    ("stem", "wanted", "given"),
    [
        (None, ["a", "b"], ["a", "b"]),
        (None, ["a", "a", "a"], ["a", "a_2", "a_3"]),
        (None, ["a_2", "a", "a", "a_2"], ["a_2", "a", "a_3", "a_2_2"]),
        (3, ["abcd", "abcd", "abce", "abce"], ["abcd", "abc_2", "abce", "abc_3"]),
    ],
)
def test_a_name_that_is_given_already_gets_the_next_number_that_is_free(
    stem: int | None, wanted: list[str], given: list[str]
) -> None:
    names = Names(stem)
    assert [names.give(each) for each in wanted] == given


class Counting(set[str]):
    """A set that counts how often it is asked."""

    asked = 0

    def __contains__(self, name: object) -> bool:
        self.asked += 1
        return super().__contains__(name)


def test_thousands_who_want_one_name_do_not_each_count_from_the_start() -> None:
    names = Names()
    names._given = asked = Counting()
    for _ in range(1000):
        names.give("search")
    assert len(asked) == 1000
    assert asked.asked <= 2 * 1000
