"""
Runs a page as its reader would: every command in order, in a folder like a clone, against processes that really start.

What a block is stands behind the language of its fence, where no renderer shows it::

    sh                   commands, in the shell that the blocks above have left; they must end with status 0
    sh status=1          … with this status
    sh background        started, and left running until the page ends; the text block below is waited for
    sh not-run="why"     not run; test_pages.py lists every one
    text                 behind sh: what was printed; … stands for anything in a line, and alone for any lines
    text picture         only to be looked at
    ANY file=PATH        what the reader saves as PATH
    json output          behind sh: what was printed, as JSON; "…" stands for more members or elements
    json manifest        a manifest of which nothing is left out and nothing is warned about
    json request         a JSON-RPC request
    json answer          a JSON-RPC answer
    yaml config          a configuration that loads
    yaml kubernetes      an object of Kubernetes or of its tools

Two things differ from the reader's machine. Each port of ``PORTS`` is another, free one, in the page as in the
environment. And no environment is made anew (``INSTEAD``): ``.venv`` runs this test, and ``make test`` has made another
with the SDK.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from support import leash
from support.ports import free_port
from support.processes import ROOT
from support.waiting import wait_until

from mcp_gateway.config import load
from mcp_gateway.protocol import eras, jsonrpc
from mcp_gateway.registry import manifest

PORTS = ("8080", "8081", "8082", "9100", "9200")
SDK = ROOT / ".cache" / "mcp-client-2" / "bin" / "python"
INSTEAD = {
    "make run": f"{sys.executable} scripts/run.py",
    "make install": "test -x .venv/bin/mcp-gateway",
    "sdk/bin/python ask.py": f"{SDK} ask.py",
}
COPIED = ("config", "deploy", "scripts", "gunicorn.conf.py", "wsgi.py", "Makefile")
NEVER = re.compile(r"\b(?:sudo|docker|kubectl|helm|systemctl|pip install|npm (?:i|install))\b|/etc/")
MORE = "…"

COMMAND_S = 240.0
START_S = 120.0
END_S = 30.0

_FENCE = re.compile(r"^( *)```(\S+)(?: (.*))?\n((?:.*\n)*?)\1```$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    language: str
    kinds: frozenset[str]
    options: Mapping[str, str]
    text: str
    line: int

    def option(self, name: str) -> str | None:
        return self.options.get(name)


def blocks(page: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page, in order."""
    for match in _FENCE.finditer(page):
        indent, language, info, text = match.groups()
        words = shlex.split(info or "")
        options = dict(word.split("=", 1) for word in words if "=" in word)
        lines = "".join(line.removeprefix(indent) for line in text.splitlines(keepends=True))
        line = page.count("\n", 0, match.start()) + 1
        yield Block(language, frozenset(word for word in words if "=" not in word), options, lines, line)


def printed_as_shown(shown: str, printed: str) -> bool:
    """Return whether *printed* is what a page shows; ``…`` stands for anything in a line, and alone for any lines."""
    lines = shown.strip("\n").split("\n")
    patterns = [
        r"(?:.*\n)*" if line.strip() == MORE else re.escape(line.rstrip()).replace(MORE, ".*") + r"[ \t]*\n"
        for line in lines
    ]
    return re.fullmatch("".join(patterns), printed.strip("\n") + "\n") is not None


def same_json(shown: Any, got: Any) -> bool:
    """Return whether *got* is what a page shows; ``"…"`` stands for any value, and for more members or elements."""
    if shown == MORE:
        return True
    if isinstance(shown, dict) and isinstance(got, dict):
        named = {name: value for name, value in shown.items() if name != MORE}
        complete = MORE in shown or named.keys() == got.keys()
        return complete and all(name in got and same_json(value, got[name]) for name, value in named.items())
    if isinstance(shown, list) and isinstance(got, list):
        if shown[-1:] == [MORE]:
            shown, got = shown[:-1], got[: len(shown) - 1]
        return len(shown) == len(got) and all(map(same_json, shown, got))
    if isinstance(shown, str) and isinstance(got, str):
        return re.fullmatch(re.escape(shown).replace(MORE, ".*"), got, re.DOTALL) is not None
    return type(shown) is type(got) and shown == got


