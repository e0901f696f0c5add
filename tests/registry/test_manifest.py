from __future__ import annotations

import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from registry.samples import manifest, tool

from mcp_gateway.registry.manifest import MAX_FAULTS, MAX_REASONS, ManifestFault, read
from mcp_gateway.registry.snapshot import LeftOut, MirroredHeader

ROOT = Path(__file__).resolve().parents[2]


def one(text: bytes):
    """Return the one tool of a manifest of which nothing is left out."""
    loaded = read(text, service="core-tools")
    assert loaded.left_out == ()
    (only,) = loaded.tools
    return only


def refusal(entry) -> str:
    """Return why the only tool of a manifest is left out, as place and reason."""
    loaded = read(manifest(entry), service="core-tools")
    assert loaded.tools == ()
    (left_out,) = loaded.left_out
    return f"{left_out.place}: {left_out.reason}"


def schema(**properties):
    return {"type": "object", "properties": properties}


def shown(entry) -> dict[str, str]:
    return {field: bytes(text).decode() for field, text in entry.shown.items()}


# --- the manifest as a whole -----------------------------------------------------------------------------------------


def test_a_manifest_says_who_publishes_it():
    loaded = read(manifest(toolService={"name": "core", "version": "1.4.0"}), service="core-tools")
    assert (loaded.name, loaded.version, loaded.tools, loaded.left_out) == ("core", "1.4.0", (), ())


def test_a_manifest_need_not_say_who_publishes_it():
    loaded = read(manifest(tool()), service="core-tools")
    assert (loaded.name, loaded.version) == (None, None)


def test_a_byte_order_mark_in_front_of_a_manifest_is_dropped():
    assert one(b"\xef\xbb\xbf" + manifest(tool())).name == "search"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"", "the manifest is no JSON that can be read: Expecting value (line 1 column 1)"),
        (b"<html>", "the manifest is no JSON that can be read: Expecting value (line 1 column 1)"),
        (b'{"tools": []', "the manifest is no JSON that can be read: Expecting ',' delimiter (line 1 column 13)"),
        (b'{"a": "\xff"}', "the manifest is no JSON that can be read: it is not UTF-8 (byte 7)"),
        (b'{"a": NaN}', "the manifest is no JSON that can be read: NaN is no JSON value"),
        (
            b'{"manifestVersion": "1", "tools": [], "tools": []}',
            "the manifest is no JSON that can be read: an object has two members named 'tools'",
        ),
        (b"[]", "the manifest: must be an object"),
        (b"null", "the manifest: must be an object"),
        (b"{}", "manifestVersion: is required; tools: is required"),
        (b'{"manifestVersion": "1"}', "tools: is required"),
        (b'{"manifestVersion": "1", "tools": null}', "tools: must be a list"),
        (b'{"manifestVersion": "1", "tools": {}}', "tools: must be a list"),
        (b'{"tools": []}', "manifestVersion: is required"),
        (b'{"manifestVersion": "2", "tools": []}', 'manifestVersion: must be "1"'),
        (b'{"manifestVersion": 1, "tools": []}', 'manifestVersion: must be "1"'),
        (b'{"manifestVersion": "1", "tools": [], "toolService": "core"}', "toolService: must be an object"),
        (
            b'{"manifestVersion": "1", "tools": [], "toolService": {"version": 1.4}}',
            "toolService.version: must be a string",
        ),
    ],
)
def test_a_manifest_that_is_wrong_as_a_whole_is_a_fault(text, sentence):
    with pytest.raises(ManifestFault) as caught:
        read(text, service="core-tools")
    assert str(caught.value).replace("line 1, column", "line 1 column") == sentence


def test_a_manifest_that_is_wrong_as_a_whole_is_a_fault_whatever_its_tools_are():
    with pytest.raises(ManifestFault, match=r'^manifestVersion: must be "1"$'):
        read(manifest(tool(), 3, manifestVersion="2"), service="core-tools")


@pytest.mark.parametrize("entries", ["{}", '{"icons": [1, 1]}'])
def test_no_more_faults_are_looked_for_than_anybody_will_read(entries):
    text = f'{{"manifestVersion": "1", "tools": [{", ".join([entries] * MAX_FAULTS)}]}}'
    with pytest.raises(ManifestFault, match=r"^the manifest: has more than 10000 faults$"):
        read(text.encode(), service="core-tools")


