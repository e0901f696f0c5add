"""
MCP 2026-07-28: headers that say what the body says (Streamable HTTP, "Standard Headers", "Custom Headers").

A proxy may have routed on them, so one that lies is refused with ``-32020`` at HTTP 400 and nothing is called.
"""

from __future__ import annotations

import base64
from typing import Any

import pytest
from road import MODERN, Road, error, result, tool
from werkzeug.test import TestResponse

CALL = {"name": "core.search", "arguments": {"query": "x"}}


def wrapped(value: str | bytes) -> str:
    """Return a value in its Base64 wrapping."""
    raw = value.encode() if isinstance(value, str) else value
    return f"=?base64?{base64.b64encode(raw).decode()}?="


def mismatch(response: TestResponse, name: str) -> None:
    assert error(response, -32020, 400)["message"].startswith(f"Header mismatch: header {name} ")


# --- the standard headers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"])
def test_a_missing_header_is_refused(road: Road, name: str) -> None:
    mismatch(road.modern("tools/call", CALL, headers={name: None}), name)

    assert not road.service.calls


@pytest.mark.parametrize("name", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"])
@pytest.mark.parametrize("value", ["", "other", "é", wrapped("other")])
def test_a_header_that_says_something_else_is_refused(road: Road, name: str, value: str) -> None:
    mismatch(road.modern("tools/call", CALL, headers={name: value}), name)


@pytest.mark.parametrize(
    ("name", "value"), [("Mcp-Method", "TOOLS/CALL"), ("Mcp-Method", "tools/Call"), ("Mcp-Name", "Core.Search")]
)
def test_values_are_compared_with_their_case(road: Road, name: str, value: str) -> None:
    mismatch(road.modern("tools/call", CALL, headers={name: value}), name)


@pytest.mark.parametrize("spelled", ["MCP-METHOD", "mcp-method", "Mcp-mEthod"])
def test_names_are_compared_without_their_case(road: Road, spelled: str) -> None:
    result(road.modern("tools/call", CALL, headers={"Mcp-Method": None, spelled: "tools/call"}))


@pytest.mark.parametrize(
    ("name", "value"), [("MCP-Protocol-Version", wrapped(MODERN)), ("Mcp-Method", wrapped("tools/call"))]
)
def test_only_names_and_arguments_may_be_wrapped(road: Road, name: str, value: str) -> None:
    mismatch(road.modern("tools/call", CALL, headers={name: value}), name)


@pytest.mark.parametrize("value", ["tools/call, tools/call", "tools/call,tools/list"])
def test_a_method_that_is_said_twice_is_refused(road: Road, value: str) -> None:
    mismatch(road.modern("tools/call", CALL, headers={"Mcp-Method": value}), "Mcp-Method")


def test_a_version_that_is_said_twice_counts_once(road: Road) -> None:
    result(road.modern("tools/call", CALL, headers={"MCP-Protocol-Version": f"{MODERN}, {MODERN}"}))


@pytest.mark.parametrize("method", ["tools/list", "server/discover"])
def test_a_method_that_names_no_tool_needs_no_name(road: Road, method: str) -> None:
    result(road.modern(method))
    result(road.modern(method, headers={"Mcp-Name": "whatever"}))


def test_a_wrapped_name_is_unwrapped(road: Road) -> None:
    result(road.modern("tools/call", CALL, headers={"Mcp-Name": wrapped("core.search")}))


def test_a_name_that_no_header_can_say_is_unknown_when_it_is_wrapped(road: Road) -> None:
    params = {"name": "검색"}

    error(road.modern("tools/call", params, headers={"Mcp-Name": wrapped("검색")}), -32602)
    mismatch(road.modern("tools/call", params, headers={"Mcp-Name": "\xea\xb2\x80"}), "Mcp-Name")


def test_a_removed_method_with_another_in_its_header_is_a_header_fault(road: Road) -> None:
    mismatch(road.modern("ping", headers={"Mcp-Method": "tools/list"}), "Mcp-Method")


# --- Mcp-Param-* -----------------------------------------------------------------------------------------------------

MARKED = tool(
    inputSchema={
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": "integer", "x-mcp-header": "Count"},
            "dry": {"type": "boolean", "x-mcp-header": "Dry-Run"},
            "filter": {"type": "object", "properties": {"lang": {"type": "string", "x-mcp-header": "Lang"}}},
            "plain": {"type": "string"},
        },
    }
)


