"""JSON as text: what is read, what is refused, and that nothing is lost on the way."""

from __future__ import annotations

import json
import tracemalloc
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_gateway import jsontext
from mcp_gateway.jsontext import DuplicateMember, Fragment, NotJson

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.decimals(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def written(value: Any, indent: int | None = None) -> str:
    """Write a value as JSON by hand, with the digits of its decimals."""
    if isinstance(value, Decimal):
        return str(value).lower().replace("e+", "e")
    if isinstance(value, list):
        return "[" + (" , " if indent else ",").join(written(each, indent) for each in value) + "]"
    if isinstance(value, dict):
        colon = " : " if indent else ":"
        return "{" + ",".join(json.dumps(name) + colon + written(each, indent) for name, each in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def test_integers_of_any_length_and_decimals_are_read_exactly() -> None:
    digits = "9" * 5000

    value = jsontext.parse(f"[{digits}, 1.10, 1e400, 12345678901234567890123, -0]".encode())

    assert value == [Decimal(digits), Decimal("1.10"), Decimal("1e400"), 12345678901234567890123, 0]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "Expecting value (line 1, column 1)"),
        (b"{", "line 1, column 2"),
        (b"[1,]", "line 1"),
        (b"[01]", "line 1"),
        (b"[NaN]", "NaN is no JSON value"),
        (b"[Infinity]", "Infinity is no JSON value"),
        (b"[-Infinity]", "-Infinity is no JSON value"),
        (b"\xef\xbb\xbf[]", "it begins with a byte order mark, which JSON has not"),
        (b'["\xff"]', "it is not UTF-8 (byte 2)"),
        (b'["\\ud83d"]', "half of a surrogate pair"),
        (b'["\xed\xa0\xbd"]', "it is not UTF-8"),
        ("[1]".encode("utf-16"), "it is not UTF-8"),
        (b"[1e99999999999999999999999]", "exponent is out of range"),
        (b"[" * 600 + b"]" * 600, "nested deeper than 512"),
        (b"[" * 100_000, "nested deeper than 512"),
        (b'{"a":' * 600 + b"1" + b"}" * 600, "nested deeper than 512"),
    ],
)
def test_what_is_no_json_is_refused_with_the_reason(text: bytes, why: str) -> None:
    with pytest.raises(NotJson, match=why.replace("(", r"\(").replace(")", r"\)")):
        jsontext.parse(text)


def test_two_hundred_levels_are_read() -> None:
    value = jsontext.parse(b"[" * 200 + b"]" * 200)

    for _ in range(199):
        (value,) = value
    assert value == []


def test_many_brackets_side_by_side_or_in_a_string_are_not_deep() -> None:
    assert jsontext.parse(b"[" + b",".join([b"[]"] * 600) + b',"[[[[{{{{"]')[0] == []


def test_how_deep_a_text_is_takes_no_memory_for_each_character() -> None:
    text = json.dumps("[" * jsontext.MAX_DEPTH + "\n[" * 50_000).encode()
    tracemalloc.start()
    jsontext.parse(text)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 5 * len(text)


def test_a_pair_of_surrogate_escapes_is_one_character() -> None:
    assert jsontext.parse(b'"\\ud83d\\ude00"') == "😀"


def test_a_member_that_stands_twice_is_refused_by_name() -> None:
    with pytest.raises(DuplicateMember) as caught:
        jsontext.parse(b'{"a": {"b": 1, "c": 2, "b": 3}}')

    assert caught.value.name == "b"


def test_where_duplicates_are_allowed_the_last_one_wins() -> None:
    assert jsontext.parse(b'{"b": 1, "b": 2}', unique=False) == {"b": 2}


def test_members_and_elements_keep_their_own_text() -> None:
    members = jsontext.members(b' {"a" : 1.10 , "b": [ 1, 2 ], "c":"\\u00e9"} ')

    assert {name: bytes(text) for name, text in members.items()} == {"a": b"1.10", "b": b"[ 1, 2 ]", "c": b'"\\u00e9"'}
    assert [bytes(text) for text in jsontext.elements(members["b"])] == [b"1", b"2"]


def test_a_strings_own_characters_are_read() -> None:
    assert jsontext.string(b'"\\ud55c\\n \\u0000"') == "한\n \x00"


def test_compacting_takes_away_white_space_and_nothing_else() -> None:
    text = '{ "z" : 1.10,\n "a": [1e400, -0], "한글" : "a  b\\u00e9", "z": 2 }'.encode()

    assert jsontext.compact(text) == '{"z":1.10,"a":[1e400,-0],"한글":"a  b\\u00e9","z":2}'.encode()


@pytest.mark.parametrize("text", [b"[1,]", b'["\xff"]', b"[NaN]", b"", b"[" * 100_000])
def test_compacting_refuses_what_is_no_json(text: bytes) -> None:
    with pytest.raises(NotJson):
        jsontext.compact(text)


def test_half_a_surrogate_pair_in_a_text_to_compact_is_named() -> None:
    with pytest.raises(NotJson, match="half of a surrogate pair"):
        jsontext.compact(b'{"x": "\\ud800"}')


def test_a_fragment_goes_in_as_it_stands() -> None:
    assert jsontext.encode({"n": Fragment(b"1.10"), "t": "한글 😀"}) == '{"n":1.10,"t":"한글 😀"}'.encode()


@given(VALUES)
def test_any_value_is_read_as_it_was_written(value: Any) -> None:
    assert jsontext.parse(written(value).encode()) == value


@given(VALUES)
def test_compacting_any_spread_out_text_gives_the_tight_one(value: Any) -> None:
    assert jsontext.compact(written(value, indent=1).encode()) == written(value).encode()


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(text: bytes) -> None:
    try:
        jsontext.parse(text)
    except NotJson as fault:
        assert str(fault)
