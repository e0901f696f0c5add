"""``mcp-gateway tools``: what a running gateway offers."""

from __future__ import annotations

import argparse

from . import answers, listing, target
from . import options as shared
from .listing import Tool
from .target import Target
from .terminal import one_line

EXAMPLES = """
examples:
  mcp-gateway tools
  mcp-gateway tools core --protocol 2026-07-28
  mcp-gateway tools /mcp/core --url https://gateway.example --json
"""


def add(commands: shared.Commands) -> None:
    """Add the command."""
    command: argparse.ArgumentParser = commands.add_parser(
        "tools",
        help="list the tools of a running gateway",
        description="List the tools of a running gateway: name, title, required arguments.",
        epilog=EXAMPLES,
        formatter_class=shared.Help,
    )
    command.add_argument(
        "route", metavar="ROUTE", nargs="?", help="key of the route, or its public path (default: every route)"
    )
    shared.add_gateway(command)
    command.add_argument(
        "--json", action="store_true", help="print the result of tools/list as it came, one line for each route"
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """
    Print the list.

    Raises:

        Failed: The gateway does not answer with one.
    """
    for each in [target.find(options)] if options.route else target.find_all(options):
        result = answers.result(each.ask(each.list_tools(), options.timeout))
        print(bytes(result.text).decode("utf-8") if options.json else _for_people(each, listing.read(result)))
    return 0


def _for_people(where: Target, tools: list[Tool]) -> str:
    width = max((len(tool.name) for tool in tools), default=0)
    lines = [f"{where.url}: {len(tools)} tool{'' if len(tools) == 1 else 's'}"]
    for tool in tools:
        required = f"required: {', '.join(tool.required)}" if tool.required else ""
        words = [tool.name.ljust(width), tool.title, required]
        lines.append("  " + one_line("  ".join(word for word in words if word)).rstrip())
    return "\n".join(lines)
