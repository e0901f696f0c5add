"""The numbers of a real server: those of all its workers, whatever becomes of one of them."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.load import Load
from support.processes import Gateway, configuration, gateway, write_config
from support.rpc import call, connect, read_answer, rpc
from support.toolservice import Received, Reply, ToolService
from support.waiting import wait_until

CALLS = "mcp_server_operation_duration_seconds_count"
IN_FLIGHT = "mcp_gateway_tool_service_in_flight"
LINE = re.compile(r"(?P<name>\w+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")


def echo(received: Received) -> Reply:
    return Reply.of_json(received.body)


def scrape(here: Gateway, name: str, *labels: str) -> float:
    """Return the sum of the samples of that name which have these labels, as ``name="value"``."""
    answer = here.get("/metrics")
    assert answer.status == 200, answer
    found = (LINE.fullmatch(line) for line in answer.body.decode().splitlines() if not line.startswith("#"))
    return sum(
        float(sample["value"])
        for sample in found
        if sample and sample["name"] == name and all(label in (sample["labels"] or "") for label in labels)
    )


def folder_of(here: Gateway) -> Path:
    """Return where the workers count."""
    maps = Path(f"/proc/{next(iter(here.workers()))}/maps")
    if not maps.is_file():
        pytest.skip("this system does not show what a process has mapped")
    return Path(re.findall(r"(/\S+/mcp-gateway-\S+/metrics)/", maps.read_text())[0])


def files(folder: Path, kind: str) -> list[str]:
    return sorted(path.name for path in folder.glob(f"{kind}_*"))


def test_the_calls_of_all_workers_are_summed_whichever_is_asked(tmp_path: Path) -> None:
    with ToolService() as service:
        service.add("echo", echo)
        with gateway(tmp_path, configuration(service, profile="production")) as here:
            with ThreadPoolExecutor(8) as callers:
                list(callers.map(lambda number: call(here.route(), "echo", {"n": number}), range(40)))
            for _ in range(10):
                assert scrape(here, CALLS, 'gen_ai_tool_name="echo"', 'error_type=""', 'route="core"') == 40
            assert scrape(here, "mcp_gateway_queue_duration_seconds_count") == 40
            assert scrape(here, "mcp_gateway_workers") == 2
            assert scrape(here, "mcp_gateway_manifest_workers", 'state="loaded"') == 2
            assert scrape(here, "mcp_gateway_route_tools", 'route="core"') == 1
            folder = folder_of(here)
            assert folder.stat().st_mode & 0o777 == 0o700
            assert folder.parent.stat().st_mode & 0o777 == 0o700
        assert not folder.parent.exists()


def test_what_is_no_http_is_counted_too(tmp_path: Path) -> None:
    with ToolService() as service, gateway(tmp_path, configuration(service)) as here:
        with connect(here.url) as connection:
            connection.sendall(b"this is no HTTP\r\n\r\n")
            assert read_answer(connection).status == 400
        here.get("/nowhere")
        assert scrape(here, "mcp_gateway_http_refused_total", '"400"') == 1
        assert scrape(here, "mcp_gateway_http_refused_total", '"404"') == 1


def test_calls_under_way_and_those_refused_as_busy_are_shown(tmp_path: Path) -> None:
    gate = threading.Event()

    def held(received: Received) -> Reply:
        received.hold(gate)
        return Reply.of_text("done")

    with ToolService() as service:
        service.add("held", held)
        config = configuration(service)
        config["routes"][0]["tool_services"][0]["max_in_flight"] = 1
        with gateway(tmp_path, config, workers=1) as here, ThreadPoolExecutor(1) as callers:
            waiting = callers.submit(call, here.route(), "held", {})
            service.wait_for_calls("held")
            assert scrape(here, IN_FLIGHT) == scrape(here, "mcp_gateway_tool_service_max_in_flight") == 1
            assert call(here.route(), "held", {}).error["data"]["reason"] == "busy"
            assert scrape(here, "mcp_gateway_tool_service_refused_total", 'tool_service="core-tools"') == 1
            gate.set()
            assert waiting.result().text == "done"
            assert scrape(here, IN_FLIGHT) == 0


def test_counters_never_go_backwards_and_files_never_pile_up_whatever_becomes_of_workers(tmp_path: Path) -> None:
    workers, counted = 2, 0.0
    with ToolService() as service:
        service.add("echo", echo)
        with gateway(tmp_path, configuration(service), workers=workers) as here:
            folder = folder_of(here)

            def counts() -> bool:
                nonlocal counted
                before, counted = counted, scrape(here, CALLS, 'gen_ai_tool_name="echo"')
                assert counted >= before
                return True

            def whole() -> bool:  # the metric alone may still be of before: it counts a dead one until it is reaped
                return counts() and scrape(here, "mcp_gateway_workers") == len(here.workers()) == workers

            for number in range(4):
                call(here.route(), "echo", {"n": number})
                old = here.workers()
                if number % 2:
                    here.reload()
                    here.wait_replaced(old)
                else:
                    victim = old.pop()
                    os.kill(victim, signal.SIGKILL)
                    wait_until(lambda gone=victim: gone not in here.workers() and counts(), "end of the worker")
                wait_until(whole, "workers that count")
                assert len(files(folder, "counter")) <= 2 * workers
                assert len(files(folder, "gauge_livesum")) == workers

            assert scrape(here, CALLS, 'gen_ai_tool_name="echo"') == 4
            assert scrape(here, "mcp_gateway_worker_starts_total") == workers + 2 + 2 * workers
            assert scrape(here, IN_FLIGHT) == 0


def test_no_scrape_fails_and_no_count_is_lost_while_workers_are_replaced_under_load(tmp_path: Path) -> None:
    with ToolService() as service:
        service.add("echo", echo)
        with gateway(tmp_path, configuration(service)) as here:
            counted: list[float] = []

            def fault(_: int, answer: object) -> str:
                counted.append(scrape(here, CALLS, 'gen_ai_tool_name="echo"'))
                return ""

            with Load(lambda number: call(here.route(), "echo", {"n": number}), fault, threads=3) as load:
                for _ in range(2):
                    old = here.workers()
                    load.wait_for_more(10)
                    here.reload()
                    here.wait_replaced(old)
                load.wait_for_more(10)
            assert load.failures == []
            assert scrape(here, CALLS, 'gen_ai_tool_name="echo"') == load.done


def test_a_faulty_configuration_that_is_not_taken_shows_as_a_number(tmp_path: Path) -> None:
    with ToolService() as service:
        good = configuration(service)
        with gateway(tmp_path, good, workers=1) as here:
            assert scrape(here, "mcp_gateway_configuration_faults") == 0
            for config, faults in (({**good, "colour": "blue", "size": 1}, 2), (good, 0)):
                old = here.workers()
                here.reload(config)
                here.wait_replaced(old)
                wait_until(lambda n=faults: scrape(here, "mcp_gateway_configuration_faults") == n, f"{faults} faults")


def test_a_disk_that_is_full_fails_no_start_and_no_call_and_the_log_says_so(tmp_path: Path) -> None:
    prlimit = getattr(resource, "prlimit", None)
    if prlimit is None:
        pytest.skip("this system does not let a test bound the files of another process")
    with ToolService() as service:
        service.add("echo", echo)
        # Unmeasured: what coverage writes would not fit either.
        unmeasured = dict.fromkeys(("COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START"))
        with gateway(tmp_path, configuration(service), env=unmeasured) as here:
            call(here.route(), "echo", {})
            old = here.workers()
            # No file may become longer than this: shorter than a worker's, longer than the log of this test.
            prlimit(here.pid, resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))
            here.reload()
            here.wait_replaced(old)
            for number in range(10):
                assert call(here.route(), "echo", {"n": number}).text == f'{{"n":{number}}}'
            assert scrape(here, CALLS, 'gen_ai_tool_name="echo"') == 1
            assert here.said().count("this worker counts nothing") == 2
            assert here.get("/readyz").status == 200

            old = here.workers()
            prlimit(here.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            here.reload()
            here.wait_replaced(old)
            call(here.route(), "echo", {})
            assert scrape(here, CALLS, 'gen_ai_tool_name="echo"') == 2


def test_in_production_every_line_is_json_those_of_the_server_too(tmp_path: Path) -> None:
    with ToolService() as service:
        service.add("echo", echo)
        config = configuration(service, profile="production")
        with gateway(tmp_path, config, env={"MCP_GATEWAY_DRAIN_S": "0"}) as here:
            call(here.route(), "echo", {}, headers={"guid": "not\x01a guid"})
            rpc(here.route(), "ping")
            old = here.workers()
            write_config(here.config, "routes: [")
            here.reload()
            here.wait_replaced(old)
        lines = here.said().splitlines()
    loggers = {json.loads(line)["logger"] for line in lines}
    assert {"gunicorn.error", "mcp_gateway.exchange", "mcp_gateway.config", "mcp_gateway.registry"} <= loggers
