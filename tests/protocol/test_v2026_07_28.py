"""MCP 2026-07-28 for a server that has tools alone (``docs/contracts/mcp-2026-07-28.md``)."""

from __future__ import annotations

from typing import Any

import pytest
from road import (
    BOTH,
    CAPABILITIES,
    CLAIM,
    CLIENT_INFO,
    GUID,
    LEGACY,
    LOG_LEVEL,
    META,
    MODERN,
    SERVER_INFO,
    Road,
    accepted,
    as_json,
    dumps,
    error,
    message,
    result,
    text,
    tool,
)

from mcp_gateway import __version__
from mcp_gateway.config.model import Server
from mcp_gateway.transport.answer import Answer

CALL = {"name": "core.search", "arguments": {"query": "x"}}
ME = {"name": "mcp-gateway", "title": "MCP Gateway", "version": __version__}


# --- _meta -----------------------------------------------------------------------------------------------------------


INFO_RULE = f"'{CLIENT_INFO}' must be an object with the strings 'name' and 'version'"


@pytest.mark.parametrize(
    ("meta", "words"),
    [
        ({CLAIM: MODERN}, f"'{CAPABILITIES}' is required"),
        ({CLAIM: MODERN, CAPABILITIES: None}, f"'{CAPABILITIES}' must be an object"),
        ({CLAIM: MODERN, CAPABILITIES: []}, f"'{CAPABILITIES}' must be an object"),
        ({CLAIM: 20260728, CAPABILITIES: {}}, f"'{CLAIM}' must be a string"),
        ({CLAIM: None, CAPABILITIES: {}}, f"'{CLAIM}' must be a string"),
        ({**META, CLIENT_INFO: "builder"}, INFO_RULE),
        ({**META, CLIENT_INFO: {"name": "b"}}, INFO_RULE),
        ({**META, CLIENT_INFO: {"version": "1"}}, INFO_RULE),
        ({**META, CLIENT_INFO: None}, INFO_RULE),
        ({**META, LOG_LEVEL: "loud"}, f"'{LOG_LEVEL}' must be one of debug, info, notice"),
        ({**META, LOG_LEVEL: ["debug"]}, f"'{LOG_LEVEL}' must be one of debug"),
        ({}, f"'{CLAIM}' is required; '{CAPABILITIES}' is required"),
        ("text", f"'{CLAIM}' is required"),
        (None, f"'{CLAIM}' is required"),
    ],
)
def test_a_meta_that_is_incomplete_or_of_a_wrong_type_is_refused(road: Road, meta: Any, words: str) -> None:
    found = error(road.post(message("tools/list", {"_meta": meta}), {"MCP-Protocol-Version": MODERN}), -32602, 400)

    assert found["message"].startswith(f"Invalid params: _meta: {words}")


def test_a_request_without_params_is_refused_for_its_meta(road: Road) -> None:
    error(road.post(message("tools/list"), {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}), -32602, 400)


def test_the_meta_is_looked_at_before_any_header(road: Road) -> None:
    error(road.post(message("tools/list", {"_meta": {CLAIM: MODERN}}), {}), -32602, 400)


def test_client_info_is_not_needed(road: Road) -> None:
    meta = {CLAIM: MODERN, CAPABILITIES: {}}

    response = road.post(
        message("tools/list", {"_meta": meta}), {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}
    )

    assert result(response)["tools"]


