"""MCP 2025-11-25: ``initialize``, ``ping``, ``tools/list`` and ``tools/call`` (``docs/contracts/agent-builder.md``)."""

from __future__ import annotations

from typing import Any

import pytest
from road import (
    GUID,
    HELLO,
    LEGACY,
    UUID,
    Road,
    as_json,
    dumps,
    error,
    message,
    parsed,
    result,
    text,
    tool,
)

from mcp_gateway import __version__
from mcp_gateway.config.model import Server
from mcp_gateway.transport.answer import Answer

OBJECT_SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
CALL = {"name": "core.search", "arguments": {"query": "x"}}


# --- initialize ------------------------------------------------------------------------------------------------------


def test_initialize_says_who_serves_and_what(road: Road) -> None:
    members = result(road.post(message("initialize", HELLO)))

    assert members == {
        "protocolVersion": LEGACY,
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": "mcp-gateway", "title": "MCP Gateway", "version": __version__},
    }


def test_initialize_gives_a_new_session_id_each_time_and_stores_nothing(road: Road) -> None:
    ids = [road.post(message("initialize", HELLO)).headers["Mcp-Session-Id"] for _ in range(3)]

    assert len(set(ids)) == 3
    assert all(UUID.fullmatch(each) for each in ids)
    assert result(road.legacy("ping", headers={"Mcp-Session-Id": "never-issued"})) == {}


def test_only_initialize_gives_a_session_id(road: Road) -> None:
    for response in (road.legacy("ping"), road.legacy("tools/list"), road.legacy("tools/call", CALL)):
        assert "Mcp-Session-Id" not in response.headers


@pytest.mark.parametrize("asked", ["2024-11-05", "2025-06-18", "2026-07-28", "2099-01-01", ""])
def test_initialize_answers_another_version_with_the_one_it_speaks(road: Road, asked: str) -> None:
    members = result(road.post(message("initialize", {**HELLO, "protocolVersion": asked})))

    assert members["protocolVersion"] == LEGACY


@pytest.mark.parametrize(
    ("member", "value", "words"),
    [
        ("protocolVersion", None, "'protocolVersion' must be a string"),
        ("protocolVersion", 20251125, "'protocolVersion' must be a string"),
        ("capabilities", [], "'capabilities' must be an object"),
    ],
)
def test_initialize_refuses_a_member_of_a_wrong_type(road: Road, member: str, value: Any, words: str) -> None:
    found = error(road.post(message("initialize", {**HELLO, member: value})), -32602)

    assert found["message"] == f"Invalid params: {words}"


@pytest.mark.parametrize("info", [None, "builder", {"name": "b"}, {"version": "1"}, {"name": 1, "version": "1"}])
def test_initialize_refuses_a_client_that_does_not_say_what_it_is(road: Road, info: Any) -> None:
    found = error(road.post(message("initialize", {**HELLO, "clientInfo": info})), -32602)

    assert found["message"] == "Invalid params: 'clientInfo' must be an object with the strings 'name' and 'version'"


def test_initialize_names_every_member_that_is_missing(road: Road) -> None:
    found = error(road.post(message("initialize")), -32602)

    assert found["message"] == (
        "Invalid params: 'protocolVersion' is required; 'capabilities' is required; 'clientInfo' is required"
    )


def test_initialize_takes_unknown_capabilities_and_members(road: Road) -> None:
    params = {**HELLO, "capabilities": {"roots": {"listChanged": True}, "unheard": {}}, "extra": 1}

    result(road.post(message("initialize", params)))


def test_a_route_says_its_own_name_before_the_gateways() -> None:
    road = Road(name="hr", title="인사", version="7", instructions="인사 도구입니다.")

    members = result(road.post(message("initialize", HELLO)))

    assert members["serverInfo"] == {"name": "hr", "title": "인사", "version": "7"}
    assert members["instructions"] == "인사 도구입니다."


def test_a_route_without_a_name_says_the_gateways() -> None:
    road = Road(server=Server(name="gate", title="Gate", version="3", instructions="Ask the handbook first."))

    members = result(road.post(message("initialize", HELLO)))

    assert members["serverInfo"] == {"name": "gate", "title": "Gate", "version": "3"}
    assert members["instructions"] == "Ask the handbook first."


# --- ping, and what there is not -------------------------------------------------------------------------------------


@pytest.mark.parametrize("params", [None, {}, {"anything": 1}])
def test_ping_is_answered_with_nothing_in_it(road: Road, params: Any) -> None:
    assert result(road.legacy("ping", params)) == {}


@pytest.mark.parametrize(
    "method",
    [
        "server/discover",
        "logging/setLevel",
        "resources/list",
        "prompts/list",
        "completion/complete",
        "tasks/list",
        "Tools/List",
        "tools/list ",
        "",
    ],
)
def test_a_method_that_there_is_not_is_refused_at_http_200(road: Road, method: str) -> None:
    assert error(road.legacy(method), -32601)["message"] == f"Method not found: unknown method '{method}'"