@given(st.binary(max_size=200))
def test_any_bytes_are_a_manifest_or_a_fault(text):
    try:
        loaded = read(text, service="core-tools")
    except ManifestFault:
        return
    assert loaded.tools == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from("type properties required $ref $schema items x-mcp-header src sizes version a".split()),
            inner | st.sampled_from(["object", "string", "#/a", "https://x/", "Region"]),
            max_size=4,
        )
    ),
    max_leaves=12,
)
FIELDS = (
    "name title description inputSchema outputSchema annotations icons endpoint timeoutMs resultFormat _meta".split()
)


@given(st.lists(JSON | st.dictionaries(st.sampled_from(FIELDS), JSON).map(lambda fields: tool() | fields), max_size=4))
def test_each_entry_of_a_manifest_is_served_or_left_out_with_its_place_and_reason(entries):
    loaded = read(manifest(*entries), service="core-tools")
    assert len(loaded.tools) + len(loaded.left_out) == len(entries)
    for left_out in loaded.left_out:
        assert left_out.tool
        assert left_out.place.startswith("tools[")
        assert left_out.reason


def nested_schema(levels: int) -> bytes:
    nested = '{"type": "string"}'
    for _ in range(levels):
        nested = f'{{"not": {nested}}}'
    entry = json.dumps(tool("deep")).replace('{"type": "string", "description": "What for."}', nested)
    return b'{"manifestVersion": "1", "tools": [%s, %s]}' % (entry.encode(), json.dumps(tool()).encode())


def test_a_schema_that_is_nested_deeply_is_left_out_alone():
    loaded = read(nested_schema(400), service="core-tools")
    assert [entry.name for entry in loaded.tools] == ["search"]
    reason = "it is nested deeper than the schema engine reads (255 levels)"
    assert loaded.left_out == (LeftOut("deep", "tools[0].inputSchema", reason),)


def test_a_schema_that_is_nested_a_hundred_times_is_served():
    assert [entry.name for entry in read(nested_schema(100), service="core-tools").tools] == ["deep", "search"]


def test_a_manifest_that_is_nested_too_deeply_is_a_fault():
    with pytest.raises(ManifestFault, match="nested deeper than"):
        read(nested_schema(2000), service="core-tools")


# --- one tool --------------------------------------------------------------------------------------------------------


def test_a_tool_carries_what_a_call_needs():
    entry = one(manifest(tool(endpoint="/t/search?lang=ko", timeoutMs=20500, resultFormat="mcp")))
    assert (entry.name, entry.service, entry.endpoint) == ("search", "core-tools", "/t/search?lang=ko")
    assert (entry.timeout_s, entry.result_format, entry.place) == (20.5, "mcp", "tools[0]")


def test_a_tool_without_options_has_none():
    entry = one(manifest(tool()))
    assert (entry.timeout_s, entry.result_format, entry.output_schema) == (None, None, None)
    assert (entry.output_is_object, entry.mirrored, entry.warnings) == (False, (), ())


def test_a_timeout_may_be_written_with_a_fraction_of_zero():
    assert one(manifest(tool(timeoutMs=20000.0))).timeout_s == 20.0


def test_callers_see_the_fields_in_one_order_and_nothing_else():
    fields = {
        "_meta": {"version": "1.2.0", "owner": "search"},
        "icons": [{"src": "https://cdn.example/a.png", "sizes": ["48x48"], "theme": "dark"}],
        "annotations": {"readOnlyHint": True, "title": "Search"},
        "outputSchema": {"type": "object"},
        "title": "Search",
        "execution": {"taskSupport": "maybe"},
        "timeoutMs": 5,
        "unknown": 1,
    }
    entry = one(manifest(tool(**fields)))
    assert list(entry.shown) == [
        "name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "_meta",
    ]  # fmt: skip
    assert {field: json.loads(text) for field, text in shown(entry).items() if field in fields} == {
        field: value for field, value in fields.items() if field in entry.shown
    }


def test_what_callers_see_keeps_every_digit_and_character_and_loses_white_space():
    entry = one(
        b'{"manifestVersion": "1", "tools": [{"endpoint": "/x", "description": "\\uac00 \xea\xb0\x80", "name": "a",'
        b' "inputSchema": { "type" : "object", "properties": {"n": {"maximum": 1.10, "default": 1e400}}}}]}'
    )
    assert shown(entry) == {
        "name": '"a"',
        "description": '"\\uac00 가"',
        "inputSchema": '{"type":"object","properties":{"n":{"maximum":1.10,"default":1e400}}}',
    }


