"""The table of ``docs/contracts/protocol-versions.md`` is the table of the code."""

from __future__ import annotations

from pathlib import Path

from mcp_gateway.protocol.eras import TABLE, Header, Row

PAGE = Path(__file__).parents[2] / "docs" / "contracts" / "protocol-versions.md"
NAMES = {None: "any", Header.ABSENT: "absent", Header.SESSION: "2025-11-25", Header.PER_REQUEST: "2026-07-28"}


def cells(row: Row) -> list[str]:
    claim = {None: "any", True: "yes", False: "no"}[row.claim]
    posts = ", ".join(post.value for post in row.posts) if row.posts else "anything"
    only = NAMES[row.only] + (" only" if row.only else "")
    return [claim, NAMES[row.header], posts, only, row.verdict.value]


def test_the_page_shows_the_table_of_the_code_row_by_row() -> None:
    lines = [line for line in PAGE.read_text(encoding="utf-8").split("\n") if line.startswith("| ")]
    shown = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]

    assert shown == [cells(row) for row in TABLE]
