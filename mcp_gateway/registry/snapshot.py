"""
The picture of a route's tools that every request reads: immutable, swapped whole (pure: no I/O, no clock).

``assemble`` puts it together from what each Tool Service of the route contributes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal

from ..jsontext import Fragment, encode
from ..schema import Schema


@dataclass(frozen=True, slots=True)
class MirroredHeader:
    """An ``x-mcp-header`` mark: the argument at *path* is mirrored into the header ``Mcp-Param-{name}``."""

    name: str
    path: tuple[str, ...]
    type: Literal["string", "integer", "boolean"]


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """
    One tool as its manifest declares it, checked and ready to call.

    Args:

        name: Unique in the route, never rewritten.

        service: Name of the Tool Service that runs it.

        endpoint: Path and query below the service's base URL; starts with ``/``.

        shown: What callers may see of it (``name``, ``title``, ``description``, ``inputSchema``, ``outputSchema``,
            ``annotations``, ``icons``, ``_meta`` with ``version``), each as the JSON text of the manifest, in this
            order, absent fields left out.

        input_schema: Checks the arguments of a call.

        output_schema: Checks its structured answer; ``None`` when the manifest declares none.

        output_is_object: The root of ``outputSchema`` says ``type: object``.

        timeout_s: The tool's own budget in seconds; ``None``: the service's.

        result_format: ``mcp``: the answer is a whole MCP ``content`` list; ``None``: it is read by its media type.

        mirrored: Its ``x-mcp-header`` marks.

        warnings: What is legal and harmful about it on every route, one sentence each; ``protocol.eras.warnings`` adds
            what depends on the route.

        place: Its place in the manifest, e.g. ``tools[3]``.
    """

    name: str
    service: str
    endpoint: str
    shown: Mapping[str, Fragment]
    input_schema: Schema
    output_schema: Schema | None = None
    output_is_object: bool = False
    timeout_s: float | None = None
    result_format: Literal["mcp"] | None = None
    mirrored: tuple[MirroredHeader, ...] = ()
    warnings: tuple[str, ...] = ()
    place: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """
    A tool that is not served, and why.

    Args:

        place: Where in the manifest, e.g. ``tools[3].inputSchema.type``.

        reason: Why; of several faults all, the others with their places.

        faults: Place and reason of each when there are several.
    """

    tool: str
    place: str
    reason: str
    faults: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """
    What one Tool Service publishes, read and checked.

    Args:

        name: Who it says it is, if it does; so is *version*.

        says_json: Whether it came declared as JSON.
    """

    name: str | None
    version: str | None
    tools: tuple[Tool, ...]
    left_out: tuple[LeftOut, ...] = ()
    says_json: bool = True


class ServiceState(StrEnum):
    """How a Tool Service's part of a snapshot came about."""

    LOADED = "loaded"
    STALE = "stale"  # the last good manifest is kept: the newest load failed
    FALLBACK = "fallback"  # the local fallback manifest stands in
    FAILED = "failed"  # nothing of it is served


@dataclass(frozen=True, slots=True)
class ServiceReport:
    """
    What ``/readyz`` and ``check`` say of one Tool Service.

    Args:

        tools: How many of its tools are served.

        error: Why the newest load failed, or ``None``.

        declared: How many tools without a fault its manifest has, served or not.

        says_json: Whether its manifest came declared as JSON; it is taken either way.
    """

    name: str
    state: ServiceState
    tools: int
    left_out: tuple[LeftOut, ...] = ()
    error: str | None = None
    loaded_at: datetime | None = None
    declared: int = 0
    says_json: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """
    The tools of one route at one moment.

    Args:

        route: The route's key.

        tools: In the order of the services and of their manifests.

        digest: sha256 (hex) over all that callers and calls can see of the tools; the same tools give the same digest
            in every worker and instance.

        loaded_at: When it was put together (UTC).

        services: One report for each Tool Service of the route, in configuration order.
    """

    route: str
    tools: tuple[Tool, ...]
    digest: str
    loaded_at: datetime
    services: tuple[ServiceReport, ...]
    by_name: Mapping[str, Tool] = field(init=False, repr=False)
    renderings: dict[str, Fragment] = field(init=False, repr=False, default_factory=dict)
    """The list of tools as each protocol revision shows it, kept here so that it lives as long as the snapshot."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {tool.name: tool for tool in self.tools})

    def find(self, name: str) -> Tool | None:
        """Return the tool of that exact name, or ``None``."""
        return self.by_name.get(name)


@dataclass(frozen=True, slots=True)
class Part:
    """What one Tool Service contributes to its route; ``manifest`` ``None``: nothing."""

    service: str
    state: ServiceState
    manifest: Manifest | None = None
    error: str | None = None
    loaded_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RouteStatus:
    """
    What is known of one route: what it serves, and how loading goes.

    Args:

        route: The route's key.

        snapshot: What requests get; ``None``: nothing yet.

        services: One report for each Tool Service as of now; newer than the snapshot's when a load has failed since.

        error: Why the route as a whole could not be renewed, or ``None``.

        failures: Loads that have failed since the start.
    """

    route: str
    snapshot: Snapshot | None
    services: tuple[ServiceReport, ...]
    error: str | None = None
    failures: int = 0


class TooManyTools(Exception):
    """Raised when the Tool Services of a route have more tools together than a route may have."""

    def __init__(self, count: int, limit: int) -> None:
        super().__init__(f"its Tool Services have {count} tools together, and a route may have {limit}")
        self.count = count
        self.limit = limit


def assemble(route: str, parts: Sequence[Part], *, max_tools: int, now: datetime) -> Snapshot:
    """
    Put the snapshot of a route together; of two tools of one name the one of the earlier service is served.

    Args:

        route: The route's key.

        parts: One for each Tool Service, in configuration order.

        now: The moment that the snapshot is dated with.

    Raises:

        TooManyTools: More than *max_tools* would be served.
    """
    owner: dict[str, str] = {}
    tools: list[Tool] = []
    reports: list[ServiceReport] = []
    for part in parts:
        declared = part.manifest.tools if part.manifest else ()
        served = [tool for tool in declared if tool.name not in owner]
        clashes = tuple(
            LeftOut(tool.name, f"{tool.place}.name", f"Tool Service '{owner[tool.name]}' of this route already has it")
            for tool in declared
            if tool.name in owner
        )
        owner |= {tool.name: part.service for tool in served}
        tools += served
        reports.append(report(part, served=len(served), clashes=clashes))
    if len(tools) > max_tools:
        raise TooManyTools(len(tools), max_tools)
    return Snapshot(route=route, tools=tuple(tools), digest=_digest(tools), loaded_at=now, services=tuple(reports))


def report(part: Part, *, served: int = 0, clashes: tuple[LeftOut, ...] = ()) -> ServiceReport:
    """Return what is said of a Tool Service of whose tools *served* are served and *clashes* are not."""
    left_out = part.manifest.left_out if part.manifest else ()
    return ServiceReport(
        name=part.service,
        state=part.state,
        tools=served,
        left_out=left_out + clashes,
        error=part.error,
        loaded_at=part.loaded_at,
        declared=len(part.manifest.tools) if part.manifest else 0,
        says_json=part.manifest is None or part.manifest.says_json,
    )


def _digest(tools: Sequence[Tool]) -> str:
    digest = hashlib.sha256()
    for tool in tools:
        digest.update(encode([tool.service, tool.endpoint, tool.timeout_s, tool.result_format, tool.shown]) + b"\n")
    return digest.hexdigest()
