"""The published schema of a manifest: the file itself, and whether a manifest has the shape that it says."""

from __future__ import annotations

from importlib import resources
from typing import Any

from .. import jsontext
from ..schema import compile as compile_schema

SCHEMA = resources.files(__package__).joinpath("manifest-v1.schema.json").read_bytes()
"""The schema that owners of Tool Services check and write their manifests with, as the file that is published."""


def _asserting() -> Any:
    """Return what of the schema asserts something; its hints to editors follow schemas to any depth."""
    schema = jsontext.parse(SCHEMA)
    schema["$defs"]["hints"] = True
    return schema


ASSERTING = _asserting()
"""The schema without what it only suggests to editors."""

_COMPILED = compile_schema(jsontext.encode(ASSERTING))


def fits(document: Any) -> bool:
    """
    Return whether a manifest has the shape, as most have; ``shape`` says what is wrong with one that has not.

    This engine takes a tenth of the time of that one.
    """
    return _COMPILED.fits(document)
