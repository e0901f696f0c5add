"""Whether traces are wanted, and what spans say; the spans of a running gateway are in tests/system/test_traces.py."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mcp_gateway.caller import Trace
from mcp_gateway.jsontext import Fragment
from mcp_gateway.observe.interaction import Interaction
from mcp_gateway.observe.tracing import (
    LONGEST_ID,
    exchange_attributes,
    exchange_error,
    exchange_name,
    tracer,
    unserved,
    wanted,
)

ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}


@pytest.mark.parametrize(
    ("environ", "answer"),
    [
        ({}, False),
        ({"OTEL_SERVICE_NAME": "edge"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False),
        (ENDPOINT, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:9"}, True),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({**ENDPOINT, "OTEL_TRACES_EXPORTER": "none"}, False),
        ({**ENDPOINT, "OTEL_SDK_DISABLED": "True"}, False),
        ({**ENDPOINT, "OTEL_SDK_DISABLED": "false"}, True),
    ],
)
def test_traces_are_wanted_where_a_collector_or_an_exporter_is_named(environ: dict[str, str], answer: bool) -> None:
    assert wanted(environ) is answer


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        (ENDPOINT, None),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, None),
        ({"OTEL_TRACES_EXPORTER": "console"}, "OTEL_TRACES_EXPORTER"),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "OTEL_EXPORTER_OTLP_PROTOCOL"),
        ({"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json"}, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"),
    ],
)
def test_what_is_not_served_is_named(environ: dict[str, str], named: str | None) -> None:
    fault = unserved(environ)

    assert (fault and fault.partition(":")[0]) == named


def run(code: str) -> tuple[str, str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip(), done.stderr.strip()


def test_without_the_extra_the_log_says_so_and_there_is_no_tracer() -> None:
    said, logged = run(
        "import sys; sys.modules['opentelemetry'] = None; from mcp_gateway.observe import tracing; "
        f"print(tracing.tracer({ENDPOINT}, '1'))"
    )

    assert said == "None"
    assert logged.startswith("there are no traces: the extra mcp-gateway[otel] is not installed: ")


def test_what_is_not_served_is_logged_and_there_is_no_tracer(log: pytest.LogCaptureFixture) -> None:
    assert tracer({"OTEL_TRACES_EXPORTER": "zipkin"}, "1") is None

    assert log.messages == ["there are no traces: OTEL_TRACES_EXPORTER: only otlp and none are served"]


def test_where_no_traces_are_wanted_nothing_of_opentelemetry_is_imported() -> None:
    said, _ = run(
        "import sys; from mcp_gateway import app, boot, toolservice; from mcp_gateway.observe import tracing; "
        "assert tracing.tracer({}, '1') is None; print(sorted(m for m in sys.modules if 'opentelemetry' in m))"
    )

    assert said == "[]"


# --- what spans say --------------------------------------------------------------------------------------------------


def seen(**fields: object) -> Interaction:
    return Interaction("core", "g-1", "r-1", **fields)


@pytest.mark.parametrize(
    ("method", "tool", "name"),
    [
        ("tools/call", "core.search", "tools/call core.search"),
        ("ping", None, "ping"),
        (None, None, "unknown"),
    ],
)
def test_a_span_is_named_by_method_and_tool(method: str | None, tool: str | None, name: str) -> None:
    assert exchange_name(seen(method=method, tool=tool)) == name


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (None, None),
        (b"null", None),
        (b"7", "7"),
        (b"0", "0"),
        (b'"a-7"', "a-7"),
        (b'""', ""),
        ('"휴가"'.encode(), "휴가"),
        (rb'"\ud55c\n"', "한\n"),
        (b'"' + b"x" * LONGEST_ID + b'"', None),
    ],
)
def test_a_request_id_is_shown_as_a_string_unless_it_is_none_or_very_long(
    text: bytes | None, shown: str | None
) -> None:
    attributes = exchange_attributes(seen(rpc_id=None if text is None else Fragment(text)))

    assert attributes.get("jsonrpc.request.id") == shown


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({}, None),
        ({"outcome": "accepted", "reason": "bad_caller_header"}, None),
        ({"outcome": "tool_error", "reason": "budget"}, "tool_error"),
        ({"outcome": "refused", "reason": "busy", "code": -32603}, "-32603"),
        ({"outcome": "refused", "reason": "payload_too_large"}, "payload_too_large"),
        ({"outcome": "fault", "reason": "internal", "code": -32603}, "-32603"),
    ],
)
def test_an_exchange_failed_in_one_word(fields: dict[str, object], error: str | None) -> None:
    assert exchange_error(seen(**fields)) == error


def test_a_span_says_nothing_of_what_is_not_known() -> None:
    assert exchange_attributes(seen(status=415, trace=Trace(baggage="a=b"))) == {
        "mcp.method.name": "unknown",
        "http.response.status_code": 415,
        "network.transport": "tcp",
        "network.protocol.name": "http",
        "mcp_gateway.route": "core",
        "mcp_gateway.guid": "g-1",
        "mcp_gateway.request_id": "r-1",
    }
