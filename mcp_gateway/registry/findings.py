"""
What can be wrong with a tool's entry in a manifest, and what is legal and harmful: why, and how to mend it.

Data alone: ``manifest`` and the protocol's revisions find it, ``check`` explains it with what stands here, and
``docs/contracts/manifest-findings.md`` is held to it. What clients do was measured with the official SDKs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

LISTS_LOST = "clients throw away the whole list of tools, the other tools with it"
SOME_LISTS_LOST = "clients of the TypeScript SDK throw away the whole list of tools"


@dataclass(frozen=True, slots=True)
class Rule:
    """
    One thing that can be wrong.

    Args:

        code: Its name, for scripts and for looking it up; it stays.

        pattern: A regular expression for what it is found by: the place of a fault behind ``tools[n].``, or the
            sentence of a warning.

        harm: What would come of it if the tool were served, or comes of it since it is.

        mend: What to do.

        says: What the reason of a fault holds; empty: anything.
    """

    code: str
    pattern: str
    harm: str
    mend: str
    says: str = ""


FAULTS: tuple[Rule, ...] = (
    Rule(
        "name-taken",
        r"name",
        "a call by that name could reach either tool",
        "give one of the two another name; a prefix of your own helps",
        says="already has",
    ),
    Rule(
        "name",
        r"name",
        "clients and models take only such names; some refuse the tool, some the call",
        "use 1 to 128 of the characters A-Z a-z 0-9 _ - .",
    ),
    Rule("title", r"title", f"for null, {LISTS_LOST}", "give a string, or leave it out"),
    Rule(
        "description",
        r"description",
        f"without one a model cannot know what the tool is for; for null, {LISTS_LOST}",
        "say in a sentence or two what the tool is for",
    ),
    Rule(
        "header-mark",
        r"inputSchema(\..*)?\.x-mcp-header",
        "on MCP 2026-07-28 clients drop the tool, or every call of it is refused",
        "mark a string, integer or boolean property that is reached through properties alone; one name, one property",
    ),
    Rule(
        "dialect",
        r"(input|output)Schema\.\$schema",
        "arguments or answers could not be checked",
        "leave $schema out (2020-12), or name 2020-12, 2019-09 or draft-07",
    ),
    Rule(
        "reference",
        r"(input|output)Schema(\..*)?\.\$(ref|dynamicRef|recursiveRef)",
        "it would have to be fetched from elsewhere, or leads nowhere",
        'copy what it refers to into "$defs" of the same schema, and write "#/$defs/…"',
    ),
    Rule(
        "pattern",
        r"(input|output)Schema(\..*)?\.(pattern|patternProperties(\..*|\[.*\]))",
        "no client could check the value",
        "write an ECMA-262 regular expression",
        says="ECMA-262",
    ),
    Rule(
        "input-schema-root",
        r"inputSchema(\.type)?",
        SOME_LISTS_LOST,
        'write {"type": "object", "properties": {…}}; a tool without arguments has {"type": "object"}',
    ),
    Rule(
        "property-schema",
        r"inputSchema\.properties(\.[^.]+|\[[^]]+\])?",
        f"for true or false instead of a schema, {SOME_LISTS_LOST}",
        "write an object; {} takes anything",
    ),
    Rule(
        "required",
        r"inputSchema\.required(\[\d+\])?",
        SOME_LISTS_LOST,
        "list the names of the required properties at the root, each once",
    ),
    Rule(
        "schema",
        r"(input|output)Schema\..*",
        "clients that check arguments themselves fail; models are told what cannot be",
        "correct it: what stands at that place is no JSON Schema",
    ),
    Rule("output-schema", r"outputSchema", LISTS_LOST, "write a JSON Schema object, or leave it out"),
    Rule(
        "annotations",
        r"annotations(\..*)?",
        LISTS_LOST,
        'write true or false without quotes; "title" is a string; or leave it out',
    ),
    Rule(
        "icons",
        r"icons(.*)",
        LISTS_LOST,
        'each has "src" (https:// or data:), and may have "mimeType", "sizes" (a list), "theme" (light or dark)',
    ),
    Rule(
        "endpoint",
        r"endpoint",
        "a call could reach another host or another path than was meant",
        "write the path below base_url, from its / on, percent-encoded",
    ),
    Rule("timeout", r"timeoutMs", "the call would have no budget", "write whole milliseconds from 1 to 300000"),
    Rule(
        "result-format",
        r"resultFormat",
        "answers would be read in a way that was not meant",
        'write "mcp" if answers are whole MCP results, else leave it out',
    ),
    Rule("meta", r"_meta(\..*)?", LISTS_LOST, 'write an object, such as {"version": "1.2.0"}, or leave it out'),
    Rule("tool", r".*", "it is no tool", "write an object with name, description, inputSchema and endpoint"),
)
"""Each makes its tool invalid. The first whose pattern fits the place counts."""

WARNINGS: tuple[Rule, ...] = (
    Rule(
        "description-empty",
        r"description is empty",
        "a model cannot know what the tool is for, and does not choose it, or chooses it wrongly",
        "say in a sentence or two what the tool does, and when to use it",
    ),
    Rule(
        "description-long",
        r"description has \d+ characters",
        "some models refuse the whole request with all its tools; all pay for it in every conversation",
        "keep to 1,024 characters; move details into the descriptions of the parameters",
    ),
    Rule(
        "name-long",
        r"name has \d+ characters",
        "some models refuse the whole request with all its tools; clients add a prefix of their own",
        "keep to 64 characters, and to fewer if you can",
    ),
    Rule(
        "parameter-silent",
        r"inputSchema\.properties without a description",
        "a model guesses what to write there",
        "give each parameter a description: what it means, in which form, an example",
    ),
    Rule(
        "pattern-foreign",
        r"(input|output)Schema.* is no ECMA-262 regular expression",
        f"clients read it in ways of their own; for one in an outputSchema, {SOME_LISTS_LOST}",
        "write what ECMA-262 takes with the flag u: no (?i), no (?P<…>, ^ and $ for the ends, no needless backslash",
    ),
    Rule(
        "write-marked-read-only",
        r"annotations\.readOnlyHint ",
        "clients call read-only tools without asking a person",
        'write "readOnlyHint": false, and say with destructiveHint and idempotentHint what it does',
    ),
    Rule(
        "output-schema-unkept",
        r"shows an outputSchema on a route with structured_output: false",
        "every official client throws away a good answer of the tool",
        "leave out outputSchema, or set structured_output: true on the route",
    ),
    Rule(
        "output-schema-hidden",
        r"outputSchema has no root",
        "callers of MCP 2025-11-25 see no outputSchema and get no structuredContent",
        'give outputSchema the root "type": "object", and answer objects',
    ),
)
"""Each is legal; the tool is served. The first whose pattern begins the sentence counts."""

_TOOL = re.compile(r"tools\[\d+\]\.?")


def of_fault(place: str, reason: str = "") -> Rule:
    """Return the rule that a fault at *place* (``tools[3].inputSchema.type``) violates; its *reason* may tell more."""
    below = _TOOL.sub("", place, count=1)
    return next(rule for rule in FAULTS if rule.says in reason and re.fullmatch(rule.pattern, below, re.DOTALL))


def of_warning(sentence: str) -> Rule:
    """Return the rule that a warning is about."""
    return next(rule for rule in WARNINGS if re.match(rule.pattern, sentence))


# --- a write that calls itself a read --------------------------------------------------------------------------------

_WRITES: Sequence[str] = (
    "add append approve archive cancel clear create delete destroy disable drop edit enable insert modify move "
    "overwrite patch publish purge put remove rename replace reset restore revoke save send set submit update upload "
    "write"
).split()
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


def writing_verb(name: str) -> str | None:
    """Return the verb with which a tool's name says that it changes something (``core.delete_note``), if it does."""
    words = _WORDS.findall(name.rpartition(".")[2])
    first = words[0].lower() if words else ""
    return first if first in _WRITES else None
