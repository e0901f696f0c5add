"""A gateway in this process, without a socket, whose console is configured as a test wants it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from road import Road
from werkzeug.middleware.lint import LintMiddleware
from werkzeug.test import Client

from mcp_gateway.app import create_app
from mcp_gateway.config.model import Console


def console_road(*tools: Mapping[str, Any], console: Console | None = None, **options: Any) -> Road:
    """Return a road as ``Road`` makes it, with this console."""
    road = Road(*tools, **options)
    config = replace(road.config, console=console or Console())
    road.app = create_app(config, [road.route], lambda: road.health, [road.seen.append])
    road.client = Client(LintMiddleware(road.app))
    return road