def test_schemas_are_ready_to_check_values():
    entry = one(manifest(tool(outputSchema={"type": "object", "required": ["hits"]})))
    assert entry.input_schema.fits({"query": "a"})
    assert not entry.input_schema.fits({"query": Decimal(1)})
    assert entry.output_schema is not None
    assert not entry.output_schema.fits({})
    assert entry.output_is_object


def test_draft_07_is_read_by_its_own_rules():
    pair = {"type": "array", "items": [{"type": "string"}], "description": "A pair."}
    draft_07 = {"$schema": "http://json-schema.org/draft-07/schema#", **schema(pair=pair)}
    assert not one(manifest(tool(inputSchema=draft_07))).input_schema.fits({"pair": [1]})


def test_an_invalid_tool_is_left_out_and_the_others_are_served():
    loaded = read(manifest(tool("a"), tool("b", title=None), tool("c")), service="core-tools")
    assert [entry.name for entry in loaded.tools] == ["a", "c"]
    assert loaded.left_out == (LeftOut("b", "tools[1].title", "must be a string"),)


def test_of_two_tools_of_one_name_the_first_is_served():
    loaded = read(manifest(tool(), tool(endpoint="/other")), service="core-tools")
    assert [entry.endpoint for entry in loaded.tools] == ["/tools/search"]
    assert loaded.left_out == (LeftOut("search", "tools[1].name", "tools[0] already has this name"),)


def test_names_that_differ_in_case_are_two_names():
    assert len(read(manifest(tool("a"), tool("A")), service="core-tools").tools) == 2


def test_a_name_is_free_when_the_tool_that_had_it_is_left_out():
    loaded = read(manifest(tool(title=None), tool(endpoint="/other")), service="core-tools")
    assert [entry.endpoint for entry in loaded.tools] == ["/other"]


def test_a_tool_is_left_out_with_all_its_faults_up_to_a_limit():
    bad = tool(title=1, annotations=1, icons=1, timeoutMs="1", resultFormat="x", _meta=1)
    reason = refusal(bad)
    assert reason.startswith("tools[0].title: must be a string; tools[0].annotations: must be an object; ")
    assert reason.endswith("; and 1 more")
    assert reason.count("; ") == MAX_REASONS


@pytest.mark.parametrize(
    ("entry", "label"),
    [
        (3, "(no name)"),
        ({}, "(no name)"),
        ({"name": ""}, "(no name)"),
        ({"name": 3}, "(no name)"),
        ({"name": "a\nb\x1b[31m"}, "a\ufffdb\ufffd[31m"),
        ({"name": "x" * 500}, "x" * 128),
    ],
)
def test_a_tool_that_is_left_out_is_called_by_a_name_that_is_safe_to_print(entry, label):
    (left_out,) = read(manifest(entry), service="core-tools").left_out
    assert left_out.tool == label


NAME_RULE = "must be 1 to 128 of the characters A-Z a-z 0-9 _ - ."
SRC_RULE = "must be an address that starts with https:// or data:"

