from __future__ import annotations

from typing import Any

import pytest

from mcp_gateway import jsontext
from mcp_gateway.cli import answers, listing
from mcp_gateway.cli.listing import Tool
from mcp_gateway.jsontext import Fragment


def read(members: Any) -> list[Tool]:
    return listing.read(answers.Result(members, Fragment(jsontext.encode(members))))


def test_a_tool_has_name_title_and_required_arguments() -> None:
    (tool,) = read({"tools": [{"name": "a", "title": "A", "inputSchema": {"required": ["b", 5, "c"]}}]})
    assert (tool.name, tool.title, tool.required) == ("a", "A", ["b", "c"])


@pytest.mark.parametrize("tools", [None, 5, [], ["x"]])
def test_a_result_that_lists_nothing_readable_has_no_tools(tools: Any) -> None:
    assert read({"tools": tools}) == []


@pytest.mark.parametrize("schema", [None, {}, {"required": "query"}])
def test_a_tool_of_a_foreign_server_may_lack_everything(schema: Any) -> None:
    (tool,) = read({"tools": [{"inputSchema": schema}]})
    assert (tool.name, tool.title, tool.required) == ("", "", [])
