"""``mcp-gateway curl``: the shell script that makes the same call as ``mcp-gateway call``."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from . import argument, examples, target, wire
from . import options as shared
from .call import find_tool
from .listing import Tool
from .target import Target
from .terminal import Failed, note
from .wire import Message

LIST_TIMEOUT_S = 10.0
"""How long the gateway may take to say how the tool is called; the script can be printed without."""

LONGEST_ARGUMENT = 100_000
"""In bytes. Linux takes 131,072 for one argument of a program; what is longer goes through a pipe."""


def add(commands: shared.Commands) -> None:
    """Add the command."""
    command: argparse.ArgumentParser = commands.add_parser(
        "curl",
        help="print a curl script for a call",
        description="Print a POSIX shell script that makes the call with curl: the same headers and body that "
        "'mcp-gateway call' sends.",
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
        arguments = examples.arguments(listed.input_schema if listed else None)
    print(script(where.url, where.call_tool(options.tool, arguments, listed), where.ca_bundle))
    return 0


def _listed(where: Target, tool: str) -> Tool | None:
    try:
        listed = find_tool(where, tool, LIST_TIMEOUT_S)
    except Failed as failed:
        note(f"{failed}; the script is made without knowing the tool")
        return None
    if listed is None:
        note(f"the gateway lists no tool {tool!r}; the script is made without knowing it")
    return listed


def script(url: str, message: Message, ca_bundle: Path | None = None) -> str:
    """Return the script; it takes no proxy from its environment, as the commands here do not."""
    body = shlex.quote(message.body.decode("utf-8"))
    piped = len(message.body) > LONGEST_ARGUMENT
    lines = [f"curl -sS --globoff --noproxy '*' {shlex.quote(url)}"]
    if ca_bundle is not None:
        lines.append(f"--cacert {shlex.quote(str(ca_bundle))}")
    # curl takes "name:" for leaving a header out; "name;" is one without a value.
    lines += [
        f"-H {shlex.quote(f'{name}: {value}' if value else f'{name};')}" for name, value in message.headers.items()
    ]
    lines.append(f"--data-binary {'@-' if piped else body}")
    return (f"printf %s {body} |\n" if piped else "") + " \\\n  ".join(lines)
