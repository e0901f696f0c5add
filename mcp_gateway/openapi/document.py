"""
The text of an OpenAPI document as plain values, bounded in every direction.

JSON is read exactly. YAML is read by the core schema of YAML 1.2, as OpenAPI asks: ``2020-01-01`` and ``on`` are text,
and the ``200`` of a response is a key of text. Aliases are read, and count each time they are used.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import yaml

from .. import jsontext
from .faults import Unusable

MAX_FILE_BYTES = 16 << 20
"""Largest file that is read; the largest public documents have some 10 MB."""

MAX_VALUES = 1_000_000
"""Most values that a document may hold once its aliases are written out."""

MAX_DEPTH = 100
"""Deepest nesting that is read; generated documents stay below 40."""

_NULL = re.compile(r"~|null|Null|NULL|")
_FLAG = re.compile(r"true|True|TRUE|false|False|FALSE")
_WHOLE = re.compile(r"[-+]?[0-9]{1,18}")
_REAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,6})?")
_SURROGATE = re.compile(r"[\ud800-\udfff]")

# The parser of libyaml is fifty times as fast as the one in Python, which is the same and always there.
_PARSER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read(text: bytes) -> dict[str, Any]:
    """
    Read a document: JSON when it starts with ``{``, else YAML. Numbers are ``int`` or ``Decimal``.

    Raises:

        Unusable: It is neither, no mapping, or more than any document can be.
    """
    if len(text) > MAX_FILE_BYTES:
        raise Unusable(f"it is larger than {MAX_FILE_BYTES >> 20} MiB")
    text = text.removeprefix(codecs.BOM_UTF8)
    value = _json(text) if text.lstrip()[:1] == b"{" else _yaml(text)
    if not isinstance(value, dict):
        raise Unusable("it must be a mapping at the top")
    return value


def _json(text: bytes) -> Any:
    try:
        value = jsontext.parse(text)
    except jsontext.NotJson as fault:
        raise Unusable(f"it starts like JSON, and is none: {fault}") from None
    _measure(value)
    return value


def _measure(document: Any) -> None:
    values = 0
    todo = [(document, 1)]
    while todo:
        value, depth = todo.pop()
        values += 1
        if depth > MAX_DEPTH:
            raise _too_deep()
        if values > MAX_VALUES:
            raise _too_many()
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        todo += [(each, depth + 1) for each in inner]


def _too_deep() -> Unusable:
    return Unusable(f"it is nested deeper than {MAX_DEPTH} levels")


def _too_many() -> Unusable:
    return Unusable(f"it holds more than {MAX_VALUES} values, aliases counted as often as they are used")


def _yaml(text: bytes) -> Any:
    try:
        source = text.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise Unusable(f"it is not UTF-8 (byte {fault.start})") from None
    try:
        return _Builder(yaml.parse(source, _PARSER)).document()
    except Unusable:
        raise
    except yaml.reader.ReaderError as fault:
        raise Unusable(f"it is no YAML: a character is not allowed (position {fault.position})") from None
    except yaml.MarkedYAMLError as fault:
        raise Unusable(f"it is no YAML: {fault.problem}{_line(fault.problem_mark)}") from None
    except (ValueError, OverflowError):
        # The parser in Python reads "\UFFFFFFFF" and "%YAML 1.999…" with chr() and int(), and lets theirs through.
        raise Unusable("it is no YAML: an escape or a directive holds a number that is out of range") from None


def _line(mark: Any) -> str:
    return f" (line {mark.line + 1})" if mark else ""


class _Builder:
    """Builds values from the events of a YAML parser, which cannot be made to build objects or to recurse."""

    def __init__(self, events: Iterator[yaml.Event]) -> None:
        self._events = events
        self._values = 0
        self._anchors: dict[str, tuple[Any, int, int]] = {}

    def document(self) -> Any:
        event = next(self._events)
        while not isinstance(event, (yaml.DocumentStartEvent, yaml.StreamEndEvent)):
            event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            raise Unusable("it is empty")
        value, _ = self._value(next(self._events), 1)
        next(self._events)
        if not isinstance(next(self._events), yaml.StreamEndEvent):
            raise Unusable("it holds more than one YAML document")
        return value

    def _value(self, event: yaml.Event, depth: int) -> tuple[Any, int]:
        """Return a value, and how many levels it is deep."""
        if depth > MAX_DEPTH:
            raise _too_deep()
        before = self._values
        self._count(1)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, depth)
        value: Any
        if isinstance(event, yaml.ScalarEvent):
            value, height = _scalar(event), 1
        elif isinstance(event, yaml.SequenceStartEvent):
            value, height = self._sequence(depth)
        else:
            value, height = self._mapping(depth)
        if anchor := getattr(event, "anchor", None):
            self._anchors[anchor] = (value, self._values - before, height)
        return value, height

    def _count(self, more: int) -> None:
        self._values += more
        if self._values > MAX_VALUES:
            raise _too_many()

    def _alias(self, event: yaml.AliasEvent, depth: int) -> tuple[Any, int]:
        if event.anchor not in self._anchors:
            raise Unusable(f"the alias *{event.anchor} stands for nothing, or for itself{_line(event.start_mark)}")
        value, size, height = self._anchors[event.anchor]
        self._count(size)
        if depth + height > MAX_DEPTH:
            raise _too_deep()
        return value, height

    def _sequence(self, depth: int) -> tuple[list[Any], int]:
        items: list[Any] = []
        deepest = 0
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            value, height = self._value(event, depth + 1)
            items.append(value)
            deepest = max(deepest, height)
        return items, deepest + 1

    def _mapping(self, depth: int) -> tuple[dict[str, Any], int]:
        members: dict[str, Any] = {}
        deepest = 0
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise Unusable(f"a key must be a plain value{_line(event.start_mark)}")
            if event.value in members:
                raise Unusable(f"the key {event.value[:100]!r} is given twice{_line(event.start_mark)}")
            members[event.value], height = self._value(next(self._events), depth + 1)
            deepest = max(deepest, height)
        return members, deepest + 1


def _scalar(event: yaml.ScalarEvent) -> Any:
    text: str = event.value
    if _SURROGATE.search(text):
        raise Unusable(f"a text holds half of a surrogate pair, which is no character{_line(event.start_mark)}")
    if not event.implicit[0]:  # it stands in quotes, or has a tag
        return text
    if _NULL.fullmatch(text):
        return None
    if _FLAG.fullmatch(text):
        return text[0] in "tT"
    if _WHOLE.fullmatch(text):
        return int(text)
    return Decimal(text) if _REAL.fullmatch(text) else text
