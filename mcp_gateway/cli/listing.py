"""The tools that a gateway lists, as a client sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import answers


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of a list."""

    name: str
    title: str
    input_schema: Mapping[str, Any]

    @property
    def required(self) -> list[str]:
        """The names of the arguments that a call must have."""
        names = self.input_schema.get("required")
        return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def read(result: answers.Result) -> list[Tool]:
    """Return the tools of a ``tools/list`` result."""
    listed = result.members.get("tools")
    return [_tool(each) for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def _tool(entry: Mapping[str, Any]) -> Tool:
    schema = entry.get("inputSchema")
    return Tool(
        name=str(entry.get("name", "")),
        title=str(entry.get("title", "")),
        input_schema=schema if isinstance(schema, dict) else {},
    )
