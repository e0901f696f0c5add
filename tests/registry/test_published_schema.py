"""The published schema and the loader judge alike wherever a schema can judge, and the schema explains itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from registry.samples import manifest, tool

from mcp_gateway import jsontext
from mcp_gateway.registry import published, shape
from mcp_gateway.registry.manifest import ManifestFault, read

SCHEMA = json.loads(published.SCHEMA)
# Another engine than the loader's, as an owner's editor or build would have.
EDITOR = jsonschema_rs.validator_for(SCHEMA)

# Begin the reasons for which a schema can have no words; all others are the shape's.
BEYOND_A_SCHEMA = ("already has this name", "x-mcp-header", "must not hold", "must be percent-encoded", "hexadecimal")

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 400_000)
    | st.sampled_from(["", "1", "object", "https://a", "mcp", "a b"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["type", "src", "x"]), inner, max_size=2)
    ),
    max_leaves=4,
)
FIELDS = ["$schema", "title", "description", "annotations", "icons", "timeoutMs", "resultFormat", "_meta", "stranger"]
# Schemas are kept to what a dialect's meta-schema takes: what it says of them is not the published schema's to say.
SHOWN_SCHEMAS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["object", "string", ["object", "null"]]),
        "properties": st.dictionaries(st.sampled_from("ab"), st.just({"type": "string"}) | st.booleans(), max_size=2),
        "required": st.lists(st.sampled_from("ab"), max_size=2, unique=True),
        "description": st.just("설명"),
        "$schema": st.just("https://json-schema.org/draft/2020-12/schema"),
    },
)
TOOLS = st.builds(
    lambda fields, schemas, gone: {k: v for k, v in {**tool(), **fields, **schemas}.items() if k not in gone},
    st.dictionaries(st.sampled_from([*FIELDS, "name", "endpoint"]), JSON, max_size=2),
    st.dictionaries(st.sampled_from(["inputSchema", "outputSchema"]), SHOWN_SCHEMAS, max_size=2),
    st.sets(st.sampled_from(["name", "description", "inputSchema", "endpoint"]), max_size=1),
)
MANIFESTS = st.builds(
    lambda entry, fields, gone: {
        k: v for k, v in {"manifestVersion": "1", "tools": [entry], **fields}.items() if k not in gone
    },
    TOOLS | JSON,
    st.dictionaries(st.sampled_from(["$schema", "toolService", "manifestVersion", "tools", "x"]), JSON, max_size=1),
    st.sets(st.sampled_from(["manifestVersion", "tools"]), max_size=1),
)


def refused(document: Any) -> list[str]:
    """Return why the loader refuses the manifest or its tools; empty when all are served."""
    try:
        return [left.reason for left in read(json.dumps(document).encode(), service="core-tools").left_out]
    except ManifestFault as fault:
        return [str(fault)]


@given(MANIFESTS | JSON)
@example({"manifestVersion": "1", "tools": [tool(timeoutMs=20000.0)], "$schema": 5})
@example({"manifestVersion": "1", "tools": [tool(name="a\n")]})
def test_an_editor_marks_a_manifest_exactly_when_the_loader_refuses_its_shape(document: Any) -> None:
    reasons = refused(document)

    if not EDITOR.is_valid(document):
        assert reasons
    else:
        assert [r for r in reasons if not any(words in r for words in BEYOND_A_SCHEMA)] == []


@given(MANIFESTS | JSON)
@example({"manifestVersion": "1", "tools": [tool(timeoutMs=20000.0)]})
@example({"manifestVersion": "1", "tools": [tool(timeoutMs=20000.5)]})
@example({"manifestVersion": "1", "tools": [tool(name="a\n")]})
@example({"manifestVersion": "1", "tools": [tool(icons=[{"src": "https://a\n"}])]})
def test_the_engine_that_is_asked_first_finds_no_fault_exactly_when_the_one_that_tells_them_finds_none(
    document: Any,
) -> None:
    as_read = jsontext.parse(json.dumps(document).encode())

    assert published.fits(as_read) == (not list(shape.faults(as_read)))


def test_a_manifest_may_say_where_its_schema_is() -> None:
    text = manifest(tool(), **{"$schema": "./manifest-v1.schema.json"})

    assert EDITOR.is_valid(json.loads(text))
    assert [entry.name for entry in read(text, service="core-tools").tools] == ["search"]


def test_a_schema_that_is_nested_deeply_is_judged_and_not_choked_on() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(400):
        deep = {"type": "array", "items": deep}
    (reason,) = refused(
        {"manifestVersion": "1", "tools": [tool(inputSchema={"type": "object", "properties": {"a": deep}})]}
    )

    assert "deeper than" in reason


def members(schema: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Yield every member that the schema names, with its place."""
    if isinstance(schema, dict):
        for name, part in schema.get("properties", {}).items():
            yield f"{place}.{name}", part
            yield from members(part, f"{place}.{name}")
        for keyword in ("items", "additionalProperties"):
            yield from members(schema.get(keyword), f"{place}[]")


EVERY_MEMBER = [
    *members(SCHEMA, ""),
    *(each for name in SCHEMA["$defs"] for each in members(SCHEMA["$defs"][name], name)),
]


@pytest.mark.parametrize(("place", "part"), EVERY_MEMBER, ids=[place for place, _ in EVERY_MEMBER])
def test_every_member_is_explained(place: str, part: Any) -> None:
    assert part.get("description") or place == "tool.inputSchema.type"


@pytest.mark.parametrize(("place", "part"), [each for each in EVERY_MEMBER if "examples" in each[1]], ids=str)
def test_every_example_fits_the_member_that_it_explains(place: str, part: Any) -> None:
    whole = jsonschema_rs.validator_for({"$defs": SCHEMA["$defs"], "allOf": [part]})
    assert [value for value in part["examples"] if not whole.is_valid(value)] == []


def test_the_example_of_the_whole_loads_without_a_fault() -> None:
    (whole,) = SCHEMA["examples"]
    assert EDITOR.is_valid(whole)
    assert refused(whole) == []


@given(JSON | SHOWN_SCHEMAS)
def test_the_hints_for_editors_assert_nothing(value: Any) -> None:
    hints = jsonschema_rs.validator_for({"$defs": SCHEMA["$defs"], "$ref": "#/$defs/hints"})
    assert hints.is_valid(value)
