"""The limits on the page on operations: each is reached, and the caller gets what the page says."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path

import pytest
from support.ports import free_port
from support.processes import ROOT, Gateway, configuration, gateway, route, running, write_config
from support.rpc import Answer, call, connect, envelope, post, read_answer, rpc
from support.toolservice import Received, Reply, ToolService
from support.waiting import wait_until

PAGE = (ROOT / "docs" / "operations.md").read_text("utf-8")
(LIMITS,) = re.findall(r"## Limits\n(.*?)\n## ", PAGE, re.DOTALL)
THREADS = 4


def seen_by_the_caller(limit: str) -> str:
    """Return what the page says that the caller gets when *limit* is reached."""
    (row,) = (line for line in LIMITS.splitlines() if line.startswith(f"| {limit}"))
    return row.split(" | ")[3]


def echo(received: Received) -> Reply:
    return Reply.of_json(received.body)


@pytest.fixture(scope="module")
def gate() -> threading.Event:
    return threading.Event()


@pytest.fixture(scope="module")
def service(gate: threading.Event) -> Iterator[ToolService]:
    def held(received: Received) -> Reply:
        received.hold(gate)
        return Reply.of_json(received.body)

    with ToolService() as here:
        here.add("echo", echo)
        here.add("held", held)
        here.add("big", lambda _: Reply.of_text("x" * 2000))
        here.add("slow", held, timeoutMs=200)
        here.add("slower", held)
        yield here
        gate.set()


@pytest.fixture(scope="module")
def here(service: ToolService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    narrow = route("narrow", service)
    narrow["tool_services"][0]["max_in_flight"] = 1
    config = configuration(
        limits={
            "max_request_bytes": 1000,
            "max_response_bytes": 1000,
            "interaction_timeout_s": 5,
            "max_tools_per_route": 5,
        },
        routes=[route("core", service), narrow],
    )
    env = {"GUNICORN_THREADS": str(THREADS), "MCP_GATEWAY_READ_TIMEOUT_S": "1", "MCP_GATEWAY_DRAIN_S": "0"}
    with gateway(tmp_path_factory.mktemp("operations"), config, workers=1, env=env) as started:
        yield started


def in_background(pool: ThreadPoolExecutor, service: ToolService, url: str, count: int) -> list[object]:
    before = len(service.calls("held"))
    started: list[object] = [pool.submit(call, url, "held", {}) for _ in range(count)]
    service.wait_for_calls("held", before + count)
    return started


def reason(answer: Answer) -> str:
    said: str = answer.result["_meta"]["mcp-gateway/failure"]["reason"]
    return said


def test_a_call_beyond_max_in_flight_is_refused_at_once(
    here: Gateway, service: ToolService, gate: threading.Event
) -> None:
    gate.clear()
    with ThreadPoolExecutor(1) as pool:
        in_background(pool, service, here.route("narrow"), 1)
        error = call(here.route("narrow"), "echo", {}).error
        gate.set()
    said = seen_by_the_caller("`max_in_flight`")
    assert f"`{error['code']}`" in said
    assert f"`{error['data']['reason']}`" in said


def test_a_request_beyond_the_threads_waits_for_one_and_is_answered(
    here: Gateway, service: ToolService, gate: threading.Event
) -> None:
    gate.clear()
    with ThreadPoolExecutor(THREADS + 1) as pool:
        in_background(pool, service, here.route(), THREADS)
        waiting = connect(here.url)
        waiting.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        waiting.settimeout(0.3)
        with pytest.raises(TimeoutError):
            waiting.recv(1)
        gate.set()
        waiting.settimeout(10)
        assert read_answer(waiting).status == 200
        waiting.close()
    assert seen_by_the_caller("`GUNICORN_THREADS`") == "the answer, later"


def test_a_request_that_is_too_large_is_refused(here: Gateway) -> None:
    answer = post(here.route(), envelope("ping").ljust(1001))
    assert seen_by_the_caller("`limits.max_request_bytes`") == f"{answer.status} `{answer.json()['error']}`"


def test_an_answer_that_is_too_large_is_an_error_and_not_cut(here: Gateway) -> None:
    assert (
        seen_by_the_caller("`limits.max_response_bytes`") == f"`isError`, reason `{reason(call(here.route(), 'big'))}`"
    )


@pytest.mark.parametrize(("limit", "tool"), [("a tool's `timeoutMs`", "slow"), ("`limits.interaction", "slower")])
def test_a_call_that_takes_too_long_is_given_up(here: Gateway, gate: threading.Event, limit: str, tool: str) -> None:
    gate.clear()
    assert seen_by_the_caller(limit) == f"`isError`, reason `{reason(call(here.route(), tool, {}))}`"
    gate.set()


@pytest.mark.parametrize(
    ("limit", "start"),
    [
        ("request line", b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"),
        ("header fields", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"a: b\r\n" * 101 + b"\r\n"),
        ("header fields", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\na: " + b"b" * 8200 + b"\r\n\r\n"),
        (
            "`MCP_GATEWAY_READ_TIMEOUT_S`",
            b"POST /mcp/core HTTP/1.1\r\nHost: [::1]\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
        ),
    ],
    ids=["line", "many fields", "long field", "half a body"],
)
def test_a_request_that_http_cannot_bear_is_refused(here: Gateway, limit: str, start: bytes) -> None:
    with connect(here.url) as connection:
        connection.sendall(start)
        answer = read_answer(connection)
    assert seen_by_the_caller(limit) == f"{answer.status} `{answer.json()['error']}`"


def test_half_a_head_ends_in_a_closed_connection(here: Gateway) -> None:
    with connect(here.url) as connection:
        connection.sendall(b"POST /mcp/core HTTP/1.1\r\nHost:")
        with pytest.raises(HTTPException):
            read_answer(connection)


def test_a_route_with_too_many_tools_is_not_loaded(service: ToolService, tmp_path: Path) -> None:
    config = configuration(service, limits={"max_tools_per_route": 4})
    env = {"MCP_GATEWAY_DRAIN_S": "0"}
    with gateway(tmp_path, config, workers=1, env=env, ready=False) as here:
        (shown,) = wait_until(lambda: [each for each in here.readyz()["routes"] if each["error"]], "load that fails")
        assert not shown["ready"]
        error = rpc(here.route(), "tools/list").error
    said = seen_by_the_caller("`limits.max_tools_per_route`")
    assert f"`{error['code']}`" in said
    assert f"`{error['data']['reason']}`" in said


def test_what_cannot_be_logged_is_lost_and_the_call_goes_on(service: ToolService, tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    write_config(tmp_path / "gateway.yaml", configuration(service))
    port = free_port()
    env = {
        "HOST": "127.0.0.1",
        "PORT": str(port),
        "WEB_CONCURRENCY": "1",
        "MCP_GATEWAY_CONFIG": str(tmp_path / "gateway.yaml"),
        "MCP_GATEWAY_DRAIN_S": "0",
    }
    onto_a_full_disk = ["sh", "-c", 'exec "$@" >/dev/full 2>&1', "sh"]
    command = [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"]
    with running([*onto_a_full_disk, *command], tmp_path / "log", env=env) as process:
        here = Gateway(process.process, process.log, f"http://127.0.0.1:{port}", tmp_path / "gateway.yaml")
        wait_until(lambda: here.answers("/readyz"), "ready gateway")
        answers = [call(here.route(), "echo", {"n": number}) for number in range(3)]
    assert [answer.text for answer in answers] == [f'{{"n":{number}}}' for number in range(3)]
