"""What holds for any input: one well-formed answer, ids as they were sent, and JSON digit for digit both ways."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from road import (
    BOTH,
    CAPABILITIES,
    CLAIM,
    LEGACY,
    META,
    MODERN,
    PATH,
    Road,
    accepted,
    as_json,
    dumps,
    error,
    parsed,
    result,
    tool,
    version_refusal,
)
from werkzeug.test import TestResponse

ROAD = Road()
CODES = {-32700, -32600, -32601, -32602, -32603, -32020, -32022}


def well_formed(response: TestResponse) -> None:
    """Hold an answer to the one of the few shapes that there are."""
    assert response.status_code in (200, 202, 400, 404)
    if response.status_code == 202:
        return accepted(response)
    document = parsed(response)
    if "supportedVersions" in document:
        version_refusal(response)
    elif "error" in document:
        assert document["error"]["code"] in CODES
        error(response, document["error"]["code"], response.status_code, document["id"])
    else:
        result(response)
    return None


# --- JSON as people and machines write it ----------------------------------------------------------------------------

SPACE = st.sampled_from(["", " ", "\n", "\t ", "\r\n"])
NUMBERS = st.one_of(
    st.integers().map(str),
    st.from_regex(r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,40})?([eE][-+]?[0-9]{1,4})?", fullmatch=True),
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
STRINGS = st.builds(lambda text, escaped: json.dumps(text, ensure_ascii=escaped), TEXTS, st.booleans())
SCALARS = st.one_of(NUMBERS, STRINGS, st.sampled_from(["true", "false", "null"]))


def arrays(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(lambda items, gap: f"[{gap}{f'{gap},'.join(items)}{gap}]", st.lists(values, max_size=4), SPACE)


def objects(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    members = st.dictionaries(TEXTS, values, max_size=4)
    return st.builds(
        lambda named, gap, escaped: (
            "{"
            + f",{gap}".join(f"{json.dumps(k, ensure_ascii=escaped)}{gap}:{gap}{v}" for k, v in named.items())
            + gap
            + "}"
        ),
        members,
        SPACE,
        st.booleans(),
    )


VALUES = st.recursive(SCALARS, lambda inner: arrays(inner) | objects(inner), max_leaves=12)
OBJECTS = objects(VALUES)


def compact(text: str) -> str:
    """Return JSON without the white space between its tokens, found by looking at one character after another."""
    kept, inside, escaped = [], False, False
    for character in text:
        if inside or character not in " \t\r\n":
            kept.append(character)
        if inside and not escaped and character == "\\":
            escaped = True
            continue
        if character == '"' and not escaped:
            inside = not inside
        escaped = False
    return "".join(kept)


# --- anything in -----------------------------------------------------------------------------------------------------

HEADERS = st.fixed_dictionaries(
    {"Content-Type": st.just("application/json")},
    optional={
        "MCP-Protocol-Version": st.sampled_from([LEGACY, MODERN, "", "2099-01-01", f"{MODERN}, {MODERN}"]),
        "Mcp-Method": st.sampled_from(["tools/list", "tools/call", "x"]),
        "Mcp-Name": st.sampled_from(["core.search", "=?base64?x?=", ""]),
        "guid": st.sampled_from(["x", "", "3f0e7a52-0a3c-4a7e-8a1a-9a3d0d3f7c11"]),
        "employee-no": st.sampled_from(["E-1", "a b"]),
        "traceparent": st.sampled_from(["x", f"00-{'1' * 32}-{'2' * 16}-01"]),
    },
)


@given(body=st.binary(max_size=200), headers=HEADERS)
@example(body=b"\xef\xbb\xbf{}", headers={"Content-Type": "application/json"})
def test_any_bytes_get_one_well_formed_answer(body: bytes, headers: dict[str, str]) -> None:
    well_formed(ROAD.request(body=body, headers=headers))


@given(text=VALUES, headers=HEADERS)
def test_any_json_gets_one_well_formed_answer(text: str, headers: dict[str, str]) -> None:
    well_formed(ROAD.request(body=text.encode(), headers=headers))


ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


def or_anything(*usual: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(usual) | ANYTHING


METAS = st.fixed_dictionaries({}, optional={CLAIM: or_anything(MODERN, LEGACY), CAPABILITIES: or_anything({})})
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": or_anything("2.0"),
        "id": or_anything(1, "a"),
        "method": or_anything("initialize", "ping", "server/discover", "tools/list", "tools/call", "notifications/x"),
        "params": or_anything({})
        | st.fixed_dictionaries(
            {},
            optional={
                "_meta": METAS | ANYTHING,
                "name": or_anything("core.search", "core.anything"),
                "arguments": or_anything({"query": "x"}),
                "cursor": ANYTHING,
            },
        ),
        "result": ANYTHING,
    },
)


@given(sent=MESSAGES, headers=HEADERS)
def test_anything_that_looks_like_a_message_gets_one_well_formed_answer(sent: Any, headers: dict[str, str]) -> None:
    response = ROAD.post(sent, headers)

    well_formed(response)
    document = parsed(response) if response.data else {}
    if "id" in document and type(sent.get("id")) in (int, str):
        assert document["id"] == sent["id"]


@given(
    method=st.sampled_from(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]),
    path=st.sampled_from([PATH, "/", "/healthz", "/readyz", "/mcp/core/"]) | TEXTS.map(lambda text: f"/{text}"),
    headers=st.dictionaries(
        st.sampled_from(
            ["Host", "Origin", "Content-Type", "Content-Encoding", "guid", "x-request-id", "Mcp-Session-Id"]
        ),
        st.text(st.characters(min_codepoint=0x20, max_codepoint=0xFF, exclude_characters="\x7f"), max_size=20),
    ),
)
def test_any_request_at_all_gets_an_answer_with_identifiers_and_never_a_500(
    method: str, path: str, headers: dict[str, str]
) -> None:
    response = ROAD.client.open(path=path, method=method, headers=headers, data=b"{}")

    assert response.status_code < 500
    assert response.headers["guid"]
    assert response.headers["x-request-id"]
    if response.data:
        parsed(response)


# --- the same out ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", BOTH)
@given(request_id=STRINGS | st.integers().map(str) | st.from_regex(r"-?[1-9][0-9]{0,300}", fullmatch=True))
def test_any_id_comes_back_as_it_was_sent(version: str, request_id: str) -> None:
    params = dumps({"_meta": META}).decode() if version == MODERN else "{}"
    body = f'{{"id": {request_id}, "jsonrpc": "2.0", "method": "tools/list", "params": {params}}}'

    response = ROAD.post(body.encode(), {"MCP-Protocol-Version": version, "Mcp-Method": "tools/list"})

    assert response.data.startswith(f'{{"jsonrpc":"2.0","id":{request_id},"result":'.encode())


@pytest.mark.parametrize("version", BOTH)
@given(arguments=OBJECTS)
def test_any_arguments_reach_the_tool_service_byte_for_byte(version: str, arguments: str) -> None:
    road = Road()
    meta = f'"_meta": {dumps(META).decode()}, ' if version == MODERN else ""
    body = (
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": '
        f'{{{meta}"arguments": {arguments}, "name": "core.anything"}}}}'
    )
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": "tools/call", "Mcp-Name": "core.anything"}

    assert result(road.post(body.encode(), headers))["isError"] is False

    assert road.service.calls[0].arguments == arguments.encode()


@pytest.mark.parametrize("version", BOTH)
@given(answer=OBJECTS | arrays(VALUES))
def test_any_json_answer_comes_back_digit_for_digit(version: str, answer: str) -> None:
    road = Road()
    road.service.gives = as_json(answer)

    members = result(road.speak(version, "tools/call", {"name": "core.anything"}))

    assert members["content"][0]["text"] == compact(answer)


@given(answer=VALUES)
def test_any_json_answer_is_structured_digit_for_digit(answer: str) -> None:
    road = Road(tool(outputSchema={"$comment": "any JSON value"}, inputSchema={"type": "object"}))
    road.service.gives = as_json(answer)

    response = road.modern("tools/call", {"name": "core.search"})

    assert f'"structuredContent":{compact(answer)},"isError":false'.encode() in response.data
