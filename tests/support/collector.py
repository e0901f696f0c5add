"""
An OpenTelemetry collector: takes spans over OTLP/HTTP on a loopback port and holds them for a test to look at.

::

    with Collector() as collector:
        ...
        (span,) = collector.wait_for_spans(1)
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span as Sent
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from .waiting import wait_until


@dataclass(frozen=True, slots=True)
class Span:
    """One span as it came; ids in hexadecimal, times in nanoseconds, *parent* empty for a root."""

    name: str
    kind: str
    trace_id: str
    span_id: str
    parent: str
    attributes: Mapping[str, Any]
    failed: bool
    started: int
    ended: int
    resource: Mapping[str, Any]

    @property
    def traceparent(self) -> str:
        """Return what a child gets to know of it."""
        return f"00-{self.trace_id}-{self.span_id}-"


class Collector:
    """The collector; ``bodies`` holds every request as it came, in bytes."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.bodies: list[bytes] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), name="collector")

    def __enter__(self) -> Collector:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    @property
    def environ(self) -> dict[str, str | None]:
        """Return the variables with which a gateway sends its spans here, soon; past the proxy that tests set."""
        return {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{self._server.server_port}",
            "OTEL_BSP_SCHEDULE_DELAY": "50",
            "NO_PROXY": "127.0.0.1",
        }

    def wait_for_spans(self, count: int) -> list[Span]:
        """Wait for so many spans, the earliest first."""
        wait_until(lambda: len(self.spans) >= count, f"{count} spans")
        return sorted(self.spans, key=lambda span: span.started)

    def take(self, body: bytes) -> None:
        """Take one request."""
        self.bodies.append(body)
        message = ExportTraceServiceRequest.FromString(body)
        for part in message.resource_spans:
            resource = _attributes(part.resource.attributes)
            for scope in part.scope_spans:
                self.spans += [_span(each, resource) for each in scope.spans]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                assert self.path == "/v1/traces"
                collector.take(self.rfile.read(int(self.headers["Content-Length"])))
                answer = ExportTraceServiceResponse().SerializeToString()
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                """Keep the test's output free of access logs."""

        return Handler


def _span(sent: Sent, resource: Mapping[str, Any]) -> Span:
    return Span(
        sent.name,
        Sent.SpanKind.Name(sent.kind).removeprefix("SPAN_KIND_").lower(),
        sent.trace_id.hex(),
        sent.span_id.hex(),
        sent.parent_span_id.hex(),
        _attributes(sent.attributes),
        sent.status.code == Status.STATUS_CODE_ERROR,
        sent.start_time_unix_nano,
        sent.end_time_unix_nano,
        resource,
    )


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}
