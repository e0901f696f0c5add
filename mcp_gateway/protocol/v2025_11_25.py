"""
MCP 2025-11-25, the revision of ``initialize``: all that it does its own way.

JSON-RPC errors are HTTP 200, as its clients lose their connection on anything else; only a version that is not served
is HTTP 400 (contract: the version header). See ``docs/contracts/agent-builder.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from ..caller import Headers
from ..faults import Fault
from ..jsontext import Fragment
from ..registry.snapshot import Tool
from ..tools.calling import Structure
from ..tools.route import Route
from . import jsonrpc, refusals
from .era import Era, Method, Result, broken_promise
from .jsonrpc import Message
from .methods import initialize, ping, tools_call, tools_list
from .reply import Reply


class V2025_11_25(Era):
    """The revision as one object; see ``Era`` for what each member is."""

    version = "2025-11-25"
    per_request = False
    methods: ClassVar[Mapping[str, Method]] = {
        "initialize": initialize.answer,
        "ping": ping.answer,
        "tools/list": tools_list.answer,
        "tools/call": tools_call.answer,
    }
    notifications = frozenset(
        {
            "notifications/initialized",
            "notifications/cancelled",
            "notifications/progress",
            "notifications/roots/list_changed",
            "notifications/tasks/status",
        }
    )

    def admit(self, message: Message, version: str | None, headers: Headers, route: Route) -> None:
        """Admit everything: the version header, all that this revision asks for, has chosen it already."""

    def admit_name(self, message: Message, headers: Headers) -> None:
        """Admit everything: there are no mirrored headers in this revision."""

    def admit_call(self, tool: Tool, arguments: Mapping[str, Any], headers: Headers) -> None:
        """Admit everything: there are no mirrored headers in this revision."""

    def structure(self, tool: Tool, route: Route) -> Structure:
        """Give objects only, as ``structuredContent`` is an object here."""
        return Structure.OBJECT if route.config.structured_output and tool.output_is_object else Structure.NONE

    def shows_output_schema(self, tool: Tool, route: Route) -> bool:
        """Show what can be honoured; with ``structured_output: false`` all that is declared (contract v0.3)."""
        return tool.output_is_object or not route.config.structured_output

    def warnings(self, tool: Tool, structured_output: bool) -> Iterator[str]:
        """Tell of an ``outputSchema`` that callers cannot see, or whose promise is not kept."""
        yield from broken_promise(tool, structured_output)
        if tool.output_schema is not None and structured_output and not tool.output_is_object:
            yield f'outputSchema has no root "type": "object" and is not shown on {self.version}'

    def listed(self, members: Mapping[str, Any], route: Route) -> Mapping[str, Any]:
        """Add nothing."""
        return members

    def answer(self, request_id: Fragment, result: Result, route: Route) -> Reply:
        """Write the result as it is."""
        return Reply(200, jsonrpc.result(request_id, result.members), result.headers)

    def refusal(self, request_id: Fragment, fault: Fault, guid: str, route: Route) -> Reply:
        """Write a JSON-RPC error at HTTP 200."""
        return Reply(200, refusals.error(request_id, fault, guid), code=refusals.code(fault))

    def broken(self, request_id: Fragment, guid: str) -> Reply:
        """Write it at HTTP 200 too."""
        return Reply(200, refusals.broken(request_id, guid), code=jsonrpc.INTERNAL_ERROR)
