from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pytest
from cli.harness import Cli
from support.processes import ROOT

from mcp_gateway.cli.main import parser

PAGE = (ROOT / "docs" / "contracts" / "command-line.md").read_text("utf-8")


def listed(help_text: str) -> list[str]:
    return re.findall(r"^    ([a-z]\S+)", help_text, re.MULTILINE)


COMMANDS = listed(parser().format_help())
CHAPTERS = dict(re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", PAGE, re.MULTILINE))
# What several commands share stands once, in the chapters that are no command's.
SHARED = "".join(text for title, text in CHAPTERS.items() if title not in COMMANDS)


def helps(cli: Cli, *command: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each command that does something, with its help: of one that has commands of its own, those."""
    text = cli(*command, "--help").out
    below = listed(text) if "ACTION" in text else []
    for action in below:
        yield from helps(cli, *command, action)
    if not below:
        yield command, text


@pytest.mark.parametrize("command", COMMANDS)
def test_the_chapter_of_a_command_names_all_its_options(cli: Cli, command: str) -> None:
    for words, text in helps(cli, command):
        options = set(re.findall(r"--[a-z-]+", text)) - {"--help"}
        assert options <= set(re.findall(r"--[a-z-]+", CHAPTERS[command] + SHARED)), words
        assert " ".join(words) in CHAPTERS[command]


def test_the_page_has_a_chapter_for_every_command() -> None:
    assert len(COMMANDS) >= 6
    assert set(COMMANDS) <= set(CHAPTERS)
    assert [name for name in COMMANDS if f"\n| `{name}" not in PAGE] == []


@pytest.mark.parametrize("command", ["serve", "check", "tools", "call", "curl", "doctor"])
def test_the_help_of_a_command_ends_with_examples_that_the_command_line_takes(cli: Cli, command: str) -> None:
    _, _, examples = cli(command, "--help").out.partition("\nexamples:\n")
    assert examples
    for line in examples.splitlines():
        written, _, _ = line.strip().partition("   ")  # then what it does
        words = shlex.split(written.partition(" > ")[0])
        assert words[:2] == ["mcp-gateway", command]
        parser().parse_args(words[1:])
