from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from cli.harness import Cli, Configure, Running
from support.ports import free_port

ODD = '{ "n": 1.10, "big": 1e400,\n "s": "근로 \'계약\' \\u0041" }'


class Stdin:
    def __init__(self, given: bytes) -> None:
        self.buffer = io.BytesIO(given)


@pytest.mark.parametrize("protocol", ["2025-11-25", "2026-07-28"])
def test_the_arguments_reach_the_tool_service_as_they_were_written(gateway: Running, cli: Cli, protocol: str) -> None:
    ran = cli("call", "core", "echo", "--json", ODD, "--protocol", protocol)
    assert (ran.status, ran.err) == (0, "")
    (received,) = gateway.service.calls("echo")
    assert received.body.decode() == ODD
    assert ran.out == '{"n":1.10,"big":1e400,"s":"근로 \'계약\' \\u0041"}\n'


def test_without_json_an_empty_object_is_sent(gateway: Running, cli: Cli) -> None:
    assert cli("call", "core", "echo").out == "{}\n"


def test_a_route_may_be_named_by_its_public_path(gateway: Running, cli: Cli) -> None:
    assert cli("call", "/mcp/core", "greeting").out == "안녕하세요, 세계\n"


def test_a_public_path_at_a_gateway_that_is_named_needs_no_configuration(gateway: Running, cli: Cli) -> None:
    ran = cli("call", "/mcp/core", "greeting", "--url", f"{gateway.url}/", "--config", "nowhere.yaml")
    assert (ran.status, ran.out) == (0, "안녕하세요, 세계\n")


def test_a_route_that_serves_only_the_later_version_is_spoken_to_in_it(gateway: Running, cli: Cli) -> None:
    raw = json.loads(cli("call", "new", "greeting", "--raw").out)
    assert raw["result"]["resultType"] == "complete"


def test_the_arguments_may_come_from_a_file(gateway: Running, cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "arguments.json"
    file.write_bytes(b'\xef\xbb\xbf{"n": 1.10}')
    assert cli("call", "core", "echo", "--json", f"@{file}").out == '{"n":1.10}\n'


def test_the_arguments_may_come_from_standard_input(
    gateway: Running, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", Stdin(b'{"n": 1.10}'))
    assert cli("call", "core", "echo", "--json", "-").out == '{"n":1.10}\n'


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("{", "--json: it is no JSON: "),
        ("", "--json: it is no JSON: "),
        ('{"a": 1, "a": 2}', "--json: it is no JSON: an object has two members named 'a'"),
        ("[1]", "--json: it must be a JSON object"),
        ('{"a": "\udcff"}', "--json: it is no JSON: it is not UTF-8"),
        ("@nowhere.json", "--json @nowhere.json: it cannot be read: No such file or directory"),
        ("@\x00", "--json @\x00: it cannot be read: no file can have that name"),
    ],
)
def test_arguments_that_cannot_be_used_are_refused_before_anything_is_sent(
    gateway: Running, cli: Cli, given: str, why: str
) -> None:
    ran = cli("call", "core", "echo", "--json", given)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(why)
    assert len(ran.err.splitlines()) == 1
    assert gateway.service.received == []


def test_a_call_that_fails_says_so_with_the_note_and_exits_with_1(gateway: Running, cli: Cli) -> None:
    ran = cli("call", "core", "broken")
    assert ran.status == 1
    assert "503" in ran.out
    assert ran.err.startswith("the call failed (reason status, outcome answered, status 503, guid ")


def test_the_words_of_a_tool_service_that_refuses_are_printed(gateway: Running, cli: Cli) -> None:
    ran = cli("call", "core", "refusing")
    assert (ran.status, ran.out) == (1, "no such document\n")


def test_each_violation_of_the_schema_is_a_line(gateway: Running, cli: Cli) -> None:
    ran = cli("call", "core", "search", "--json", '{"limit": "x", "filter": {}}')
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("error -32602: Invalid params: ")
    assert "  query: 'query' is required (required)" in ran.err
    assert "  limit: 'limit' must be integer (type)" in ran.err
    assert "  filter.from: 'filter.from' is required (required)" in ran.err
    assert "  guid: " in ran.err


def test_an_unknown_tool_is_told_in_both_versions(gateway: Running, cli: Cli) -> None:
    for protocol in ("2025-11-25", "2026-07-28"):
        ran = cli("call", "core", "none", "--protocol", protocol)
        assert ran.status == 1
        assert ran.err.startswith("error -32602: Invalid params: unknown tool 'none'")


def test_a_version_that_the_route_does_not_serve_is_told_with_those_it_does(gateway: Running, cli: Cli) -> None:
    for route, served, asked in (("old", "2025-11-25", "2026-07-28"), ("new", "2026-07-28", "2025-11-25")):
        ran = cli("call", route, "echo", "--protocol", asked)
        assert (ran.status, ran.out) == (1, "")
        assert f"this route serves {served}" in ran.err


