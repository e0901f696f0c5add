"""
Each step of the road fails in turn, as if there were a mistake in it: the caller gets one well-formed ``-32603`` that
tells nothing of the inside, and the log gets the traceback, once, with the ``guid`` to find it by.

The steps fail because a value that they are given raises; nothing of the gateway is replaced.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import pytest
from road import BOTH, GUID, HELLO, LEGACY, META, MODERN, Road, dumps, error, message, tool

from mcp_gateway.caller import Correlation
from mcp_gateway.deadline import Deadline
from mcp_gateway.jsontext import Fragment
from mcp_gateway.observe.interaction import Interaction
from mcp_gateway.protocol.exchange import exchange
from mcp_gateway.registry.snapshot import Snapshot
from mcp_gateway.tools.route import Route
from mcp_gateway.toolservice.outcome import Outcome

INSIDE = "the inside of the gateway"
CORRELATION = Correlation(GUID, "req-1")
CALL: dict[str, Any] = {"name": "core.search", "arguments": {"query": "x"}}

both = pytest.mark.parametrize("version", BOTH)


def fail(*_: Any, **__: Any) -> NoReturn:
    raise RuntimeError(INSIDE)


@dataclass
class Headers:
    """The headers of a request, one of which may be such that it cannot be read."""

    sent: Mapping[str, str]
    broken: str | None = None

    def get(self, name: str) -> str | None:
        """Return a header, or fail."""
        return fail() if name == self.broken else self.sent.get(name)

    def each(self, name: str) -> tuple[str, ...]:
        """Return a header's values, or fail."""
        return (value,) if (value := self.get(name)) else ()


class BrokenSchema:
    """A schema that fails at every value."""

    violations = fits = fail


class BrokenStore:
    """A store of snapshots that cannot be read."""

    current = fail


class BrokenConfig:
    """A route's configuration whose members cannot be read, but for those that the choice of the revision needs."""

    key = "core"
    protocol_versions = BOTH

    def __getattr__(self, name: str) -> Any:
        return fail()


class BrokenText(bytes):
    """The bytes of a body that cannot be decoded for a reason nobody thought of."""

    decode = fail


def asked(version: str, method: str, params: Mapping[str, Any]) -> tuple[Headers, bytes]:
    """Return the headers and the body of a request."""
    headers = {"mcp-protocol-version": version}
    if version == MODERN:
        headers |= {"mcp-method": method, "mcp-name": params.get("name", "")}
        params = {**params, "_meta": META}
    return Headers(headers), dumps(message(method, params))


def held(log: pytest.LogCaptureFixture, route: Route, headers: Any, body: bytes, request_id: Any = 1) -> None:
    """Send a request down the road, whose failure must be answered and logged as it should."""
    seen = Interaction("core", GUID, "req-1")

    reply = exchange(route, headers, body, CORRELATION, Deadline.after(5), seen)

    assert (reply.status, json.loads(reply.body)) == (
        200,
        {
            "jsonrpc": "2.0",
            "id": request_id,
            "error": {"code": -32603, "message": "Internal error", "data": {"guid": GUID}},
        },
    )
    (record,) = log.records
    assert record.levelname == "ERROR"
    assert record.exc_info
    assert INSIDE in str(record.exc_info[1])
    fields = record.__dict__["fields"]
    assert (fields["guid"], fields["route"]) == (GUID, "core")
    assert (seen.outcome, seen.reason) == ("fault", "internal")


@both
def test_step_1_reading_the_json(road: Road, log: pytest.LogCaptureFixture, version: str) -> None:
    headers, body = asked(version, "tools/list", {})

    held(log, road.route, headers, BrokenText(body), request_id=None)


@both
@pytest.mark.parametrize("broken", ["guid", "x-request-id", "mcp-session-id", "employee-no", "virtual-employee-no"])
def test_step_3_reading_the_callers_headers(
    road: Road, log: pytest.LogCaptureFixture, version: str, broken: str
) -> None:
    headers, body = asked(version, "tools/list", {})

    held(log, road.route, replace(headers, broken=broken), body)


def test_step_4_holding_a_request_to_its_revision(road: Road, log: pytest.LogCaptureFixture) -> None:
    headers, body = asked(MODERN, "tools/list", {})

    held(log, road.route, replace(headers, broken="mcp-method"), body)


@both
@pytest.mark.parametrize("broken", ["traceparent", "baggage"])
def test_step_5_reading_the_trace_context(road: Road, log: pytest.LogCaptureFixture, version: str, broken: str) -> None:
    headers, body = asked(version, "tools/list", {})

    held(log, road.route, replace(headers, broken=broken), body)


@both
@pytest.mark.parametrize(("method", "params"), [("tools/list", {}), ("tools/call", CALL)])
def test_step_6_looking_at_the_snapshot(
    road: Road, log: pytest.LogCaptureFixture, version: str, method: str, params: dict[str, Any]
) -> None:
    route = replace(road.route, snapshots=BrokenStore())

    held(log, route, *asked(version, method, params))


