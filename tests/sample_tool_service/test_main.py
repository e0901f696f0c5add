from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

import pytest

from mcp_gateway.sample_tool_service.main import PACKAGE, CannotStart, default_data, default_documents, main

COMMAND = "import sys; from mcp_gateway.sample_tool_service.main import main; sys.exit(main(sys.argv[1:]))"
READY = re.compile(r"sample Tool Service: (http://127\.0\.0\.1:\d+) ")


@dataclass(frozen=True)
class Started:
    """A service in a process of its own, its base URL, and the lines it said at the start."""

    process: subprocess.Popen[str]
    url: str
    said: list[str]


@contextmanager
def process(*options: str, **environment: str) -> Iterator[Started]:
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
        cwd=Path(__file__).parents[2],
    ) as running:
        assert running.stdout
        try:
            said = [running.stdout.readline().rstrip() for _ in range(3)]
            ready = READY.match(said[0])
            assert ready
            yield Started(running, ready[1], said)
        finally:
            running.kill()


def post(url: str, arguments: object) -> bytes:
    request = urllib.request.Request(url, json.dumps(arguments).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as response:
        body = response.read()
    assert isinstance(body, bytes)
    return body


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_process_promptly_even_with_a_call_under_way(tmp_path: Path, number: signal.Signals) -> None:
    with process("--data", str(tmp_path / "notes.sqlite3")) as started:
        slow = HTTPConnection(started.url.removeprefix("http://"), timeout=20)
        slow.request("POST", "/tools/slow_answer", b'{"seconds": 30}', {"Content-Type": "application/json"})
        # An answer on a later connection means that the earlier one has been accepted.
        with urllib.request.urlopen(f"{started.url}/healthz", timeout=20) as response:
            assert response.status == 200
        started.process.send_signal(number)
        _, logged = started.process.communicate(timeout=10)
    assert started.process.returncode == 0
    assert "Traceback" not in logged
    slow.close()


def test_the_process_logs_to_stderr_and_says_where_everything_is(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# 문서\n\n계약", encoding="utf-8")
    with process("--documents", str(tmp_path), TMPDIR=str(tmp_path)) as started:
        assert json.loads(post(f"{started.url}/tools/search_documents", {"query": "계약"}))["total"] == 1
        started.process.terminate()
        _, logged = started.process.communicate(timeout=10)
    assert started.said[1:] == [f"documents: {tmp_path}", f"notes: {default_data(tmp_path)}"]
    assert logged.startswith("POST /tools/search_documents 200 ")


class Announcement(io.StringIO):
    """A standard output that knows when the service has said where it is."""

    def __init__(self) -> None:
        super().__init__()
        self.made = threading.Event()

    def flush(self) -> None:
        self.made.set()


def test_main_serves_until_a_signal_and_puts_the_handlers_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    announcement = Announcement()

    def ask_and_stop() -> None:
        assert announcement.made.wait(20)
        ready = READY.match(announcement.getvalue())
        assert ready
        with urllib.request.urlopen(f"{ready[1]}/healthz", timeout=20):
            os.kill(os.getpid(), signal.SIGTERM)

    asker = threading.Thread(target=ask_and_stop)
    asker.start()
    with redirect_stdout(announcement):
        assert main(["--port", "0", "--data", str(tmp_path / "notes.sqlite3"), "--documents", str(tmp_path)]) == 0
    asker.join(10)
    assert (tmp_path / "notes.sqlite3").exists()
    assert signal.getsignal(signal.SIGTERM) is before
    assert capsys.readouterr().err.startswith("GET /healthz 200 ")


def test_a_signal_that_comes_before_the_first_request_is_not_missed(tmp_path: Path) -> None:
    class Impatient(Announcement):
        def flush(self) -> None:
            os.kill(os.getpid(), signal.SIGINT)

    with redirect_stdout(Impatient()):
        assert main(["--port", "0", "--data", str(tmp_path / "notes.sqlite3")]) == 0


def test_a_notes_file_that_cannot_be_used_is_said_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--port", "0", "--data", str(tmp_path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"sample-tool-service: SQLite cannot be used (notes: {tmp_path}): ")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--port", "65536"], "'65536' is no port"),
        (["--port", "http"], "'http' is no port"),
        (["--documents", "/nowhere"], "'/nowhere' is no folder"),
        (["--what"], "unrecognized arguments"),
    ],
)
def test_a_bad_option_is_refused(options: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(options)
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_help_names_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert all(option in shown for option in ("--host", "--port", "--documents", "--data", "9100"))


def test_the_documents_are_the_projects_own_in_a_checkout_and_the_handbook_elsewhere(tmp_path: Path) -> None:
    package = tmp_path / "mcp_gateway" / "sample_tool_service"
    assert default_documents(package) == package / "handbook"
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A", encoding="utf-8")
    assert default_documents(package) == package / "handbook"
    (tmp_path / "setup.cfg").touch()
    assert default_documents(package) == tmp_path / "docs"
    (tmp_path / "docs" / "a.md").unlink()
    assert default_documents(package) == package / "handbook"


def test_the_handbook_lies_in_the_package() -> None:
    assert len(list(PACKAGE.glob("handbook/*.md"))) >= 4


def test_the_default_notes_file_lies_in_a_folder_that_only_its_user_can_enter(tmp_path: Path) -> None:
    path = default_data(tmp_path)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert default_data(tmp_path) == path


def test_a_folder_for_notes_that_somebody_else_prepared_is_refused(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    default_data(tmp_path).parent.rmdir()
    (tmp_path / f"mcp-gateway-sample-{os.getuid()}").symlink_to(elsewhere)
    with pytest.raises(CannotStart, match="belongs to somebody else"):
        default_data(tmp_path)


def test_a_temporary_folder_that_cannot_be_used_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CannotStart, match="cannot make a folder for the notes"):
        default_data(tmp_path / "file")
