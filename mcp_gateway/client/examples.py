"""
Arguments to begin with, made from a tool's ``inputSchema`` (pure).

What the schema itself says comes first: ``examples``, ``enum``, ``default``, ``const``. A value that is made up fits
the type and the simplest bounds; a ``pattern`` or a ``format`` is for a person to fill in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from .. import jsontext
from ..jsontext import Fragment

_MAX_DEPTH = 8
"""Schemas may refer to themselves."""


def arguments(input_schema: Any) -> Fragment:
    """Return a JSON object that holds the required arguments."""
    made = _Maker(input_schema).value(input_schema, 0)
    return Fragment(jsontext.encode(_writable(made if isinstance(made, dict) else {})))


class _Maker:
    """Makes values for the parts of one schema, which may refer to each other."""

    def __init__(self, root: Any) -> None:
        self._root = root

    def value(self, schema: Any, depth: int) -> Any:
        if not isinstance(schema, dict) or depth > _MAX_DEPTH:
            return None
        for keyword in ("examples", "enum"):
            if isinstance(schema.get(keyword), list) and schema[keyword]:
                return schema[keyword][0]
        for keyword in ("default", "const"):
            if keyword in schema:
                return schema[keyword]
        instead = self._instead(schema)
        if instead is not None and "type" not in schema:
            return self.value(instead, depth + 1)
        return self._of_type(schema, depth)

    def _instead(self, schema: Mapping[str, Any]) -> Any:
        """Return the schema that says what this one leaves to it, if there is one."""
        if isinstance(schema.get("$ref"), str):
            return self._referred(schema["$ref"])
        for keyword in ("anyOf", "oneOf", "allOf"):
            if isinstance(schema.get(keyword), list) and schema[keyword]:
                return schema[keyword][0]
        return None

    def _referred(self, reference: str) -> Any:
        part = self._root
        for step in reference.removeprefix("#").split("/")[1:]:
            part = part.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(part, dict) else None
        return part

    def _of_type(self, schema: Mapping[str, Any], depth: int) -> Any:
        kind = schema.get("type", "object" if "properties" in schema else "string")
        first = kind[0] if isinstance(kind, list) and kind else kind
        make = _SCALARS.get(first) if isinstance(first, str) else None
        if make is not None:
            return make(schema)
        if first == "array":
            wanted = _whole(schema.get("minItems"), 0)
            return [self.value(schema.get("items"), depth + 1)] * min(wanted, 1)
        properties, required = schema.get("properties"), schema.get("required")
        properties = properties if isinstance(properties, dict) else {}
        names = required if isinstance(required, list) else ()
        return {name: self.value(properties.get(name, {}), depth + 1) for name in names if isinstance(name, str)}


def _whole(value: Any, otherwise: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise


def _string(schema: Mapping[str, Any]) -> str:
    shortest, longest = _whole(schema.get("minLength"), 0), _whole(schema.get("maxLength"), 1000)
    return "text".ljust(min(shortest, 1000), "x")[:longest]


def _number(schema: Mapping[str, Any]) -> Any:
    least, most = schema.get("minimum"), schema.get("maximum")
    if isinstance(least, (int, Decimal)):
        return least
    return most if isinstance(most, (int, Decimal)) and most < 1 else 1


_SCALARS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "string": _string,
    "integer": _number,
    "number": _number,
    "boolean": lambda _: True,
    "null": lambda _: None,
}


def _writable(value: Any) -> Any:
    """Return the value with each number as the text that it is written as."""
    if isinstance(value, dict):
        return {name: _writable(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_writable(each) for each in value]
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        return Fragment(str(value).encode("ascii"))
    return value
