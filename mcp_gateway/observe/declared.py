"""
Every metric that there is, declared before it can be used; ``docs/contracts/metrics.md`` shows this table.

Names and attributes are those of the OpenTelemetry semantic conventions for MCP, as Prometheus spells them, where they
have one (``mcp.server.operation.duration``); what they know nothing of begins with ``mcp_gateway_``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class Kind(StrEnum):
    """What a metric is to Prometheus."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Declared:
    """
    One metric.

    Args:

        name: As Prometheus shows it.

        help: What it says, in one sentence.

        labels: The names of its labels. The values of each are bounded by what is configured and what manifests
            declare, or are words of a closed list; what callers make up is none of them.

        buckets: The upper bounds of a histogram, in seconds.

        over_workers: How a gauge is made of those of all live workers; counters and histograms are summed.
    """

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    over_workers: Literal["livesum", "livemin", "livemax"] = "livesum"

    @property
    def family(self) -> str:
        """Its name without the ending that every counter has."""
        return self.name.removesuffix("_total")


CALL_BUCKETS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
"""Those of the conventions for MCP; the last one is the longest time that a call may take."""

QUEUE_BUCKETS = (0.001, 0.01, 0.1, 0.5, 1, 5, 30)

OPERATION = Declared(
    "mcp_server_operation_duration_seconds",
    Kind.HISTOGRAM,
    "How long a message took, from when it had arrived until its answer was ready.",
    ("route", "mcp_method_name", "mcp_protocol_version", "gen_ai_tool_name", "error_type", "reason"),
    CALL_BUCKETS,
)
TOOL_SERVICE_DURATION = Declared(
    "mcp_gateway_tool_service_request_duration_seconds",
    Kind.HISTOGRAM,
    "How long a call of a Tool Service took, from connecting to the last byte of its answer.",
    ("route", "tool_service", "error_type"),
    CALL_BUCKETS,
)
QUEUE_DURATION = Declared(
    "mcp_gateway_queue_duration_seconds",
    Kind.HISTOGRAM,
    "How long a request had waited for a thread when it was begun.",
    buckets=QUEUE_BUCKETS,
)
IN_FLIGHT = Declared(
    "mcp_gateway_tool_service_in_flight",
    Kind.GAUGE,
    "Calls of a Tool Service that are under way.",
    ("route", "tool_service"),
)
MAX_IN_FLIGHT = Declared(
    "mcp_gateway_tool_service_max_in_flight",
    Kind.GAUGE,
    "Calls of a Tool Service that may be under way: max_in_flight of all workers together.",
    ("route", "tool_service"),
)
BUSY = Declared(
    "mcp_gateway_tool_service_refused_total",
    Kind.COUNTER,
    "Calls that were refused at once, as max_in_flight of the Tool Service was reached in their worker.",
    ("route", "tool_service"),
)
TURNED_AWAY = Declared(
    "mcp_gateway_http_refused_total",
    Kind.COUNTER,
    "Requests that were refused as HTTP, before a message was looked for in them, by the status of the answer.",
    ("http_response_status_code",),
)
ROUTE_TOOLS = Declared(
    "mcp_gateway_route_tools",
    Kind.GAUGE,
    "Tools that a route offers; of workers that differ, the fewest.",
    ("route",),
    over_workers="livemin",
)
SNAPSHOT_TIME = Declared(
    "mcp_gateway_snapshot_timestamp_seconds",
    Kind.GAUGE,
    "When the tools of a route were last put together, as Unix time; of workers that differ, the earliest. 0: never.",
    ("route",),
    over_workers="livemin",
)
MANIFEST_WORKERS = Declared(
    "mcp_gateway_manifest_workers",
    Kind.GAUGE,
    "Workers that have a manifest in this state: loaded, stale (the last good one is kept), fallback or failed.",
    ("route", "tool_service", "state"),
)
LEFT_OUT = Declared(
    "mcp_gateway_tools_left_out",
    Kind.GAUGE,
    "Tools of a manifest that are not served; of workers that differ, the most. /readyz names each with its reason.",
    ("route", "tool_service"),
    over_workers="livemax",
)
LOAD_FAILURES = Declared(
    "mcp_gateway_manifest_load_failures_total",
    Kind.COUNTER,
    "Loads of a route's manifests that failed, in all workers together.",
    ("route",),
)
REGISTRY_ERROR = Declared(
    "mcp_gateway_registry_error",
    Kind.GAUGE,
    "1: in some worker the portal could not say the routes when it was last asked, and the last known ones go on.",
    over_workers="livemax",
)
CONFIGURATION_FAULTS = Declared(
    "mcp_gateway_configuration_faults",
    Kind.GAUGE,
    "Faults of the newest configuration, which was therefore not taken; 0: it was.",
    over_workers="livemax",
)
WORKERS = Declared("mcp_gateway_workers", Kind.GAUGE, "Worker processes that serve.")
WORKER_STARTS = Declared(
    "mcp_gateway_worker_starts_total", Kind.COUNTER, "Workers that have started: first ones, reloads and replacements."
)
BUILD = Declared(
    "mcp_gateway_build_info", Kind.GAUGE, "1, for the version that runs.", ("version",), over_workers="livemax"
)

ALL: tuple[Declared, ...] = (
    OPERATION,
    TOOL_SERVICE_DURATION,
    QUEUE_DURATION,
    IN_FLIGHT,
    MAX_IN_FLIGHT,
    BUSY,
    TURNED_AWAY,
    ROUTE_TOOLS,
    SNAPSHOT_TIME,
    MANIFEST_WORKERS,
    LEFT_OUT,
    LOAD_FAILURES,
    REGISTRY_ERROR,
    CONFIGURATION_FAULTS,
    WORKERS,
    WORKER_STARTS,
    BUILD,
)
"""In the order in which the page and ``/metrics`` show them."""

BY_FAMILY = {metric.family: metric for metric in ALL}

_OVER_WORKERS = {"livesum": "sum", "livemin": "smallest", "livemax": "largest"}


def table() -> Iterator[str]:
    """Yield the lines of the table in ``docs/contracts/metrics.md``."""
    yield "| metric | kind | labels | over the workers | what it says |"
    yield "| --- | --- | --- | --- | --- |"
    for metric in ALL:
        labels = ", ".join(f"`{label}`" for label in metric.labels) or "none"
        over = _OVER_WORKERS[metric.over_workers]
        yield f"| `{metric.name}` | {metric.kind} | {labels} | {over} | {metric.help} |"
