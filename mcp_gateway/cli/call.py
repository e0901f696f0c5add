"""``mcp-gateway call``: one call of one tool of a running gateway."""

from __future__ import annotations

import argparse
import mimetypes
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import jsontext
from ..client import wire
from ..jsontext import Fragment
from ..transport.answer import Answer
from . import answers, argument, listing, target
from . import options as shared
from .listing import Tool
from .target import Target
from .terminal import Failed, note

EXAMPLES = """
examples:
  mcp-gateway call core core.current_time --json '{"timezone": "Asia/Seoul"}'
  mcp-gateway call core core.search_documents --json @arguments.json --output json
  mcp-gateway call core core.draw_chart --json '{"values": [3, 1, 2]}' --save pictures
"""


def add(commands: shared.Commands) -> None:
    """Add the command."""
    command: argparse.ArgumentParser = commands.add_parser(
        "call",
        help="call a tool of a running gateway",
        description="Call a tool of a running gateway and print what it answers. Exit status 0: it answered, 1: the "
        "call failed or there was no answer, 2: used wrongly.",
        epilog=EXAMPLES,
        formatter_class=shared.Help,
    )
    shared.add_call(command)
    argument.add(command, "default: {}")
    shared.add_gateway(command)
    how = command.add_mutually_exclusive_group()
    how.add_argument("--raw", action="store_true", help="print the JSON-RPC answer as it came")
    how.add_argument(
        "--output", choices=("text", "json"), default="text", help="text for people (the default), or JSON for scripts"
    )
    command.add_argument("--save", type=Path, metavar="DIR", help="write images, audio and blobs into this folder")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """
    Make the call.

    Raises:

        Failed: There is no answer, or it is an error.
    """
    arguments = argument.read("{}" if options.json is None else options.json)
    where = target.find(options)
    if options.output == "json":
        return _for_scripts(where, options, arguments)
    answer = _call(where, options.tool, arguments, options.timeout)
    if options.raw:
        print(answer.body.decode("utf-8", "backslashreplace"))
    result = answers.result(answer)
    if not options.raw:
        _show(result)
    _save(result, options.save)
    failure = answers.failure(result.members)
    if failure is not None:
        note(failure)
    return 0 if failure is None else 1


def _show(result: answers.Result) -> None:
    """Print the content for a person: JSON with line breaks where a person looks at it."""
    structured = answers.structured(result)
    texts = [*answers.texts(result.members)]
    if structured is not None:
        texts += ["[structuredContent]", bytes(structured).decode("utf-8")]
    for text in map(answers.readable, texts) if sys.stdout.isatty() else texts:
        print(text, end="" if text.endswith("\n") else "\n")


def _save(result: answers.Result, folder: Path | None) -> None:
    """
    Write what came as bytes into files of their own; one that is there already is left alone.

    Raises:

        Failed: A file cannot be written.
    """
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for attachment in answers.attachments(result.members):
            path = _write(folder, _extension(attachment.media_type), attachment.data)
            note(f"saved {path}")
    except OSError as fault:
        raise Failed(f"--save {folder}: it cannot be written: {fault.strerror}") from None


def _extension(media_type: str) -> str:
    kind = media_type.partition("/")[2]
    plain = f".{kind}" if re.fullmatch("[a-z0-9]{1,8}", kind) else ".bin"
    return mimetypes.guess_extension(media_type) or plain


def _write(folder: Path, extension: str, data: bytes) -> Path:
    number = 1
    while True:
        path = folder / f"{number}{extension}"
        try:
            with path.open("xb") as file:
                file.write(data)
            return path
        except FileExistsError:
            number += 1


def _for_scripts(where: Target, options: argparse.Namespace, arguments: Fragment) -> int:
    """Print one JSON object, whatever comes: what it came to, and the parts of the answer as they came."""
    began = time.monotonic()
    answer, result, words = None, None, None
    try:
        answer = _call(where, options.tool, arguments, options.timeout)
        result = answers.result(answer)
        _save(result, options.save)
    except Failed as failed:
        words = str(failed)
    elapsed_ms = int((time.monotonic() - began) * 1000)
    print(jsontext.encode(dict(_members(answer, result, words, elapsed_ms))).decode("utf-8"))
    return 0 if result is not None and words is None and not answers.failure(result.members) else 1


def _members(
    answer: Answer | None, result: answers.Result | None, words: str | None, elapsed_ms: int
) -> Iterator[tuple[str, Any]]:
    if result is not None:
        yield "outcome", "failed" if answers.failure(result.members) else "ok"
    else:
        yield "outcome", "no_answer" if answer is None else "refused"
    yield "elapsedMs", elapsed_ms
    yield "message", words
    if answer is not None:
        yield "status", answer.status
        yield "guid", answer.headers.get("guid")
    yield "result", None if result is None else result.text
    yield "error", answers.error(answer)


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
