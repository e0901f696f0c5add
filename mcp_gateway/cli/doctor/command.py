"""The command itself: what it is given, what it prints, and the exit status."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import closing

from ... import jsontext
from ...config.model import Config, Route, ToolService
from .. import argument, target
from .. import options as shared
from ..diagnosis import Culprit, Diagnosis, Layer
from ..terminal import Failed, Style, one_line
from . import report
from .call import Asked
from .report import Mark, Step, faulty
from .walk import Walk

EXAMPLES = """
examples:
  mcp-gateway doctor core                          every Tool Service of the route, as far as its manifest
  mcp-gateway doctor core core.search              one tool: its schema and the request that would be sent
  mcp-gateway doctor core core.search --json '{"query": "deadline"}' --send
"""


def add(commands: shared.Commands) -> None:
    """Add the command."""
    command: argparse.ArgumentParser = commands.add_parser(
        "doctor",
        help="walk one call step by step, and say where it fails and whose fault that is",
        description="Walk one call from here to the Tool Service, step by step: configuration, name look-up, connect, "
        "TLS, manifest, schema, the exact request, and with --send the answer. Says at which step it fails, whose "
        "fault that is, and what to do. It needs no running gateway, and calls no tool without --send. Exit status 0: "
        "no fault, 1: a fault was found, 2: used wrongly.",
        epilog=EXAMPLES,
        formatter_class=shared.Help,
    )
    command.add_argument("route", metavar="ROUTE", help="key of the route, or its public path")
    command.add_argument("tool", metavar="TOOL", nargs="?", type=shared.name, help="name of the tool (default: none)")
    argument.add(command, "default: examples of the required arguments")
    command.add_argument("--send", action="store_true", help="make the call, and show the answer to it")
    command.add_argument(
        "--service", metavar="NAME", help="look at this Tool Service alone; with TOOL: the one that is to be called"
    )
    shared.add_config(command)
    shared.add_caller(command)
    command.add_argument(
        "--output", choices=("text", "json"), default="text", help="text for people (default), or JSON"
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """
    Walk, and say what was found.

    Raises:

        Failed: The command was used wrongly.
    """
    if options.tool is None and (options.send or options.json is not None):
        raise Failed("--send and --json are about a tool: name one behind the route", status=2)
    steps: list[Step] = []
    style = Style.of_output()
    shown = _printed(style) if options.output == "text" else _kept
    for step in _steps(options):
        steps.append(step)
        shown(step)
    if options.output == "json":
        about = {"route": options.route, "tool": options.tool, "sent": options.send}
        print(jsontext.encode(report.document(steps, about)).decode("utf-8"))
    else:
        print()
        for line in report.verdict(steps, style, sent=options.send):
            print(line)
    return 0 if report.fault(steps) is None else 1


def _kept(_: Step) -> None:
    """Print nothing: it all comes at the end."""


def _printed(style: Style) -> Callable[[Step], None]:
    """Return what prints each step as it is taken, under a heading for each subject."""
    heading = ""

    def show(step: Step) -> None:
        nonlocal heading
        if step.subject != heading:
            heading = step.subject
            print(f"\n{style.of(Style.STRONG, one_line(heading))}")
        for line in report.lines(step, style):
            print(line.rstrip(), flush=True)

    return show


def _steps(options: argparse.Namespace) -> Iterator[Step]:
    arguments = None if options.json is None else argument.read(options.json)
    try:
        config = shared.read_config(options)
        routes = target.configured(config)
    except Failed as failed:
        finding, *details = str(failed).splitlines()[::-1]
        advice = "Mend it: docs/contracts/configuration.md explains every key. 'mcp-gateway check' checks it again."
        yield faulty(Diagnosis(Layer.CONFIGURATION, Culprit.CONFIGURATION, finding, advice), details[::-1])
        return
    route = target.named(options.route, routes)
    services = _services(route, options.service)
    configured = _configured(options, config, route)
    yield configured
    if configured.mark is Mark.FAULT:
        return
    version = options.protocol or target.preferred(route.protocol_versions)
    if options.tool is not None:
        services = list(route.tool_services)  # whose a tool is depends on all of them
    with closing(Walk(config, route, services, tool=options.tool)) as walk:
        if options.tool is None:
            for service in services:
                yield from walk.service(service.name)
            yield from walk.assemble()
            return
        headers = {header.name: header.value for header in options.header}
        asked = Asked(options.tool, arguments, version, headers)
        yield from _call(walk, services, asked, wanted=options.service, send=options.send)


def _call(walk: Walk, services: list[ToolService], asked: Asked, *, wanted: str | None, send: bool) -> Iterator[Step]:
    """Yield the steps to the service of the tool (*wanted*: which that should be), and of others what matters."""
    if len(services) == 1:
        yield from walk.service(services[0].name)
        yield from walk.assemble()
    else:
        ways = {service.name: list(walk.service(service.name)) for service in services}
        assembled = list(walk.assemble())
        owner = walk.owner(asked.tool)
        for name, way in ways.items():
            yield from way if owner in (name, None) else map(_aside, filter(_is_bad, way))
        yield from assembled if owner is None else map(_aside, assembled)
        if None not in (wanted, owner) and owner != wanted:
            finding = f"a call of {asked.tool} goes to Tool Service {owner}, and never to {wanted}"
            bad = Diagnosis(Layer.MANIFEST, Culprit.CALLER, finding, f"Name {owner}, or leave --service out.")
            yield faulty(bad, subject=f"Tool {asked.tool}")
            return
    yield from walk.call(asked, send=send)


def _is_bad(step: Step) -> bool:
    return step.mark is Mark.FAULT


def _aside(step: Step) -> Step:
    """Return a fault that another tool's calls may meet as what it is to this one: worth a warning."""
    return Step(step.layer, Mark.WARNING, step.finding, (), step.subject, step.service, step.diagnosis, step.data)


def _services(route: Route, name: str | None) -> list[ToolService]:
    found = [service for service in route.tool_services if name in (None, service.name)]
    if not found:
        known = ", ".join(service.name for service in route.tool_services)
        raise Failed(f"route {route.key} has no Tool Service {name!r}; there are: {known}", status=2)
    return found


def _configured(options: argparse.Namespace, config: Config, route: Route) -> Step:
    asked = options.protocol
    if asked is not None and asked not in route.protocol_versions:
        finding = f"route {route.key} does not serve {asked}; it serves {', '.join(route.protocol_versions)}"
        advice = "Speak a version that it serves, or add this one to its protocol_versions."
        return faulty(Diagnosis(Layer.CONFIGURATION, Culprit.CALLER, finding, advice))
    finding = f"{shared.config_path(options)} (profile {config.profile}): route {route.key} at {route.public_path}"
    return Step(Layer.CONFIGURATION, Mark.OK, finding)
