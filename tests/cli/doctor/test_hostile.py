"""Whose fault it is: every way in which a Tool Service, or the way to it, can fail."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import peers
import pytest
from cli.doctor.harness import Certified, Serve, Walk, manifest, tool_service
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


@pytest.mark.parametrize("fault", [TimeoutError("timed out"), OSError(113, "No route to host")])
def test_a_host_that_cannot_be_reached_is_the_networks_fault(
    doctor: Walk, monkeypatch: pytest.MonkeyPatch, fault: OSError
) -> None:
    def dial(*_: object) -> socket.socket:
        raise fault

    monkeypatch.setattr("mcp_gateway.transport.approach.dial", dial)
    assert doctor("http://127.0.0.1:9").fault == ("connect", "network")


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


@pytest.mark.parametrize("script", [peers.mute, peers.reset_before_reading])
def test_a_handshake_that_comes_to_nothing_is_the_tool_services_fault(
    doctor: Walk, serve: Serve, script: peers.Script
) -> None:
    url = serve(script).base_url.replace("http:", "https:")
    assert doctor(url, connect_timeout_s=0.3).fault == ("TLS", "tool_service")


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


@pytest.mark.parametrize("name", READERS)
def test_a_manifest_that_does_not_come_whole_is_the_tool_services_fault(
    doctor: Walk, serve: Serve, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_gateway.cli.doctor.way.HANDSHAKE_S", 0.1)
    peer = serve(tool_service(manifest_script=peers.HOSTILE[name]))
    report = doctor(peer, *CALL, load_timeout_s=enough(name))
    assert report.fault == ("manifest", "tool_service")
    assert report.step("schema")["mark"] == "skipped"


@pytest.mark.parametrize(
    ("came", "culprit", "advice"),
    [
        (answer(b"", "Location: http://127.0.0.1:1/x", status="301 Moved"), "configuration", "leads to http://127"),
        (answer(b"", status="308 Moved"), "configuration", "a redirect is not followed."),
        (answer(b"", status="401 Unauthorized"), "configuration", "credentials"),
        (answer(b"", status="403 Forbidden"), "configuration", "credentials"),
        (answer(b"", status="404 Not Found"), "tool_service", "manifest_path"),
        (answer(b"", status="500 Oh"), "tool_service", "log of the Tool Service."),
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


# --- the answer ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", READERS)
def test_an_answer_that_does_not_come_whole_is_the_tool_services_fault(doctor: Walk, serve: Serve, name: str) -> None:
    report = doctor(serve(tool_service(peers.HOSTILE[name])), *CALL, timeout_s=enough(name))
    assert report.fault == ("answer", "tool_service")
    assert report.marks["manifest"] == report.marks["request"] == "ok"


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
        (answer(b'{"why": "no"}', status="400 Bad"), "caller", "change the arguments"),
        (answer(b"", status="405 Method Not Allowed"), "tool_service", "take a POST of application/json"),
        (answer(b"", status="415 Unsupported Media Type"), "tool_service", "take a POST of application/json"),
        (answer(b"{}", status="422 Unprocessable"), "caller", "change the arguments"),
        (answer(b"", status="401 Unauthorized"), "configuration", "credentials"),
        (answer(b"", status="404 Not Found"), "tool_service", "endpoint leads nowhere"),
        (answer(b"", status="429 Slow down"), "tool_service", "try again later"),
        (answer(b"{}", status="503 Busy"), "tool_service", "try again later"),
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
        talk.send(answer(manifest()))
        monkeypatch.setattr("mcp_gateway.transport.approach.dial", refuse)

    report = doctor(serve(tool_service(manifest_script=asked_for_manifest)), *CALL)
    assert report.fault == ("connect", "tool_service")
    assert report.marks["request"] == "ok"