def test_an_image_is_its_type_and_size(gateway: Running, cli: Cli) -> None:
    assert cli("call", "core", "picture").out == "[image image/png, 8 bytes]\n"


def test_every_block_of_a_result_is_printed(gateway: Running, cli: Cli) -> None:
    assert cli("call", "core", "blocks").out.splitlines() == [
        "first",
        "[audio audio/wav, 3 bytes]",
        "[resource file:///a.txt]",
        "inside",
        "[resource file:///b.bin, 2 bytes]",
        "[resource_link file:///c]",
    ]


def test_what_failed_is_told_with_its_layer_with_whose_fault_it_is_and_with_what_to_do(
    gateway: Running, cli: Cli
) -> None:
    for tool, told in (("broken", "the owner of the Tool Service"), ("search", "the caller")):
        first, *_, whose, advice = cli("call", "core", tool).err.splitlines()
        assert first.startswith(("the call failed", "error -32602"))
        assert whose.startswith("  layer: ")
        assert whose.endswith(f"; whose fault: {told}")
        assert advice.startswith("  ")


def test_for_scripts_one_object_says_what_a_call_came_to(gateway: Running, cli: Cli) -> None:
    dead = ("--url", f"http://127.0.0.1:{free_port()}")
    calls: list[tuple[str, int, tuple[str, ...]]] = [
        ("ok", 0, ("echo", "--json", '{"n": 1.10}')),
        ("failed", 1, ("broken",)),
        ("refused", 1, ("search",)),
        ("no_answer", 1, ("echo", *dead)),
    ]
    said = {}
    for outcome, status, command in calls:
        ran = cli("call", "core", *command, "--output", "json")
        assert (ran.status, ran.err) == (status, "")
        said[outcome] = json.loads(ran.out)
        assert said[outcome]["outcome"] == outcome
    assert r'"text":"{\"n\":1.10}"' in cli("call", "core", *calls[0][2], "--output", "json").out
    assert said["failed"]["result"]["_meta"]["mcp-gateway/failure"]["status"] == 503
    assert said["refused"]["error"]["code"] == -32602
    assert (said["ok"]["status"], said["ok"]["error"], said["ok"]["message"]) == (200, None, None)
    assert len(said["ok"]["guid"]) == 36
    assert "status" not in said["no_answer"]


