"""What is wrong with the shape of a manifest, in words; only asked when ``published`` has said that something is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError

from .. import jsontext
from .published import ASSERTING

_TYPES = {
    "object": "an object",
    "array": "a list",
    "string": "a string",
    "boolean": "true or false",
    "integer": "a whole number",
}


def faults(document: Any) -> Iterator[tuple[Sequence[Any], str]]:
    """Yield the path from the top and the reason, a clause, of each fault."""
    for error in _SHAPE.iter_errors(document):
        yield list(error.absolute_path), _explain(error)


def _required(_: Any, names: Iterable[str], instance: Any, __: Any) -> Iterator[ValidationError]:
    """Place the fault where the member should be; the library places it at the object and says the name in prose."""
    if isinstance(instance, dict):
        yield from (ValidationError("is required", path=[name]) for name in names if name not in instance)


def _pattern(_: Any, pattern: str, instance: Any, __: Any) -> Iterator[ValidationError]:
    # "$" is the end of the text, as in ECMA-262; Python's "$" also stands before a last newline.
    if isinstance(instance, str) and not re.search(pattern.replace("$", r"\Z"), instance):
        yield ValidationError("does not match")


def _is_integer(_: Any, value: Any) -> bool:
    """Say whether *value* is an integer to JSON Schema, to which ``20000.0`` is one."""
    if isinstance(value, Decimal):
        return value == value.to_integral_value()
    return isinstance(value, int) and not isinstance(value, bool)


_SHAPE = validators.create(
    Draft202012Validator.META_SCHEMA,
    validators={**Draft202012Validator.VALIDATORS, "required": _required, "pattern": _pattern},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)(ASSERTING)


def _explain(error: ValidationError) -> str:
    rule: Any = error.validator_value
    schema: Any = error.schema
    match error.validator:
        case "type":
            return f"must be {_TYPES[rule]}"
        case "const":
            return f"must be {jsontext.encode(rule).decode()}"
        case "enum":
            return f"must be {' or '.join(jsontext.encode(each).decode() for each in rule)}"
        case "pattern":
            return f"must be {schema['$comment']}"
        case "minimum":
            return f"must be at least {rule}"
        case "maximum":
            return f"must be at most {rule}"
    return error.message
