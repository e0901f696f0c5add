"""The source ``portal``: the routes that a portal registry lists (contract: ``docs/contracts/portal-registry.md``)."""

from __future__ import annotations

from collections.abc import Sequence

from .. import jsontext
from ..config.load import ConfigFaults, routes_from_portal
from ..config.model import Config, Route
from ..deadline import Deadline
from ..transport.http import HttpClient
from .fetch import FetchFault, fetch
from .source import SourceFault

PATH = "/registry/v0.1/routes"
CONNECT_TIMEOUT_S = 3.0
MAX_REASONS = 5
"""As many faults of one list as a message tells."""


class PortalSource:
    """Asks the portal each time; its token is sent to the portal alone and is in no message."""

    def __init__(self, config: Config, versions: Sequence[str], user_agent: str, /) -> None:
        portal = config.registry.portal
        if portal is None:
            raise ValueError("registry.portal is missing")
        self._versions = versions
        self._client = HttpClient(
            portal.base_url,
            connect_timeout_s=CONNECT_TIMEOUT_S,
            pool_size=1,
            ca_bundle=None,
            headers={"User-Agent": user_agent, "Authorization": f"Bearer {portal.token}"},
        )

    def routes(self, deadline: Deadline, /) -> tuple[Route, ...]:
        """
        Return the routes that the portal lists now.

        Raises:

            SourceFault: There is no list, or one that cannot be used.
        """
        try:
            answer = fetch(self._client, PATH, what="route list", etag=None, deadline=deadline)
            return routes_from_portal(jsontext.parse(answer.text or b""), versions=self._versions)
        except FetchFault as fault:
            raise SourceFault(str(fault)) from None
        except jsontext.NotJson as fault:
            raise SourceFault(f"the route list is no JSON that can be read: {fault}") from None
        except ConfigFaults as fault:
            raise SourceFault(f"the route list is not valid: {_some(fault.faults)}") from None

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()


def _some(faults: Sequence[str]) -> str:
    more = [f"and {len(faults) - MAX_REASONS} more"] if len(faults) > MAX_REASONS else []
    return "; ".join([*faults[:MAX_REASONS], *more])
