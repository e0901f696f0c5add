"""Traces of a running gateway, as a collector gets them: joined to the caller's, and to what the Tool Service gets."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.collector import Collector, Span
from support.ports import free_port
from support.processes import Gateway, configuration, gateway, route
from support.rpc import call, post, rpc
from support.toolservice import Received, Reply, ToolService

TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
CALLERS_SPAN = "00f067aa0ba902b7"
PARENT = f"00-{TRACE_ID}-{CALLERS_SPAN}-01"
UNSAMPLED = f"00-{TRACE_ID}-{CALLERS_SPAN}-00"


def echo(received: Received) -> Reply:
    return Reply.of_json(received.body)


def broken(received: Received) -> Reply:
    return Reply.of_text("out of order", 503)


@dataclass
class Traced:
    """A gateway whose spans a collector takes, and the Tool Service behind it."""

    here: Gateway
    service: ToolService
    collector: Collector

    @property
    def url(self) -> str:
        return self.here.route()

    def logged(self, guid: str) -> Any:
        """Return the log line of one exchange."""
        (line,) = [line for line in self.here.said().splitlines() if guid in line and '"exchange"' in line]
        return json.loads(line)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Traced]:
    with ToolService() as service, Collector() as collector:
        service.add("echo", echo)
        service.add("broken", broken)
        config = configuration(profile="production", routes=[route("core", service)])
        folder = tmp_path_factory.mktemp("traces")
        with gateway(folder, config, workers=1, env=collector.environ) as here:
            yield Traced(here, service, collector)


@pytest.fixture
def traced(running: Traced) -> Traced:
    """The gateway, of which the collector has seen nothing yet."""
    running.collector.spans.clear()
    running.collector.bodies.clear()
    running.service.received.clear()
    return running


def two(traced: Traced) -> tuple[Span, Span]:
    """Return the span of an exchange and that of its call."""
    server, client = traced.collector.wait_for_spans(2)
    assert (server.kind, client.kind) == ("server", "client")
    return server, client


def test_a_call_is_a_span_in_the_callers_trace_and_a_span_within_it_that_the_tool_service_gets(traced: Traced) -> None:
    before = time.time_ns()
    headers = {"traceparent": PARENT, "tracestate": "rojo=1,congo=t61", "baggage": "tenant=blue"}
    answer = call(traced.url, "echo", {"n": 1}, headers=headers)
    server, client = two(traced)

    assert answer.text == '{"n":1}'
    assert (server.trace_id, server.parent) == (TRACE_ID, CALLERS_SPAN)
    assert (client.trace_id, client.parent) == (TRACE_ID, server.span_id)
    (received,) = traced.service.calls("echo")
    assert received.header("traceparent") == f"{client.traceparent}01"
    assert (received.header("tracestate"), received.header("baggage")) == ("rojo=1,congo=t61", "tenant=blue")
    assert before <= server.started <= client.started <= client.ended <= server.ended <= time.time_ns()
    assert traced.logged(answer.headers["guid"])["traceId"] == TRACE_ID


def test_the_spans_say_what_was_asked_of_whom_and_what_came_of_it(traced: Traced) -> None:
    ids = {"guid": "3f0e7a52-0a3c-4a7e-8a1a-9a3d0d3f7c11", "x-request-id": "r-1", "mcp-session-id": "s-1"}
    call(traced.url, "echo", {}, headers=ids, request_id="a-7")
    server, client = two(traced)

    assert server.name == "tools/call echo"
    assert dict(server.attributes) == {
        "mcp.method.name": "tools/call",
        "mcp.protocol.version": "2025-11-25",
        "mcp.session.id": "s-1",
        "jsonrpc.request.id": "a-7",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "echo",
        "http.response.status_code": 200,
        "network.transport": "tcp",
        "network.protocol.name": "http",
        "mcp_gateway.route": "core",
        "mcp_gateway.tool_service": "core-tools",
        "mcp_gateway.guid": ids["guid"],
        "mcp_gateway.request_id": "r-1",
    }
    assert client.name == "POST /tools/echo"
    assert dict(client.attributes) == {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "echo",
        "http.request.method": "POST",
        "http.response.status_code": 200,
        "url.template": "/tools/echo",
        "server.address": "127.0.0.1",
        "server.port": traced.service.port,
        "network.transport": "tcp",
        "network.protocol.name": "http",
    }
    assert not server.failed
    assert not client.failed
    assert (server.resource["service.name"], server.resource["telemetry.sdk.language"]) == ("mcp-gateway", "python")
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", server.resource["service.version"])


def test_the_page_names_every_attribute_of_the_spans(traced: Traced) -> None:
    call(traced.url, "broken", {}, headers={"mcp-session-id": "s-1"})
    rpc(traced.url, "no/such")
    spans = traced.collector.wait_for_spans(3)
    page = (Path(__file__).resolve().parents[2] / "docs" / "contracts" / "traces.md").read_text("utf-8")
    for span in spans:
        for name in span.attributes:
            assert f"| `{name}` |" in page


def test_the_trace_context_of_meta_wins_over_that_of_the_headers(traced: Traced) -> None:
    other = "00-11111111111111111111111111111111-2222222222222222-01"
    params = {"name": "echo", "arguments": {}, "_meta": {"traceparent": PARENT}}
    rpc(traced.url, "tools/call", params, headers={"traceparent": other})
    server, _ = two(traced)
    assert (server.trace_id, server.parent) == (TRACE_ID, CALLERS_SPAN)


@pytest.mark.parametrize("headers", [{}, {"traceparent": "nonsense", "tracestate": "a=1"}], ids=["none", "invalid"])
def test_without_a_trace_of_the_callers_a_new_one_begins_which_the_log_and_the_tool_service_know(
    traced: Traced, headers: dict[str, str]
) -> None:
    answer = call(traced.url, "echo", {}, headers=headers)
    server, client = two(traced)
    assert server.parent == ""
    (received,) = traced.service.calls("echo")
    assert (received.header("traceparent") or "").startswith(client.traceparent)
    assert received.header("tracestate") is None
    assert traced.logged(answer.headers["guid"])["traceId"] == server.trace_id == client.trace_id


def test_a_trace_that_the_caller_does_not_sample_is_passed_on_and_not_recorded(traced: Traced) -> None:
    answer = call(traced.url, "echo", {}, headers={"traceparent": UNSAMPLED})
    call(traced.url, "echo", {}, headers={"traceparent": PARENT})
    two(traced)  # those of the later call alone
    first, _ = traced.service.calls("echo")
    sent = first.header("traceparent") or ""
    assert re.fullmatch(f"00-{TRACE_ID}-[0-9a-f]{{16}}-00", sent)
    assert CALLERS_SPAN not in sent
    assert traced.logged(answer.headers["guid"])["traceId"] == TRACE_ID
    assert len(traced.collector.spans) == 2


def test_a_tool_service_that_fails_shows_on_both_spans(traced: Traced) -> None:
    assert call(traced.url, "broken", {}).result["isError"]
    server, client = two(traced)
    assert server.failed
    assert client.failed
    assert (server.attributes["error.type"], server.attributes["mcp_gateway.reason"]) == ("tool_error", "status")
    assert (client.attributes["error.type"], client.attributes["http.response.status_code"]) == ("503", 503)


def test_a_tool_service_that_does_not_answer_is_a_call_without_a_status(traced: Traced) -> None:
    traced.service.stop()
    try:
        assert call(traced.url, "echo", {}).result["isError"]
    finally:
        traced.service.start()
    server, client = two(traced)
    assert (client.attributes["error.type"], server.attributes["mcp_gateway.reason"]) == ("refused", "refused")
    assert "http.response.status_code" not in client.attributes


def test_a_request_that_is_refused_is_a_span_with_the_code_of_its_error_and_makes_no_call(traced: Traced) -> None:
    rpc(traced.url, "tools/call", {"name": "no.such"}, headers={"traceparent": PARENT})
    (span,) = traced.collector.wait_for_spans(1)
    assert (span.name, span.trace_id, span.failed) == ("tools/call", TRACE_ID, True)
    assert (span.attributes["error.type"], span.attributes["rpc.response.status_code"]) == ("-32602", "-32602")
    assert span.attributes["mcp_gateway.reason"] == "unknown_tool"


@pytest.mark.parametrize(
    ("body", "headers", "status", "error"),
    [
        (b"{", {}, 200, "-32700"),
        (b"{}", {"Content-Type": "text/plain"}, 415, "unsupported_media_type"),
    ],
)
def test_what_is_no_message_at_all_is_a_span_in_the_callers_trace_too(
    traced: Traced, body: bytes, headers: dict[str, str], status: int, error: str
) -> None:
    answer = post(traced.url, body, headers={"traceparent": PARENT, **headers})
    (span,) = traced.collector.wait_for_spans(1)
    assert (span.name, span.trace_id, span.parent) == ("unknown", TRACE_ID, CALLERS_SPAN)
    assert (span.attributes["error.type"], span.attributes["http.response.status_code"]) == (error, status)
    assert traced.logged(answer.headers["guid"])["traceId"] == TRACE_ID


def test_no_span_holds_an_argument_an_answer_an_employee_number_or_baggage(traced: Traced) -> None:
    secrets = {"employee-no": "E-4711", "virtual-employee-no": "V-4711", "baggage": "who=B-4711"}
    assert "A-4711" in call(traced.url, "echo", {"who": "A-4711"}, headers=secrets).text
    two(traced)
    assert b"4711" not in b"".join(traced.collector.bodies)


# --- processes -------------------------------------------------------------------------------------------------------


def test_a_worker_that_ends_sends_the_spans_that_it_still_has(tmp_path: Path) -> None:
    with ToolService() as service, Collector() as collector:
        service.add("echo", echo)
        env = {**collector.environ, "OTEL_BSP_SCHEDULE_DELAY": "3600000", "OTEL_SERVICE_NAME": "edge"}
        with gateway(tmp_path, configuration(service), env=env) as here:
            for number in range(8):
                call(here.route(), "echo", {"n": number})
            assert not collector.spans
            here.signal(signal.SIGTERM)
            assert here.exit_code() == 0
        assert len(collector.spans) == 16
        assert {span.resource["service.name"] for span in collector.spans} == {"edge"}


def test_a_collector_that_is_not_there_costs_no_call_and_holds_no_worker_up(tmp_path: Path) -> None:
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{free_port()}", "OTEL_BSP_SCHEDULE_DELAY": "20"}
    with ToolService() as service:
        service.add("echo", echo)
        with gateway(tmp_path, configuration(service), env={**env, "NO_PROXY": "127.0.0.1"}) as here:
            for number in range(40):
                assert call(here.route(), "echo", {"n": number}).text == f'{{"n":{number}}}'
            here.signal(signal.SIGTERM)
            assert here.exit_code() == 0


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"OTEL_SDK_DISABLED": "true"}, None),
        ({"OTEL_TRACES_EXPORTER": "none"}, None),
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "OTEL_TRACES_EXPORTER: only otlp and none are served"),
    ],
)
def test_where_no_traces_are_made_the_callers_trace_context_passes_as_it_came(
    tmp_path: Path, environ: dict[str, str], said: str | None
) -> None:
    with ToolService() as service, Collector() as collector:
        service.add("echo", echo)
        with gateway(tmp_path, configuration(service), workers=1, env={**collector.environ, **environ}) as here:
            call(here.route(), "echo", {}, headers={"traceparent": PARENT})
            (received,) = service.calls("echo")
            assert received.header("traceparent") == PARENT
            assert said is None or f"there are no traces: {said}" in here.said()
        assert not collector.bodies
