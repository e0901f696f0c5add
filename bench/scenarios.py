"""What is asked, on which protocol version, and by what a right answer is known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from .revisions import LEGACY, MODERN, client, meta

NUMBER: Final = "@N@"
"""Stands in a body where the number of the call goes: its id and a part of its arguments, so no two are alike."""

_CLIENT: Final = "bench"
_META: Final = meta(_CLIENT)


@dataclass(frozen=True)
class Scenario:
    """
    One kind of request.

    Args:

        marker: What every right answer holds.

        tool: Which tool is called; empty: the method is no call.
    """

    name: str
    marker: str
    method: str = "tools/call"
    tool: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    version: str = LEGACY

    @property
    def reference(self) -> str:
        """What the gateway is held against: a passthrough where a tool is called, else Flask with a stored answer."""
        return "passthrough" if self.tool else "flask"

    def headers(self) -> dict[str, str]:
        """Return the headers that an MCP client sends with it."""
        sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.method != "initialize":
            sent["MCP-Protocol-Version"] = self.version
        if self.version == MODERN:
            sent |= {"Mcp-Method": self.method, "Mcp-Name": self.tool}
        return sent

    def body(self) -> str:
        """Return the body, with ``NUMBER`` where the number of the call goes."""
        params = dict(self.params)
        if self.tool:
            params |= {"name": self.tool, "arguments": {"query": f"휴가 규정 {NUMBER}", "limit": 10}}
        if self.version == MODERN:
            params["_meta"] = _META
        message = {"jsonrpc": "2.0", "id": NUMBER, "method": self.method, "params": params}
        return json.dumps(message, ensure_ascii=False).replace(f'"{NUMBER}"', NUMBER)


def _call(name: str, version: str = LEGACY) -> Scenario:
    label = name if version == LEGACY else f"{name}@{version}"
    return Scenario(label, f"~bench:{name}~", tool=f"bench.{name}", version=version)


SCENARIOS: Final[Mapping[str, Scenario]] = {
    scenario.name: scenario
    for scenario in (
        _call("fast"),
        _call("fast", MODERN),
        _call("large"),
        _call("pretty"),
        Scenario("list", "~bench:tool49~", "tools/list"),
        Scenario("ping", '"result"', "ping"),
        Scenario(
            "initialize",
            '"serverInfo"',
            "initialize",
            params={"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client(_CLIENT)},
        ),
    )
}
