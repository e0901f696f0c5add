"""What every answer has in common: JSON, the two identifiers, and the body of an error outside JSON-RPC."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from flask import Response
from werkzeug.datastructures import Headers
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from .. import jsontext
from ..caller import Correlation
from ..faults import HttpFault

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


class Answer(Response):
    """
    An answer whose head is complete when it is made.

    werkzeug would copy the headers of each answer and look for what it could mend in them.
    """

    default_mimetype = None
    length = 0
    """The size of its body in bytes."""

    def get_wsgi_headers(self, environ: WSGIEnvironment) -> Headers:
        """Return the headers as they are."""
        return self.headers


def json_answer(status: int, body: bytes, correlation: Correlation, headers: Mapping[str, str] | None = None) -> Answer:
    """Return an answer with a JSON body, or with none at all when *body* is empty."""
    said = [*(headers or {}).items(), ("guid", correlation.guid), ("x-request-id", correlation.request_id)]
    if body:
        said.append(("Content-Type", "application/json"))
    if status != 204:  # it has no body and so no length (RFC 9110, section 8.6)
        said.append(("Content-Length", str(len(body))))
    answer = Answer([body], status, said)
    answer.length = len(body)
    return answer


def http_error(
    status: int, error: str, message: str, correlation: Correlation, headers: Mapping[str, str] | None = None
) -> Answer:
    """Return an error outside JSON-RPC: ``{"error", "message", "guid"}``."""
    body = jsontext.encode({"error": error, "message": message, "guid": correlation.guid})
    return json_answer(status, body, correlation, headers)


def refused(fault: HttpFault, correlation: Correlation) -> Answer:
    """Return the answer to a request that a check refused."""
    return http_error(fault.status, fault.error, str(fault), correlation)


def unrouted(fault: HTTPException, correlation: Correlation) -> Answer:
    """Return the answer to a request that reached no view: an unknown path, a method that the path does not take."""
    if isinstance(fault, MethodNotAllowed):
        methods = ", ".join(sorted(fault.valid_methods or ()))
        return http_error(405, "method_not_allowed", f"this path takes {methods} only", correlation, {"Allow": methods})
    if isinstance(fault, NotFound):
        return http_error(404, "not_found", "there is nothing at this path", correlation)
    return http_error(500, "internal_error", "the gateway failed", correlation)
