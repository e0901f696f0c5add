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
        environ = request.environ  # once: each look through Flask's stand-in for the request costs three calls
        headers = EnvironHeaders(environ)
        unrouted = request.routing_exception
        try:
            _check(policy, environ["PATH_INFO"], headers, unrouted)
        except HttpFault as fault:
            turned_away(fault.status)
            return answers.refused(fault, correlate(headers))
        if environ["REQUEST_METHOD"] == "OPTIONS" and _is_preflight(unrouted, headers):
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


def _check(policy: Policy, path: str, headers: EnvironHeaders, unrouted: Exception | None) -> None:
    """
    Hold a request to the policy.

    Raises:

        HttpFault: 403.
        NotFound: There is nothing at this path.
    """
    if path not in PROBES:
        checks.check_host(policy, headers.get("host"))
    if isinstance(unrouted, NotFound):
        return  # told as such by whoever has no view for it
    if path.startswith("//"):
        raise NotFound  # werkzeug takes it for the path with one slash
    if not path.startswith(
        CONSOLE_FILES
    ):  # a browser names the page's origin even when it loads the page's own modules
        checks.check_origin(policy, headers.get("origin"))


def _is_preflight(unrouted: Exception | None, headers: EnvironHeaders) -> bool:
    """Return whether it is a browser that asks what it may send, and the path takes POST."""
    return (
        headers.get("origin") is not None
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
