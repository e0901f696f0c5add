"""
JSON as text with its digits and characters kept.

The only module of the package that may parse or write JSON that belongs to someone else: ``json.loads`` and
``json.dumps`` elsewhere would quietly turn ``1.10`` into ``1.1`` and ``1e400`` into infinity. A parsed value is for
looking at; what is passed on is the text it came from, held in a ``Fragment``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

from .turns import at_length

Fragment = msgspec.Raw
"""JSON text that is already valid; ``encode`` puts it in as it stands."""

MAX_DEPTH = 512
"""Deepest nesting that is read. Precedents: .NET 64, serde_json 128, PHP 512, orjson and simdjson 1024."""

MAX_INT_DIGITS = 4300
"""Python's own bound for ``int(text)``, which takes quadratic time; longer integers are held as ``Decimal``."""

_STRUCTURE = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[{]|[\]}]')
"""Possessive, or each character of a string takes up to 80 bytes, for going back to it."""


class NotJson(ValueError):
    """Raised when a text is no JSON that can be read; the message says why, for a person."""


class DuplicateMember(NotJson):
    """Raised when an object names a member twice, so that two readers may see two values."""

    def __init__(self, name: str) -> None:
        super().__init__(f"an object has two members named {name!r}")
        self.name = name


class Digits(str):
    """An integer as it was written."""

    __slots__ = ()


def _integer(digits: str) -> int | Decimal:
    return int(digits) if len(digits) <= MAX_INT_DIGITS else Decimal(digits)


def _fraction(digits: str) -> Decimal:
    try:
        return Decimal(digits)
    except InvalidOperation:
        raise NotJson("a number's exponent is out of range") from None


def _constant(name: str) -> Any:
    raise NotJson(f"{name} is no JSON value")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise DuplicateMember(Counter(name for name, _ in pairs).most_common(1)[0][0])
    return members


_STRICT = json.JSONDecoder(
    parse_int=_integer, parse_float=_fraction, parse_constant=_constant, object_pairs_hook=_unique
).decode
_LAST_WINS = json.JSONDecoder(parse_int=_integer, parse_float=_fraction, parse_constant=_constant).decode
_REPLACED = "\ufffd"
_LENIENT = json.JSONDecoder(parse_int=Digits).decode
_ENCODE = msgspec.json.Encoder().encode
_MEMBERS = msgspec.json.Decoder(dict[str, Fragment]).decode
_ELEMENTS = msgspec.json.Decoder(list[Fragment]).decode
_STRING = msgspec.json.Decoder(str).decode


def parse(text: bytes, *, unique: bool = True) -> Any:
    """
    Read JSON bytes into a value to look at: integers exact, other numbers as ``Decimal``.

    Args:

        text: The bytes; UTF-8 without a byte order mark.

        unique: Refuse objects that name a member twice; else the last one wins.

    Raises:

        DuplicateMember: *unique* is set and an object names a member twice.
        NotJson: Bad UTF-8, a lone surrogate, NaN or Infinity, nesting deeper than ``MAX_DEPTH``, or a syntax error.
    """
    with at_length(len(text)):
        return _parse(text, unique)


def _parse(text: bytes, unique: bool) -> Any:
    try:
        source = text.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise NotJson(f"it is not UTF-8 (byte {fault.start})") from None
    try:
        value = (_STRICT if unique else _LAST_WINS)(source)
    except json.JSONDecodeError as fault:
        if source.startswith("\ufeff"):
            raise NotJson("it begins with a byte order mark, which JSON has not") from None
        raise NotJson(f"{fault.msg} (line {fault.lineno}, column {fault.colno})") from None
    except RecursionError:
        raise NotJson(f"it is nested deeper than {MAX_DEPTH} levels") from None
    if source.count("[") + source.count("{") > MAX_DEPTH and _depth(source) > MAX_DEPTH:
        raise NotJson(f"it is nested deeper than {MAX_DEPTH} levels")
    if "\\u" in source:
        _refuse_lone_surrogates(text)
    return value


def glance(text: bytes) -> Any:
    """Read a text that ``parse`` has refused as far as the standard library goes along; ``None``: not even so."""
    try:
        with at_length(len(text)):
            return _LENIENT(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def written(value: Any) -> Fragment:
    """Write a string or an integer that ``glance`` has found; anything else as ``null``."""
    if isinstance(value, Digits):
        return Fragment(value.encode("ascii"))
    if not isinstance(value, str) or _REPLACED in value:
        return Fragment(b"null")
    try:
        return Fragment(_ENCODE(value))
    except UnicodeEncodeError:
        return Fragment(b"null")


def _depth(source: str) -> int:
    """Return the deepest nesting of a valid JSON text."""
    deepest = depth = 0
    for match in _STRUCTURE.finditer(source):
        mark = match[0]
        if mark in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in "]}":
            depth -= 1
    return deepest


def _refuse_lone_surrogates(text: bytes) -> None:
    # The standard library reads "\ud800" into a str that no encoder takes; msgspec refuses it, and is quick to ask.
    try:
        msgspec.json.format(text, indent=-1)
    except msgspec.DecodeError:
        raise NotJson("a string holds half of a surrogate pair, which is no character") from None


def string(text: bytes) -> str:
    """Return the characters of a JSON string, which ``compact`` has accepted."""
    return _STRING(text)


def members(text: bytes | Fragment) -> dict[str, Fragment]:
    """Split the text of a JSON object, which ``parse`` has accepted, into its members' own texts."""
    return _MEMBERS(text)


def elements(text: bytes | Fragment) -> list[Fragment]:
    """Split the text of a JSON array, which ``parse`` has accepted, into its elements' own texts."""
    return _ELEMENTS(text)


def compact(text: bytes | Fragment) -> bytes:
    """
    Return the same JSON without the white space between its tokens; every digit, escape and duplicate is kept.

    Raises:

        NotJson: *text* is not UTF-8 JSON, holds a lone surrogate, or is nested too deeply.
    """
    try:
        source = bytes(text)
        source.decode("utf-8")
        return msgspec.json.format(source, indent=-1)
    except UnicodeDecodeError as fault:
        raise NotJson(f"it is not UTF-8 (byte {fault.start})") from None
    except msgspec.DecodeError as fault:
        raise NotJson(_why(source, str(fault))) from None
    except RecursionError:
        raise NotJson("it is nested too deeply") from None


def indented(text: bytes | Fragment) -> bytes:
    """
    Return the same JSON with a line for each value, for a person; every digit and escape is kept.

    Raises:

        NotJson: *text* is no JSON, or is nested too deeply.
    """
    return msgspec.json.format(compact(text), indent=2)


def _why(text: bytes, otherwise: str) -> str:
    """Return why *text* is no JSON, in the words of ``parse``, which names the place."""
    try:
        parse(text, unique=False)
    except NotJson as fault:
        otherwise = str(fault)
    return otherwise


def encode(value: Any) -> bytes:
    """
    Write a value of ours as compact UTF-8 JSON; a ``Fragment`` in it goes in as it stands.

    Raises:

        UnicodeEncodeError: A string holds a lone surrogate.
    """
    return _ENCODE(value)
