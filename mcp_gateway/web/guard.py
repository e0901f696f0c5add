"""What stands before every route: host, path, origin and method, in this order, and what browsers need."""

from __future__ import annotations

import re
from collections.abc import Callable

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from ..caller import correlate
from ..faults import HttpFault
from . import answers, checks
from .checks import Policy
from .requests import EnvironHeaders

PROBES = frozenset({"/healthz", "/readyz", "/metrics"})
"""Paths that answer whatever ``Host`` says: an orchestrator asks by address."""

CONSOLE_FILES = "/console/assets/"
"""Files that are the same for everybody."""

_ALLOWED = (
    "accept, content-type, authorization, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, last-event-id, "
    "guid, x-request-id, employee-no, virtual-employee-no, traceparent, tracestate, baggage"
)
_PARAMETER = re.compile(r"(?<![^\s,])mcp-param-[a-z0-9-]+(?![^\s,])")
_EXPOSED = "guid, x-request-id, mcp-session-id"


def install(app: Flask, policy: Policy, turned_away: Callable[[int], object]) -> None:
    """
    Put the guard before every request of *app*, and its marks on every answer.

    Args:

        turned_away: Is told the status of each request that gets no further than this.
    """

    @app.before_request
    def before() -> Response | None:
        headers = EnvironHeaders(request.environ)
        unrouted = request.routing_exception
        try:
            if request.path not in PROBES:
                checks.check_host(policy, headers.get("host"))
            if isinstance(unrouted, NotFound):
                return None
            if request.environ["PATH_INFO"].startswith("//"):
                raise NotFound  # werkzeug takes it for the path with one slash
            checks.check_origin(policy, _origin(headers))
        except HttpFault as fault:
            turned_away(fault.status)
            return answers.refused(fault, correlate(headers))
        if _is_preflight(unrouted, headers):
            return answers.json_answer(204, b"", correlate(headers), _preflight(headers))
        return None

    @app.after_request
    def after(response: Response) -> Response:
        origin = request.environ.get("HTTP_ORIGIN")
        if origin is not None and checks.allows_origin(policy, origin):
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Expose-Headers"] = _EXPOSED
            response.headers["Vary"] = "Origin"
        return response

    @app.errorhandler(HTTPException)
    def unrouted(fault: HTTPException) -> Response:
        response = answers.unrouted(fault, correlate(EnvironHeaders(request.environ)))
        turned_away(response.status_code)
        return response


def _origin(headers: EnvironHeaders) -> str | None:
    """Return the origin to be checked: a browser names the page's even when it loads the page's own modules."""
    return None if request.path.startswith(CONSOLE_FILES) else headers.get("origin")


def _is_preflight(unrouted: Exception | None, headers: EnvironHeaders) -> bool:
    """Return whether a browser asks what it may send to a path that takes POST."""
    return (
        request.method == "OPTIONS"
        and headers.get("origin") is not None
        and isinstance(unrouted, MethodNotAllowed)
        and "POST" in (unrouted.valid_methods or ())
    )


def _preflight(headers: EnvironHeaders) -> dict[str, str]:
    """Return what a page may send, with those ``Mcp-Param-*`` that it asks for: only tools know their names."""
    wanted = _PARAMETER.findall((headers.get("access-control-request-headers") or "").lower())
    return {
        "Access-Control-Allow-Methods": "POST",
        "Access-Control-Allow-Headers": ", ".join([_ALLOWED, *wanted]),
        "Access-Control-Max-Age": "600",
    }
