"""
A Tool Service's manifest, from bytes to tools (pure: no I/O, no clock).

The published schema (``manifest-v1.schema.json``) says what shape a manifest has; this module says the rest, and says
each fault in words with its place. One invalid tool is left out and the others are served; only what spoils the whole
manifest is a ``ManifestFault``. See ``docs/contracts/tool-service-manifest.md``.
"""

from __future__ import annotations

import codecs
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

from .. import jsontext
from ..jsontext import Fragment
from ..schema import BadSchema, Schema, step, strange_patterns, subschemas
from ..schema import compile as compile_schema
from . import published
from .findings import writing_verb
from .snapshot import LeftOut, Manifest, MirroredHeader, Tool

SHOWN = ("name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "_meta")
"""The fields of a tool that callers see, in the order in which they see them."""

MAX_REASONS = 5
"""As many faults of one tool as its reason lists."""

MAX_FAULTS = 10_000
"""With more of them a manifest is not read further: some are millions of entries of something else."""

LONG_DESCRIPTION = 1024
"""OpenAI's limit for the description of a function; other models take more and pay for it in every conversation."""

LONG_NAME = 64
"""The longest name of a function that the model APIs of OpenAI and Anthropic take."""

_MARK = "x-mcp-header"


class ManifestFault(ValueError):
    """Raised when a manifest cannot be used as a whole; the message is a clause that says why."""


class _Fault(NamedTuple):
    place: str
    reason: str


def read(text: bytes, *, service: str) -> Manifest:
    """
    Read the manifest of a Tool Service.

    Args:

        text: The manifest as it came; a byte order mark in front is dropped.

        service: The name that the configuration gives the Tool Service; its tools carry it.

    Raises:

        ManifestFault: It is no JSON, no object, of another version, has no list of tools, or too many faults to tell.
    """
    text = text.removeprefix(codecs.BOM_UTF8)
    try:
        document = jsontext.parse(text)
    except jsontext.NotJson as fault:
        raise ManifestFault(f"the manifest is no JSON that can be read: {fault}") from None
    faults = _shape_faults(document)
    if whole := faults.get(None):
        place = whole[0].place or "the manifest"
        raise ManifestFault(f"{place}: {_reason(whole)}")
    tools: dict[str, Tool] = {}
    left_out: list[LeftOut] = []
    fragments = jsontext.elements(jsontext.members(text)["tools"])
    for index, (entry, fragment) in enumerate(zip(document["tools"], fragments, strict=True)):
        place = f"tools[{index}]"
        found = _read_tool(entry, fragment, place, service, faults.get(index, []))
        if isinstance(found, Tool) and found.name in tools:
            found = [_Fault(f"{place}.name", f"{tools[found.name].place} already has this name")]
        if isinstance(found, Tool):
            tools[found.name] = found
        else:
            several = tuple(found[:MAX_REASONS]) if len(found) > 1 else ()
            left_out.append(LeftOut(_label(entry), found[0].place, _reason(found), several))
    about = document.get("toolService", {})
    return Manifest(about.get("name"), about.get("version"), tuple(tools.values()), tuple(left_out))


def _reason(faults: Sequence[_Fault]) -> str:
    """Return the reason of the first fault, whose place is told beside it, then the others with their places."""
    first, *others = faults
    told = [first.reason, *(f"{place}: {reason}" for place, reason in others[: MAX_REASONS - 1])]
    if len(faults) > MAX_REASONS:
        told.append(f"and {len(faults) - MAX_REASONS} more")
    return "; ".join(told)


def _label(entry: Any) -> str:
    """Return what to call a tool that may not even have a name; safe in a log line."""
    name = entry.get("name") if isinstance(entry, dict) else None
    if not isinstance(name, str) or not name:
        return "(no name)"
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in name[:128])


def _shape_faults(document: Any) -> Mapping[int | None, list[_Fault]]:
    """Return what the published schema has to say: under its index for a tool, under ``None`` for the whole."""
    if published.fits(document):
        return {}
    # Only a faulty manifest needs the words, and the library that finds them takes 4 MB in every process.
    from . import shape

    faults: dict[int | None, list[_Fault]] = defaultdict(list)
    for count, (path, reason) in enumerate(shape.faults(document), 1):
        if count > MAX_FAULTS:
            raise ManifestFault(f"the manifest: has more than {MAX_FAULTS} faults")
        tool = path[1] if path[:1] == ["tools"] and len(path) > 1 else None
        faults[tool].append(_Fault(reduce(step, path, ""), reason))
    return faults


def _quote(value: Any) -> str:
    return jsontext.encode(value).decode()


# --- one tool: what a schema cannot say ------------------------------------------------------------------------------


def _read_tool(entry: Any, fragment: Fragment, place: str, service: str, of_shape: list[_Fault]) -> Tool | list[_Fault]:
    """Return the tool, or what is wrong with it; *of_shape* is what the published schema has found."""
    if not isinstance(entry, dict):
        return of_shape
    raw = jsontext.members(fragment)
    shown = {field: Fragment(jsontext.compact(raw[field])) for field in SHOWN if field in raw}
    schemas, schema_faults = _compile(entry, shown, place)
    mirrored, mark_faults = _read_marks(entry.get("inputSchema"), f"{place}.inputSchema")
    endpoint_faults = [_Fault(f"{place}.endpoint", reason) for reason in _endpoint_faults(entry.get("endpoint"))][:1]
    told = {fault.place for fault in of_shape}
    deeper = [fault for fault in (*endpoint_faults, *schema_faults, *mark_faults) if fault.place not in told]
    if faults := of_shape + deeper:
        return faults
    milliseconds = entry.get("timeoutMs")
    result_format: Literal["mcp"] | None = "mcp" if "resultFormat" in entry else None
    return Tool(
        name=entry["name"],
        service=service,
        endpoint=entry["endpoint"],
        shown=shown,
        input_schema=schemas["inputSchema"],
        output_schema=schemas.get("outputSchema"),
        output_is_object=_is_object(entry.get("outputSchema")),
        timeout_s=None if milliseconds is None else int(milliseconds) / 1000,
        result_format=result_format,
        mirrored=mirrored,
        warnings=tuple(_warnings(entry)),
        place=place,
    )


