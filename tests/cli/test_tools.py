from __future__ import annotations

import json

from cli.harness import Cli, Running


def test_each_tool_is_a_line_with_name_title_and_required_arguments(gateway: Running, cli: Cli) -> None:
    ran = cli("tools", "core")
    first, search, echo, *_ = ran.out.splitlines()
    assert ran.status == 0
    assert first == f"{gateway.url}/mcp/core: 9 tools"
    assert search.split("  ") == ["", "search  ".strip(), "", "문서 검색", "required: query"]
    assert echo == "  echo"


def test_without_a_route_every_route_is_listed_each_in_a_version_that_it_serves(gateway: Running, cli: Cli) -> None:
    ran = cli("tools")
    assert ran.status == 0
    assert f"{gateway.url}/mcp/core: 9 tools" in ran.out
    assert f"{gateway.url}/mcp/new: 9 tools" in ran.out


def test_a_whole_url_needs_neither_a_route_nor_a_configuration(gateway: Running, cli: Cli) -> None:
    ran = cli("tools", "--config", "nowhere.yaml", "--url", f"{gateway.url}/mcp/core")
    assert ran.status == 0
    assert "9 tools" in ran.out


def test_the_result_is_printed_as_it_came_one_line_for_each_route(gateway: Running, cli: Cli) -> None:
    core, new, _ = map(json.loads, cli("tools", "--json").out.splitlines())
    assert [tool["name"] for tool in core["tools"]] == [tool["name"] for tool in new["tools"]]
    assert "ttlMs" not in core
    assert new["resultType"] == "complete"


def test_an_error_of_the_gateway_is_told(gateway: Running, cli: Cli) -> None:
    ran = cli("tools", "new", "--protocol", "2025-11-25")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("error -32022: ")
    assert "  supported: 2026-07-28\n" in ran.err


def test_a_gateway_that_is_not_there_is_one_line(gateway: Running, cli: Cli) -> None:
    ran = cli("tools", "core", "--url", "http://127.0.0.1:1")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == "no answer from http://127.0.0.1:1/mcp/core: the connection was refused\n"
