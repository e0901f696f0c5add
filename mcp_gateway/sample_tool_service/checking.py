"""
A call's body and arguments, held against the tool's ``inputSchema``.

A Tool Service checks its input itself, whoever calls it. This is not a JSON Schema validator: it knows the keywords
that ``manifest.json`` uses, and a test keeps the manifest from using others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any

Schema = Mapping[str, Any]


class Unreadable(ValueError):
    """Raised when a body is no JSON object; the message says why."""


def _constant(name: str) -> Any:
    raise Unreadable(f"the body is not valid JSON: {name} is no JSON value")


def read_object(body: bytes) -> dict[str, Any]:
    """
    Read a request body.

    Raises:

        Unreadable: The body is not UTF-8, no JSON, nested too deeply, or no object.
    """
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_constant)
        # Half a surrogate pair passes the parser, and would then fit into no answer and no database.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except Unreadable:
        raise
    except UnicodeEncodeError:
        raise Unreadable("the body holds half of a surrogate pair, which is no character") from None
    except ValueError as fault:
        raise Unreadable(f"the body is not valid JSON: {fault}") from None
    except RecursionError:
        raise Unreadable("the body is nested too deeply") from None
    if not isinstance(value, dict):
        raise Unreadable("the body must be a JSON object")
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    return _is_number(value) and value % 1 == 0


_TYPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "object": ("an object", lambda value: isinstance(value, dict)),
    "array": ("an array", lambda value: isinstance(value, list)),
    "string": ("a string", lambda value: isinstance(value, str)),
    "integer": ("an integer", _is_integer),
    "number": ("a number", _is_number),
}


def _is_date(text: str) -> bool:
    # fromisoformat alone would also take 20260131 and 2026-W05-6.
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


_LIMITS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "enum": ("must be one of {}", lambda value, allowed: value in allowed),
    "minLength": ("must have at least {} characters", lambda value, limit: len(value) >= limit),
    "maxLength": ("must have at most {} characters", lambda value, limit: len(value) <= limit),
    "minimum": ("must be at least {}", lambda value, limit: value >= limit),
    "maximum": ("must be at most {}", lambda value, limit: value <= limit),
    "minItems": ("must have at least {} items", lambda value, limit: len(value) >= limit),
    "maxItems": ("must have at most {} items", lambda value, limit: len(value) <= limit),
    "format": ("must be a {} such as 2026-01-31", lambda value, _: _is_date(value)),
}

KNOWN_KEYWORDS = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "default", "description", *_LIMITS}
)
"""The keywords of an ``inputSchema`` that this module acts on, or may ignore."""


def faults(schema: Schema, value: Any, path: str = "") -> Iterator[str]:
    """
    Say what is wrong with *value*, one sentence a fault.

    Args:

        schema: The schema, made of ``KNOWN_KEYWORDS`` only.

        value: The value.

        path: Where the value stands, for example ``tags[2]``; empty for the arguments as a whole.
    """
    kind, fits = _TYPES[schema["type"]]
    if not fits(value):
        yield f"'{path}' must be {kind}"
        return
    for keyword, (words, holds) in _LIMITS.items():
        if keyword in schema and not holds(value, schema[keyword]):
            yield f"'{path}' {_counted(words.format(schema[keyword]), schema[keyword])}"
    if isinstance(value, dict):
        yield from _member_faults(schema, value, f"{path}." if path else "")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from faults(schema["items"], item, f"{path}[{index}]")


def _counted(words: str, limit: Any) -> str:
    """Return *words* about many, or about one where *limit* is 1."""
    return words.removesuffix("s") if limit == 1 else words


def _member_faults(schema: Schema, value: dict[str, Any], prefix: str) -> Iterator[str]:
    for name in schema.get("required", ()):
        if name not in value:
            yield f"'{prefix}{name}' is required"
    for name, member in value.items():
        if name in schema["properties"]:
            yield from faults(schema["properties"][name], member, prefix + name)
        else:
            yield f"'{prefix}{name[:100]}' is not an argument of this tool"


def with_defaults(schema: Schema, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return *arguments* with the schema's ``default`` for each one that is absent."""
    defaults = {name: each["default"] for name, each in schema["properties"].items() if "default" in each}
    return defaults | dict(arguments)
