"""
The error table of the Agent Builder contract, row by row, and the order in which checks win over one another.

The table stands in ``docs/contracts/agent-builder.md``. Rows that hold on both revisions are tried on both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from road import (
    BOTH,
    GUID,
    HELLO,
    LEGACY,
    META,
    MODERN,
    Road,
    as_json,
    dumps,
    error,
    message,
    parsed,
    refusal,
    result,
    text,
    tool,
    version_refusal,
)
from werkzeug.test import TestResponse

from mcp_gateway.config.model import Limits
from mcp_gateway.faults import Busy
from mcp_gateway.transport.answer import Delivery, Reason, Unanswered

CALL = {"name": "core.search", "arguments": {"query": "보고서"}}


def failure(response: TestResponse) -> dict[str, Any]:
    """Return the machine-readable note of a result that must be an error."""
    members = result(response)
    assert members["isError"] is True
    assert members["content"][0]["type"] == "text"
    assert isinstance(members["content"][0]["_meta"]["searchTime"], int)
    note: dict[str, Any] = members["_meta"]["mcp-gateway/failure"]
    assert note["guid"] == response.headers["guid"]
    return note


# --- the rows --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", BOTH)
def test_row_the_tool_ended_well(road: Road, version: str) -> None:
    road.service.gives = text("찾았습니다.")

    members = result(road.speak(version, "tools/call", CALL))

    assert members["isError"] is False
    assert members["content"][0]["text"] == "찾았습니다."
    assert isinstance(members["content"][0]["_meta"]["searchTime"], int)
    assert "mcp-gateway/failure" not in members.get("_meta", {})


@pytest.mark.parametrize("version", BOTH)
def test_row_tool_service_timeout(road: Road, version: str) -> None:
    road.service.gives = Unanswered(Reason.BUDGET, Delivery.UNKNOWN, "the budget is used up")

    note = failure(road.speak(version, "tools/call", CALL))

    assert (note["reason"], note["outcome"]) == ("budget", "unknown")
    assert "status" not in note
    assert "retryAfter" not in note


@pytest.mark.parametrize("version", BOTH)
@pytest.mark.parametrize("status", [400, 404, 409, 422, 500, 502, 503])
def test_row_upstream_4xx_and_5xx(road: Road, version: str, status: int) -> None:
    road.service.gives = text("no", status)

    note = failure(road.speak(version, "tools/call", CALL))

    assert (note["reason"], note["outcome"], note["status"]) == ("status", "answered", status)


@pytest.mark.parametrize("version", BOTH)
@pytest.mark.parametrize("status", [401, 403])
def test_row_downstream_refuses_permission(road: Road, version: str, status: int) -> None:
    road.service.gives = as_json('{"reason": "권한이 없습니다"}', status)

    response = road.speak(version, "tools/call", CALL)

    assert failure(response)["status"] == status
    assert result(response)["content"][0]["text"] == '{"reason":"권한이 없습니다"}'


@pytest.mark.parametrize("version", BOTH)
def test_row_the_tool_ran_and_failed_by_its_own_rules(version: str) -> None:
    road = Road(tool(resultFormat="mcp"))
    road.service.gives = as_json('{"content": [{"type": "text", "text": "재고가 없습니다"}], "isError": true}')

    members = result(road.speak(version, "tools/call", CALL))

    assert members["isError"] is True
    assert members["content"][0]["text"] == "재고가 없습니다"


@pytest.mark.parametrize("version", BOTH)
def test_row_a_400_of_the_tool_service_comes_after_validation_and_is_a_result(road: Road, version: str) -> None:
    road.service.gives = text("end date is before start date", 400)

    members = result(road.speak(version, "tools/call", CALL))

    assert (members["isError"], members["content"][0]["text"]) == (True, "end date is before start date")
    assert len(road.service.calls) == 1


@pytest.mark.parametrize(("version", "status"), [(LEGACY, 200), (MODERN, 400)])
def test_row_json_syntax_error(road: Road, version: str, status: int) -> None:
    error(road.post(b'{"jsonrpc": "2.0", ', {"MCP-Protocol-Version": version}), -32700, status, None)


@pytest.mark.parametrize(("version", "status"), [(LEGACY, 200), (MODERN, 400)])
def test_row_json_rpc_envelope_error(road: Road, version: str, status: int) -> None:
    error(road.speak(version, "ping", jsonrpc="1.0", id="x"), -32600, status, "x")


@pytest.mark.parametrize(("version", "status"), [(LEGACY, 200), (MODERN, 404)])
def test_row_unknown_method(road: Road, version: str, status: int) -> None:
    assert "'tools/run'" in error(road.speak(version, "tools/run"), -32601, status)["message"]


@pytest.mark.parametrize("version", BOTH)
def test_row_unknown_tool(road: Road, version: str) -> None:
    found = error(road.speak(version, "tools/call", {"name": "core.serch"}), -32602)

    assert found["message"] == "Invalid params: unknown tool 'core.serch'"


@pytest.mark.parametrize("version", BOTH)
@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({}, "'name' is required"),
        ({"name": None}, "'name' must be a string"),
        ({"name": 5}, "'name' must be a string"),
        ({"name": ["core.search"]}, "'name' must be a string"),
    ],
)
def test_row_params_name_missing(road: Road, version: str, params: dict[str, Any], words: str) -> None:
    assert error(road.speak(version, "tools/call", params), -32602)["message"] == f"Invalid params: {words}"


@pytest.mark.parametrize("version", BOTH)
@pytest.mark.parametrize("arguments", [None, [], "query", 5, True])
def test_row_params_arguments_of_a_wrong_type(road: Road, version: str, arguments: Any) -> None:
    found = error(road.speak(version, "tools/call", {"name": "core.search", "arguments": arguments}), -32602)

    assert found["message"] == "Invalid params: 'arguments' must be an object"


def test_row_a_required_value_of_the_input_schema_is_missing(road: Road) -> None:
    found = error(road.legacy("tools/call", {"name": "core.search", "arguments": {}}), -32602)

    assert found["message"] == "Invalid params: 'query' is required"
    assert found["data"]["errors"] == [{"path": "query", "keyword": "required", "message": "'query' is required"}]
    assert not road.service.calls


def test_row_a_required_value_of_the_input_schema_is_missing_on_the_other_revision(road: Road) -> None:
    members = result(road.modern("tools/call", {"name": "core.search", "arguments": {}}))

    words = {"type": "text", "text": "Invalid params: 'query' is required", "_meta": {"searchTime": 0}}
    assert (members["isError"], members["content"]) == (True, [words])
    assert not road.service.calls


@pytest.mark.parametrize("version", BOTH)
@pytest.mark.parametrize("method", ["tools/list", "tools/call"])
def test_row_the_registry_cannot_start_the_call(version: str, method: str) -> None:
    found = error(Road(loaded=False).speak(version, method, dict(CALL)), -32603)

    assert found["data"]["reason"] == "registry_unavailable"


@pytest.mark.parametrize("version", BOTH)
def test_row_the_tool_service_is_busy(road: Road, version: str) -> None:
    road.service.gives = Busy("core-tools")

    found = error(road.speak(version, "tools/call", CALL), -32603)

    assert found["data"]["reason"] == "busy"
    assert "core-tools" in found["message"]


@pytest.mark.parametrize("version", BOTH)
def test_row_the_gateway_itself_fails(road: Road, version: str) -> None:
    road.service.gives = RuntimeError("the inside")

    response = road.speak(version, "tools/call", CALL)

    assert error(response, -32603)["message"] == "Internal error"
    assert b"inside" not in response.data


@pytest.mark.parametrize("sent", [None, "2025-06-18", "latest"])
def test_row_mcp_protocol_version_missing_or_not_supported(road: Road, sent: str | None) -> None:
    version_refusal(road.legacy("tools/call", CALL, headers={"MCP-Protocol-Version": sent}))


def test_the_message_and_the_data_name_every_violation_up_to_ten() -> None:
    names = [f"p{number}" for number in range(12)]
    schema = {"type": "object", "required": names}
    found = error(Road(tool(inputSchema=schema)).legacy("tools/call", {"name": "core.search"}), -32602)

    assert [each["path"] for each in found["data"]["errors"]] == names[:10]
    assert found["message"] == "Invalid params: " + "; ".join(f"'{name}' is required" for name in names[:10])


# --- the order -------------------------------------------------------------------------------------------------------


@dataclass
class Ask:
    """A request that is right as a whole; each wrong adds one fault to it. Mirrored headers follow the body."""

    version: str
    method: str = "POST"
    path: str = "/mcp/core"
    headers: dict[str, str] = field(default_factory=dict)
    members: dict[str, Any] = field(default_factory=dict)
    params: dict[str, Any] = field(
        default_factory=lambda: {"name": "core.region", "arguments": {"region": "kr", "n": 1}}
    )
    meta: dict[str, Any] = field(default_factory=lambda: dict(META))
    broken: bool = False
    pad: int = 0
    loaded: bool = True

    def send(self) -> tuple[TestResponse, Road]:
        """Send it over a road that has just one tool."""
        road = Road(REGION, limits=Limits(max_request_bytes=2000), loaded=self.loaded)
        params = self.params | ({"_meta": self.meta} if self.version == MODERN else {})
        mirrored = {
            "Mcp-Method": self.members.get("method", "tools/call"),
            "Mcp-Name": self.params["name"],
            "Mcp-Param-Region": "kr",
        }
        headers = {
            "Content-Type": "application/json",
            "MCP-Protocol-Version": self.version,
            **(mirrored if self.version == MODERN else {}),
            **self.headers,
        }
        body = dumps(message("tools/call", params) | self.members)
        body = (body[:-1] if self.broken else body) + b" " * self.pad
        return road.request(self.method, self.path, body, headers), road


REGION = tool(
    "core.region",
    inputSchema={
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "n": {"type": "integer"}},
        "required": ["region"],
    },
)

Wrong = tuple[Callable[[Ask], Any], Callable[[TestResponse], Any]]
"""How a request is made wrong in one way, and what the answer to that is."""


def put(what: str, **values: Any) -> Callable[[Ask], Any]:
    """Return what puts *values* into one of the mappings of a request."""
    return lambda ask: getattr(ask, what).update(values)


def header(name: str, value: str) -> Callable[[Ask], Any]:
    return lambda ask: ask.headers.update({name: value})


def answers(code: int, status: int = 200, holds: str = "", request_id: Any = 1) -> Callable[[TestResponse], Any]:
    def check(response: TestResponse) -> None:
        assert holds in error(response, code, status, request_id)["message"]

    return check


def is_error(response: TestResponse) -> None:
    assert result(response)["isError"] is True


def is_parse_error(status: int) -> Callable[[TestResponse], Any]:
    return answers(-32700, status, request_id=None)


HTTP: list[Wrong] = [
    (header("Host", "evil.example"), lambda response: refusal(response, 403, "host_not_allowed")),
    (lambda ask: setattr(ask, "path", "/mcp/other"), lambda response: refusal(response, 404, "not_found")),
    (header("Origin", "https://evil.example"), lambda response: refusal(response, 403, "origin_not_allowed")),
    (lambda ask: setattr(ask, "method", "PUT"), lambda response: refusal(response, 405, "method_not_allowed")),
    (header("Content-Type", "text/plain"), lambda response: refusal(response, 415, "unsupported_media_type")),
    (header("Content-Encoding", "gzip"), lambda response: refusal(response, 415, "unsupported_content_encoding")),
    (lambda ask: setattr(ask, "pad", 2000), lambda response: refusal(response, 413, "payload_too_large")),
]

ORDER: Mapping[str, list[Wrong]] = {
    LEGACY: [
        *HTTP,
        (lambda ask: setattr(ask, "broken", True), is_parse_error(200)),
        (put("members", jsonrpc="1.0"), answers(-32600, holds="jsonrpc")),
        (header("guid", "no-guid"), answers(-32600, holds="guid")),
        (header("MCP-Protocol-Version", "2024-11-05"), version_refusal),
        (put("members", method="tools/run"), answers(-32601)),
        (put("params", arguments=[]), answers(-32602, holds="arguments")),
        (put("params", name="core.nothing"), answers(-32602, holds="unknown tool")),
        (put("params", arguments={"region": "kr", "n": "1"}), answers(-32602, holds="'n' must be integer")),
    ],
    MODERN: [
        *HTTP,
        (lambda ask: setattr(ask, "broken", True), is_parse_error(400)),
        (put("members", jsonrpc="1.0"), answers(-32600, 400, holds="jsonrpc")),
        (header("guid", "no-guid"), answers(-32600, 400, holds="guid")),
        (put("meta", **{"io.modelcontextprotocol/clientCapabilities": 5}), answers(-32602, 400, holds="_meta")),
        (header("MCP-Protocol-Version", "2026-07-29"), answers(-32020, 400, holds="MCP-Protocol-Version")),
        (header("Mcp-Method", "tools/list"), answers(-32020, 400, holds="Mcp-Method")),
        (put("members", method="ping"), answers(-32601, 404)),
        (put("params", requestState=5), answers(-32602, holds="requestState")),
        (header("Mcp-Name", "core.other"), answers(-32020, 400, holds="Mcp-Name")),
        (put("params", name="core.nothing"), answers(-32602, holds="unknown tool")),
        (header("Mcp-Param-Region", "us"), answers(-32020, 400, holds="Mcp-Param-Region")),
        (put("params", arguments={"region": "kr", "n": "1"}), is_error),
    ],
}

NEIGHBOURS = [
    pytest.param(version, wrongs[place], wrongs[place + 1], id=f"{version}-{place}")
    for version, wrongs in ORDER.items()
    for place in range(len(wrongs) - 1)
]


@pytest.mark.parametrize("version", BOTH)
def test_the_request_that_the_order_is_tried_with_is_right(version: str) -> None:
    response, road = Ask(version).send()

    assert result(response)["isError"] is False
    assert len(road.service.calls) == 1


@pytest.mark.parametrize(
    ("version", "place"), [(version, place) for version in BOTH for place in range(len(ORDER[version]))]
)
def test_each_check_refuses_in_its_own_way_and_sends_nothing(version: str, place: int) -> None:
    ask = Ask(version)
    spoil, check = ORDER[version][place]
    spoil(ask)

    response, road = ask.send()

    check(response)
    assert not road.service.calls


@pytest.mark.parametrize(("version", "earlier", "later"), NEIGHBOURS)
def test_of_two_neighbours_the_earlier_check_wins(version: str, earlier: Wrong, later: Wrong) -> None:
    ask = Ask(version)
    later[0](ask)
    earlier[0](ask)

    response, _ = ask.send()

    earlier[1](response)


@pytest.mark.parametrize("version", BOTH)
def test_the_shape_of_params_is_looked_at_before_the_registry(version: str) -> None:
    error(Road(loaded=False).speak(version, "tools/call", {"name": 5}), -32602)


def test_mirrored_headers_are_looked_at_before_the_registry() -> None:
    road = Road(loaded=False)

    error(road.modern("tools/call", CALL, headers={"Mcp-Name": "core.other"}), -32020, 400)


def test_no_check_of_a_tool_service_comes_before_those_of_the_request(road: Road) -> None:
    road.service.gives = Busy("core-tools")

    assert "errors" in error(road.legacy("tools/call", {"name": "core.search"}), -32602)["data"]


# --- what all errors have in common ----------------------------------------------------------------------------------


@pytest.mark.parametrize("version", BOTH)
def test_the_callers_guid_comes_back_in_the_header_and_in_the_data(road: Road, version: str) -> None:
    found = error(road.speak(version, "tools/call", {"name": "x"}, headers={"guid": GUID}), -32602)

    assert found["data"]["guid"] == GUID


def test_initialize_needs_neither_the_version_header_nor_a_snapshot() -> None:
    members = parsed(Road(loaded=False).post(message("initialize", HELLO)))["result"]

    assert members["protocolVersion"] == LEGACY
