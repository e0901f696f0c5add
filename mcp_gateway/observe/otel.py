"""
The tracer that OpenTelemetry makes: ids, sampling, batches and the way to the collector are its own.

The only file that imports it, and itself only imported where traces are wanted. There is one provider for each worker,
made after the fork: the thread that sends spans would not survive one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import replace

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanContext, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from ..caller import Trace
from .interaction import Interaction
from .tracing import (
    CallSpan,
    Outgoing,
    Tracer,
    call_attributes,
    exchange_attributes,
    exchange_error,
    exchange_name,
)

FLUSH_S = 3.0
"""How long a worker that ends waits for the collector; what it has not taken by then is lost."""

_W3C = TraceContextTextMapPropagator()


def provider(version: str) -> TracerProvider:
    """Return what the process's ``OTEL_…`` variables ask for, which OpenTelemetry reads itself."""
    named = OTELResourceDetector().detect()
    own = Resource({SERVICE_NAME: "mcp-gateway", SERVICE_VERSION: version})
    made = TracerProvider(resource=Resource.create().merge(own).merge(named), shutdown_on_exit=False)
    made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return made


class OpenTelemetryTracer(Tracer):
    """
    Makes spans.

    Args:

        made_by: Samples spans and takes them.

        version: The gateway's own.
    """

    def __init__(self, made_by: TracerProvider, version: str) -> None:
        self._provider = made_by
        self._tracer = made_by.get_tracer("mcp_gateway", version)

    def begin(self, seen: Interaction) -> None:
        """Begin the span of an exchange, at the moment when that began; its end brings most of what it says."""
        seen.span = span = self._tracer.start_span(
            exchange_name(seen),
            _parent(seen.trace.traceparent, seen.trace.tracestate),
            SpanKind.SERVER,
            {"mcp.method.name": exchange_name(seen)},
            start_time=time.time_ns() - int((time.monotonic() - seen.started) * 1e9),
        )
        seen.trace = _within(seen.trace, span.get_span_context())

    def end(self, seen: Interaction) -> None:
        """Close the span of an exchange."""
        span = seen.span
        if isinstance(span, Span) and span.is_recording():
            span.update_name(exchange_name(seen))
            span.set_attributes(exchange_attributes(seen))
            _close(span, exchange_error(seen), seen.reason)

    def call(self, outgoing: Outgoing, headers: Mapping[str, str]) -> CallSpan:
        """Begin the span of a call."""
        span = self._tracer.start_span(
            f"POST {outgoing.path}",
            _parent(headers.get("traceparent"), headers.get("tracestate")),
            SpanKind.CLIENT,
            call_attributes(outgoing),
        )
        return _Call(span, {**headers, "traceparent": _traceparent(span.get_span_context())})

    def close(self) -> None:
        """Send what has not been sent, and wait for that ``FLUSH_S`` at most: OpenTelemetry would wait for longer."""
        sending = threading.Thread(target=self._provider.shutdown, name="traces-end", daemon=True)
        sending.start()
        sending.join(FLUSH_S)


class _Call(CallSpan):
    def __init__(self, span: Span, headers: Mapping[str, str]) -> None:
        self._span = span
        self._headers = headers

    @property
    def headers(self) -> Mapping[str, str]:
        return self._headers

    def end(self, status: int | None, error: str | None) -> None:
        if status is not None:
            self._span.set_attribute("http.response.status_code", status)
        _close(self._span, error, error)


def _close(span: Span, error: str | None, why: str | None) -> None:
    if error is not None:
        span.set_attribute("error.type", error)
        span.set_status(Status(StatusCode.ERROR, why))
    span.end()


def _parent(traceparent: str | None, tracestate: str | None) -> Context:
    """Return the context of a span that is to be the next one's parent, and never that of the running thread."""
    named = {"traceparent": traceparent, "tracestate": tracestate}
    return _W3C.extract({name: value for name, value in named.items() if value is not None}, Context())


def _within(trace: Trace, own: SpanContext) -> Trace:
    """Return the trace context within a span; state and baggage pass through as they came."""
    return replace(trace, traceparent=_traceparent(own))


def _traceparent(own: SpanContext) -> str:
    return f"00-{own.trace_id:032x}-{own.span_id:016x}-{own.trace_flags:02x}"
