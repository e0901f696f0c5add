from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import Any

import pytest
from cli.harness import Cli
from hypothesis import given
from hypothesis import strategies as some
from support.processes import ROOT, configuration, write_config

from mcp_gateway import boot
from mcp_gateway.cli import sizing
from mcp_gateway.cli.sizing import Load, at_most, mean_for, plan, reserved
from mcp_gateway.config.model import Limits, ToolService
from mcp_gateway.timings import Timings

PERFORMANCE = (ROOT / "docs" / "performance.md").read_text("utf-8")


@some.composite
def loads(draw: some.DrawFn) -> Load:
    seconds = draw(some.floats(0.001, 300))
    return Load(
        rate=draw(some.floats(0.001, 10_000)),
        seconds=seconds,
        slow_seconds=draw(some.floats(seconds, 300)),
        cpus=draw(some.integers(1, 128)),
        cpu_ms=draw(some.floats(0.001, 100)),
        threads=draw(some.integers(1, 4096)),
    )


def default(field: str, of: type) -> Any:
    return of.__dataclass_fields__[field].default


@given(loads())
def test_what_is_under_way_is_rate_times_seconds(load: Load) -> None:
    assert plan(load).in_flight == load.rate * load.seconds
    assert plan(load).slow_in_flight == load.rate * load.slow_seconds


@given(loads())
def test_the_calls_of_all_workers_together_are_the_calls_under_way(load: Load) -> None:
    there = plan(load)
    assert math.isclose(there.each * there.instances * there.workers, there.in_flight)
    assert math.isclose(there.each_short * (there.instances - 1) * there.workers, there.slow_in_flight)


@given(loads(), some.floats(1, 10))
def test_more_calls_or_longer_ones_never_need_fewer_instances(load: Load, factor: float) -> None:
    instances = plan(load).instances
    assert plan(replace(load, rate=load.rate * factor)).instances >= instances
    longer = min(300, load.slow_seconds * factor)
    assert plan(replace(load, slow_seconds=longer)).instances >= instances


@given(loads())
def test_the_places_fit_into_the_threads_even_with_an_instance_gone(load: Load) -> None:
    there = plan(load)
    assert 1 <= there.max_in_flight <= there.threads - there.reserve
    assert at_most(there.each_short) == there.max_in_flight
    assert there.cpu_share <= sizing.CPU_SHARE + 1e-9


@given(loads())
def test_there_is_always_an_instance_to_lose(load: Load) -> None:
    assert plan(load).instances >= 2


@given(some.integers(1, 4096))
def test_a_worker_keeps_threads_for_what_is_no_call_and_one_at_least_for_calls(threads: int) -> None:
    assert 0 <= reserved(threads) < threads
    assert reserved(threads) >= min(4, threads - 1)


@given(some.integers(1, 4096))
def test_the_mean_that_places_bear_is_the_largest(places: int) -> None:
    assert at_most(mean_for(places)) <= places < at_most(mean_for(places) + 0.002)


@pytest.mark.parametrize(("mean", "places"), [(0.01, 1), (1, 5), (10, 21), (75, 103), (700, 783)])
def test_the_burst_is_the_quantile_of_a_poisson_table(mean: float, places: int) -> None:
    assert at_most(mean) == places


def test_a_bad_time_of_the_tool_service_is_what_places_are_sized_for() -> None:
    usual = plan(Load(rate=20, seconds=1, slow_seconds=1))
    bad = plan(Load(rate=20, seconds=1, slow_seconds=8))
    assert usual.in_flight == bad.in_flight
    assert usual.max_in_flight < bad.max_in_flight


def test_fast_calls_need_instances_for_their_cpu() -> None:
    assert plan(Load(rate=6000, seconds=0.01, slow_seconds=0.01, cpu_ms=1.0)).instances == 6


def test_the_defaults_are_those_of_the_gateway(tmp_path: Any) -> None:
    path = tmp_path / "gateway.yaml"
    write_config(path, configuration(routes=[]) | {"registry": {"source": "portal", "portal": PORTAL}})
    assert boot.settings({"MCP_GATEWAY_CONFIG": str(path)}).threads == sizing.THREADS
    assert default("max_in_flight", ToolService) == sizing.MAX_IN_FLIGHT
    assert default("interaction_timeout_s", Limits) == sizing.LONGEST_CALL_S
    assert Timings.of(300, 15).keepalive_s == sizing.KEEPALIVE_S
    assert f"limits.connections({sizing.CONNECTIONS} + threads" in (ROOT / "gunicorn.conf.py").read_text("utf-8")


