"""The source ``config``: the routes that stand in the configuration."""

from __future__ import annotations

from collections.abc import Sequence

from ..config.model import Config, Route
from ..deadline import Deadline
from .last_good import NOTHING_KEPT, LastGood


class ConfigSource:
    """Says what the configuration says; cannot fail."""

    def __init__(
        self,
        config: Config,
        _versions: Sequence[str],
        _user_agent: str,
        _last_good: LastGood = NOTHING_KEPT,
        /,
    ) -> None:
        self._routes = config.routes

    def routes(self, _deadline: Deadline, /) -> tuple[Route, ...]:
        """Return the routes of the configuration."""
        return self._routes

    def close(self) -> None:
        """Nothing is open."""
