"""Following ``$ref`` inside a document, never out of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from .faults import NoTool

MAX_STEPS = 20
"""As many references in a row as are followed; more are a circle."""


def resolve(document: Mapping[str, Any], value: Any) -> Any:
    """
    Return a schema, or what it stands for when it is a reference; it may point anywhere in the document.

    Raises:

        NoTool: The reference leaves the document, points nowhere, or leads in a circle.
    """
    return _follow(document, value, None)


def resolve_component(document: Mapping[str, Any], value: Any, section: str) -> Any:
    """
    Return a part of an operation, or what it stands for when it is a reference.

    Args:

        section: Where such parts stand under ``components``: the validator has seen what is there, and nowhere else.

    Raises:

        NoTool: As ``resolve``, or the reference points elsewhere.
    """
    return _follow(document, value, section)


def _follow(document: Mapping[str, Any], value: Any, section: str | None) -> Any:
    for _ in range(MAX_STEPS):
        if not isinstance(value, dict) or not isinstance(value.get("$ref"), str):
            return value
        reference = value["$ref"]
        value = lookup(document, reference)
        if section and not re.fullmatch(f"#/components/{section}/[^/]+", reference):
            raise NoTool(f"it refers to {reference[:100]!r}, where '#/components/{section}/…' is expected")
    raise NoTool("its references lead in a circle")


def lookup(document: Mapping[str, Any], reference: str) -> Any:
    """
    Return what *reference* points at (``#/components/schemas/Pet``).

    Raises:

        NoTool: It leaves the document, or points nowhere.
    """
    if not reference.startswith("#"):
        raise NoTool(
            f"it refers to {reference[:100]!r}, which leaves the document and is never fetched; bundle them first"
        )
    if reference != "#" and not reference.startswith("#/"):
        raise NoTool(f"it refers to {reference[:100]!r}; only references such as '#/components/schemas/…' are followed")
    value: Any = document
    for token in reference.split("/")[1:]:
        name = unquote(token).replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isascii() and name.isdigit() and len(name) < 9 and int(name) < len(value):
            value = value[int(name)]
        else:
            raise NoTool(f"it refers to {reference[:100]!r}, which is not there")
    return value
