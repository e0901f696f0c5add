"""Every fault and every warning of a tool has a rule that says why and how to mend it, and the page shows them all."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from registry.samples import manifest, tool

from mcp_gateway.config.model import Route, ToolService
from mcp_gateway.protocol import eras
from mcp_gateway.registry import findings
from mcp_gateway.registry.findings import Rule
from mcp_gateway.registry.manifest import read
from mcp_gateway.registry.snapshot import Tool

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "contracts" / "manifest-findings.md").read_text("utf-8")


def schema(**properties: Any) -> dict[str, Any]:
    return {"inputSchema": {"type": "object", "properties": properties}}


FAULTS: list[tuple[str, Any]] = [
    ("name", {"name": "has a space"}),
    ("name", {"name": 1}),
    ("title", {"title": None}),
    ("description", {"description": None}),
    ("input-schema-root", {"inputSchema": None}),
    ("input-schema-root", {"inputSchema": {}}),
    ("input-schema-root", {"inputSchema": {"type": ["object", "null"]}}),
    ("property-schema", schema(limit=True)),
    ("property-schema", schema(**{"a b": True})),
    ("property-schema", {"inputSchema": {"type": "object", "properties": []}}),
    ("required", {"inputSchema": {"type": "object", "required": "query"}}),
    ("required", {"inputSchema": {"type": "object", "required": [1]}}),
    ("required", {"inputSchema": {"type": "object", "required": ["a", "a"]}}),
    ("schema", schema(limit={"type": "int"})),
    ("schema", schema(limit={"required": True})),
    ("schema", {"outputSchema": {"type": "object", "properties": {"a": {"minimum": "1"}}}}),
    ("output-schema", {"outputSchema": True}),
    ("dialect", {"inputSchema": {"type": "object", "$schema": "draft-4"}}),
    ("reference", schema(a={"$ref": "https://other.example/x"})),
    ("reference", schema(a={"items": {"$ref": "#/$defs/none"}})),
    ("reference", schema(a={"$dynamicRef": "#none"})),
    ("pattern", schema(a={"pattern": "("})),
    ("pattern", schema(a={"patternProperties": {"(": {}}})),
    ("pattern", schema(a={"patternProperties": {"a++a{": {}}})),
    ("schema", schema(a={"patternProperties": {"a": {"type": "int"}}})),
    ("schema", schema(a={"patternProperties": []})),
    ("schema", schema(pattern={"type": "int"})),
    ("header-mark", schema(a={"type": "number", "x-mcp-header": "A"})),
    ("header-mark", schema(a={"type": "string", "x-mcp-header": "a b"})),
    ("annotations", {"annotations": None}),
    ("annotations", {"annotations": {"readOnlyHint": "yes"}}),
    ("icons", {"icons": {}}),
    ("icons", {"icons": [{"src": "http://x/a.png"}]}),
    ("endpoint", {"endpoint": "tools"}),
    ("endpoint", {"endpoint": "/../x"}),
    ("timeout", {"timeoutMs": 0}),
    ("result-format", {"resultFormat": "text"}),
    ("meta", {"_meta": None}),
]


@pytest.mark.parametrize(("code", "fields"), FAULTS)
def test_a_fault_has_the_rule_of_its_place(code: str, fields: dict[str, Any]) -> None:
    (left,) = read(manifest(tool(**fields)), service="core-tools").left_out
    assert findings.of_fault(left.place, left.reason).code == code


def test_what_is_no_tool_and_what_has_anothers_name_have_rules_too() -> None:
    first, second = read(manifest(tool(), 7, tool()), service="core-tools").left_out
    assert findings.of_fault(first.place, first.reason).code == "tool"
    assert findings.of_fault(second.place, second.reason).code == "name-taken"


def test_every_rule_of_a_fault_is_met_by_one() -> None:
    assert {rule.code for rule in findings.FAULTS} == {code for code, _ in FAULTS} | {"tool", "name-taken"}


def one(**fields: Any) -> Tool:
    (served,) = read(manifest(tool(**fields)), service="core-tools").tools
    return served


WARNINGS: list[tuple[str, dict[str, Any], bool]] = [
    ("description-empty", {"description": " "}, True),
    ("description-long", {"description": "x" * 1025}, True),
    ("name-long", {"name": "x" * 65}, True),
    ("parameter-silent", schema(a={"type": "string"}), True),
    ("pattern-foreign", schema(a={"description": "A code.", "pattern": "(?i)abc"}), True),
    ("pattern-foreign", schema(a={"description": "By code.", "patternProperties": {"a b++": {}}}), True),
    ("pattern-foreign", {"outputSchema": {"type": "object", "properties": {"a": {"pattern": "(?P<y>a)"}}}}, True),
    ("write-marked-read-only", {"name": "core.delete_note", "annotations": {"readOnlyHint": True}}, True),
    ("write-marked-read-only", {"annotations": {"readOnlyHint": True, "destructiveHint": True}}, True),
    ("output-schema-unkept", {"outputSchema": {"type": "object"}}, False),
    ("output-schema-hidden", {"outputSchema": {"type": "array"}}, True),
]


@pytest.mark.parametrize(("code", "fields", "structured"), WARNINGS)
def test_a_warning_has_its_rule(code: str, fields: dict[str, Any], structured: bool) -> None:
    services = (ToolService("core-tools", "http://a"),)
    route = Route("core", "/mcp/core", services, eras.VERSIONS, structured_output=structured)
    (sentence,) = eras.warnings(one(**fields), route)
    assert findings.of_warning(sentence).code == code


def test_every_rule_of_a_warning_is_met_by_one() -> None:
    assert {rule.code for rule in findings.WARNINGS} == {code for code, *_ in WARNINGS}


@pytest.mark.parametrize(
    ("name", "verb"),
    [
        ("core.delete_note", "delete"),
        ("core.addNote", "add"),
        ("update-user", "update"),
        ("core.SEND", "send"),
        ("core.search_documents", None),
        ("core.list_deleted", None),
        ("core.address_book", None),
        ("core.settings", None),
        ("-", None),
    ],
)
def test_a_name_says_that_its_tool_writes_by_the_verb_it_begins_with(name: str, verb: str | None) -> None:
    assert findings.writing_verb(name) == verb


def test_a_tool_that_says_that_it_writes_may_have_any_name() -> None:
    assert one(name="core.delete_note", annotations={"readOnlyHint": False, "destructiveHint": True}).warnings == ()


def row(rule: Rule) -> str:
    return f"| `{rule.code}` | {rule.harm} | {rule.mend} |"


@pytest.mark.parametrize("rule", [*findings.FAULTS, *findings.WARNINGS], ids=lambda rule: rule.code)
def test_the_page_has_a_row_for_each_rule_in_the_words_of_the_code(rule: Rule) -> None:
    assert row(rule) in PAGE


def test_the_page_has_no_other_rows() -> None:
    codes = re.findall(r"^\| `([a-z-]+)` \|", PAGE, re.MULTILINE)
    assert codes == [rule.code for rule in (*findings.FAULTS, *findings.WARNINGS)]
