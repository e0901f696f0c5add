"""A compiled schema: what fits, what does not and in which words, and that it agrees with the reference."""

from __future__ import annotations

import json
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_gateway import jsontext, schema
from mcp_gateway.schema import BadSchema


def compiled(definition: Any) -> schema.Schema:
    return schema.compile(json.dumps(definition))


def sentences(definition: Any, value: str) -> list[str]:
    found = compiled(definition).violations(jsontext.parse(value.encode()), "arguments")
    return [violation.message for violation in found]


# --- the words -------------------------------------------------------------------------------------------------------

ALTERNATIVES = {
    "anyOf": [{"type": "string"}, {"properties": {"id": {"type": "integer"}}, "required": ["id"], "type": "object"}]
}


@pytest.mark.parametrize(
    ("definition", "value", "wanted"),
    [
        ({"required": ["query"]}, "{}", ["'query' is required"]),
        ({"properties": {"filter": {"required": ["from"]}}}, '{"filter": {}}', ["'filter.from' is required"]),
        ({"properties": {"limit": {"type": "integer"}}}, '{"limit": "5"}', ["'limit' must be integer"]),
        ({"properties": {"limit": {"type": "integer"}}}, '{"limit": true}', ["'limit' must be integer"]),
        ({"properties": {"limit": {"type": "integer"}}}, '{"limit": 1.5}', ["'limit' must be integer"]),
        ({"properties": {"a": {"type": ["string", "null"]}}}, '{"a": 1}', ["'a' must be null or string"]),
        ({"properties": {"tags": {"items": {"type": "string"}}}}, '{"tags": ["a", 2, 3]}',
         ["'tags[1]' must be string", "'tags[2]' must be string"]),
        ({"properties": {"a b": {"type": "string"}}}, '{"a b": 1}', ["'[\"a b\"]' must be string"]),
        ({"properties": {"한글": {"type": "string"}}}, '{"한글": 1}', ["'한글' must be string"]),
        ({"additionalProperties": False}, '{"x": 1, "y": 2}', ["'x' is not allowed", "'y' is not allowed"]),
        ({"unevaluatedProperties": False}, '{"x": 1}', ["'x' is not allowed"]),
        ({"properties": {"a": False}}, '{"a": 1}', ["'a' is not allowed"]),
        ({"properties": {"a": {"enum": ["상", 1, None]}}}, '{"a": 2}', ["'a' must be one of \"상\", 1, null"]),
        ({"properties": {"a": {"const": {"b": 1}}}}, '{"a": 2}', ["'a' must be {\"b\": 1}"]),
        ({"properties": {"a": {"minimum": 1}}}, '{"a": 0}', ["'a' must be at least 1"]),
        ({"properties": {"a": {"maximum": 1}}}, '{"a": 1e400}', ["'a' must be at most 1"]),
        ({"properties": {"a": {"exclusiveMinimum": 1}}}, '{"a": 1}', ["'a' must be greater than 1"]),
        ({"properties": {"a": {"exclusiveMaximum": 1}}}, '{"a": 1}', ["'a' must be less than 1"]),
        ({"properties": {"a": {"multipleOf": 0.01}}}, '{"a": 0.005}', ["'a' must be a multiple of 0.01"]),
        ({"properties": {"a": {"minLength": 1}}}, '{"a": ""}', ["'a' must have at least 1 character"]),
        ({"properties": {"a": {"maxLength": 2}}}, '{"a": "한글날"}', ["'a' must have at most 2 characters"]),
        ({"properties": {"a": {"pattern": "^x"}}}, '{"a": "y"}', ["'a' must match the pattern ^x"]),
        ({"properties": {"a": {"minItems": 2}}}, '{"a": [1]}', ["'a' must have at least 2 items"]),
        ({"properties": {"a": {"maxItems": 1}}}, '{"a": [1, 2]}', ["'a' must have at most 1 item"]),
        ({"properties": {"a": {"uniqueItems": True}}}, '{"a": [1, 1.0]}', ["'a' must not have equal items"]),
        ({"properties": {"a": {"contains": {"type": "string"}}}}, '{"a": [1]}',
         ["'a' must contain the items that the schema asks for"]),
        ({"properties": {"a": {"prefixItems": [True], "unevaluatedItems": False}}}, '{"a": [1, 2]}',
         ["'a' has more items than the schema allows"]),
        ({"$schema": "http://json-schema.org/draft-07/schema#",
          "properties": {"a": {"items": [True], "additionalItems": False}}}, '{"a": [1, 2]}',
         ["'a' must have at most 1 item"]),
        ({"minProperties": 1}, "{}", ["arguments must have at least 1 member"]),
        ({"maxProperties": 0}, '{"a": 1}', ["arguments must have at most 0 members"]),
        ({"propertyNames": {"maxLength": 1}}, '{"ab": 1}', ["the name of 'ab' must have at most 1 character"]),
        ({"not": {"required": ["a"]}}, '{"a": 1}', ["arguments must not match the schema under 'not'"]),
        ({"dependentRequired": {"a": ["b"]}}, '{"a": 1}', ["'b' is required"]),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, '{"a": 1}', ["'b' is required"]),
        ({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}}, '{"a": []}',
         ["'a' must be string or integer"]),
        ({"properties": {"a": ALTERNATIVES}}, '{"a": {"id": "x"}}',
         ["'a' must match one of 2 alternatives (nearest: 'a.id' must be integer)"]),
        ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, '{"a": 1, "b": 1}',
         ["arguments matches more than one of the alternatives under 'oneOf'"]),
        ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, "{}",
         ["arguments must match one of 2 alternatives (nearest: 'a' is required)"]),
    ],
)  # fmt: skip
def test_a_violation_is_named_with_its_place_and_its_rule(definition: Any, value: str, wanted: list[str]) -> None:
    assert sentences(definition, value) == wanted


