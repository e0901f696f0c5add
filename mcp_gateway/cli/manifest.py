"""``mcp-gateway manifest``: write a manifest, check one, and print the schema that editors read."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from .. import jsontext
from ..config.model import Limits
from ..jsontext import Fragment
from ..openapi.faults import Unusable
from ..registry import manifest, published
from ..registry.manifest import ManifestFault
from ..registry.snapshot import Manifest
from . import explained
from . import options as shared
from .terminal import Failed, note, one_line

if TYPE_CHECKING:
    from ..openapi.translation import Operation, Translation

DEFAULT_FILE = "manifest.json"
TOOLS_OF_A_ROUTE = Limits().max_tools_per_route

LARGE_BYTES = 1_000_000
"""A document from this size on is said to take a while; 5,000 operations take some seconds."""

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,50}")
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.-]+")


def add(commands: shared.Commands) -> None:
    """Add the command, and what it can do as commands of its own."""
    command: argparse.ArgumentParser = commands.add_parser(
        "manifest",
        help="write or check the manifest of a Tool Service",
        description="Write or check the manifest of a Tool Service. Nothing is sent and nothing is started.",
    )
    actions = command.add_subparsers(metavar="ACTION", required=True)
    _add_init(actions)
    _add_from_openapi(actions)
    _add_check(actions)
    _add_schema(actions)


def _add_init(actions: shared.Commands) -> None:
    action = actions.add_parser(
        "init",
        help="write a first manifest, with one tool to change",
        description="Write a first manifest, with one tool to change. A file that is there already is left alone.",
    )
    _add_name(action, "default: my-service")
    _add_output(action)
    action.set_defaults(run=init)


def _add_from_openapi(actions: shared.Commands) -> None:
    action = actions.add_parser(
        "from-openapi",
        help="write a manifest from an OpenAPI document",
        description="Write a manifest from an OpenAPI 3.0 or 3.1 document, JSON or YAML: each POST operation with a "
        "JSON object as its body becomes a tool. The others are listed with the reason. Nothing that the document "
        "refers to is fetched. Needs the extra 'openapi'.",
    )
    _add_file(action, "the OpenAPI document")
    _add_name(action, "default: made from the title of the document")
    _add_output(action)
    action.set_defaults(run=from_openapi)


def _add_check(actions: shared.Commands) -> None:
    action = actions.add_parser(
        "check",
        help="check a manifest that is a file",
        description="Check a manifest that is a file, as the gateway does when it loads one. Exit status 1 when it "
        "fails or a tool is left out; warnings alone are no fault.",
    )
    _add_file(action, "the manifest")
    action.set_defaults(run=check)


def _add_schema(actions: shared.Commands) -> None:
    action = actions.add_parser(
        "schema",
        help="print the JSON Schema of manifests, for editors",
        description="Print the JSON Schema of manifests. An editor that knows it completes and explains every field.",
    )
    action.set_defaults(run=schema)


def _add_file(action: argparse.ArgumentParser, what: str) -> None:
    action.add_argument("file", metavar="FILE", help=f"{what}; - for standard input")


def _add_name(action: argparse.ArgumentParser, otherwise: str) -> None:
    action.add_argument("--name", type=service_name, metavar="NAME", help=f"name of the Tool Service ({otherwise})")


def _add_output(action: argparse.ArgumentParser) -> None:
    action.add_argument(
        "--output",
        metavar="FILE",
        default=DEFAULT_FILE,
        help="the file to write, which must not be there yet; - for standard output (default: %(default)s)",
    )


def service_name(text: str) -> str:
    """Read the name of a Tool Service, which begins the names of the tools that ``init`` writes."""
    if not _NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no name of 1 to 50 of the characters A-Z a-z 0-9 _ - .")
    return text


def init(options: argparse.Namespace) -> int:
    """
    Write a first manifest.

    Raises:

        Failed: The file is there already, or cannot be written.
    """
    _write(options.output, first(options.name or "my-service"))
    return 0


def first(name: str) -> dict[str, Any]:
    """Return the manifest that ``init`` writes for the Tool Service *name*."""
    greet = {
        "name": f"{name}.greet",
        "title": "Greet someone",
        "description": "Greets a person by name. Replace this tool with one of your own.",
        "inputSchema": {
            "type": "object",
            "properties": {"name": {"type": "string", "minLength": 1, "description": "Who is greeted."}},
            "required": ["name"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True, "idempotentHint": True},
        "endpoint": "/tools/greet",
        "timeoutMs": 5000,
    }
    return {"manifestVersion": "1", "toolService": {"name": name, "version": "0.1.0"}, "tools": [greet]}


def from_openapi(options: argparse.Namespace) -> int:
    """
    Write a manifest from an OpenAPI document, and tell what became of each operation.

    Raises:

        Failed: The document cannot be used, none of its operations can be a tool, or the file cannot be written.
    """
    found = _translated(options.file)
    tools, left_out = _sorted_out(found.operations)
    report = [f"{options.file}: {_count(len(found.operations), 'operation')}, {_count(len(tools), 'tool')}"]
    report += [one_line(f"  left out: {name}: {reason}") for name, reason in left_out]
    if not tools:
        raise Failed("\n".join([*report, "no operation can be a tool; nothing is written"]))
    if len(tools) > TOOLS_OF_A_ROUTE:
        report.append(
            f"  a route has at most {TOOLS_OF_A_ROUTE} tools, unless limits.max_tools_per_route says otherwise"
        )
    if found.base_url:
        report.append(one_line(f"  base_url in the configuration: {found.base_url}"))
    service = {"name": options.name or _NOT_IN_A_NAME.sub("-", found.title).strip("-")[:50] or "my-service"}
    _write(
        options.output,
        {"manifestVersion": "1", "toolService": {**service, "version": found.version}, "tools": tools},
    )
    note("\n".join(report))
    return 0


def _translated(file: str) -> Translation:
    try:
        from ..openapi.translation import translate
    except ModuleNotFoundError as missing:
        raise Failed(
            f"manifest from-openapi needs the extra 'openapi' ({missing.name} is not installed): "
            "pip install -e '.[openapi]' in the clone, or pip install openapi-spec-validator"
        ) from None
    text = _read(file)
    if len(text) >= LARGE_BYTES:
        note(f"{file}: {len(text) / 1e6:.0f} MB; each operation is translated and checked, which takes some seconds")
    try:
        return translate(text)
    except Unusable as fault:
        raise Failed("\n".join(map(one_line, f"{file}: {fault}".split("\n")))) from None


def _sorted_out(operations: Iterable[Operation]) -> tuple[list[Fragment], list[tuple[str, str]]]:
    """Return the tools that a gateway would serve, as text, and why it would not serve the other operations."""
    tools, left_out = [], []
    for operation in operations:
        tool = None if operation.tool is None else Fragment(_text(operation.tool))
        reason = operation.reason if tool is None else _refusal(tool)
        if tool is None or reason:
            left_out.append((operation.name, reason))
        else:
            tools.append(tool)
    return tools, left_out


def _refusal(tool: Fragment) -> str:
    """Return why a gateway would leave out the tool; empty when it would not."""
    text = jsontext.encode({"manifestVersion": "1", "tools": [tool]})
    left_out = manifest.read(text, service="").left_out
    return "".join(f"{left.place}: {left.reason}" for left in left_out).replace("tools[0].", "")


def check(options: argparse.Namespace) -> int:
    """
    Check a manifest and say what a gateway would serve of it.

    Raises:

        Failed: It fails as a whole, or cannot be read.
    """
    try:
        loaded = manifest.read(_read(options.file), service="")
    except ManifestFault as fault:
        raise Failed(one_line(f"{options.file}: {fault}")) from None
    print(one_line(f"{options.file}: {_count(len(loaded.tools), 'tool')}, {len(loaded.left_out)} left out"))
    for line in _report(loaded):
        print(one_line(line))
    return 1 if loaded.left_out else 0


def _report(loaded: Manifest) -> Iterator[str]:
    yield from (f"  {tool.name}" for tool in loaded.tools)
    for left in loaded.left_out:
        yield from (f"  {line}" for line in explained.left_out(left))
    for tool in loaded.tools:
        yield from (f"  {line}" for line in explained.warnings(tool.name, tool.warnings))


def schema(_: argparse.Namespace) -> int:
    """Print the published schema."""
    print(published.SCHEMA.decode("utf-8"), end="")
    return 0


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _read(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except (OSError, ValueError) as fault:
        raise Failed(f"{file}: it cannot be read: {_why(fault)}") from None


def _write(file: str, document: Mapping[str, Any]) -> None:
    text = msgspec.json.format(_text(document), indent=2) + b"\n"
    if file == "-":
        print(text.decode("utf-8"), end="")
        return
    try:
        with Path(file).open("xb") as output:
            output.write(text)
    except FileExistsError:
        raise Failed(f"{file} is there already and is left alone; name another file with --output") from None
    except (OSError, ValueError) as fault:
        raise Failed(f"{file}: it cannot be written: {_why(fault)}") from None
    note(f"{file} is written")


def _why(fault: OSError | ValueError) -> str | None:
    return fault.strerror if isinstance(fault, OSError) else "no file can have that name"


def _text(document: Any) -> bytes:
    return jsontext.encode(_exact(document))


def _exact(value: Any) -> Any:
    """Return *value* with its decimal numbers as the text that they are in JSON."""
    if isinstance(value, dict):
        return {name: _exact(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_exact(each) for each in value]
    return Fragment(str(value).encode()) if isinstance(value, Decimal) else value
