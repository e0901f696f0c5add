"""The list of tools as callers see it, rendered once for each snapshot and revision."""

from __future__ import annotations

from collections.abc import Callable

from .. import jsontext
from ..jsontext import Fragment
from ..registry.snapshot import Snapshot, Tool


def render(snapshot: Snapshot, variant: str, shows_output_schema: Callable[[Tool], bool]) -> Fragment:
    """
    Return the JSON array of the snapshot's tools, in manifest order.

    Args:

        variant: Names the revision and settings that *shows_output_schema* stands for; one rendering is kept for each.

        shows_output_schema: Whether callers of that revision may see a tool's ``outputSchema``.
    """
    rendered = snapshot.renderings.get(variant)
    if rendered is None:
        tools = [
            {name: text for name, text in tool.shown.items() if name != "outputSchema" or shows_output_schema(tool)}
            for tool in snapshot.tools
        ]
        rendered = snapshot.renderings[variant] = Fragment(jsontext.encode(tools))
    return rendered
