"""The answer to what is no HTTP request: the same JSON body as every error outside JSON-RPC has."""

from __future__ import annotations

import socket
from collections.abc import Callable
from http import HTTPStatus

from gunicorn import util

from .. import jsontext
from ..caller import new_id

LONGEST_MESSAGE = 200
"""Characters of gunicorn's sentence that are passed on; it may quote what was sent."""


told: list[Callable[[int], object]] = []
"""Who is told the status of each such answer; ``gunicorn.conf.py`` fills it."""


def refuse(sock: socket.socket, status_int: int, reason: str, mesg: str) -> None:
    """
    Write the answer and say that the connection ends; stands in for ``gunicorn.util.write_error``, which writes HTML.

    Args:

        reason: The words behind the status, of which the word for machines is made.

        mesg: What is wrong, for a person.
    """
    guid = new_id()
    error = reason.lower().replace(" ", "_")
    sentence = mesg[:LONGEST_MESSAGE] or HTTPStatus(status_int).description or reason
    body = jsontext.encode({"error": error, "message": _printable(sentence), "guid": guid})
    head = (
        f"HTTP/1.1 {status_int} {reason}\r\nConnection: close\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nguid: {guid}\r\nx-request-id: {new_id()}\r\n\r\n"
    )
    for tell in told:
        tell(status_int)
    util.write_nonblock(sock, head.encode("latin-1") + body)


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else "?" for each in text)