def test_every_violation_is_in_one_answer() -> None:
    definition = {"required": ["q"], "properties": {"limit": {"type": "integer"}, "sort": {"enum": ["asc", "desc"]}}}

    assert sorted(sentences(definition, '{"limit": "x", "sort": "up"}')) == [
        "'limit' must be integer",
        "'q' is required",
        '\'sort\' must be one of "asc", "desc"',
    ]


def test_ten_violations_are_enough() -> None:
    assert len(sentences({"items": {"type": "string"}}, str(list(range(50))))) == 10


MANY = [1] * schema.LISTED_VALUES
STRINGS = {"type": "array", "items": {"type": "string"}}
LONG = {f"member {number}": number for number in range(schema.LISTED_VALUES)}


@pytest.mark.parametrize(
    ("definition", "value", "wanted"),
    [
        (STRINGS, MANY, "'[0]' must be string"),
        ({"properties": {"a": {"$ref": "#/$defs/s"}}, "$defs": {"s": STRINGS}}, {"a": MANY}, "'a[0]' must be string"),
        ({"anyOf": [STRINGS, {"type": "null"}]}, MANY, "arguments must match one of 2 alternatives"),
        ({"oneOf": [STRINGS, {"type": "null"}]}, MANY, "arguments must match one of 2 alternatives"),
        ({"oneOf": [{}, True]}, MANY, "arguments matches more than one of the alternatives under 'oneOf'"),
        ({"required": ["a", "b"]}, LONG, "'a' is required"),
        ({"required": ["a", "b"]}, {"text": "x" * 256 * schema.LISTED_VALUES}, "'a' is required"),
        (
            {"anyOf": [STRINGS, {"type": "object"}], "properties": {"b": {"$ref": "#/anyOf/0/items"}}},
            {"b": MANY},
            "'b' must be string",
        ),
        (
            {"anyOf": [STRINGS, {"type": "object"}], "properties": {"b": {"$ref": "#/%61nyOf/0/items"}}},
            {"b": MANY},
            "arguments must fit the schema; too deep or too large to say where not",
        ),
    ],
)
def test_of_a_large_value_the_first_violation_is_enough(definition: Any, value: Any, wanted: str) -> None:
    checked = compiled(definition)
    for _ in range(2):  # the second one finds what the first one had to make
        assert [each.message for each in checked.violations(value, "arguments")] == [wanted]


