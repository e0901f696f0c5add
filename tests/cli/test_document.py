from __future__ import annotations

import re

import pytest
from cli.harness import Cli
from support.processes import ROOT

PAGE = (ROOT / "docs" / "contracts" / "command-line.md").read_text("utf-8")


@pytest.mark.parametrize("command", ["serve", "check", "tools", "call", "curl", "sample-tool-service"])
def test_the_page_names_every_option_of_every_command(cli: Cli, command: str) -> None:
    options = set(re.findall(r"--[a-z-]+", cli(command, "--help").out))
    assert options - {"--help"} <= set(re.findall(r"--[a-z-]+", PAGE))


def test_the_page_has_a_chapter_for_every_command(cli: Cli) -> None:
    commands = re.findall(r"^    ([a-z]\S+)", cli("--help").out, re.MULTILINE)
    assert len(commands) == 6
    assert set(commands) <= set(re.findall(r"^## (.+)$", PAGE, re.MULTILINE))
