"""
Write the pages of docs/reference that are made from the code; the tests fail when they are no longer its picture.

``python scripts/reference.py`` writes them anew.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mcp_gateway import faults
from mcp_gateway.cli.main import parser
from mcp_gateway.faults import Fault, HttpFault, Violation
from mcp_gateway.protocol import refusals
from mcp_gateway.protocol.v2026_07_28 import STATUS
from mcp_gateway.registry import published

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "reference"
MADE = "This page is made from the code by `python scripts/reference.py`."


def pages() -> Mapping[str, str]:
    """Return the text of each page by the name of its file."""
    return {
        "command-line-options.md": _command_line(),
        "errors.md": _errors(),
        "manifest-fields.md": _manifest_fields(),
    }


def _table(*head: str, rows: Iterator[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(_cell(cell) for cell in line)} |\n" for line in lines)


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|") or "–"


# --- the command line ------------------------------------------------------------------------------------------------


def _command_line() -> str:
    page = "[the command line](../contracts/command-line.md), where those of `sample-tool-service` stand too"
    parts = [f"# The options of every command\n\n{MADE} What they do together: {page}.\n"]
    for name, help_text, command in _commands(parser(), "mcp-gateway", ""):
        parts.append(f"## {name}\n\n{_sentence(help_text)}\n\n`{_usage(name, command)}`\n")
        if rows := list(_arguments(command)):
            parts.append(_table("argument", "meaning", rows=iter(rows)))
    return "\n".join(parts)


def _commands(
    command: argparse.ArgumentParser, name: str, help_text: str
) -> Iterator[tuple[str, str, argparse.ArgumentParser]]:
    """Yield each command that does something, with its words."""
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            told = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for word, below in action.choices.items():
                yield from _commands(below, f"{name} {word}", told.get(word, ""))
            return
    yield name, help_text, command


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _arguments(command: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    for action in command._actions:
        if not isinstance(action, argparse._HelpAction):
            yield (
                f"`{_spelling(action)}`",
                (action.help or "")
                .replace("%(default)s", str(action.default))
                .replace("%(default)g", f"{action.default:g}" if isinstance(action.default, float) else ""),
            )


def _spelling(action: argparse.Action) -> str:
    value = "{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.metavar or action.dest.upper()
    value = value if isinstance(value, str) else " ".join(value)
    if not action.option_strings:
        return value
    return action.option_strings[-1] if action.nargs == 0 else f"{action.option_strings[-1]} {value}"


def _usage(name: str, command: argparse.ArgumentParser) -> str:
    words = [name]
    for action in command._actions:
        if not isinstance(action, argparse._HelpAction):
            needed = action.required and action.nargs != "?"
            words.append(_spelling(action) if needed else f"[{_spelling(action)}]")
    return " ".join(words)


# --- errors ----------------------------------------------------------------------------------------------------------

_SAMPLES: Mapping[str, tuple[Any, ...]] = {
    "BadCallerHeader": ("guid", "a UUID"),
    "VersionNotServed": ("2024-11-05", ["2026-07-28", "2025-11-25"]),
    "UnsupportedVersion": ("2024-11-05", ["2026-07-28", "2025-11-25"]),
    "MethodNotFound": ("tools/lst",),
    "UnknownTool": ("core.serch",),
    "BadArguments": ([Violation("query", "required", "'query' is required")],),
    "RegistryUnavailable": (),
    "Busy": ("core-tools",),
}


def _errors() -> str:
    return f"""# Errors

{MADE} How to go about one: [read an error](../how-to/read-an-error.md).

## JSON-RPC errors

HTTP 200 on MCP 2025-11-25; on MCP 2026-07-28 the status that is named. `error.data.guid` finds the exchange in the log,
and `reason` is the word for it there.

{_table("reason", "code", "status on 2026-07-28", "when", "for example", rows=_rpc_errors())}
Bad arguments are on 2026-07-28 no error but a result with `isError` and the same sentence, which a model can read and
mend. What no one has foreseen is `-32603` with the `guid` and nothing else, and a traceback in the log.

## Errors outside JSON-RPC

`{{"error", "message", "guid"}}`: the request was refused before its content was looked at.

