"""The public path of a route: HTTP checks, then the road, then the answer."""

from __future__ import annotations

import time
from collections.abc import Sequence

from flask import Blueprint, request

from ..caller import correlate, trace
from ..config.model import Limits
from ..deadline import Deadline
from ..faults import HttpFault
from ..observe.interaction import NO_TRACE, Interaction, Sink, hand_over
from ..protocol.exchange import exchange
from ..tools.route import Route
from . import answers, checks
from .answers import Answer
from .requests import EnvironHeaders, queue_ms, read_body


def blueprint(route: Route, limits: Limits, sinks: Sequence[Sink]) -> Blueprint:
    """
    Return the blueprint that serves one route at its public path, as it is.

    Args:

        sinks: Get the record of each exchange, once, at its end.
    """
    key, path = route.config.key, route.config.public_path
    served = Blueprint(f"route-{key}", __name__)

    def post() -> Answer:
        environ = request.environ
        headers = EnvironHeaders(environ)
        correlation = correlate(headers)
        seen = Interaction(key, correlation.guid, correlation.request_id, queue_ms=queue_ms(environ))
        deadline = Deadline(seen.started + limits.interaction_timeout_s)
        try:
            checks.check_media_type(
                environ.get("CONTENT_TYPE"), headers.get("content-encoding"), headers.get("transfer-encoding")
            )
            body = read_body(environ, limits.max_request_bytes)
        except HttpFault as fault:
            seen.outcome, seen.reason = "refused", fault.error
            response = answers.refused(fault, correlation)
        else:
            seen.arrived, seen.bytes_in = time.monotonic(), len(body)
            reply = exchange(route, headers, body, correlation, deadline, seen)
            response = answers.json_answer(reply.status, reply.body, correlation, reply.headers)
        if seen.trace is NO_TRACE:  # refused before anybody asked for it
            seen.trace = trace(headers, {})
            if route.tracer is not None:
                route.tracer.begin(seen)
        seen.finish(response.status_code, response.length)
        hand_over(seen, sinks)
        return response

    served.add_url_rule(path, "post", post, methods=["POST"], provide_automatic_options=False)
    return served
