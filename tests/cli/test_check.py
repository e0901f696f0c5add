from __future__ import annotations

import http.server
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cli.harness import Cli, Configure, Running
from support.ports import free_port
from support.processes import configuration, route
from support.toolservice import Reply, ToolService


def answer(_: object) -> Reply:
    return Reply.of_text("")


def described(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_a_configuration_without_faults_is_said_to_be_so_with_a_line_for_each_route(gateway: Running, cli: Cli) -> None:
    ran = cli("check")
    assert (ran.status, ran.err) == (0, "")
    service = f"core-tools ({gateway.service.base_url})"
    assert ran.out.splitlines() == [
        f"{gateway.config}: no faults (profile local)",
        f"route core: /mcp/core, MCP 2026-07-28, 2025-11-25: {service}",
        f"route new: /mcp/new, MCP 2026-07-28: {service}",
        f"route old: /mcp/old, MCP 2025-11-25: {service}",
    ]


def test_services_that_could_hold_every_thread_together_are_a_warning_and_no_fault(
    gateway: Running, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GUNICORN_THREADS", "48")
    ran = cli("check")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.splitlines()[1].startswith("warning: routes: all max_in_flight together are 48, and a worker has 48")


def test_every_fault_is_a_line_and_the_last_line_counts_them(cli: Cli, configure: Configure) -> None:
    path = configure({"profile": "x", "routes": [{"key": "A", "public_path": "/mcp/a", "tool_services": []}]})
    ran = cli("check")
    assert (ran.status, ran.out) == (1, "")
    *faults, last = ran.err.splitlines()
    assert [fault.partition(":")[0] for fault in faults] == ["profile", "routes[0].key", "routes[0].tool_services"]
    assert last == f"{path}: 3 faults"


def test_a_file_that_is_not_there_is_a_fault(cli: Cli, tmp_path: Path) -> None:
    ran = cli("check", "--config", str(tmp_path / "none.yaml"))
    assert ran.status == 1
    assert ran.err.splitlines()[0] == f"{tmp_path / 'none.yaml'}: it cannot be read: No such file or directory"
    assert ran.err.splitlines()[1].endswith(": 1 fault")


def test_config_wins_over_the_environment(gateway: Running, cli: Cli, tmp_path: Path) -> None:
    assert cli("check", "--config", str(tmp_path / "none.yaml")).status == 1


def test_fetch_names_each_service_with_its_state_and_tools(cli: Cli, configure: Configure) -> None:
    with ToolService() as service:
        service.add("echo", answer)
        configure(configuration(service))
        ran = cli("check", "--fetch")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.splitlines()[1:] == [
        f"route core: /mcp/core, MCP 2026-07-28, 2025-11-25: core-tools ({service.base_url})",
        "  Tool Service core-tools: loaded, 1 tool",
        "    echo",
    ]


def test_a_tool_that_is_left_out_is_told_with_its_place_and_its_reason(cli: Cli, configure: Configure) -> None:
    with ToolService() as service:
        service.add("good", answer)
        service.add("bad", answer, described(**{"\x9b2J": True}))
        configure(configuration(service))
        ran = cli("check", "--fetch")
    assert ran.status == 1
    assert "  Tool Service core-tools: loaded, 1 tool" in ran.out
    (left,) = [line for line in ran.out.splitlines() if "LEFT OUT" in line]
    assert left == '    LEFT OUT: bad: tools[1].inputSchema.properties["\\x9b2J"]: must be an object'


def test_a_fault_is_told_with_its_place_with_why_it_is_one_and_with_how_to_mend_it(
    cli: Cli, configure: Configure
) -> None:
    with ToolService() as service:
        service.add("bad", answer, described(limit={"type": "int"}))
        configure(configuration(service))
        ran = cli("check", "--fetch")
    place, why, mend = ran.out.splitlines()[-3:]
    assert place.startswith("    LEFT OUT: bad: tools[0].inputSchema.properties.limit.type: must be one of array, ")
    assert why.startswith("      why:  clients that check arguments themselves fail; ")
    assert why.endswith(" [schema]")
    assert mend == "      mend: correct it: what stands at that place is no JSON Schema"


def test_a_name_that_an_earlier_service_has_is_told(cli: Cli, configure: Configure) -> None:
    with ToolService("first") as first, ToolService("second") as second:
        first.add("echo", answer)
        second.add("echo", answer)
        configure(configuration(first, second))
        ran = cli("check", "--fetch")
    assert ran.status == 1
    assert "  Tool Service first: loaded, 1 tool\n" in ran.out
    assert "  Tool Service second: loaded, 0 tools\n" in ran.out
    assert "    LEFT OUT: echo: tools[0].name: Tool Service 'first' of this route already has it\n" in ran.out


def test_a_service_that_does_not_load_is_a_fault_and_the_others_are_told(cli: Cli, configure: Configure) -> None:
    with ToolService("up") as up, ToolService("down", start=False) as down:
        up.add("echo", answer)
        configure(configuration(up, down))
        ran = cli("check", "--fetch")
    assert (ran.status, ran.err) == (1, "")
    assert "  Tool Service up: loaded, 1 tool\n    echo\n" in ran.out
    assert "  Tool Service down: failed, 0 tools\n    FAULT: the manifest could not be fetched: " in ran.out
    assert "      'mcp-gateway doctor core' says at which step, and whose fault that is\n" in ran.out


def test_what_the_loader_logs_is_not_said_twice(configure: Configure) -> None:
    with ToolService(start=False) as service:
        configure(configuration(service))
        command = [sys.executable, "-m", "mcp_gateway", "check", "--fetch"]
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (1, b"")
    assert done.stdout.count(b"could not be fetched") == 1


def test_a_route_without_any_manifest_is_told_too(cli: Cli, configure: Configure) -> None:
    with ToolService(start=False) as service:
        configure(configuration(service))
        ran = cli("check", "--fetch")
    assert ran.status == 1
    assert "  Tool Service core-tools: failed, 0 tools\n    FAULT: " in ran.out


def test_a_fallback_that_stands_in_is_a_fault_all_the_same(cli: Cli, configure: Configure, tmp_path: Path) -> None:
    with ToolService() as service:
        service.add("echo", answer)
        manifest = service.manifest()
    (tmp_path / "fallback.json").write_bytes(manifest)
    configure({"routes": [route("core", service, fallback_manifest="fallback.json")]})
    ran = cli("check", "--fetch")
    assert ran.status == 1
    assert "  Tool Service core-tools: fallback, 1 tool\n    FAULT: " in ran.out


def test_more_tools_than_a_route_may_have_are_a_fault_of_the_route(cli: Cli, configure: Configure) -> None:
    with ToolService() as service:
        service.add("one", answer)
        service.add("two", answer)
        configure(configuration(service, limits={"max_tools_per_route": 1}))
        ran = cli("check", "--fetch")
    assert ran.status == 1
    assert "  FAULT: its Tool Services have 2 tools together, and a route may have 1\n" in ran.out
    assert ran.out.splitlines()[-1] == "  Tool Service core-tools: loaded, 2 tools"


@pytest.mark.parametrize("structured", [True, False])
def test_warnings_are_told_and_are_no_fault(cli: Cli, configure: Configure, structured: bool) -> None:
    with ToolService() as service:
        service.add("silent", answer, described(query={"type": "string"}))
        service.add("structured", answer, outputSchema={"type": "object"})
        configure({"routes": [route("core", service, structured_output=structured)]})
        ran = cli("check", "--fetch")
    assert ran.status == 0
    assert "    warning: silent: inputSchema.properties without a description: query\n" in ran.out
    assert "      mend: give each parameter a description: " in ran.out
    assert ("    warning: structured: shows an outputSchema" in ran.out) is not structured


@pytest.mark.parametrize(
    ("kind", "warned"),
    [
        ("application/json", False),
        ("Application/JSON; charset=utf-8", False),
        ("application/vnd.tools+json", False),
        ("text/plain", True),
        ("text/plain; x=/json", True),
    ],
)
def test_a_manifest_that_does_not_say_that_it_is_json_is_taken_with_a_warning(
    cli: Cli, configure: Configure, kind: str, warned: bool
) -> None:
    with ToolService() as service:
        service.add("echo", answer)
        service.pages["/manifest"] = lambda: Reply(service.manifest(), kind)
        configure(configuration(service))
        ran = cli("check", "--fetch")
    assert (ran.status, "  Tool Service core-tools: loaded, 1 tool\n" in ran.out) == (0, True)
    assert ("    warning: the manifest does not say that it is JSON\n      mend: answer it with " in ran.out) is warned


class Portal(http.server.BaseHTTPRequestHandler):
    document: Any = None

    def do_GET(self) -> None:
        body = json.dumps(self.document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep the test's output free of access logs."""


@contextmanager
def portal(document: Any) -> Iterator[str]:
    handler = type("ThisPortal", (Portal,), {"document": document})
    with http.server.ThreadingHTTPServer(("127.0.0.1", free_port()), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join(10)


def test_the_routes_of_a_portal_are_checked_and_found_by_their_key(cli: Cli, configure: Configure) -> None:
    with ToolService() as service:
        service.add("echo", answer)
        services = [{"name": "core-tools", "baseUrl": service.base_url}]
        routes = [{"key": "core", "publicPath": "/mcp/core", "toolServices": services}]
        with portal({"registryVersion": "0.1", "routes": routes}) as base_url:
            configure({"registry": {"source": "portal", "portal": {"base_url": base_url, "token": "s3cret"}}})
            plain = cli("check")
            fetched = cli("check", "--fetch")
            unknown = cli("tools", "other")
    assert plain.status == 0
    assert plain.out.splitlines()[1:] == ["the routes come from the portal; --fetch asks it"]
    assert fetched.status == 0
    assert "route core: /mcp/core, " in fetched.out
    assert unknown.err == "unknown route 'other'; there are: core (/mcp/core)\n"
