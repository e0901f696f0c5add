from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_gateway import jsontext
from mcp_gateway.client import examples
from mcp_gateway.schema import compile as compiled


def made(schema: str) -> str:
    return bytes(examples.arguments(jsontext.parse(schema.encode()))).decode()


def of_property(**schema: Any) -> Any:
    document = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    return json.loads(made(json.dumps(document)))["a"]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "examples": ["근로", "b"], "default": "c"}, "근로"),
        ({"type": "string", "examples": [], "default": "c"}, "c"),
        ({"enum": ["x", "y"]}, "x"),
        ({"const": None}, None),
        ({"type": "string"}, "text"),
        ({"type": "string", "minLength": 6}, "textxx"),
        ({"type": "string", "maxLength": 2}, "te"),
        ({"type": "integer"}, 1),
        ({"type": "integer", "minimum": 5}, 5),
        ({"type": "number", "maximum": -2}, -2),
        ({"type": "boolean"}, True),
        ({"type": "null"}, None),
        ({"type": ["integer", "null"]}, 1),
        ({"type": "array"}, []),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 1}, [1]),
        ({"type": "object"}, {}),
        ({"properties": {"b": {"type": "boolean"}, "c": {}}, "required": ["b"]}, {"b": True}),
        ({"type": "object", "required": ["b"]}, {"b": "text"}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 1),
        ({}, "text"),
    ],
)
def test_a_required_argument_is_what_its_schema_says_first_and_makes_up_last(schema: Any, value: Any) -> None:
    assert of_property(**schema) == value


def test_optional_arguments_are_left_out() -> None:
    assert made('{"type": "object", "properties": {"a": {"type": "string"}}}') == "{}"


@pytest.mark.parametrize("number", ["1.10", "1E+400", "12345678901234567890123", "-0.0"])
def test_numbers_keep_their_value_and_digits(number: str) -> None:
    schema = f'{{"type": "object", "properties": {{"a": {{"default": [{{"n": {number}}}]}}}}, "required": ["a"]}}'
    assert made(schema) == f'{{"a":[{{"n":{number}}}]}}'


def test_references_within_the_schema_are_followed() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/x~1y"}, "b": {"$ref": "#/$defs/none/further"}},
        "required": ["a", "b"],
        "$defs": {"x/y": {"enum": ["found"]}},
    }
    assert json.loads(made(json.dumps(schema))) == {"a": "found", "b": "text"}


def test_a_schema_that_refers_to_itself_comes_to_an_end() -> None:
    schema = '{"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}'
    assert made(schema).count("next") < 20


@pytest.mark.parametrize(
    "schema",
    [
        "null",
        '{"type": "string"}',
        '{"required": "a"}',
        '{"properties": 1, "required": [1]}',
        '{"type": []}',
        '{"type": "array"}',
    ],
)
def test_a_schema_that_is_none_of_an_object_gives_no_arguments(schema: str) -> None:
    assert made(schema) == "{}"


def test_a_malformed_bound_of_a_foreign_gateway_does_no_harm() -> None:
    assert of_property(type="integer", minimum="x", maximum="y") == 1


def test_what_is_made_fits_a_usual_schema() -> None:
    tags = {"type": "array", "items": {"type": "string"}, "minItems": 1}
    schema = json.dumps(
        {
            "type": "object",
            "properties": {
                "query": {"type": "string", "minLength": 1},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50},
                "filter": {"type": "object", "properties": {"tags": tags}, "required": ["tags"]},
            },
            "required": ["query", "limit", "filter"],
        }
    )
    assert compiled(schema).violations(jsontext.parse(made(schema).encode()), "arguments") == ()