def test_an_unknown_method_is_named_but_never_at_length(road: Road) -> None:
    assert len(error(road.legacy("x" * 5000), -32601)["message"]) < 200


# --- tools/list ------------------------------------------------------------------------------------------------------


def test_the_list_shows_all_that_callers_may_see_in_manifest_order_and_leaves_out_what_is_absent() -> None:
    full = tool(
        "core.full",
        title="Full",
        outputSchema={"type": "object"},
        annotations={"readOnlyHint": True},
        icons=[{"src": "https://example.com/i.png"}],
        _meta={"version": "1.2.0"},
        timeoutMs=1000,
        unknown=True,
    )
    bare = tool("core.bare", inputSchema={"type": "object"})

    members = result(Road(full, bare).legacy("tools/list"))

    assert members == {
        "tools": [
            {
                "name": "core.full",
                "title": "Full",
                "description": "Searches.",
                "inputSchema": full["inputSchema"],
                "outputSchema": {"type": "object"},
                "annotations": {"readOnlyHint": True},
                "icons": [{"src": "https://example.com/i.png"}],
                "_meta": {"version": "1.2.0"},
            },
            {"name": "core.bare", "description": "Searches.", "inputSchema": {"type": "object"}},
        ]
    }


def test_a_schema_is_shown_as_the_manifest_writes_it() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"a": {"$anchor": "x", "type": "string"}},
        "properties": {"a": {"$ref": "#/$defs/a"}, "n": {"type": "number", "multipleOf": 0.10}},
        "allOf": [{"if": {}, "then": {}, "else": {}}],
        "additionalProperties": False,
    }

    assert result(Road(tool(inputSchema=schema)).legacy("tools/list"))["tools"][0]["inputSchema"] == schema


@pytest.mark.parametrize("cursor", ["page-2", "", None, 5, {}])
def test_any_cursor_is_unknown(road: Road, cursor: Any) -> None:
    found = error(road.legacy("tools/list", {"cursor": cursor}), -32602)

    assert found["message"] == "Invalid params: unknown cursor: the list has one page"


def test_marks_for_mirrored_headers_are_shown_and_not_enforced() -> None:
    schema = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
    road = Road(tool(inputSchema=schema))

    assert result(road.legacy("tools/list"))["tools"][0]["inputSchema"] == schema
    for headers in ({}, {"Mcp-Param-Region": "us"}, {"Mcp-Method": "ping", "Mcp-Name": "other"}):
        response = road.legacy("tools/call", {"name": "core.search", "arguments": {"region": "kr"}}, headers=headers)
        assert result(response)["isError"] is False


# --- tools/call ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        (b"", b"{}"),
        (b',"arguments":{}', b"{}"),
        (
            b',"arguments": {"b": 1.10, "a" :"\\uc11c\xec\x9a\xb8" ,\n"c":1e400}',
            b'{"b": 1.10, "a" :"\\uc11c\xec\x9a\xb8" ,\n"c":1e400}',
        ),
    ],
)
def test_the_arguments_reach_the_tool_service_byte_for_byte(road: Road, arguments: bytes, sent: bytes) -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"core.anything"%s}}' % arguments

    result(road.post(body, {"MCP-Protocol-Version": LEGACY}))

    (call,) = road.service.calls
    assert call.arguments == sent
    assert (call.tool, call.endpoint) == ("core.anything", "/tools/anything?echo=1")


