from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mcp_gateway.sample_tool_service import manifest
from mcp_gateway.sample_tool_service.checking import KNOWN_KEYWORDS

PROJECT = Path(__file__).parents[2]
TOOLS: list[dict[str, Any]] = json.loads(manifest.load().text)["tools"]
each_tool = pytest.mark.parametrize("tool", TOOLS, ids=[tool["name"] for tool in TOOLS])


def schemas_in(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for member in schema.get("properties", {}).values():
        yield from schemas_in(member)
    if "items" in schema:
        yield from schemas_in(schema["items"])


def test_the_sample_in_config_is_the_manifest_exactly_as_served() -> None:
    sample = PROJECT / "config" / "local-core-tools-manifest-sample-v1.json"
    assert sample.read_bytes() == manifest.load().text


@each_tool
def test_every_schema_is_a_valid_2020_12_schema_of_an_object(tool: dict[str, Any]) -> None:
    for name in {"inputSchema", "outputSchema"} & tool.keys():
        Draft202012Validator.check_schema(tool[name])
        assert tool[name]["type"] == "object"


@each_tool
def test_every_property_of_every_schema_has_a_description(tool: dict[str, Any]) -> None:
    for name in {"inputSchema", "outputSchema"} & tool.keys():
        for schema in list(schemas_in(tool[name]))[1:]:
            inner_object_of_a_list = schema["type"] == "object" and "required" in schema
            assert schema.get("description") or inner_object_of_a_list, schema


@each_tool
def test_every_keyword_of_an_input_schema_is_one_that_the_service_checks(tool: dict[str, Any]) -> None:
    for schema in schemas_in(tool["inputSchema"]):
        assert schema.keys() <= KNOWN_KEYWORDS
        assert schema["type"] != "object" or schema["additionalProperties"] is False
        assert schema.get("format", "date") == "date"


@each_tool
def test_every_tool_says_what_it_is(tool: dict[str, Any]) -> None:
    assert tool["name"].startswith("core.")
    assert tool["title"]
    assert tool["description"]
    assert isinstance(tool["annotations"]["readOnlyHint"], bool)
    assert 1 <= tool["timeoutMs"] <= 10_000
    assert tool["_meta"]["version"]


def test_only_the_tool_that_adds_a_note_is_said_to_write() -> None:
    writing = [tool for tool in TOOLS if not tool["annotations"]["readOnlyHint"]]
    assert [tool["name"] for tool in writing] == ["core.add_note"]
    assert writing[0]["annotations"]["idempotentHint"] is False
    assert writing[0]["annotations"]["destructiveHint"] is False


def test_every_tool_has_an_endpoint_of_its_own_and_something_behind_it(service: Any) -> None:
    by_endpoint = service.server.manifest.by_endpoint
    assert len(by_endpoint) == len(TOOLS)
    assert {entry.name for entry in by_endpoint.values()} == set(service.server.tools)
