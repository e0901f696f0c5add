"""One call of one tool: found, sent within its budget, timed, and its answer held to the tool's promise."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from ..deadline import Deadline
from ..faults import UnknownTool
from ..jsontext import Fragment
from ..observe.interaction import Interaction
from ..registry.snapshot import Tool
from ..toolservice.client import Call
from ..toolservice.outcome import Outcome
from . import structure
from .route import Route

_log = logging.getLogger("mcp_gateway.toolservice")


class Structure(Enum):
    """What ``structuredContent`` a caller of this revision and route may get from a tool."""

    NONE = "none"
    OBJECT = "object"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Called:
    """What came of a call, and the whole milliseconds from sending to the last byte of the answer."""

    outcome: Outcome
    elapsed_ms: int


def find(route: Route, name: str) -> Tool:
    """
    Look a tool up in the route's snapshot.

    Raises:

        RegistryUnavailable: There is no snapshot yet.
        UnknownTool: The snapshot has no tool of that name.
    """
    tool = route.snapshot().find(name)
    # The portal may bring a new Tool Service while this request still holds the route as it was.
    if tool is None or tool.service not in route.clients:
        raise UnknownTool(name)
    return tool


def call(
    route: Route,
    tool: Tool,
    arguments: Fragment,
    headers: Mapping[str, str],
    deadline: Deadline,
    seen: Interaction,
    wants: Structure,
) -> Called:
    """
    POST *arguments* to the tool's service, as they stand, and read its answer.

    Args:

        headers: What the Tool Service gets of the caller's headers.

        deadline: The end of the whole interaction.

        wants: What structure the caller may get.

    Raises:

        Busy: The service has ``max_in_flight`` calls under way; nothing was sent.
    """
    request = Call(
        tool=tool.name,
        endpoint=tool.endpoint,
        arguments=bytes(arguments),
        headers=headers,
        budget_s=tool.timeout_s,
        result_format=tool.result_format,
    )
    client = route.clients[tool.service]
    started = time.monotonic()
    outcome = client.call(request, deadline)
    ended = time.monotonic()
    seen.peer, seen.called, seen.returned = client.peer, started, ended
    if outcome.log is not None:
        _log.warning("%s", outcome.log, extra={"fields": seen.context()})
    outcome = _structured(tool, outcome, wants)
    _note(seen, outcome)
    return Called(outcome, int((ended - started) * 1000))


def _structured(tool: Tool, outcome: Outcome, wants: Structure) -> Outcome:
    if wants is Structure.NONE or tool.output_schema is None:
        return structure.plain(outcome)
    return structure.conform(tool, outcome, objects_only=wants is Structure.OBJECT)


def _note(seen: Interaction, outcome: Outcome) -> None:
    seen.tool_status = outcome.status
    if outcome.is_error:
        seen.outcome = "tool_error"
    if outcome.failure is not None:
        seen.reason = outcome.failure.reason