# --- blocks that only say something ----------------------------------------------------------------------------------


def check_manifest(text: str, _folder: Path) -> None:
    found = manifest.read(text.encode(), service="a-page")
    assert not found.left_out, found.left_out
    assert not [warning for tool in found.tools for warning in tool.warnings]


def check_request(text: str, _folder: Path) -> None:
    jsonrpc.envelope(jsonrpc.read(text.encode()))


def check_answer(text: str, _folder: Path) -> None:
    members = json.loads(text)
    assert members["jsonrpc"] == "2.0"
    assert len(members.keys() & {"result", "error"}) == 1


def check_config(text: str, folder: Path) -> None:
    path = folder / "config" / "shown.yaml"
    path.write_text(text, encoding="utf-8")
    environ = dict.fromkeys(re.findall(r"\$\{(\w+)\}", text), "https://shown.example")
    load.load(path, environ, versions=eras.VERSIONS)


def check_kubernetes(text: str, _folder: Path) -> None:
    assert {"apiVersion", "kind"} <= yaml.safe_load(text).keys()


CHECKS: Mapping[tuple[str, str], Callable[[str, Path], None]] = {
    ("text", "picture"): lambda _text, _folder: None,
    ("json", "manifest"): check_manifest,
    ("json", "request"): check_request,
    ("json", "answer"): check_answer,
    ("yaml", "config"): check_config,
    ("yaml", "kubernetes"): check_kubernetes,
}


# --- a reader --------------------------------------------------------------------------------------------------------


