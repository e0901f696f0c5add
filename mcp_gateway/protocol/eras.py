"""
Which revision speaks: the one table that decides it, from the body's claim first and the version header second.

Adding a revision is one file and one line of ``ERAS``. Nobody else imports the revisions' files, and nobody else looks
at the version header.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from itertools import chain
from typing import Any

from ..caller import Headers
from ..config import model
from ..faults import InvalidRequest, UnsupportedVersion, VersionNotServed
from ..registry.snapshot import Tool
from ..tools.route import Route
from .era import Era
from .jsonrpc import Kind, Message
from .v2025_11_25 import V2025_11_25
from .v2026_07_28 import CLAIM, V2026_07_28

ERAS: dict[str, Era] = {era.version: era for era in (V2026_07_28(), V2025_11_25())}
"""Every revision that the gateway implements, newest first."""

VERSIONS = tuple(ERAS)


class Header(Enum):
    """What the version header says, as this route sees it."""

    ABSENT = "absent"
    SESSION = "a served version of the initialize kind"
    PER_REQUEST = "a served version of the per-request kind"
    OTHER = "a version that this route does not serve"


class Post(Enum):
    """What is posted."""

    INITIALIZE = "an initialize request"
    REQUEST = "another request"
    NOTIFICATION = "a notification"
    RESPONSE = "a response"


class Verdict(Enum):
    """Whether the revision that speaks answers, or how the message is turned away."""

    ANSWERED = "the revision answers"
    HEADER_REFUSED = "HTTP 400 that names the versions served, outside JSON-RPC"
    UNSUPPORTED = "HTTP 400, -32022"
    NO_RESPONSES = "HTTP 400, -32600"


@dataclass(frozen=True, slots=True)
class Row:
    """
    One row of the table; a message meets the first row that fits it.

    Args:

        claim: Whether the body claims a version in ``params._meta``; ``None``: either.

        header: What the version header may say; ``None``: anything.

        posts: What may be posted; ``None``: anything.

        only: The one kind of revision that the route serves; ``None``: whatever it serves.
    """

    why: str
    verdict: Verdict
    claim: bool | None = None
    header: Header | None = None
    posts: tuple[Post, ...] | None = None
    only: Header | None = None


REQUESTS = (Post.INITIALIZE, Post.REQUEST)

TABLE: tuple[Row, ...] = (
    Row(
        "a claim means nothing on a route without a per-request revision",
        Verdict.HEADER_REFUSED,
        claim=True,
        only=Header.SESSION,
    ),
    Row("a claim is judged by the revision that knows claims", Verdict.ANSWERED, claim=True),
    Row(
        "the per-request revision takes no responses",
        Verdict.NO_RESPONSES,
        header=Header.PER_REQUEST,
        posts=(Post.RESPONSE,),
    ),
    Row(
        "the header names the per-request revision, which will miss the claim",
        Verdict.ANSWERED,
        header=Header.PER_REQUEST,
    ),
    Row("the header names the initialize revision", Verdict.ANSWERED, header=Header.SESSION),
    Row(
        "a request for the initialize revision is told in JSON-RPC that it is not served",
        Verdict.UNSUPPORTED,
        posts=REQUESTS,
        only=Header.PER_REQUEST,
    ),
    Row("initialize needs no header", Verdict.ANSWERED, header=Header.ABSENT, posts=(Post.INITIALIZE,)),
    Row("everything else has to name a version that is served", Verdict.HEADER_REFUSED),
)
"""Shown to callers in ``docs/contracts/protocol-versions.md``."""


def version_header(headers: Headers) -> str | None:
    """Return what ``MCP-Protocol-Version`` says; one value sent twice counts once, an empty one as absent."""
    value = headers.get("mcp-protocol-version")
    if not value:
        return None
    if "," not in value:
        return value.strip()
    values = {part.strip() for part in value.split(",")}
    return values.pop() if len(values) == 1 else value


def claims(value: Any) -> bool:
    """Return whether a parsed body, or one message of a batch, carries a version claim; that it is there counts."""
    if isinstance(value, list):
        return any(claims(each) for each in value if isinstance(each, dict))
    params = value.get("params") if isinstance(value, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and CLAIM in meta


def speaking(route: Route, version: str | None, claim: bool) -> Era:
    """Return the revision that words the answer: of the kind that claim or header ask for, else the one there is."""
    return _of_kind(route.versions, claim or _sees(route, version) is Header.PER_REQUEST)


def judge(route: Route, version: str | None, claim: bool, message: Message) -> None:
    """
    Hold a message to the table.

    Raises:

        VersionNotServed: HTTP 400, outside JSON-RPC.
        UnsupportedVersion: HTTP 400, ``-32022``.
        InvalidRequest: HTTP 400, ``-32600``.
    """
    row = decide(_sees(route, version), claim, _post(message), _only(route.versions))
    if row.verdict is Verdict.HEADER_REFUSED:
        raise VersionNotServed(version, route.versions)
    if row.verdict is Verdict.UNSUPPORTED:
        raise UnsupportedVersion(version or _asked(message), route.versions)
    if row.verdict is Verdict.NO_RESPONSES:
        raise InvalidRequest("a response is not taken: this server sends no requests")


def warnings(tool: Tool, route: model.Route) -> tuple[str, ...]:
    """Return what is legal and harmful about *tool* on *route*, one sentence each, for ``/readyz`` and ``check``."""
    spoken = (ERAS[version].warnings(tool, route.structured_output) for version in route.protocol_versions)
    return (*tool.warnings, *dict.fromkeys(chain.from_iterable(spoken)))


@cache
def decide(header: Header, claim: bool, post: Post, only: Header | None) -> Row:
    """Return the first row of the table that fits; the last one fits everything."""
    return next(
        row
        for row in TABLE
        if row.claim in (None, claim)
        and row.header in (None, header)
        and (row.posts is None or post in row.posts)
        and row.only in (None, only)
    )


def _sees(route: Route, version: str | None) -> Header:
    if version is None:
        return Header.ABSENT
    if version not in route.versions:
        return Header.OTHER
    return Header.PER_REQUEST if ERAS[version].per_request else Header.SESSION


@cache
def _of_kind(versions: tuple[str, ...], per_request: bool) -> Era:
    return min((ERAS[version] for version in versions), key=lambda era: era.per_request is not per_request)


@cache
def _only(versions: tuple[str, ...]) -> Header | None:
    kinds = {ERAS[version].per_request for version in versions}
    if len(kinds) > 1:
        return None
    return Header.PER_REQUEST if kinds.pop() else Header.SESSION


def _post(message: Message) -> Post:
    if message.kind is Kind.REQUEST:
        return Post.INITIALIZE if message.method == "initialize" else Post.REQUEST
    return Post.NOTIFICATION if message.kind is Kind.NOTIFICATION else Post.RESPONSE


def _asked(message: Message) -> str | None:
    """Return the version that an ``initialize`` asks for, if it does."""
    asked = message.params.get("protocolVersion")
    return asked if isinstance(asked, str) else None
