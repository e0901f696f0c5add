"""What the tests of the doctor share: Tool Services with a manifest whose tools do what a script says, and reports."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable
from typing import Any, Protocol

from peers import Listener, Script, Talk, answer, good

TOOL = {
    "name": "core.search",
    "description": "Searches.",
    "inputSchema": {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "Words.", "examples": ["근로 계약"]}},
        "required": ["query"],
    },
    "endpoint": "/tools/search",
}


def manifest(*tools: dict[str, Any], **fields: Any) -> bytes:
    return json.dumps({"manifestVersion": "1", "tools": list(tools or (TOOL,))} | fields).encode()


def tool_service(call: Script = good, text: bytes | None = None, manifest_script: Script | None = None) -> Script:
    """Publish a manifest (or do with the question for it what *manifest_script* says), and do *call* with calls."""

    def script(talk: Talk) -> None:
        while request := talk.request():
            asks = request.line.startswith("GET")
            if asks and manifest_script is None:
                talk.send(answer(manifest() if text is None else text))
                continue
            talk.unread(request)
            (manifest_script if asks and manifest_script else call)(talk)
            return

    return script


def service(base_url: str, **changes: Any) -> dict[str, Any]:
    return {"name": "core-tools", "base_url": base_url, "connect_timeout_s": 20, "timeout_s": 20} | changes


class Report(dict[str, Any]):
    """What the doctor said, for scripts."""

    @property
    def fault(self) -> tuple[str, str]:
        """The layer that fails, and the culprit."""
        return self["fault"]["layer"], self["fault"]["culprit"]

    def step(self, layer: str) -> dict[str, Any]:
        """Return the last step of that layer."""
        found: dict[str, Any] = [step for step in self["steps"] if step["layer"] == layer][-1]
        return found

    @property
    def marks(self) -> dict[str, str]:
        """The mark of each layer."""
        return {step["layer"]: step["mark"] for step in self["steps"]}


class Serve(Protocol):
    def __call__(self, script: Script, tls: ssl.SSLContext | None = None) -> Listener: ...


class Walk(Protocol):
    def __call__(self, peer: str | Listener, *arguments: str, **changes: Any) -> Report: ...


Certified = Callable[..., ssl.SSLContext]
