from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cli.harness import Cli, Configure
from openapi.samples import DOCUMENTS, document, post
from support.processes import ROOT, configuration
from support.toolservice import Reply, ToolService

from mcp_gateway.cli import manifest as command
from mcp_gateway.registry import findings, manifest, published


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def stdin(monkeypatch: pytest.MonkeyPatch, text: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))


def served(cli: Cli, configure: Configure, manifest: bytes) -> str:
    """Return what ``check --fetch`` says of a Tool Service that publishes *manifest*."""
    with ToolService() as service:
        service.pages["/other"] = lambda: Reply.of_json(manifest)
        document = configuration(service)
        document["routes"][0]["tool_services"][0]["manifest_path"] = "/other"
        configure(document)
        ran = cli("check", "--fetch")
    assert ran.status == 0, ran.out
    return ran.out


# --- init ------------------------------------------------------------------------------------------------------------


def test_init_writes_a_manifest_that_a_gateway_serves_without_a_warning(cli: Cli, configure: Configure) -> None:
    ran = cli("manifest", "init")

    assert (ran.status, ran.out, ran.err) == (0, "", "manifest.json is written\n")
    said = served(cli, configure, Path("manifest.json").read_bytes())
    assert "my-service.greet" in said
    assert "warning" not in said


def test_init_takes_a_name_and_a_file(cli: Cli) -> None:
    assert cli("manifest", "init", "--name", "hr-tools", "--output", "tools.json").status == 0
    written = json.loads(Path("tools.json").read_bytes())
    assert written["toolService"]["name"] == "hr-tools"
    assert [tool["name"] for tool in written["tools"]] == ["hr-tools.greet"]


def test_init_can_print_what_it_would_write(cli: Cli) -> None:
    assert json.loads(cli("manifest", "init", "--output", "-").out)["manifestVersion"] == "1"


def test_a_file_that_is_there_is_left_alone(cli: Cli) -> None:
    Path("manifest.json").write_text("mine")
    ran = cli("manifest", "init")
    assert (ran.status, ran.err) == (
        1,
        "manifest.json is there already and is left alone; name another file with --output\n",
    )
    assert Path("manifest.json").read_text() == "mine"


@pytest.mark.parametrize(("file", "reason"), [("no/such/folder.json", "No such file"), ("a\0b", "no file can have")])
def test_a_file_that_cannot_be_written_is_named(cli: Cli, file: str, reason: str) -> None:
    ran = cli("manifest", "init", "--output", file)
    assert ran.status == 1
    assert f"it cannot be written: {reason}" in ran.err


@pytest.mark.parametrize("name", ["", "two words", "주문", "x" * 51])
def test_a_name_that_could_not_begin_the_name_of_a_tool_is_refused(cli: Cli, name: str) -> None:
    ran = cli("manifest", "init", "--name", name)
    assert ran.status == 2
    assert "is no name of 1 to 50 of the characters" in ran.err


# --- from-openapi ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(DOCUMENTS.iterdir()), ids=lambda path: path.name)
def test_a_real_life_document_becomes_a_manifest_that_a_gateway_serves(
    cli: Cli, configure: Configure, path: Path
) -> None:
    ran = cli("manifest", "from-openapi", str(path))

    assert ran.status == 0
    assert ", 2 tools\n  left out: " in ran.err
    said = served(cli, configure, Path("manifest.json").read_bytes())
    assert ": loaded, 2 tools" in said


def test_the_report_names_every_operation_that_is_left_out_and_the_base_url(cli: Cli) -> None:
    path = str(DOCUMENTS / "spring-3.0.json")
    ran = cli("manifest", "from-openapi", path, "--output", "-")
    assert json.loads(ran.out)["toolService"] == {"name": "OpenAPI-definition", "version": "v0"}
    assert ran.err.splitlines() == [
        f"{path}: 4 operations, 2 tools",
        "  left out: POST /documents/raw: its request body is a string, and the arguments of a tool are an object",
        "  left out: DELETE /documents/{id}: only POST operations become tools",
        "  base_url in the configuration: http://localhost:8080",
    ]


