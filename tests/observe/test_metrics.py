"""What is counted, under which names and labels, and that nothing a caller makes up becomes one of them."""

from __future__ import annotations

import errno
import math
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import values
from prometheus_client.parser import text_string_to_metric_families
from road import GUID, LEGACY, MODERN, Road, text

from mcp_gateway.faults import Busy
from mcp_gateway.observe import declared, metrics
from mcp_gateway.observe.interaction import Interaction
from mcp_gateway.observe.metrics import NO_METRICS, RouteNumbers, ServiceNumbers, WorkerMetrics
from mcp_gateway.observe.seats import Seat
from mcp_gateway.toolservice.outcome import Failure, Outcome
from mcp_gateway.transport.answer import Delivery, Reason, Unanswered

CALL: dict[str, Any] = {"name": "core.search", "arguments": {"query": "s3cret-argument"}}
OPERATION = "mcp_server_operation_duration_seconds"
TOOL_SERVICE = "mcp_gateway_tool_service_request_duration_seconds"

Take = Callable[[int], WorkerMetrics]


@pytest.fixture
def take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Take]:
    """Sit down on a seat of one folder, as a worker does in its own process."""
    monkeypatch.setattr(values, "ValueClass", values.ValueClass)
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "")

    def sit(number: int) -> WorkerMetrics:
        seat = Seat(tmp_path, number)
        seat.prepare()
        return WorkerMetrics(seat)

    return sit


@pytest.fixture
def counted(take: Take) -> WorkerMetrics:
    """The metrics of one worker."""
    return take(0)


def samples(counted: metrics.Metrics) -> dict[str, list[tuple[dict[str, str], float]]]:
    """Return what the page shows, by the name of the sample."""
    page = counted.page()
    assert page is not None
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(page.decode()):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((dict(sample.labels), sample.value))
    return found


def value(counted: metrics.Metrics, name: str, **labels: str) -> float:
    """Return the one sample of that name that has these labels among its own."""
    (only,) = [number for given, number in samples(counted).get(name, []) if labels.items() <= given.items()]
    return only


def labels_of(counted: WorkerMetrics, name: str) -> list[dict[str, str]]:
    """Return the labels of each series of a histogram."""
    return [given for given, _ in samples(counted).get(f"{name}_count", [])]


def seen(road: Road, counted: WorkerMetrics) -> None:
    """Hand the records of the road over."""
    for record in road.seen:
        counted.exchange(record)


# --- exchanges -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [LEGACY, MODERN])
def test_a_call_is_counted_by_route_revision_method_and_tool_and_by_its_tool_service(
    road: Road, counted: WorkerMetrics, version: str
) -> None:
    road.speak(version, "tools/call", CALL)
    seen(road, counted)

    assert labels_of(counted, OPERATION) == [
        {
            "route": "core",
            "mcp_method_name": "tools/call",
            "mcp_protocol_version": version,
            "gen_ai_tool_name": "core.search",
            "error_type": "",
            "reason": "",
        }
    ]
    assert labels_of(counted, TOOL_SERVICE) == [{"route": "core", "tool_service": "core-tools", "error_type": ""}]


def test_the_time_of_an_exchange_begins_when_it_has_arrived_and_that_of_a_call_when_it_is_made(
    counted: WorkerMetrics,
) -> None:
    record = Interaction("core", GUID, "req-1", started=10.0, queue_ms=500)
    record.revision, record.method, record.tool, record.service = LEGACY, "tools/call", "core.search", "core-tools"
    record.called, record.returned, record.ended = 10.25, 12.25, 12.5
    counted.exchange(record)

    assert value(counted, f"{OPERATION}_sum") == 3.0
    assert value(counted, f"{TOOL_SERVICE}_sum") == 2.0
    assert value(counted, "mcp_gateway_queue_duration_seconds_sum") == 0.5
    assert value(counted, f"{OPERATION}_bucket", le="2.0") == 0
    assert value(counted, f"{OPERATION}_bucket", le="5.0") == 1


