"""``mcp-gateway check``: is the configuration right, and, if asked, are the manifests."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping

from .. import boot
from ..config.model import Config, Route
from ..protocol import eras
from ..registry.loader import Loader
from ..registry.snapshot import RouteStatus, ServiceReport, Tool
from ..registry.snapshots import Snapshots
from ..registry.source import SourceFault
from . import explained
from . import options as shared
from .target import USER_AGENT
from .terminal import Failed, one_line

EXAMPLES = """
examples:
  mcp-gateway check
  mcp-gateway check --config config/production.yaml --fetch
"""


def add(commands: shared.Commands) -> None:
    """Add the command."""
    command: argparse.ArgumentParser = commands.add_parser(
        "check",
        help="check the configuration, and the manifests too with --fetch",
        description="Check the configuration: every fault is a line on standard error. With --fetch, load every "
        "manifest once too. Exit status 1 when there is a fault, a Tool Service does not load, or a tool is left out; "
        "warnings alone are no fault.",
        epilog=EXAMPLES,
        formatter_class=shared.Help,
    )
    shared.add_config(command)
    command.add_argument("--fetch", action="store_true", help="load every manifest once, and say what is served")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """
    Check and say what was found.

    Raises:

        Failed: The configuration is faulty, or a portal does not say what the routes are.
    """
    config = shared.read_config(options)
    print(f"{shared.config_path(options)}: no faults (profile {config.profile})")
    for warning in boot.warnings(os.environ, config):
        print(f"warning: {warning}")
    if options.fetch:
        return _fetch(config)
    for route in config.routes:
        print(_summary(route))
    if config.registry.source == "portal":
        print("the routes come from the portal; --fetch asks it")
    return 0


def _summary(route: Route) -> str:
    services = ", ".join(f"{service.name} ({service.base_url})" for service in route.tool_services)
    return one_line(f"route {route.key}: {route.public_path}, MCP {', '.join(route.protocol_versions)}: {services}")


def _fetch(config: Config) -> int:
    routes: dict[str, Route] = {}
    loader = Loader(
        config,
        versions=eras.VERSIONS,
        snapshots=Snapshots(),
        user_agent=USER_AGENT,
        on_routes=lambda loaded: routes.update({route.key: route for route in loaded}),
    )
    try:
        statuses = loader.load_once()
    except SourceFault as fault:
        raise Failed(f"registry.source {config.registry.source}: {fault}") from None
    for line in _report(statuses, routes):
        print(one_line(line))
    return 0 if all(map(_is_whole, statuses)) else 1


def _is_whole(status: RouteStatus) -> bool:
    return status.error is None and not any(report.error or report.left_out for report in status.services)


def _report(statuses: tuple[RouteStatus, ...], routes: Mapping[str, Route]) -> Iterator[str]:
    for status in statuses:
        yield _summary(routes[status.route])
        if status.error:
            yield f"  FAULT: {status.error}"
        tools = status.snapshot.tools if status.snapshot else ()
        for report in status.services:
            mine = [tool for tool in tools if tool.service == report.name]
            # With a fault of the route nothing is served, which would say nothing of the services.
            count = report.declared if status.error else len(mine)
            yield from _of_service(report, count, mine, routes[status.route])


def _of_service(report: ServiceReport, count: int, tools: list[Tool], route: Route) -> Iterator[str]:
    yield f"  Tool Service {report.name}: {report.state}, {count} tool{'' if count == 1 else 's'}"
    if report.error:
        yield f"    FAULT: {report.error}"
        yield f"      'mcp-gateway doctor {route.key}' says at which step, and whose fault that is"
    if not report.says_json:
        yield "    warning: the manifest does not say that it is JSON"
        yield "      mend: answer it with Content-Type: application/json"
    for tool in tools:
        yield f"    {tool.name}"
    for left in report.left_out:
        yield from (f"    {line}" for line in explained.left_out(left))
    for tool in tools:
        yield from (f"    {line}" for line in explained.warnings(tool.name, eras.warnings(tool, route)))