def test_members_of_params_that_are_no_arguments_are_not_passed_on(road: Road) -> None:
    params = {**CALL, "_meta": {"progressToken": 1}, "task": {"ttl": 1}, "extra": True}

    result(road.legacy("tools/call", params))

    assert road.service.calls[0].arguments == dumps(CALL["arguments"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "'query' is required"),
        ({"query": "x", "limit": "5"}, "'limit' must be integer"),
        ({"query": "x", "filter": {}}, "'filter.from' is required"),
        ({"query": "x", "tags": ["a", "b", 3]}, "'tags[2]' must be string"),
    ],
)
def test_arguments_that_do_not_fit_are_named_with_their_path(arguments: Any, words: str) -> None:
    schema = {
        "type": "object",
        "required": ["query"],
        "properties": {
            "limit": {"type": "integer"},
            "filter": {"type": "object", "required": ["from"]},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
    }

    found = error(
        Road(tool(inputSchema=schema)).legacy("tools/call", {"name": "core.search", "arguments": arguments}), -32602
    )

    assert found["message"] == f"Invalid params: {words}"
    assert [set(each) for each in found["data"]["errors"]] == [{"path", "keyword", "message"}]


def test_the_value_of_a_wrong_argument_is_never_in_the_answer(road: Road) -> None:
    response = road.legacy("tools/call", {"name": "core.search", "arguments": {"query": 5, "limit": "s3cret"}})

    assert b"s3cret" not in response.data


def test_the_time_of_the_call_stands_on_the_first_block_alone() -> None:
    road = Road(tool(resultFormat="mcp"))
    road.service.gives = as_json(
        '{"content": [{"type": "text", "text": "a", "_meta": {"own": 1}}, {"type": "text", "text": "b"}]}'
    )

    first, second = result(road.legacy("tools/call", CALL))["content"]

    assert first["_meta"]["own"] == 1
    assert type(first["_meta"]["searchTime"]) is int
    assert "_meta" not in second


def test_an_image_is_an_image_block_with_the_time_on_it(road: Road) -> None:
    road.service.gives = Answer(200, {"content-type": "image/png"}, b"\x89PNG")

    (block,) = result(road.legacy("tools/call", CALL))["content"]

    assert block == {"type": "image", "data": "iVBORw==", "mimeType": "image/png", "_meta": block["_meta"]}
    assert "searchTime" in block["_meta"]


def test_a_failure_says_to_machines_what_happened(road: Road) -> None:
    road.service.gives = text("slow down", 429, retry_after="3")

    members = result(road.legacy("tools/call", CALL, headers={"guid": GUID}))

    assert members["_meta"]["mcp-gateway/failure"] == {
        "reason": "status",
        "outcome": "answered",
        "status": 429,
        "retryAfter": 3,
        "guid": GUID,
    }


# --- structured output -----------------------------------------------------------------------------------------------


def test_an_answer_that_fits_the_output_schema_is_structured_beside_the_text() -> None:
    road = Road(tool(outputSchema=OBJECT_SCHEMA))
    road.service.gives = as_json('{"n": 9007199254740993}')

    members = result(road.legacy("tools/call", CALL))

    assert members["structuredContent"] == {"n": 9007199254740993}
    assert members["content"][0]["text"] == '{"n":9007199254740993}'
    assert members["isError"] is False


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (as_json('{"n": "1"}'), "'n' must be integer"),
        (as_json("{}"), "'n' is required"),
        (as_json("[1]"), "it is not a JSON object"),
        (as_json('"n"'), "it is not a JSON object"),
        (text("n = 1"), "it brings no JSON that could be held to it"),
    ],
)
def test_an_answer_that_does_not_fit_is_an_error_that_names_the_violation(answer: Answer, words: str) -> None:
    road = Road(tool(outputSchema=OBJECT_SCHEMA))
    road.service.gives = answer

    members = result(road.legacy("tools/call", CALL))

    assert members["isError"] is True
    assert members["content"][0]["text"] == (
        f"Tool 'core.search' gave an answer that does not fit its outputSchema: {words}."
    )
    assert members["_meta"]["mcp-gateway/failure"]["reason"] == "output_schema"
    assert members["_meta"]["mcp-gateway/failure"]["outcome"] == "answered"
    assert "structuredContent" not in members


def test_an_answer_that_failed_anyway_is_not_held_to_the_output_schema() -> None:
    road = Road(tool(outputSchema=OBJECT_SCHEMA))
    road.service.gives = text("no such document", 404)

    members = result(road.legacy("tools/call", CALL))

    assert members["content"][0]["text"] == "no such document"
    assert "structuredContent" not in members


@pytest.mark.parametrize(
    "schema", [{"type": "array"}, {"oneOf": [{"type": "object"}]}, {"type": ["object", "null"]}, {}]
)
def test_an_output_schema_with_another_root_is_neither_shown_nor_honoured(schema: Any) -> None:
    road = Road(tool(outputSchema=schema))
    road.service.gives = as_json("[1]")

    assert "outputSchema" not in result(road.legacy("tools/list"))["tools"][0]
    members = result(road.legacy("tools/call", CALL))
    assert members["isError"] is False
    assert "structuredContent" not in members


@pytest.mark.parametrize("schema", [OBJECT_SCHEMA, {"type": "array"}])
def test_contract_v0_3_shows_the_schema_as_declared_and_never_checks_it(schema: Any) -> None:
    road = Road(tool(outputSchema=schema), structured_output=False)
    road.service.gives = as_json('{"n": "wrong"}')

    assert result(road.legacy("tools/list"))["tools"][0]["outputSchema"] == schema
    members = result(road.legacy("tools/call", CALL))
    assert (members["isError"], members["content"][0]["text"]) == (False, '{"n":"wrong"}')
    assert "structuredContent" not in members


def test_a_tool_without_an_output_schema_gives_no_structure(road: Road) -> None:
    road.service.gives = as_json('{"n": 1}')

    assert "structuredContent" not in result(road.legacy("tools/call", CALL))


def test_no_answer_has_what_only_the_other_revision_has(road: Road) -> None:
    for response in (road.legacy("ping"), road.legacy("tools/list"), road.legacy("tools/call", CALL)):
        members = parsed(response)["result"]
        assert not {"resultType", "ttlMs", "cacheScope", "_meta"} & set(members)
