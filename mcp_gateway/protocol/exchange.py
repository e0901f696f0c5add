"""
The road on one page: the bytes of a POST in, the bytes of its answer out.

The numbered steps are the order of the contract (``docs/contracts/agent-builder.md``, "The order of the checks"), and
``docs/life-of-a-call.md`` walks through them. There is no decision on a version or a method in this file.
"""

from __future__ import annotations

import logging

from .. import caller
from ..caller import Correlation, Headers
from ..deadline import Deadline
from ..faults import BadCallerHeader, Fault, VersionNotServed
from ..observe.interaction import UNKNOWN, Interaction
from ..tools.route import Route
from . import eras, jsonrpc, refusals
from .era import Era, Request
from .jsonrpc import Kind, Message
from .reply import ACCEPTED, Reply

_log = logging.getLogger("mcp_gateway.protocol")


def exchange(
    route: Route, headers: Headers, body: bytes, correlation: Correlation, deadline: Deadline, seen: Interaction
) -> Reply:
    """
    Answer one POST; whatever happens, there is one well-formed answer.

    Args:

        correlation: The identifiers that the answer will carry.

        deadline: The end of the whole interaction, counted from when the request came in.

        seen: The record of this exchange, filled in along the road.
    """
    version = eras.version_header(headers)
    era = eras.speaking(route, version, claim=False)
    request_id = jsonrpc.NULL
    try:
        document = jsonrpc.read(body)  # 1. JSON
        request_id = document.id
        claim = eras.claims(document.value)
        era = eras.speaking(route, version, claim)
        message = jsonrpc.envelope(document)  # 2. the envelope
        seen.revision, seen.method, seen.rpc_id = era.version, _known(era, message), request_id
        seen.trace = caller.trace(headers, message.meta)
        if route.tracer is not None:
            route.tracer.begin(seen)
        if message.kind is not Kind.REQUEST:
            return _take_note(route, headers, correlation, version, claim, message, seen)
        who = caller.identify(headers, correlation)  # 3. the caller's headers
        seen.session_id = who.session_id
        eras.judge(route, version, claim, message)  # 4. the version
        era.admit(message, version, headers, route)
        method = era.method(message)  # 5. the method
        # 6. its params, and its work
        result = method(Request(route, era, message, headers, who, seen.trace, deadline, seen))
        return era.answer(request_id, result, route)
    except VersionNotServed as fault:
        _refused(seen, fault)
        return refusals.version_refusal(fault, correlation.guid)
    except Fault as fault:
        _refused(seen, fault)
        reply = era.refusal(request_id, fault, correlation.guid, route)
    except Exception:  # the one outermost catch: a fault of our own must not reach the caller, nor stop the worker
        _log.exception("a fault of the gateway", extra={"fields": seen.context()})
        seen.outcome, seen.reason = "fault", "internal"
        reply = era.broken(request_id, correlation.guid)
    seen.code = reply.code
    return reply


def _take_note(
    route: Route,
    headers: Headers,
    correlation: Correlation,
    version: str | None,
    claim: bool,
    message: Message,
    seen: Interaction,
) -> Reply:
    """Accept a notification or a response, whatever it says; only the version can turn it away."""
    seen.outcome = "accepted"
    try:
        caller.identify(headers, correlation)
    except BadCallerHeader as fault:
        seen.reason = fault.reason
        if message.kind is Kind.NOTIFICATION:
            return ACCEPTED
    eras.judge(route, version, claim, message)
    return ACCEPTED


def _known(era: Era, message: Message) -> str | None:
    """Return the method for the record; an unknown one is only called so: records must not grow with what is sent."""
    if message.kind is Kind.RESPONSE:
        return None
    known = era.methods if message.kind is Kind.REQUEST else era.notifications
    return message.method if message.method in known else UNKNOWN


def _refused(seen: Interaction, fault: Fault) -> None:
    seen.outcome, seen.reason = "refused", fault.reason
