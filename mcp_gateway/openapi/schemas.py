"""
A Schema Object of OpenAPI 3.0 or 3.1 as JSON Schema 2020-12 that stands alone.

What it refers to comes along under ``$defs``. OpenAPI's own words are translated (``nullable``, ``exclusiveMinimum:
true``, ``example``) or, where they say nothing about a value, left out. What only the answer holds (``readOnly``) is no
part of what is sent, and what only goes in (``writeOnly``) is no part of the answer, required or not.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Literal
from urllib.parse import unquote

from .faults import NoTool, Unusable
from .names import Names
from .references import lookup, resolve

Direction = Literal["in", "out"]
"""Whether the schema is of what is sent to an operation, or of what it answers."""

MAX_VALUES = 500_000
"""Most values that the schemas of one translation may hold in all: each tool carries all that its schemas refer to."""

MAX_ANCESTORS = 50
"""As many schemas in a row as may be part of one another by ``allOf``, ``anyOf`` and ``oneOf``."""

_HIDDEN: dict[Direction, str] = {"in": "readOnly", "out": "writeOnly"}
_ONE_SCHEMA = frozenset(
    "additionalProperties contains else if items not propertyNames then unevaluatedItems unevaluatedProperties".split()
)
_UNIONS = ("allOf", "anyOf", "oneOf")
_LIST_OF_SCHEMAS = frozenset((*_UNIONS, "prefixItems"))
_NAMED_SCHEMAS = frozenset("dependentSchemas patternProperties properties".split())
_BOUNDS = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
# What OpenAPI adds for other readers, and what only makes sense where the schema stood.
_DROPPED = frozenset(
    "$anchor $comment $defs $dynamicAnchor $id $schema $vocabulary discriminator example externalDocs nullable "
    "readOnly writeOnly xml".split()
)
_KEPT_EXTENSION = "x-mcp-header"
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.-]+")


class Budget:
    """Counts what one translation writes, so that a small hostile document cannot become an endless manifest."""

    def __init__(self) -> None:
        self._left = MAX_VALUES

    def spend(self) -> None:
        """
        Count one value.

        Raises:

            Unusable: There have been too many.
        """
        self._left -= 1
        if self._left < 0:
            raise Unusable(f"its schemas, each written out where it is used, hold more than {MAX_VALUES} values")


def translate(document: Mapping[str, Any], schema: Any, direction: Direction, budget: Budget) -> dict[str, Any] | None:
    """
    Return the schema of an object, with ``type: object`` at its root; ``None`` when *schema* is not that of an object.

    Raises:

        NoTool: A reference cannot be followed.
        Unusable: The document is hostile.
    """
    if not _is_object(document, schema, frozenset(), budget):
        return None
    bundle = _Bundle(document, direction, budget)
    root = bundle.schema(resolve(document, schema))
    root = {"type": "object", **root} | {"type": "object"}
    definitions = bundle.definitions()
    return {**root, "$defs": definitions} if definitions else root


def kind(document: Mapping[str, Any], schema: Any) -> str:
    """Return what a schema is of, for a sentence: ``an array``."""
    found = resolve(document, schema)
    name = found.get("type") if isinstance(found, dict) else None
    if not isinstance(name, str):
        return "of no single type"
    return f"{'an' if name[:1] in 'aio' else 'a'} {name}"


def _is_object(document: Mapping[str, Any], schema: Any, seen: frozenset[int], budget: Budget) -> bool:
    schema = resolve(document, schema)
    if not isinstance(schema, dict) or id(schema) in seen:
        return False
    seen = _with(seen, schema, budget)
    declared = schema.get("type")
    if declared is not None:
        return declared == "object" or (isinstance(declared, list) and "object" in declared)
    if "properties" in schema:
        return True
    parts = {
        keyword: [_is_object(document, part, seen, budget) for part in _parts(schema, keyword)] for keyword in _UNIONS
    }
    return any(parts["allOf"]) or any(
        alternatives and all(alternatives) for alternatives in (parts["anyOf"], parts["oneOf"])
    )


def _parts(schema: Mapping[str, Any], keyword: str) -> list[Any]:
    parts = schema.get(keyword)
    return parts if isinstance(parts, list) else []


def _with(seen: frozenset[int], schema: Any, budget: Budget) -> frozenset[int]:
    """Return *seen* with one more schema in it."""
    budget.spend()
    if len(seen) == MAX_ANCESTORS:
        raise NoTool(f"more than {MAX_ANCESTORS} of its schemas are part of one another")
    return seen | {id(schema)}


class _Bundle:
    """Translates schemas of one direction, and gathers what they refer to."""

    def __init__(self, document: Mapping[str, Any], direction: Direction, budget: Budget) -> None:
        self._document = document
        self._old = str(document.get("openapi")).startswith("3.0")
        self._hidden = _HIDDEN[direction]
        self._budget = budget
        self._names: dict[str, str] = {}
        self._unique = Names()
        self._todo: deque[str] = deque()

    def definitions(self) -> dict[str, Any]:
        """Return all that has been referred to, by name, and what that refers to."""
        found: dict[str, Any] = {}
        while self._todo:
            reference = self._todo.popleft()
            found[self._names[reference]] = self.schema(lookup(self._document, reference))
        return found

    def schema(self, schema: Any) -> Any:
        self._budget.spend()
        if not isinstance(schema, dict):
            return schema if isinstance(schema, bool) else {}
        if isinstance(schema.get("$ref"), str):
            return self._reference(schema)
        written = dict(self._members(schema))
        return _nullable(written) if schema.get("nullable") is True else written

    def _reference(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        reference = schema["$ref"]
        lookup(self._document, reference)
        if reference not in self._names:
            wanted = _legal(unquote(reference.rpartition("/")[2])) or "root"
            self._names[reference] = self._unique.give(wanted)
            self._todo.append(reference)
        pointer = {"$ref": f"#/$defs/{self._names[reference]}"}
        # In 3.0 a reference has no siblings; those that people write all the same are meant for readers.
        beside = {name: schema[name] for name in ("title", "description") if name in schema} if self._old else schema
        return pointer | dict(self._members({name: value for name, value in beside.items() if name != "$ref"}))

    def _members(self, schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        hidden = self._hidden_names(schema, frozenset())
        for keyword, value in schema.items():
            if keyword in _DROPPED or (keyword.startswith("x-") and keyword != _KEPT_EXTENSION):
                continue
            if keyword == "properties" and isinstance(value, dict):
                yield keyword, {name: self._property(part) for name, part in value.items() if name not in hidden}
            elif keyword in _NAMED_SCHEMAS and isinstance(value, dict):
                yield keyword, {name: self.schema(part) for name, part in value.items()}
            elif keyword in _LIST_OF_SCHEMAS and isinstance(value, list):
                yield keyword, [self.schema(part) for part in value]
            elif keyword in _ONE_SCHEMA:
                yield keyword, self.schema(value)
            elif keyword == "required" and isinstance(value, list):
                yield from self._required(value, hidden)
            else:
                yield from self._plain(keyword, value, schema)
        if "example" in schema and "examples" not in schema:
            yield "examples", [self._data(schema["example"])]

    def _property(self, schema: Any) -> Any:
        """Return a schema as an object: many clients read no other below ``properties``."""
        written = self.schema(schema)
        return {True: {}, False: {"not": {}}}[written] if isinstance(written, bool) else written

    def _required(self, names: list[Any], hidden: frozenset[str]) -> Iterator[tuple[str, Any]]:
        if needed := [name for name in names if not (isinstance(name, str) and name in hidden)]:
            yield "required", needed

    def _plain(self, keyword: str, value: Any, schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        exclusive = {plain: strict for strict, plain in _BOUNDS.items() if schema.get(strict) is True}
        if keyword in _BOUNDS and isinstance(value, bool):
            return
        yield exclusive.get(keyword, keyword), self._data(value)

    def _data(self, value: Any) -> Any:
        self._budget.spend()
        if isinstance(value, dict):
            return {name: self._data(each) for name, each in value.items()}
        return [self._data(each) for each in value] if isinstance(value, list) else value

    def _hidden_names(self, schema: Any, seen: frozenset[int]) -> frozenset[str]:
        """Return the names of the properties that only the other direction has, those of ``allOf`` included."""
        schema = resolve(self._document, schema)
        if not isinstance(schema, dict) or id(schema) in seen:
            return frozenset()
        seen = _with(seen, schema, self._budget)
        properties = schema.get("properties")
        own = properties.items() if isinstance(properties, dict) else ()
        names = {name for name, part in own if self._is_hidden(part)}
        for part in _parts(schema, "allOf"):
            names |= self._hidden_names(part, seen)
        return frozenset(names)

    def _is_hidden(self, schema: Any) -> bool:
        beside = isinstance(schema, dict) and schema.get(self._hidden) is True
        found = resolve(self._document, schema)
        return beside or (isinstance(found, dict) and found.get(self._hidden) is True)


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema that takes null as well."""
    declared = schema.get("type")
    if isinstance(declared, str):
        with_null: dict[str, Any] = {**schema, "type": [declared, "null"]}
        if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
            with_null["enum"] = [*schema["enum"], None]
        return with_null
    told: dict[str, Any] = {
        name: schema[name] for name in ("title", "description", "default", "examples") if name in schema
    }
    rest = {name: value for name, value in schema.items() if name not in told}
    return {**told, "anyOf": [rest, {"type": "null"}]} if rest else told


def _legal(text: str) -> str:
    return _NOT_IN_A_NAME.sub("_", text).strip("_")
