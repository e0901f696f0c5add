"""The text of a document: JSON or YAML, as OpenAPI means it, and bounded."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mcp_gateway.openapi import document
from mcp_gateway.openapi.document import read
from mcp_gateway.openapi.faults import Unusable


@pytest.fixture(params=["CSafeLoader", "SafeLoader"])
def _either_parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read YAML with the parser of libyaml, and with the one in Python."""
    monkeypatch.setattr(document, "_PARSER", getattr(yaml, request.param))


def refusal(text: bytes) -> str:
    with pytest.raises(Unusable) as caught:
        read(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("2020-01-01", "2020-01-01"),
        ("on", "on"),
        ("no", "no"),
        ("1:30", "1:30"),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("200", 200),
        ("-7", -7),
        ("010", 10),
        ("1.10", Decimal("1.10")),
        ("1e3", Decimal("1e3")),
        ("'200'", "200"),
        ('"null"', "null"),
        ("!!str 5", "5"),
        ("9" * 30, Decimal("9" * 30)),
        ("[1, {a: b}]", [1, {"a": "b"}]),
        ("한글", "한글"),
    ],
)
@pytest.mark.usefixtures("_either_parser")
def test_yaml_is_read_as_yaml_1_2(written: str, value: object) -> None:
    found = read(f"a: {written}\n".encode())["a"]
    assert (found, type(found)) == (value, type(value))


def test_a_key_is_text_even_when_it_looks_like_a_number() -> None:
    assert read(b"200: fine\ntrue: x\n") == {"200": "fine", "true": "x"}


def test_an_alias_stands_for_what_it_names() -> None:
    assert read(b"a: &x {b: [1]}\nc: *x\nd: [*x]\n") == {"a": {"b": [1]}, "c": {"b": [1]}, "d": [{"b": [1]}]}


def test_a_byte_order_mark_in_front_is_dropped_and_json_is_read_exactly() -> None:
    assert read(b'\xef\xbb\xbf {"a": 1.10}') == {"a": Decimal("1.10")}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "it is empty"),
        (b"# nothing\n", "it is empty"),
        (b"- a\n", "it must be a mapping at the top"),
        (b"a: 1\n---\nb: 2\n", "it holds more than one YAML document"),
        (b"a: [1\n", "it is no YAML: "),
        (b"a: \xff\n", r"it is not UTF-8 \(byte 3\)"),
        (b"a: \x00\n", "it is no YAML: a character is not allowed"),
        (b"a: 1\na: 2\n", r"the key 'a' is given twice \(line 2\)"),
        (b"? [a]\n: 1\n", r"a key must be a plain value \(line 1\)"),
        (b"a: *b\n", r"the alias \*b stands for nothing, or for itself \(line 1\)"),
        (b"a: &a [*a]\n", r"the alias \*a stands for nothing, or for itself \(line 1\)"),
        (b'a: "\\uD800"\n', "a text holds half of a surrogate pair|it is no YAML: found invalid Unicode"),
        (b'a: "\\UFFFFFFFF"\n', "it is no YAML: (an escape|found invalid)"),
        (b'{"a": }', r"it starts like JSON, and is none: Expecting value \(line 1, column 7\)"),
        (b'{"a": 1, "a": 2}', "it starts like JSON, and is none: an object has two members named 'a'"),
        (b'{"a": ' + b"[" * 120 + b"]" * 120 + b"}", "it is nested deeper than 100 levels"),
        (b"a: " + b"[" * 120 + b"]" * 120, "it is nested deeper than 100 levels"),
        (b"a: " + b"[" * 20_000, "it is nested deeper|it is no YAML: exceeded maximum nesting"),
        (b"a: &x " + b"[" * 60 + b"]" * 60 + b"\nb: " + b"[" * 60 + b"*x" + b"]" * 60, "it is nested deeper than"),
    ],
)
@pytest.mark.usefixtures("_either_parser")
def test_what_cannot_be_read_is_refused_with_the_reason(text: bytes, reason: str) -> None:
    assert re.match(reason, refusal(text))


def test_a_file_beyond_any_document_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_FILE_BYTES", 1 << 20)
    assert refusal(b"a" * ((1 << 20) + 1)) == "it is larger than 1 MiB"


def test_a_billion_laughs_are_counted_and_not_written_out() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert refusal("\n".join(lines).encode()).startswith("it holds more than 1000000 values")


def test_as_many_values_in_json_are_refused_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_VALUES", 100)
    assert refusal(b'{"a": [' + b"1, " * 100 + b"1]}").startswith("it holds more than 100 values")


@given(st.binary(max_size=60) | st.text("{}[]:,-&*!|>'\"#%@`ab01 \n\t?~", max_size=60).map(str.encode))
def test_any_bytes_are_a_mapping_or_a_reason(text: bytes) -> None:
    try:
        assert isinstance(read(text), dict)
    except Unusable as fault:
        assert str(fault)