PORTAL = {"base_url": "http://127.0.0.1:9", "token": "x"}


def test_the_figures_are_those_that_were_measured() -> None:
    (fast,) = re.findall(r"^\| fast \| passthrough \|.*\| ([\d.]+) / ", PERFORMANCE, re.MULTILINE)
    assert float(fast) <= sizing.CPU_MS
    (memory,) = re.findall(r"^\| after 20,000 calls \| \d+ MB \| (\d+) MB \|", PERFORMANCE, re.MULTILINE)
    assert int(memory) <= sizing.MASTER_MB + 2 * sizing.WORKER_MB


def test_it_says_what_to_set(cli: Cli) -> None:
    said = cli("capacity", "--rate", "50", "--seconds", "3")
    assert (said.status, said.err) == (0, "")
    assert "150 under way" in said.out
    assert re.search(r"^  instances +2 ", said.out, re.MULTILINE)
    assert re.search(r"^  GUNICORN_THREADS +256 +the default; 103 for these calls", said.out, re.MULTILINE)
    assert re.search(r"^  max_in_flight +103 .* the default of 16 is too few$", said.out, re.MULTILINE)
    assert "412 calls at once" in said.out


def test_it_says_what_a_bad_time_is(cli: Cli) -> None:
    said = cli("capacity", "--rate", "2", "--seconds", "0.5", "--p99-seconds", "3").out
    assert "2 calls a second x 3 s = 6 in a bad time" in said
    assert "with an instance gone in a bad time" in " ".join(said.split())


def test_it_says_when_the_defaults_are_enough(cli: Cli) -> None:
    said = cli("capacity", "--rate", "2", "--seconds", "0.5").out
    assert "the default of 16 is enough" in said
    assert "which is enough." in said


@pytest.mark.parametrize(
    ("threads", "places", "fit"),
    [
        (8, 4, "set it: the default of 16 is too many for 8 threads"),
        (19, 6, "set it: the default of 16 is too many for 19 threads"),
        (20, 6, "the default of 16 is enough"),
    ],
)
def test_the_default_is_not_enough_where_it_would_leave_too_few_threads(
    cli: Cli, threads: int, places: int, fit: str
) -> None:
    said = cli("capacity", "--rate", "5", "--seconds", "0.5", "--threads", str(threads)).out
    assert re.search(rf"^  max_in_flight +{places} .*; {fit}$", said, re.MULTILINE)


def test_it_says_when_a_worker_would_have_too_many_connections(cli: Cli) -> None:
    said = cli("capacity", "--rate", "900", "--seconds", "0.1", "--cpus", "4", "--threads", "128").out
    assert "too few: put a proxy in front" in " ".join(said.split())
    assert re.search(r"GUNICORN_THREADS +128 +\d+ for these calls", said)


def test_it_says_the_same_to_programs(cli: Cli) -> None:
    said = json.loads(cli("capacity", "--rate", "50", "--seconds", "3", "--json").out)
    assert said["load"]["rate"] == 50
    assert (said["plan"]["instances"], said["plan"]["max_in_flight"]) == (2, 103)


@pytest.mark.parametrize(
    "wrong",
    [
        ["--rate", "50"],
        ["--rate", "0", "--seconds", "3"],
        ["--rate", "nan", "--seconds", "3"],
        ["--rate", "many", "--seconds", "3"],
        ["--rate", "50", "--seconds", "301"],
        ["--rate", "50", "--seconds", "3", "--p99-seconds", "1"],
        ["--rate", "50", "--seconds", "3", "--cpus", "0.5"],
        ["--rate", "50", "--seconds", "3", "--threads", "4097"],
    ],
    ids=" ".join,
)
def test_wrong_use_is_named_and_ends_with_2(cli: Cli, wrong: list[str]) -> None:
    said = cli("capacity", *wrong)
    assert (said.status, said.out) == (2, "")
    assert "--" in said.err
