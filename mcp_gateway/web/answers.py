"""What every answer has in common: JSON, the two identifiers, and the body of an error outside JSON-RPC."""

from __future__ import annotations

from collections.abc import Mapping

from flask import Response
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from .. import jsontext
from ..caller import Correlation
from ..faults import HttpFault


def json_answer(
    status: int, body: bytes, correlation: Correlation, headers: Mapping[str, str] | None = None
) -> Response:
    """Return an answer with a JSON body, or with none at all when *body* is empty."""
    response = Response(
        body,
        status,
        [
            ("Content-Type", "application/json"),
            *(headers or {}).items(),
            ("guid", correlation.guid),
            ("x-request-id", correlation.request_id),
        ],
    )
    if not body:
        del response.headers["Content-Type"]
    return response


def http_error(
    status: int, error: str, message: str, correlation: Correlation, headers: Mapping[str, str] | None = None
) -> Response:
    """Return an error outside JSON-RPC: ``{"error", "message", "guid"}``."""
    body = jsontext.encode({"error": error, "message": message, "guid": correlation.guid})
    return json_answer(status, body, correlation, headers)


def refused(fault: HttpFault, correlation: Correlation) -> Response:
    """Return the answer to a request that a check refused."""
    return http_error(fault.status, fault.error, str(fault), correlation)


def unrouted(fault: HTTPException, correlation: Correlation) -> Response:
    """Return the answer to a request that reached no view: an unknown path, a method that the path does not take."""
    if isinstance(fault, MethodNotAllowed):
        methods = ", ".join(sorted(fault.valid_methods or ()))
        return http_error(405, "method_not_allowed", f"this path takes {methods} only", correlation, {"Allow": methods})
    if isinstance(fault, NotFound):
        return http_error(404, "not_found", "there is nothing at this path", correlation)
    return http_error(500, "internal_error", "the gateway failed", correlation)
