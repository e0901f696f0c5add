"""
Arguments to begin with, made from a tool's ``inputSchema`` (pure).

What the schema itself says comes first: ``examples``, ``enum``, ``default``, ``const``. A value that is made up fits
the type and the simplest bounds; a ``pattern`` or a ``format`` is for a person to fill in. Where the schema leaves a
choice (``anyOf``, ``oneOf``, ``if``, several types), its ways are tried in their order, each together with all that
stands beside it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeVar
from urllib.parse import unquote

from .. import jsontext
from ..jsontext import Fragment

Fits = Callable[[Any], bool]
"""Says whether a value satisfies the whole schema."""

_MOST_TRIED = 50
_MOST_PARTS = 2000
"""As many schemas are looked at: references can make a small document stand for a very large one."""

_DEEPEST = 64
"""Schemas within schemas, of whatever kind: what a stack of Python takes."""

_MOST_ITEMS = 20
_NOTHING: Any = object()

Key = TypeVar("Key", bound=Hashable)


def arguments(input_schema: Any, fits: Fits) -> Fragment:
    """
    Return a JSON object that holds the required arguments: the first of all that can be made up that *fits*.

    When none does, it is the very first, for a person to mend.
    """
    made = _Maker(input_schema).values((_Part(input_schema, frozenset({"#"})),), 0)
    objects = itertools.islice((each for each in made if isinstance(each, dict)), _MOST_TRIED)
    first = next(objects, {})
    return written(next(filter(fits, itertools.chain([first], objects)), first))


def written(value: Any) -> Fragment:
    """Return the JSON text of a value that ``jsontext.parse`` has read, its numbers digit for digit."""
    return Fragment(jsontext.encode(_writable(value)))


@dataclass(frozen=True, slots=True)
class _Part:
    """A schema that a value has to satisfy, and the references on the way from the root to it."""

    schema: Any
    above: frozenset[str]


_Whole = tuple[_Part, ...]
"""All that one value has to satisfy, nothing of it a choice any more; the outermost part first."""


class _Maker:
    """Makes values for the parts of one schema, which may refer to each other."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._left = _MOST_PARTS

    def values(self, parts: _Whole, depth: int) -> Iterator[Any]:
        """Yield values that are meant to satisfy all of *parts*, the likeliest first; none where there can be none."""
        for whole in self._wholes([[each] for each in parts], (), depth):
            schemas = [each.schema for each in whole if isinstance(each.schema, dict)]
            limits = [*_lists(schemas, "enum"), *([each["const"]] for each in schemas if "const" in each)]
            yield from (each for each in _said(schemas) if all(each in limit for limit in limits))
            for kind in _kinds(schemas) if not limits else ():
                yield from self._of_type(kind, whole, schemas, depth + len(whole))

    def _wholes(self, choices: Sequence[Sequence[_Part]], taken: _Whole, depth: int) -> Iterator[_Whole]:
        """Yield *taken* with one part of each choice, and of the choices that those bring along, in every way."""
        if not choices:
            yield taken
            return
        first, *others = choices
        for part in first:
            self._left -= 1
            if part.schema is not False and self._left >= 0 and depth + len(taken) < _DEEPEST:
                yield from self._wholes([*self._choices(part), *others], (*taken, part), depth)

    def _choices(self, part: _Part) -> Iterator[Sequence[_Part]]:
        """Yield what the schema leaves to others: each time some schemas, one of which has to be satisfied."""
        schema = part.schema
        if not isinstance(schema, dict):
            return
        if isinstance(schema.get("$ref"), str):
            yield self._referred(schema["$ref"], part.above)
        yield from ([replace(part, schema=each)] for each in _list(schema, "allOf"))
        for keyword in ("anyOf", "oneOf"):
            if branches := _list(schema, keyword):
                yield [replace(part, schema=each) for each in branches]
        if "if" in schema:
            holds = {"allOf": [schema["if"], schema.get("then", True)]}
            yield [replace(part, schema=each) for each in (holds, schema.get("else", True))]

    def _referred(self, reference: str, above: frozenset[str]) -> Sequence[_Part]:
        """Return the schema that *reference* points at; none when a value would have to hold itself."""
        if reference in above:
            return ()
        found: Any = self._root
        for step in unquote(reference).split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            inside = {str(index): each for index, each in enumerate(found)} if isinstance(found, list) else found
            found = inside.get(name) if isinstance(inside, dict) else None
        return (_Part(found if reference.startswith("#/") else None, above | {reference}),)

    def _of_type(self, kind: str, whole: _Whole, schemas: Sequence[_Schema], depth: int) -> Iterator[Any]:
        if kind == "object":
            members = {name: _member(whole, name) for name in _names(schemas)}
            yield from self._together(members, depth)
        elif kind == "array":
            items = {index: _item(whole, index) for index in range(_count(schemas))}
            yield from (list(each.values()) for each in self._together(items, depth))
        elif kind in _SCALARS:
            yield from _SCALARS[kind](schemas)

    def _together(self, wanted: Mapping[Key, _Whole], depth: int) -> Iterator[dict[Key, Any]]:
        """Yield a value for each of *wanted*: the first of each, then another one for one of them at a time."""
        several = {key: self.values(parts, depth) for key, parts in wanted.items()}
        firsts = {key: made for key, values in several.items() for made in itertools.islice(values, 1)}
        if len(firsts) < len(several):
            return
        yield firsts
        for others in itertools.zip_longest(*several.values(), fillvalue=_NOTHING):
            yield from (
                {**firsts, key: other} for key, other in zip(several, others, strict=True) if other is not _NOTHING
            )


