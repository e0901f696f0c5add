"""The table of what an answer comes to, row by row."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_gateway import jsontext
from mcp_gateway.toolservice.outcome import Failure, Outcome, read, unanswered
from mcp_gateway.transport.answer import Answer, Delivery, Reason, Unanswered


def outcome_of(
    body: bytes, content_type: str | None = "application/json", status: int = 200, mcp: bool = False, **headers: str
) -> Outcome:
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    if content_type is not None:
        fields["content-type"] = content_type
    return read(Answer(status, fields, body), tool="x", result_format="mcp" if mcp else None)


def text_of(outcome: Outcome) -> str:
    (block,) = outcome.content
    assert block["type"] == "text"
    text = block["text"]
    assert isinstance(text, str)
    return text


def unreadable(outcome: Outcome) -> str:
    """Return why an answer cannot be used."""
    assert outcome.is_error
    assert outcome.failure is not None
    assert (outcome.failure.reason, outcome.failure.delivery) == (Reason.UNREADABLE, Delivery.ANSWERED)
    before, _, why = text_of(outcome).partition("Tool 'x' gave an answer that cannot be used: ")
    assert before == ""
    return why


# Text


@pytest.mark.parametrize(
    ("content_type", "body", "text"),
    [
        ("text/plain", "한글 \U0001f600".encode(), "한글 \U0001f600"),
        ("TEXT/Markdown; Charset=UTF-8", "한글".encode(), "한글"),
        ("text/plain; charset=euc-kr", "한글".encode("euc-kr"), "한글"),
        ('text/plain;charset="CP949"; format=flowed', "똠".encode("cp949"), "똠"),
        ("text/plain; charset=utf-16", "한글".encode("utf-16"), "한글"),
        ("text/plain; charset=iso-8859-1", b"caf\xe9", "café"),
        ("text/plain", b"\xef\xbb\xbfx", "\ufeffx"),
        ("text/plain", b"a\x00\x1b[0m\r\n", "a\x00\x1b[0m\r\n"),
        ("text/html", b'{"looks": "like JSON"}', '{"looks": "like JSON"}'),
    ],
)
def test_text_is_passed_on_as_it_is(content_type: str, body: bytes, text: str) -> None:
    outcome = outcome_of(body, content_type)

    assert outcome == Outcome(content=({"type": "text", "text": text},), status=200)


@pytest.mark.parametrize("content_type", ["text/plain", "text/plain; charset=utf-8"])
def test_text_that_is_not_in_its_charset_is_unreadable(content_type: str) -> None:
    assert unreadable(outcome_of(b"ab" + "한".encode("cp949"), content_type)) == (
        "it is not in the charset utf-8 (byte 2)."
    )


@pytest.mark.parametrize(
    "charset",
    [
        "klingon",
        "rot13",
        "zlib",
        "base64",
        "hex",
        "idna",
        "punycode",
        "unicode_escape",
        "raw_unicode_escape",
        "undefined",
        "utf-7",
        "UTF_7",
        "a b",
        "",
        "x" * 100,
        "../etc/passwd",
    ],
)
def test_a_charset_that_is_none_for_text_is_unreadable(charset: str) -> None:
    body = b"+2AA-abc"  # in UTF-7, half of a surrogate pair
    assert unreadable(outcome_of(body, f"text/plain; charset={charset}")) == "it names a charset that is not known."


def test_no_answer_holds_half_of_a_surrogate_pair() -> None:
    assert unreadable(outcome_of(b"\xd8\x00", "text/plain; charset=utf-16-be"))


# JSON


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/problem+json",
        "application/octet-stream",
        "application/x-thing",
        "no media type at all",
        None,
    ],
)
def test_a_json_object_is_passed_on_compact_with_its_digits_and_characters(content_type: str | None) -> None:
    body = '\ufeff{ "답" : [1.10, 1e400, -0, 12345678901234567890],\n "a": "\\ud55c \\/", "a": null }'.encode()

    outcome = outcome_of(body, content_type)

    expected = '{"답":[1.10,1e400,-0,12345678901234567890],"a":"\\ud55c \\/","a":null}'
    assert text_of(outcome) == expected
    assert not outcome.is_error
    assert outcome.structured is not None
    assert jsontext.encode(outcome.structured) == expected.encode()


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'"\\ud55c\\n"', "한\n"),
        (b'""', ""),
        (b" 1.10 ", "1.10"),
        (b"true", "true"),
        (b"null", "null"),
        (b"[]", "[]"),
    ],
)
def test_a_json_string_becomes_its_value_and_another_scalar_stays_as_written(body: bytes, text: str) -> None:
    outcome = outcome_of(body)

    assert text_of(outcome) == text
    assert outcome.structured is not None
    assert jsontext.encode(outcome.structured) == body.strip()


def test_json_in_another_charset_is_read_by_it() -> None:
    assert text_of(outcome_of('{"답": 1}'.encode("euc-kr"), "application/json; charset=euc-kr")) == '{"답":1}'
    assert text_of(outcome_of("\ufeff[1]".encode("utf-16-le"), "application/json; charset=utf-16le")) == "[1]"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b'{"a": 1', "application/json"),
        (b"{'a': 1}", "application/json"),
        (b"NaN", "application/json"),
        (b'{"a": NaN}', "application/ld+json"),
        (b" ", "application/json"),
        (b'"\\ud800"', "application/json"),
        (b"\xff", "application/json"),
        (b"[" * 5000 + b"]" * 5000, "application/json"),
        (b"[" * 100_000 + b"]" * 100_000, "application/json"),
        (b"{}", "application/json; charset=klingon"),
        (b"<html>", "application/json"),
    ],
)
def test_what_says_it_is_json_and_is_none_is_unreadable(body: bytes, content_type: str) -> None:
    assert unreadable(outcome_of(body, content_type)).startswith("it says it is JSON and is none: ")


@pytest.mark.parametrize(
    ("body", "content_type", "named"),
    [
        (b"%PDF-1.7", "application/pdf", "application/pdf"),
        (b"hello", None, "(none)"),
        (b"hello", "text", "(none)"),
        (b"1", "application/octet-stream", "application/octet-stream"),
        (b'"a"', None, "(none)"),
        (b"<a/>", "application/xml; charset=klingon", "application/xml"),
    ],
)
def test_what_is_neither_text_nor_json_nor_image_nor_audio_is_unreadable(
    body: bytes, content_type: str | None, named: str
) -> None:
    assert unreadable(outcome_of(body, content_type)) == (
        f"its media type {named} is neither text, JSON, an image nor audio."
    )


# Images, audio, nothing


@pytest.mark.parametrize(
    ("content_type", "kind", "mime_type"),
    [("image/PNG", "image", "image/png"), ("audio/wav; codecs=1", "audio", "audio/wav")],
)
def test_an_image_or_audio_becomes_one_block(content_type: str, kind: str, mime_type: str) -> None:
    body = bytes(range(256))

    outcome = outcome_of(body, content_type)

    data = base64.b64encode(body).decode()
    assert outcome == Outcome(content=({"type": kind, "data": data, "mimeType": mime_type},), status=200)


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "image/png", None])
@pytest.mark.parametrize("status", [200, 204])
@pytest.mark.parametrize("mcp", [True, False])
def test_an_empty_answer_is_empty_text(content_type: str | None, status: int, mcp: bool) -> None:
    assert outcome_of(b"", content_type, status, mcp) == Outcome(({"type": "text", "text": ""},), status=status)


# A whole MCP result


def mcp_of(**members: Any) -> Outcome:
    return outcome_of(json.dumps(members).encode(), mcp=True)


def test_an_mcp_result_is_passed_on_with_its_digits() -> None:
    body = b"""{"content": [
        {"type": "text", "text": "\\ud55c", "_meta": {"score": 1.10}, "extra": 1e400},
        {"type": "image", "data": "aGk=", "mimeType": "image/png",
         "annotations": {"audience": ["user", "assistant"], "priority": 0.50, "lastModified": "2026-01-01"}},
        {"type": "audio", "data": "", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "a:b", "text": "t", "mimeType": "text/plain", "_meta": {}}},
        {"type": "resource", "resource": {"uri": "a:b", "blob": "aGk="}},
        {"type": "resource_link", "uri": "a:b", "name": "n", "title": "t", "size": 10,
         "icons": [{"src": "a:b", "mimeType": "image/png", "theme": "dark"}]}
    ], "isError": false, "structuredContent": {"n": 1.10}}"""

    outcome = outcome_of(body, mcp=True)

    assert not outcome.is_error
    assert outcome.failure is None
    assert jsontext.encode(outcome.content[0]) == (
        b'{"type":"text","text":"\\ud55c","_meta":{"score":1.10},"extra":1e400}'
    )
    first_meta = outcome.content[0]["_meta"]
    assert isinstance(first_meta, dict)
    assert jsontext.encode(first_meta | {"searchTime": 5}) == b'{"score":1.10,"searchTime":5}'
    assert b'"priority":0.50' in jsontext.encode(outcome.content[1])
    assert len(outcome.content) == 6
    assert outcome.structured is not None
    assert jsontext.encode(outcome.structured) == b'{"n":1.10}'


def test_an_mcp_result_that_says_it_is_an_error_is_one_and_the_call_is_none() -> None:
    outcome = mcp_of(content=[{"type": "text", "text": "no such page"}], isError=True)

    assert outcome.is_error
    assert outcome.failure is None
    assert outcome.structured is None


def test_an_mcp_result_without_blocks_is_empty_text() -> None:
    assert mcp_of(content=[]).content == ({"type": "text", "text": ""},)


def test_a_tool_of_the_mcp_format_may_answer_plain_text() -> None:
    assert text_of(outcome_of(b"plain", "text/plain", mcp=True)) == "plain"


TEXT = {"type": "text", "text": "t"}
IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
LINK = {"type": "resource_link", "uri": "a:b", "name": "n"}


@pytest.mark.parametrize(
    ("result", "why"),
    [
        ([TEXT], "the answer: must be an object with a content list"),
        ({}, "content: must be a list"),
        ({"content": {}}, "content: must be a list"),
        ({"content": [TEXT], "isError": 1}, "isError: must be true or false"),
        ({"content": [TEXT], "isError": None}, "isError: must be true or false"),
        ({"content": [TEXT, "t"]}, "content[1]: must be an object"),
        (
            {"content": [{"text": "t"}]},
            "content[0].type: must be one of text, image, audio, resource, resource_link",
        ),
        (
            {"content": [{"type": ["text"]}]},
            "content[0].type: must be one of text, image, audio, resource, resource_link",
        ),
        (
            {"content": [{"type": "video"}]},
            "content[0].type: must be one of text, image, audio, resource, resource_link",
        ),
        ({"content": [{"type": "text"}]}, "content[0].text: is required"),
        ({"content": [TEXT | {"text": 1}]}, "content[0].text: must be a string"),
        ({"content": [TEXT | {"_meta": None}]}, "content[0]._meta: must be an object"),
        ({"content": [TEXT | {"annotations": []}]}, "content[0].annotations: must be an object"),
        (
            {"content": [TEXT | {"annotations": {"audience": "user"}}]},
            "content[0].annotations.audience: must be a list",
        ),
        (
            {"content": [TEXT | {"annotations": {"audience": ["user", {}]}}]},
            "content[0].annotations.audience: must hold only assistant and user",
        ),
        (
            {"content": [TEXT | {"annotations": {"priority": True}}]},
            "content[0].annotations.priority: must be a number",
        ),
        (
            {"content": [TEXT | {"annotations": {"priority": 1.01}}]},
            "content[0].annotations.priority: must be from 0 to 1",
        ),
        ({"content": [TEXT, TEXT, IMAGE | {"data": "a"}]}, "content[2].data: must be base64"),
        ({"content": [IMAGE | {"data": "답"}]}, "content[0].data: must be base64"),
        ({"content": [IMAGE | {"data": "aG k="}]}, "content[0].data: must be base64"),
        ({"content": [IMAGE | {"mimeType": None}]}, "content[0].mimeType: must be a string"),
        ({"content": [{"type": "audio", "data": ""}]}, "content[0].mimeType: is required"),
        ({"content": [{"type": "resource"}]}, "content[0].resource: is required"),
        ({"content": [{"type": "resource", "resource": "a:b"}]}, "content[0].resource: must be an object"),
        (
            {"content": [{"type": "resource", "resource": {"uri": "a:b"}}]},
            "content[0].resource: must have text or blob",
        ),
        ({"content": [{"type": "resource", "resource": {"text": "t"}}]}, "content[0].resource.uri: is required"),
        (
            {"content": [{"type": "resource", "resource": {"uri": "a:b", "blob": "?"}}]},
            "content[0].resource.blob: must be base64",
        ),
        ({"content": [{"type": "resource_link", "uri": "a:b"}]}, "content[0].name: is required"),
        ({"content": [LINK | {"title": None}]}, "content[0].title: must be a string"),
        ({"content": [LINK | {"size": "10"}]}, "content[0].size: must be a number"),
        ({"content": [LINK | {"icons": {}}]}, "content[0].icons: must be a list"),
        ({"content": [LINK | {"icons": ["a:b"]}]}, "content[0].icons[0]: must be an object"),
        ({"content": [LINK | {"icons": [{}]}]}, "content[0].icons[0].src: is required"),
    ],
)
def test_an_mcp_result_of_a_wrong_shape_is_unreadable_and_the_place_is_named(result: Any, why: str) -> None:
    assert unreadable(outcome_of(json.dumps(result).encode(), mcp=True)) == why + "."


# Statuses that are no success


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("문서가 없습니다".encode(), "text/plain", "문서가 없습니다"),
        (b'{ "error": "no such page", "n": 1.10 }', "application/json", '{"error":"no such page","n":1.10}'),
        (b'"no such page"', "application/json", "no such page"),
        (b"", "application/json", "Tool 'x' answered with status 404."),
        (b" \n", "text/plain", "Tool 'x' answered with status 404."),
        (b'" "', "application/json", "Tool 'x' answered with status 404."),
        (b"\xff", "text/plain", "Tool 'x' answered with status 404."),
        (b"{", "application/json", "Tool 'x' answered with status 404."),
        (b"\x89PNG", "image/png", "Tool 'x' answered with status 404."),
    ],
)
def test_a_rejection_says_its_own_message_else_a_sentence(body: bytes, content_type: str, text: str) -> None:
    outcome = outcome_of(body, content_type, 404, mcp=True)

    assert outcome == Outcome(
        content=({"type": "text", "text": text},),
        is_error=True,
        status=404,
        failure=Failure(Reason.STATUS, Delivery.ANSWERED, 404),
    )


@pytest.mark.parametrize("status", [300, 304, 307, 399])
def test_a_redirect_is_a_sentence(status: int) -> None:
    outcome = outcome_of(b"moved", "text/plain", status)

    assert text_of(outcome) == f"Tool 'x' answered with a redirect (status {status}), which is not followed."
    assert outcome.failure == Failure(Reason.REDIRECT, Delivery.ANSWERED, status)


def test_a_server_error_is_a_sentence_and_its_body_goes_to_the_log_cut() -> None:
    outcome = outcome_of(("secret 한글" + "x" * 3000).encode(), "text/plain", 503, retry_after="7")

    assert text_of(outcome) == "Tool 'x' answered with status 503."
    assert outcome.failure == Failure(Reason.STATUS, Delivery.ANSWERED, 503, 7)
    assert outcome.log is not None
    assert outcome.log.startswith("secret 한글xx")
    assert len(outcome.log) == 2_000


def test_a_server_error_without_a_body_has_nothing_to_log() -> None:
    assert outcome_of(b"", None, 500).log is None


NOON = "Mon, 30 Nov 2026 12:00:00 GMT"


@pytest.mark.parametrize(
    ("retry_after", "date", "seconds"),
    [
        ("0", "", 0),
        (" 120 ", "", 120),
        ("172800", "", 172_800),
        ("9999999999", "", 9_999_999_999),
        ("1" + "0" * 10, "", None),
        ("9" * 5000, "", None),
        ("-1", "", None),
        ("1.5", "", None),
        ("²", "", None),
        ("soon", NOON, None),
        ("Mon, 30 Nov 2026 12:01:30 GMT", NOON, 90),
        ("Thu, 03 Dec 2026 12:00:00 GMT", NOON, 259_200),
        ("Mon, 30 Nov 2026 11:59:59 GMT", NOON, 0),
        ("Mon, 30 Nov 2026 12:01:30 GMT", "", None),
        ("Tue, 31 Nov 2026 12:01:30 GMT", NOON, None),
        ("", "", None),
    ],
)
def test_retry_after_is_passed_on_as_seconds_when_it_says_how_many(
    retry_after: str, date: str, seconds: int | None
) -> None:
    outcome = outcome_of(b"", None, 429, retry_after=retry_after, date=date)

    assert outcome.failure == Failure(Reason.STATUS, Delivery.ANSWERED, 429, seconds)


# No answer at all


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        (Reason.BUDGET, "Tool 'core.search' did not answer within its budget of 20 s."),
        (Reason.REFUSED, "Tool 'core.search' could not be called: the detail."),
        (Reason.TLS, "Tool 'core.search' could not be called: the detail."),
        (Reason.CONNECTION_LOST, "Tool 'core.search' could not be called: the detail."),
        (Reason.TOO_LARGE, "Tool 'core.search' gave an answer that cannot be used: the detail."),
        (Reason.UNREADABLE, "Tool 'core.search' gave an answer that cannot be used: the detail."),
    ],
)
def test_a_call_without_an_answer_is_a_sentence_that_names_tool_and_cause(reason: Reason, sentence: str) -> None:
    outcome = unanswered(Unanswered(reason, Delivery.UNKNOWN, "the detail"), tool="core.search", budget_s=20.0)

    assert outcome == Outcome(
        content=({"type": "text", "text": sentence},), is_error=True, failure=Failure(reason, Delivery.UNKNOWN)
    )


def test_an_answer_that_could_not_be_taken_whole_still_says_its_status() -> None:
    fault = Unanswered(Reason.UNREADABLE, Delivery.ANSWERED, "its answer broke off before its end", 206)

    assert unanswered(fault, tool="x", budget_s=1.0).failure == Failure(Reason.UNREADABLE, Delivery.ANSWERED, 206)


def test_a_call_for_which_no_time_was_left_is_not_blamed_on_the_tool() -> None:
    fault = Unanswered(Reason.BUDGET, Delivery.NOT_SENT, "")

    sentence = text_of(unanswered(fault, tool="x", budget_s=0.0))

    assert sentence == "Tool 'x' was not called: the time for the whole request was used up before."


def test_a_budget_is_named_without_needless_digits() -> None:
    fault = Unanswered(Reason.BUDGET, Delivery.UNKNOWN, "")

    assert "budget of 0.25 s." in text_of(unanswered(fault, tool="x", budget_s=0.2500001))
    assert "budget of 4.999 s." in text_of(unanswered(fault, tool="x", budget_s=4.99899))


# Anything


CONTENT_TYPES = st.one_of(
    st.none(),
    st.text(),
    st.sampled_from(["application/json", "text/plain", "image/png", "application/octet-stream"]),
    st.builds("text/plain; charset={}".format, st.text(st.characters(max_codepoint=255))),
    st.builds("{}; charset={}".format, st.sampled_from(["text/a", "a/b+json"]), st.sampled_from(["utf-16", "cp949"])),
)


@given(body=st.binary(), content_type=CONTENT_TYPES, status=st.integers(200, 599), mcp=st.booleans(), retry=st.text())
def test_any_answer_comes_to_an_outcome(
    body: bytes, content_type: str | None, status: int, mcp: bool, retry: str
) -> None:
    outcome = outcome_of(body, content_type, status, mcp, retry_after=retry, date=retry)

    assert outcome.content
    assert jsontext.parse(jsontext.encode(outcome.content))
    assert (outcome.failure is not None) == outcome.is_error


NUMBERS = st.from_regex(r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,4})?", fullmatch=True)
STRINGS = st.text(st.characters(exclude_categories=["Cs"])).map(lambda text: json.dumps(text, ensure_ascii=False))
JSON_TEXTS = st.recursive(
    NUMBERS | STRINGS | st.sampled_from(["true", "false", "null"]),
    lambda inner: (
        st.lists(inner).map(lambda parts: f"[{','.join(parts)}]")
        | st.lists(st.tuples(STRINGS, inner)).map(lambda parts: "{" + ",".join(f"{n}:{v}" for n, v in parts) + "}")
    ),
    max_leaves=20,
).filter(lambda text: text[0] in "[{")


@given(text=JSON_TEXTS, content_type=st.sampled_from(["application/json", "a/b+json", None]))
def test_any_json_object_or_array_survives_digit_for_digit(text: str, content_type: str | None) -> None:
    outcome = outcome_of(text.encode(), content_type)

    assert not outcome.is_error
    assert text_of(outcome) == text
    assert outcome.structured is not None
    assert jsontext.encode(outcome.structured) == text.encode()


MCP_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "data", "_meta", "resource", "uri", "blob"]), inner)
    ),
    max_leaves=10,
)


@given(content=MCP_VALUES, is_error=MCP_VALUES)
def test_any_mcp_result_is_passed_on_or_refused(content: Any, is_error: Any) -> None:
    outcome = mcp_of(content=content, isError=is_error)

    assert outcome.content
    assert outcome.is_error in (True, False)
