"""
What is known of each Tool Service and each route while their tools are loaded (no I/O but the fallback file).

Only the loader's own thread changes these values, so they need no lock.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from ..config.model import Route, ToolService
from ..transport.http import HttpClient
from . import manifest
from .snapshot import (
    Manifest,
    Part,
    RouteStatus,
    ServiceState,
    Snapshot,
    TooManyTools,
    assemble,
    report,
)

FIRST_RETRY_S = 0.5
LAST_RETRY_S = 30.0

NOT_YET = "it has not been loaded yet"
"""The error of a Tool Service whose first load is still under way."""


@dataclass(slots=True)
class Turn:
    """When something is asked for next. ``failures``: how many in a row; *due* in seconds of ``time.monotonic()``."""

    due: float = 0.0
    under_way: bool = False
    tried: bool = False
    failures: int = 0

    def succeeded(self, interval: float, jitter: Callable[[], float]) -> None:
        """Ask again after *interval*, give or take a tenth so that workers do not march in step; 0: never."""
        self._ended(interval * (0.9 + 0.2 * jitter()) if interval else float("inf"))
        self.failures = 0

    def failed(self, jitter: Callable[[], float], longest: float = LAST_RETRY_S) -> None:
        """Ask again after a random part of a time that doubles with each failure in a row."""
        self._ended(jitter() * min(longest, FIRST_RETRY_S * 2 ** min(self.failures, 10)))
        self.failures += 1

    def _ended(self, pause: float) -> None:
        self.under_way = False
        self.tried = True
        self.due = time.monotonic() + pause


@dataclass(slots=True, eq=False)
class ServiceLoad:
    """One Tool Service of one route: its newest good manifest, and how the newest load went."""

    service: ToolService
    turn: Turn = field(default_factory=Turn)
    state: ServiceState = ServiceState.FAILED
    manifest: Manifest | None = None
    error: str | None = NOT_YET
    loaded_at: datetime | None = None
    etag: str | None = None
    text_hash: bytes | None = None
    _client: HttpClient | None = None

    def client(self, user_agent: str, connect: Callable[..., HttpClient] = HttpClient) -> HttpClient:
        """
        Return the client for its manifest, always the same, which *connect* has made.

        Raises:

            OSError: The service's ``ca_bundle`` cannot be used.
        """
        if self._client is None:
            self._client = connect(
                self.service.base_url,
                connect_timeout_s=self.service.connect_timeout_s,
                pool_size=1,
                ca_bundle=self.service.ca_bundle,
                headers={**self.service.headers, "User-Agent": user_agent},
            )
        return self._client

    def close(self) -> None:
        """Let go of connections."""
        if self._client is not None:
            self._client.close()

    @property
    def has_loaded(self) -> bool:
        """Whether a manifest of its own is here."""
        return self.state in (ServiceState.LOADED, ServiceState.STALE)

    def take_over(self, former: ServiceLoad) -> None:
        """Start with what another load of the same manifest knows."""
        self.state, self.manifest, self.error = former.state, former.manifest, former.error
        self.loaded_at, self.etag, self.text_hash = former.loaded_at, former.etag, former.text_hash

    def read(self, text: bytes | None) -> Manifest | None:
        """
        Return the manifest in *text*; ``None`` when it is the one that is here already.

        Raises:

            ManifestFault: It cannot be used as a whole.
        """
        if text is None or (self.has_loaded and hashlib.sha256(text).digest() == self.text_hash):
            return None
        return manifest.read(text, service=self.service.name)

    def loaded(self, new: Manifest | None, text: bytes | None, etag: str | None, now: datetime) -> None:
        """Note that a load has succeeded; *new* ``None``: with the manifest that is here already."""
        self.state, self.error, self.etag = ServiceState.LOADED, None, etag
        if new is not None and text is not None:
            self.manifest, self.loaded_at, self.text_hash = new, now, hashlib.sha256(text).digest()

    @property
    def place(self) -> str:
        """Where its manifest is and who asks for it, for ``LastGood``: what one is shown is not for another's eyes."""
        service = self.service
        asker = (sorted(service.headers.items()), str(service.ca_bundle))
        return f"manifest of {service.name} at {service.base_url}{service.manifest_path} for {asker}"

    def recall(self, text: bytes | None) -> Manifest | None:
        """Return the manifest that an earlier worker has read in *text*, unless one of its own is here."""
        if text is None or self.has_loaded:
            return None
        try:
            return manifest.read(text, service=self.service.name)
        except manifest.ManifestFault:  # kept by an older version of the gateway, which took it for good
            return None

    def failed(self, error: str, fallback: Path | None, last_good: Manifest | None = None) -> None:
        """Note that a load has failed; while no manifest of its own is here, *last_good* stands in, else *fallback*."""
        self.error = error
        if self.has_loaded:
            self.state = ServiceState.STALE
        elif last_good is not None:
            self.state, self.manifest = ServiceState.STALE, last_good
        elif fallback is not None and self.manifest is None:
            self._fall_back(fallback)

    def _fall_back(self, path: Path) -> None:
        try:
            self.manifest = manifest.read(path.read_bytes(), service=self.service.name)
        except OSError as fault:
            self.error = f"{self.error}; the fallback manifest cannot be read: {fault.strerror}"
        except manifest.ManifestFault as fault:
            self.error = f"{self.error}; the fallback manifest cannot be used: {fault}"
        else:
            self.state = ServiceState.FALLBACK

    def part(self) -> Part:
        """Return what it contributes to its route."""
        return Part(self.service.name, self.state, self.manifest, self.error, self.loaded_at)


@dataclass(slots=True, eq=False)
class RouteLoad:
    """One route: its Tool Services, the snapshot that it serves, and why that could not be renewed."""

    route: Route
    services: Sequence[ServiceLoad]
    snapshot: Snapshot | None = None
    error: str | None = None
    failures: int = 0

    @property
    def tried(self) -> bool:
        """Whether the first load of each of its Tool Services has ended."""
        return all(load.turn.tried for load in self.services)

    def fallback_for(self, service: ServiceLoad) -> Path | None:
        """
        Return the fallback manifest if it is that of *service*.

        It is that of the Tool Service whose name it says, or else that of the route's first one.
        """
        path = self.route.fallback_manifest
        if path is None or len(self.services) == 1:
            return path
        try:
            named = manifest.read(path.read_bytes(), service=service.service.name).name
        except (OSError, manifest.ManifestFault):
            named = None
        names = [load.service.name for load in self.services]
        return path if service.service.name == (named if named in names else names[0]) else None

    def renew(self, *, max_tools: int, now: datetime) -> Snapshot | None:
        """Put the snapshot together and return it if it says anything new; with no manifest at all there is none."""
        parts = [load.part() for load in self.services]
        if all(part.manifest is None for part in parts):
            return None
        try:
            snapshot = assemble(self.route.key, parts, max_tools=max_tools, now=now)
        except TooManyTools as fault:
            self.error = str(fault)
            self.failures += 1
            return None
        self.error = None
        former = self.snapshot
        if former and (former.digest, former.services) == (snapshot.digest, snapshot.services):
            return None
        self.snapshot = snapshot
        return snapshot

    def status(self) -> RouteStatus:
        """Return what is known of the route now."""
        if self.snapshot and self.error is None:
            services = self.snapshot.services
        else:
            served = [tool.service for tool in self.snapshot.tools] if self.snapshot else []
            services = tuple(report(load.part(), served=served.count(load.service.name)) for load in self.services)
        return RouteStatus(self.route.key, self.snapshot, services, self.error, self.failures)
