"""A call that is not made: the road itself, as far as the door of the Tool Service."""

from __future__ import annotations

from dataclasses import replace

from ..caller import Headers, correlate
from ..deadline import Deadline
from ..observe.interaction import Interaction
from ..tools.route import Route
from ..toolservice.client import Call
from ..toolservice.outcome import Outcome
from .exchange import exchange
from .reply import Reply

LONGEST_S = 10.0
"""Nothing is waited for on the way."""


class Door:
    """Stands where the client of a Tool Service stands, and lets no call through; ``reached`` once one has come."""

    peer = ("", 0)

    def __init__(self) -> None:
        self.reached = False

    def call(self, call: Call, deadline: Deadline) -> Outcome:
        """Note that the call has come so far."""
        self.reached = True
        return Outcome(({"type": "text", "text": ""},), is_error=True)

    def close(self) -> None:
        """Close nothing."""


def rehearse(route: Route, headers: Headers, body: bytes) -> Reply | None:
    """
    Return what the gateway would answer of itself to this POST, or ``None`` when it would call the Tool Service.

    Nothing is sent, counted or logged. That a Tool Service is busy can only be told by calling it.
    """
    door = Door()
    seen = Interaction(route.config.key, guid="", request_id="")
    closed = replace(route, clients=dict.fromkeys(route.clients, door), tracer=None)
    reply = exchange(closed, headers, body, correlate(headers), Deadline.after(LONGEST_S), seen)
    return None if door.reached else reply
