"""What the service answers with, as a value; ``server`` writes it to the socket."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """
    One HTTP answer.

    Args:

        status: The HTTP status.

        body: The bytes of the body.

        media_type: The value of ``Content-Type``.

        headers: Further headers.
    """

    status: int
    body: bytes
    media_type: str
    headers: tuple[tuple[str, str], ...] = ()


def json_answer(value: Any, status: int = 200, headers: tuple[tuple[str, str], ...] = ()) -> Answer:
    """Answer with *value* as JSON."""
    return Answer(status, json.dumps(value, ensure_ascii=False).encode(), "application/json", headers)


def text_answer(text: str, status: int = 200, media_type: str = "text/plain") -> Answer:
    """Answer with *text* as it is."""
    return Answer(status, text.encode(), f"{media_type}; charset=utf-8")


def refusal(status: int, message: str, headers: tuple[tuple[str, str], ...] = ()) -> Answer:
    """Answer with an error that a person can read."""
    return json_answer({"message": message}, status, headers)