WRONG_FIELDS = [
    ({"name": None}, "name: must be a string"),
    ({"name": 3}, "name: must be a string"),
    ({"name": ""}, f"name: {NAME_RULE}"),
    ({"name": "x" * 129}, f"name: {NAME_RULE}"),
    ({"name": "two words"}, f"name: {NAME_RULE}"),
    ({"name": "search\n"}, f"name: {NAME_RULE}"),
    ({"name": "검색"}, f"name: {NAME_RULE}"),
    ({"title": None}, "title: must be a string"),
    ({"title": 1}, "title: must be a string"),
    ({"description": None}, "description: must be a string"),
    ({"inputSchema": None}, "inputSchema: must be an object"),
    ({"inputSchema": True}, "inputSchema: must be an object"),
    ({"inputSchema": {}}, "inputSchema.type: is required"),
    ({"inputSchema": {"type": ["object", "null"]}}, 'inputSchema.type: must be "object"'),
    ({"inputSchema": {"type": "array"}}, 'inputSchema.type: must be "object"'),
    ({"inputSchema": {"type": "object", "properties": []}}, "inputSchema.properties: must be an object"),
    ({"inputSchema": schema(a=True)}, "inputSchema.properties.a: must be an object"),
    ({"inputSchema": schema(**{"a b": True})}, 'inputSchema.properties["a b"]: must be an object'),
    ({"inputSchema": {"type": "object", "required": "a"}}, "inputSchema.required: must be a list"),
    ({"inputSchema": {"type": "object", "required": [1]}}, "inputSchema.required[0]: must be a string"),
    ({"outputSchema": None}, "outputSchema: must be an object"),
    ({"outputSchema": True}, "outputSchema: must be an object"),
    ({"outputSchema": schema(a=False)}, "outputSchema.properties.a: must be an object"),
    ({"outputSchema": {"required": None}}, "outputSchema.required: must be a list"),
    ({"annotations": None}, "annotations: must be an object"),
    ({"annotations": {"title": 1}}, "annotations.title: must be a string"),
    ({"annotations": {"readOnlyHint": "yes"}}, "annotations.readOnlyHint: must be true or false"),
    ({"annotations": {"destructiveHint": 1}}, "annotations.destructiveHint: must be true or false"),
    ({"annotations": {"idempotentHint": None}}, "annotations.idempotentHint: must be true or false"),
    ({"annotations": {"openWorldHint": "false"}}, "annotations.openWorldHint: must be true or false"),
    ({"icons": None}, "icons: must be a list"),
    ({"icons": {}}, "icons: must be a list"),
    ({"icons": ["https://x.example/a.png"]}, "icons[0]: must be an object"),
    ({"icons": [{"mimeType": "image/png"}]}, "icons[0].src: is required"),
    ({"icons": [{"src": 1}]}, "icons[0].src: must be a string"),
    ({"icons": [{"src": "http://x.example/a.png"}]}, f"icons[0].src: {SRC_RULE}"),
    ({"icons": [{"src": "javascript:alert(1)"}]}, f"icons[0].src: {SRC_RULE}"),
    ({"icons": [{"src": " https://x.example/a.png"}]}, f"icons[0].src: {SRC_RULE}"),
    ({"icons": [{"src": "data:,", "sizes": "48x48"}]}, "icons[0].sizes: must be a list"),
    ({"icons": [{"src": "data:,", "sizes": [48]}]}, "icons[0].sizes[0]: must be a string"),
    ({"icons": [{"src": "data:,", "mimeType": None}]}, "icons[0].mimeType: must be a string"),
    ({"icons": [{"src": "data:,", "theme": "blue"}]}, 'icons[0].theme: must be "light" or "dark"'),
    ({"timeoutMs": None}, "timeoutMs: must be a whole number"),
    ({"timeoutMs": "20000"}, "timeoutMs: must be a whole number"),
    ({"timeoutMs": True}, "timeoutMs: must be a whole number"),
    ({"timeoutMs": 1.5}, "timeoutMs: must be a whole number"),
    ({"timeoutMs": 0}, "timeoutMs: must be at least 1"),
    ({"timeoutMs": -1}, "timeoutMs: must be at least 1"),
    ({"timeoutMs": 300001}, "timeoutMs: must be at most 300000"),
    ({"timeoutMs": 1e300}, "timeoutMs: must be at most 300000"),
    ({"resultFormat": "text"}, 'resultFormat: must be "mcp"'),
    ({"resultFormat": None}, 'resultFormat: must be "mcp"'),
    ({"_meta": None}, "_meta: must be an object"),
    ({"_meta": []}, "_meta: must be an object"),
    ({"endpoint": None}, "endpoint: must be a string"),
]


@pytest.mark.parametrize(("fields", "reason"), WRONG_FIELDS)
def test_a_field_of_a_wrong_type_or_value_makes_the_tool_invalid(fields, reason):
    assert refusal(tool(**fields)) == f"tools[0].{reason}"


@pytest.mark.parametrize("field", ["name", "description", "inputSchema", "endpoint"])
def test_a_required_field_that_is_missing_makes_the_tool_invalid(field):
    entry = {name: value for name, value in tool().items() if name != field}
    assert refusal(entry) == f"tools[0].{field}: is required"


def test_an_entry_that_is_no_object_is_left_out():
    assert refusal("search") == "tools[0]: must be an object"