@pytest.mark.parametrize("level", ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"])
def test_every_log_level_is_taken(road: Road, level: str) -> None:
    result(road.modern("tools/list", meta={LOG_LEVEL: level, "progressToken": 1}))


# --- server/discover -------------------------------------------------------------------------------------------------


def test_discover_is_answered_before_the_first_snapshot() -> None:
    members = result(Road(loaded=False).modern("server/discover"))

    assert members == {
        "resultType": "complete",
        "supportedVersions": [MODERN, LEGACY],
        "capabilities": {"tools": {}},
        "ttlMs": 60000,
        "cacheScope": "private",
        "_meta": {SERVER_INFO: ME},
    }


def test_discover_says_what_the_route_says_of_itself() -> None:
    road = Road(versions=(MODERN,), title="인사", instructions="먼저 찾으세요.", list_ttl_s=2.5, cache_scope="public")

    members = result(road.modern("server/discover"))

    assert members["supportedVersions"] == [MODERN]
    assert members["instructions"] == "먼저 찾으세요."
    assert (members["ttlMs"], members["cacheScope"]) == (2500, "public")
    assert members["_meta"][SERVER_INFO]["title"] == "인사"


def test_discover_says_the_gateways_instructions_when_the_route_has_none() -> None:
    assert result(Road(server=Server(instructions="Hi.")).modern("server/discover"))["instructions"] == "Hi."


# --- results ---------------------------------------------------------------------------------------------------------


def test_the_list_says_how_long_and_by_whom_it_may_be_kept(road: Road) -> None:
    members = result(road.modern("tools/list"))

    assert list(members) == ["resultType", "tools", "ttlMs", "cacheScope", "_meta"]
    assert (members["resultType"], members["ttlMs"], members["cacheScope"]) == ("complete", 60000, "private")
    assert [each["name"] for each in members["tools"]] == ["core.search", "core.anything"]


def test_a_list_that_is_stale_at_once_says_zero() -> None:
    assert result(Road(list_ttl_s=0).modern("tools/list"))["ttlMs"] == 0


@pytest.mark.parametrize("cursor", ["page-2", "", None, 5])
def test_any_cursor_is_unknown(road: Road, cursor: Any) -> None:
    error(road.modern("tools/list", {"cursor": cursor}), -32602)


def test_a_call_is_complete_and_may_not_be_kept(road: Road) -> None:
    members = result(road.modern("tools/call", CALL))

    assert members["resultType"] == "complete"
    assert members["_meta"] == {SERVER_INFO: ME}
    assert not {"ttlMs", "cacheScope"} & set(members)


def test_a_failure_stands_beside_who_answers(road: Road) -> None:
    road.service.gives = text("no", 500)

    members = result(road.modern("tools/call", CALL, headers={"guid": GUID}))

    note = {"reason": "status", "outcome": "answered", "status": 500, "guid": GUID}
    assert members["_meta"] == {"mcp-gateway/failure": note, SERVER_INFO: ME}


def test_wrong_arguments_are_a_result_with_all_violations_in_the_words_of_the_other_revision(road: Road) -> None:
    params = {"name": "core.search", "arguments": {"limit": "5"}}

    members = result(road.modern("tools/call", params))

    legacy = error(road.legacy("tools/call", params), -32602)["message"]
    assert members == {
        "resultType": "complete",
        "content": [{"type": "text", "text": legacy, "_meta": {"searchTime": 0}}],
        "isError": True,
        "_meta": {SERVER_INFO: ME},
    }
    assert not road.service.calls


def test_no_answer_has_a_session_id(road: Road) -> None:
    responses = [
        road.modern("server/discover", headers={"Mcp-Session-Id": "abc"}),
        road.modern("tools/list", headers={"Mcp-Session-Id": "abc"}),
        road.modern("tools/call", CALL),
        road.modern("initialize"),
        road.post(b"{", {"MCP-Protocol-Version": MODERN}),
    ]

    assert not any("Mcp-Session-Id" in response.headers for response in responses)


# --- refusals --------------------------------------------------------------------------------------------------------

REMOVED = [
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
    "tasks/get",
    "tasks/result",
    "tasks/list",
    "tasks/cancel",
    "subscriptions/listen",
    "resources/list",
    "prompts/get",
    "unheard/of",
]


@pytest.mark.parametrize("method", REMOVED)
def test_a_method_that_there_is_not_is_404(road: Road, method: str) -> None:
    error(road.modern(method), -32601, 404)


@pytest.mark.parametrize("requested", ["1900-01-01", LEGACY, "x" * 300, "2099-01-01"])
def test_a_version_that_is_not_served_is_told_with_those_that_are(road: Road, requested: str) -> None:
    found = error(
        road.modern("tools/list", headers={"MCP-Protocol-Version": requested}, meta={CLAIM: requested}), -32022, 400
    )

    assert found["message"].startswith("Unsupported protocol version")
    assert {name: found["data"][name] for name in ("supported", "requested")} == {
        "supported": [*BOTH],
        "requested": requested,
    }


def test_header_and_claim_are_compared_before_it_is_asked_whether_they_are_served(road: Road) -> None:
    error(road.modern("tools/list", meta={CLAIM: "v999"}), -32020, 400)


@pytest.mark.parametrize("name", ["guid", "x-request-id", "mcp-session-id", "employee-no", "virtual-employee-no"])
def test_a_malformed_caller_header_is_400(road: Road, name: str) -> None:
    response = road.modern("tools/call", CALL, headers={name: "wrong value"})

    assert f"'{name}'" in error(response, -32600, 400)["message"]
    assert b"wrong value" not in response.data
    assert not road.service.calls


@pytest.mark.parametrize("claim", [MODERN, "1999-01-01", 5, None])
def test_a_notification_is_accepted_whatever_it_claims(road: Road, claim: Any) -> None:
    accepted(road.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"_meta": {CLAIM: claim}}}))


