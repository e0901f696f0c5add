"""
One GET for a JSON document: a manifest, or the portal's list of routes.

Anything but a whole 200 (or a 304 to a known ``ETag``) is a ``FetchFault`` whose message names no address and holds
nothing that the other side sent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..deadline import Deadline
from ..transport.answer import Unanswered
from ..transport.http import HttpClient
from ..transport.mediatype import MediaType

MAX_BYTES = 8 * 1024 * 1024
"""Largest document that is read; fifty tools with long schemas are some 500 kB."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e]{0,256}"')


class FetchFault(Exception):
    """Raised when a document could not be had; the message is a clause that says why."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """
    What came.

    Args:

        text: The document; ``None``: it is still the one that *etag* names.

        says_json: Whether it is declared to be JSON.
    """

    text: bytes | None
    etag: str | None
    says_json: bool = field(default=True, compare=False)


def fetch(client: HttpClient, path: str, *, what: str, etag: str | None, deadline: Deadline) -> Fetched:
    """
    Get the document at *path*.

    Args:

        what: What the document is called in the message of a fault, e.g. ``manifest``.

        etag: The ``ETag`` of the document that is already here, or ``None``.

    Raises:

        FetchFault: There was no answer, or one with another status.
    """
    headers = {"Accept": "application/json"}
    if etag is not None:
        headers["If-None-Match"] = etag
    try:
        answer = client.send("GET", path, headers=headers, body=None, deadline=deadline, max_bytes=MAX_BYTES)
    except Unanswered as fault:
        raise FetchFault(f"the {what} could not be fetched: {fault.detail}") from None
    if answer.status == 304 and etag is not None:
        return Fetched(None, etag)
    if answer.status != 200:
        redirect = " (a redirect is not followed)" if answer.status in _REDIRECTS else ""
        raise FetchFault(f"the {what} was answered with HTTP status {answer.status}{redirect}; it must be 200")
    named = answer.headers.get("etag", "")
    says_json = MediaType.of(answer.headers).says_json
    return Fetched(answer.body, named if _ETAG.fullmatch(named) else None, says_json)