# --- endpoints -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("endpoint", "reason"),
    [
        ("", "must be a path that starts with /"),
        ("tools/search", "must be a path that starts with /"),
        ("http://evil.example/x", "must be a path that starts with /"),
        ("@evil.example/x", "must be a path that starts with /"),
        (":9@evil.example/x", "must be a path that starts with /"),
        ("?x=1", "must be a path that starts with /"),
        (" /x", "must be a path that starts with /"),
        ("//evil.example/x", 'must not hold "//"'),
        ("/x//y", 'must not hold "//"'),
        ("/x?next=https://evil.example", 'must not hold "//"'),
        ("/%2Fevil.example", 'must not hold "//"'),
        ("/x%2f%2Fy", 'must not hold "//"'),
        ("/..", 'must not hold ".."'),
        ("/x/../admin", 'must not hold ".."'),
        ("/x/%2e%2E/admin", 'must not hold ".."'),
        ("/x/.%2e/admin", 'must not hold ".."'),
        ("/\\evil.example", 'must not hold "\\\\"'),
        ("/x%5Cy", 'must not hold "\\\\"'),
        ("/x#part", 'must not hold a fragment ("#")'),
        ("/x\r\nHost: evil.example", "must not hold a control character"),
        ("/x\n", "must not hold a control character"),
        ("/x\ty", "must not hold a control character"),
        ("/x\x00", "must not hold a control character"),
        ("/x\x7f", "must not hold a control character"),
        ("/x\x85", "must not hold a control character"),
        ("/x%0d%0aHost: evil.example", "must not hold a control character"),
        ("/x%00", "must not hold a control character"),
        ("/two words", "must be percent-encoded: it holds a space or a character outside ASCII"),
        ("/검색", "must be percent-encoded: it holds a space or a character outside ASCII"),
        ("/x\u2028", "must be percent-encoded: it holds a space or a character outside ASCII"),
        ("/100%", 'must have two hexadecimal digits after each "%"'),
        ("/x%zz", 'must have two hexadecimal digits after each "%"'),
    ],
)
def test_an_endpoint_that_might_lead_elsewhere_makes_the_tool_invalid(endpoint, reason):
    assert refusal(tool(endpoint=endpoint)) == f"tools[0].endpoint: {reason}"


@pytest.mark.parametrize(
    "endpoint", ["/", "/x", "/a/b.c/d", "/x?y=1&z=a:b@c", "/%EA%B2%80%EC%83%89", "/x%23y", "/{id}", "/.well-known/x"]
)
def test_an_endpoint_is_kept_as_it_is(endpoint):
    assert one(manifest(tool(endpoint=endpoint))).endpoint == endpoint


