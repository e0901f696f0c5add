"""One call of one tool: a single POST within its budget, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..config.model import ToolService
from ..deadline import Deadline
from ..transport.answer import Unanswered
from ..transport.http import HttpClient
from . import outcome
from .gate import Gate
from .outcome import Outcome


@dataclass(frozen=True, slots=True)
class Call:
    """
    What is asked of a Tool Service.

    Args:

        tool: The tool's name, for sentences.

        endpoint: Path and query below the service's base URL.

        arguments: The JSON text of the whole arguments object, sent as it is.

        headers: What is passed on of the caller's; already checked.

        budget_s: The tool's own budget; ``None``: the service's.

        result_format: ``mcp``: the answer is a whole MCP result; ``None``: it is read by its media type.
    """

    tool: str
    endpoint: str
    arguments: bytes
    headers: Mapping[str, str]
    budget_s: float | None = None
    result_format: str | None = None


class ToolServiceClient:
    """
    Calls the tools of one Tool Service. Threads may share it.

    Args:

        service: The Tool Service.

        max_response_bytes: The largest answer that is taken.

        user_agent: Who calls.

        told: Is told 1 when a call begins, -1 when it is over.

        connect: Makes its connections.
    """

    def __init__(
        self,
        service: ToolService,
        *,
        max_response_bytes: int,
        user_agent: str,
        told: Callable[[int], object] = lambda _: None,
        connect: Callable[..., HttpClient] = HttpClient,
    ) -> None:
        self._timeout_s = service.timeout_s
        self._max_bytes = max_response_bytes
        self._own_headers = {"Content-Type": "application/json", "User-Agent": user_agent}
        self._gate = Gate(service.name, service.max_in_flight, told)
        self._http = connect(
            service.base_url,
            connect_timeout_s=service.connect_timeout_s,
            pool_size=service.max_in_flight,
            ca_bundle=service.ca_bundle,
            headers=service.headers,
        )

    @property
    def in_flight(self) -> int:
        """How many calls are under way at this moment."""
        return self._gate.in_flight

    @property
    def peer(self) -> tuple[str, int]:
        """Host and port of the Tool Service, as it is configured."""
        return self._http.peer

    def call(self, call: Call, deadline: Deadline) -> Outcome:
        """
        Make one call, once, and return what came of it, whatever the Tool Service does.

        Args:

            call: What is asked.

            deadline: The end of the interaction; the call's own budget may end before it.

        Raises:

            Busy: As many calls of this service as it allows are under way; nothing was sent.
        """
        with self._gate:
            bounded = deadline.within(self._timeout_s if call.budget_s is None else call.budget_s)
            budget_s = max(0.0, bounded.left())
            try:
                answer = self._http.send(
                    "POST",
                    call.endpoint,
                    headers={**call.headers, **self._own_headers, "x-timeout-ms": str(max(1, int(budget_s * 1000)))},
                    body=call.arguments,
                    deadline=bounded,
                    max_bytes=self._max_bytes,
                )
            except Unanswered as fault:
                return outcome.unanswered(fault, tool=call.tool, budget_s=budget_s)
            return outcome.read(answer, tool=call.tool, result_format=call.result_format)

    def close(self) -> None:
        """Close the connections at rest; calls under way go on to their end."""
        self._http.close()