def refused(reason: Reason, status: int | None = None) -> Unanswered:
    return Unanswered(reason, Delivery.UNKNOWN, "x", status)


@pytest.mark.parametrize(
    ("gives", "reason", "error_type"),
    [
        (text("no", 404), "status", "4xx"),
        (text("no", 503), "status", "5xx"),
        (text("no", 302), "redirect", "redirect"),
        (refused(Reason.BUDGET), "budget", "budget"),
        (refused(Reason.TOO_LARGE, 200), "too_large", "too_large"),
        (Outcome(({"type": "text", "text": "x"},), is_error=True, status=200), "", ""),
        (
            Outcome(({"type": "text", "text": "x"},), True, failure=Failure(Reason.REFUSED, Delivery.NOT_SENT)),
            "refused",
            "refused",
        ),
    ],
)
def test_a_call_that_failed_is_counted_with_the_word_for_why(
    road: Road, counted: WorkerMetrics, gives: Any, reason: str, error_type: str
) -> None:
    road.service.gives = gives
    road.legacy("tools/call", CALL)
    seen(road, counted)

    assert value(counted, f"{OPERATION}_count", error_type="tool_error", reason=reason) == 1
    assert value(counted, f"{TOOL_SERVICE}_count", error_type=error_type) == 1


def test_a_call_that_found_its_tool_service_busy_was_none_of_its_calls(road: Road, counted: WorkerMetrics) -> None:
    road.service.gives = Busy("core-tools")
    road.legacy("tools/call", CALL)
    seen(road, counted)

    assert value(counted, "mcp_gateway_tool_service_refused_total", route="core", tool_service="core-tools") == 1
    assert value(counted, f"{OPERATION}_count", error_type="-32603", reason="busy") == 1
    assert TOOL_SERVICE not in samples(counted)


def test_a_fault_of_our_own_is_not_put_down_to_the_tool_service(counted: WorkerMetrics) -> None:
    record = Interaction("core", GUID, "req-1", revision=LEGACY, method="tools/call", service="core-tools")
    record.outcome, record.reason, record.code, record.called, record.returned = "fault", "internal", -32603, 1.0, 2.0
    counted.exchange(record)

    assert value(counted, f"{OPERATION}_count", error_type="-32603", reason="internal") == 1
    assert value(counted, f"{TOOL_SERVICE}_count", error_type="") == 1


def test_every_refusal_of_a_message_is_counted_with_its_code_or_status(road: Road, counted: WorkerMetrics) -> None:
    road.post(b"{")
    road.legacy("tools/run")
    road.legacy("ping", headers={"MCP-Protocol-Version": "x"})
    road.modern("tools/call", {"name": "core.search"})
    road.post({"jsonrpc": "2.0", "id": 1, "result": {}}, {"MCP-Protocol-Version": LEGACY})
    seen(road, counted)

    assert [
        (given["mcp_method_name"], given["error_type"], given["reason"]) for given in labels_of(counted, OPERATION)
    ] == [
        ("unknown", "-32700", "parse_error"),
        ("unknown", "-32601", "method_not_found"),
        ("ping", "400", "version_not_served"),
        ("tools/call", "tool_error", "bad_arguments"),
        ("unknown", "", ""),
    ]


def test_what_is_refused_as_http_is_counted_by_its_status_alone(road: Road, counted: WorkerMetrics) -> None:
    road.request(body=b"{}")
    seen(road, counted)
    counted.turned_away(404)
    counted.turned_away(404)

    assert samples(counted)["mcp_gateway_http_refused_total"] == [
        ({"http_response_status_code": "415"}, 1),
        ({"http_response_status_code": "404"}, 2),
    ]
    assert OPERATION not in samples(counted)


