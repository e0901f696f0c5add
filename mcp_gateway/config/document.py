"""
The text of a configuration file as plain values, with ``${NAME}`` filled from the environment.

YAML is read by the core schema of YAML 1.2: ``2025-11-25``, ``yes`` and ``1:30`` are strings. The environment is filled
in after the text has been parsed, so that a value can never bring YAML of its own. What YAML allows and a configuration
cannot mean is a fault: a key given twice, a key that is no string, a tag. Aliases are read; the number and the depth of
the values they expand to are bounded, and so is the file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

Place = tuple[str | int, ...]
"""Where a value stands, from the top: ``("routes", 1, "key")``."""

MAX_FILE_BYTES = 262_144
"""Largest file that is read; one with fifty routes has some 30 kB, and pyyaml takes ten seconds for a megabyte."""

MAX_VALUES = 20_000
"""Most values that a file may hold once its aliases are expanded; a "billion laughs" file holds 10⁹."""

MAX_DEPTH = 32
"""Deepest nesting that is read; the deepest key of a configuration is at level 6."""

MAX_DIGITS = 18
"""Longest whole number that is read, sign and leading zeros included: no key may be as large."""

_TEXT, _LIST, _MAPPING = "tag:yaml.org,2002:str", "tag:yaml.org,2002:seq", "tag:yaml.org,2002:map"
_PLAIN = "plain"
_NULL = re.compile(r"~|null|Null|NULL|")
_FLAG = re.compile(r"true|True|TRUE|false|False|FALSE")
_WHOLE = re.compile(r"[-+]?[0-9]+")
_REAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")
_REFERENCE = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(:-((?:(?!\$\{)[^}])*))?\}|\$\{")


class Unreadable(ValueError):
    """Raised when a text is no YAML that can be read; the message says why, for a person."""


class Filled(str):
    """
    A string that came, at least in part, from the environment.

    It may stand where a number, a boolean or a list is wanted, and counts as not given when it is empty. Its text may
    be a secret and never goes into a fault.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Broken:
    """Stands where a value cannot be had; whoever wants the value reports *why*."""

    why: str


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a configuration, and where."""

    place: Place
    message: str

    def line(self) -> str:
        """Return it as the line that a person reads."""
        return f"{dotted(self.place)}: {self.message}"

    def order(self) -> tuple[tuple[bool, int, str], ...]:
        """Return the key that sorts problems by place; members of a list by their number."""
        return tuple((True, step, "") if isinstance(step, int) else (False, 0, step) for step in self.place)


def dotted(place: Place) -> str:
    """Return *place* as a path, e.g. ``routes[1].tool_services[0].base_url``; odd keys are quoted, escaped and cut."""
    if not place:
        return "(top level)"
    text = ""
    for step in place:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN_KEY.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"[{step[:64]!a}]"
    return text


def plain(text: str) -> Any:
    """Return what an unquoted YAML scalar means: ``None``, a boolean, a number, or *text* itself."""
    if _NULL.fullmatch(text):
        return None
    if _FLAG.fullmatch(text):
        return text[0] in "tT"
    if _WHOLE.fullmatch(text):
        return int(text) if len(text) <= MAX_DIGITS else Broken("is too long a number")
    if _REAL.fullmatch(text):
        value = float(text)
        return value if math.isfinite(value) else Broken("is too large a number")
    return text


def fill(text: str, environ: Mapping[str, str]) -> str | Broken:
    """
    Return *text* with its ``${NAME}`` and ``${NAME:-default}`` replaced from *environ*, and ``$${`` by ``${``.

    The default is taken when the variable is not set or empty. What a variable holds is not looked at again.
    """
    faults: list[str] = []
    filled = False

    def replacement(match: re.Match[str]) -> str:
        nonlocal filled
        name, with_default, default = match.groups()
        if name is None:
            if match[0] == "$${":
                return "${"
            faults.append("holds a '${' that begins neither ${NAME} nor ${NAME:-default}; for '${' itself write '$${'")
            return ""
        filled = True
        value = environ.get(name)
        if with_default and not value:
            return default
        if value is None:
            faults.append(f"the environment variable {name} is not set")
            return ""
        if _SURROGATE.search(value):
            faults.append(f"the environment variable {name} is not UTF-8")
        return value

    result = _REFERENCE.sub(replacement, text)
    if faults:
        return Broken("; ".join(dict.fromkeys(faults)))
    return Filled(result) if filled else result


class _Loader(yaml.SafeLoader):
    """Composes nodes and constructs nothing; notes which scalars stand plain, and leaves their meaning to ``plain``."""

    def resolve(self, kind: type[yaml.Node], _value: Any, implicit: Any) -> str:
        if kind is yaml.ScalarNode:
            return _PLAIN if implicit[0] else _TEXT
        return _LIST if kind is yaml.SequenceNode else _MAPPING


class _Reader:
    """
    Turns nodes into values and notes what is wrong on the way.

    Args:

        environ: Where ``${NAME}`` is looked up.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._values = 0
        self.problems: list[Problem] = []

    def value(self, node: yaml.Node, place: Place) -> Any:
        self._values += 1
        if self._values > MAX_VALUES:
            raise Unreadable(f"it holds more than {MAX_VALUES} values, aliases counted as often as they are used")
        if len(place) > MAX_DEPTH:
            raise Unreadable(f"it is nested deeper than {MAX_DEPTH} levels (line {node.start_mark.line + 1})")
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if isinstance(node, yaml.SequenceNode) and node.tag == _LIST:
            return [self.value(item, (*place, index)) for index, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode) and node.tag == _MAPPING:
            return self._mapping(node, place)
        return _tagged(node)

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        text = node.value
        if _SURROGATE.search(text):
            return Broken("holds half of a surrogate pair, which is no character")
        if node.tag not in (_PLAIN, _TEXT):
            return _tagged(node)
        value = plain(text) if node.tag == _PLAIN else text
        return fill(value, self._environ) if isinstance(value, str) else value

    def _mapping(self, node: yaml.MappingNode, place: Place) -> dict[str, Any]:
        members: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = _key(key_node)
            if key is None:
                self.problems.append(Problem(place, f"the key in line {line} must be a string"))
            elif key in members:
                self.problems.append(Problem((*place, key), f"is given twice (lines {lines[key]} and {line})"))
            else:
                lines[key] = line
                members[key] = self.value(value_node, (*place, key))
        return members


def _key(node: yaml.Node) -> str | None:
    if not isinstance(node, yaml.ScalarNode) or _SURROGATE.search(node.value):
        return None
    text: str = node.value
    return text if node.tag == _TEXT or (node.tag == _PLAIN and isinstance(plain(text), str)) else None


def _tagged(node: yaml.Node) -> Broken:
    return Broken(f"has a YAML tag (line {node.start_mark.line + 1}), which is not read; write the plain value")


def _composed(text: str) -> yaml.Node | None:
    try:
        return yaml.compose(text, _Loader)
    except yaml.reader.ReaderError as fault:
        line = text.count("\n", 0, fault.position) + 1
        why = f"the character U+{fault.character:04X} is not allowed (line {line})"
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark
        place = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        why = ", ".join(part for part in (fault.context, fault.problem) if part) + place
    except RecursionError:
        raise Unreadable(f"it is nested deeper than {MAX_DEPTH} levels") from None
    except (ValueError, OverflowError):
        # pyyaml reads "\UFFFFFFFF" and "%YAML 1.999…" with chr() and int(), and lets their exceptions through.
        why = "an escape or a directive holds a number that is out of range"
    raise Unreadable(f"it is no YAML: {why}")


def read(raw: bytes, environ: Mapping[str, str]) -> tuple[dict[str, Any], Sequence[Problem]]:
    """
    Read a configuration file's bytes into its top-level mapping, together with what is wrong with the text.

    Raises:

        Unreadable: There is no mapping to be had: bad UTF-8, a syntax error, or more than a configuration can be.
    """
    if len(raw) > MAX_FILE_BYTES:
        raise Unreadable(f"it is larger than {MAX_FILE_BYTES} bytes")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise Unreadable(f"it is not UTF-8 (byte {fault.start})") from None
    node = _composed(text)
    if node is None:
        raise Unreadable("it is empty; it must be a mapping")
    reader = _Reader(environ)
    value = reader.value(node, ())
    if not isinstance(value, dict):
        raise Unreadable("it must be a mapping of keys to values")
    return value, reader.problems
