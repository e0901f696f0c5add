"""The record of one exchange: filled in along the road, handed to the sinks once, at its end."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from ..caller import Trace
from ..jsontext import Fragment

_log = logging.getLogger("mcp_gateway.observe")

NO_TRACE = Trace()

UNKNOWN = "unknown"
"""What stands for a method that no revision has: records must not grow with what is sent."""


@dataclass(slots=True)
class Interaction:
    """
    What one exchange was and how it ended.

    Holds no argument, no answer, no employee number and no secret: what is not in it cannot be written down. Moments
    are seconds of ``time.monotonic()``, durations milliseconds, sizes bytes; ``None``: not known, or there was none.

    Args:

        route: The route's key.

        guid: The identifier that the answer carries, as ``request_id`` is.

        started: When the exchange began: a thread had the head of the request.

        arrived: When its body was there whole.

        called: When the call to the Tool Service began, with all checks done.

        returned: When that call was over, with whatever came of it.

        ended: When the answer was ready.

        queue_ms: How long the request had waited for a thread before *started*, if the server says so.

        revision: The protocol version that words the answer.

        method: A method or notification of that revision, or ``unknown``; ``None``: the body is no message with one.

        rpc_id: The JSON text of the message's ``id``. It is the caller's own: no log and no metric has it.

        tool: A tool that the route has; ``service`` is the Tool Service that runs it.

        peer: Host and port of that Tool Service.

        trace: The trace context of the exchange: of its own span where there is one, else as the caller gave it.

        span: Its span, which is the tracer's own; nobody else looks at it.

        outcome: ``ok``, ``tool_error`` (``isError``), ``refused`` (a fault of the request, or the call could not be
            started), ``accepted`` (a notification or a response) or ``fault`` (a fault of our own).

        reason: Why it is not ``ok``: a word from the closed lists of ``faults`` and ``transport.answer.Reason``.

        code: The code of the JSON-RPC error that was answered.

        status: The HTTP status that was answered.

        tool_status: The HTTP status that the Tool Service gave.
    """

    route: str
    guid: str
    request_id: str
    started: float = field(default_factory=time.monotonic)
    arrived: float | None = None
    called: float | None = None
    returned: float | None = None
    ended: float | None = None
    queue_ms: float | None = None
    revision: str | None = None
    method: str | None = None
    rpc_id: Fragment | None = None
    tool: str | None = None
    service: str | None = None
    peer: tuple[str, int] | None = None
    session_id: str | None = None
    trace: Trace = NO_TRACE
    span: object | None = None
    outcome: str = "ok"
    reason: str | None = None
    code: int | None = None
    status: int = 0
    tool_status: int | None = None
    bytes_in: int = 0
    bytes_out: int = 0

    @property
    def checks_ms(self) -> float | None:
        """How long it took from the whole body to the call of the Tool Service."""
        return None if self.arrived is None or self.called is None else (self.called - self.arrived) * 1000

    @property
    def tool_ms(self) -> float | None:
        """How long the call of the Tool Service took."""
        return None if self.called is None or self.returned is None else (self.returned - self.called) * 1000

    @property
    def total_ms(self) -> float | None:
        """How long all of it took, without the wait for a thread."""
        return None if self.ended is None else (self.ended - self.started) * 1000

    def context(self) -> dict[str, str]:
        """Return what every log line of this exchange carries; what is not known is left out."""
        named = {
            "guid": self.guid,
            "route": self.route,
            "revision": self.revision,
            "method": self.method,
            "tool": self.tool,
            "traceId": self.trace.trace_id,
        }
        return {name: value for name, value in named.items() if value is not None}

    def finish(self, status: int, bytes_out: int) -> None:
        """Note the answer's HTTP *status* and size, and that this is the end."""
        self.status = status
        self.bytes_out = bytes_out
        self.ended = time.monotonic()


Sink: TypeAlias = Callable[[Interaction], None]
"""Reads a record at its end and writes down what it wants of it. It changes nothing and waits for nothing."""


def hand_over(seen: Interaction, sinks: Iterable[Sink]) -> None:
    """Give a record that has ended to each of *sinks*; one that fails is logged, and costs no answer."""
    for sink in sinks:
        try:
            sink(seen)
        except Exception:
            _log.exception("an exchange could not be written down", extra={"fields": seen.context()})
