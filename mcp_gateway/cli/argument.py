"""The arguments of a call: ``--json`` with a text, ``@file``, or ``-`` for standard input."""

from __future__ import annotations

import argparse
import codecs
import sys
from pathlib import Path

from .. import jsontext
from ..jsontext import Fragment
from .terminal import Failed


def add(command: argparse.ArgumentParser, otherwise: str) -> None:
    """Add ``--json``; *otherwise* says what is sent without it."""
    command.add_argument(
        "--json",
        metavar="ARGUMENTS",
        help=f'the arguments, a JSON object: \'{{"query": "…"}}\', @FILE, or - for standard input; sent as written, '
        f"digit for digit ({otherwise})",
    )


def read(given: str) -> Fragment:
    """
    Return the JSON text that *given* stands for.

    Raises:

        Failed: It is no JSON object, or cannot be read.
    """
    try:
        if given == "-":
            text = sys.stdin.buffer.read()
        elif given.startswith("@"):
            text = Path(given[1:]).read_bytes()
        else:
            text = given.encode("utf-8", "surrogateescape")
    except (OSError, ValueError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else "no file can have that name"
        raise Failed(f"--json {given}: it cannot be read: {reason}", status=2) from None
    text = text.removeprefix(codecs.BOM_UTF8)
    try:
        value = jsontext.parse(text)
    except jsontext.NotJson as fault:
        raise Failed(f"--json: it is no JSON: {fault}", status=2) from None
    if not isinstance(value, dict):
        raise Failed('--json: it must be a JSON object, such as {"query": "…"}', status=2)
    return Fragment(text)
