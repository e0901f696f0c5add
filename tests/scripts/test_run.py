import importlib.util
import json
import shlex
import socket
import sys
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location(
    "scripts_run", Path(__file__).resolve().parents[2] / "scripts" / "run.py"
)
assert _spec is not None
assert _spec.loader is not None
run = sys.modules[_spec.name] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(run)


def test_without_settings_the_gateway_is_on_loopback_port_8080_and_the_sample_on_9100() -> None:
    assert run.Settings.read({}) == run.Settings("127.0.0.1", 8080, 9100)


def test_an_empty_variable_counts_as_absent() -> None:
    assert run.Settings.read({"HOST": "", "PORT": "", "SAMPLE_TOOL_SERVICE_PORT": ""}) == run.Settings.read({})


def test_every_address_can_be_chosen() -> None:
    settings = run.Settings.read({"HOST": "localhost", "PORT": "18080", "SAMPLE_TOOL_SERVICE_PORT": "19100"})
    assert settings == run.Settings("localhost", 18080, 19100)


@pytest.mark.parametrize("port", ["0", "65536", "-1", "80a", "８０", " 80", "1e3"])
@pytest.mark.parametrize("name", ["PORT", "SAMPLE_TOOL_SERVICE_PORT"])
def test_what_is_no_port_is_named_with_its_variable(name: str, port: str) -> None:
    with pytest.raises(run.CannotRun) as caught:
        run.Settings.read({name: port})
    assert str(caught.value) == f"{name} must be a number from 1 to 65535, not {port!r}"


def test_one_port_for_both_is_refused() -> None:
    with pytest.raises(run.CannotRun, match="are both 9100"):
        run.Settings.read({"PORT": "9100"})


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:80"),
        ("localhost", "http://localhost:80"),
        ("0.0.0.0", "http://127.0.0.1:80"),
        ("::", "http://[::1]:80"),
        ("::1", "http://[::1]:80"),
    ],
)
def test_the_url_is_one_that_can_be_called(host: str, url: str) -> None:
    assert run.Settings(host, 80, 81).url == url


def test_a_port_in_use_is_named_with_the_way_to_choose_another() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(run.CannotRun) as caught:
            run.refuse_taken("127.0.0.1", port, "PORT")
    said = str(caught.value)
    assert said.startswith(f"Port {port} is in use by another process; choose another one: PORT=")
    assert said.endswith(" make run")


def test_a_name_is_looked_up_as_gunicorn_does_though_it_has_an_address_of_the_other_kind_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def both(host: str, port: int, family: int = 0, *_: object, **__: object) -> list[object]:
        found = {socket.AF_INET6: ("::1", port, 0, 0), socket.AF_INET: ("127.0.0.1", port)}
        return [(each, socket.SOCK_STREAM, 6, "", at) for each, at in found.items() if family in (0, each)]

    monkeypatch.setattr(socket, "getaddrinfo", both)
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(run.CannotRun, match="is in use"):
        run.refuse_taken("localhost", taken.getsockname()[1], "PORT")


def test_a_free_port_is_accepted_and_left_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    run.refuse_taken("127.0.0.1", port, "PORT")
    run.refuse_taken("127.0.0.1", port, "PORT")


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(run.CannotRun, match=r"^Cannot listen on 192\.0\.2\.1 port 8080: "):
        run.refuse_taken("192.0.2.1", 8080, "PORT")


@pytest.mark.parametrize("host", ["not an address", "a..b"])
def test_a_host_that_is_no_address_is_refused(host: str) -> None:
    with pytest.raises(run.CannotRun) as caught:
        run.refuse_taken(host, 8080, "PORT")
    assert str(caught.value) == f"HOST={host} is no address of this machine"


def test_the_curl_line_survives_a_shell_and_holds_a_whole_call() -> None:
    words = shlex.split(run.curl_line("http://127.0.0.1:8080"))
    assert words[:3] == ["curl", "-s", "http://127.0.0.1:8080/mcp/core"]
    headers = [words[i + 1] for i, word in enumerate(words) if word == "-H"]
    assert headers == ["content-type: application/json", "mcp-protocol-version: 2025-11-25"]
    body = json.loads(words[words.index("-d") + 1])
    assert body["method"] == "tools/call"
    assert body["params"] == {"name": "core.search_documents", "arguments": {"query": "gateway"}}


def test_the_greeting_names_every_address_and_log() -> None:
    text = run.greeting(run.Settings("127.0.0.1", 1, 2), [Path("var/log/a.log")])
    addresses = ("http://127.0.0.1:1/mcp/core", "http://127.0.0.1:1/console", "/healthz", "/readyz")
    for part in (*addresses, "var/log/a.log", "curl -s ", "Ctrl-C"):
        assert part in text


def test_the_greetings_doctor_looks_at_the_ports_that_were_chosen() -> None:
    command = ".venv/bin/mcp-gateway doctor core core.search_documents --send"
    assert run.doctor_line(run.Settings("127.0.0.1", 8080, 9100)) == command
    chosen = run.doctor_line(run.Settings("127.0.0.1", 8081, 9101))
    assert chosen == f"PORT=8081 SAMPLE_TOOL_SERVICE_PORT=9101 {command}"


def test_a_route_that_is_not_ready_is_named_with_its_reason() -> None:
    service = {"name": "mine", "error": "the connection was refused"}
    routes = [
        {"route": "core", "ready": True, "toolServices": []},
        {"route": "my", "ready": False, "toolServices": [service]},
    ]

    assert run.unready(json.dumps({"routes": routes})) == [
        "route 'my': Tool Service 'mine': the connection was refused"
    ]


def test_a_report_that_cannot_be_read_is_shown_as_it_is() -> None:
    assert run.unready("nothing (refused)") == ["nothing (refused)"]


def test_a_log_is_shown_by_its_last_lines_even_when_it_is_no_utf_8(tmp_path: Path) -> None:
    log = tmp_path / "some.log"
    log.write_bytes(b"first\nsecond\n\xffthird\n")
    assert run.tail(log, 2).splitlines()[1:] == ["  second", "  \ufffdthird"]


def test_an_empty_log_is_said_to_be_empty(tmp_path: Path) -> None:
    log = tmp_path / "some.log"
    log.touch()
    assert run.tail(log) == f"The last lines of {log}:\n  (it is empty)"