def test_what_comes_as_bytes_is_saved_and_nothing_is_overwritten(gateway: Running, cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "pictures"
    for number in (1, 2):
        ran = cli("call", "core", "picture", "--save", str(folder))
        assert (ran.status, ran.out) == (0, "[image image/png, 8 bytes]\n")
        assert ran.err == f"saved {folder / f'{number}.png'}\n"
    assert (folder / "2.png").read_bytes() == b"\x89PNG\r\n\x1a\n"
    cli("call", "core", "blocks", "--save", str(folder / "blocks"), "--output", "json")
    assert sorted(path.suffix for path in (folder / "blocks").iterdir()) == [".bin", ".wav"]


def test_a_folder_that_cannot_be_written_is_one_line(gateway: Running, cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    ran = cli("call", "core", "picture", "--save", str(file))
    assert (ran.status, ran.err) == (1, f"--save {file}: it cannot be written: File exists\n")


def test_a_person_at_a_terminal_gets_json_with_line_breaks_and_every_digit(
    gateway: Running, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    ran = cli("call", "core", "echo", "--json", ODD)
    assert ran.out == '{\n  "n": 1.10,\n  "big": 1e400,\n  "s": "근로 \'계약\' \\u0041"\n}\n'
    assert cli("call", "core", "greeting").out == "안녕하세요, 세계\n"


def test_structure_that_no_text_shows_is_printed(gateway: Running, cli: Cli) -> None:
    assert cli("call", "core", "facts").out == '[no object\n[structuredContent]\n{"n":1.10}\n'


def test_raw_is_the_answer_as_it_came_and_the_exit_status_stays(gateway: Running, cli: Cli) -> None:
    ran = cli("call", "core", "echo", "--json", '{"n": 1.10}', "--raw")
    assert ran.status == 0
    assert json.loads(ran.out)["id"] == 1
    assert r"{\"n\":1.10}" in ran.out
    failed = cli("call", "core", "search", "--raw")
    assert failed.status == 1
    assert json.loads(failed.out)["error"]["code"] == -32602


def test_marked_arguments_are_mirrored_in_headers_where_the_version_asks_for_it(gateway: Running, cli: Cli) -> None:
    given = '{"region": "서울", "page": {"size": 42}, "fresh": true}'
    ran = cli("call", "new", "mirrored", "--json", given)
    assert (ran.status, ran.err) == (0, "")
    assert json.loads(ran.out) == {"region": "서울", "page": {"size": 42}, "fresh": True}


def test_headers_of_the_caller_are_sent_along(gateway: Running, cli: Cli) -> None:
    ran = cli("call", "core", "echo", "--header", "employee-no: 1234", "--header", "X-Request-Id:  r-1 ")
    assert ran.status == 0
    (received,) = gateway.service.calls("echo")
    assert (received.header("employee-no"), received.header("x-request-id")) == ("1234", "r-1")


def test_a_header_that_is_not_ascii_goes_out_as_utf8_for_the_gateway_to_judge(gateway: Running, cli: Cli) -> None:
    ran = cli("call", "core", "echo", "--header", "employee-no: 홍길동")
    assert ran.status == 1
    assert ran.err.startswith("error -32600: ")
    assert "employee-no" in ran.err


@pytest.mark.parametrize("header", ["no colon", ": x", "a b: x", "a: x\r\nb: y", "a: \udcff"])
def test_a_malformed_header_is_a_usage_error(gateway: Running, cli: Cli, header: str) -> None:
    ran = cli("call", "core", "echo", "--header", header)
    assert ran.status == 2
    assert "is no header" in ran.err


def test_an_answer_that_takes_too_long_is_one_line(gateway: Running, cli: Cli) -> None:
    ran = cli("call", "core", "echo", "--timeout", "0.000001")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == f"no answer from {gateway.url}/mcp/core: its time budget was used up\n"


@pytest.mark.parametrize("timeout", ["0", "x", "-1", "1e3", "0.0"])
def test_a_timeout_must_be_a_time(gateway: Running, cli: Cli, timeout: str) -> None:
    ran = cli("call", "core", "echo", f"--timeout={timeout}")
    assert ran.status == 2
    assert "is no time in seconds above 0" in ran.err


def test_a_gateway_that_is_not_there_is_one_line_in_both_versions(gateway: Running, cli: Cli) -> None:
    for protocol in ("2025-11-25", "2026-07-28"):
        url = f"http://127.0.0.1:{free_port()}"
        ran = cli("call", "core", "echo", "--url", url, "--protocol", protocol)
        assert ran.status == 1
        assert ran.err == f"no answer from {url}/mcp/core: the connection was refused\n"


def test_what_is_no_gateway_is_told_with_what_it_said(gateway: Running, cli: Cli) -> None:
    ran = cli("call", "core", "echo", "--url", f"{gateway.service.base_url}/manifest")
    assert ran.status == 1
    assert ran.err.startswith("HTTP 404, and the answer is no JSON-RPC: ")


def test_an_unknown_route_is_told_with_the_known_ones(gateway: Running, cli: Cli) -> None:
    for name in ("cor", "/mcp/cor"):
        ran = cli("call", name, "echo")
        assert ran.status == 2
        assert ran.err == f"unknown route {name!r}; there are: core (/mcp/core), new (/mcp/new), old (/mcp/old)\n"


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:8080",
        "ftp://x",
        "http://",
        "http://x:0",
        "http://x:99999",
        "http://[::1",
        "http://u@x/",
        "http://x/한글",
    ],
)
def test_a_url_must_be_one(gateway: Running, cli: Cli, url: str) -> None:
    ran = cli("call", "core", "echo", "--url", url)
    assert ran.status == 2
    assert "is no URL of the form" in ran.err


def test_a_path_that_no_url_can_have_is_a_usage_error(gateway: Running, cli: Cli) -> None:
    ran = cli("call", "/mcp/한글", "echo", "--url", gateway.url)
    assert ran.status == 2
    assert "is no URL of the form" in ran.err


def test_a_tool_name_that_is_no_text_is_a_usage_error(gateway: Running, cli: Cli) -> None:
    ran = cli("call", "core", "\udcff")
    assert ran.status == 2
    assert "is no UTF-8 text" in ran.err


def test_a_faulty_configuration_is_told_line_by_line(cli: Cli, configure: Configure, tmp_path: Path) -> None:
    path = tmp_path / "local.yaml"
    path.write_text("profile: nowhere\nroutez: []\n")
    ran = cli("call", "core", "echo", "--config", str(path))
    assert (ran.status, ran.out) == (1, "")
    assert "profile: must be local or production" in ran.err
    assert ran.err.splitlines()[-1] == f"{path}: 3 faults"


def test_a_file_of_certificates_that_is_not_there_is_one_line(gateway: Running, cli: Cli) -> None:
    ran = cli("call", "core", "echo", "--url", "https://127.0.0.1:1/mcp", "--ca-bundle", "nowhere.pem")
    assert ran.status == 1
    assert ran.err == "--ca-bundle nowhere.pem: it cannot be used: No such file or directory\n"
