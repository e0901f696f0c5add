"""What every command does with the terminal: UTF-8 out and in, readable failures, and a reader that hangs up."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence


class Failed(Exception):
    """
    Raised when a command cannot do what it was asked for.

    Args:

        message: What is said on standard error: one line, or one for each fault.

        status: The exit status: 1 something failed, 2 the command was used wrongly.
    """

    def __init__(self, message: str, *, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class Style:
    """
    Colours, where they are seen.

    Args:

        coloured: Whether to use any.
    """

    GOOD = "32"
    DOUBTFUL = "33"
    BAD = "1;31"
    FAINT = "2"
    STRONG = "1"

    def __init__(self, coloured: bool) -> None:
        self._coloured = coloured

    @classmethod
    def of_output(cls) -> Style:
        """Return what standard output is good for: colours on a terminal alone, and none where ``NO_COLOR`` is set."""
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        return cls(sys.stdout.isatty() and not plain)

    def of(self, kind: str, text: str) -> str:
        """Return *text* as one of the kinds above."""
        return f"\x1b[{kind}m{text}\x1b[0m" if self._coloured else text


def speak_utf8() -> None:
    """Write UTF-8 whatever the locale says; bytes of an argument that were no text are shown escaped."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def as_utf8(arguments: Sequence[str]) -> list[str]:
    """
    Return the arguments as the UTF-8 that was typed, where the locale made Python read them as something else.

    An argument that is no UTF-8 (a terminal of another encoding) stays as the locale reads it.
    """
    return [_as_utf8(argument) for argument in arguments]


def _as_utf8(argument: str) -> str:
    try:
        return os.fsencode(argument).decode("utf-8")
    except UnicodeError:
        return argument


def one_line(text: str) -> str:
    """Return *text* with line breaks and control characters escaped, so that it cannot draw lines of its own."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def note(text: str) -> None:
    """Say something beside the output proper."""
    print(text, file=sys.stderr)


def hang_up() -> None:
    """Let whatever else is written to standard output vanish: its reader has gone, or its disk is full."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
