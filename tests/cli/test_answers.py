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
        "  layer: request; whose fault: the caller",
        "  Nothing was sent to a Tool Service. Change the request.",
    ]


@pytest.mark.parametrize(
    ("code", "data", "whose"),
    [
        (-32603, {"reason": "busy"}, "  layer: request; whose fault: the owner of the Tool Service"),
        (-32603, {"reason": "registry_unavailable"}, "  layer: manifest; whose fault: the owner of the Tool Service"),
        (-32603, {"guid": "g"}, "  layer: request; whose fault: the gateway"),
        (-32601, {}, "  layer: request; whose fault: the caller"),
    ],
)
def test_a_json_rpc_error_of_a_gateway_has_its_culprit(code: int, data: Any, whose: str) -> None:
    assert whose in said({"error": {"code": code, "message": "m", "data": data}})


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
    told = answers.failure({"isError": True, "_meta": {answers.FAILURE_NOTE: note}})
    assert told is not None
    first, *_ = told.splitlines()
    assert first == "the call failed (reason status, outcome answered, status 503)"


@pytest.mark.parametrize(
    ("reason", "status", "whose"),
    [
        ("budget", None, "answer; whose fault: the owner of the Tool Service"),
        ("refused", None, "connect; whose fault: the owner of the Tool Service"),
        ("connection_lost", None, "answer; whose fault: the owner of the Tool Service"),
        ("tls", None, "TLS; whose fault: the owner of the gateway's configuration"),
        ("status", 400, "answer; whose fault: the caller"),
        ("status", 403, "answer; whose fault: the owner of the gateway's configuration"),
        ("redirect", 302, "answer; whose fault: the owner of the Tool Service"),
        ("too_large", 200, "answer; whose fault: the owner of the Tool Service"),
        ("unreadable", 200, "answer; whose fault: the owner of the Tool Service"),
        ("output_schema", 200, "answer; whose fault: the owner of the Tool Service"),
    ],
)
def test_a_failure_has_its_layer_and_its_culprit(reason: str, status: int | None, whose: str) -> None:
    note = {"reason": reason, "outcome": "x", "status": status}
    told = answers.failure({"isError": True, "_meta": {answers.FAILURE_NOTE: note}})
    assert told is not None
    assert told.splitlines()[1] == f"  layer: {whose}"


@pytest.mark.parametrize(
    ("note", "layer", "advice"),
    [
        ({"reason": "unreadable", "outcome": "unknown"}, "answer", "does not speak HTTP/1.1"),
        (
            {"reason": "unreadable", "outcome": "answered"},
            "answer",
            "Look at how it, or a proxy in front of it, writes HTTP",
        ),
        ({"reason": "unreadable", "outcome": "answered", "status": 404}, "answer", "writes HTTP"),
        ({"reason": "unreadable", "outcome": "answered", "status": 200}, "answer", "If it is about the content: "),
        ({"reason": "budget", "outcome": "unknown"}, "answer", "Make the tool faster"),
        ({"reason": "budget", "outcome": "unknown", "status": 200}, "answer", "Its answer began in time"),
        ({"reason": "budget", "outcome": "not_sent"}, "connect", "nothing was sent"),
        ({"reason": "connection_lost", "outcome": "not_sent"}, "answer", "hung up instead of answering"),
        (
            {"reason": "status", "outcome": "answered", "status": 407},
            "answer",
            "A proxy in front of the Tool Service asks",
        ),
        ({"reason": "status", "outcome": "answered", "status": 451}, "answer", "ask its owner what 451 means there"),
    ],
)
def test_a_failure_is_told_with_an_advice_that_fits_all_of_its_note(note: Any, layer: str, advice: str) -> None:
    told = answers.failure({"isError": True, "_meta": {answers.FAILURE_NOTE: note}})
    assert told is not None
    _, where, what = told.splitlines()
    assert where.startswith(f"  layer: {layer}; ")
    assert advice in what


def test_a_reason_of_a_later_gateway_is_told_as_it_is() -> None:
    note = {"reason": "novel"}
    told = answers.failure({"isError": True, "_meta": {answers.FAILURE_NOTE: note}})
    assert told == "the call failed (reason novel)"


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ([{"type": "text", "text": '{"a": 1.0}'}], None),
        ([{"type": "text", "text": "no JSON"}], b'{"a":1.0}'),
        ([{"type": "text"}], b'{"a":1.0}'),
    ],
)
def test_structure_is_shown_unless_a_text_says_the_same(content: Any, shown: bytes | None) -> None:
    body = b'{"result": {"content": ' + json.dumps(content).encode() + b', "structuredContent": {"a":1.0}}}'
    found = answers.structured(answers.result(answer(body)))
    assert (None if found is None else bytes(found)) == shown


def test_what_is_no_base64_is_no_attachment() -> None:
    content = [{"type": "image", "mimeType": "image/png", "data": "?"}, {"type": "text", "text": "a"}]
    assert list(answers.attachments({"content": content})) == []


@pytest.mark.parametrize("text", ["hello", "[no list", "{\ud800}"])
def test_what_is_no_json_is_shown_as_it_is(text: str) -> None:
    assert answers.readable(text) == text


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
