from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_gateway.cli import answers
from mcp_gateway.cli.terminal import Failed
from mcp_gateway.transport.answer import Answer


def answer(body: Any, status: int = 200) -> Answer:
    return Answer(status, {}, body if isinstance(body, bytes) else json.dumps(body).encode())


def said(body: Any, status: int = 200) -> list[str]:
    with pytest.raises(Failed) as caught:
        answers.result(answer(body, status))
    assert caught.value.status == 1
    return str(caught.value).splitlines()


def test_a_result_is_there_to_look_at_and_as_the_text_that_came() -> None:
    result = answers.result(answer(b'{"id": 1, "result": {"n": 1.10}}'))
    assert bytes(result.text) == b'{"n": 1.10}'
    assert str(result.members["n"]) == "1.10"


def test_a_json_rpc_error_is_its_message_each_violation_and_what_else_it_says() -> None:
    errors = [
        {"path": "query", "message": "'query' is required", "keyword": "required"},
        {"message": "no", "keyword": "not"},
        5,
    ]
    data = {"guid": "g", "errors": errors, "supported": ["a", "b"]}
    assert said({"error": {"code": -32602, "message": "Invalid params", "data": data}}) == [
        "error -32602: Invalid params",
        "  query: 'query' is required (required)",
        "  (the arguments themselves): no (not)",
        "  guid: g",
        "  supported: a, b",
    ]


def test_a_json_rpc_error_without_data_is_one_line() -> None:
    assert said({"error": {"code": 1, "message": "a\nb\x1b[31m"}}) == ["error 1: a\\nb\\x1b[31m"]
    assert said({"error": {"code": 1, "message": "a", "data": {"errors": "x"}}}) == ["error 1: a"]


def test_an_http_error_of_the_gateway_is_its_words() -> None:
    body = {"error": "version", "message": "it is required", "supportedVersions": ["x", "y"], "guid": "g"}
    assert said(body, 400) == ["HTTP 400 version: it is required", "  supportedVersions: x, y", "  guid: g"]


@pytest.mark.parametrize("body", [b"<html>\nhello", b"[1]", b'{"result": 5}', b"\xff", b""])
def test_what_is_no_json_rpc_is_shown_on_one_line(body: bytes) -> None:
    (line,) = said(body, 502)
    assert line.startswith("HTTP 502, and the answer is no JSON-RPC: ")


def test_a_result_without_is_error_is_no_failure() -> None:
    assert answers.failure({"isError": False, "_meta": {answers.FAILURE_NOTE: {}}}) is None


@pytest.mark.parametrize("meta", [None, {}, {answers.FAILURE_NOTE: 5}, {answers.FAILURE_NOTE: {}}])
def test_a_failure_without_a_note_is_said_to_be_one(meta: Any) -> None:
    assert answers.failure({"isError": True, "_meta": meta}) == "the call failed (isError)"


def test_a_failure_is_said_with_all_of_its_note() -> None:
    note = {"reason": "status", "outcome": "answered", "status": 503}
    assert (
        answers.failure({"isError": True, "_meta": {answers.FAILURE_NOTE: note}})
        == "the call failed (reason status, outcome answered, status 503)"
    )


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ({"type": "text", "text": "한글\n1.10"}, "한글\n1.10"),
        ({"type": "image", "mimeType": "image/png", "data": "AAAAAA=="}, "[image image/png, 4 bytes]"),
        ({"type": "audio", "mimeType": "audio/wav", "data": ""}, "[audio audio/wav, 0 bytes]"),
        ({"type": "resource", "resource": {"uri": "u", "text": "inside"}}, "[resource u]\ninside"),
        ({"type": "resource", "resource": {"uri": "u", "blob": "AAA="}}, "[resource u, 2 bytes]"),
        ({"type": "resource_link", "uri": "u\n"}, "[resource_link u\\n]"),
        ({"type": "hologram"}, "[hologram]"),
        ({"type": "text"}, "[text]"),
    ],
)
def test_a_content_block_is_its_text_or_what_it_is(block: Any, text: str) -> None:
    assert list(answers.texts({"content": [block, "no block"]})) == [text]


def test_a_result_without_content_has_no_texts() -> None:
    assert list(answers.texts({"content": 5})) == []
