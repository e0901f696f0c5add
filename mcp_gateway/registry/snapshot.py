"""The picture of a route's tools that every request reads: immutable, swapped whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal

from ..jsontext import Fragment
from ..schema import Schema


@dataclass(frozen=True, slots=True)
class MirroredHeader:
    """An ``x-mcp-header`` mark: argument *path* is mirrored into ``Mcp-Param-{name}`` (MCP-WIRE B5)."""

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

        warnings: What is legal and harmful about it, one sentence each (shown by ``check`` and ``/readyz``).
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


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A tool that is not served, and why. ``place`` is its place in the manifest, e.g. ``tools[3].inputSchema.type``."""

    tool: str
    place: str
    reason: str


class ServiceState(StrEnum):
    """How a Tool Service's part of a snapshot came about."""

    LOADED = "loaded"
    STALE = "stale"  # the last good manifest is kept: the newest load failed
    FALLBACK = "fallback"  # the local fallback manifest stands in
    FAILED = "failed"  # nothing of it is served


@dataclass(frozen=True, slots=True)
class ServiceReport:
    """What ``/readyz`` and ``check`` say of one Tool Service. ``error``: why the newest load failed, or ``None``."""

    name: str
    state: ServiceState
    tools: int
    left_out: tuple[LeftOut, ...] = ()
    error: str | None = None
    loaded_at: datetime | None = None


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {tool.name: tool for tool in self.tools})

    def find(self, name: str) -> Tool | None:
        """Return the tool of that exact name, or ``None``."""
        return self.by_name.get(name)
