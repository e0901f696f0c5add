"""What the doctor says step by step, where nothing is hostile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli.doctor.harness import TOOL, Serve, Walk, manifest, service, tool_service
from cli.harness import Cli, Configure
from peers import answer, good, sending
from support.ports import free_port

GOOD = tool_service()


def read(ran: Any) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(ran.out)
    return report


def two(configure: Configure, first: str, second: str, **route: Any) -> None:
    services = [service(first, name="first"), service(second, name="second")]
    core = {"key": "core", "public_path": "/mcp/core", "tool_services": services} | route
    configure({"registry": {"load_timeout_s": 20}, "routes": [core]})


# --- the report ------------------------------------------------------------------------------------------------------


def test_people_get_a_line_for_each_step_and_a_verdict(doctor: Walk, cli: Cli, serve: Serve) -> None:
    peer = serve(GOOD)
    doctor(peer)
    lines = cli("doctor", "core", "core.search", "--send").out.splitlines()
    marks = [line[:24].split() for line in lines if line[:2] == "ok"]
    assert marks == [
        ["ok", "configuration"],
        ["ok", "name", "look-up"],
        ["ok", "connect"],
        ["ok", "TLS"],
        ["ok", "manifest"],
        ["ok", "schema"],
        ["ok", "request"],
        ["ok", "answer"],
    ]
    assert f"Tool Service core-tools ({peer.base_url})" in lines
    assert "Tool core.search" in lines
    assert '                          {"query":"근로 계약"}' in lines
    assert lines[-1] == "No fault was found."


def test_a_fault_is_told_with_its_layer_the_culprit_and_what_to_do(doctor: Walk, cli: Cli) -> None:
    doctor(f"http://127.0.0.1:{free_port()}")
    ran = cli("doctor", "core")
    assert (ran.status, ran.err) == (1, "")
    assert "\nFAULT    connect        the connection was refused: nobody listens\n" in ran.out
    fails, whose, what = ran.out.splitlines()[-3:]
    assert fails == "It fails at: connect"
    assert whose == "Whose fault: the owner of the Tool Service core-tools"
    assert what.startswith("What to do:  Start the Tool Service")


def test_a_warning_is_told_with_what_to_do(doctor: Walk, cli: Cli, serve: Serve) -> None:
    doctor(serve(tool_service(manifest_script=sending(answer(manifest(), "Content-Type: text/plain")))))
    ran = cli("doctor", "core")
    assert "\nwarning  manifest       HTTP 200, text/plain, " in ran.out
    assert "                        Declare it application/json.\n" in ran.out
    assert ran.out.endswith("No fault was found. No tool was called.\n")


def test_colours_are_for_a_terminal_and_not_where_no_color_is_set(
    doctor: Walk, cli: Cli, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    doctor(serve(GOOD))
    assert "\x1b" not in cli("doctor", "core").out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[32mok       \x1b[0m" in cli("doctor", "core").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in cli("doctor", "core").out


def test_nothing_but_the_manifest_is_asked_for_without_send(doctor: Walk, serve: Serve) -> None:
    peer = serve(GOOD)
    assert doctor(peer, "core.search")["ok"]
    assert [request.line for request in peer.requests] == ["GET /manifest HTTP/1.1"]


def test_with_send_the_request_that_was_shown_is_the_one_that_is_made_once(doctor: Walk, serve: Serve) -> None:
    peer = serve(GOOD)
    given = '{ "query": "1.10 가" }'
    report = doctor(peer, "core.search", "--json", given, "--send", "--header", "employee-no: 1234567")
    _, sent = peer.requests
    shown = report.step("request")["request"]
    assert (shown["method"], shown["url"]) == ("POST", f"{peer.base_url}/tools/search")
    assert shown["body"].encode() == sent.body == given.encode()
    same = {name.lower(): value for name, value in shown["headers"].items()}
    assert same.keys() == sent.headers.keys()
    assert same["guid"] == sent.headers["guid"]
    assert (same["employee-no"], sent.headers["employee-no"]) == ("(7 characters)", "1234567")
    assert report.step("answer")["result"]["content"][0]["text"] == '{"query":"1.10 가"}'


def test_secrets_of_the_configuration_and_of_the_answer_are_masked(doctor: Walk, cli: Cli, serve: Serve) -> None:
    came = answer(b"{}", "Set-Cookie: session=s3cret")
    doctor(serve(tool_service(sending(came))), headers={"authorization": "Bearer s3cret"})
    for output in ("text", "json"):
        ran = cli("doctor", "core", "core.search", "--send", "--output", output)
        assert ran.status == 0
        assert "s3cret" not in ran.out
        assert "(13 characters, from the configuration)" in ran.out


def test_long_bodies_are_cut_and_pictures_are_told_by_their_size(doctor: Walk, cli: Cli, serve: Serve) -> None:
    doctor(serve(tool_service(sending(answer(b'"' + b"x" * 5000 + b'"')))))
    ran = cli("doctor", "core", "core.search", "--send")
    assert "x… (4,400 more characters)" in ran.out
    doctor(serve(tool_service(sending(answer(b"\x89PNG", "Content-Type: image/png", status="500 Oh")))))
    assert "(4 bytes)" in cli("doctor", "core", "core.search", "--send").out


# --- used wrongly ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("core", "--send"), "--send and --json are about a tool: name one behind the route"),
        (("core", "--json", "{}"), "--send and --json are about a tool: name one behind the route"),
        (("core", "x", "--json", "["), "--json: it is no JSON"),
        (("cor",), "unknown route 'cor'; there are: core (/mcp/core)"),
        (("core", "--service", "x"), "route core has no Tool Service 'x'; there are: core-tools"),
    ],
)
def test_a_wrong_use_is_no_fault_and_has_a_status_of_its_own(
    doctor: Walk, cli: Cli, serve: Serve, arguments: tuple[str, ...], why: str
) -> None:
    doctor(serve(GOOD))
    ran = cli("doctor", *arguments)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(why)


# --- the configuration -----------------------------------------------------------------------------------------------


def test_a_faulty_configuration_is_the_fault_of_its_owner(cli: Cli, configure: Configure) -> None:
    path = configure({"profile": "x", "routes": []})
    report = read(cli("doctor", "core", "--output", "json"))
    assert (report["fault"]["layer"], report["fault"]["culprit"]) == ("configuration", "configuration")
    assert report["fault"]["finding"] == f"{path}: 2 faults"
    assert report["fault"]["details"][0].startswith("profile: ")


def test_a_version_that_the_route_does_not_serve_is_the_callers_fault(doctor: Walk, serve: Serve) -> None:
    report = doctor(serve(GOOD), "--protocol", "2026-07-28", route={"protocol_versions": ["2025-11-25"]})
    assert report.fault == ("configuration", "caller")


# --- the manifest and the route --------------------------------------------------------------------------------------


def test_tools_that_are_left_out_are_the_tool_services_fault_when_no_tool_is_named(doctor: Walk, serve: Serve) -> None:
    bad = TOOL | {"name": "core.bad", "title": None}
    report = doctor(serve(tool_service(text=manifest(TOOL, bad))))
    assert report.fault == ("manifest", "tool_service")
    assert report["fault"]["details"] == ["LEFT OUT core.bad: tools[1].title: must be a string"]


def test_tools_that_are_left_out_are_a_warning_to_a_call_of_another(doctor: Walk, serve: Serve) -> None:
    bad = TOOL | {"name": "core.bad", "title": None}
    report = doctor(serve(tool_service(text=manifest(TOOL, bad))), "core.search")
    assert report["ok"]
    assert report.step("manifest")["mark"] == "warning"


def test_a_call_of_a_tool_that_is_left_out_fails_at_the_manifest(doctor: Walk, serve: Serve) -> None:
    bad = TOOL | {"name": "core.bad", "title": None}
    worse = TOOL | {"name": "core.worse", "title": None}
    report = doctor(serve(tool_service(text=manifest(worse, bad, TOOL))), "core.bad")
    assert report.fault == ("manifest", "tool_service")
    assert report["steps"][-1]["finding"] == "it is left out: tools[1].title: must be a string"


def test_a_fallback_manifest_that_stands_in_is_told_and_the_fault_stays(doctor: Walk, tmp_path: Path) -> None:
    (tmp_path / "fallback.json").write_bytes(manifest())
    report = doctor(f"http://127.0.0.1:{free_port()}", "core.search", route={"fallback_manifest": "fallback.json"})
    assert report.fault == ("connect", "tool_service")
    assert "fallback manifest" in report["fault"]["details"][-1]


def test_more_tools_than_a_route_may_have_are_the_configurations_fault(
    cli: Cli, configure: Configure, serve: Serve
) -> None:
    text = manifest(TOOL, TOOL | {"name": "core.other"})
    routes = [{"key": "core", "public_path": "/c", "tool_services": [service(serve(tool_service(text=text)).base_url)]}]
    configure({"limits": {"max_tools_per_route": 1}, "routes": routes})
    report = read(cli("doctor", "core", "core.search", "--output", "json"))
    assert (report["fault"]["layer"], report["fault"]["culprit"]) == ("configuration", "configuration")
    assert report["steps"][-1]["finding"] == "not known: there is no manifest of the route"


def test_a_name_that_two_tool_services_have_is_the_configurations_fault(
    cli: Cli, configure: Configure, serve: Serve
) -> None:
    two(configure, serve(GOOD).base_url, serve(GOOD).base_url)
    report = read(cli("doctor", "core", "--output", "json"))
    assert (report["fault"]["layer"], report["fault"]["culprit"]) == ("manifest", "configuration")
    assert report["fault"]["finding"].startswith("core.search of Tool Service second is left out: ")
    called = read(cli("doctor", "core", "core.search", "--output", "json"))
    assert called["ok"]


def test_a_tool_service_that_is_down_is_no_fault_of_a_call_to_another(
    cli: Cli, configure: Configure, serve: Serve
) -> None:
    two(configure, f"http://127.0.0.1:{free_port()}", serve(GOOD).base_url)
    report = read(cli("doctor", "core", "core.search", "--output", "json"))
    assert report["ok"]
    aside = [step for step in report["steps"] if step["service"] == "first"]
    assert [(step["layer"], step["mark"]) for step in aside] == [("connect", "warning")]
    unknown = read(cli("doctor", "core", "core.other", "--output", "json"))
    assert (unknown["fault"]["layer"], unknown["fault"]["service"]) == ("connect", "first")
    assert unknown["steps"][-1]["finding"] == "not known: there is no manifest of first"


def test_several_faults_are_counted_and_the_first_is_told(cli: Cli, configure: Configure) -> None:
    two(configure, f"http://127.0.0.1:{free_port()}", f"http://127.0.0.1:{free_port()}")
    assert cli("doctor", "core").out.splitlines()[-1] == "(1 more fault above)"


def test_one_tool_service_can_be_looked_at_alone(cli: Cli, configure: Configure, serve: Serve) -> None:
    two(configure, f"http://127.0.0.1:{free_port()}", serve(GOOD).base_url)
    report = read(cli("doctor", "core", "--service", "second", "--output", "json"))
    assert report["ok"]
    assert {step["service"] for step in report["steps"]} == {None, "second"}


def test_a_tool_service_that_a_call_never_reaches_is_not_called(cli: Cli, configure: Configure, serve: Serve) -> None:
    second = serve(GOOD)
    two(configure, serve(GOOD).base_url, second.base_url)
    report = read(cli("doctor", "core", "core.search", "--service", "second", "--send", "--output", "json"))
    assert (report["fault"]["layer"], report["fault"]["culprit"]) == ("manifest", "caller")
    assert report["fault"]["finding"] == "a call of core.search goes to Tool Service first, and never to second"
    assert [request.line for request in second.requests] == ["GET /manifest HTTP/1.1"]


def test_an_unknown_tool_is_the_callers_fault_on_a_route_with_names_that_two_have(
    cli: Cli, configure: Configure, serve: Serve
) -> None:
    two(configure, serve(GOOD).base_url, serve(GOOD).base_url)
    report = read(cli("doctor", "core", "core.other", "--output", "json"))
    assert (report["fault"]["layer"], report["fault"]["culprit"]) == ("schema", "caller")


def test_many_names_that_two_tool_services_have_are_one_warning_to_a_call(
    cli: Cli, configure: Configure, serve: Serve
) -> None:
    shared = (TOOL, TOOL | {"name": "core.other"})
    first = tool_service(text=manifest(*shared, TOOL | {"name": "core.own"}))
    two(configure, serve(first).base_url, serve(tool_service(text=manifest(*shared))).base_url)
    report = read(cli("doctor", "core", "core.own", "--output", "json"))
    assert [step["finding"] for step in report["steps"] if step["mark"] == "warning"] == [
        "2 tools of Tool Service second are left out, whose names the route has already"
    ]


def test_a_tool_whose_name_two_tool_services_have_is_told_with_both_when_it_is_the_one_that_was_asked_for(
    cli: Cli, configure: Configure, serve: Serve
) -> None:
    names = ("core.a", "core.search", "core.b")
    both = tool_service(text=manifest(*(TOOL | {"name": name} for name in names)))
    two(configure, serve(both).base_url, serve(both).base_url)
    report = read(cli("doctor", "core", "core.search", "--output", "json"))
    assert report["ok"]
    already = "tools[1].name: Tool Service 'first' of this route already has it"
    assert [step["finding"] for step in report["steps"] if step["mark"] == "warning"] == [
        f"core.search of Tool Service second is left out: {already}",
        "2 more tools of Tool Service second are left out, whose names the route has already",
    ]


def test_a_tool_that_is_left_out_and_called_at_another_tool_service_is_a_warning(
    cli: Cli, configure: Configure, serve: Serve
) -> None:
    bad = tool_service(text=manifest(TOOL | {"title": None}, TOOL | {"name": "core.worse", "title": None}))
    two(configure, serve(bad).base_url, serve(GOOD).base_url)
    report = read(cli("doctor", "core", "core.search", "--output", "json"))
    assert report["ok"]
    assert [step["finding"] for step in report["steps"] if step["mark"] == "warning"] == [
        "core.search of Tool Service first is left out: tools[0].title: must be a string"
    ]


# --- the call --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "advice"),
    [("core.serch", "Did you mean core.search?"), ("zzz", "There are: core.search.")],
)
def test_an_unknown_tool_is_the_callers_fault(doctor: Walk, serve: Serve, name: str, advice: str) -> None:
    report = doctor(serve(GOOD), name)
    assert report.fault == ("schema", "caller")
    assert report["fault"]["advice"] == advice


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_arguments_that_do_not_fit_are_the_callers_fault_in_the_gateways_words(
    doctor: Walk, serve: Serve, version: str
) -> None:
    report = doctor(serve(GOOD), "core.search", "--json", '{"query": 5}', "--protocol", version, "--send")
    assert report.fault == ("schema", "caller")
    assert report["fault"]["finding"].endswith("Invalid params: 'query' must be string")


def test_a_header_that_the_gateway_refuses_is_the_callers_fault(doctor: Walk, serve: Serve) -> None:
    report = doctor(serve(GOOD), "core.search", "--header", "employee-no: 홍길동")
    assert report.fault == ("request", "caller")
    assert "employee-no" in report["fault"]["finding"]


def test_arguments_that_nobody_could_make_up_are_a_warning_until_they_are_to_be_sent(
    doctor: Walk, serve: Serve
) -> None:
    picky = {"type": "object", "properties": {"day": {"type": "string", "pattern": "^[0-9]{8}$"}}, "required": ["day"]}
    peer = serve(tool_service(text=manifest(TOOL | {"inputSchema": picky})))
    report = doctor(peer, "core.search")
    assert report["ok"]
    assert (report.step("schema")["mark"], report.step("schema")["culprit"]) == ("warning", "caller")
    assert doctor(peer, "core.search", "--send").fault == ("schema", "caller")


def test_what_harms_a_tool_is_told_with_its_schema(doctor: Walk, serve: Serve) -> None:
    silent = {"type": "object", "properties": {"query": {"type": "string"}}}
    report = doctor(serve(tool_service(text=manifest(TOOL | {"inputSchema": silent}))), "core.search")
    assert report.step("schema")["details"][1] == "warning: inputSchema.properties without a description: query"


def test_an_answer_that_does_not_fit_the_output_schema_is_the_tool_services_fault(doctor: Walk, serve: Serve) -> None:
    promised = TOOL | {"outputSchema": {"type": "object", "required": ["total"]}}
    report = doctor(serve(tool_service(good, manifest(promised))), "core.search", "--send")
    assert report.fault == ("answer", "tool_service")
    assert "does not fit its outputSchema: 'total' is required" in report["fault"]["finding"]


def test_a_tool_that_says_of_itself_that_it_failed_is_told_in_its_words(doctor: Walk, serve: Serve) -> None:
    result = b'{"content": [{"type": "text", "text": "no such document"}], "isError": true}'
    own = TOOL | {"resultFormat": "mcp"}
    report = doctor(serve(tool_service(sending(answer(result)), manifest(own))), "core.search", "--send")
    assert report.fault == ("answer", "tool_service")
    assert report["fault"]["finding"] == "no such document"