@dataclass
class Reader:
    """Somebody who follows a page in a fresh clone."""

    folder: Path
    ends: contextlib.ExitStack
    beside: Path = Path()
    ports: Mapping[str, str] = field(default_factory=lambda: {port: str(free_port()) for port in PORTS})
    printed: str | None = None
    started: tuple[subprocess.Popen[bytes], Path] | None = None

    def __post_init__(self) -> None:
        for name in COPIED:
            source = ROOT / name
            copy = shutil.copytree if source.is_dir() else shutil.copyfile
            copy(source, self.folder / name)
        (self.folder / ".venv").symlink_to(sys.prefix)
        # Pages for those who run an image, where it is on the path, say mcp-gateway alone.
        (self.folder / ".path").mkdir()
        (self.folder / ".path" / "mcp-gateway").symlink_to(Path(sys.prefix) / "bin" / "mcp-gateway")
        (self.folder / ".state").write_text(f"READER_AT='{self.folder / self.beside}'\n", encoding="utf-8")

    def follow(self, page: str) -> None:
        """Do what the page says, from top to bottom."""
        for block in blocks(self.with_ports(page)):
            try:
                self.do(block)
            except AssertionError as fault:
                raise AssertionError(f"line {block.line}: {fault}\n\n{block.text}") from fault

    def with_ports(self, text: str) -> str:
        return re.sub(rf"(?<![\w.])(?:{'|'.join(PORTS)})(?!\w)", lambda match: self.ports[match[0]], text)

    def do(self, block: Block) -> None:
        if block.language == "sh":
            self.printed = self.started = None
            if "not-run" in block.options:
                return
            assert not (found := NEVER.search(block.text)), f"{found[0]!r} is not run: mark the block with the reason"
            command = "\n".join(INSTEAD.get(line.partition("  #")[0].rstrip(), line) for line in block.text.split("\n"))
            if "background" in block.kinds:
                self.start(command)
            else:
                self.run(command, int(block.options.get("status", "0")))
            return
        shown_before, self.printed = self.printed, None
        if path := block.option("file"):
            self.save(path, block)
        elif block.language == "text" and "picture" not in block.kinds:
            self.compare(block.text, shown_before)
        elif block.language == "json" and "output" in block.kinds:
            assert shown_before is not None, "it shows the output of nothing"
            assert same_json(json.loads(block.text), json.loads(shown_before)), f"what came is\n{shown_before}"
        else:
            checks = [
                check
                for (language, kind), check in CHECKS.items()
                if language == block.language and kind in block.kinds
            ]
            assert checks, f"nobody can tell what this {block.language} block is: see pages.py"
            for check in checks:
                check(block.text, self.folder)

    def save(self, path: str, block: Block) -> None:
        target = self.folder / path
        assert target.resolve().is_relative_to(self.folder.resolve())
        assert target.parent.is_dir(), f"the folder of {path} is not there yet"
        target.write_text(block.text, encoding="utf-8")
        if block.language == "json":
            json.loads(block.text)

    def compare(self, shown: str, printed: str | None) -> None:
        if self.started is not None:
            self.wait(shown, *self.started)
            self.started = None
            return
        assert printed is not None, "it shows the output of nothing"
        assert printed_as_shown(shown, printed), f"what came is\n{printed}"

    def wait(self, shown: str, process: subprocess.Popen[bytes], log: Path) -> None:
        def said() -> bool:
            ended = process.poll() is not None
            right = printed_as_shown(shown, log.read_text("utf-8"))
            assert right or not ended, "it has ended"
            return right

        try:
            wait_until(said, "such words", START_S)
        except AssertionError as fault:
            raise AssertionError(f"{fault}; it said\n{log.read_text('utf-8')}") from None

    def run(self, command: str, status: int) -> None:
        state = self.folder / ".state"
        script = (
            f'. {state}\ncd "${{READER_AT:-.}}"\n{command}\nREADER_AT=$PWD; export READER_AT; export -p > {state}\n'
        )
        done = subprocess.run(
            ["/bin/sh", "-e", "-c", script],
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=COMMAND_S,
            check=False,
        )
        self.printed = done.stdout.decode("utf-8").replace("\r\n", "\n")  # as a terminal shows the headers of HTTP
        assert done.returncode == status, f"it ended with status {done.returncode} and said\n{self.printed}"

    def start(self, command: str) -> None:
        log = self.folder / f".background-{len(list(self.folder.glob('.background-*')))}"
        script = f'. {self.folder / ".state"}\ncd "${{READER_AT:-.}}"\n{command}'
        with log.open("wb") as output:
            process = subprocess.Popen(
                ["/bin/sh", "-e", "-c", script],
                cwd=self.folder,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                process_group=0,
            )
        self.ends.enter_context(leash.held(process.pid))
        self.ends.callback(_end, process)
        self.started = process, log

    def environment(self) -> Mapping[str, str]:
        """Return the environment of somebody who has set nothing but other ports."""
        unset = ("COVERAGE", "MCP_GATEWAY_", "GUNICORN", "HOST", "WEB_CONCURRENCY")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(unset)}
        return {
            **kept,
            "PATH": f"{kept['PATH']}{os.pathsep}{self.folder / '.path'}",
            "PORT": self.ports["8080"],
            "SAMPLE_TOOL_SERVICE_PORT": self.ports["9100"],
            "PYTHONUNBUFFERED": "1",
            "LC_ALL": "C.UTF-8",
        }


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and its group as Ctrl-C would, and make sure that nothing of it is left."""

    def gone() -> bool:
        process.poll()
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return True
        return False

    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        wait_until(gone, "end of what a page has started", END_S)
    except AssertionError:
        os.killpg(process.pid, signal.SIGKILL)
        raise


def follow(page: Path, folder: Path) -> None:
    """Follow a page in an empty *folder*, and end what it starts. A page beside its files is read where they are."""
    beside = page.parent.relative_to(ROOT) if page.is_relative_to(ROOT / "deploy") else Path()
    with contextlib.ExitStack() as ends:
        Reader(folder, ends, beside).follow(page.read_text("utf-8"))


def not_run(page: Path) -> Sequence[str]:
    """Return why blocks of a page are not run."""
    return [why for block in blocks(page.read_text("utf-8")) if (why := block.option("not-run"))]