# --- multi-round requests --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("extra", [{"inputResponses": {"a": {}}}, {"requestState": "opaque"}])
def test_the_state_of_a_multi_round_request_is_taken_and_not_passed_on(road: Road, extra: dict[str, Any]) -> None:
    assert result(road.modern("tools/call", {**CALL, **extra}))["isError"] is False

    assert road.service.calls[0].arguments == dumps(CALL["arguments"])


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ({"inputResponses": []}, "'inputResponses' must be an object"),
        ({"inputResponses": None}, "'inputResponses' must be an object"),
        ({"requestState": {}}, "'requestState' must be a string"),
    ],
)
def test_the_state_of_a_multi_round_request_must_have_its_type(road: Road, extra: dict[str, Any], words: str) -> None:
    assert error(road.modern("tools/call", {**CALL, **extra}), -32602)["message"] == f"Invalid params: {words}"
    result(road.legacy("tools/call", {**CALL, **extra}))


def test_the_state_of_a_multi_round_request_matters_to_calls_alone(road: Road) -> None:
    result(road.modern("tools/list", {"requestState": 5}))
    error(road.modern("ping", {"requestState": 5}), -32601, 404)


# --- structured output -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ['{"n":1}', "[1,2]", '"text"', "5", "1.10", "true", "null"])
def test_any_json_value_may_be_structured(value: str) -> None:
    road = Road(tool(outputSchema={"$comment": "anything"}))
    road.service.gives = as_json(value)

    response = road.modern("tools/call", CALL)

    assert f'"structuredContent":{value}'.encode() in response.data
    assert result(response)["isError"] is False


def test_any_output_schema_is_shown() -> None:
    road = Road(tool(outputSchema={"type": "array"}))

    assert result(road.modern("tools/list"))["tools"][0]["outputSchema"] == {"type": "array"}
    assert "outputSchema" not in result(road.legacy("tools/list"))["tools"][0]


@pytest.mark.parametrize(
    ("answer", "words"), [(as_json('{"n": 1}'), "the answer must be array"), (text("[1]"), "it brings no JSON")]
)
def test_an_answer_that_does_not_fit_is_an_error(answer: Answer, words: str) -> None:
    road = Road(tool(outputSchema={"type": "array"}))
    road.service.gives = answer

    members = result(road.modern("tools/call", CALL))

    assert members["isError"] is True
    assert words in members["content"][0]["text"]
    assert members["_meta"]["mcp-gateway/failure"]["reason"] == "output_schema"
    assert "structuredContent" not in members


def test_contract_v0_3_has_no_structure_here_either() -> None:
    road = Road(tool(outputSchema={"type": "array"}), structured_output=False)
    road.service.gives = as_json('{"n": 1}')

    assert result(road.modern("tools/list"))["tools"][0]["outputSchema"] == {"type": "array"}
    members = result(road.modern("tools/call", CALL))
    assert members["isError"] is False
    assert "structuredContent" not in members
