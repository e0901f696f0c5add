"""A Schema Object as JSON Schema 2020-12 that stands alone."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openapi.samples import a_property, body, document, input_schema, only, post, tool, translated

from mcp_gateway.openapi import schemas
from mcp_gateway.openapi.faults import Unusable
from mcp_gateway.openapi.translation import translate


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "string", "nullable": False}, {"type": "string"}),
        (
            {"type": "string", "enum": ["a"], "nullable": True},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        (
            {"type": "string", "enum": ["a", None], "nullable": True},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        (
            {"oneOf": [{"type": "string"}], "nullable": True, "description": "d"},
            {"description": "d", "anyOf": [{"oneOf": [{"type": "string"}]}, {"type": "null"}]},
        ),
        ({"nullable": True, "description": "d"}, {"description": "d"}),
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"minimum": 1, "exclusiveMinimum": False}, {"minimum": 1}),
        ({"maximum": 9, "exclusiveMaximum": True}, {"exclusiveMaximum": 9}),
        ({"type": "string", "example": "홍길동"}, {"type": "string", "examples": ["홍길동"]}),
        ({"type": "object", "example": {"a": [1]}}, {"type": "object", "examples": [{"a": [1]}]}),
        ({"xml": {"name": "a"}, "externalDocs": {"url": "https://a.example"}, "x-order": 1}, {}),
        ({"discriminator": {"propertyName": "kind"}, "type": "object"}, {"type": "object"}),
        ({"type": "string", "x-mcp-header": "Region"}, {"type": "string", "x-mcp-header": "Region"}),
        ({"type": "string", "format": "uuid", "default": "x"}, {"type": "string", "format": "uuid", "default": "x"}),
        (
            {"additionalProperties": {"type": "string", "nullable": True}},
            {"additionalProperties": {"type": ["string", "null"]}},
        ),
        ({"not": {"example": 1, "type": "string"}}, {"not": {"type": "string", "examples": [1]}}),
        ({"default": {"nullable": True, "example": 1}}, {"default": {"nullable": True, "example": 1}}),
    ],
)
def test_the_words_of_3_0_are_translated(old: Any, new: Any) -> None:
    assert a_property(old) == new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        ({"exclusiveMinimum": 1, "minimum": 0}, {"exclusiveMinimum": 1, "minimum": 0}),
        ({"examples": [1], "example": 2}, {"examples": [1]}),
        ({"$id": "https://a.example/x", "$schema": "https://a.example", "const": 1}, {"const": 1}),
        ({"prefixItems": [True, {"example": 1}]}, {"prefixItems": [True, {"examples": [1]}]}),
        ({"patternProperties": {"^a": {"example": 1}}}, {"patternProperties": {"^a": {"examples": [1]}}}),
        (True, {}),
        (False, {"not": {}}),
    ],
)
def test_what_3_1_says_stays_as_it_is(old: Any, new: Any) -> None:
    assert a_property(old, version="3.1.0") == new


def test_a_reference_comes_along_as_a_definition() -> None:
    made = input_schema(
        {"type": "object", "properties": {"a": {"$ref": "#/components/schemas/A"}}},
        A={"type": "object", "properties": {"b": {"$ref": "#/components/schemas/B"}}},
        B={"type": "string", "nullable": True},
        Unused={"type": "string"},
    )
    assert made["properties"]["a"] == {"$ref": "#/$defs/A"}
    assert made["$defs"] == {
        "A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}},
        "B": {"type": ["string", "null"]},
    }


def test_a_schema_that_holds_itself_stays_one_that_does() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}}}
    made = input_schema({"$ref": "#/components/schemas/Node"}, Node=node)
    assert made == {
        "type": "object",
        "properties": {"next": {"$ref": "#/$defs/Node"}},
        "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
    }


def test_names_of_definitions_are_legal_and_unique_in_a_pointer() -> None:
    names = ["Page«User»", "Page_User", "a/b~c", "주문"]
    pointers = [name.replace("~", "~0").replace("/", "~1") for name in names]
    schema = {
        "type": "object",
        "properties": {n: {"$ref": f"#/components/schemas/{p}"} for n, p in zip("abcd", pointers, strict=True)},
    }
    whole = document(post(schema), version="3.1.0")
    whole["components"] = {"schemas": {"Page_User": {}}}
    inner = {name: {"type": "string"} for name in names}
    whole["components"]["schemas"]["Holder"] = {"$defs": inner}
    text = json.dumps(whole).replace("#/components/schemas/", "#/components/schemas/Holder/$defs/")
    (operation,) = translate(text.encode()).operations
    assert operation.tool
    assert list(operation.tool["inputSchema"]["$defs"]) == ["Page_User", "Page_User_2", "a_1b_0c", "root"]


def test_the_description_beside_a_reference_is_kept_and_in_3_1_everything_else() -> None:
    beside = {"$ref": "#/components/schemas/A", "description": "d", "minLength": 2}
    schema = {"type": "object", "properties": {"a": beside}}
    old = input_schema(schema, A={"type": "string"})["properties"]["a"]
    new = input_schema(schema, version="3.1.0", A={"type": "string"})["properties"]["a"]
    assert old == {"$ref": "#/$defs/A", "description": "d"}
    assert new == {"$ref": "#/$defs/A", "description": "d", "minLength": 2}


def test_what_only_the_answer_holds_is_no_argument_and_what_only_goes_in_is_no_answer() -> None:
    order = {
        "allOf": [{"$ref": "#/components/schemas/Base"}],
        "required": ["id", "word", "created", "lines"],
        "properties": {
            "created": {"$ref": "#/components/schemas/Stamp"},
            "word": {"type": "string", "writeOnly": True},
            "lines": {"type": "integer"},
        },
    }
    base = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string", "readOnly": True}}}
    components = {"schemas": {"Order": order, "Base": base, "Stamp": {"type": "string", "readOnly": True}}}
    reference = {"$ref": "#/components/schemas/Order"}
    made = tool(
        document(post(reference, responses={"201": {"description": "d", **body(reference)}}), components=components)
    )
    assert made["inputSchema"]["required"] == ["word", "lines"]
    assert list(made["inputSchema"]["properties"]) == ["word", "lines"]
    assert made["inputSchema"]["$defs"] == {"Base": {"type": "object", "properties": {}}}
    assert made["outputSchema"]["required"] == ["id", "created", "lines"]
    assert list(made["outputSchema"]["properties"]) == ["created", "lines"]
    assert made["outputSchema"]["$defs"]["Base"]["required"] == ["id"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": ["object", "null"]},
        {"properties": {}},
        {"allOf": [{"description": "d"}, {"type": "object"}]},
        {"oneOf": [{"type": "object"}, {"properties": {}}]},
        {"anyOf": [{"type": "object"}]},
        {"type": "object", "nullable": True},
    ],
)
def test_what_is_the_schema_of_an_object_has_that_type_at_its_root(schema: Any) -> None:
    assert input_schema(schema, version="3.1.0")["type"] == "object"


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {"type": "string"},
        {"type": ["string", "null"]},
        {"allOf": [{"type": "string"}]},
        {"oneOf": [{"type": "object"}, {"type": "string"}]},
        {"anyOf": []},
        {"allOf": 3},
        {"allOf": [{"$ref": "#/paths/~1search/post/requestBody/content/application~1json/schema"}]},
    ],
)
def test_what_is_not_the_schema_of_an_object_gives_no_tool(schema: Any) -> None:
    assert "arguments of a tool are an object" in only(document(post(schema), version="3.1.0")).reason


def test_a_reference_out_of_a_schema_is_a_reason_and_never_fetched() -> None:
    for reference in ("http://127.0.0.1:9/x.json", "other.yaml#/A"):
        schema = {"type": "object", "properties": {"a": {"items": {"$ref": reference}}}}
        assert "never fetched" in only(document(post(schema))).reason


# --- hostile schemas -------------------------------------------------------------------------------------------------


def test_schemas_that_multiply_by_their_references_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schemas, "MAX_VALUES", 5_000)
    links = {f"A{n}": {"allOf": [{"$ref": f"#/components/schemas/A{n + 1}"}] * 2} for n in range(40)}
    whole = document(
        post({"$ref": "#/components/schemas/A0"}), components={"schemas": {**links, "A40": {"type": "string"}}}
    )
    with pytest.raises(Unusable, match="hold more than 5000 values"):
        translated(whole)


def test_schemas_that_are_part_of_one_another_without_end_are_refused() -> None:
    links = {f"A{n}": {"allOf": [{"$ref": f"#/components/schemas/A{n + 1}"}]} for n in range(60)}
    schemas_ = {**links, "A60": {"type": "object"}}
    reason = only(document(post({"$ref": "#/components/schemas/A0"}), components={"schemas": schemas_})).reason
    assert reason == f"more than {schemas.MAX_ANCESTORS} of its schemas are part of one another"


def test_a_document_that_writes_much_for_each_of_many_operations_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schemas, "MAX_VALUES", 5_000)
    big = {"type": "object", "properties": {f"p{n}": {"type": "string", "maxLength": 9} for n in range(100)}}
    paths = {f"/{n}": {"post": post({"$ref": "#/components/schemas/Big"}, operationId=f"o{n}")} for n in range(100)}
    with pytest.raises(Unusable, match="hold more than 5000 values"):
        translated(document(components={"schemas": {"Big": big}}) | {"paths": paths})


def test_two_schemas_that_inherit_from_each_other_end() -> None:
    schemas_ = {
        "A": {"type": "object", "allOf": [{"$ref": "#/components/schemas/B"}]},
        "B": {"type": "object", "allOf": [{"$ref": "#/components/schemas/A"}]},
    }
    assert "A" in input_schema({"$ref": "#/components/schemas/A"}, **schemas_)["$defs"]


KEYWORDS = (
    "$ref $defs allOf anyOf oneOf not items type properties required nullable enum minimum exclusiveMinimum example "
    "examples readOnly additionalProperties patternProperties description default x-a x-mcp-header"
).split()
REFERENCES = st.sampled_from(
    ["#", "#/", "#/components/schemas/A", "#/components/schemas/A/items", "#/info/title", "a.json"]
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.sampled_from(["object", "string", "a"]) | REFERENCES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(ANYTHING, ANYTHING)
def test_whatever_stands_where_schemas_are_expected_there_is_a_schema_or_a_reason(root: Any, other: Any) -> None:
    # 3.1 leaves schemas to a dialect, so its validator lets anything but a wrong outer shape through.
    objects = [each if isinstance(each, dict) else {"type": "object", "a": each} for each in (root, other)]
    whole = document(post(objects[0]), version="3.1.0", components={"schemas": {"A": objects[1]}})
    operation = only(whole)
    assert bool(operation.tool) != bool(operation.reason)
    if operation.tool:
        assert operation.tool["inputSchema"]["type"] == "object"


@given(st.sampled_from([None, "a", 5, 9.5, ["a"], {}, {"b": "x"}, {"b": None}, {"c": 5, "b": "y"}]))
def test_a_translated_schema_judges_as_the_old_one_was_meant(value: Any) -> None:
    made = input_schema(
        {"type": "object", "properties": {"a": {"$ref": "#/components/schemas/A"}}},
        A={
            "type": "object",
            "nullable": True,
            "required": ["b"],
            "properties": {"b": {"type": "string", "nullable": True}, "c": {"minimum": 5, "exclusiveMinimum": True}},
        },
    )
    right = value is None or (isinstance(value, dict) and "b" in value and value.get("c") != 5)
    assert jsonschema_rs.validator_for(made).is_valid({"a": value}) is right
