"""
A compiled JSON Schema: does a value fit it, and if not, what exactly is wrong, in words.

A leaf. The engine is ``jsonschema-rs``: ECMA-262 patterns in bounded time, exact decimals, no network. The Python
``jsonschema`` is the reference that the tests hold it to; ``docs/adr/0006-argument-validation.md`` says why and lists
every difference. ``format`` is a hint and is never asserted.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Any
from urllib.parse import urljoin

import jsonschema_rs
from jsonschema_rs import ValidationError, ValidationErrorKind

from . import jsontext, pattern
from .faults import Violation

DIALECTS = (
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema",
)
"""What ``$schema`` may say (with or without a final ``#``); a schema that does not say is of the first."""

MAX_VIOLATIONS = 10
"""As many violations as one answer lists."""

LISTED_VALUES = 512
"""Values up to which one counts as small; a member's name is one too, and so are 256 characters of a text."""

# Linear time for all that a regular expression proper can say; look-around and back-references need backtracking, which
# gives up after this many steps (about 0.3 ms) and then counts as no match.
_LINEAR = jsonschema_rs.RegexOptions()
# What is written out takes a third more room than the engine's own "." does; without it a pattern may take 10 MiB.
_BACKTRACKING = jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000, size_limit=14 * 2**20)

_ONE_SCHEMA = frozenset(
    "additionalItems additionalProperties contains contentSchema else if items not propertyNames then "
    "unevaluatedItems unevaluatedProperties".split()
)
_LIST_OF_SCHEMAS = frozenset("allOf anyOf items oneOf prefixItems".split())
_NAMED_SCHEMAS = frozenset("$defs definitions dependencies dependentSchemas patternProperties properties".split())
_ALTERNATIVES = ("anyOf", "oneOf")
_INTO_ALTERNATIVE = re.compile(rf"/(?:{'|'.join(_ALTERNATIVES)})/\d+")
_PLAIN_NAME = re.compile(r"[\w$-]+")


class BadSchema(ValueError):
    """
    Raised when a JSON Schema cannot be used; the message says where and why.

    Args:

        reason: Why, as a clause.

        place: Where in the schema, e.g. ``properties.limit.type``; empty: the schema as a whole.
    """

    def __init__(self, reason: str, place: str = "") -> None:
        super().__init__(f"{place}: {reason}" if place else reason)
        self.reason = reason
        self.place = place


class Schema:
    """A schema that is ready to check values; made by ``compile``, shared by all threads."""

    __slots__ = ("_terse", "_text", "_validator")

    def __init__(self, text: bytes, validator: jsonschema_rs.Validator) -> None:
        self._text = text
        self._validator = validator
        self._terse: jsonschema_rs.Validator | None = None

    def fits(self, value: Any) -> bool:
        """Return whether *value* (as ``jsontext.parse`` gives it) satisfies the schema."""
        return self._validator.is_valid(value)

    def violations(self, value: Any, subject: str, limit: int = MAX_VIOLATIONS) -> tuple[Violation, ...]:
        """
        Return the ways in which *value* violates the schema, at most *limit* of them; empty when it fits.

        Of a large value it is the first one alone: the engine finds all of them before it gives one, and each holds a
        copy of what it is about. A million wrong items took a minute and 7 GB.

        Args:

            subject: What the sentences call the value itself, e.g. ``arguments``.
        """
        if self._validator.is_valid(value):
            return ()
        found: tuple[Violation, ...] = ()
        # The engine says of any value whether it fits, and of one that is nested deeper than 255 levels or holds an
        # integer of more than 4300 digits not where it does not.
        with contextlib.suppress(ValueError):
            errors = self._validator.iter_errors(value) if _is_small(value) else self._first_error(value)
            found = tuple(itertools.islice(_explain_all(errors, subject), limit))
        return found or (
            Violation("", "schema", f"{subject} must fit the schema; too deep or too large to say where not"),
        )

    def _first_error(self, value: Any) -> Iterator[ValidationError]:
        if self._terse is None:
            self._terse = _terse(self._text)
        try:
            self._terse.validate(value)
        except ValidationError as error:
            yield error