def _compile(
    entry: Mapping[str, Any], shown: Mapping[str, Fragment], place: str
) -> tuple[dict[str, Schema], list[_Fault]]:
    """Return the schemas of a tool that can be used, and what is wrong with the others."""
    schemas: dict[str, Schema] = {}
    faults: list[_Fault] = []
    for field in ("inputSchema", "outputSchema"):
        if not isinstance(entry.get(field), dict):
            continue
        try:
            schemas[field] = compile_schema(bytes(shown[field]))
        except BadSchema as fault:
            where = f".{fault.place}" if fault.place else ""
            faults.append(_Fault(f"{place}.{field}{where}", fault.reason))
    return schemas, faults


def _is_object(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "object"


def _endpoint_faults(endpoint: Any) -> Iterator[str]:
    """Yield the reasons why an endpoint, which starts with ``/``, might lead elsewhere than its author meant."""
    if not isinstance(endpoint, str):
        return
    # What is percent-encoded counts too: clients, proxies and servers on the way may decode it.
    for text in (endpoint, unquote(endpoint, errors="replace")):
        if re.search(r"[\x00-\x1f\x7f-\x9f]", text):
            yield "must not hold a control character"
        for forbidden in ("//", "..", "\\"):
            if forbidden in text:
                yield f"must not hold {_quote(forbidden)}"
    if "#" in endpoint:
        yield 'must not hold a fragment ("#")'
    if not re.fullmatch(r"[!-~]*", endpoint):
        yield "must be percent-encoded: it holds a space or a character outside ASCII"
    if re.search(r"%(?![0-9A-Fa-f]{2})", endpoint):
        yield 'must have two hexadecimal digits after each "%"'


def _read_marks(schema: Any, place: str) -> tuple[tuple[MirroredHeader, ...], list[_Fault]]:
    """Return the ``x-mcp-header`` marks of an ``inputSchema``, and what is wrong with them."""
    paths = _property_paths(schema)
    mirrored: dict[str, MirroredHeader] = {}
    faults: list[_Fault] = []
    for where, part in subschemas(schema, place):
        if not isinstance(part, dict) or _MARK not in part:
            continue
        name, kind, path = part[_MARK], part.get("type"), paths.get(id(part))
        if path is None:
            reason = "must be on a property that is reached from the root through properties alone"
        elif not isinstance(name, str) or not re.fullmatch("[A-Za-z0-9-]+", name):
            reason = "must be one or more of the characters A-Z a-z 0-9 -"
        elif name.lower() in mirrored:
            reason = f"{_quote(name)} is already the header of another property (upper and lower case are one)"
        elif kind not in ("string", "integer", "boolean"):
            reason = 'must be on a property whose type is "string", "integer" or "boolean"'
        else:
            mirrored[name.lower()] = MirroredHeader(name, path, kind)
            continue
        faults.append(_Fault(f"{where}.{_MARK}", reason))
    return tuple(mirrored.values()), faults


def _property_paths(schema: Any) -> dict[int, tuple[str, ...]]:
    """Return the property path of each schema that is reached through ``properties`` alone, by its identity."""
    paths: dict[int, tuple[str, ...]] = {}
    todo: list[tuple[tuple[str, ...], Any]] = [((), schema)] if isinstance(schema, dict) else []
    while todo:
        path, parent = todo.pop()
        properties = parent.get("properties")
        for name, part in properties.items() if isinstance(properties, dict) else ():
            if isinstance(part, dict):
                paths[id(part)] = (*path, name)
                todo.append((paths[id(part)], part))
    return paths


def _warnings(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is legal and harmful about a tool."""
    description = entry["description"]
    if not description.strip():
        yield "description is empty: a model cannot know what the tool is for"
    if len(description) > LONG_DESCRIPTION:
        yield f"description has {len(description)} characters; some models take {LONG_DESCRIPTION} at most"
    if len(entry["name"]) > LONG_NAME:
        yield f"name has {len(entry['name'])} characters; some models take {LONG_NAME} at most"
    properties = entry["inputSchema"].get("properties", {})
    if silent := [step("", name) for name, part in properties.items() if not part.get("description")]:
        more = f" and {len(silent) - MAX_REASONS} more" if len(silent) > MAX_REASONS else ""
        yield f"inputSchema.properties without a description: {', '.join(silent[:MAX_REASONS])}{more}"
    for field in ("inputSchema", "outputSchema"):
        if strange := [(f"{field}.{place}", why) for place, why in strange_patterns(entry.get(field))]:
            place, why = strange[0]
            more = f", and {len(strange) - 1} more" if len(strange) > 1 else ""
            yield f"{place} is no ECMA-262 regular expression: {why}{more}"
    if entry.get("annotations", {}).get("readOnlyHint") is True:
        yield from _contradictions(entry)


def _contradictions(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield what speaks against a tool's own word that it only reads."""
    if entry["annotations"].get("destructiveHint") is True:
        yield "annotations.readOnlyHint is true and so is destructiveHint: it cannot only read and destroy"
    elif verb := writing_verb(entry["name"]):
        yield f"annotations.readOnlyHint is true and the name says that it does more than read: {verb}"
