"""What a revision of MCP is to the road: one object that holds all that differs between revisions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..caller import Caller, Headers, Trace
from ..deadline import Deadline
from ..faults import Fault, MethodNotFound
from ..jsontext import Fragment
from ..observe.interaction import Interaction
from ..registry.snapshot import Tool
from ..tools.calling import Structure
from ..tools.route import Route
from .jsonrpc import Message
from .reply import Reply


@dataclass(frozen=True, slots=True)
class Request:
    """A request on its way down: all that a method may need, already checked."""

    route: Route
    era: Era
    message: Message
    headers: Headers
    caller: Caller
    trace: Trace
    deadline: Deadline
    seen: Interaction


@dataclass(frozen=True, slots=True)
class Result:
    """What a method gives back: the members of ``result``, and headers for the answer."""

    members: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


Method = Callable[[Request], Result]


class Era(ABC):
    """
    One revision of MCP. Its file holds everything that differs; nobody else compares version strings.

    ``version`` is its name on the wire; ``methods`` its table of methods: a method that is not in it does not exist.
    ``notifications`` are those that its clients send; each is accepted, and nothing follows from it.
    ``per_request`` says that each request claims its version in ``params._meta``, beside the header.
    """

    version: ClassVar[str]
    per_request: ClassVar[bool]
    methods: ClassVar[Mapping[str, Method]]
    notifications: ClassVar[frozenset[str]]

    def method(self, message: Message) -> Method:
        """
        Return what answers the message.

        Raises:

            MethodNotFound: This revision has no such method.
        """
        method = self.methods.get(message.method)
        if method is None:
            raise MethodNotFound(message.method)
        return method

    @abstractmethod
    def admit(self, message: Message, version: str | None, headers: Headers, route: Route) -> None:
        """
        Check what this revision asks of every request beyond the envelope.

        Args:

            version: What the version header says; ``None``: nothing.

        Raises:

            Fault: The request is not admitted.
        """

    @abstractmethod
    def admit_name(self, message: Message, headers: Headers) -> None:
        """
        Check what this revision asks of a request that names a tool in ``params.name``, a string.

        Raises:

            Fault: The request is not admitted.
        """

    @abstractmethod
    def admit_call(self, tool: Tool, arguments: Mapping[str, Any], headers: Headers) -> None:
        """
        Check what this revision asks of a tool call beyond its arguments.

        Raises:

            Fault: The call is not admitted.
        """

    @abstractmethod
    def structure(self, tool: Tool, route: Route) -> Structure:
        """Return what structured output a caller of this revision may get from *tool*."""

    @abstractmethod
    def shows_output_schema(self, tool: Tool, route: Route) -> bool:
        """Return whether callers of this revision see the tool's ``outputSchema``."""

    @abstractmethod
    def warnings(self, tool: Tool, structured_output: bool) -> Iterator[str]:
        """Yield what is legal and harmful about *tool* on this revision, on a route with that setting."""

    @abstractmethod
    def listed(self, members: Mapping[str, Any], route: Route) -> Mapping[str, Any]:
        """Return the members of a list result as this revision words them."""

    @abstractmethod
    def answer(self, request_id: Fragment, result: Result, route: Route) -> Reply:
        """Write the answer to a request that has a result."""

    @abstractmethod
    def refusal(self, request_id: Fragment, fault: Fault, guid: str, route: Route) -> Reply:
        """Write the answer to a message that is refused."""

    @abstractmethod
    def broken(self, request_id: Fragment, guid: str) -> Reply:
        """Write the answer when the gateway itself has failed; it tells nothing of the inside."""


def broken_promise(tool: Tool, structured_output: bool) -> Iterator[str]:
    """Yield a warning when *tool* shows an ``outputSchema`` and its answers will have no structure, on any revision."""
    if tool.output_schema is not None and not structured_output:
        yield "shows an outputSchema on a route with structured_output: false; clients throw its answers away"