@pytest.mark.parametrize("given", [MANY, LONG, {"a": {"b": MANY}}, ["x" * 256 * schema.LISTED_VALUES]])
def test_no_more_than_one_violation_of_a_large_value_is_ever_made(given: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    checked = compiled({"not": True})
    without = SimpleNamespace(is_valid=checked._validator.is_valid)  # and no iter_errors
    monkeypatch.setattr(checked, "_validator", without)
    assert len(checked.violations(given, "arguments")) == 1


def test_a_violation_never_holds_the_value() -> None:
    secret = "s3cret" * 100_000
    definition = {"properties": {"a": {"pattern": "^x"}, "b": {"maxLength": 1}, "c": {"enum": ["x"]}}}

    words = " ".join(sentences(definition, json.dumps({"a": secret, "b": secret, "c": secret})))

    assert "s3cret" not in words
    assert len(words) < 1000


def test_long_names_and_rules_are_cut() -> None:
    name = "n" * 10_000

    (strange,) = sentences({"additionalProperties": False}, json.dumps({name: 1}))
    (rule,) = sentences({"properties": {"a": {"enum": [name, "b"]}}}, '{"a": 1}')

    assert len(strange) < 150
    assert len(rule) < 250


def test_a_violation_says_path_and_keyword_for_machines() -> None:
    (violation,) = compiled({"properties": {"a": {"items": {"type": "string"}}}}).violations({"a": [1]}, "arguments")

    assert (violation.path, violation.keyword) == ("a[0]", "type")


def test_a_keyword_without_words_of_its_own_is_named() -> None:
    media = {"contentEncoding": "base64", "$schema": "http://json-schema.org/draft-07/schema#"}

    assert sentences({**media, "properties": {}}, '"%"') == ["arguments violates 'contentEncoding' of the schema"]


# --- patterns and numbers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        (r"^\d+$", "12", True),
        (r"^\d+$", "１２", False),
        (r"^\d{5}$", "04524\n", False),
        (r"^\w+$", "한글", False),
        (r"^\p{L}+$", "한글", True),
        (r"^\p{Script=Hangul}+$", "한글", True),
        (r"^\u{1F600}$", "😀", True),
        (r"^.$", "😀", True),
        (r"^(?=.*[0-9])(?=.*[a-z]).{4,}$", "abc1", True),
        (r"^(?=.*[0-9])(?=.*[a-z]).{4,}$", "abcd", False),
        (r"^(?<year>[0-9]{4})-", "2026-", True),
    ],
)
def test_patterns_mean_what_ecma_262_says(pattern: str, text: str, fits: bool) -> None:
    assert compiled({"pattern": pattern}).fits(text) is fits


@pytest.mark.parametrize("pattern", [r"^(a+)+$", r"^((?=a)a+)+$", r"^(?:(a+)\1?)+$"])
def test_a_pattern_that_would_backtrack_for_ever_is_no_match_soon(pattern: str) -> None:
    assert not compiled({"items": {"pattern": pattern}}).fits(["a" * 2000 + "!"] * 20)


def test_a_pattern_that_gave_up_says_so() -> None:
    assert sentences({"properties": {"a": {"pattern": r"^((?=a)a+)+$"}}}, json.dumps({"a": "a" * 200 + "!"})) == [
        "'a' takes too long to match against its pattern"
    ]


@pytest.mark.parametrize(("number", "fits"), [("19.99", True), ("0.07", True), ("19.995", False), ("1e400", True)])
def test_multiples_of_a_decimal_are_exact(number: str, fits: bool) -> None:
    assert compiled({"multipleOf": 0.01}).fits(Decimal(number)) is fits


@pytest.mark.parametrize("number", ["9" * 5000, "1e400", "3.0", "-12345678901234567890123", "1e999999999"])
def test_integers_are_integers_however_long_or_written(number: str) -> None:
    assert compiled({"type": "integer"}).fits(jsontext.parse(number.encode()))


def test_bounds_beyond_a_double_are_exact() -> None:
    limit = compiled({"maximum": 9007199254740993})

    assert limit.fits(9007199254740993)
    assert not limit.fits(9007199254740994)


