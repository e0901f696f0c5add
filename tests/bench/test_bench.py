"""The project's own benchmark measures what it says and notices a wrong answer; how fast anything is, no test asks."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROCESSES_END_S = 90.0

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="CPU and memory are read from /proc")


def bench(module: str, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"bench.{module}", *arguments]
    return subprocess.run(
        command, cwd=ROOT, input=given, capture_output=True, text=True, check=False, timeout=PROCESSES_END_S
    )


def test_every_scenario_has_its_row_and_no_answer_is_wrong() -> None:
    done = bench("run", "--seconds", "0.2", "--rounds", "1", "--connections", "4")
    assert done.returncode == 0, done.stdout + done.stderr
    figures = r"[\d.]+ / [\d.]+ \((?:[\d.]+|nan)\)"
    rows = re.findall(rf"^\| (\S+) \| (\w+) \| {figures} \| {figures} \| {figures} \|$", done.stdout, re.MULTILINE)
    calls = ("fast", "fast@2026-07-28", "large", "pretty")
    assert rows == [(name, "passthrough") for name in calls] + [
        (name, "flask") for name in ("list", "ping", "initialize")
    ]
    assert re.search(r"^CPU of fast on 2026-07-28 against 2025-11-25: ", done.stdout, re.MULTILINE)


def test_a_wrong_answer_ends_the_run_with_status_1() -> None:
    never = (
        "import dataclasses, sys; from bench import run;"
        "run.SCENARIOS = {**run.SCENARIOS, 'ping': dataclasses.replace(run.SCENARIOS['ping'], marker='~never~')};"
        "sys.exit(run.main(['--scenarios', 'ping', '--seconds', '0.1', '--rounds', '1']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", never], cwd=ROOT, capture_output=True, text=True, check=False, timeout=PROCESSES_END_S
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "wrong answers" in done.stderr
    assert "no marker" in done.stderr
    assert not done.stdout


def test_a_scenario_that_does_not_exist_is_refused() -> None:
    done = bench("run", "--scenarios", "fast,faster")
    assert done.returncode == 2
    assert "faster" in done.stderr


@pytest.mark.parametrize("arguments", [["nonsense"], ["fast", "soon"], ["fast", "1", "2"]])
def test_a_profile_of_what_does_not_exist_is_refused(arguments: list[str]) -> None:
    done = bench("profile_rooms", *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: ")
    assert arguments[-1] in done.stderr


def test_a_profile_names_the_rooms_of_the_gateway() -> None:
    done = bench("profile_rooms", "fast", "0.5")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^\| transport \| \d+ \| \d+% \| \d+ \| \d+ \|$", done.stdout, re.MULTILINE), done.stdout


@contextmanager
def answering(status: int, body: bytes) -> Iterator[int]:
    """Serve one stored answer, in which ``@N@`` becomes the id that was sent; gives the port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            said = body.replace(b"@N@", str(sent["id"]).encode())
            self.send_response(status)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: object) -> None:
            """Keep the test's output free of access logs."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (200, b'{"id":@N@,"result":"~here~"}', ""),
        (200, b'{"id": @N@, "result": "~here~"}', ""),
        (500, b'{"id":@N@,"result":"~here~"}', "no 200"),
        (200, b'{"id":7,"result":"~here~"}', "another id"),
        (200, b'{"result":"~here~"}', "another id"),
        (200, b'{"id":@N@,"result":"~there~"}', "no marker"),
    ],
)
def test_each_answer_is_held_to_its_status_id_and_marker(status: int, body: bytes, said: str) -> None:
    with answering(status, body) as port:
        job = {"port": port, "path": "/mcp", "headers": {}, "body": '{"id":@N@}', "marker": "~here~"}
        done = bench("load", given=json.dumps({**job, "connections": 2, "seconds": 0.1}))
    assert done.returncode == 0, done.stderr
    tally = json.loads(done.stdout)
    assert (tally["wrong"] == 0) == (said == "")
    assert (tally["right"] > 0) == (said == "")
    assert tally["fault"].startswith(said)