def test_numbers_and_characters_of_the_document_are_those_of_the_manifest(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = {"type": "object", "properties": {"금액": {"type": "number", "maximum": "HERE", "description": "금액"}}}
    text = json.dumps(document(post(schema)), ensure_ascii=False).replace('"HERE"', "99999999999.10")
    stdin(monkeypatch, text.encode())
    ran = cli("manifest", "from-openapi", "-", "--name", "pay", "--output", "-")
    assert '"maximum": 99999999999.10' in ran.out
    assert '"description": "금액"' in ran.out
    assert json.loads(ran.out)["toolService"]["name"] == "pay"


def test_an_operation_whose_schema_no_gateway_takes_is_left_out_with_the_place(cli: Cli) -> None:
    wrong = {"type": "object", "properties": {"a": {"type": "strng"}}}
    answer = {"200": {"description": "d", "content": {"application/json": {"schema": wrong}}}}
    whole = document(post(wrong, responses=answer), version="3.1.0")
    whole["paths"]["/good"] = {"post": post()}
    Path("api.json").write_text(json.dumps(whole))
    ran = cli("manifest", "from-openapi", "api.json")
    assert ran.status == 0
    assert "  left out: POST /search: inputSchema.properties.a.type: " in ran.err
    assert "; outputSchema.properties.a.type: " in ran.err


def test_a_document_without_a_tool_writes_nothing(cli: Cli) -> None:
    Path("api.json").write_text(json.dumps(document({"responses": {"200": {"description": "d"}}})))
    ran = cli("manifest", "from-openapi", "api.json")
    assert (ran.status, ran.err.splitlines()) == (
        1,
        [
            "api.json: 1 operation, 0 tools",
            "  left out: POST /search: it has no request body",
            "no operation can be a tool; nothing is written",
        ],
    )
    assert not Path("manifest.json").exists()


def test_more_tools_than_a_route_has_are_said(cli: Cli) -> None:
    paths = {f"/{n}": {"post": post(operationId=f"o{n}")} for n in range(51)}
    Path("api.json").write_text(json.dumps(document() | {"paths": paths}))
    assert "  a route has at most 50 tools, unless limits." in cli("manifest", "from-openapi", "api.json").err


def test_a_large_document_is_said_to_take_a_while(cli: Cli) -> None:
    whole = document() | {"x-more": "x" * command.LARGE_BYTES}
    Path("api.json").write_text(json.dumps(whole))
    first, *_ = cli("manifest", "from-openapi", "api.json").err.splitlines()
    assert first == "api.json: 1 MB; each operation is translated and checked, which takes some seconds"


def test_a_small_document_is_not(cli: Cli) -> None:
    Path("api.json").write_text(json.dumps(document()))
    assert cli("manifest", "from-openapi", "api.json").err.startswith("manifest.json is written\n")


def test_each_tool_is_written_and_checked_once(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[bytes] = []

    def read(text: bytes, *, service: str) -> object:
        checked.append(text)
        return manifest.read(text, service=service)

    monkeypatch.setattr(command, "manifest", SimpleNamespace(read=read))
    paths = {f"/{n}": {"post": post(operationId=f"o{n}")} for n in range(20)}
    Path("api.json").write_text(json.dumps(document() | {"paths": paths}))
    written = cli("manifest", "from-openapi", "api.json", "--output", "-").out
    assert [json.loads(text)["tools"] for text in checked] == [[tool] for tool in json.loads(written)["tools"]]


def test_a_title_without_a_legal_character_gives_the_name_of_init(cli: Cli) -> None:
    Path("api.json").write_text(json.dumps(document() | {"info": {"title": "주문", "version": "1"}}))
    ran = cli("manifest", "from-openapi", "api.json", "--output", "-")
    assert json.loads(ran.out)["toolService"]["name"] == "my-service"


def test_a_document_that_is_none_is_refused_line_by_line(cli: Cli) -> None:
    Path("api.yaml").write_text("openapi: 3.0.3\ninfo: {title: '\\e[31m', version: 1.0}\npaths: {}\n")
    ran = cli("manifest", "from-openapi", "api.yaml")
    assert ran.status == 1
    assert ran.err.splitlines()[0] == "api.yaml: it is no valid OpenAPI document:"
    assert ran.err.splitlines()[1].startswith("  info.version: 1.0 is not of type")


def test_a_file_that_cannot_be_read_is_named(cli: Cli) -> None:
    ran = cli("manifest", "from-openapi", "none.json")
    assert (ran.status, ran.err) == (1, "none.json: it cannot be read: No such file or directory\n")


def test_without_the_extra_one_line_says_how_to_get_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "mcp_gateway.openapi.translation", raising=False)
    monkeypatch.setitem(sys.modules, "openapi_spec_validator.shortcuts", None)
    ran = cli("manifest", "from-openapi", str(DOCUMENTS / "spring-3.0.json"))
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.count("\n") == 1
    assert "needs the extra 'openapi'" in ran.err
    assert "pip install -e '.[openapi]'" in ran.err


def test_no_other_command_needs_the_library() -> None:
    probe = (
        "import sys, mcp_gateway.cli.main; print([n for n in sys.modules if n.startswith(('openapi_', 'pydantic'))])"
    )
    seen = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True)
    assert seen.stdout == "[]\n"


