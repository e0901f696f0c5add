"""A tool found, called within its budget, timed, and held to what it promised."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest
from road import FakeToolService, as_json, snapshot, text, tool

from mcp_gateway.caller import Trace
from mcp_gateway.config import model
from mcp_gateway.deadline import Deadline
from mcp_gateway.faults import Busy, RegistryUnavailable, UnknownTool
from mcp_gateway.jsontext import Fragment
from mcp_gateway.observe.interaction import Interaction
from mcp_gateway.registry.snapshots import Snapshots
from mcp_gateway.tools import calling, structure
from mcp_gateway.tools.calling import Called, Structure
from mcp_gateway.tools.route import Route
from mcp_gateway.toolservice.client import Call
from mcp_gateway.toolservice.outcome import Failure, Outcome
from mcp_gateway.transport.answer import Delivery, Reason, Unanswered

CONFIG = model.Route(
    key="core",
    public_path="/mcp/core",
    tool_services=(model.ToolService("core-tools", "http://127.0.0.1:9100"),),
    protocol_versions=("2025-11-25",),
)
N = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def route(*tools: dict[str, Any], service: str = "core-tools") -> tuple[Route, FakeToolService]:
    fake, store = FakeToolService(), Snapshots()
    store.publish(snapshot(*tools, service=service))
    return Route(CONFIG, model.Server(), store, {"core-tools": fake}), fake


def call(
    served: Route, wants: Structure = Structure.NONE, deadline: Deadline | None = None
) -> tuple[Called, Interaction]:
    seen = Interaction("core", "guid", "request")
    found = calling.find(served, "core.search")
    arguments = Fragment(b'{"n" : 1.0}')
    called = calling.call(served, found, arguments, {"guid": "g"}, deadline or Deadline.after(5), seen, wants)
    return called, seen


def test_a_tool_is_found_by_its_exact_name() -> None:
    served, _ = route(tool(), tool("core.other"))

    assert calling.find(served, "core.other").name == "core.other"
    for name in ("core.Other", "other", "", "core.other "):
        with pytest.raises(UnknownTool, match="unknown tool"):
            calling.find(served, name)


def test_a_tool_whose_service_this_route_does_not_have_yet_is_unknown() -> None:
    served, _ = route(tool(), service="brand-new")

    with pytest.raises(UnknownTool):
        calling.find(served, "core.search")


def test_nothing_is_found_before_something_is_loaded() -> None:
    with pytest.raises(RegistryUnavailable):
        calling.find(Route(CONFIG, model.Server(), Snapshots(), {}), "core.search")


def test_a_call_hands_on_what_the_manifest_says_and_what_the_caller_sent() -> None:
    served, fake = route(tool(timeoutMs=1500, resultFormat="mcp", endpoint="/a/b?c=d"))
    fake.gives = as_json('{"content": []}')
    deadline = Deadline.after(5)

    call(served, deadline=deadline)

    (sent,) = fake.calls
    assert (sent.tool, sent.endpoint, sent.arguments) == ("core.search", "/a/b?c=d", b'{"n" : 1.0}')
    assert (sent.headers, sent.budget_s, sent.result_format) == ({"guid": "g"}, 1.5, "mcp")
    assert fake.deadlines == [deadline]


def test_a_call_is_timed_and_noted() -> None:
    served, _ = route(tool())

    called, seen = call(served)

    assert seen.tool_ms is not None
    assert called.elapsed_ms == int(seen.tool_ms)
    assert (seen.outcome, seen.reason, seen.tool_status) == ("ok", None, 200)
    assert seen.peer == ("127.0.0.1", 9100)


class SlowToolService(FakeToolService):
    """Takes 30 ms for a call."""

    def call(self, call: Call, deadline: Deadline) -> Outcome:
        threading.Event().wait(0.03)
        return super().call(call, deadline)


def test_the_time_of_a_call_is_in_milliseconds() -> None:
    served, _ = route(tool())

    called, _ = call(replace(served, clients={"core-tools": SlowToolService()}))

    assert 30 <= called.elapsed_ms < 30_000


def test_a_failed_call_is_noted_with_its_reason() -> None:
    served, fake = route(tool())
    fake.gives = Unanswered(Reason.REFUSED, Delivery.NOT_SENT, "the connection was refused")

    called, seen = call(served)

    assert called.outcome.is_error
    assert (seen.outcome, seen.reason, seen.tool_status) == ("tool_error", "refused", None)


def test_a_tool_that_says_that_it_failed_is_noted_without_a_reason() -> None:
    served, fake = route(tool(resultFormat="mcp"))
    fake.gives = as_json('{"content": [], "isError": true}')

    _, seen = call(served)

    assert (seen.outcome, seen.reason) == ("tool_error", None)


def test_a_busy_service_is_a_refusal_and_no_outcome() -> None:
    served, fake = route(tool())
    fake.gives = Busy("core-tools")

    with pytest.raises(Busy):
        call(served)


@pytest.mark.parametrize(
    ("wants", "schema", "answer", "structured"),
    [
        (Structure.NONE, N, '{"n":1}', None),
        (Structure.OBJECT, N, '{"n":1}', b'{"n":1}'),
        (Structure.ANY, N, '{"n":1}', b'{"n":1}'),
        (Structure.ANY, {"type": "array"}, "[1]", b"[1]"),
        (Structure.ANY, None, '{"n":1}', None),
    ],
)
def test_structure_is_given_as_far_as_it_is_wanted_and_promised(
    wants: Structure, schema: Any, answer: str, structured: bytes | None
) -> None:
    served, fake = route(tool(**({} if schema is None else {"outputSchema": schema})))
    fake.gives = as_json(answer)

    called, _ = call(served, wants)

    found = called.outcome.structured
    assert (None if found is None else bytes(found)) == structured


@pytest.mark.parametrize(
    ("answer", "objects_only", "words"),
    [
        (text("n"), False, "it brings no JSON"),
        (as_json("[1]"), True, "it is not a JSON object"),
        (as_json("{}"), True, "'n' is required"),
        (as_json('{"n":"1"}'), False, "'n' must be integer"),
        (as_json('{"n":1e99999999999999999999}'), False, "a number's exponent is out of range"),
    ],
)
def test_an_answer_that_breaks_its_promise_is_an_error_with_the_reason(
    answer: Any, objects_only: bool, words: str
) -> None:
    served, fake = route(tool(outputSchema=N))
    fake.gives = answer

    called, seen = call(served, Structure.OBJECT if objects_only else Structure.ANY)

    assert called.outcome.is_error
    assert called.outcome.failure == Failure(Reason.OUTPUT_SCHEMA, Delivery.ANSWERED, 200)
    assert words in called.outcome.content[0]["text"]
    assert called.outcome.structured is None
    assert seen.reason == "output_schema"


def test_an_answer_loses_its_structure_and_nothing_else_where_none_is_shown() -> None:
    outcome = Outcome(({"type": "text", "text": "1"},), structured=Fragment(b"1"))

    assert structure.plain(outcome) == replace(outcome, structured=None)


def test_what_must_not_reach_the_caller_is_logged_with_its_guid(log: pytest.LogCaptureFixture) -> None:
    served, fake = route(tool())
    fake.gives = text("the inside of the service", 500)

    call(served)

    (record,) = log.records
    assert record.getMessage() == "the inside of the service"
    assert record.__dict__["fields"].items() >= {"guid": "guid", "route": "core"}.items()


def test_every_line_of_a_call_carries_its_trace_and_what_is_called() -> None:
    seen = Interaction("core", "guid", "request-id")
    seen.revision, seen.method, seen.tool = "2026-07-28", "tools/call", "core.search"
    seen.trace = Trace(f"00-{'4bf92f35' * 4}-00f067aa0ba902b7-01")

    assert seen.context() == {
        "guid": "guid",
        "route": "core",
        "revision": "2026-07-28",
        "method": "tools/call",
        "tool": "core.search",
        "traceId": "4bf92f35" * 4,
    }
