"""``tools/call``: one call of one tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ... import caller, jsontext
from ...faults import InvalidParams
from ...jsontext import Fragment
from ...tools import arguments, calling
from ...toolservice.outcome import Failure
from ...turns import at_length
from ..era import Request, Result
from ..shapes import Shape, faults, record, text

FAILURE_NOTE = "mcp-gateway/failure"
"""The key of ``result._meta`` under which machines find why a call failed."""

_NO_ARGUMENTS = Fragment(b"{}")


class _Params(Shape):
    name = text(required=True)
    arguments = record()


_PARAMS = _Params()


def answer(request: Request) -> Result:
    """
    Find the tool, check the arguments, call it, and answer with what came of it.

    Raises:

        InvalidParams: ``name`` or ``arguments`` is missing or of a wrong type, or a child of it: the tool is unknown,
            the arguments violate its schema.
        CannotStart: Nothing has been loaded yet, or the Tool Service is busy.
    """
    params = request.message.params
    wrong = faults(_PARAMS, params)
    if wrong:
        raise InvalidParams("; ".join(wrong))
    given = params.get("arguments", {})
    request.era.admit_name(request.message, request.headers)
    tool = calling.find(request.route, params["name"])
    request.seen.tool, request.seen.service = tool.name, tool.service
    request.era.admit_call(tool, given, request.headers)
    with at_length(len(memoryview(request.message.params_text))):
        arguments.check(tool, given)
    called = calling.call(
        request.route,
        tool,
        _text(request),
        caller.forwarded(request.caller, request.trace),
        request.deadline,
        request.seen,
        request.era.structure(tool, request.route),
    )
    return Result(_members(called, request.caller.guid))


def _text(request: Request) -> Fragment:
    return jsontext.members(request.message.params_text).get("arguments", _NO_ARGUMENTS)


def _members(called: calling.Called, guid: str) -> dict[str, Any]:
    outcome = called.outcome
    first, *others = outcome.content
    timed = {**first, "_meta": {**first.get("_meta", {}), "searchTime": called.elapsed_ms}}
    members: dict[str, Any] = {"content": [timed, *others]}
    if outcome.structured is not None:
        members["structuredContent"] = outcome.structured
    members["isError"] = outcome.is_error
    if outcome.failure is not None:
        members["_meta"] = {FAILURE_NOTE: _note(outcome.failure, guid)}
    return members


def _note(failure: Failure, guid: str) -> Mapping[str, Any]:
    note: dict[str, Any] = {"reason": failure.reason, "outcome": failure.delivery}
    if failure.status is not None:
        note["status"] = failure.status
    if failure.retry_after is not None:
        note["retryAfter"] = failure.retry_after
    note["guid"] = guid
    return note