def test_step_6_holding_the_name_to_its_header(road: Road, log: pytest.LogCaptureFixture) -> None:
    headers, body = asked(MODERN, "tools/call", CALL)

    held(log, road.route, replace(headers, broken="mcp-name"), body)


def with_tool(road: Road, **changed: Any) -> None:
    """Publish the first tool of the road anew, with other members."""
    current = road.store.current("core")
    assert current is not None
    tools = (replace(current.tools[0], **changed), *current.tools[1:])
    road.store.publish(
        Snapshot(current.route, tools, current.digest, current.loaded_at, current.services),
    )


def test_step_6_holding_an_argument_to_its_header(log: pytest.LogCaptureFixture) -> None:
    properties = {"query": {"type": "string", "x-mcp-header": "Query"}}
    road = Road(tool(inputSchema={"type": "object", "properties": properties}))
    headers, body = asked(MODERN, "tools/call", CALL)

    held(log, road.route, replace(headers, broken="mcp-param-query"), body)


@both
def test_step_6_checking_the_arguments(road: Road, log: pytest.LogCaptureFixture, version: str) -> None:
    with_tool(road, input_schema=BrokenSchema())

    held(log, road.route, *asked(version, "tools/call", CALL))
    assert not road.service.calls


@both
def test_step_6_rendering_the_list(road: Road, log: pytest.LogCaptureFixture, version: str) -> None:
    with_tool(road, shown={"name": object()})

    seen = Interaction("core", GUID, "req-1")
    reply = exchange(road.route, *asked(version, "tools/list", {}), CORRELATION, Deadline.after(5), seen)

    assert json.loads(reply.body)["error"]["code"] == -32603
    assert [record.levelname for record in log.records] == ["ERROR"]


@both
def test_step_6_calling_the_tool_service(road: Road, log: pytest.LogCaptureFixture, version: str) -> None:
    road.service.gives = RuntimeError(INSIDE)

    held(log, road.route, *asked(version, "tools/call", CALL))


@both
def test_step_6_checking_the_structure_of_the_answer(road: Road, log: pytest.LogCaptureFixture, version: str) -> None:
    with_tool(road, output_schema=BrokenSchema(), output_is_object=True)
    road.service.gives = Outcome(({"type": "text", "text": "{}"},), structured=Fragment(b"{}"))

    held(log, road.route, *asked(version, "tools/call", CALL))


@pytest.mark.parametrize(
    ("version", "method", "params"),
    [(LEGACY, "initialize", HELLO), (MODERN, "server/discover", {}), (MODERN, "tools/list", {})],
)
def test_step_6_saying_what_is_configured(
    road: Road, log: pytest.LogCaptureFixture, version: str, method: str, params: Mapping[str, Any]
) -> None:
    held(log, replace(road.route, config=BrokenConfig()), *asked(version, method, params))


@both
def test_writing_the_answer(road: Road, log: pytest.LogCaptureFixture, version: str) -> None:
    road.service.gives = Outcome(({"type": "text", "text": object()},))

    response = road.speak(version, "tools/call", CALL)

    assert error(response, -32603)["message"] == "Internal error"
    assert [record.levelname for record in log.records] == ["ERROR"]


@both
def test_an_answer_without_a_block_is_a_mistake_of_ours_too(
    road: Road, log: pytest.LogCaptureFixture, version: str
) -> None:
    road.service.gives = Outcome(())

    error(road.speak(version, "tools/call", CALL), -32603)
    assert len(log.records) == 1


def test_a_notification_that_fails_is_answered_all_the_same(road: Road, log: pytest.LogCaptureFixture) -> None:
    body = dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})

    held(log, road.route, Headers({"mcp-protocol-version": LEGACY}, "guid"), body, request_id=None)


@pytest.mark.parametrize("raised", [MemoryError, RecursionError, KeyError, UnicodeEncodeError("utf-8", "x", 0, 1, "x")])
def test_whatever_kind_of_failure_it_is(road: Road, log: pytest.LogCaptureFixture, raised: Any) -> None:
    road.service.gives = raised if isinstance(raised, Exception) else raised(INSIDE)

    response = road.legacy("tools/call", CALL)

    assert error(response, -32603)["message"] == "Internal error"
    assert INSIDE.encode() not in response.data
    assert len(log.records) == 1


@pytest.mark.parametrize("raised", [SystemExit, KeyboardInterrupt])
def test_what_ends_the_worker_is_not_held_up(road: Road, raised: type[BaseException]) -> None:
    road.service.gives = raised()  # what gunicorn does to a worker that has to go

    with pytest.raises(raised):
        road.legacy("tools/call", CALL)
