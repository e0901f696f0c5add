"""
``mcp-gateway``: finds the command, runs it, and turns what it ends in into an exit status.

0: done. 1: a fault was found, or the call failed. 2: used wrongly. 130: Ctrl-C. Nothing ends in a traceback.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence

from .. import __version__
from ..sample_tool_service import main as sample
from . import call, capacity, check, curl, manifest, serve, terminal, tools
from .doctor import command as doctor
from .terminal import Failed

FAILED = 1
INTERRUPTED = 130

_SAMPLE = "sample-tool-service"
_SILENT = logging.NullHandler()


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    top = argparse.ArgumentParser(
        prog="mcp-gateway",
        description="An MCP gateway: plain HTTP Tool Services in, MCP servers out.",
        epilog="Exit status: 0 done, 1 a fault was found or the call failed, 2 used wrongly. "
        "'mcp-gateway COMMAND --help' says more about each command.",
    )
    top.add_argument("--version", action="version", version=f"mcp-gateway {__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    for command in (serve, check, manifest, tools, call, curl, doctor, capacity):
        command.add(commands)
    # For the list of commands alone: it has a parser of its own.
    commands.add_parser(_SAMPLE, help="run a Tool Service to try the gateway with", add_help=False)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run one command.

    Args:

        arguments: What stands behind the program's name; ``None``: what this process was started with.

    Returns:

        The exit status.
    """
    terminal.speak_utf8()
    # What the rooms log goes nowhere here: a command says itself what there is to say.
    logging.getLogger("mcp_gateway").addHandler(_SILENT)
    try:
        status = _run(terminal.as_utf8(sys.argv[1:] if arguments is None else arguments))
        print(end="", flush=True)
        return status
    except BrokenPipeError:
        terminal.hang_up()
        return FAILED
    except OSError as fault:
        terminal.hang_up()
        terminal.note(f"mcp-gateway: the output cannot be written: {fault.strerror}")
        return FAILED


def _run(arguments: Sequence[str]) -> int:
    try:
        if arguments[:1] == [_SAMPLE]:
            return sample.main(list(arguments[1:]))
        options = parser().parse_args(arguments)
        status: int = options.run(options)
        return status
    except Failed as failed:
        terminal.note(str(failed))
        return failed.status
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as end:  # argparse has printed help, or what is wrong
        return int(end.code or 0)