def compile(text: bytes | str) -> Schema:
    """
    Compile the JSON text of a schema.

    Raises:

        BadSchema: It is no schema of a known dialect, its meta-schema refuses it, a ``$ref`` leaves the document or
            points nowhere, or a ``pattern`` is none that the engine reads.
    """
    text = text if isinstance(text, bytes) else text.encode("utf-8")
    schema = jsontext.parse(text, unique=False)
    if not isinstance(schema, dict):
        raise BadSchema("it must be a JSON object")
    dialect = schema.get("$schema", DIALECTS[0])
    if not isinstance(dialect, str) or dialect.removesuffix("#") not in DIALECTS:
        raise BadSchema("only the dialects 2020-12, 2019-09 and draft-07 are supported", "$schema")
    found: list[tuple[str, Any, str]] = []
    _collect(schema, "", "", found)
    parts = [(place, part, base) for place, part, base in found if isinstance(part, dict)]
    _check_references(parts)
    for _, part, _ in parts:
        _name_strangers(part)
    try:
        return Schema(text, _validator(schema))
    except ValidationError as fault:
        raise _refused(fault, jsontext.parse(text, unique=False)) from None
    except ValueError:
        raise BadSchema("it is nested deeper than the schema engine reads (255 levels)") from None


def _validator(schema: Any) -> jsonschema_rs.Validator:
    """Make the engine's validator of *schema*, whose patterns are written out for it first, in place."""
    parts = [part for _, part in subschemas(schema) if isinstance(part, dict)]
    # The engine holds patterns to ECMA-262's grammar in the meta-schema of draft-07, and in no other.
    linear = pattern.write_out(parts, portable="draft-07" in schema.get("$schema", ""))
    options = _LINEAR if linear else _BACKTRACKING
    return jsonschema_rs.validator_for(schema, validate_formats=False, offline=True, pattern_options=options)


def _is_small(value: Any) -> bool:
    """Return whether all that can be wrong with *value* is found soon."""
    left = LISTED_VALUES
    todo = [value]
    while todo and left > 0:
        part = todo.pop()
        left -= 1
        if isinstance(part, str):
            left -= len(part) // 256
        elif isinstance(part, dict):
            todo += [*part, *part.values()]
        elif isinstance(part, list):
            todo += part
    return left > 0


def _terse(text: bytes) -> jsonschema_rs.Validator:
    """
    Compile a schema that fits what the given one fits, and says of alternatives only that none does.

    Of each alternative the engine would find everything that is wrong with it, for the one error that it is asked for.

    Raises:

        ValueError: It cannot be made; a reference into an alternative may be written in a way that is not known here.
    """
    schema = jsontext.parse(text, unique=False)
    for _, part in list(subschemas(schema)):
        if not isinstance(part, dict):
            continue
        for keyword in _ALTERNATIVES:
            if isinstance(branches := part.get(keyword), list):
                part[keyword] = [{"if": branch, "else": False} for branch in branches]
        if isinstance(reference := part.get("$ref"), str):
            part["$ref"] = _INTO_ALTERNATIVE.sub(r"\g<0>/if", reference)
        _name_strangers(part)
    return _validator(schema)


