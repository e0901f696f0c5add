from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from mcp_gateway import jsontext
from mcp_gateway.client import wire
from mcp_gateway.jsontext import Fragment
from mcp_gateway.protocol import eras

OLD, NEW = wire.PROTOCOLS


def test_every_version_that_the_gateway_implements_can_be_spoken() -> None:
    assert sorted(wire.PROTOCOLS) == sorted(eras.VERSIONS)


def test_a_call_of_2025_11_25_carries_the_version_header_and_nothing_of_the_later_one() -> None:
    message = wire.call_tool(OLD, "search", Fragment(b"{}"), {"properties": {"a": {"x-mcp-header": "A"}}})
    assert message.headers == {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": OLD,
    }
    assert json.loads(message.body) == {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "search", "arguments": {}},
    }


def test_a_call_of_2026_07_28_says_who_speaks_which_version_and_mirrors_method_and_name() -> None:
    message = wire.call_tool(NEW, "search", Fragment(b"{}"))
    meta = json.loads(message.body)["params"]["_meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == NEW
    assert meta["io.modelcontextprotocol/clientInfo"]["name"] == "mcp-gateway-cli"
    assert meta["io.modelcontextprotocol/clientCapabilities"] == {}
    assert message.headers["MCP-Protocol-Version"] == NEW
    assert message.headers["Mcp-Method"] == "tools/call"
    assert message.headers["Mcp-Name"] == "search"


def test_a_list_of_2026_07_28_has_no_name_to_mirror() -> None:
    message = wire.list_tools(NEW)
    assert message.headers["Mcp-Method"] == "tools/list"
    assert "Mcp-Name" not in message.headers


@pytest.mark.parametrize("version", wire.PROTOCOLS)
def test_the_text_of_the_arguments_goes_in_as_it_stands(version: str) -> None:
    text = b'{ "n": 1.10, "big": 1e400,\n "s": "\\uD55C\xea\xb8\x80" }'
    assert text in wire.call_tool(version, "echo", Fragment(text)).body


@pytest.mark.parametrize("plain", ["search", "us west 1", "=?base64?", "a\tb"])
def test_a_value_of_visible_ascii_is_mirrored_as_it_is(plain: str) -> None:
    assert wire.header_value(plain) == plain


@pytest.mark.parametrize("odd", ["서울", " padded ", "line1\nline2", "", "=?base64?literal?=", "tab\t", "\x7f"])
def test_a_value_that_a_header_cannot_carry_is_wrapped(odd: str) -> None:
    wrapped = wire.header_value(odd)
    assert wrapped.startswith("=?base64?")
    assert wrapped.endswith("?=")
    assert base64.b64decode(wrapped[9:-2]).decode() == odd


def mark(name: Any, **schema: Any) -> dict[str, Any]:
    return {"x-mcp-header": name, **schema}


@pytest.mark.parametrize(
    ("schema", "arguments", "headers"),
    [
        ({"properties": {"region": mark("Region")}}, '{"region": "서울"}', {"Mcp-Param-Region": "=?base64?7ISc7Jq4?="}),
        ({"properties": {"n": mark("N")}}, '{"n": 42}', {"Mcp-Param-N": "42"}),
        ({"properties": {"n": mark("N")}}, '{"n": 42.0}', {"Mcp-Param-N": "42.0"}),
        ({"properties": {"b": mark("B")}}, '{"b": true}', {"Mcp-Param-B": "true"}),
        ({"properties": {"b": mark("B")}}, '{"b": false}', {"Mcp-Param-B": "false"}),
        ({"properties": {"a": {"properties": {"b": mark("B")}}}}, '{"a": {"b": "x"}}', {"Mcp-Param-B": "x"}),
        ({"properties": {"a": {"properties": {"b": mark("B")}}}}, '{"a": "x"}', {}),
        ({"properties": {"a": mark("A"), "b": mark("B")}}, '{"a": null}', {}),
        ({"properties": {"a": mark("A")}}, '{"a": [1]}', {}),
        ({"properties": {"a": mark("A\r\nEvil: 1"), "b": mark(5), "c": True}}, '{"a": "x", "b": "y", "c": 1}', {}),
        ({"properties": [1]}, '{"a": 1}', {}),
        (None, '{"a": 1}', {}),
    ],
)
def test_marked_arguments_that_are_there_are_mirrored(schema: Any, arguments: str, headers: dict[str, str]) -> None:
    assert wire.mirror(schema, jsontext.parse(arguments.encode())) == headers


def test_a_header_that_is_added_takes_the_place_of_one_of_the_same_name_in_any_case() -> None:
    message = wire.Message({"Accept": "a", "X": "b"}, b"").adding({"accept": "c", "Y": "d"})
    assert message.headers == {"X": "b", "accept": "c", "Y": "d"}
