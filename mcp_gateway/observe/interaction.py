"""The record of one exchange: filled in along the road, read once at its end."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(slots=True)
class Interaction:
    """
    What one exchange was and how it ended.

    Holds no argument, no answer, no employee number and no secret: what is not in it cannot be logged. Times in
    milliseconds, sizes in bytes. ``outcome`` is ``ok``, ``tool_error`` (``isError``), ``refused`` (a fault of the
    request), ``accepted`` (a notification) or ``fault`` (a fault of our own); ``reason`` is one word from the closed
    lists of ``faults`` and ``transport.answer.Reason``.
    """

    route: str
    guid: str
    request_id: str
    started: float = field(default_factory=time.monotonic)
    revision: str | None = None
    method: str | None = None
    tool: str | None = None
    service: str | None = None
    session_id: str | None = None
    trace_id: str | None = None
    outcome: str = "ok"
    reason: str | None = None
    status: int = 0
    tool_status: int | None = None
    tool_ms: float | None = None
    bytes_in: int = 0
    bytes_out: int = 0
    total_ms: float = 0.0

    def context(self) -> dict[str, str]:
        """Return what every log line of this exchange carries; what is not known is left out."""
        named = {
            "guid": self.guid,
            "route": self.route,
            "revision": self.revision,
            "method": self.method,
            "tool": self.tool,
            "traceId": self.trace_id,
        }
        return {name: value for name, value in named.items() if value is not None}

    def finish(self, status: int, bytes_out: int) -> None:
        """Note the answer's HTTP *status* and size, and how long it all took."""
        self.status = status
        self.bytes_out = bytes_out
        self.total_ms = (time.monotonic() - self.started) * 1000
