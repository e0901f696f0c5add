"""The check of arguments: the gateway's own words, and no call."""

from __future__ import annotations

import json
from typing import Any

import pytest
from console.roads import console_road
from hypothesis import given
from hypothesis import strategies as st
from road import BOTH, GUID, LEGACY, MODERN, Road, refusal, snapshot, tool

from mcp_gateway.config.model import Limits
from mcp_gateway.protocol import rehearsal
from mcp_gateway.web.console.trial import SentHeaders

QUERY = "?route=core&tool=core.search"
MIRRORED = tool(inputSchema={"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}})


def check(road: Road, arguments: Any, **headers: str) -> Any:
    body = arguments if isinstance(arguments, bytes) else json.dumps(arguments).encode()
    sent = {"Content-Type": "application/json", **headers}
    response = road.request("POST", f"/console/api/check{QUERY}", body, sent)
    assert response.status_code == 200, response.data
    return json.loads(response.data)


def revision(said: Any, version: str) -> Any:
    return next(each for each in said["revisions"] if each["version"] == version)


def without_guid(body: str | bytes) -> Any:
    answer = json.loads(body)
    answer.get("error", {}).get("data", {}).pop("guid", None)
    return answer


@pytest.mark.parametrize("version", BOTH)
@pytest.mark.parametrize(
    "arguments", [{"query": "x"}, {}, {"query": 1, "limit": "five"}, [1], None, b'{"query":"x","limit":1e400}']
)
def test_it_says_what_the_gateway_answers_to_the_very_request_that_it_shows(
    road: Road, version: str, arguments: Any
) -> None:
    said = revision(check(road, arguments), version)
    assert road.service.calls == []
    assert road.seen == [], "nothing is logged or counted"
    answered = road.post(said["body"].encode(), said["headers"])
    called = road.service.calls != []
    assert (said["refusal"] is None) is called
    if not called:
        assert said["refusal"]["status"] == answered.status_code
        assert without_guid(said["refusal"]["body"]) == without_guid(answered.data)


def test_it_names_every_violation_with_its_place(road: Road) -> None:
    violations = check(road, {"limit": "five"})["violations"]
    assert sorted(violations, key=lambda each: each["path"]) == [
        {"path": "limit", "keyword": "type", "message": "'limit' must be integer"},
        {"path": "query", "keyword": "required", "message": "'query' is required"},
    ]


def test_arguments_that_are_no_object_violate_no_schema_and_are_refused(road: Road) -> None:
    said = check(road, [1])
    assert said["violations"] == []
    assert "'arguments' must be an object" in revision(said, LEGACY)["refusal"]["body"]


@pytest.mark.parametrize("text", [b"", b"{", b'{"a":1,"a":2}', b'{"a":NaN}', b'"\\ud800"', b'{} , "name": "other"'])
def test_what_is_no_json_is_told_and_becomes_no_request(road: Road, text: bytes) -> None:
    said = check(road, text)
    assert said["problem"].startswith("The arguments are no JSON that can be read: ")
    assert said["revisions"] == []


@given(st.text(max_size=20) | st.dictionaries(st.sampled_from(["query", "limit", "x"]), st.text() | st.integers()))
def test_whatever_comes_there_is_one_answer_and_no_call(arguments: Any) -> None:
    road = Road()
    text = arguments.encode() if isinstance(arguments, str) else json.dumps(arguments).encode()
    said = check(road, text)
    assert (said["problem"] is None) is (len(said["revisions"]) == 2)
    assert road.service.calls == []


def test_the_text_of_the_arguments_is_kept_to_the_letter(road: Road) -> None:
    text = b'{ "query": "\\ud55c\xea\xb8\x80",\n "limit": 1.0 }'
    for version in BOTH:
        assert text.decode() in revision(check(road, text), version)["body"]


def test_the_request_is_shown_as_it_stands_on_the_wire(road: Road) -> None:
    said = revision(check(road, {"query": "가"}, Origin="http://localhost:8080"), LEGACY)
    head, _, body = said["http"].partition("\n\n")
    assert head.split("\n") == [
        "POST /mcp/core HTTP/1.1",
        "Host: localhost:8080",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"MCP-Protocol-Version: {LEGACY}",
        f"Content-Length: {len(said['body'].encode())}",
    ]
    assert body == said["body"]
    assert said["curl"].startswith("curl -sS --globoff --noproxy '*' http://localhost:8080/mcp/core")


def test_who_is_no_browser_names_no_origin_and_is_told_the_host(road: Road) -> None:
    assert "\nHost: localhost\n" in revision(check(road, {}), LEGACY)["http"]


def test_mirrored_arguments_are_headers_of_the_later_revision() -> None:
    road = console_road(MIRRORED)
    said = check(road, {"region": "서울"})
    assert "Mcp-Param-Region" in revision(said, MODERN)["headers"]
    assert "Mcp-Param-Region" not in revision(said, LEGACY)["headers"]
    assert [each["refusal"] for each in said["revisions"]] == [None, None]


def test_only_the_revisions_of_the_route_are_told() -> None:
    said = check(console_road(versions=(LEGACY,)), {})
    assert [each["version"] for each in said["revisions"]] == [LEGACY]


def test_a_body_that_is_not_declared_json_or_too_long_is_refused_as_on_a_route() -> None:
    road = console_road(limits=Limits(max_request_bytes=10))
    path = f"/console/api/check{QUERY}"
    refusal(road.request("POST", path, b"{}", {"Content-Type": "text/plain"}), 415, "unsupported_media_type")
    sent = {"Content-Type": "application/json"}
    refusal(road.request("POST", path, b'{"query":"long"}', sent), 413, "payload_too_large")


def test_a_rehearsal_stops_at_the_door_whatever_the_service_would_do(road: Road) -> None:
    road.service.gives = RuntimeError("nobody may come here")
    headers = SentHeaders({"MCP-Protocol-Version": LEGACY, "guid": GUID})
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"core.search","arguments":{"query":"x"}}}'
    assert rehearsal.rehearse(road.route, headers, body) is None
    assert rehearsal.rehearse(road.route, SentHeaders({}), body) is not None


def test_a_rehearsal_before_anything_is_loaded_says_so(road: Road) -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"core.search"}}'
    road.store.retire(["core"])
    reply = rehearsal.rehearse(road.route, SentHeaders({"MCP-Protocol-Version": LEGACY}), body)
    assert reply is not None
    assert b'"reason":"registry_unavailable"' in reply.body
    road.store.publish(snapshot(tool()))


def test_the_door_that_stands_for_a_service_can_be_closed() -> None:
    rehearsal.Door().close()
