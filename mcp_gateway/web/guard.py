"""What stands before every route: host, path, origin and method, in this order, and what browsers need."""

from __future__ import annotations

import re

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from ..caller import correlate
from ..faults import HttpFault
from . import answers, checks
from .checks import Policy
from .requests import EnvironHeaders

PROBES = frozenset({"/healthz", "/readyz", "/metrics"})
"""Paths that answer whatever ``Host`` says: an orchestrator asks by address."""

_PREFLIGHT = {
    "Access-Control-Allow-Methods": "POST",
    "Access-Control-Allow-Headers": (
        "accept, content-type, authorization, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, last-event-id, "
        "guid, x-request-id, employee-no, virtual-employee-no, traceparent, tracestate, baggage"
    ),
    "Access-Control-Max-Age": "600",
}
_PARAMETER = re.compile(r"\bmcp-param-[a-z0-9-]+")
_EXPOSED = "guid, x-request-id, mcp-session-id"


def install(app: Flask, policy: Policy) -> None:
    """Put the guard before every request of *app*, and its marks on every answer."""

    @app.before_request
    def before() -> Response | None:
        if request.path in PROBES:
            return None
        headers = EnvironHeaders(request.environ)
        try:
            checks.check_host(policy, headers.get("host"))
            unrouted = request.routing_exception
            if unrouted is not None and not isinstance(unrouted, MethodNotAllowed):
                return None
            checks.check_origin(policy, headers.get("origin"))
        except HttpFault as fault:
            return answers.refused(fault, correlate(headers))
        if request.method == "OPTIONS" and headers.get("origin") is not None:
            return answers.json_answer(204, b"", correlate(headers), {**_PREFLIGHT, **_wanted_parameters(headers)})
        return None

    @app.after_request
    def after(response: Response) -> Response:
        origin = request.headers.get("Origin")
        if origin is not None and checks.allows_origin(policy, origin):
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Expose-Headers"] = _EXPOSED
            response.headers["Vary"] = "Origin"
        return response

    @app.errorhandler(HTTPException)
    def unrouted(fault: HTTPException) -> Response:
        return answers.unrouted(fault, correlate(EnvironHeaders(request.environ)))


def _wanted_parameters(headers: EnvironHeaders) -> dict[str, str]:
    """Return the allowed headers with those ``Mcp-Param-*`` that the page asks for: only tools know their names."""
    wanted = _PARAMETER.findall((headers.get("access-control-request-headers") or "").lower())
    return {"Access-Control-Allow-Headers": ", ".join([_PREFLIGHT["Access-Control-Allow-Headers"], *wanted])}