def test_a_format_is_a_hint_and_not_asserted() -> None:
    assert compiled({"format": "email"}).fits("no address")


def test_a_recursive_schema_takes_two_hundred_levels() -> None:
    value: Any = {}
    for _ in range(200):
        value = {"next": value}

    assert compiled({"properties": {"next": {"$ref": "#"}}}).fits(value)


def test_what_is_wrong_with_a_value_too_deep_for_the_engine_is_still_said_in_words() -> None:
    value: Any = []
    for _ in range(300):
        value = [value]

    (violation,) = compiled({"required": ["b"]}).violations({"a": value}, "arguments")

    assert violation.message == "arguments must fit the schema; too deep or too large to say where not"


def test_an_integer_too_long_for_the_engine_to_write_is_still_held_to_the_schema() -> None:
    bounded = compiled({"properties": {"n": {"maximum": 10}}})

    assert bounded.violations({"n": Decimal("9" * 4400)}, "arguments")
    assert not bounded.violations({"n": Decimal("-" + "9" * 4400)}, "arguments")


# --- schemas that cannot be used -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("definition", "why"),
    [
        ("true", "it must be a JSON object"),
        ("[]", "it must be a JSON object"),
        ('{"$schema": "http://json-schema.org/draft-04/schema#"}', r"\$schema: only the dialects"),
        ('{"$schema": 5}', r"\$schema: only the dialects"),
        ('{"type": "strin"}', "^type: "),
        ('{"properties": {"a": {"required": "b"}}}', "^properties.a.required: "),
        ('{"properties": {"a": {"pattern": "("}}}', "^properties.a.pattern: .*no ECMA-262 regular expression"),
        ('{"$ref": "http://127.0.0.1:1/x"}', "leaves the document and is never fetched"),
        ('{"$ref": "file:///etc/passwd"}', "leaves the document"),
        ('{"properties": {"a": {"items": {"$ref": "other.json"}}}}', r"^properties.a.items.\$ref: 'other.json'"),
        ('{"$ref": "https://json-schema.org/draft/2020-12/schema"}', "leaves the document"),
        ('{"$dynamicRef": "http://x/#y"}', r"\$dynamicRef: .*leaves the document"),
        ('{"$ref": "#/$defs/nowhere"}', r"^\$ref: '#/\$defs/nowhere' does not exist"),
        ('{"$ref": "#/a%20b"}', "does not exist"),
        ('{"properties": {"a": true, "b": {"$ref": "#anchor"}}}', r"^properties.b.\$ref: '#anchor' does not exist"),
        ('{"properties": {"a": {"$dynamicRef": "#x"}}}', r"^properties.a.\$dynamicRef: '#x' does not exist"),
        ('{"items": {"$dynamicRef": "#/$defs/no"}}', r"^items.\$dynamicRef: '#/\$defs/no' does not exist"),
        ('{"minimum": "1"}', "^minimum: "),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused_with_the_place(definition: str, why: str) -> None:
    with pytest.raises(BadSchema, match=why):
        schema.compile(definition)


@pytest.mark.parametrize(
    "reference", ["https://tools.example/schemas/size", "size", "/schemas/size", "size#/$defs/small", "size#small"]
)
def test_a_reference_may_name_a_schema_inside_the_document_by_its_id(reference: str) -> None:
    size = {"$id": "size", "enum": ["S"], "$defs": {"small": {"$anchor": "small", "const": "S"}}}
    definition = {
        "$id": "https://tools.example/schemas/",
        "properties": {"size": {"$ref": reference}},
        "$defs": {"s": size},
    }

    assert sentences(definition, '{"size": "S"}') == []
    assert len(sentences(definition, '{"size": "XL"}')) == 1


@pytest.mark.parametrize(
    ("definition", "why"),
    [
        ('{"$id": "https://a.example/", "$ref": "size"}', r"^\$ref: 'size' leaves the document"),
        ('{"$id": "https://a.example/", "$ref": "#/$defs/nowhere"}', r"^\$ref: '#/\$defs/nowhere' does not exist"),
        ('{"$id": "https://[", "$ref": "https://["}', "Invalid URI reference"),
        ('{"$id": "https://a.example/", "$ref": "https://["}', r"^\$ref: 'https://\[' leaves the document"),
    ],
)
def test_an_id_does_not_open_what_lies_outside(definition: str, why: str) -> None:
    with pytest.raises(BadSchema, match=why):
        schema.compile(definition)


def test_names_of_properties_and_data_are_not_taken_for_references() -> None:
    schema.compile('{"properties": {"$ref": {"type": "string"}}, "default": {"$ref": "x"}, "enum": [{"$ref": "y"}]}')


def test_a_schema_may_be_bytes_and_hold_numbers_of_any_length() -> None:
    digits = b"9" * 5000

    assert schema.compile(b'{"maximum": ' + digits + b"}").fits(1)


def test_every_place_that_holds_a_schema_is_visited() -> None:
    definition = {
        "properties": {"a": {"items": [{"not": {"title": "deep"}}]}},
        "$defs": {"b c": True},
        "allOf": [{"if": {}, "then": {"items": {}}}],
        "enum": [{"properties": {"x": {}}}],
        "items": "no schema",
        "anyOf": "no list",
        "definitions": "no object",
    }

    assert [place for place, _ in schema.subschemas(definition)] == [
        "",
        "properties.a",
        "properties.a.items[0]",
        "properties.a.items[0].not",
        '$defs["b c"]',
        "allOf[0]",
        "allOf[0].if",
        "allOf[0].then",
        "allOf[0].then.items",
        "items",
    ]


# --- the reference ---------------------------------------------------------------------------------------------------

SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "a", "ab", "한글", "1"])
INSTANCES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "object", "array"])
SIMPLE = st.one_of(
    st.booleans(),
    st.fixed_dictionaries({"type": TYPES}),
    st.fixed_dictionaries({"type": st.lists(TYPES, min_size=1, max_size=3, unique=True)}),
    st.fixed_dictionaries({"enum": st.lists(SCALARS, min_size=1, max_size=3)}),
    st.fixed_dictionaries({"const": INSTANCES}),
    st.fixed_dictionaries({}, optional={"minimum": st.integers(-5, 5), "exclusiveMaximum": st.integers(-5, 5)}),
    st.fixed_dictionaries({"multipleOf": st.integers(1, 4)}),
    st.fixed_dictionaries({}, optional={"minLength": st.integers(0, 2), "maxLength": st.integers(0, 2)}),
    st.fixed_dictionaries({"pattern": st.sampled_from(["^a", "b$", "[0-9]", "a|한"])}),
    st.fixed_dictionaries({}, optional={"minItems": st.integers(0, 2), "maxItems": st.integers(0, 2)}),
    st.fixed_dictionaries({"uniqueItems": st.booleans()}),
    st.fixed_dictionaries({"required": st.lists(st.sampled_from("abc"), max_size=2, unique=True)}),
    st.fixed_dictionaries({}, optional={"minProperties": st.integers(0, 2), "maxProperties": st.integers(0, 2)}),
    st.fixed_dictionaries({"dependentRequired": st.just({"a": ["b"]})}),
)
DEFINITIONS = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        st.fixed_dictionaries(
            {"properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=2)},
            optional={"additionalProperties": inner, "propertyNames": inner, "unevaluatedProperties": inner},
        ),
        st.fixed_dictionaries({"items": inner}, optional={"prefixItems": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"contains": inner}, optional={"minContains": st.integers(0, 2)}),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"oneOf": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"not": inner}),
        st.fixed_dictionaries({"if": inner, "then": inner, "else": inner}),
    ),
    max_leaves=5,
)


@given(DEFINITIONS.filter(lambda definition: isinstance(definition, dict)), INSTANCES)
def test_it_agrees_with_the_reference(definition: dict[str, Any], instance: Any) -> None:
    reference = jsonschema.Draft202012Validator(definition).is_valid(instance)

    checked = compiled(definition)

    assert checked.fits(instance) is reference
    assert (checked.violations(instance, "the value") == ()) is reference
    assert schema._terse(json.dumps(definition).encode()).is_valid(instance) is reference
