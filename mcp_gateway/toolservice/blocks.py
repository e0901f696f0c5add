"""
The MCP result that a tool with ``resultFormat: mcp`` answers with, checked before it is passed on.

One block of a wrong shape makes whole MCP clients throw away the answer, so each is checked as strictly as they do.
Members that are not known here are passed on. See ``docs/contracts/tool-service-manifest.md``.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from .. import jsontext
from ..jsontext import Fragment

_ROLES = ("assistant", "user")


class BadResult(ValueError):
    """Raised when an answer is no MCP result; names the place, e.g. ``content[2].data: must be base64``."""

    def __init__(self, place: str, rule: str) -> None:
        super().__init__(f"{place}: {rule}")


@dataclass(frozen=True, slots=True)
class McpResult:
    """
    A result that has been checked.

    Args:

        content: Its blocks, at least one, each a dict of JSON texts; ``_meta`` of the first is such a dict too.

        is_error: What it says of itself.

        structured: Its ``structuredContent`` as JSON text, if it has one.
    """

    content: tuple[dict[str, Any], ...]
    is_error: bool
    structured: Fragment | None


def read(text: bytes) -> McpResult:
    """
    Check an MCP result.

    Args:

        text: The answer as compact JSON.

    Raises:

        BadResult: It is no MCP result.
        NotJson: It is nested too deeply to be looked at.
    """
    value = jsontext.parse(text, unique=False)
    if not isinstance(value, dict):
        raise BadResult("the answer", "must be an object with a content list")
    if not isinstance(value.get("content"), list):
        raise BadResult("content", "must be a list")
    if not isinstance(value.get("isError", False), bool):
        raise BadResult("isError", "must be true or false")
    for number, block in enumerate(value["content"]):
        _check_block(block, f"content[{number}]")
    members = jsontext.members(text)
    return McpResult(
        content=_blocks(members["content"]),
        is_error=value.get("isError", False),
        structured=members.get("structuredContent"),
    )


def _blocks(content: Fragment) -> tuple[dict[str, Any], ...]:
    blocks: list[dict[str, Any]] = [dict(jsontext.members(block)) for block in jsontext.elements(content)]
    if not blocks:
        return ({"type": "text", "text": ""},)
    if "_meta" in blocks[0]:
        blocks[0]["_meta"] = jsontext.members(blocks[0]["_meta"])
    return tuple(blocks)


def _check_block(block: Any, place: str) -> None:
    if not isinstance(block, dict):
        raise BadResult(place, "must be an object")
    kind = block.get("type")
    required, optional = _KINDS.get(kind, (None, None)) if isinstance(kind, str) else (None, None)
    if required is None or optional is None:
        raise BadResult(f"{place}.type", f"must be one of {', '.join(_KINDS)}")
    _check_members(block, place, required, optional)


def _check_members(
    values: Mapping[str, Any], place: str, required: Mapping[str, _Rule], optional: Mapping[str, _Rule]
) -> None:
    for name, rule in required.items():
        if name not in values:
            raise BadResult(f"{place}.{name}", "is required")
        rule(values[name], f"{place}.{name}")
    for name, rule in optional.items():
        if name in values:
            rule(values[name], f"{place}.{name}")


_Rule = Callable[[Any, str], None]


def _string(value: Any, place: str) -> None:
    if not isinstance(value, str):
        raise BadResult(place, "must be a string")


def _base64(value: Any, place: str) -> None:
    _string(value, place)
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise BadResult(place, "must be base64") from None


def _object(value: Any, place: str) -> None:
    if not isinstance(value, dict):
        raise BadResult(place, "must be an object")


def _list(value: Any, place: str) -> None:
    if not isinstance(value, list):
        raise BadResult(place, "must be a list")


def _number(value: Any, place: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise BadResult(place, "must be a number")


def _audience(value: Any, place: str) -> None:
    _list(value, place)
    if not all(role in _ROLES for role in value):
        raise BadResult(place, f"must hold only {' and '.join(_ROLES)}")


def _priority(value: Any, place: str) -> None:
    _number(value, place)
    if not 0 <= value <= 1:
        raise BadResult(place, "must be from 0 to 1")


def _annotations(value: Any, place: str) -> None:
    _object(value, place)
    _check_members(value, place, {}, {"audience": _audience, "priority": _priority, "lastModified": _string})


def _icons(value: Any, place: str) -> None:
    _list(value, place)
    for number, icon in enumerate(value):
        _object(icon, f"{place}[{number}]")
        _check_members(icon, f"{place}[{number}]", {"src": _string}, {"mimeType": _string, "theme": _string})


def _resource(value: Any, place: str) -> None:
    _object(value, place)
    if "text" not in value and "blob" not in value:
        raise BadResult(place, "must have text or blob")
    _check_members(
        value, place, {"uri": _string}, {"mimeType": _string, "text": _string, "blob": _base64, "_meta": _object}
    )


_EVERY: dict[str, _Rule] = {"annotations": _annotations, "_meta": _object}
_MEDIA: dict[str, _Rule] = {"data": _base64, "mimeType": _string}
_LINK: dict[str, _Rule] = {
    "title": _string,
    "description": _string,
    "mimeType": _string,
    "size": _number,
    "icons": _icons,
}

_KINDS: dict[str, tuple[dict[str, _Rule], dict[str, _Rule]]] = {
    "text": ({"text": _string}, _EVERY),
    "image": (_MEDIA, _EVERY),
    "audio": (_MEDIA, _EVERY),
    "resource": ({"resource": _resource}, _EVERY),
    "resource_link": ({"uri": _string, "name": _string}, _EVERY | _LINK),
}
"""For each type of block: the members it must have, and those it may have, each with the rule for its value."""
