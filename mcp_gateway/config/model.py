"""The configuration as frozen values, with the defaults of keys that are left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Profile = Literal["local", "production"]
CacheScope = Literal["private", "public"]
ConsoleAuthentication = Literal["token", "none"]


@dataclass(frozen=True, slots=True)
class Server:
    """Who the gateway says it is, and whom it answers. ``version`` ``None``: the package's own."""

    name: str = "mcp-gateway"
    title: str = "MCP Gateway"
    version: str | None = None
    instructions: str | None = None
    allowed_origins: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """What a request and an answer may cost. Sizes in bytes, times in seconds."""

    max_request_bytes: int = 4_194_304
    max_response_bytes: int = 33_554_432
    interaction_timeout_s: float = 300.0
    max_tools_per_route: int = 50


@dataclass(frozen=True, slots=True)
class Portal:
    """Where the portal registry is. ``token`` is a secret: never logged, never shown (hence no repr)."""

    base_url: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Registry:
    """Where tools come from and how often they are asked for; times in seconds, interval 0: on worker boot only."""

    source: str = "config"
    load_timeout_s: float = 5.0
    refresh_interval_s: float = 0.0
    portal: Portal | None = None


@dataclass(frozen=True, slots=True)
class ToolService:
    """An HTTP service that publishes a manifest and runs tools. ``headers`` may hold secrets (hence no repr)."""

    name: str
    base_url: str
    manifest_path: str = "/manifest"
    timeout_s: float = 60.0
    connect_timeout_s: float = 3.0
    max_in_flight: int = 16
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    ca_bundle: Path | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """One public path and everything behind it. ``protocol_versions`` newest first."""

    key: str
    public_path: str
    tool_services: tuple[ToolService, ...]
    protocol_versions: tuple[str, ...]
    name: str | None = None
    title: str | None = None
    version: str | None = None
    instructions: str | None = None
    list_ttl_s: float = 60.0
    cache_scope: CacheScope = "private"
    structured_output: bool = True
    fallback_manifest: Path | None = None


@dataclass(frozen=True, slots=True)
class Console:
    """
    Whether there is a console, and who may look. ``token`` is a secret: never logged, never shown (hence no repr).

    ``enabled`` ``None``: in profile local alone. ``token`` ``None``: everybody may look.
    """

    enabled: bool | None = None
    authentication: ConsoleAuthentication = "token"
    token: str | None = field(default=None, repr=False)

    def serves(self, profile: Profile) -> bool:
        """Return whether there is a console in *profile*."""
        return profile == "local" if self.enabled is None else self.enabled


@dataclass(frozen=True, slots=True)
class Config:
    """The whole file. ``routes`` is empty when ``registry.source`` is ``portal``: the portal names them."""

    profile: Profile = "local"
    server: Server = field(default_factory=Server)
    limits: Limits = field(default_factory=Limits)
    registry: Registry = field(default_factory=Registry)
    console: Console = field(default_factory=Console)
    routes: tuple[Route, ...] = ()
