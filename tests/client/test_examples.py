from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_gateway import jsontext
from mcp_gateway.client import examples
from mcp_gateway.schema import compile as compiled


def anything(_: Any) -> bool:
    return True


def made(schema: str, fits: examples.Fits = anything) -> str:
    return bytes(examples.arguments(jsontext.parse(schema.encode()), fits)).decode()


def fitting(**schema: Any) -> Any:
    """Make arguments for a schema of an object, and hold them to it."""
    document = json.dumps({"type": "object", **schema})
    ready = compiled(document)
    text = made(document, ready.fits)
    assert ready.violations(jsontext.parse(text.encode()), "arguments") == ()
    return json.loads(text)


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
        ({"type": "number", "exclusiveMinimum": 5}, 6),
        ({"type": "integer", "multipleOf": 7}, 7),
        ({"type": "boolean"}, True),
        ({"type": "null"}, None),
        ({"type": ["integer", "null"]}, 1),
        ({"type": "array"}, []),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 1}, [1]),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, [1, 1]),
        ({"type": "array", "prefixItems": [{"type": "string"}, {"const": 2}], "items": False}, ["text", 2]),
        ({"type": "array", "items": [{"const": 1}], "additionalItems": {"const": 2}, "minItems": 2}, [1, 2]),
        ({"minItems": 1}, ["text"]),
        ({"type": "object"}, {}),
        ({"properties": {"b": {"type": "boolean"}, "c": {}}, "required": ["b"]}, {"b": True}),
        ({"type": "object", "required": ["b"]}, {"b": "text"}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 1),
        ({"type": "object", "properties": {"b": {}, "c": {}}, "minProperties": 1}, {"b": "text"}),
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
        '{"properties": {"n": {"type": "decimal"}}, "required": ["n"]}',
    ],
)
def test_a_schema_that_is_none_of_an_object_gives_no_arguments(schema: str) -> None:
    assert made(schema) == "{}"


def test_a_malformed_bound_of_a_foreign_gateway_does_no_harm() -> None:
    assert of_property(type="integer", minimum="x", maximum="y") == 1


ID, NAME = {"id": {"type": "integer"}}, {"name": {"type": "string"}}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"properties": ID | NAME, "oneOf": [{"required": ["id"]}, {"required": ["name"]}]}, {"id": 1}),
        ({"properties": ID | NAME, "anyOf": [{"required": ["name"]}, {"required": ["id"]}]}, {"name": "text"}),
        ({"oneOf": [{"properties": ID, "required": ["id"]}, {"properties": NAME, "required": ["name"]}]}, {"id": 1}),
        (
            {"properties": NAME, "required": ["name"], "oneOf": [{"properties": ID, "required": ["id"]}]},
            {"name": "text", "id": 1},
        ),
        (
            {"properties": ID, "required": ["id"], "allOf": [{"properties": NAME, "required": ["name"]}]},
            {"id": 1, "name": "text"},
        ),
        ({"oneOf": [False, {"type": "string"}, {"properties": NAME, "required": ["name"]}]}, {"name": "text"}),
        (
            {
                "properties": {"a": {"type": "number"}},
                "anyOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]}],
            },
            {"a": 1},
        ),
    ],
)
def test_a_choice_at_the_root_is_taken_together_with_what_stands_beside_it(schema: Any, value: Any) -> None:
    assert fitting(**schema) == value


def test_another_value_is_tried_where_the_first_would_fit_two_branches_of_which_one_may() -> None:
    assert fitting(
        required=["n"], oneOf=[{"properties": {"n": {"type": "integer"}}}, {"properties": {"n": {"minimum": 1}}}]
    ) == {"n": 0}


def test_a_tagged_union_begins_with_its_first_tag() -> None:
    tags = {"kind": {"enum": ["a", "b"], "examples": ["b"]}}
    branches = [
        {"properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}, "required": ["x"]},
        {"properties": {"kind": {"const": "b"}}},
    ]
    assert fitting(properties=tags, required=["kind"], oneOf=branches) == {"kind": "a", "x": 1}


def test_a_condition_is_taken_as_a_choice() -> None:
    country = {"properties": {"country": {"const": "KR"}}, "required": ["country"]}
    assert fitting(**{"if": country, "then": {"required": ["zip"]}, "required": ["country"]}) == {
        "country": "KR",
        "zip": "text",
    }


def test_items_that_must_differ_do() -> None:
    tags = {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2, "uniqueItems": True}
    assert fitting(properties={"tags": tags}, required=["tags"]) == {"tags": ["b", "a"]}


def test_a_schema_that_holds_itself_ends_where_it_may() -> None:
    follows = {"anyOf": [{"$ref": "#"}, {"type": "null"}]}
    assert fitting(properties={"next": follows}, required=["next"]) == {"next": None}
    node = {
        "type": "object",
        "properties": {"left": follows, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
    }
    node["required"] = ["left", "children"]
    assert fitting(properties={"tree": {"$ref": "#/$defs/node"}}, required=["tree"], **{"$defs": {"node": node}}) == {
        "tree": {"left": None, "children": []}
    }


def test_a_reference_may_be_followed_again_beside_itself() -> None:
    base = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    reference = {"$ref": "#/$defs/base"}
    assert fitting(
        allOf=[reference], properties={"parent": reference}, required=["parent"], **{"$defs": {"base": base}}
    ) == {
        "parent": {"id": 1},
        "id": 1,
    }


def test_references_go_through_lists_and_escapes() -> None:
    schema = {"allOf": [{"type": "object"}, {"properties": {"값": {"const": 1}}}]}
    schema |= {"properties": {"a": {"$ref": "#/allOf/1/properties/%EA%B0%92"}, "b": {"$ref": "other.json"}}}
    assert json.loads(made(json.dumps(schema | {"required": ["a", "b"]}))) == {"a": 1, "b": "text"}


def test_references_that_multiply_are_not_followed_for_ever() -> None:
    names = [f"m{number}" for number in range(10)]
    wide = {
        f"d{level}": {
            "type": "object",
            "properties": {name: {"$ref": f"#/$defs/d{level + 1}"} for name in names},
            "required": names,
        }
        for level in range(8)
    }
    schema = {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": wide}
    assert made(json.dumps(schema)) == "{}"


def test_a_schema_that_is_nested_deeply_comes_to_an_end() -> None:
    schema: dict[str, Any] = {"const": 1}
    for _ in range(100):
        schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    assert made(json.dumps(schema)) == "{}"
    assert made(json.dumps({"type": "object", "allOf": [{}] * 1000})) == "{}"


def test_what_nobody_could_make_up_is_begun_for_a_person_to_mend() -> None:
    schema = {
        "type": "object",
        "properties": {"code": {"type": "string", "pattern": "^[A-Z]{3}$"}},
        "required": ["code"],
    }
    assert json.loads(made(json.dumps(schema), compiled(json.dumps(schema)).fits)) == {"code": "text"}


@pytest.mark.parametrize("number", [9 * 10**4298, -(9 * 10**4298)])
def test_a_bound_of_thousands_of_digits_is_left_alone(number: int) -> None:
    bounds = {"type": "integer", "exclusiveMinimum": number, "exclusiveMaximum": number}
    assert of_property(**bounds) == 1
