"""Whose fault it is: every way in which a Tool Service, or the way to it, can fail."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import peers
import pytest
from cli.doctor.harness import TOOL, Certified, Serve, Walk, manifest, tool_service
from peers import answer, good, sending
from support.ports import free_port

from mcp_gateway.transport.names import HostAddresses

CALL = ("core.search", "--send")
PAGE = "Content-Type: text/html; charset=utf-8"
HTML = b"<html><body>Please log in</body></html>"


# --- the way there ---------------------------------------------------------------------------------------------------


LOOK_UP: dict[str, Any] = HostAddresses.__init__.__kwdefaults__  # type: ignore[misc, assignment]
"""Who is asked for addresses, unless told otherwise."""


def failing(fault: Exception) -> Callable[..., None]:
    def look_up(*_: object) -> None:
        raise fault

    return look_up


@pytest.mark.parametrize(
    ("fault", "culprit", "finding"),
    [
        (socket.gaierror(socket.EAI_NONAME, "unknown"), "configuration", "there is no such host name"),
        (socket.gaierror(socket.EAI_AGAIN, "try again"), "network", "the name service could not answer (try again)"),
        (UnicodeError("label too long"), "configuration", "it is no name that could be looked up"),
    ],
)
def test_a_name_that_is_not_found_is_the_configurations_fault_and_one_that_cannot_be_asked_for_the_networks(
    doctor: Walk, monkeypatch: pytest.MonkeyPatch, fault: Exception, culprit: str, finding: str
) -> None:
    monkeypatch.setitem(LOOK_UP, "lookup", failing(fault))
    report = doctor("http://nowhere.invalid", *CALL)
    assert report.fault == ("name look-up", culprit)
    assert report["fault"]["finding"] == finding
    assert "connect" not in report.marks
    assert report.step("schema")["mark"] == "skipped"


def test_a_name_service_that_does_not_answer_is_the_networks_fault(
    doctor: Walk, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()
    monkeypatch.setitem(LOOK_UP, "lookup", lambda *_: over.wait(30))
    report = doctor("http://slow.invalid", connect_timeout_s=0.2)
    over.set()
    assert report.fault == ("name look-up", "network")
    assert report["fault"]["finding"] == "the name service did not answer in time"


def test_a_port_where_nobody_listens_is_the_tool_services_fault(doctor: Walk) -> None:
    report = doctor(f"http://127.0.0.1:{free_port()}", *CALL)
    assert report.fault == ("connect", "tool_service")
    assert report.marks["name look-up"] == "ok"
    assert "manifest" not in report.marks


@pytest.mark.parametrize(
    ("fault", "finding"),
    [
        (TimeoutError("timed out"), "no connection came about within the connect time"),
        (OSError(113, "No route to host"), "its host could not be reached (No route to host)"),
        (OSError(24, "Too many open files"), "its host could not be reached (Too many open files)"),
    ],
)
def test_a_host_that_cannot_be_reached_is_the_networks_fault_with_what_the_system_says(
    doctor: Walk, monkeypatch: pytest.MonkeyPatch, fault: OSError, finding: str
) -> None:
    def dial(*_: object) -> socket.socket:
        raise fault

    monkeypatch.setattr("mcp_gateway.transport.approach.dial", dial)
    report = doctor("http://127.0.0.1:9")
    assert report.fault == ("connect", "network")
    assert report["fault"]["finding"] == finding


# --- TLS -------------------------------------------------------------------------------------------------------------


def test_tls_that_is_trusted_shows_the_certificate(
    doctor: Walk, serve: Serve, certified: Certified, ca_bundle: Path
) -> None:
    report = doctor(serve(tool_service(), certified()), *CALL, ca_bundle=str(ca_bundle))
    assert report["ok"]
    said = report.step("TLS")
    assert said["mark"] == "ok"
    assert said["finding"].startswith("TLSv1.3, ")
    assert said["details"][0].startswith("certificate of ")
    assert "CN=core-tools, issued by " in said["details"][0]
    assert said["details"][1] == "good for 127.0.0.1"


def test_a_certificate_that_expires_soon_is_a_warning(
    doctor: Walk, serve: Serve, certified: Certified, ca_bundle: Path
) -> None:
    report = doctor(serve(tool_service(), certified(days=5)), *CALL, ca_bundle=str(ca_bundle))
    assert report["ok"]
    assert (report.step("TLS")["mark"], report.step("TLS")["culprit"]) == ("warning", "tool_service")


def test_a_certificate_for_another_host_is_the_tool_services_fault_and_its_names_are_shown(
    doctor: Walk, serve: Serve, certified: Certified, ca_bundle: Path
) -> None:
    report = doctor(serve(tool_service(), certified("other.example")), *CALL, ca_bundle=str(ca_bundle))
    assert report.fault == ("TLS", "tool_service")
    assert "good for other.example" in report["fault"]["details"]


def test_an_expired_certificate_is_the_tool_services_fault_and_its_dates_are_shown(
    doctor: Walk, serve: Serve, certified: Certified, ca_bundle: Path
) -> None:
    report = doctor(serve(tool_service(), certified(days=-3)), *CALL, ca_bundle=str(ca_bundle))
    assert report.fault == ("TLS", "tool_service")
    assert report["fault"]["finding"] == "its certificate is not trusted: certificate has expired"
    (dates,) = report["fault"]["details"]
    assert dates.startswith("valid from ")


def test_a_certificate_that_is_not_valid_yet_is_not_told_to_be_renewed(
    doctor: Walk, serve: Serve, certified: Certified, ca_bundle: Path
) -> None:
    report = doctor(serve(tool_service(), certified(begins=5)), *CALL, ca_bundle=str(ca_bundle))
    assert report.fault == ("TLS", "tool_service")
    assert "not yet valid" in report["fault"]["finding"]
    assert "clock" in report["fault"]["advice"]


def test_an_authority_that_is_not_known_is_the_configurations_fault_and_its_name_is_shown(
    doctor: Walk, serve: Serve, certified: Certified
) -> None:
    report = doctor(serve(tool_service(), certified()), *CALL)
    assert report.fault == ("TLS", "configuration")
    assert "ca_bundle" in report["fault"]["advice"]
    assert "issued by " in report["fault"]["details"][0]


def test_plain_http_where_tls_was_expected_is_the_configurations_fault(doctor: Walk, serve: Serve) -> None:
    plain = serve(lambda talk: talk.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"))
    report = doctor(plain.base_url.replace("http:", "https:"))
    assert report.fault == ("TLS", "configuration")
    assert report["fault"]["finding"] == "what answers at that port does not speak TLS"


def test_tls_where_plain_http_was_expected_is_the_configurations_fault(
    doctor: Walk, serve: Serve, certified: Certified
) -> None:
    report = doctor(serve(tool_service(), certified()).base_url.replace("https:", "http:"))
    assert report.fault == ("TLS", "configuration")
    assert report["fault"]["advice"] == "Write https:// in base_url."


@pytest.mark.parametrize(
    ("script", "finding"),
    [
        (peers.mute, "the TLS handshake was not finished within the connect time"),
        (peers.reset_before_reading, "the TLS handshake failed (Connection reset by peer)"),
    ],
)
def test_a_handshake_that_comes_to_nothing_is_the_tool_services_fault_with_what_the_system_says(
    doctor: Walk, serve: Serve, script: peers.Script, finding: str
) -> None:
    report = doctor(serve(script).base_url.replace("http:", "https:"), connect_timeout_s=0.3)
    assert report.fault == ("TLS", "tool_service")
    assert report["fault"]["finding"] == finding
    assert report["fault"]["advice"].endswith("write http:// in base_url.")


def test_a_file_of_certificates_that_is_none_is_the_configurations_fault(doctor: Walk, tmp_path: Path) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    report = doctor("https://127.0.0.1:9", *CALL, ca_bundle=str(empty))
    assert report.fault == ("configuration", "configuration")


def test_a_file_of_certificates_that_has_gone_is_the_configurations_fault(
    doctor: Walk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_: object) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr("mcp_gateway.transport.http._tls_context", gone)
    report = doctor("https://127.0.0.1:9", *CALL)
    assert report.fault == ("configuration", "configuration")
    assert report["fault"]["finding"] == "ca_bundle None cannot be used: No such file or directory"


# --- the manifest ----------------------------------------------------------------------------------------------------

SLOW = ("silent", "dripping", "endless trailers")
"""What goes on until the time is up; for all others there is plenty."""


# The script has read the request already, to tell a question for the manifest from a call.
READERS = [name for name in peers.HOSTILE if name != "reset before reading"]


def enough(name: str) -> float:
    return 0.4 if name.startswith(SLOW) else 20


NO_HTTP = ("dripping status line", "garbage", "another protocol", "greeting without an end")


@pytest.mark.parametrize("name", [name for name in READERS if name not in NO_HTTP])
def test_a_manifest_that_does_not_come_whole_is_the_tool_services_fault(
    doctor: Walk, serve: Serve, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_gateway.cli.doctor.way.HANDSHAKE_S", 0.1)
    peer = serve(tool_service(manifest_script=peers.HOSTILE[name]))
    report = doctor(peer, *CALL, load_timeout_s=enough(name))
    assert report.fault == ("manifest", "tool_service")
    assert report.step("schema")["mark"] == "skipped"


@pytest.mark.parametrize("name", NO_HTTP)
def test_a_port_where_something_else_than_http_answers_is_the_configurations_fault(
    doctor: Walk, serve: Serve, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_gateway.cli.doctor.way.HANDSHAKE_S", 0.1)
    report = doctor(serve(peers.HOSTILE[name]), *CALL, load_timeout_s=enough(name))
    assert report.fault == ("manifest", "configuration")
    assert report["fault"]["finding"] == "what answers at that port does not speak HTTP/1.1"


@pytest.mark.parametrize("ends", [peers.closing, peers.reset_after_reading])
def test_what_answers_instead_of_http_is_shown_however_it_hangs_up(
    doctor: Walk, serve: Serve, ends: peers.Script
) -> None:
    def greets(talk: peers.Talk) -> None:
        talk.send("220 우편 ESMTP\x1b".encode())
        ends(talk)

    report = doctor(serve(greets))
    assert report.fault == ("manifest", "configuration")
    assert "what came begins with: 220 우편 ESMTP\x1b" in report["fault"]["details"]


@pytest.mark.parametrize(
    "name", ["truncated", "two lengths", "many headers", "closed within the head", "dripping body"]
)
def test_the_status_of_a_manifest_that_does_not_come_whole_is_shown(doctor: Walk, serve: Serve, name: str) -> None:
    peer = serve(tool_service(manifest_script=peers.HOSTILE[name]))
    report = doctor(peer, load_timeout_s=enough(name))
    assert report["fault"]["details"][1].startswith("HTTP 200, and no whole answer, ")
    assert (report["fault"]["status"], report["fault"]["answer"]) == (200, None)


@pytest.mark.parametrize(
    ("came", "culprit", "advice"),
    [
        (answer(b"", "Location: http://127.0.0.1:1/x", status="301 Moved"), "configuration", "leads to http://127"),
        (answer(b"", status="308 Moved"), "configuration", "a redirect is not followed."),
        (answer(b"", status="401 Unauthorized"), "configuration", "credentials"),
        (answer(b"", status="403 Forbidden"), "configuration", "credentials"),
        (answer(HTML, PAGE, "Server: waf", status="403 Forbidden"), "configuration", "(waf)"),
        (answer(b"", status="407 Proxy"), "configuration", "A proxy in front of the Tool Service asks for credentials"),
        (answer(b"", status="304 Not Modified"), "tool_service", "log of the Tool Service."),
        (answer(b"", status="404 Not Found"), "tool_service", "manifest_path"),
        (answer(b"", status="405 Method Not Allowed"), "tool_service", "manifest_path"),
        (answer(b"", status="410 Gone"), "tool_service", "manifest_path"),
        (answer(b"", status="500 Oh"), "tool_service", "log of the Tool Service."),
        (answer(b"", status="204 No Content"), "tool_service", "Answer 200, with the whole manifest."),
        (answer(HTML, PAGE, "Server: nginx", status="502 Bad Gateway"), "tool_service", "(nginx)"),
        (answer(HTML, PAGE), "network", "uses no proxy"),
        (answer(b"{"), "tool_service", "manifest check FILE"),
        (answer(b'{"manifestVersion": "2", "tools": []}'), "tool_service", "manifest check FILE"),
    ],
)
def test_a_manifest_that_is_none_has_its_culprit(
    doctor: Walk, serve: Serve, came: bytes, culprit: str, advice: str
) -> None:
    report = doctor(serve(tool_service(manifest_script=sending(came))), *CALL)
    assert report.fault == ("manifest", culprit)
    assert advice in report["fault"]["advice"]


def test_a_manifest_that_is_declared_something_else_is_a_warning(doctor: Walk, serve: Serve) -> None:
    came = answer(manifest(), "Content-Type: text/plain")
    report = doctor(serve(tool_service(manifest_script=sending(came))))
    assert report["ok"]
    assert report.step("manifest")["advice"] == "Declare it application/json."


def test_a_manifest_that_is_longer_than_it_says_is_told_so_and_not_sent_back_for_mending(
    doctor: Walk, serve: Serve
) -> None:
    cut_off = answer(manifest(), length=len(manifest()) - 5)
    report = doctor(serve(tool_service(manifest_script=sending(cut_off))))
    assert report.fault == ("manifest", "tool_service")
    assert report["fault"]["finding"].endswith("; more bytes came than the answer has")
    whole = doctor(serve(tool_service(manifest_script=sending(answer(manifest()) + b"\r\n"))))
    assert whole["ok"]
    assert whole.step("manifest")["mark"] == "warning"
    assert "Content-Length" in whole.step("manifest")["advice"]


# --- the answer ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", READERS)
def test_an_answer_that_does_not_come_whole_is_the_tool_services_fault(doctor: Walk, serve: Serve, name: str) -> None:
    report = doctor(serve(tool_service(peers.HOSTILE[name])), *CALL, timeout_s=enough(name))
    assert report.fault == ("answer", "tool_service")
    assert report.marks["manifest"] == report.marks["request"] == "ok"


BROKEN = (
    "closed within the head",
    "truncated",
    "truncated chunk",
    "bad chunk",
    "two lengths",
    "negative length",
    "unknown transfer coding",
    "malformed header line",
    "many headers",
    "HTTP 2",
    "unknown content coding",
    "truncated gzip",
)


@pytest.mark.parametrize("name", BROKEN)
def test_http_that_is_broken_on_the_wire_is_not_blamed_on_the_content_and_its_status_is_shown(
    doctor: Walk, serve: Serve, name: str
) -> None:
    fault = doctor(serve(tool_service(peers.HOSTILE[name])), *CALL)["fault"]
    assert "Content-Type" not in fault["advice"]
    assert ("writes HTTP" in fault["advice"]) == (name != "closed within the head")
    assert fault["details"][0].startswith("HTTP 200, and no whole answer, ")
    assert (fault["status"], fault["answer"]) == (200, None)


@pytest.mark.parametrize("name", NO_HTTP)
def test_a_call_that_is_answered_with_something_else_than_http_says_so_and_shows_it(
    doctor: Walk, serve: Serve, name: str
) -> None:
    fault = doctor(serve(tool_service(peers.HOSTILE[name])), *CALL, timeout_s=enough(name))["fault"]
    assert fault["advice"].startswith("Look at what took the call: it does not speak HTTP/1.1")
    assert fault["details"][0].startswith("no answer, ")
    assert fault["details"][1].startswith("what came begins with: ")


def test_an_answer_that_began_in_time_and_does_not_end_is_not_just_slow(doctor: Walk, serve: Serve) -> None:
    longer = sending(answer(b"{}", length=3), stay=True)
    fault = doctor(serve(tool_service(longer)), *CALL, timeout_s=0.4)["fault"]
    assert fault["advice"].startswith("Its answer began in time: see that it ends where its head says")
    assert fault["details"][0].startswith("HTTP 200, and no whole answer, ")


def test_an_answer_that_is_longer_than_it_says_is_not_blamed_on_its_content(doctor: Walk, serve: Serve) -> None:
    report = doctor(serve(tool_service(sending(answer(b'{"a": 1}', length=5)))), *CALL)
    assert report.fault == ("answer", "tool_service")
    assert report["fault"]["finding"].endswith("; more bytes came than the answer has")
    assert "Content-Length" in report["fault"]["advice"]


def test_a_page_that_a_call_brings_is_a_warning(doctor: Walk, serve: Serve) -> None:
    report = doctor(serve(tool_service(sending(answer(HTML, PAGE)))), *CALL)
    assert report["ok"]
    assert report.step("answer")["mark"] == "warning"
    assert report.step("answer")["finding"].endswith("; an HTML page came")
    assert doctor(serve(tool_service(sending(answer(b"", PAGE)))), *CALL).step("answer")["mark"] == "ok"


def test_an_answer_that_is_no_mcp_result_is_held_to_the_promise_of_one(doctor: Walk, serve: Serve) -> None:
    promised = manifest(TOOL | {"resultFormat": "mcp"})
    fault = doctor(serve(tool_service(sending(answer(b'{"total": 1}')), promised)), *CALL)["fault"]
    assert "resultFormat" in fault["advice"]
    assert "Content-Type" not in fault["advice"]


def test_arguments_that_were_made_up_are_no_ones_to_change(doctor: Walk, serve: Serve) -> None:
    peer = serve(tool_service(sending(answer(b"{}", status="422 Unprocessable"))))
    assert doctor(peer, *CALL)["fault"]["advice"].startswith("The arguments were made up: give your own with --json.")
    given = doctor(peer, *CALL, "--json", '{"query": "x"}')["fault"]["advice"]
    assert "made up" not in given


@pytest.mark.parametrize("script", [good, peers.once, peers.early_hints])
def test_a_tool_service_that_only_looks_odd_is_no_fault(doctor: Walk, serve: Serve, script: peers.Script) -> None:
    report = doctor(serve(tool_service(script)), *CALL)
    assert report["ok"]
    assert set(report.marks.values()) == {"ok"}


def test_bytes_behind_an_answer_are_a_warning_about_the_tool_service(doctor: Walk, serve: Serve) -> None:
    chunked = peers.JSON_HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\nmore"
    for script in (peers.surplus, sending(chunked, stay=True)):
        report = doctor(serve(tool_service(script)), *CALL)
        assert report["ok"]
        assert (report.step("answer")["mark"], report.step("answer")["culprit"]) == ("warning", "tool_service")


def test_an_answer_that_is_nearly_too_late_is_a_warning(doctor: Walk, serve: Serve) -> None:
    def late(talk: peers.Talk) -> None:
        talk.request()
        talk.ended.wait(0.85)
        talk.send(answer(b"{}"))

    report = doctor(serve(tool_service(late)), *CALL, timeout_s=1)
    assert (report.step("answer")["mark"], report.step("answer")["culprit"]) == ("warning", "tool_service")


@pytest.mark.parametrize(
    ("came", "culprit", "advice"),
    [
        (answer(b"", "Location: /x", status="307 Moved"), "tool_service", "it leads to /x."),
        (answer(b"", status="304 Not Modified"), "tool_service", "Answer the POST itself"),
        (answer(b'{"why": "no"}', status="400 Bad"), "caller", "change the arguments"),
        (
            answer(HTML, PAGE, "Server: nginx", status="413 Too Large"),
            "caller",
            "perhaps of a proxy in front of it (nginx)",
        ),
        (answer(b"", status="405 Method Not Allowed"), "tool_service", "take a POST of application/json"),
        (answer(b"", status="406 Not Acceptable"), "tool_service", "take a POST of application/json"),
        (answer(b"", status="411 Length Required"), "tool_service", "take a POST of application/json"),
        (answer(b"", status="415 Unsupported Media Type"), "tool_service", "take a POST of application/json"),
        (answer(b"{}", status="422 Unprocessable"), "caller", "change the arguments"),
        (answer(b"", status="401 Unauthorized"), "configuration", "credentials"),
        (answer(HTML, PAGE, status="403 Forbidden"), "configuration", "perhaps of a proxy"),
        (answer(b"", status="407 Proxy"), "configuration", "have the proxy let it pass"),
        (answer(b"", status="404 Not Found"), "tool_service", "endpoint leads nowhere"),
        (answer(b"", status="410 Gone"), "tool_service", "endpoint leads nowhere"),
        (answer(b"", status="418 Teapot"), "tool_service", "ask its owner what 418 means there"),
        (answer(b"", status="431 Large"), "tool_service", "ask its owner what 431 means there"),
        (answer(b"", status="429 Slow down"), "tool_service", "try again later"),
        (answer(b"{}", status="503 Busy"), "tool_service", "try again later"),
        (answer(b"{}", status="500 Oh"), "tool_service", "the guid in the log of the Tool Service"),
        (answer(b"{}", status="502 Bad Gateway"), "tool_service", "look for the guid in both logs"),
        (answer(HTML, PAGE, status="504 Late"), "tool_service", "perhaps of a proxy"),
        (answer(b'{"a": 1'), "tool_service", "Content-Type"),
        (answer(b"\x00\x01", "Content-Type: application/octet-stream"), "tool_service", "Content-Type"),
        (answer("한글".encode("cp949"), "Content-Type: text/plain"), "tool_service", "Content-Type"),
        (answer("한글".encode("cp949"), PAGE), "tool_service", "perhaps of a proxy"),
    ],
)
def test_an_answer_that_is_no_success_has_its_culprit(
    doctor: Walk, serve: Serve, came: bytes, culprit: str, advice: str
) -> None:
    report = doctor(serve(tool_service(sending(came))), *CALL)
    assert report.fault == ("answer", culprit)
    assert advice in report["fault"]["advice"]


def test_a_tool_service_that_goes_away_before_the_call_is_found_at_the_step_of_the_call(
    doctor: Walk, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise ConnectionRefusedError

    def asked_for_manifest(talk: peers.Talk) -> None:
        talk.request()
        monkeypatch.setattr("mcp_gateway.transport.approach.dial", refuse)  # before whoever asked goes on
        talk.send(answer(manifest()))

    report = doctor(serve(tool_service(manifest_script=asked_for_manifest)), *CALL)
    assert report.fault == ("connect", "tool_service")
    assert report.marks["request"] == "ok"


def test_a_call_whose_time_is_up_before_it_is_sent_is_not_blamed_on_the_tool(
    doctor: Walk, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()

    def hang(*_: object) -> None:
        over.wait(1)
        raise TimeoutError

    def asked_for_manifest(talk: peers.Talk) -> None:
        talk.request()
        monkeypatch.setattr("mcp_gateway.transport.approach.dial", hang)  # before whoever asked goes on
        talk.send(answer(manifest()))

    report = doctor(serve(tool_service(manifest_script=asked_for_manifest)), *CALL, timeout_s=0.2)
    assert report.fault == ("connect", "network")
    assert report["fault"]["details"][0].startswith("no answer, ")


@pytest.mark.parametrize("send", [False, True])
def test_a_fault_of_the_gateways_own_is_told_as_one(
    doctor: Walk, serve: Serve, monkeypatch: pytest.MonkeyPatch, send: bool
) -> None:
    def breaks(*_: object, **__: object) -> None:
        raise RuntimeError

    place = "mcp_gateway.toolservice.outcome.read" if send else "mcp_gateway.tools.arguments.check"
    monkeypatch.setattr(place, breaks)
    report = doctor(serve(tool_service()), *CALL)
    assert report.fault == ("answer" if send else "request", "gateway")
