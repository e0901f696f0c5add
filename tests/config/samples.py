from __future__ import annotations

import textwrap
from collections.abc import Callable

from mcp_gateway.config.model import Config

VERSIONS = ("2026-07-28", "2025-11-25")

Load = Callable[..., Config]
Faults = Callable[..., tuple[str, ...]]

ROUTE = """
routes:
  - key: core
    public_path: /mcp/core
    tool_services: [{name: core-tools, base_url: "http://127.0.0.1:9100"}]
"""


def service(lines: str) -> str:
    """Put *lines* into the only Tool Service of a configuration."""
    head = "routes:\n  - key: core\n    public_path: /mcp/core\n    tool_services:\n      - name: core-tools\n"
    base = "" if "base_url" in lines else "        base_url: http://127.0.0.1:9100\n"
    return head + base + textwrap.indent(textwrap.dedent(lines), " " * 8) + "\n"
