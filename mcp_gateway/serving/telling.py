"""What the application is told of a request beside what WSGI has words for: see ``mcp_gateway.environ``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..environ import DRAINING, QUEUED_S, REPEATED


def tell(environ: dict[str, Any], headers: Iterable[tuple[str, str]], *, queued_s: float, draining: bool) -> None:
    """
    Write it into the environ.

    Args:

        headers: As they came, their names in capitals.

        queued_s: How long the request has waited for a thread.

        draining: Whether the server has been told to stop.
    """
    environ[QUEUED_S] = queued_s
    if draining:
        environ[DRAINING] = True
    if repeated := repeats(headers):
        environ[REPEATED] = repeated


def repeats(headers: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Return the values of each header that came more than once, by WSGI variable."""
    names = [name for name, _ in headers]
    if len(set(names)) == len(names):
        return {}
    twice = {name for name in names if names.count(name) > 1}
    return {
        f"HTTP_{name.replace('-', '_')}": tuple(value for other, value in headers if other == name) for name in twice
    }
