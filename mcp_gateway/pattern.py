r"""
A regular expression of ECMA-262, written out so that the schema engine cannot mean anything else by it.

A leaf. JSON Schema means ECMA-262 with the flag ``u``. The engine has two ways to match: in linear time, and by
backtracking where a pattern looks around or refers back. They differ from each other and from ECMA-262 in what ``\w``,
``.`` and ``\b`` are, and in what they can read. What is written out here, code point by code point, is the same to all.
What the engine takes rightly by itself is left to it, as are its shorter ways. ``docs/adr/0006-argument-validation.md``
says what stays different.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

_ONE = "pattern"
_NAMED = "patternProperties"
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

_LAST = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)
_SETS: dict[str, Sequence[tuple[int, int]]] = {
    "d": [(0x30, 0x39)],
    "w": [(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)],
    "s": [
        *[(0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029)],
        *[(0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)],
    ],
}
_CONTROLS = {"f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B, "0": 0x00}
_SYNTAX = frozenset("^$\\.*+?()[]{}|")
_CLASS_SYNTAX = frozenset("[]^\\-&~")
_ANYTHING = r"[\u{0}-\u{10FFFF}]"
_NOTHING = r"[^\u{0}-\u{10FFFF}]"

_BEHIND, _AHEAD = "(?<=[0-9A-Z_a-z])", "(?=[0-9A-Z_a-z])"
_NOT_BEHIND, _NOT_AHEAD = "(?<![0-9A-Z_a-z])", "(?![0-9A-Z_a-z])"
_BOUNDARIES = {
    # In linear time there is no look-around, and with backtracking no "(?-u:".
    True: {r"\b": r"(?-u:\b)", r"\B": r"(?-u:\B)"},
    False: {
        r"\b": f"(?:{_NOT_BEHIND}{_AHEAD}|{_BEHIND}{_NOT_AHEAD})",
        r"\B": f"(?:{_NOT_BEHIND}{_NOT_AHEAD}|{_BEHIND}{_AHEAD})",
    },
}

_NAME = r"(?:[^>\\]|\\u[0-9A-Fa-f]{4}|\\u\{[0-9A-Fa-f]+\})+"
_TOKEN = re.compile(
    rf"""
      (?P<plain> [^\\^$.*+?()\[\]{{}}|] )
    | (?P<stray> [\]}}] )
    | (?P<repeat> (?: [*+?] | \{{ (?P<least>[0-9]{{1,18}}) (?: ,(?P<most>[0-9]{{0,18}}) )? \}} ) \?? )
    | (?P<open> \( (?: \?(?P<kind> [:=!] | <[=!] | <(?P<name>{_NAME})> ) | (?!\?) ) )
    | (?P<close> \) )
    | (?P<fixed> [\^$|] | \\[bB] )
    | (?P<any> \. )
    | (?P<class> \[ (?P<not>\^?) )
    | \\ (?P<back> [1-9][0-9]{{0,17}} )
    | \\k< (?P<backname> {_NAME} ) >
    | (?P<escape> \\ )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(
    r"""
      (?P<control> [fnrtv] | 0(?![0-9]) )
    | c (?P<letter> [A-Za-z] )
    | x (?P<two> [0-9A-Fa-f]{2} )
    | (?P<pair> u[Dd][89ABab][0-9A-Fa-f]{2}\\u[Dd][C-Fc-f][0-9A-Fa-f]{2} )
    | u (?P<four> [0-9A-Fa-f]{4} )
    | u\{ 0* (?P<point> (?:10|[0-9A-Fa-f])?[0-9A-Fa-f]{1,4} ) \}
    | (?P<set> [dDsSwW] )
    | (?P<property> [pP]\{ (?:[A-Za-z_]+=)? [0-9A-Za-z_]+ \} )
    | (?P<itself> [\^$\\.*+?()\[\]{}|/] )
    | (?P<loose> [\x20-\x2f:-@_`~] )
    """,
    re.VERBOSE,
)
_OPERATOR = re.compile(r"&&|--|~~|\[")  # of classes, to the engine
_MARK = re.compile(r"\(\?<ecma_((?:[0-9a-f]{2})+)>\)\Z")


class _NotEcmaError(ValueError):
    """Raised when a text is no regular expression of ECMA-262; the message is a clause."""


@dataclass(frozen=True, slots=True)
class Pattern:
    r"""
    A pattern, and what the engine is to get for it.

    Args:

        written: What its author wrote.

        explicit: The same written out, but for ``\b`` and ``\B``; ``None``: the engine takes it rightly as it is, or it
            cannot be read.

        backtracks: It looks around or refers back, or nobody knows.

        bounded: It has a ``\b`` or ``\B``.

        fault: Why ECMA-262 does not take it with the flag ``u``, a clause; empty: it does.
    """

    written: str
    explicit: str | None
    backtracks: bool
    bounded: bool = False
    fault: str = ""

    def for_engine(self, *, linear: bool) -> str:
        """Return what to give the engine, which matches in linear time or else by backtracking."""
        if self.explicit is None:
            return self.written
        text = re.sub(r"\\[bB]", lambda found: _BOUNDARIES[linear][found[0]], self.explicit)
        # An empty group with what was written in its name: people are told of that, and the engine only has this text.
        return f"{text}(?<ecma_{self.written.encode().hex()}>)"


def as_written(text: str) -> str:
    """Return what the author of a pattern wrote, of which *text* was made for the engine."""
    mark = _MARK.search(text)
    return bytes.fromhex(mark[1]).decode(errors="replace") if mark else text


def read(written: str) -> Pattern:
    """Return what a pattern means; one that cannot be read is left to the engine as it is, with the reason."""
    try:
        return _Reader(written).read()
    except _NotEcmaError as fault:
        return Pattern(written, None, backtracks=True, fault=str(fault))


def write_out(schemas: Sequence[dict[str, Any]], *, portable: bool) -> bool:
    r"""
    Write out every pattern of the given schemas, in place, and the references that lead through one.

    Args:

        portable: Write nothing that is no ECMA-262 itself; there, ``\b`` needs backtracking.

    Returns:

        Whether linear time is enough for all of them; the engine has one way to match for all of a schema.
    """
    patterns = {text: read(text) for schema in schemas for _, text in of(schema)}
    linear = not any(each.backtracks or (portable and each.bounded) for each in patterns.values())
    texts = {text: each.for_engine(linear=linear) for text, each in patterns.items()}
    for schema in schemas:
        for keyword in REFERENCES:
            if isinstance(reference := schema.get(keyword), str) and _NAMED in reference:
                schema[keyword] = _led_through(reference, texts)
        if isinstance(schema.get(_ONE), str):
            schema[_ONE] = texts[schema[_ONE]]
        if isinstance(named := schema.get(_NAMED), dict):
            schema[_NAMED] = {texts[text]: part for text, part in named.items()}
    return linear


def of(schema: dict[str, Any]) -> Iterator[tuple[Sequence[str], str]]:
    """Yield the patterns that a schema itself holds, each with the way to it."""
    if isinstance(schema.get(_ONE), str):
        yield (_ONE,), schema[_ONE]
    if isinstance(named := schema.get(_NAMED), dict):
        yield from (((_NAMED, text), text) for text in named)


def _led_through(reference: str, texts: Mapping[str, str]) -> str:
    """Return a reference such as ``#/patternProperties/^a$`` with the pattern in it as the engine gets it."""
    steps = reference.split("/")
    for index, before in enumerate(steps[:-1]):
        name = unquote(steps[index + 1]).replace("~1", "/").replace("~0", "~")
        if before == _NAMED and name in texts:
            steps[index + 1] = quote(texts[name].replace("~", "~0").replace("/", "~1"), safe="")
    return "/".join(steps)


class _Group(NamedTuple):
    looks_around: bool
    number: int = 0  # 0: it captures nothing
    number_out: int = 0


class _Reader:
    """Goes once over a pattern, with what has been written out of it so far."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._out: list[str] = []
        self._open: list[_Group] = []
        self._taken: dict[int, tuple[int, int]] = {}
        self._names: dict[str, int] = {}
        self._referred: set[str | int] = set()
        self._groups = 0
        self._groups_out = 0
        self._may_refer = re.search(r"\\[1-9k]", text) is not None
        self._repeatable = False
        self._backtracks = False
        self._bounded = False
        self._foreign = False  # it has what the engine does not know, or takes for something else
        self._loose = ""

    def read(self) -> Pattern:
        while self._at < len(self._text):
            self._token()
        if self._open:
            raise self._fault("a group is not closed", len(self._text))
        if not self._referred <= {*self._names, *range(1, self._groups + 1)}:
            raise self._fault("it refers back to a group that it does not have", len(self._text))
        needed = self._backtracks or self._bounded or self._foreign
        return Pattern(self._text, "".join(self._out) if needed else None, self._backtracks, self._bounded, self._loose)

    def _token(self) -> None:
        start = self._at
        found = _TOKEN.match(self._text, start)
        if found is None:
            raise self._fault(f"'{self._text[start : start + 3]}' means nothing", start)
        self._at = found.end()
        match found.lastgroup:
            case "plain" | "stray":
                self._character(found)
            case "repeat":
                self._repeat(found)
            case "open":
                self._enter(found)
            case "close":
                self._leave(start)
            case "fixed":
                self._bounded |= found[0].startswith("\\")
                self._add(found[0], repeatable=False)
            case "any":
                self._add(r"[^\u{A}\u{D}\u{2028}\u{2029}]")
            case "back" | "backname":
                self._refer(int(found["back"]) if found["back"] else _unescaped(found["backname"]))
            case "class":
                self._add(self._class(found["not"], start))
            case _:
                self._add(self._escaped())

    def _add(self, text: str, *, repeatable: bool = True) -> None:
        self._out.append(text)
        self._repeatable = repeatable

    def _character(self, found: re.Match[str]) -> None:
        if found["stray"]:
            self._foreign = True
            self._note(f"'{found[0]}' must have a backslash", found.start())
        self._add(_literal(ord(found[0])))

    def _repeat(self, found: re.Match[str]) -> None:
        if not self._repeatable:
            raise self._fault(f"there is nothing that '{found[0]}' could repeat", found.start())
        if found["most"] and int(found["least"]) > int(found["most"]):
            raise self._fault(f"the numbers of '{found[0]}' are out of order", found.start())
        self._add(found[0], repeatable=False)

    def _enter(self, found: re.Match[str]) -> None:
        if found["kind"] is not None and found["name"] is None:
            looks_around = found["kind"] != ":"
            self._backtracks |= looks_around
            self._open.append(_Group(looks_around))
            self._add(found[0], repeatable=False)
            return
        self._groups += 1
        self._groups_out += 1
        self._open.append(_Group(False, self._groups, self._groups_out))
        self._add("((?:" if self._may_refer else "(", repeatable=False)
        if found["name"]:
            name = _unescaped(found["name"])
            if not name.replace("$", "_").isidentifier() or name in self._names:
                raise self._fault("a group has no name that may stand here, or that of another", found.start())
            self._names[name] = self._groups

    def _leave(self, start: int) -> None:
        if not self._open:
            raise self._fault("')' closes no group", start)
        group = self._open.pop()
        if not group.number or not self._may_refer:
            self._add(")", repeatable=not group.looks_around)
            return
        # The empty group at its end can be referred to where this one has taken part, and nowhere else.
        self._groups_out += 1
        self._taken[group.number] = group.number_out, self._groups_out
        self._add(")())")

    def _refer(self, to: str | int) -> None:
        self._referred.add(to)
        self._backtracks = True
        taken = self._taken.get(to if isinstance(to, int) else self._names.get(to, 0))
        # A group that took no part is empty to ECMA-262, where the engine finds no match; and one that is still open or
        # comes later took none, since a repetition forgets what the one before it took.
        self._add(rf"(?:\{taken[0]}|(?!\{taken[1]}))" if taken else "(?:|)")

    def _class(self, negated: str, start: int) -> str:
        parts: list[str] = []
        inside = self._at
        while not self._text.startswith("]", self._at):
            low = self._member(start)
            high = low
            if self._text.startswith("-", self._at) and not self._text.startswith("-]", self._at):
                self._at += 1
                high = self._member(start)
                if isinstance(low, str) or isinstance(high, str) or low > high:
                    raise self._fault("a range in [] has no order", start)
            parts.append(low if isinstance(low, str) else _ranges([(low, int(high))]))
        members = "".join(parts)
        self._foreign |= not members or _OPERATOR.search(self._text, inside, self._at) is not None
        self._at += 1
        if members:
            return f"[{negated}{members}]"
        return _ANYTHING if negated else _NOTHING

    def _member(self, start: int) -> str | int:
        """Return the next member of a class: a code point, or what stands for several in a class of the engine."""
        if self._at >= len(self._text):
            raise self._fault("'[' is not closed", start)
        character = self._text[self._at]
        self._at += 1
        if character != "\\":
            return ord(character)
        if self._text.startswith(("b", "-"), self._at):
            self._at += 1
            self._foreign |= self._text[self._at - 1] == "b"
            return 0x08 if self._text[self._at - 1] == "b" else 0x2D
        return self._escape()

    def _escaped(self) -> str:
        meant = self._escape()
        return _literal(meant) if isinstance(meant, int) else f"[{meant}]"

    def _escape(self) -> str | int:
        """Return what follows a backslash: a code point, or what stands for several in a class of the engine."""
        start = self._at - 1
        found = _ESCAPE.match(self._text, self._at)
        if found is None:
            raise self._fault(f"'{self._text[start : start + 2]}' means nothing", start)
        self._at = found.end()
        match found.lastgroup:
            case "control":
                self._foreign |= found[0] == "0"
                return _CONTROLS[found[0]]
            case "letter":
                return ord(found["letter"]) % 32
            case "two" | "four" | "point":
                point = int(found[found.lastgroup], 16)
                self._foreign |= point in _SURROGATES
                return point
            case "pair":
                self._foreign = True
                return ord(bytes.fromhex(found[0].replace("\\", "").replace("u", "")).decode("utf-16-be"))
            case "set":
                ranges = _SETS[found[0].lower()]
                return _ranges(ranges if found[0].islower() else _others(ranges))
            case "property":
                return f"\\{found[0]}"
            case "loose":
                self._note(f"'\\{found[0]}' must have no backslash", start)
        return ord(found[0])

    def _fault(self, reason: str, at: int) -> _NotEcmaError:
        shown = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in reason)
        return _NotEcmaError(f"{shown} (character {at + 1})")

    def _note(self, reason: str, at: int) -> None:
        """Keep the first thing that ECMA-262 refuses with the flag ``u``, although its meaning is plain."""
        self._loose = self._loose or str(self._fault(reason, at))


def _unescaped(name: str) -> str:
    return re.sub(r"\\u\{?([0-9A-Fa-f]+)\}?", lambda found: chr(min(int(found[1], 16), _LAST)), name)


def _literal(point: int) -> str:
    if point in _SURROGATES:
        return _NOTHING  # a text holds characters, and this is none
    character = chr(point)
    return f"\\u{{{point:X}}}" if character in _SYNTAX else character


def _others(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return what is in none of the *ranges*, which are in order."""
    ends = [0, *(edge for low, high in ranges for edge in (low - 1, high + 1)), _LAST]
    return list(zip(ends[::2], ends[1::2], strict=True))


def _ranges(ranges: Iterable[tuple[int, int]]) -> str:
    """Write ranges of code points for a class of the engine, which knows no surrogates."""
    written = []
    for first, last in ranges:
        low = _SURROGATES.stop if first in _SURROGATES else first
        high = _SURROGATES.start - 1 if last in _SURROGATES else last
        if low == high:
            written.append(_edge(low))
        elif low < high:
            written.append(f"{_edge(low)}-{_edge(high)}")
    return "".join(written)


def _edge(point: int) -> str:
    character = chr(point)
    return character if character.isprintable() and character not in _CLASS_SYNTAX else f"\\u{{{point:X}}}"
