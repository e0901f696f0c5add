"""A pattern means to the engine what it means to ECMA-262 with the flag ``u``, whichever way the engine matches it."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from mcp_gateway import pattern, schema
from mcp_gateway.schema import BadSchema

DRAFT_07 = "http://json-schema.org/draft-07/schema#"
DRAFT_2020_12 = "https://json-schema.org/draft/2020-12/schema"

# Patterns, what they fit, and what they do not.
MEANINGS: list[tuple[str, list[str], list[str]]] = [
    # Classes and the dot, in linear time and with look-around.
    (r"^\d{3}$", ["123"], ["１２３"]),
    (r"^(?!000)\d{3}$", ["123"], ["１２３", "000"]),
    (r"^(?!x)\D$", ["１", "a"], ["1", "x"]),
    (r"^(?!x)\w$", ["e", "_"], ["é", "한"]),
    (r"^(?!x)\W$", ["é", "-"], ["e"]),
    (r"^\s$", ["\u00a0", "\u1680", "\u2003", "\u2028", "\u202f", "\u205f", "\u3000", "\ufeff"], ["\u0085", "\u180e"]),
    (r"^(?!x)\s$", ["\u00a0", "\u3000", "\ufeff"], ["\u0085", "\u001c"]),
    (r"^(?!x)\S$", ["\u0085", "a"], ["\ufeff", "\t"]),
    (r"^.$", ["\u0085", "😀"], ["\r", "\n", "\u2028", "\u2029"]),
    (r"^(?!x).$", ["\u0085", "😀"], ["\r", "\n", "\u2028", "\u2029"]),
    (r"^(?!x)[\w-]+$", ["a-b"], ["é"]),
    (r"^(?!x)[^\W\d]$", ["a"], ["1", "é", "-"]),
    (r"^(?!x)\p{L}$", ["é", "한"], ["1"]),
    (r"^[a&&b]+$", ["a&b"], ["c"]),
    (r"^(?=.)[[~~^\]]+$", ["[~^]"], ["a"]),
    (r"^[\x00-\x1f--a]+$", ["\0-a"], ["b", ","]),
    (r"^[!--]$", ["#", "-"], ["a"]),
    (r"^[a-]$", ["a", "-"], ["b"]),
    # Boundaries are those of ASCII words.
    (r"\bé", ["aé"], ["é"]),
    (r"\Bé", ["é"], ["aé"]),
    (r"\b[A-Z]{3}-\d{3}\b", ["주문ABC-123번", "ABC-123"], ["xABC-123", "ABC-1234"]),
    (r"\bno\b(?!x)", ["한no", "no!"], ["nox", "ano"]),
    (r"no\B(?!x)", ["noa"], ["nox", "no", "no한"]),
    # What only ECMA-262 writes like this.
    (r"^[^]$", ["\n", "a"], [""]),
    (r"[]", [], ["", "a"]),
    (r"^\0$", ["\0"], ["0"]),
    (r"^[\b]$", ["\b"], ["b"]),
    (r"^\uD83D\uDE00$", ["😀"], ["a"]),
    (r"^[\uD83D\uDE00-\u{1F602}]$", ["😁"], ["a"]),
    (r"^\x41\u0042\cJ\f\v\/\.$", ["AB\n\f\v/."], ["AB\n\f\v/x"]),
    (r"^[\ud800-\udfff]?a\ud800?$", ["a"], ["b"]),
    (r"^[^\ud800][\ud7f0-\ud800\udfff-\ue001]$", ["a\ud7fb", "b\ue001"], ["a", "ab"]),
    # Groups, and references to them.
    (r"^(?<y>[ab])\k<y>$", ["aa", "bb"], ["ab"]),
    (r"^(?<\u0079>a)(?<$>b)\k<y>\k<$>$", ["abab"], ["abba"]),
    (r"^\k<y>(?<y>a)$", ["a"], ["aa"]),
    (r"^(a\1)b$", ["ab"], ["aab"]),
    (r"^(?:(a)|b)\1$", ["aa", "b"], ["a", "bb"]),
    (r"^((a)?b)\2\1$", ["abaab", "bb"], ["bab"]),
    (r"^(a)\1(?:0)$", ["aa0"], ["a0"]),
    (r"(?<!\d)\d{2}(?!\d)", ["a12b", "１12"], ["123"]),
    (r"^(?:a|b){1,2}?(c)+$", ["abc", "acc"], ["aac!"]),
    # What no engine minds, although ECMA-262 does with the flag u.
    (r"^\d\-\d$", ["1-2"], ["12"]),
]


def verdicts(written: str, texts: list[str], dialect: str = DRAFT_2020_12) -> list[bool]:
    compiled = schema.compile(json.dumps({"$schema": dialect, "pattern": written}))
    return [compiled.fits(text) for text in texts]


@pytest.mark.parametrize("dialect", [DRAFT_2020_12, DRAFT_07])
@pytest.mark.parametrize(("written", "fitting", "others"), MEANINGS)
def test_a_pattern_means_what_ecma_262_says(written: str, fitting: list[str], others: list[str], dialect: str) -> None:
    assert verdicts(written, fitting, dialect) == [True] * len(fitting)
    assert verdicts(written, others, dialect) == [False] * len(others)


@pytest.mark.parametrize(("written", "fitting", "others"), MEANINGS)
def test_it_means_the_same_where_another_pattern_of_the_schema_looks_around(
    written: str, fitting: list[str], others: list[str]
) -> None:
    compiled = schema.compile(json.dumps({"pattern": written, "not": {"pattern": "(?!)"}}))

    assert [compiled.fits(text) for text in [*fitting, *others]] == [True] * len(fitting) + [False] * len(others)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not here")
def test_a_javascript_engine_says_the_same() -> None:
    script = r"""
        const cases = JSON.parse(require("fs").readFileSync(0, "utf8"));
        const regex = (text) => { try { return new RegExp(text, "u"); } catch { return new RegExp(text); } };
        console.log(JSON.stringify(cases.map(([text, values]) => values.map((value) => regex(text).test(value)))));
    """
    cases = [(written, fitting + others) for written, fitting, others in MEANINGS]

    told = subprocess.run(["node", "-e", script], input=json.dumps(cases), capture_output=True, text=True, check=True)

    assert json.loads(told.stdout) == [[True] * len(fitting) + [False] * len(others) for _, fitting, others in MEANINGS]


def test_a_boundary_is_found_in_a_long_text_too() -> None:
    assert verdicts(r"\bfoo\b", ["no " * 100_000 + "foo"]) == [True]


def test_a_member_is_told_by_a_name_that_matches_as_ecma_262_says() -> None:
    compiled = schema.compile(
        json.dumps({"patternProperties": {r"^(?!0)\d$": {"type": "integer"}}, "additionalProperties": False})
    )

    assert compiled.fits({"1": 1})
    assert not compiled.fits({"1": "x"})
    assert not compiled.fits({"１": 1})


@pytest.mark.parametrize("name", [r"^\d/~$", "^[a-z]$"])
def test_a_reference_may_lead_through_a_pattern(name: str) -> None:
    pointer = name.replace("~", "~0").replace("/", "~1").replace("^", "%5E").replace("\\", "%5C")
    properties = {"a": {"$ref": f"#/patternProperties/{pointer}/items"}}
    compiled = schema.compile(
        json.dumps({"properties": properties, "patternProperties": {name: {"items": {"type": "integer"}}}})
    )

    assert [violation.message for violation in compiled.violations({"a": "x"}, "it")][:1] == ["'a' must be integer"]


def test_people_are_told_of_a_pattern_as_it_was_written() -> None:
    compiled = schema.compile(json.dumps({"properties": {"zip": {"pattern": r"^(?!000)\d{3}$"}}}))

    (violation,) = compiled.violations({"zip": "１２３"}, "arguments")

    assert violation.message == r"'zip' must match the pattern ^(?!000)\d{3}$"


def test_the_place_of_a_fault_below_a_pattern_has_the_pattern_as_it_was_written() -> None:
    with pytest.raises(BadSchema, match=r'^patternProperties\["\^\\\\d"\]\.type: '):
        schema.compile(json.dumps({"patternProperties": {r"^\d": {"type": "strin"}}}))


@pytest.mark.parametrize("text", ["^[a-z]+$", "(", "(?i)x(?<ecma_zz>)", "(?i)x(?<ecma_abc>)"])
def test_what_was_left_as_it_is_is_told_as_it_is(text: str) -> None:
    assert pattern.as_written(text) == text


@pytest.mark.parametrize("value", [5, None, ["a"]])
def test_what_is_no_text_is_no_pattern(value: Any) -> None:
    with pytest.raises(BadSchema, match=r"^pattern: "):
        schema.compile(json.dumps({"pattern": value}))
    with pytest.raises(BadSchema, match=r"^patternProperties: "):
        schema.compile(json.dumps({"patternProperties": value}))


# --- what ECMA-262 does not take -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        (r"(?P<y>\d{4})", "'(?P' means nothing (character 1)"),
        ("(?i)abc", "'(?i' means nothing (character 1)"),
        ("(?>a)", "'(?>' means nothing (character 1)"),
        ("a++", "there is nothing that '+' could repeat (character 3)"),
        ("x{2}{3}", "there is nothing that '{3}' could repeat (character 5)"),
        ("(?=a)*", "there is nothing that '*' could repeat (character 6)"),
        (r"\b+", "there is nothing that '+' could repeat (character 3)"),
        ("a{3,2}", "the numbers of '{3,2}' are out of order (character 2)"),
        ("a{,3}", "'{,3' means nothing (character 2)"),
        (r"\Ax", r"'\A' means nothing (character 1)"),
        (r"x\Z", r"'\Z' means nothing (character 2)"),
        ("\\", "'\\' means nothing (character 1)"),
        (r"\pL", r"'\p' means nothing (character 1)"),
        (r"\00", r"'\0' means nothing (character 1)"),
        (r"\u{110000}", r"'\u' means nothing (character 1)"),
        (r"a\-b", r"'\-' must have no backslash (character 2)"),
        ("a]}", "']' must have a backslash (character 2)"),
        ("\\\n", "'\\\ufffd' means nothing (character 1)"),
        ("(a", "a group is not closed (character 3)"),
        ("a)", "')' closes no group (character 2)"),
        ("[a", "'[' is not closed (character 1)"),
        ("[z-a]", "a range in [] has no order (character 1)"),
        (r"[a-\d]", "a range in [] has no order (character 1)"),
        (r"[\d-z]", "a range in [] has no order (character 1)"),
        (r"\2(a)", "it refers back to a group that it does not have (character 6)"),
        (r"\k<b>(?<a>)", "it refers back to a group that it does not have (character 12)"),
        (r"(?<a>)(?<a>)", "a group has no name that may stand here, or that of another (character 7)"),
        ("(?<1>)", "a group has no name that may stand here, or that of another (character 1)"),
    ],
)
def test_what_is_no_ecma_262_is_told_with_its_place(written: str, fault: str) -> None:
    assert pattern.read(written).fault == fault
