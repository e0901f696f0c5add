"""The probes: ``/healthz`` (this process serves) and ``/readyz`` (every route has tools)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flask import Blueprint, Response, request

from .. import __version__, jsontext
from ..caller import correlate
from ..environ import DRAINING
from ..registry.snapshot import RouteStatus, ServiceReport
from . import answers
from .requests import EnvironHeaders


@dataclass(frozen=True, slots=True)
class Health:
    """
    What there is to say about this worker.

    Args:

        routes: One status for each route that is served.

        warnings: What is legal and harmful about a route's tools, as pairs of tool and sentence, by route key.

        registry_error: Why the registry could not say the routes; ``None``: it could.

        configuration_faults: Why the newest configuration was not taken, one line each; empty: it was.
    """

    routes: Sequence[RouteStatus]
    warnings: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    registry_error: str | None = None
    configuration_faults: Sequence[str] = ()

    @property
    def ready(self) -> bool:
        """Whether every route has a snapshot, and there is one."""
        return bool(self.routes) and all(route.snapshot is not None for route in self.routes)


def blueprint(look: Callable[[], Health]) -> Blueprint:
    """Return the blueprint of the probes; *look* is asked at every request of ``/readyz``."""
    probes = Blueprint("probes", __name__)

    def healthz() -> Response:
        return _answer(200, {"status": "ok", "version": __version__})

    def readyz() -> Response:
        health, draining = look(), DRAINING in request.environ
        return _answer(200 if health.ready and not draining else 503, report(health, draining=draining))

    for path, view in (("/healthz", healthz), ("/readyz", readyz)):
        probes.add_url_rule(path, view_func=view, methods=["GET"], provide_automatic_options=False)
    return probes


def report(health: Health, *, draining: bool = False) -> dict[str, Any]:
    """
    Return the body of ``/readyz``; ``pid`` tells the workers apart, each of which loads its own tools.

    Args:

        draining: Whether the server has been told to stop, which is said first: no new request should come here.
    """
    return {
        "status": "draining" if draining else "ready" if health.ready else "not_ready",
        "version": __version__,
        "pid": os.getpid(),
        "routes": [_route(route, health.warnings.get(route.route, ())) for route in health.routes],
        "registryError": health.registry_error,
        "configurationFaults": list(health.configuration_faults),
    }


def _route(status: RouteStatus, warnings: Sequence[tuple[str, str]]) -> dict[str, Any]:
    snapshot = status.snapshot
    return {
        "route": status.route,
        "ready": snapshot is not None,
        "tools": [tool.name for tool in snapshot.tools] if snapshot else [],
        "digest": snapshot.digest if snapshot else None,
        "loadedAt": snapshot.loaded_at.isoformat(timespec="milliseconds") if snapshot else None,
        "error": status.error,
        "loadFailures": status.failures,
        "toolServices": [_service(service) for service in status.services],
        "warnings": [{"tool": tool, "warning": sentence} for tool, sentence in warnings],
    }


def _service(service: ServiceReport) -> dict[str, Any]:
    return {
        "name": service.name,
        "state": service.state,
        "tools": service.tools,
        "error": service.error,
        "loadedAt": service.loaded_at.isoformat(timespec="milliseconds") if service.loaded_at else None,
        "leftOut": [{"tool": each.tool, "place": each.place, "reason": each.reason} for each in service.left_out],
    }


def _answer(status: int, body: dict[str, Any]) -> Response:
    return answers.json_answer(
        status, jsontext.encode(body), correlate(EnvironHeaders(request.environ)), {"Cache-Control": "no-store"}
    )
