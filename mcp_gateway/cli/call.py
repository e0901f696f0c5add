"""``mcp-gateway call``: one call of one tool of a running gateway."""

from __future__ import annotations

import argparse

from ..client import wire
from ..jsontext import Fragment
from ..transport.answer import Answer
from . import answers, argument, listing, target
from . import options as shared
from .listing import Tool
from .target import Target
from .terminal import Failed, note


def add(commands: shared.Commands) -> None:
    """Add the command."""
    command: argparse.ArgumentParser = commands.add_parser(
        "call",
        help="call a tool of a running gateway",
        description="Call a tool of a running gateway and print what it answers. Exit status 1 when the call failed.",
    )
    shared.add_call(command)
    argument.add(command, "default: {}")
    shared.add_gateway(command)
    command.add_argument("--raw", action="store_true", help="print the JSON-RPC answer as it came")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """
    Make the call.

    Raises:

        Failed: There is no answer, or it is an error.
    """
    arguments = argument.read("{}" if options.json is None else options.json)
    where = target.find(options)
    answer = _call(where, options.tool, arguments, options.timeout)
    if options.raw:
        print(answer.body.decode("utf-8", "backslashreplace"))
    result = answers.result(answer)
    if not options.raw:
        for text in answers.texts(result.members):
            print(text, end="" if text.endswith("\n") else "\n")
    failure = answers.failure(result.members)
    if failure is not None:
        note(failure)
    return 0 if failure is None else 1


def _call(where: Target, tool: str, arguments: Fragment, timeout_s: float) -> Answer:
    # A version that mirrors arguments in headers needs the list first, as that is where the gateway says which.
    listed = find_tool(where, tool, timeout_s) if where.version == wire.PER_REQUEST else None
    return where.ask(where.call_tool(tool, arguments, listed), timeout_s)


def find_tool(where: Target, name: str, timeout_s: float) -> Tool | None:
    """
    Return the tool as the gateway lists it; ``None`` when it does not, and the call's own answer will say why.

    Raises:

        Failed: The gateway does not answer at all.
    """
    answer = where.ask(where.list_tools(), timeout_s)
    try:
        tools = listing.read(answers.result(answer))
    except Failed:
        return None
    return next((tool for tool in tools if tool.name == name), None)
