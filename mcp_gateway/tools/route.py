"""A served route: its configuration, its current snapshot, and the clients of its Tool Services."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from .. import __version__
from ..config import model
from ..deadline import Deadline
from ..faults import RegistryUnavailable
from ..observe.tracing import Tracer
from ..registry.snapshot import Snapshot
from ..registry.snapshots import Snapshots
from ..toolservice.client import Call
from ..toolservice.outcome import Outcome


class Client(Protocol):
    """What makes the calls of one Tool Service, as ``toolservice.client.ToolServiceClient`` does."""

    @property
    def peer(self) -> tuple[str, int]:
        """Host and port of the Tool Service, as it is configured."""

    def call(self, call: Call, deadline: Deadline) -> Outcome:
        """Make one call, once, and return what came of it."""

    def close(self) -> None:
        """Close the connections at rest."""


@dataclass(frozen=True, slots=True)
class Route:
    """
    One public path and everything behind it, in this worker.

    Args:

        config: The route as configured.

        server: Who the gateway says it is, unless the route says otherwise.

        snapshots: The store that the registry publishes to.

        clients: One for each Tool Service, by its name.

        tracer: Makes a span of each exchange; ``None``: nobody wants any.
    """

    config: model.Route
    server: model.Server
    snapshots: Snapshots
    clients: Mapping[str, Client]
    tracer: Tracer | None = None

    @property
    def versions(self) -> tuple[str, ...]:
        """The protocol versions it serves, newest first."""
        return self.config.protocol_versions

    @property
    def server_info(self) -> dict[str, str]:
        """Who the route says it is: its own words first, then the gateway's."""
        return {
            "name": self.config.name or self.server.name,
            "title": self.config.title or self.server.title,
            "version": self.config.version or self.server.version or __version__,
        }

    @property
    def instructions(self) -> str | None:
        """The route's words for the model, else the gateway's; ``None``: there are none."""
        return self.config.instructions or self.server.instructions

    def snapshot(self) -> Snapshot:
        """
        Return the tools as they are now; take it once a request and hand it on.

        Raises:

            RegistryUnavailable: Nothing has been loaded yet.
        """
        snapshot = self.snapshots.current(self.config.key)
        if snapshot is None:
            raise RegistryUnavailable
        return snapshot
