"""The JSON-RPC envelope, on both revisions: what is JSON, what is a message, and whose id comes back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from road import (
    BOTH,
    CAPABILITIES,
    CLAIM,
    LEGACY,
    MODERN,
    Road,
    accepted,
    as_json,
    dumps,
    error,
    message,
    parsed,
    result,
)

STATUS = {LEGACY: 200, MODERN: 400}
"""The HTTP status of an envelope fault."""

both = pytest.mark.parametrize("version", BOTH)


def raw(version: str, request_id: str, method: str = "tools/list") -> bytes:
    """Return a request whose id is this JSON text."""
    meta = {"_meta": {CLAIM: MODERN, CAPABILITIES: {}}} if version == MODERN else {}
    params = json.dumps(meta)
    return f'{{"jsonrpc": "2.0", "id": {request_id}, "method": "{method}", "params": {params}}}'.encode()


def headers(version: str, method: str = "tools/list") -> dict[str, str]:
    return {"MCP-Protocol-Version": version, "Mcp-Method": method}


# --- ids -------------------------------------------------------------------------------------------------------------

IDS = [
    "0",
    "1",
    "-1",
    "-0",
    '""',
    '"0"',
    '"가나다"',
    '"\\ud55c\\u0000"',
    '"😀"',
    "9007199254740993",
    "1234567890123456789012345678901234567890",
    "9" * 5000,
    '"' + "x" * 5000 + '"',
]


@both
@pytest.mark.parametrize("request_id", IDS, ids=lambda text: text[:24])
def test_an_id_is_echoed_as_it_was_sent_with_a_result(road: Road, version: str, request_id: str) -> None:
    response = road.post(raw(version, request_id), headers(version))

    assert response.data.startswith(f'{{"jsonrpc":"2.0","id":{request_id},"result":'.encode())


@both
@pytest.mark.parametrize("request_id", IDS, ids=lambda text: text[:24])
def test_an_id_is_echoed_as_it_was_sent_with_an_error(road: Road, version: str, request_id: str) -> None:
    response = road.post(raw(version, request_id, "tools/run"), headers(version, "tools/run"))

    assert response.data.startswith(f'{{"jsonrpc":"2.0","id":{request_id},"error":'.encode())


@both
@pytest.mark.parametrize("request_id", ["null", "true", "false", "1.5", "1.0", "1e2", "1E2", "-0.0", "[]", "[1]", "{}"])
def test_other_ids_are_refused_and_null_stands_in_their_place(road: Road, version: str, request_id: str) -> None:
    found = error(road.post(raw(version, request_id), headers(version)), -32600, STATUS[version], None)

    assert found["message"] == "Invalid Request: 'id' must be a string or an integer"


@both
def test_a_readable_id_is_echoed_whatever_else_is_wrong(road: Road, version: str) -> None:
    wrong = {"jsonrpc": 2, "id": "mine", "method": None, "params": [1]}

    found = error(road.post(wrong, headers(version)), -32600, STATUS[version], "mine")

    assert found["message"] == (
        "Invalid Request: 'jsonrpc' must be \"2.0\"; 'method' must be a string; 'params' must be an object"
    )


# --- members ---------------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"id": 1, "method": "ping"}, "'jsonrpc' is required"),
        ({"jsonrpc": "2", "id": 1, "method": "ping"}, "'jsonrpc' must be \"2.0\""),
        ({"jsonrpc": 2.0, "id": 1, "method": "ping"}, "'jsonrpc' must be \"2.0\""),
        ({"jsonrpc": None, "id": 1, "method": "ping"}, "'jsonrpc' must be \"2.0\""),
        ({"jsonrpc": "2.0", "id": 1}, "'method' is required"),
        ({"jsonrpc": "2.0", "id": 1, "params": {}}, "'method' is required"),
        ({"jsonrpc": "2.0", "id": 1, "method": 5}, "'method' must be a string"),
        ({"jsonrpc": "2.0", "id": 1, "method": ["ping"]}, "'method' must be a string"),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": None}, "'params' must be an object"),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}, "'params' must be an object"),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": "x"}, "'params' must be an object"),
    ],
)
def test_a_member_of_a_wrong_kind_is_named(road: Road, version: str, members: dict[str, Any], words: str) -> None:
    found = error(road.post(members, headers(version)), -32600, STATUS[version])

    assert found["message"] == f"Invalid Request: {words}"


def test_unknown_members_of_a_message_are_ignored(road: Road) -> None:
    assert result(road.legacy("ping", extra=1)) == {}


@both
@pytest.mark.parametrize("body", [b"[]", b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', b"[[[]]]", b"[1]"])
def test_a_batch_is_refused(road: Road, version: str, body: bytes) -> None:
    found = error(road.post(body, headers(version)), -32600, STATUS[version], None)

    assert "batches are not supported" in found["message"]


def test_a_batch_with_a_claim_in_it_is_refused_by_the_revision_that_knows_claims(road: Road) -> None:
    claiming = message("tools/list", {"_meta": {CLAIM: MODERN}})

    error(road.post([message("ping"), claiming], headers(LEGACY)), -32600, 400, None)


@both
@pytest.mark.parametrize("body", [b"5", b"null", b"true", b'"ping"', b"1e400"])
def test_a_body_that_is_no_object_is_refused(road: Road, version: str, body: bytes) -> None:
    found = error(road.post(body, headers(version)), -32600, STATUS[version], None)

    assert found["message"] == "Invalid Request: the body must be a JSON object"


@both
@pytest.mark.parametrize(
    "body",
    [
        b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"a":1}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":[{"a":1,"\\u0061":2}]}}',
    ],
)
def test_an_object_that_names_a_member_twice_is_refused(road: Road, version: str, body: bytes) -> None:
    found = error(road.post(body, headers(version)), -32600, STATUS[version])

    assert "two members named" in found["message"]


# --- what is JSON ----------------------------------------------------------------------------------------------------

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":%s}}'

UNREADABLE = {
    "empty": b"",
    "white space": b"  \n ",
    "cut": b'{"jsonrpc":"2.0","id":1',
    "words": b"hello",
    "behind": b'{"jsonrpc":"2.0","id":1,"method":"ping"} {}',
    "trailing comma": b'{"jsonrpc":"2.0","id":1,"method":"ping",}',
    "single quotes": b"{'jsonrpc':'2.0'}",
    "leading zero": PING % b"01",
    "plus": PING % b"+1",
    "control character": PING % b'"\x01"',
    "byte order mark": b"\xef\xbb\xbf" + PING % b"1",
    "UTF-16": (PING % b"1").decode().encode("utf-16"),
    "deep arrays": PING % (b"[" * 100_000 + b"]" * 100_000),
    "deep objects": PING % (b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "deep and cut": b"[" * 100_000,
    "NaN as id": b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}',
    "half a surrogate pair in id": b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
    "bad UTF-8 in id": b'{"jsonrpc":"2.0","id":"\xff","method":"ping"}',
    "no id": b'{"jsonrpc":"2.0","method":"ping","params":{"x":NaN}}',
    "a list": b"[NaN]",
}
"""Bodies that are no JSON and whose id nobody can read."""

READABLE = {
    "NaN": PING % b"NaN",
    "Infinity": PING % b"Infinity",
    "-Infinity": PING % b"-Infinity",
    "exponent out of range": PING % b"1e99999999999999999999",
    "bad UTF-8": PING % b'"\xff"',
    "overlong UTF-8": PING % b'"\xc0\xaf"',
    "encoded surrogate": PING % b'"\xed\xa0\x80"',
    "lone surrogate": PING % b'"\\ud800"',
    "lone surrogate as a name": PING % b'{"\\udc00":1}',
    "two lone surrogates as one name": PING % b'{"\\udc00":1,"\\udc00":1}',
    "deeper than 512": PING % (b"[" * 600 + b"]" * 600),
}
"""Bodies that are no JSON and whose id can be read all the same."""


@both
@pytest.mark.parametrize("body", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_is_no_json_is_a_parse_error(road: Road, version: str, body: bytes) -> None:
    found = error(road.post(body, headers(version)), -32700, STATUS[version], None)

    assert found["message"].startswith("Parse error: the body is not JSON: ")


@both
@pytest.mark.parametrize("body", READABLE.values(), ids=READABLE.keys())
def test_an_id_that_can_be_read_is_echoed_by_a_parse_error_too(road: Road, version: str, body: bytes) -> None:
    error(road.post(body, headers(version)), -32700, STATUS[version], 1)


@both
@pytest.mark.parametrize("request_id", [b"12345678901234567890123", b'"a\xea\xb0\x80"', b"-0", b"0", b'""'])
def test_such_an_id_is_echoed_as_it_was_sent(road: Road, version: str, request_id: bytes) -> None:
    body = b'{"jsonrpc":"2.0","id":%s,"method":"ping","params":{"x":NaN}}' % request_id

    assert b'"id":' + request_id + b"," in road.post(body, headers(version)).data


@both
def test_200_levels_of_nesting_are_taken_and_passed_on(road: Road, version: str) -> None:
    deep: Any = 1
    for _ in range(200):
        deep = [deep]

    result(road.speak(version, "tools/call", {"name": "core.anything", "arguments": {"deep": deep}}))

    assert road.service.calls[0].arguments == dumps({"deep": deep})


@both
@pytest.mark.parametrize("number", ["1e400", "1." + "0" * 400, "9" * 5000, "-0", "1E+2", "0.10"])
def test_numbers_beyond_all_machines_are_json(road: Road, version: str, number: str) -> None:
    meta = f'"_meta": {json.dumps({CLAIM: MODERN, CAPABILITIES: {}})}, ' if version == MODERN else ""
    body = (
        f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{meta}"name":"core.anything",'
        f'"arguments":{{"n": {number}}}}}}}'
    )

    result(road.post(body.encode(), headers(version, "tools/call") | {"Mcp-Name": "core.anything"}))

    assert road.service.calls[0].arguments == f'{{"n": {number}}}'.encode()


def test_an_answer_keeps_the_digits_of_the_tool_service(road: Road) -> None:
    road.service.gives = as_json('{ "a": 1.10, "b": 12345678901234567890, "a": 1e400 }')

    members = result(road.legacy("tools/call", {"name": "core.anything"}))

    assert members["content"][0]["text"] == '{"a":1.10,"b":12345678901234567890,"a":1e400}'


# --- notifications and responses -------------------------------------------------------------------------------------

NOTIFICATIONS = ["notifications/initialized", "notifications/cancelled", "notifications/unheard-of", "tools/call", ""]


@both
@pytest.mark.parametrize("method", NOTIFICATIONS)
def test_a_notification_is_accepted_and_nothing_is_done(road: Road, version: str, method: str) -> None:
    body = {"jsonrpc": "2.0", "method": method, "params": {"name": "core.anything", "arguments": {}}}

    accepted(road.post(body, headers(version)))

    assert not road.service.calls
    assert [seen.outcome for seen in road.seen] == ["accepted"]


@both
@pytest.mark.parametrize("name", ["guid", "x-request-id", "mcp-session-id", "employee-no", "virtual-employee-no"])
def test_a_notification_with_a_malformed_caller_header_is_accepted(road: Road, version: str, name: str) -> None:
    accepted(road.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, {**headers(version), name: "a b"}))

    assert road.seen[0].reason == "bad_caller_header"


@both
def test_a_notification_that_breaks_the_envelope_is_refused(road: Road, version: str) -> None:
    error(road.post({"jsonrpc": "2.0", "method": 5}, headers(version)), -32600, STATUS[version], None)


@pytest.mark.parametrize("members", [{"result": {}}, {"error": {"code": 1, "message": "x"}}, {"result": 1, "id": None}])
def test_a_posted_response_is_accepted_on_the_initialize_revision(road: Road, members: dict[str, Any]) -> None:
    accepted(road.post({"jsonrpc": "2.0", "id": 1, **members}, headers(LEGACY)))


@pytest.mark.parametrize("extra", [{}, {"guid": "malformed"}])
def test_a_posted_response_is_refused_on_the_per_request_revision(road: Road, extra: dict[str, str]) -> None:
    response = road.post({"jsonrpc": "2.0", "id": 1, "result": {}}, {**headers(MODERN), **extra})

    assert "this server sends no requests" in error(response, -32600, 400)["message"]


def test_a_response_that_breaks_the_envelope_is_refused(road: Road) -> None:
    error(road.post({"jsonrpc": "1.0", "id": 4, "result": {}}, headers(LEGACY)), -32600, 200, 4)


@both
def test_every_error_has_exactly_three_members_and_a_guid_of_its_own(road: Road, version: str) -> None:
    first, second = (parsed(road.post(b"{", headers(version))) for _ in range(2))

    assert first["error"]["data"]["guid"] != second["error"]["data"]["guid"]
    assert set(first) == {"jsonrpc", "id", "error"}
