"""The arguments of a call held to the tool's ``inputSchema``, before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..faults import BadArguments
from ..registry.snapshot import Tool


def check(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """
    Check *arguments*.

    Raises:

        BadArguments: They violate the schema; holds every violation, up to ten.
    """
    violations = tool.input_schema.violations(arguments, "arguments")
    if violations:
        raise BadArguments(violations)