# --- check and schema ------------------------------------------------------------------------------------------------


def checked(*tools: Any) -> None:
    Path("manifest.json").write_text(json.dumps({"manifestVersion": "1", "tools": tools}))


def test_check_says_what_would_be_served(cli: Cli) -> None:
    checked(*command.first("hr")["tools"])
    ran = cli("manifest", "check", "manifest.json")
    assert (ran.status, ran.out) == (0, "manifest.json: 1 tool, 0 left out\n  hr.greet\n")


def test_check_names_what_would_be_left_out_and_what_harms(cli: Cli) -> None:
    (good,) = command.first("hr")["tools"]
    checked(good | {"description": ""}, good | {"name": "two words"})
    ran = cli("manifest", "check", "manifest.json")
    assert ran.status == 1
    assert ran.out.splitlines() == [
        "manifest.json: 1 tool, 1 left out",
        "  hr.greet",
        "  LEFT OUT: two words: tools[1].name: must be 1 to 128 of the characters A-Z a-z 0-9 _ - .",
        "    why:  clients and models take only such names; some refuse the tool, some the call [name]",
        "    mend: use 1 to 128 of the characters A-Z a-z 0-9 _ - .",
        "  warning: hr.greet: description is empty: a model cannot know what the tool is for",
        f"    why:  {findings.of_warning('description is empty').harm} [description-empty]",
        "    mend: say in a sentence or two what the tool does, and when to use it",
    ]


def test_check_says_of_each_fault_of_a_tool_how_to_mend_it(cli: Cli) -> None:
    checked({"name": "hr.greet", "inputSchema": {"type": "object", "properties": {"a": True, "b": True}}})
    ran = cli("manifest", "check", "manifest.json")
    codes = re.findall(r"^    why:  .* \[([a-z-]+)\]$", ran.out, re.MULTILINE)
    assert codes == ["description", "endpoint", "property-schema"]
    assert "    why:  without one a model cannot know what the tool is for; for null," in ran.out


def test_check_reads_standard_input(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, b'{"manifestVersion": "2", "tools": []}')
    ran = cli("manifest", "check", "-")
    assert (ran.status, ran.err) == (1, '-: manifestVersion: must be "1"\n')


def test_schema_prints_the_published_schema_to_the_byte(cli: Cli) -> None:
    assert cli("manifest", "schema").out.encode() == published.SCHEMA