def subschemas(schema: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """
    Yield every schema inside *schema*, itself first, each with its place (``properties.limit.items``).

    What stands in ``enum``, ``const``, ``default`` or ``examples`` is data and is not entered.
    """
    found: list[tuple[str, Any, str]] = []
    _collect(schema, place, "", found)
    return ((here, part) for here, part, _ in found)


def strange_patterns(schema: Any) -> Iterator[tuple[str, str]]:
    """Yield the place of each pattern in a schema that ECMA-262 does not take, although the engine may, and why."""
    for place, part in subschemas(schema):
        for way, text in pattern.of(part) if isinstance(part, dict) else ():
            if fault := pattern.read(text).fault:
                yield reduce(step, way, place), fault


def _collect(schema: Any, place: str, base: str, found: list[tuple[str, Any, str]]) -> None:
    """Add every schema inside *schema* to *found*, with its place and the URI to which its references are relative."""
    if not isinstance(schema, dict):
        found.append((place, schema, base))
        return
    own = schema.get("$id")
    if isinstance(own, str):
        base = _joined(base, own)
    found.append((place, schema, base))
    for keyword, value in schema.items():
        here = f"{place}.{keyword}" if place else keyword
        if keyword in _NAMED_SCHEMAS and isinstance(value, dict):
            for name, part in value.items():
                _collect(part, step(here, name), base, found)
        elif keyword in _LIST_OF_SCHEMAS and isinstance(value, list):
            for index, part in enumerate(value):
                _collect(part, f"{here}[{index}]", base, found)
        elif keyword in _ONE_SCHEMA:
            _collect(value, here, base, found)


def step(path: str, name: str | int) -> str:
    """Return *path* one step further: ``filter`` and ``from`` give ``filter.from``, ``tags`` and 2 give ``tags[2]``."""
    if isinstance(name, int):
        return f"{path}[{name}]"
    if not _PLAIN_NAME.fullmatch(name):
        return f"{path}[{_write(_cut(name, 100))}]"
    name = _cut(name, 100)
    return f"{path}.{name}" if path else name


def _check_references(parts: Sequence[tuple[str, dict[str, Any], str]]) -> None:
    """Refuse what would have to be fetched; a schema that lies in the document may be called by its ``$id``."""
    inside = {base.partition("#")[0] for _, _, base in parts}
    for place, part, base in parts:
        for keyword in pattern.REFERENCES:
            target = part.get(keyword)
            if not isinstance(target, str) or target.startswith("#"):
                continue
            if _joined(base, target).partition("#")[0] not in inside:
                raise BadSchema(f"'{_cut(target, 100)}' leaves the document and is never fetched", step(place, keyword))


def _joined(base: str, reference: str) -> str:
    try:
        return urljoin(base, reference)
    except ValueError:  # no URI: it names nothing but itself
        return reference


def _name_strangers(schema: dict[str, Any]) -> None:
    # The engine names the members that must not be there only where "properties" stands beside the keyword.
    if schema.get("additionalProperties") is False:
        schema.setdefault("properties", {})


def _refused(fault: ValidationError, schema: Any) -> BadSchema:
    """Return in words, and with its place, why the engine takes no such schema."""
    where = ""
    for name in fault.instance_path:
        where = step(where, pattern.as_written(name) if isinstance(name, str) else name)
    if isinstance(fault.kind, ValidationErrorKind.Referencing):
        return BadSchema(*_lost_reference(fault.message, schema))
    if isinstance(fault.kind, ValidationErrorKind.Format):
        return BadSchema(_unreadable(pattern.as_written(str(fault.instance))), where)
    if where.rpartition(".")[2] == "type":
        return BadSchema(f"must be one of {', '.join(_TYPES)}, or a list of them", where)
    return BadSchema(_rule(fault, "it"), where)


def _unreadable(written: str) -> str:
    if fault := pattern.read(written).fault:
        return f"is no ECMA-262 regular expression: {fault}"
    return (
        "is an ECMA-262 regular expression that the schema engine cannot read: it repeats too much, nests too deep, "
        r"repeats what only looks around, or has a \p{…} that the engine does not know"
    )


_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_QUOTED = re.compile(r"'(.*)'", re.DOTALL)


def _lost_reference(message: str, schema: Any) -> tuple[str, str]:
    """Return why a reference leads nowhere, and where it stands; the engine says only what it looked for."""
    wanted = _QUOTED.search(message)
    for place, part in subschemas(schema):
        for keyword in pattern.REFERENCES if isinstance(part, dict) else ():
            reference = part.get(keyword)
            if wanted and isinstance(reference, str) and reference.partition("#")[2] == wanted[1]:
                return f"'{_cut(reference, 100)}' does not exist in the schema", step(place, keyword)
    return _cut(message), ""


# --- violations in words ---------------------------------------------------------------------------------------------
# The sentences hold the names and the rules of the schema. They never hold the caller's value, which may be long or
# secret; hence not one message of the engine is used.


def _explain_all(errors: Iterable[ValidationError], subject: str) -> Iterator[Violation]:
    return itertools.chain.from_iterable(_explain(error, subject) for error in errors)


def _explain(error: ValidationError, subject: str) -> Iterator[Violation]:
    """Yield the violations that one error of the engine stands for."""
    path = _path(error)
    kind = error.kind
    if isinstance(kind, ValidationErrorKind.Required):
        missing = step(path, kind.property)
        yield Violation(missing, kind.name, f"'{missing}' is required")
    elif isinstance(kind, (ValidationErrorKind.AdditionalProperties, ValidationErrorKind.UnevaluatedProperties)):
        for name in kind.unexpected:
            stranger = step(path, name)
            yield Violation(stranger, kind.name, f"'{stranger}' is not allowed")
    elif isinstance(kind, ValidationErrorKind.PropertyNames):
        misnamed = step(path, str(kind.error.instance))
        yield Violation(misnamed, kind.name, f"the name of '{misnamed}' {_rule(kind.error, subject)}")
    else:
        yield Violation(path, kind.name, f"{_name(path, subject)} {_rule(error, subject)}")


def _path(error: ValidationError) -> str:
    path = ""
    for name in error.instance_path:
        path = step(path, name)
    return path


def _name(path: str, subject: str) -> str:
    return f"'{path}'" if path else subject


def _rule(error: ValidationError, subject: str) -> str:
    """Return what the value must be, as the second half of a sentence."""
    kind: Any = error.kind
    match kind:
        case ValidationErrorKind.AnyOf() | ValidationErrorKind.OneOfNotValid():
            return _alternatives(error, kind.context, subject)
        case ValidationErrorKind.OneOfMultipleValid():
            return "matches more than one of the alternatives under 'oneOf'"
        case ValidationErrorKind.Type():
            return f"must be {_either(kind.types)}"
        case ValidationErrorKind.Enum():
            return _cut(f"must be one of {', '.join(map(_write, kind.options))}")
        case ValidationErrorKind.Constant():
            return _cut(f"must be {_write(kind.expected_value)}")
        case ValidationErrorKind.MultipleOf():
            return f"must be a multiple of {kind.multiple_of}"
        case ValidationErrorKind.Pattern():
            return _cut(f"must match the pattern {pattern.as_written(kind.pattern)}")
    bound = _BOUNDS.get(type(kind))
    if bound is not None:
        words, unit = bound
        return f"must {words} {kind.limit}{_plural(unit, kind.limit)}"
    return _PLAIN.get(type(kind), f"violates '{kind.name}' of the schema")


_BOUNDS: dict[type[ValidationErrorKind], tuple[str, str]] = {
    ValidationErrorKind.Minimum: ("be at least", ""),
    ValidationErrorKind.Maximum: ("be at most", ""),
    ValidationErrorKind.ExclusiveMinimum: ("be greater than", ""),
    ValidationErrorKind.ExclusiveMaximum: ("be less than", ""),
    ValidationErrorKind.MinLength: ("have at least", "character"),
    ValidationErrorKind.MaxLength: ("have at most", "character"),
    ValidationErrorKind.MinItems: ("have at least", "item"),
    ValidationErrorKind.MaxItems: ("have at most", "item"),
    ValidationErrorKind.AdditionalItems: ("have at most", "item"),
    ValidationErrorKind.MinProperties: ("have at least", "member"),
    ValidationErrorKind.MaxProperties: ("have at most", "member"),
}

_PLAIN: dict[type[ValidationErrorKind], str] = {
    ValidationErrorKind.UniqueItems: "must not have equal items",
    ValidationErrorKind.Contains: "must contain the items that the schema asks for",
    ValidationErrorKind.UnevaluatedItems: "has more items than the schema allows",
    ValidationErrorKind.FalseSchema: "is not allowed",
    ValidationErrorKind.Not: "must not match the schema under 'not'",
    ValidationErrorKind.BacktrackLimitExceeded: "takes too long to match against its pattern",
}


def _alternatives(error: ValidationError, branches: list[list[ValidationError]], subject: str) -> str:
    """Name the types when the branches differ by type alone, else what the nearest branch lacks."""
    firsts = [branch[0] for branch in branches if len(branch) == 1 and branch[0].instance_path == error.instance_path]
    kinds = [first.kind for first in firsts]
    types = [kind.types for kind in kinds if isinstance(kind, ValidationErrorKind.Type)]
    if len(types) == len(branches):
        return f"must be {_either(dict.fromkeys(itertools.chain.from_iterable(types)))}"
    among = f"{len(branches)}{_plural('alternative', len(branches))}"
    if all(isinstance(kind, ValidationErrorKind.FalseSchema) for kind in kinds) and len(kinds) == len(branches):
        return f"must match one of {among}"
    # The branch that got deepest is the one that was meant: {"id": "x"} is nearer to an object with an id than to text.
    nearest = max(branches, key=lambda branch: (max(len(each.instance_path) for each in branch), -len(branch)))
    words = "; ".join(violation.message for violation in itertools.islice(_explain_all(nearest, subject), 3))
    return _cut(f"must match one of {among} (nearest: {words})", 400)


def _either(words: Iterable[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def _plural(unit: str, count: Any) -> str:
    return f" {unit}{'' if count == 1 else 's'}" if unit else ""


def _write(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _cut(text: str, longest: int = 200) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
