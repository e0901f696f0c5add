"""Write the table of ``docs/contracts/metrics.md`` anew from what is declared."""

from __future__ import annotations

from pathlib import Path

from mcp_gateway.observe import declared

PAGE = Path(__file__).resolve().parents[1] / "docs" / "contracts" / "metrics.md"


def main() -> None:
    """Put the table in the place of the one that begins alike."""
    table = list(declared.table())
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = lines.index(table[0])
    end = lines.index("", start)
    PAGE.write_text("\n".join([*lines[:start], *table, *lines[end:], ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
