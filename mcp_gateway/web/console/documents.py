"""What the pages read: one JSON document for all routes, and one for a tool (pure: no I/O, no clock)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from ... import jsontext
from ...client import examples
from ...config import model
from ...registry.snapshot import Snapshot, Tool
from ..health import Health, report

LISTED = ("title", "description", "annotations")


def overview(
    health: Health, routes: Iterable[model.Route], *, draining: bool, now: datetime, may_call: bool
) -> dict[str, Any]:
    """
    Return what ``/readyz`` says, and of each route how it is served and what its tools are.

    Args:

        draining: Whether the server has been told to stop.

        now: The clock by which the page tells ages.

        may_call: Whether the page's own origin may call the routes.
    """
    served = {route.key: route for route in routes}
    snapshots = {status.route: status.snapshot for status in health.routes}
    document = report(health)
    if draining:
        document["status"] = "draining"
    # A portal may have taken a route away, or brought one, between the two.
    document["routes"] = [
        {**each, **_route(served[each["route"]], snapshots[each["route"]])}
        for each in document["routes"]
        if each["route"] in served
    ]
    return {**document, "now": now.isoformat(timespec="milliseconds"), "mayCall": may_call}


def _route(route: model.Route, snapshot: Snapshot | None) -> dict[str, Any]:
    return {
        "title": route.title,
        "publicPath": route.public_path,
        "versions": route.protocol_versions,
        "tools": [_listed(tool) for tool in snapshot.tools] if snapshot else [],
    }


def _listed(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "toolService": tool.service, **_shown(tool, LISTED)}


def tool_document(route: model.Route, tool: Tool, warnings: Iterable[str], *, may_call: bool) -> dict[str, Any]:
    """Return all that a page shows of one tool, with arguments to begin with; *may_call* as for ``overview``."""
    service = next((each for each in route.tool_services if each.name == tool.service), None)
    budget_s = tool.timeout_s or (service.timeout_s if service else None)
    return {
        "route": route.key,
        "publicPath": route.public_path,
        "versions": route.protocol_versions,
        "toolService": tool.service,
        "place": tool.place,
        "endpoint": tool.endpoint,
        "budgetS": budget_s,
        "resultFormat": tool.result_format,
        "mirrored": [{"header": f"Mcp-Param-{each.name}", "path": each.path} for each in tool.mirrored],
        "warnings": list(warnings),
        "mayCall": may_call,
        "example": examples.arguments(input_schema(tool), tool.input_schema.fits),
        **tool.shown,
    }


def input_schema(tool: Tool) -> Any:
    """Return a tool's ``inputSchema`` as a value to look at."""
    return jsontext.parse(bytes(tool.shown["inputSchema"]), unique=False)


def _shown(tool: Tool, names: Iterable[str]) -> Mapping[str, Any]:
    return {name: tool.shown[name] for name in names if name in tool.shown}
