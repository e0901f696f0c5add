"""Calls of which each is a span of its own; stands in for the plain client where traces are wanted."""

from __future__ import annotations

from dataclasses import replace

from ..deadline import Deadline
from ..observe.tracing import Outgoing, Tracer
from .client import Call, ToolServiceClient
from .outcome import Failure, Outcome


class TracedClient:
    """
    Calls the tools of one Tool Service.

    Args:

        client: Makes the calls.

        tracer: Makes the spans.
    """

    def __init__(self, client: ToolServiceClient, tracer: Tracer) -> None:
        self._client = client
        self._tracer = tracer

    @property
    def peer(self) -> tuple[str, int]:
        """Host and port of the Tool Service, as it is configured."""
        return self._client.peer

    def call(self, call: Call, deadline: Deadline) -> Outcome:
        """
        Make one call, once, and return what came of it; the Tool Service gets this call's span as its parent.

        Raises:

            Busy: Nothing was sent. There is no span then: one that is not closed is not sent either.
        """
        span = self._tracer.call(Outgoing(call.tool, call.endpoint.partition("?")[0], self.peer), call.headers)
        outcome = self._client.call(replace(call, headers=span.headers), deadline)
        span.end(outcome.status, _error(outcome.failure))
        return outcome

    def close(self) -> None:
        """Close the connections at rest."""
        self._client.close()


def _error(failure: Failure | None) -> str | None:
    """Return a failure's word: its status where that is the failure, as HTTP spans have it."""
    if failure is None:
        return None
    return str(failure.status) if failure.reason == "status" else str(failure.reason)