# --- what several schemas say together -------------------------------------------------------------------------------
# Manifests are checked, the list of a foreign gateway is not: whatever has the wrong form is passed over.

_Schema = Mapping[str, Any]


def _list(schema: _Schema, keyword: str) -> list[Any]:
    value = schema.get(keyword)
    return value if isinstance(value, list) else []


def _lists(schemas: Iterable[_Schema], keyword: str) -> Iterator[list[Any]]:
    return (each[keyword] for each in schemas if _list(each, keyword))


def _said(schemas: Sequence[_Schema]) -> Iterator[Any]:
    """Yield the values that the schemas themselves name."""
    for keyword in ("examples", "enum"):
        yield from itertools.chain.from_iterable(_lists(schemas, keyword))
    for keyword in ("default", "const"):
        yield from (each[keyword] for each in schemas if keyword in each)


def _kinds(schemas: Sequence[_Schema]) -> list[str]:
    """Return the types that all of *schemas* take, in the order of the first one that names some."""
    named = [types for each in schemas if (types := _types(each))]
    if not named:
        return [_inferred({keyword for each in schemas for keyword in each})]
    first, *others = named
    narrower = ["integer"] if "number" in first and others else []
    return [kind for kind in [*first, *narrower] if all(_takes(types, kind) for types in others)]


def _types(schema: _Schema) -> list[str]:
    said = schema.get("type")
    return [each for each in (said if isinstance(said, list) else [said]) if isinstance(each, str)]


def _takes(types: Sequence[str], kind: str) -> bool:
    return kind in types or (kind == "integer" and "number" in types)


def _inferred(keywords: set[str]) -> str:
    if keywords & {"properties", "required", "minProperties"}:
        return "object"
    return "array" if keywords & {"items", "prefixItems", "minItems"} else "string"


def _names(schemas: Sequence[_Schema]) -> list[str]:
    """Return the members that have to be there: those that are required, and further ones up to ``minProperties``."""
    required = dict.fromkeys(each for names in _lists(schemas, "required") for each in names if isinstance(each, str))
    others = dict.fromkeys(name for each in schemas for name in _members(each) if name not in required)
    missing = max(0, _length(schemas, "minProperties") - len(required))
    return [*required, *itertools.islice(others, missing)]


def _members(schema: _Schema) -> Mapping[str, Any]:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _member(whole: _Whole, name: str) -> _Whole:
    """Return all that the member *name* has to satisfy."""
    return _within(whole, lambda schema: _members(schema).get(name, schema.get("additionalProperties", True)))


def _count(schemas: Sequence[_Schema]) -> int:
    """Return how many items a list has to begin with."""
    return min(max([_length(schemas, "minItems"), *(len(_listed(each)) for each in schemas)]), _MOST_ITEMS)


def _listed(schema: _Schema) -> list[Any]:
    """Return the schemas of the first items, which draft-07 writes as ``items``."""
    return _list(schema, "prefixItems") or _list(schema, "items")


def _item(whole: _Whole, index: int) -> _Whole:
    """Return all that the item at *index* has to satisfy."""

    def of(schema: _Schema) -> Any:
        listed = _listed(schema)
        if index < len(listed):
            return listed[index]
        return schema.get("additionalItems" if _list(schema, "items") else "items", True)

    return _within(whole, of)


def _within(whole: _Whole, of: Callable[[_Schema], Any]) -> _Whole:
    return tuple(replace(each, schema=of(each.schema)) for each in whole if isinstance(each.schema, dict))


def _length(schemas: Sequence[_Schema], keyword: str) -> int:
    """Return the largest of the lower bounds that count something."""
    return max((each for each in _bounds(schemas, keyword) if isinstance(each, int)), default=0)


def _bounds(schemas: Sequence[_Schema], keyword: str) -> list[int | Decimal]:
    found = (each.get(keyword) for each in schemas)
    return [each for each in found if isinstance(each, (int, Decimal)) and not isinstance(each, bool)]


def _strings(schemas: Sequence[_Schema]) -> Iterator[str]:
    longest = min((each for each in _bounds(schemas, "maxLength") if isinstance(each, int)), default=1000)
    yield "text".ljust(min(_length(schemas, "minLength"), 1000), "x")[:longest]


def _numbers(schemas: Sequence[_Schema]) -> Iterator[int | Decimal]:
    """Yield the least that is allowed, else 1, then what else may fit."""
    least, most = _bounds(schemas, "minimum"), _bounds(schemas, "maximum")
    above, below = _bounds(schemas, "exclusiveMinimum"), _bounds(schemas, "exclusiveMaximum")
    if least:
        yield max(least)
    yield from (each + 1 for each in above if _is_usual(each))
    if most and min(most) < 1:
        yield min(most)
    yield from _bounds(schemas, "multipleOf")
    yield 1
    yield from most
    yield from (each - 1 for each in below if _is_usual(each))
    yield 0


def _is_usual(number: int | Decimal) -> bool:
    """Return whether one more or less can be reckoned without a thought."""
    return isinstance(number, int) and abs(number) < 10**15


_SCALARS: Mapping[str, Callable[[Sequence[_Schema]], Iterator[Any]]] = {
    "string": _strings,
    "integer": _numbers,
    "number": _numbers,
    "boolean": lambda _: iter((True, False)),
    "null": lambda _: iter((None,)),
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
