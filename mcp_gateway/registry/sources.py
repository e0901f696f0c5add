"""The sources of routes by the name that ``registry.source`` gives them; a new one is a file and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..config.model import Config
from .last_good import NOTHING_KEPT, LastGood
from .source import Source
from .source_config import ConfigSource
from .source_portal import PortalSource

SOURCES: Mapping[str, Callable[[Config, Sequence[str], str, LastGood], Source]] = {
    "config": ConfigSource,
    "portal": PortalSource,
}


def open_source(
    config: Config, *, versions: Sequence[str], user_agent: str, last_good: LastGood = NOTHING_KEPT
) -> Source:
    """Return the source that the configuration names; *versions* are the protocol versions that a route may serve."""
    return SOURCES[config.registry.source](config, versions, user_agent, last_good)
