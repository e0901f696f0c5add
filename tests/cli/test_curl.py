from __future__ import annotations

import json
import os
import shutil
import subprocess
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from cli.harness import Cli, Running
from support.ports import free_port
from support.processes import HOSTILE_ENVIRONMENT

from mcp_gateway.cli.listing import Tool
from mcp_gateway.client.script import script as script_of
from mcp_gateway.client.wire import Message

NASTY = '{"text": "한글 \'quoted\' \\"double\\" $HOME `id` \\\\ !x %s \\n end",\n "n": 1.10}'

needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")


def run(script: str) -> Any:
    environ = {**os.environ, **HOSTILE_ENVIRONMENT}
    done = subprocess.run(["sh"], input=script.encode(), capture_output=True, check=True, timeout=30, env=environ)
    return without_times(done.stdout.decode())


def without_times(answer: str) -> Any:
    """Return an answer without what differs from call to call."""
    document = json.loads(answer)
    document["result"]["content"][0].pop("_meta")
    return document


@needs_curl
@pytest.mark.parametrize("protocol", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("echo", NASTY),
        ("echo", "{}"),
        ("echo", json.dumps({"long": "가" * 200_000}, ensure_ascii=False)),
        ("mirrored", '{"region": "서울 \'중구\'", "page": {"size": 7}}'),
    ],
)
def test_the_script_makes_the_very_call_that_call_makes(
    gateway: Running, cli: Cli, tmp_path: Path, protocol: str, tool: str, given: str
) -> None:
    file = tmp_path / "arguments.json"
    file.write_text(given, encoding="utf-8")
    command = ("core", tool, "--json", f"@{file}", "--protocol", protocol)
    script = cli("curl", *command)
    assert (script.status, script.err) == (0, "")
    assert run(script.out) == without_times(cli("call", *command, "--raw").out)
    by_curl, by_call = gateway.service.calls(tool)
    assert by_curl.body == by_call.body == given.encode()


@needs_curl
def test_without_json_the_script_holds_examples_of_the_required_arguments_and_runs(gateway: Running, cli: Cli) -> None:
    script = cli("curl", "core", "search")
    assert (script.status, script.err) == (0, "")
    assert run(script.out)["result"]["isError"] is False
    (received,) = gateway.service.calls("search")
    assert json.loads(received.body) == {"query": "근로계약서 '1부'"}


def test_the_arguments_are_made_for_schemas_that_only_another_gateway_takes_too(
    gateway: Running, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = Tool("search", "", {"required": ["n"], "properties": {"n": {"const": Decimal("1.10"), "type": "decimal"}}})
    monkeypatch.setattr("mcp_gateway.cli.curl.find_tool", lambda *_: listed)
    assert '"arguments":{"n":1.10}' in cli("curl", "core", "search").out


@needs_curl
def test_headers_of_the_caller_are_in_the_script_and_empty_ones_too(gateway: Running, cli: Cli) -> None:
    script = cli("curl", "core", "echo", "--header", "employee-no: it's", "--header", "mcp-session-id:")
    assert "-H 'mcp-session-id;'" in script.out
    run(script.out)
    (received,) = gateway.service.calls("echo")
    assert received.header("employee-no") == "it's"


def test_a_gateway_that_does_not_answer_leaves_the_script_without_arguments(gateway: Running, cli: Cli) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    script = cli("curl", "core", "search", "--url", url)
    assert script.status == 0
    assert '"arguments":{}' in script.out
    assert script.err == (
        f"no answer from {url}/mcp/core: the connection was refused; the script is made without knowing the tool\n"
    )


def test_a_tool_that_the_gateway_does_not_list_is_told(gateway: Running, cli: Cli) -> None:
    script = cli("curl", "core", "none")
    assert script.status == 0
    assert '"arguments":{}' in script.out
    assert script.err == "the gateway lists no tool 'none'; the script is made without knowing it\n"


def test_arguments_that_are_given_need_no_gateway(gateway: Running, cli: Cli) -> None:
    script = cli("curl", "core", "echo", "--json", "{}", "--url", f"http://127.0.0.1:{free_port()}")
    assert (script.status, script.err) == (0, "")


def test_certificates_to_trust_are_handed_on() -> None:
    script = script_of("https://x/mcp", Message({}, b"{}"), Path("my certificates.pem"))
    assert "--cacert 'my certificates.pem'" in script