# --- schemas ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["inputSchema", "outputSchema"])
@pytest.mark.parametrize(
    ("part", "word"),
    [
        ({"$schema": "http://json-schema.org/draft-04/schema#"}, "$schema: only the dialects"),
        ({"$schema": 7}, "$schema: only the dialects"),
        ({"properties": {"limit": {"type": "strin"}}}, "properties.limit.type: must be one of array, boolean,"),
        ({"properties": {"limit": {"minimum": "1"}}}, "properties.limit.minimum: must be number"),
        (
            {"properties": {"a": {"pattern": "("}}},
            "properties.a.pattern: is no ECMA-262 regular expression: a group is",
        ),
        (
            {"properties": {"a": {"pattern": r"\p{Nix}"}}},
            "properties.a.pattern: is an ECMA-262 regular expression that",
        ),
        ({"properties": {"a": {"$ref": "https://evil.example/"}}}, "properties.a.$ref: 'https://evil.example/' leaves"),
        ({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, "properties.a.$ref: 'file:///etc/passwd' leaves the"),
        ({"properties": {"a": {"$ref": "#/$defs/missing"}}}, "properties.a.$ref: '#/$defs/missing' does not exist"),
    ],
)
def test_a_schema_that_cannot_be_used_makes_the_tool_invalid(field, part, word):
    told = refusal(tool(**{field: {"type": "object", **part}}))
    assert told.startswith(f"tools[0].{field}.{word}")


def test_faults_that_a_schema_cannot_say_are_told_together():
    told = refusal(tool(endpoint="/../x", inputSchema={"type": "object", "$schema": "draft-4"}))
    assert told.startswith('tools[0].endpoint: must not hold ".."; tools[0].inputSchema.$schema: ')


def test_what_a_schema_cannot_say_is_told_beside_what_it_can():
    told = refusal(tool(title=None, endpoint="/../x", inputSchema=schema(limit={"type": "int"}, a=True)))
    places = [part.partition(": ")[0] for part in told.split("; ")]
    assert sorted(places) == [
        "tools[0].endpoint",
        "tools[0].inputSchema.properties.a",
        "tools[0].inputSchema.properties.limit.type",
        "tools[0].title",
    ]


def test_a_place_is_told_once():
    assert refusal(tool(inputSchema={"type": "object", "required": "a"})).count("required") == 1


# --- x-mcp-header ----------------------------------------------------------------------------------------------------


def test_marks_are_found_on_properties_of_any_depth():
    marked = schema(
        region={"type": "string", "x-mcp-header": "Region"},
        filter=schema(
            limit={"type": "integer", "x-mcp-header": "X-Limit2"}, on={"type": "boolean", "x-mcp-header": "On"}
        ),
    )
    assert one(manifest(tool(inputSchema=marked))).mirrored == (
        MirroredHeader("Region", ("region",), "string"),
        MirroredHeader("X-Limit2", ("filter", "limit"), "integer"),
        MirroredHeader("On", ("filter", "on"), "boolean"),
    )


def test_what_only_looks_like_a_mark_is_none():
    data = {"type": "object", "default": {"x-mcp-header": 1}, "enum": [{"x-mcp-header": 1}]}
    named = {"type": "string", "description": "A property of that name."}
    assert one(manifest(tool(inputSchema=schema(a=data, **{"x-mcp-header": named})))).mirrored == ()


REACH = "must be on a property that is reached from the root through properties alone"
TOKEN = "must be one or more of the characters A-Z a-z 0-9 -"
KIND = 'must be on a property whose type is "string", "integer" or "boolean"'
TAKEN = '"rEGION" is already the header of another property (upper and lower case are one)'
MARKED = {"type": "string", "x-mcp-header": "Region"}


@pytest.mark.parametrize(
    ("input_schema", "reason"),
    [
        (schema(a=MARKED | {"x-mcp-header": ""}), f"properties.a.x-mcp-header: {TOKEN}"),
        (schema(a=MARKED | {"x-mcp-header": None}), f"properties.a.x-mcp-header: {TOKEN}"),
        (schema(a=MARKED | {"x-mcp-header": "My Region"}), f"properties.a.x-mcp-header: {TOKEN}"),
        (schema(a=MARKED | {"x-mcp-header": "Region\r\n"}), f"properties.a.x-mcp-header: {TOKEN}"),
        (schema(a=MARKED | {"x-mcp-header": "지역"}), f"properties.a.x-mcp-header: {TOKEN}"),
        (schema(a=MARKED | {"x-mcp-header": "my_region"}), f"properties.a.x-mcp-header: {TOKEN}"),
        (schema(a=MARKED | {"x-mcp-header": "my.region"}), f"properties.a.x-mcp-header: {TOKEN}"),
        (schema(a=MARKED | {"type": "number"}), f"properties.a.x-mcp-header: {KIND}"),
        (schema(a=MARKED | {"type": "object"}), f"properties.a.x-mcp-header: {KIND}"),
        (schema(a=MARKED | {"type": ["string", "null"]}), f"properties.a.x-mcp-header: {KIND}"),
        (schema(a={"x-mcp-header": "Region"}), f"properties.a.x-mcp-header: {KIND}"),
        (
            schema(a=MARKED, b=MARKED | {"x-mcp-header": "rEGION"}),
            f"properties.b.x-mcp-header: {TAKEN}",
        ),
        ({"type": "object", "x-mcp-header": "Region"}, f"x-mcp-header: {REACH}"),
        (schema(a={"type": "array", "items": MARKED}), f"properties.a.items.x-mcp-header: {REACH}"),
        (schema(a={"anyOf": [MARKED]}), f"properties.a.anyOf[0].x-mcp-header: {REACH}"),
        (schema(a={"not": MARKED}), f"properties.a.not.x-mcp-header: {REACH}"),
        ({"type": "object", "if": schema(a=MARKED)}, f"if.properties.a.x-mcp-header: {REACH}"),
        ({"type": "object", "patternProperties": {"a": MARKED}}, f"patternProperties.a.x-mcp-header: {REACH}"),
        (
            {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": MARKED}},
            f"$defs.a.x-mcp-header: {REACH}",
        ),
    ],
)
def test_a_wrong_mark_makes_the_tool_invalid(input_schema, reason):
    assert refusal(tool(inputSchema=input_schema)) == f"tools[0].inputSchema.{reason}"


def test_a_boolean_schema_deep_inside_is_no_obstacle_to_reading_marks():
    assert one(manifest(tool(inputSchema=schema(a=schema(b=True, c=MARKED))))).mirrored[0].path == ("a", "c")


def test_properties_of_a_nested_schema_that_are_none_make_the_tool_invalid():
    assert refusal(tool(inputSchema=schema(a={"properties": 3}))).startswith("tools[0].inputSchema.properties.a")


# --- warnings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "warning"),
    [
        ({"description": "x" * 1025}, "description has 1025 characters; some models take 1024 at most"),
        ({"description": " "}, "description is empty: a model cannot know what the tool is for"),
        (
            {"outputSchema": {"pattern": "(?i)", "items": {"pattern": r"\A", "title": "x"}, "not": {"pattern": "^a$"}}},
            "outputSchema.pattern is no ECMA-262 regular expression: '(?i' means nothing (character 1), and 1 more",
        ),
        ({"name": "x" * 65}, "name has 65 characters; some models take 64 at most"),
        ({"inputSchema": schema(a={}, b={"description": ""})}, "inputSchema.properties without a description: a, b"),
        (
            {"inputSchema": schema(**{f"p{index}": {} for index in range(7)})},
            "inputSchema.properties without a description: p0, p1, p2, p3, p4 and 2 more",
        ),
    ],
)
def test_what_is_legal_and_harmful_is_served_with_a_warning(fields, warning):
    assert one(manifest(tool(**fields))).warnings == (warning,)


@pytest.mark.parametrize(
    "fields", [{"description": "x" * 1024}, {"name": "x" * 64}, {"outputSchema": {"type": "object"}}]
)
def test_what_is_just_in_order_brings_no_warning(fields):
    assert one(manifest(tool(**fields))).warnings == ()


# --- the published schema --------------------------------------------------------------------------------------------


def test_the_schema_that_is_published_is_the_one_that_is_used():
    used = ROOT / "mcp_gateway" / "registry" / "manifest-v1.schema.json"
    assert (ROOT / "docs" / "contracts" / used.name).read_bytes() == used.read_bytes()


def test_the_published_schema_is_a_valid_schema():
    text = (ROOT / "docs" / "contracts" / "manifest-v1.schema.json").read_text()
    jsonschema.Draft202012Validator.check_schema(json.loads(text))


@pytest.mark.parametrize(("fields", "_"), WRONG_FIELDS)
def test_an_owner_finds_the_same_faults_with_any_validator(fields, _):
    text = (ROOT / "docs" / "contracts" / "manifest-v1.schema.json").read_text()
    published = jsonschema_rs.validator_for(json.loads(text))
    assert published.is_valid(json.loads(manifest(tool())))
    assert not published.is_valid(json.loads(manifest(tool(**fields))))


def imported_by_reading(text, *names):
    """Return which of these modules a process has that has done nothing but read that manifest."""
    probe = (
        "import sys; from mcp_gateway.registry import manifest; "
        "manifest.read(sys.stdin.buffer.read(), service='core'); "
        "print([name for name in sys.argv[1:] if name in sys.modules])"
    )
    argv = [sys.executable, "-c", probe, *names]
    return subprocess.run(argv, cwd=ROOT, input=text, capture_output=True, check=True).stdout.decode().strip()


def test_reading_a_manifest_needs_neither_flask_nor_anything_that_calls_out():
    assert imported_by_reading(manifest(tool()), "flask", "requests", "mcp_gateway.transport") == "[]"


@pytest.mark.parametrize(("entry", "imported"), [(tool(), "[]"), (tool(timeoutMs="5"), "['jsonschema']")])
def test_only_a_faulty_manifest_makes_a_process_find_words_for_faults(entry, imported):
    assert imported_by_reading(manifest(entry), "jsonschema") == imported
