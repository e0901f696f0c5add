"""
marshmallow schemas for what a caller sends, strict about JSON types and silent about members they do not name.

marshmallow's own fields convert (``"7"`` to 7, 1.5 to 1); these only look. Schema objects are made once, at import.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import marshmallow
from marshmallow import fields


class Shape(marshmallow.Schema):
    """Base of the shapes: unknown members are ignored, as JSON-RPC and MCP ask for."""

    class Meta:
        """marshmallow's options."""

        unknown = marshmallow.EXCLUDE


def member(rule: str, test: Callable[[Any], bool], *, required: bool = False) -> fields.Raw:
    """Return a field whose value must pass *test*; *rule* is the sentence for one that does not."""

    def check(value: Any) -> None:
        if not test(value):
            raise marshmallow.ValidationError(rule)

    return fields.Raw(required=required, validate=check, error_messages={"required": "is required", "null": rule})


def text(*, required: bool = False) -> fields.Raw:
    """Return a field for a string."""
    return member("must be a string", lambda value: isinstance(value, str), required=required)


def record(*, required: bool = False) -> fields.Raw:
    """Return a field for an object."""
    return member("must be an object", lambda value: isinstance(value, dict), required=required)


def faults(shape: marshmallow.Schema, value: Any) -> list[str]:
    """Return what is wrong with the object *value*, one sentence for each member, in the order of the shape."""
    found = shape.validate(value)
    return [f"'{name}' {found[name][0]}" for name in shape.fields if name in found]
