from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli.harness import Cli, Running
from support import rpc
from support.processes import START_S, running
from support.waiting import wait_until

from mcp_gateway import __version__
from mcp_gateway.cli import terminal
from mcp_gateway.cli.main import main

COMMANDS = ("serve", "check", "tools", "call", "curl", "sample-tool-service")
PROGRAM = [sys.executable, "-m", "mcp_gateway"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_listed_and_has_a_help_of_its_own(cli: Cli, command: str) -> None:
    assert re.search(rf"^    {command}\s", cli("--help").out, re.MULTILINE)
    ran = cli(command, "--help")
    assert ran.status == 0
    assert ran.out.startswith(f"usage: mcp-gateway {command} ")


def test_a_command_is_needed_and_must_be_a_known_one(cli: Cli) -> None:
    for arguments in ([], ["sevre"], ["check", "--fech"], ["sample-tool-service", "--prot"]):
        ran = cli(*arguments)
        assert (ran.status, ran.out) == (2, "")
        assert "usage: mcp-gateway" in ran.err


def test_the_version_is_that_of_the_package(cli: Cli) -> None:
    assert cli("--version").out == f"mcp-gateway {__version__}\n"


def test_python_m_is_the_command_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["mcp-gateway", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("mcp_gateway", run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"mcp-gateway {__version__}\n"


def test_importing_the_package_s_main_module_runs_nothing() -> None:
    assert "main" in runpy.run_module("mcp_gateway.__main__", run_name="imported")


def test_the_sample_tool_service_runs_until_sigterm(tmp_path: Path) -> None:
    command = [*PROGRAM, "sample-tool-service", "--port", "0", "--data", str(tmp_path / "notes.sqlite3")]
    with running(command, tmp_path / "log", env={"PYTHONUNBUFFERED": "1"}) as service:
        found = wait_until(lambda: re.search(r"manifest: (\S+)\)", service.said()), "address", START_S)
        assert rpc.request("GET", found[1]).json()["manifestVersion"] == "1"
        service.signal(signal.SIGTERM)
        assert service.exit_code() == 0


@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8"])
def test_korean_goes_in_and_out_unharmed_whatever_the_locale(gateway: Running, locale: str) -> None:
    environ = {**os.environ, "LC_ALL": locale, "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    environ.pop("PYTHONIOENCODING", None)
    command = [*PROGRAM, "call", "core", "echo", "--json", '{"이름": "홍길동"}']
    done = subprocess.run(command, env=environ, capture_output=True, timeout=60, check=False)
    assert done.stderr == b""
    assert done.stdout.decode("utf-8") == '{"이름":"홍길동"}\n'


def test_an_argument_that_the_locale_did_not_read_as_utf8_is_read_so() -> None:
    misread = "한글".encode().decode("ascii", "surrogateescape")
    assert terminal.as_utf8([misread]) == ["한글"]


def test_an_argument_of_another_encoding_stays_as_the_locale_reads_it() -> None:
    assert terminal.as_utf8(["한글", "\udcff"]) == ["한글", "\udcff"]


def test_a_reader_that_has_gone_ends_the_command_quietly(gateway: Running) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run([*PROGRAM, "check"], stdout=writing, stderr=subprocess.PIPE, timeout=60, check=False)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_broken_pipe_is_told_by_the_exit_status_alone(
    gateway: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w", encoding="utf-8") as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        assert main(["check"]) == 1
    assert capsys.readouterr().err == ""


class FullDisk(io.TextIOWrapper):
    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_output_that_cannot_be_written_is_one_line(
    gateway: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with (tmp_path / "out").open("wb") as file:
        disk = FullDisk(file, encoding="utf-8")
        monkeypatch.setattr(sys, "stdout", disk)
        assert main(["check"]) == 1
        disk.detach()
    assert capsys.readouterr().err == "mcp-gateway: the output cannot be written: No space left on device\n"


def test_a_stream_that_has_no_encoding_is_left_alone(gateway: Running) -> None:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(["check"]) == 0
    assert "no faults" in out.getvalue()


class Interrupting:
    """A standard input at which somebody presses Ctrl-C."""

    @property
    def buffer(self) -> Interrupting:
        return self

    def read(self) -> bytes:
        raise KeyboardInterrupt


def test_ctrl_c_ends_the_command_without_a_word(gateway: Running, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Interrupting())
    ran = cli("call", "core", "echo", "--json", "-")
    assert (ran.status, ran.out, ran.err) == (130, "", "")


def test_words_from_outside_cannot_draw_lines_of_their_own() -> None:
    assert terminal.one_line("한글 a\nb\x1b[2J\u2028c") == "한글 a\\nb\\x1b[2J\\u2028c"