def marked(arguments: dict[str, Any], **headers: str) -> TestResponse:
    """Call the tool with these arguments and ``Mcp-Param-*`` headers, ``_`` for ``-``."""
    sent = {f"Mcp-Param-{name.replace('_', '-')}": value for name, value in headers.items()}
    return Road(MARKED).modern("tools/call", {"name": "core.search", "arguments": arguments}, headers=sent)


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({}, {}),
        ({"plain": "x"}, {}),
        ({"region": "us west 1"}, {"Region": "us west 1"}),
        ({"region": "kr"}, {"Region": wrapped("kr")}),
        ({"region": "서울"}, {"Region": "=?base64?7ISc7Jq4?="}),
        ({"region": "Hello, 世界"}, {"Region": "=?base64?SGVsbG8sIOS4lueVjA==?="}),
        ({"region": " padded "}, {"Region": "=?base64?IHBhZGRlZCA=?="}),
        ({"region": "line1\nline2"}, {"Region": "=?base64?bGluZTEKbGluZTI=?="}),
        ({"region": "=?base64?literal?="}, {"Region": "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="}),
        ({"region": "=?base64?literal"}, {"Region": "=?base64?literal"}),
        ({"region": "=?BASE64?SGk=?="}, {"Region": "=?BASE64?SGk=?="}),
        ({"region": "SGk="}, {"Region": "SGk="}),
        ({"region": "=?base64?="}, {"Region": "=?base64?="}),
        ({"region": ""}, {"Region": ""}),
        ({"region": ""}, {"Region": "=?base64??="}),
        ({"region": None}, {}),
        ({"count": 42}, {"Count": "42"}),
        ({"count": 42}, {"Count": "42.0"}),
        ({"count": 42}, {"Count": "4.2e1"}),
        ({"count": 42}, {"Count": wrapped("42")}),
        ({"count": -7}, {"Count": "-7"}),
        ({"count": 0}, {"Count": "-0"}),
        ({"count": 9007199254740991}, {"Count": "9007199254740991"}),
        ({"dry": True}, {"Dry_Run": "true"}),
        ({"dry": False}, {"Dry_Run": "false"}),
        ({"filter": {"lang": "ko"}}, {"Lang": "ko"}),
        ({"filter": {}}, {}),
        (
            {"region": "kr", "count": 1, "dry": True, "filter": {"lang": "ko"}},
            {"Region": "kr", "Count": "1", "Dry_Run": "true", "Lang": "ko"},
        ),
        ({}, {"Unheard": "x"}),
    ],
)
def test_a_header_that_says_what_the_argument_says_is_taken(arguments: dict[str, Any], headers: dict[str, str]) -> None:
    response = marked(arguments, **headers)

    members = result(response)
    # null is no string: the header rules let it pass, and the schema then says so.
    assert members["isError"] is (None in arguments.values())


@pytest.mark.parametrize(
    ("arguments", "headers", "name"),
    [
        ({"region": "kr"}, {}, "Region"),
        ({"region": ""}, {}, "Region"),
        ({"region": "kr"}, {"Region": "us"}, "Region"),
        ({"region": "kr"}, {"Region": "KR"}, "Region"),
        ({"region": "kr"}, {"Region": ""}, "Region"),
        ({"region": "kr"}, {"Region": "kr, kr"}, "Region"),
        ({"region": "é"}, {"Region": "é"}, "Region"),
        ({"region": "Hello"}, {"Region": "=?base64?SGVsbG8?="}, "Region"),
        ({"region": "Hello"}, {"Region": "=?base64?SGVs bG8=?="}, "Region"),
        ({"region": "Hello"}, {"Region": "=?base64?SGVsbG8=SGVs?="}, "Region"),
        ({"region": "Hello"}, {"Region": "=?base64?SGVsbG9=?="}, "Region"),
        ({"region": "?>"}, {"Region": "=?base64?Pz4-?="}, "Region"),
        ({"region": "\ufffd"}, {"Region": wrapped(b"\xff")}, "Region"),
        ({"region": "Hi"}, {"Region": "=?BASE64?SGk=?="}, "Region"),
        ({}, {"Region": "kr"}, "Region"),
        ({}, {"Region": ""}, "Region"),
        ({"region": None}, {"Region": "null"}, "Region"),
        ({"count": 42}, {}, "Count"),
        ({"count": 42}, {"Count": "43"}, "Count"),
        ({"count": 42}, {"Count": "42.5"}, "Count"),
        ({"count": 42}, {"Count": "4_2"}, "Count"),
        ({"count": 42}, {"Count": "+42"}, "Count"),
        ({"count": 42}, {"Count": " 42x"}, "Count"),
        ({"count": 42}, {"Count": "0x2a"}, "Count"),
        ({"count": 42}, {"Count": "NaN"}, "Count"),
        ({"count": 42}, {"Count": "Infinity"}, "Count"),
        ({"count": 42}, {"Count": ""}, "Count"),
        ({"count": 42}, {"Count": wrapped("٤٢")}, "Count"),
        ({"count": 42}, {"Count": "1e99999999999999999999"}, "Count"),
        ({"count": 1}, {"Count": "true"}, "Count"),
        ({"dry": True}, {"Dry_Run": "True"}, "Dry-Run"),
        ({"dry": True}, {"Dry_Run": "1"}, "Dry-Run"),
        ({"dry": False}, {"Dry_Run": "true"}, "Dry-Run"),
        ({"dry": True}, {}, "Dry-Run"),
        ({"filter": {"lang": "ko"}}, {"Lang": "en"}, "Lang"),
        ({"filter": {"lang": "ko"}}, {}, "Lang"),
        ({"filter": {}}, {"Lang": "ko"}, "Lang"),
        ({"filter": "ko"}, {"Lang": "ko"}, "Lang"),
        ({"lang": "ko"}, {"Lang": "ko"}, "Lang"),
        ({"region": ["kr"]}, {"Region": "kr"}, "Region"),
    ],
)
def test_a_header_that_is_missing_or_says_something_else_is_refused(
    arguments: dict[str, Any], headers: dict[str, str], name: str
) -> None:
    mismatch(marked(arguments, **headers), f"Mcp-Param-{name}")


def test_the_refusal_names_the_argument_and_holds_no_value(road: Road) -> None:
    response = marked({"filter": {"lang": "s3cret"}}, Lang="0ther")

    assert "'filter.lang'" in error(response, -32020, 400)["message"]
    assert b"s3cret" not in response.data
    assert b"0ther" not in response.data


def test_mirrored_arguments_are_sent_in_the_body_all_the_same() -> None:
    road = Road(MARKED)

    road.modern(
        "tools/call", {"name": "core.search", "arguments": {"region": "kr"}}, headers={"Mcp-Param-Region": "kr"}
    )

    assert road.service.calls[0].arguments == b'{"region": "kr"}'
    assert not any(name.lower().startswith("mcp-param") for name in road.service.calls[0].headers)