def test_no_name_that_a_caller_makes_up_becomes_a_label(road: Road, counted: WorkerMetrics) -> None:
    road.legacy("made/up")
    road.legacy("tools/call", {"name": "made.up", "arguments": {"made": "up"}})
    road.post({"jsonrpc": "2.0", "method": "notifications/made-up"}, {"MCP-Protocol-Version": LEGACY})
    road.modern("tools/call", CALL, meta={"io.modelcontextprotocol/protocolVersion": "made-up"})
    road.post({"jsonrpc": "2.0", "id": "made-up", "method": "ping"}, {"MCP-Protocol-Version": "made-up"})
    road.legacy("ping", headers={"guid": "made-up", "employee-no": "made-up", "mcp-session-id": "made-up"})
    seen(road, counted)

    page = counted.page()
    assert page is not None
    assert b"made" not in page
    assert b"s3cret" not in page


# --- workers and what they hold --------------------------------------------------------------------------------------


def test_a_worker_says_that_it_is_there_and_what_it_is(counted: WorkerMetrics) -> None:
    counted.started("1.2.3", configuration_faults=2)

    assert value(counted, "mcp_gateway_workers") == 1
    assert value(counted, "mcp_gateway_worker_starts_total") == 1
    assert value(counted, "mcp_gateway_configuration_faults") == 2
    assert value(counted, "mcp_gateway_build_info", version="1.2.3") == 1


def test_the_numbers_of_all_workers_are_put_together_by_every_one_of_them(take: Take) -> None:
    page = {}
    for number, tools in ((0, 3), (1, 2)):
        worker = take(number)
        worker.started("1.2.3", configuration_faults=number)
        worker.registry([RouteNumbers("core", tools, 1000.0 + number, 0, ())], error=False)
        worker.gate("core", "core-tools", 16)(1)
        worker.turned_away(404)
        page[number] = worker

    for worker in page.values():
        assert value(worker, "mcp_gateway_workers") == 2
        assert value(worker, "mcp_gateway_configuration_faults") == 1
        assert value(worker, "mcp_gateway_route_tools", route="core") == 2
        assert value(worker, "mcp_gateway_snapshot_timestamp_seconds", route="core") == 1000
        assert value(worker, "mcp_gateway_tool_service_in_flight") == 2
        assert value(worker, "mcp_gateway_tool_service_max_in_flight") == 32
        assert value(worker, "mcp_gateway_http_refused_total") == 2


def test_calls_under_way_go_up_and_down(counted: WorkerMetrics) -> None:
    tell = counted.gate("core", "core-tools", 16)
    assert value(counted, "mcp_gateway_tool_service_in_flight") == 0
    assert value(counted, "mcp_gateway_tool_service_refused_total") == 0
    assert value(counted, f"{TOOL_SERVICE}_count", error_type="") == 0

    tell(1)
    tell(1)
    tell(-1)

    assert value(counted, "mcp_gateway_tool_service_in_flight") == 1


def service(name: str, state: str = "loaded", left_out: int = 0) -> ServiceNumbers:
    return ServiceNumbers(name, state, left_out)


def states(counted: WorkerMetrics, name: str) -> Mapping[str, float]:
    rows = samples(counted)["mcp_gateway_manifest_workers"]
    return {given["state"]: number for given, number in rows if given["tool_service"] == name}


def test_a_route_is_shown_as_it_is_now(counted: WorkerMetrics) -> None:
    counted.registry([RouteNumbers("core", 0, 0.0, 1, [service("a", "failed")])], error=True)
    assert states(counted, "a") == {"loaded": 0, "stale": 0, "fallback": 0, "failed": 1}
    assert value(counted, "mcp_gateway_manifest_load_failures_total", route="core") == 1
    assert value(counted, "mcp_gateway_registry_error") == 1

    counted.registry([RouteNumbers("core", 5, 1234.5, 3, [service("a", "stale", 2), service("b")])], error=False)

    assert states(counted, "a") == {"loaded": 0, "stale": 1, "fallback": 0, "failed": 0}
    assert value(counted, "mcp_gateway_tools_left_out", tool_service="a") == 2
    assert value(counted, "mcp_gateway_route_tools", route="core") == 5
    assert value(counted, "mcp_gateway_snapshot_timestamp_seconds", route="core") == 1234.5
    assert value(counted, "mcp_gateway_manifest_load_failures_total", route="core") == 3
    assert value(counted, "mcp_gateway_registry_error") == 0


