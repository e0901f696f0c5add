"""What an application sees through any official SDK, and what it sees on one protocol version alone."""

from __future__ import annotations

import base64
import json
from typing import Any

KOREAN = "한국어 문서를 찾아 줘 👩‍👩‍👧‍👦🚀"
HUGE = 12345678901234567890
ARGUMENTS = {"query": KOREAN, "limit": HUGE}
REGION = {"region": "서울"}
PIXEL = b"\x89PNG\r\n\x1a\n and what may follow it"
REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "called": ("core.echo", ARGUMENTS),
    "unknown": ("core.nowhere", {}),
    "bad": ("core.echo", {"limit": "many"}),
    "failed": ("core.fail", {}),
    "structured": ("core.count", {}),
    "image": ("core.pixel", {}),
    "mirrored": ("core.region", REGION),
    "called_again": ("core.echo", ARGUMENTS),
}
TOOLS = ["core.echo", "core.fail", "core.count", "core.pixel", "core.region"]


def text_of(result: Any) -> str:
    (block,) = result["content"]
    assert block["type"] == "text"
    assert isinstance(block["_meta"]["searchTime"], int)
    return str(block["text"])


def check_what_every_client_sees(seen: Any) -> None:
    """Hold what an application saw to the contract, whatever the SDK and the protocol version."""
    assert seen["tools"] == TOOLS
    for label in ("called", "called_again"):
        assert seen[label]["isError"] is False
        assert json.loads(text_of(seen[label])) == ARGUMENTS
        assert KOREAN in text_of(seen[label])
        assert str(HUGE) in text_of(seen[label])
    assert seen["unknown"]["code"] == -32602
    # One SDK puts words of its own before the message.
    assert seen["unknown"]["message"].endswith("Invalid params: unknown tool 'core.nowhere'")
    assert seen["unknown"]["data"]["guid"]
    assert seen["failed"]["isError"] is True
    assert text_of(seen["failed"]) == "문서가 없습니다"
    assert seen["structured"]["structuredContent"] == {"documents": 7}
    (image,) = seen["image"]["content"]
    assert (image["type"], image["mimeType"]) == ("image", "image/png")
    assert base64.b64decode(image["data"], validate=True) == PIXEL
    assert json.loads(text_of(seen["mirrored"])) == REGION
    assert seen["closed"] is True


def check_2025_11_25(seen: Any) -> None:
    """Hold what is special about 2025-11-25: bad arguments are an error of the request."""
    assert seen["protocolVersion"] == "2025-11-25"
    assert seen["bad"]["code"] == -32602
    assert "Invalid params: " in seen["bad"]["message"]
    assert "'query' is required" in seen["bad"]["message"]
    assert "'limit' must be integer" in seen["bad"]["message"]
    assert {error["path"] for error in seen["bad"]["data"]["errors"]} == {"query", "limit"}


def check_2026_07_28(seen: Any) -> None:
    """Hold what is special about 2026-07-28: bad arguments are an answer that a model can learn from."""
    assert seen["protocolVersion"] == "2026-07-28"
    assert seen["bad"]["isError"] is True
    assert "'query' is required" in text_of(seen["bad"])
    assert "'limit' must be integer" in text_of(seen["bad"])