{_table("status", "error", "message", rows=iter(sorted(set(_http_errors()))))}
What is no HTTP request at all gets the status of its fault in the same form:
[which one](../contracts/agent-builder.md#answers-outside-json-rpc).
"""


def _rpc_errors() -> Iterator[tuple[str, ...]]:
    for kind in vars(faults).values():
        if not inspect.isclass(kind) or not issubclass(kind, Fault) or kind in (Fault, HttpFault, faults.CannotStart):
            continue
        when = _first_sentence(kind).removeprefix("Raised when ")
        if kind is faults.VersionNotServed:
            example = json.dumps(
                {"error": "unsupported_protocol_version", "message": "…", "supportedVersions": "…"}, ensure_ascii=False
            )
            yield f"`{kind.reason}`", "none", "400, on both", when, f"`{example}`"
            continue
        fault = kind(*_SAMPLES.get(kind.__name__, ("…",)))
        status = next(status for parent, status in STATUS if isinstance(fault, parent))
        shown = "a result" if kind is faults.BadArguments else str(status)
        yield f"`{kind.reason}`", f"`{refusals.code(fault)}`", shown, when, f"`{refusals.sentence(fault)}`"


def _first_sentence(kind: type) -> str:
    text = inspect.getdoc(kind) or ""
    return text.split("\n\n")[0].replace("``", "`").removesuffix(".")


def _http_errors() -> Iterator[tuple[str, ...]]:
    """Yield status, word and sentence of each error that the room ``web`` writes itself."""
    for module in sorted((ROOT / "mcp_gateway" / "web").glob("*.py")):
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("HttpFault", "http_error")
            ):
                match node.args:
                    case [ast.Constant(status), ast.Constant(str(error)), message, *_]:
                        yield str(status), f"`{error}`", _written(message)


def _written(message: ast.expr) -> str:
    if isinstance(message, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "…" for part in message.values)  # type: ignore[misc]
    return str(ast.literal_eval(message))


# --- the manifest ----------------------------------------------------------------------------------------------------


def _manifest_fields() -> str:
    schema = json.loads(published.SCHEMA)
    rows = _fields(schema, schema, "")
    return f"""# The fields of a manifest

{MADE} It shows [the published schema](../contracts/manifest-v1.schema.json) as a table; what a wrong
value gets, and what a schema cannot say, is in [the contract](../contracts/tool-service-manifest.md).

{_table("field", "needed", "type", "meaning", "for example", rows=rows)}
What may stand in `inputSchema` and `outputSchema` is JSON Schema 2020-12 (or, with `$schema`, draft-07 or 2019-09).
"""


def _fields(schema: Mapping[str, Any], part: Mapping[str, Any], place: str) -> Iterator[tuple[str, ...]]:
    for name, field in part.get("properties", {}).items():
        here = f"{place}{name}"
        required = "required" if name in part.get("required", ()) else "optional"
        inner = _resolved(schema, field)
        examples = field.get("examples", [])
        shown = f"`{json.dumps(examples[0], ensure_ascii=False)}`" if examples else ""
        yield f"`{here}`", required, _type(inner), field.get("description", ""), shown
        if name not in ("inputSchema", "outputSchema"):
            yield from _fields(schema, inner, f"{here}.")
            yield from _fields(schema, _resolved(schema, inner.get("items", {})), f"{here}[].")


def _resolved(schema: Mapping[str, Any], part: Mapping[str, Any]) -> Mapping[str, Any]:
    target = part.get("$ref") or next((each["$ref"] for each in part.get("allOf", ())), None)
    return {**schema["$defs"][target.rpartition("/")[2]], **part} if target else part


def _type(part: Mapping[str, Any]) -> str:
    if "const" in part:
        return f"`{json.dumps(part['const'])}`"
    if "enum" in part:
        return " or ".join(f"`{json.dumps(value)}`" for value in part["enum"])
    if part.get("type") == "integer":
        return f"whole number, {part['minimum']} to {part['maximum']}"
    return str(part.get("type", "any"))


if __name__ == "__main__":
    for file, text in pages().items():
        (FOLDER / file).write_text(text, encoding="utf-8")