def test_a_route_and_a_tool_service_that_are_gone_are_shown_no_more(counted: WorkerMetrics) -> None:
    both = [RouteNumbers("core", 5, 1234.5, 3, [service("a", left_out=1), service("b")])]
    counted.registry([*both, RouteNumbers("hr", 2, 1.0, 4, [service("c")])], error=False)

    counted.registry([RouteNumbers("core", 4, 1235.5, 0, [service("b")])], error=False)

    assert sum(states(counted, "a").values()) == sum(states(counted, "c").values()) == 0
    assert value(counted, "mcp_gateway_tools_left_out", tool_service="a") == 0
    assert math.isnan(value(counted, "mcp_gateway_route_tools", route="hr"))
    assert math.isnan(value(counted, "mcp_gateway_snapshot_timestamp_seconds", route="hr"))
    assert value(counted, "mcp_gateway_manifest_load_failures_total", route="core") == 3


# --- no room ---------------------------------------------------------------------------------------------------------


def full(*_: object, **__: object) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_worker_without_a_seat_counts_nothing_and_fails_nothing(road: Road) -> None:
    nothing = metrics.of(None)
    assert nothing is NO_METRICS
    nothing.started("1", 0)
    nothing.exchange(Interaction("core", GUID, "r"))
    nothing.turned_away(404)
    nothing.gate("core", "core-tools", 1)(1)
    nothing.registry([RouteNumbers("core", 1, 1.0, 0, ())], error=False)
    assert nothing.page() is None


def test_a_worker_whose_files_find_no_room_counts_nothing_and_the_log_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Path, "write_bytes", full)

    worker = metrics.of(Seat(tmp_path, 0))

    worker.turned_away(404)
    assert worker.page() is None
    assert "No space left on device" in log.text


def test_a_worker_that_found_no_room_shows_what_the_others_have_counted(
    take: Take, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(0).turned_away(404)
    monkeypatch.setattr(Path, "write_bytes", full)

    worker = metrics.of(Seat(tmp_path, 1))

    worker.turned_away(404)
    assert value(worker, "mcp_gateway_http_refused_total") == 1


def test_a_worker_that_cannot_make_the_folder_counts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "mkdir", full)

    assert metrics.of(Seat(tmp_path / "metrics", 0)) is NO_METRICS


def test_a_worker_that_finds_room_counts(take: Take, tmp_path: Path) -> None:
    assert isinstance(metrics.of(Seat(tmp_path, 3)), WorkerMetrics)


def test_a_series_that_finds_no_room_is_not_counted_the_log_says_so_once_and_all_else_goes_on(
    counted: WorkerMetrics, monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture
) -> None:
    counted.turned_away(404)
    counted.started("1", 0)
    monkeypatch.setattr(Seat, "make_room", full)

    for _ in range(3):
        counted.turned_away(405)
        counted.turned_away(404)
        counted.gate("core", "core-tools", 1)(1)
        counted.exchange(Interaction("core", GUID, "r", revision=LEGACY, method="ping"))

    assert samples(counted)["mcp_gateway_http_refused_total"] == [({"http_response_status_code": "404"}, 4)]
    told = [record.getMessage() for record in log.records]
    assert len([line for line in told if "mcp_gateway_http_refused_total['405'] is not counted" in line]) == 1
    assert len(told) == len(set(told))


# --- the page --------------------------------------------------------------------------------------------------------


