"""The source ``portal``: the routes that a portal registry lists (contract: ``docs/contracts/portal-registry.md``)."""

from __future__ import annotations

from collections.abc import Sequence

from .. import jsontext
from ..config.load import ConfigFaults, routes_from_portal
from ..config.model import Config, Route
from ..deadline import Deadline
from ..transport.http import HttpClient
from .fetch import FetchFault, fetch
from .last_good import NOTHING_KEPT, LastGood
from .source import SourceFault

PATH = "/registry/v0.1/routes"
CONNECT_TIMEOUT_S = 3.0
MAX_REASONS = 5
"""As many faults of one list as a message tells."""


class _Unusable(Exception):
    """Raised when a list came and cannot be used."""


class PortalSource:
    """Asks the portal each time; its token is sent to the portal alone and is in no message."""

    def __init__(
        self, config: Config, versions: Sequence[str], user_agent: str, last_good: LastGood = NOTHING_KEPT, /
    ) -> None:
        portal = config.registry.portal
        if portal is None:
            raise ValueError("registry.portal is missing")
        self._versions = versions
        self._last_good = last_good
        self._place = f"routes at {portal.base_url}{PATH}"
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
            text = answer.text or b""
            routes = self._read(text)
        except (FetchFault, _Unusable) as fault:
            raise SourceFault(str(fault), self._recall()) from None
        self._last_good.keep(self._place, text)
        return routes

    def _read(self, text: bytes) -> tuple[Route, ...]:
        try:
            return routes_from_portal(jsontext.parse(text), versions=self._versions)
        except jsontext.NotJson as fault:
            raise _Unusable(f"the route list is no JSON that can be read: {fault}") from None
        except ConfigFaults as fault:
            raise _Unusable(f"the route list is not valid: {_some(fault.faults)}") from None

    def _recall(self) -> tuple[Route, ...] | None:
        text = self._last_good.find(self._place)
        try:
            return None if text is None else self._read(text)
        except _Unusable:  # kept by an older version of the gateway, which took it for good
            return None

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()


def _some(faults: Sequence[str]) -> str:
    more = [f"and {len(faults) - MAX_REASONS} more"] if len(faults) > MAX_REASONS else []
    return "; ".join([*faults[:MAX_REASONS], *more])
