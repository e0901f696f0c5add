from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker

from mcp_gateway.sample_tool_service import manifest
from mcp_gateway.sample_tool_service.checking import Unreadable, faults, read_object

SCHEMAS = {entry.name: entry.input_schema for entry in manifest.load().by_endpoint.values()}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b"[]", "must be a JSON object"),
        (b'"text"', "must be a JSON object"),
        (b"null", "must be a JSON object"),
        (b'{"query": NaN}', "NaN is no JSON value"),
        (b'{"query": -Infinity}', "-Infinity is no JSON value"),
        (b'{"query": "\xff"}', "not valid JSON"),
        (b'{"query": "\\ud800"}', "half of a surrogate pair"),
        (b'{"query": ' + b"9" * 5000 + b"}", "not valid JSON"),
        (b'{"query": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
    ],
)
def test_a_body_that_is_no_json_object_is_refused_with_the_reason(service: Any, body: bytes, words: str) -> None:
    reply = service.call("search_documents", body)
    assert reply.status == 400
    assert words in reply.message


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("search_documents", {}, "'query' is required"),
        ("search_documents", {"query": 5}, "'query' must be a string"),
        ("search_documents", {"query": None}, "'query' must be a string"),
        ("search_documents", {"query": ""}, "'query' must have at least 1 character"),
        ("search_documents", {"query": "가" * 201}, "'query' must have at most 200 characters"),
        ("search_documents", {"query": "a", "limit": 0}, "'limit' must be at least 1"),
        ("search_documents", {"query": "a", "limit": 21}, "'limit' must be at most 20"),
        ("search_documents", {"query": "a", "limit": 1.5}, "'limit' must be an integer"),
        ("search_documents", {"query": "a", "limit": True}, "'limit' must be an integer"),
        ("search_documents", {"query": "a", "limit": "5"}, "'limit' must be an integer"),
        ("search_documents", {"query": "a", "q": "b"}, "'q' is not an argument of this tool"),
        ("search_documents", {"limit": 0}, "'query' is required; 'limit' must be at least 1"),
        ("get_document", {"id": ["a"]}, "'id' must be a string"),
        ("current_time", {"timezone": 9}, "'timezone' must be a string"),
        ("add_note", {"title": "a"}, "'text' is required"),
        ("add_note", {"title": "a", "text": "b", "tags": "c"}, "'tags' must be an array"),
        ("add_note", {"title": "a", "text": "b", "tags": ["c", 1]}, "'tags[1]' must be a string"),
        ("add_note", {"title": "a", "text": "b", "tags": ["c"] * 11}, "'tags' must have at most 10 items"),
        ("add_note", {"title": "a", "text": "b" * 20001}, "'text' must have at most 20000 characters"),
        ("list_notes", {"created": "today"}, "'created' must be an object"),
        ("list_notes", {"created": {"from": 1}}, "'created.from' must be a string"),
        ("list_notes", {"created": {"since": "2026-01-01"}}, "'created.since' is not an argument of this tool"),
        ("list_notes", {"created": {"to": "2026-02-30"}}, "'created.to' must be a date such as 2026-01-31"),
        ("list_notes", {"created": {"to": "20260130"}}, "'created.to' must be a date such as 2026-01-31"),
        ("slow_answer", {"seconds": -1}, "'seconds' must be at least 0"),
        ("slow_answer", {"seconds": 30.5}, "'seconds' must be at most 30"),
        ("slow_answer", b'{"seconds": 1e400}', "'seconds' must be at most 30"),
        ("fail", {"status": 418}, "'status' must be one of [400, 403, 404, 409, 422, 429, 500, 503]"),
        ("draw_chart", {"values": []}, "'values' must have at least 1 item"),
        ("draw_chart", {"values": [1, False]}, "'values[1]' must be a number"),
        ("draw_chart", {"values": [1] * 61}, "'values' must have at most 60 items"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_the_reason(
    service: Any, tool: str, arguments: Any, message: str
) -> None:
    reply = service.call(tool, arguments)
    assert reply.status == 400
    assert reply.message == f"Bad arguments: {message}"


def test_at_most_ten_faults_are_told(service: Any) -> None:
    reply = service.call("draw_chart", {"values": ["x"] * 30})
    assert reply.message.count("must be a number") == 10


anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_the_checks_agree_with_a_json_schema_validator(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(SCHEMAS)))
    likely = st.sampled_from(
        ["a", "2026-01-31", "2026-13-01", 1, 404, 404.0, 20, 0, ["a"], [1.5, 2], {"from": "2026-01-31"}, {}, []]
    )
    members = st.dictionaries(st.sampled_from([*SCHEMAS[name]["properties"], "other"]), likely | anything)
    arguments = data.draw(members)
    validator = Draft202012Validator(SCHEMAS[name], format_checker=FormatChecker(["date"]))
    accepted = not list(faults(SCHEMAS[name], arguments))
    assert accepted == validator.is_valid(arguments)


@given(st.dictionaries(st.text(alphabet=st.characters(exclude_categories=["Cs"])), anything))
def test_any_json_object_is_read(value: dict[str, Any]) -> None:
    assert read_object(json.dumps(value).encode()) == value


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    try:
        value = read_object(body)
    except Unreadable:
        return
    assert isinstance(value, dict)