def test_every_metric_on_the_page_is_declared_and_described(road: Road, counted: WorkerMetrics) -> None:
    counted.started("1", 0)
    counted.gate("core", "core-tools", 1)
    counted.registry([RouteNumbers("core", 1, 1.0, 0, [service("a")])], error=False)
    road.legacy("tools/call", CALL)
    road.request()
    seen(road, counted)
    counted.exchange(Interaction("core", GUID, "r", revision=LEGACY, queue_ms=1.0))

    page = counted.page()
    assert page is not None
    shown = list(text_string_to_metric_families(page.decode()))
    assert [family.name for family in shown] == [metric.family for metric in declared.ALL]
    for family in shown:
        metric = declared.BY_FAMILY[family.name]
        assert (family.type, family.documentation) == (metric.kind, metric.help)
        for sample in family.samples:
            assert set(sample.labels) - {"le"} == set(metric.labels)


def test_what_is_not_declared_is_not_shown(take: Take, tmp_path: Path) -> None:
    worker = take(0)
    worker.started("1", 0)
    name = "counter_0.db"
    data = bytearray((tmp_path / name).read_bytes())
    (tmp_path / name).write_bytes(data.replace(b"mcp_gateway_worker_starts", b"mcp_gateway_something_els"))

    assert "mcp_gateway_something_els_total" not in samples(take(1))
    assert "mcp_gateway_workers" in samples(take(1))


def test_scrapers_that_come_together_share_a_page(counted: WorkerMetrics, monkeypatch: pytest.MonkeyPatch) -> None:
    counted.turned_away(404)
    made, first, go = [], threading.Event(), threading.Event()
    make = metrics.generate_latest

    def slowly(collector: Any) -> bytes:
        first.set()
        go.wait(20)
        made.append(1)
        return make(collector)

    monkeypatch.setattr(metrics, "generate_latest", slowly)
    pages: list[bytes | None] = []
    scrapers = [threading.Thread(target=lambda: pages.append(counted.page())) for _ in range(8)]
    scrapers[0].start()
    assert first.wait(20)
    for scraper in scrapers[1:]:
        scraper.start()
    go.set()
    for scraper in scrapers:
        scraper.join(20)

    assert len(pages) == 8
    assert all(page and b'"404"' in page for page in pages)
    assert len(made) < 8


def test_a_page_has_all_that_was_counted_before_it_was_asked_for(counted: WorkerMetrics) -> None:
    for number in range(1, 4):
        counted.turned_away(404)
        assert value(counted, "mcp_gateway_http_refused_total") == number


# --- what is declared ------------------------------------------------------------------------------------------------


def test_a_series_of_a_metric_that_lacks_a_label_cannot_be_made(counted: WorkerMetrics) -> None:
    with pytest.raises(ValueError, match="label"):
        metrics._Children(declared.BUSY, Seat(Path(os.environ["PROMETHEUS_MULTIPROC_DIR"]), 0)).of("core")


def test_the_page_of_the_docs_shows_what_is_declared() -> None:
    page = Path(__file__).parents[2] / "docs" / "contracts" / "metrics.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    table = list(declared.table())
    start = lines.index(table[0])

    assert lines[start : start + len(table)] == table, "run .venv/bin/python scripts/metrics_page.py"
    assert not lines[start + len(table)].startswith("|")


@pytest.mark.parametrize("metric", declared.ALL, ids=lambda metric: metric.name)
def test_names_follow_the_rules_of_prometheus(metric: declared.Declared) -> None:
    assert metric.name.startswith(("mcp_gateway_", "mcp_server_"))
    assert metric.name.endswith("_total") == (metric.kind is declared.Kind.COUNTER)
    assert bool(metric.buckets) == (metric.kind is declared.Kind.HISTOGRAM)
    assert metric.name.endswith("_seconds") == (metric.kind is declared.Kind.HISTOGRAM or "timestamp" in metric.name)
    assert metric.help.endswith((".", ")"))
