"""
marshmallow schemas for what a caller sends, strict about JSON types and silent about members they do not name.

marshmallow's own fields convert (``"7"`` to 7, 1.5 to 1); these only look. Schema objects are made once, at import.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Mapping
from typing import Any, cast

import marshmallow
from marshmallow import fields


class Member(fields.Raw):
    """
    A field whose value must pass a test.

    Args:

        rule: The sentence for a value that does not.

        test: Takes any JSON value.
    """

    def __init__(self, rule: str, test: Callable[[Any], bool], *, required: bool = False) -> None:
        super().__init__(
            required=required, validate=self._hold, error_messages={"required": "is required", "null": rule}
        )
        self.rule = rule
        self.test = test

    def _hold(self, value: Any) -> None:
        if not self.test(value):
            raise marshmallow.ValidationError(self.rule)


class Shape(marshmallow.Schema):
    """Base of the shapes, whose fields are ``Member``s; unknown members are ignored, as JSON-RPC and MCP ask for."""

    class Meta:
        """marshmallow's options."""

        unknown = marshmallow.EXCLUDE

    def fits(self, value: Mapping[str, Any]) -> bool:
        """Return whether nothing is wrong with *value*, without finding words for it."""
        return all(
            member.test(value[name]) if name in value else not member.required for name, member in self._members()
        )

    def _members(self) -> ItemsView[str, Member]:
        return cast(dict[str, Member], self.fields).items()


def text(*, required: bool = False) -> Member:
    """Return a field for a string."""
    return Member("must be a string", lambda value: isinstance(value, str), required=required)


def record(*, required: bool = False) -> Member:
    """Return a field for an object."""
    return Member("must be an object", lambda value: isinstance(value, dict), required=required)


def faults(shape: Shape, value: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the object *value*, one sentence for each member, in the order of the shape."""
    if shape.fits(value):  # marshmallow takes 18 µs to find nothing wrong, ten times as long
        return []
    found = shape.validate(value)
    return [f"'{name}' {found[name][0]}" for name in shape.fields if name in found]
