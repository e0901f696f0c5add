"""``mcp-gateway curl``: the shell script that makes the same call as ``mcp-gateway call``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from .. import schema
from ..client import examples, wire
from ..client.script import script
from ..jsontext import Fragment
from . import argument, target
from . import options as shared
from .call import find_tool
from .listing import Tool
from .target import Target
from .terminal import Failed, note

LIST_TIMEOUT_S = 10.0
"""How long the gateway may take to say how the tool is called; the script can be printed without."""

EXAMPLES = """
examples:
  mcp-gateway curl core core.search_documents > call.sh && sh call.sh
  mcp-gateway curl core core.add_note --json '{"title": "메모", "text": "내용"}' --protocol 2026-07-28
"""


def add(commands: shared.Commands) -> None:
    """Add the command."""
    command: argparse.ArgumentParser = commands.add_parser(
        "curl",
        help="print a curl script for a call",
        description="Print a POSIX shell script that makes the call with curl: the same headers and body that "
        "'mcp-gateway call' sends.",
        epilog=EXAMPLES,
        formatter_class=shared.Help,
    )
    shared.add_call(command)
    argument.add(command, "default: examples of the required arguments, where the gateway answers, else {}")
    shared.add_gateway(command, waits=False)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """
    Print the script.

    Raises:

        Failed: The arguments or the route are wrong.
    """
    arguments = None if options.json is None else argument.read(options.json)
    where = target.find(options)
    listed = _listed(where, options.tool) if arguments is None or where.version == wire.PER_REQUEST else None
    if arguments is None:
        arguments = _made_up(listed.input_schema if listed else {})
    print(script(where.url, where.call_tool(options.tool, arguments, listed), where.ca_bundle))
    return 0


def _made_up(input_schema: Mapping[str, Any]) -> Fragment:
    """Return examples of the required arguments, tried against the schema where this command can compile it."""
    try:
        fits = schema.compile(bytes(examples.written(input_schema))).fits
    except schema.BadSchema:
        return examples.arguments(input_schema, lambda _: True)
    return examples.arguments(input_schema, fits)


def _listed(where: Target, tool: str) -> Tool | None:
    try:
        listed = find_tool(where, tool, LIST_TIMEOUT_S)
    except Failed as failed:
        note(f"{failed}; the script is made without knowing the tool")
        return None
    if listed is None:
        note(f"the gateway lists no tool {tool!r}; the script is made without knowing it")
    return listed
