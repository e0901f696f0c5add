"""
Which revision answers: the table of ``docs/contracts/protocol-versions.md``, row by row over HTTP.

``Post`` below says what is posted; the claim is the value of ``params._meta``'s version, ``NONE`` when there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from road import (
    BOTH,
    CAPABILITIES,
    CLAIM,
    HELLO,
    LEGACY,
    MODERN,
    Road,
    accepted,
    error,
    message,
    parsed,
    result,
    version_refusal,
)
from werkzeug.test import TestResponse

from mcp_gateway.protocol import eras
from mcp_gateway.protocol.eras import TABLE, Header, Post, Row

NONE = object()
NARROWINGS = {"both": BOTH, "legacy": (LEGACY,), "modern": (MODERN,)}
ROADS = {name: Road(versions=versions) for name, versions in NARROWINGS.items()}

Check = Callable[[TestResponse], Any]


def body(post: Post, claim: Any) -> dict[str, Any]:
    meta = {} if claim is NONE else {"_meta": {CLAIM: claim, CAPABILITIES: {}}}
    match post:
        case Post.INITIALIZE:
            return message("initialize", {**HELLO, **meta})
        case Post.REQUEST:
            return message("tools/list", meta)
        case Post.NOTIFICATION:
            return {"jsonrpc": "2.0", "method": "notifications/initialized", "params": meta}
        case Post.RESPONSE:
            return {"jsonrpc": "2.0", "id": 1, "result": {}, "params": meta}


def send(route: str, header: str | None, claim: Any, post: Post) -> TestResponse:
    sent = body(post, claim)
    return ROADS[route].post(sent, {"MCP-Protocol-Version": header, "Mcp-Method": sent.get("method")})


def refused(code: int, status: int, **data: Any) -> Check:
    def check(response: TestResponse) -> None:
        found = error(response, code, status)["data"]
        assert {name: value for name, value in found.items() if name in ("supported", "requested")} == data

    return check


def is_legacy(response: TestResponse) -> None:
    assert "resultType" not in result(response)


def is_modern(response: TestResponse) -> None:
    assert result(response)["resultType"] == "complete"


def names(*served: str) -> Check:
    return lambda response: version_refusal(response, served)


unsupported = refused(-32022, 400, supported=[MODERN])

# why the row is there, what the route serves, the header, the claim, what is posted, the answer
CASES: list[tuple[str, str, str | None, Any, Post, Check]] = [
    # A claim on a route of the initialize revision alone.
    (TABLE[0].why, "legacy", MODERN, MODERN, Post.REQUEST, names(LEGACY)),
    (TABLE[0].why, "legacy", LEGACY, MODERN, Post.REQUEST, names(LEGACY)),
    (TABLE[0].why, "legacy", None, 5, Post.INITIALIZE, names(LEGACY)),
    (TABLE[0].why, "legacy", LEGACY, MODERN, Post.NOTIFICATION, names(LEGACY)),
    # A claim elsewhere.
    (TABLE[1].why, "both", MODERN, MODERN, Post.REQUEST, is_modern),
    (TABLE[1].why, "modern", MODERN, MODERN, Post.REQUEST, is_modern),
    (TABLE[1].why, "both", MODERN, MODERN, Post.INITIALIZE, refused(-32601, 404)),
    (
        TABLE[1].why,
        "both",
        "1999-01-01",
        "1999-01-01",
        Post.REQUEST,
        refused(-32022, 400, supported=[*BOTH], requested="1999-01-01"),
    ),
    (TABLE[1].why, "both", LEGACY, LEGACY, Post.REQUEST, refused(-32022, 400, supported=[*BOTH], requested=LEGACY)),
    (TABLE[1].why, "modern", LEGACY, LEGACY, Post.REQUEST, refused(-32022, 400, supported=[MODERN], requested=LEGACY)),
    (TABLE[1].why, "both", LEGACY, MODERN, Post.REQUEST, refused(-32020, 400)),
    (TABLE[1].why, "both", MODERN, "v999", Post.REQUEST, refused(-32020, 400)),
    (TABLE[1].why, "both", None, MODERN, Post.REQUEST, refused(-32020, 400)),
    (TABLE[1].why, "both", None, MODERN, Post.INITIALIZE, refused(-32020, 400)),
    (TABLE[1].why, "both", "", MODERN, Post.REQUEST, refused(-32020, 400)),
    (TABLE[1].why, "both", MODERN, 5, Post.REQUEST, refused(-32602, 400)),
    (TABLE[1].why, "both", LEGACY, None, Post.REQUEST, refused(-32602, 400)),
    (TABLE[1].why, "both", None, MODERN, Post.NOTIFICATION, accepted),
    (TABLE[1].why, "both", "1999-01-01", 5, Post.NOTIFICATION, accepted),
    # The per-request header without a claim.
    (TABLE[2].why, "both", MODERN, NONE, Post.RESPONSE, refused(-32600, 400)),
    (TABLE[2].why, "modern", MODERN, NONE, Post.RESPONSE, refused(-32600, 400)),
    (TABLE[3].why, "both", MODERN, NONE, Post.REQUEST, refused(-32602, 400)),
    (TABLE[3].why, "both", MODERN, NONE, Post.INITIALIZE, refused(-32602, 400)),
    (TABLE[3].why, "modern", f"{MODERN}, {MODERN}", NONE, Post.REQUEST, refused(-32602, 400)),
    (TABLE[3].why, "both", MODERN, NONE, Post.NOTIFICATION, accepted),
    # The header of the initialize revision.
    (TABLE[4].why, "both", LEGACY, NONE, Post.REQUEST, is_legacy),
    (TABLE[4].why, "legacy", LEGACY, NONE, Post.REQUEST, is_legacy),
    (TABLE[4].why, "legacy", f"{LEGACY},{LEGACY}", NONE, Post.REQUEST, is_legacy),
    (TABLE[4].why, "both", LEGACY, NONE, Post.INITIALIZE, is_legacy),
    (TABLE[4].why, "both", LEGACY, NONE, Post.NOTIFICATION, accepted),
    (TABLE[4].why, "both", LEGACY, NONE, Post.RESPONSE, accepted),
    # A legacy request on a route of the per-request revision alone.
    (TABLE[5].why, "modern", None, NONE, Post.REQUEST, unsupported),
    (TABLE[5].why, "modern", LEGACY, NONE, Post.REQUEST, refused(-32022, 400, supported=[MODERN], requested=LEGACY)),
    (TABLE[5].why, "modern", None, NONE, Post.INITIALIZE, refused(-32022, 400, supported=[MODERN], requested=LEGACY)),
    (TABLE[5].why, "modern", LEGACY, NONE, Post.INITIALIZE, refused(-32022, 400, supported=[MODERN], requested=LEGACY)),
    # initialize without a header.
    (TABLE[6].why, "both", None, NONE, Post.INITIALIZE, is_legacy),
    (TABLE[6].why, "both", "", NONE, Post.INITIALIZE, is_legacy),
    (TABLE[6].why, "legacy", None, NONE, Post.INITIALIZE, is_legacy),
    # Everything else.
    (TABLE[7].why, "both", None, NONE, Post.REQUEST, names(*BOTH)),
    (TABLE[7].why, "both", None, NONE, Post.NOTIFICATION, names(*BOTH)),
    (TABLE[7].why, "both", None, NONE, Post.RESPONSE, names(*BOTH)),
    (TABLE[7].why, "both", "2025-06-18", NONE, Post.REQUEST, names(*BOTH)),
    (TABLE[7].why, "both", "2025-06-18", NONE, Post.INITIALIZE, names(*BOTH)),
    (TABLE[7].why, "both", "2099-01-01", NONE, Post.REQUEST, names(*BOTH)),
    (TABLE[7].why, "both", "latest", NONE, Post.NOTIFICATION, names(*BOTH)),
    (TABLE[7].why, "both", f"{LEGACY}, {MODERN}", NONE, Post.REQUEST, names(*BOTH)),
    (TABLE[7].why, "legacy", MODERN, NONE, Post.REQUEST, names(LEGACY)),
    (TABLE[7].why, "legacy", MODERN, NONE, Post.INITIALIZE, names(LEGACY)),
    (TABLE[7].why, "legacy", MODERN, NONE, Post.NOTIFICATION, names(LEGACY)),
    (TABLE[7].why, "legacy", MODERN, NONE, Post.RESPONSE, names(LEGACY)),
    (TABLE[7].why, "modern", LEGACY, NONE, Post.NOTIFICATION, names(MODERN)),
    (TABLE[7].why, "modern", None, NONE, Post.RESPONSE, names(MODERN)),
]


def label(value: Any) -> str | None:
    if value is NONE:
        return "no claim"
    return (
        value.name if isinstance(value, Post) else str(value) if value is None or isinstance(value, (str, int)) else ""
    )


@pytest.mark.parametrize(("why", "route", "header", "claim", "post", "check"), CASES, ids=label)
def test_the_table_answers(why: str, route: str, header: str | None, claim: Any, post: Post, check: Check) -> None:
    check(send(route, header, claim, post))


@pytest.mark.parametrize(("why", "route", "header", "claim", "post", "check"), CASES, ids=label)
def test_it_is_this_row_that_answers(
    why: str, route: str, header: str | None, claim: Any, post: Post, check: Check
) -> None:
    said = {None: Header.ABSENT, "": Header.ABSENT}.get(header, Header.OTHER)
    for version, kind in ((LEGACY, Header.SESSION), (MODERN, Header.PER_REQUEST)):
        if header and {part.strip() for part in header.split(",")} == {version} and version in NARROWINGS[route]:
            said = kind
    only = {"both": None, "legacy": Header.SESSION, "modern": Header.PER_REQUEST}[route]

    assert eras.decide(said, claim is not NONE, post, only).why == why


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.why)
def test_every_row_of_the_table_is_tried(row: Row) -> None:
    assert row.why in {why for why, *_ in CASES}


def test_the_last_row_fits_everything_that_no_other_row_takes() -> None:
    for header, claim, post, only in product(Header, (True, False), Post, (None, Header.SESSION, Header.PER_REQUEST)):
        assert eras.decide(header, claim, post, only) in TABLE
    assert TABLE[-1] == Row(TABLE[-1].why, TABLE[-1].verdict)


def test_an_unserved_version_that_initialize_does_not_name_is_not_made_up() -> None:
    road = ROADS["modern"]

    found = error(road.post(message("initialize", {**HELLO, "protocolVersion": 5})), -32022, 400)

    assert set(found["data"]) == {"guid", "supported"}


# --- by whose rules a broken body is answered ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("route", "header", "status"),
    [
        ("both", MODERN, 400),
        ("both", LEGACY, 200),
        ("both", None, 200),
        ("both", "latest", 200),
        ("modern", None, 400),
        ("modern", LEGACY, 400),
        ("legacy", MODERN, 200),
    ],
)
@pytest.mark.parametrize(("sent", "code"), [(b"{", -32700), (b"[]", -32600), (b"5", -32600)])
def test_a_body_without_a_claim_is_answered_by_its_header(
    route: str, header: str | None, status: int, sent: bytes, code: int
) -> None:
    error(ROADS[route].post(sent, {"MCP-Protocol-Version": header}), code, status, None)


@pytest.mark.parametrize(("route", "status"), [("both", 400), ("modern", 400), ("legacy", 200)])
def test_an_envelope_with_a_claim_is_answered_by_the_revision_that_knows_claims(route: str, status: int) -> None:
    sent = message("tools/list", {"_meta": {CLAIM: MODERN}}, jsonrpc="1.0")

    error(ROADS[route].post(sent, {"MCP-Protocol-Version": LEGACY}), -32600, status)


@pytest.mark.parametrize("method", ["tools/list", "initialize"])
def test_mcp_method_says_nothing_about_the_revision(method: str) -> None:
    headers = {"MCP-Protocol-Version": LEGACY, "Mcp-Method": "tools/list", "Mcp-Name": "x"}

    is_legacy(ROADS["both"].post(message(method, dict(HELLO)), headers))


def test_the_bare_probe_of_the_other_revision_is_an_unknown_method() -> None:
    error(ROADS["both"].legacy("server/discover"), -32601)


@pytest.mark.parametrize("meta", [None, [], "x", 5, {}, {"progressToken": 1}])
def test_meta_without_a_claim_is_no_claim(meta: Any) -> None:
    is_legacy(ROADS["both"].legacy("tools/list", {"_meta": meta}))


def test_the_refused_version_is_named_but_never_at_length() -> None:
    found = version_refusal(ROADS["both"].legacy("ping", headers={"MCP-Protocol-Version": "9" * 4000}))

    assert "'" + "9" * 64 + "'" in found["message"]


def test_a_missing_version_is_said_to_be_missing() -> None:
    found = version_refusal(ROADS["both"].legacy("ping", headers={"MCP-Protocol-Version": None}))

    assert found["message"] == f"MCP-Protocol-Version is required; this route serves {MODERN}, {LEGACY}"


# --- whatever is sent ------------------------------------------------------------------------------------------------

VERSION_VALUES = st.sampled_from([None, "", LEGACY, MODERN, "2025-06-18", "2099-01-01", "x", f"{LEGACY},{MODERN}"])
CLAIMS = st.sampled_from([NONE, LEGACY, MODERN, "2099-01-01", "", None, 5, [], {}])


@given(route=st.sampled_from(sorted(ROADS)), header=VERSION_VALUES, claim=CLAIMS, post=st.sampled_from(Post))
def test_whatever_header_and_claim_say_there_is_one_well_formed_answer(
    route: str, header: str | None, claim: Any, post: Post
) -> None:
    response = send(route, header, claim, post)

    if response.status_code == 202:
        return accepted(response)
    document = parsed(response)
    if "supportedVersions" in document:
        version_refusal(response, NARROWINGS[route])
    elif "result" in document:
        result(response)
    else:
        assert document["error"]["code"] in (-32600, -32601, -32602, -32020, -32022)
        assert response.status_code in (400, 404)
        error(response, document["error"]["code"], response.status_code, document["id"])
    if post in (Post.INITIALIZE, Post.REQUEST) and "supportedVersions" not in document:
        assert document["id"] == 1
    return None
