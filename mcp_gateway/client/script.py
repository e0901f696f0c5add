"""A request as the POSIX shell script that sends it with curl (pure)."""

from __future__ import annotations

import shlex
from pathlib import Path

from .wire import Message

LONGEST_ARGUMENT = 100_000
"""In bytes. Linux takes 131,072 for one argument of a program; what is longer goes through a pipe."""


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
