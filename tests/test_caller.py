"""The caller's headers: which are read, how strictly, and which cross to a Tool Service."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from road import BOTH, GUID, UUID, Road, as_json, error, result

from mcp_gateway import caller
from mcp_gateway.caller import Correlation, Trace
from mcp_gateway.faults import BadCallerHeader

CORRELATION = Correlation(GUID, "req-1")
TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE_ID}-00f067aa0ba902b7-01"
OTHER = "00-11111111111111111111111111111111-2222222222222222-00"
CALL: dict[str, Any] = {"name": "core.search", "arguments": {"query": "x"}}

both = pytest.mark.parametrize("version", BOTH)


class Sent(dict[str, str]):
    """The headers of a request, each of which came once unless *twice* has its values."""

    def __init__(self, headers: dict[str, str], **twice: tuple[str, ...]) -> None:
        super().__init__(headers)
        self._twice = {name.replace("_", "-"): values for name, values in twice.items()}

    def each(self, name: str) -> tuple[str, ...]:
        """Return every value of a header."""
        return self._twice.get(name) or ((self[name],) if name in self else ())


# --- what is well-formed ---------------------------------------------------------------------------------------------

WELL_FORMED = {
    "guid": [GUID, GUID.upper(), "00000000-0000-0000-0000-000000000000"],
    "x-request-id": ["a", "A.b_c:d-9", "x" * 128],
    "mcp-session-id": ["a", "1868a90c-3a3f-4f5b", "x" * 128],
    "employee-no": ["1", "!~", "E12345", "x" * 2048, "a,b;c"],
    "virtual-employee-no": ["V-1", "{}", "x" * 2048],
}
MALFORMED = {
    "guid": [
        "x",
        GUID[:-1],
        GUID + "0",
        "{" + GUID + "}",
        GUID.replace("-", ""),
        f"urn:uuid:{GUID}",
        GUID + "\n",
        f"{GUID},{GUID}",
    ],
    "x-request-id": ["a b", "x" * 129, "a/b", "é", "a\t", "a,b", "a\n"],
    "mcp-session-id": ["a b", "x" * 129, "<a>", "a\r\nx: y"],
    "employee-no": ["a b", " a", "a\t", "é", "x" * 2049, "a\x7f", "a\n", "\x00"],
    "virtual-employee-no": ["a b", "가", "x" * 2049],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WELL_FORMED.items() for value in values])
def test_a_well_formed_header_is_taken_as_it_is(name: str, value: str) -> None:
    headers = Sent({name: value})

    who = caller.identify(headers, caller.correlate(headers))

    assert caller.forwarded(who, Trace())[name] == value


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in MALFORMED.items() for value in values])
def test_a_malformed_header_is_refused_by_its_name_and_never_by_its_value(name: str, value: str) -> None:
    with pytest.raises(BadCallerHeader) as refused:
        caller.identify(Sent({name: value}), CORRELATION)

    assert refused.value.header == name
    assert str(refused.value).startswith(f"header '{name}' must be ")
    assert value == "x" or value not in str(refused.value)


@pytest.mark.parametrize("name", WELL_FORMED)
@pytest.mark.parametrize("value", [None, ""])
def test_an_absent_or_empty_header_counts_as_absent(name: str, value: str | None) -> None:
    who = caller.identify(Sent({} if value is None else {name: value}), CORRELATION)

    assert caller.forwarded(who, Trace()) == {"guid": GUID, "x-request-id": "req-1"}


@pytest.mark.parametrize("name", ["guid", "x-request-id"])
@pytest.mark.parametrize("value", ["", "not well formed"])
def test_an_identifier_that_is_not_there_or_malformed_is_made_anew_each_time(name: str, value: str) -> None:
    made = [caller.correlate(Sent({name: value})) for _ in range(2)]

    for each in made:
        assert UUID.fullmatch(each.guid)
        assert UUID.fullmatch(each.request_id)
    assert made[0].guid != made[1].guid
    assert made[0].request_id != made[1].request_id


@pytest.mark.parametrize("name", WELL_FORMED)
def test_the_same_value_twice_counts_once_and_an_empty_one_beside_it_not_at_all(name: str) -> None:
    value = WELL_FORMED[name][0]
    headers = Sent({}, **{name.replace("-", "_"): (value, "", value)})

    who = caller.identify(headers, caller.correlate(headers))

    assert caller.forwarded(who, Trace())[name] == value


@pytest.mark.parametrize("name", WELL_FORMED)
def test_two_values_of_one_header_are_refused_although_each_is_well_formed(name: str) -> None:
    headers = Sent({}, **{name.replace("-", "_"): tuple(WELL_FORMED[name][:2])})
    correlation = caller.correlate(headers)

    with pytest.raises(BadCallerHeader, match=f"header '{name}' must be one value, "):
        caller.identify(headers, correlation)

    assert not {correlation.guid, correlation.request_id} & set(WELL_FORMED.get(name, ()))


# --- trace context ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value", [PARENT, f"01-{PARENT[3:]}", f"cc-{PARENT[3:]}-what-the-future-holds", f"01-{PARENT[3:]}-"]
)
def test_a_valid_traceparent_is_kept(value: str) -> None:
    context = caller.trace({"traceparent": value, "tracestate": "a=1,b=2", "baggage": "k=v;p"}, {})

    assert context == Trace(value, "a=1,b=2", "k=v;p")
    assert context.trace_id == TRACE_ID


@pytest.mark.parametrize(
    "value",
    [
        "",
        "x",
        PARENT.upper(),
        PARENT[:-1],
        f"{PARENT}-more",
        f"{PARENT}0",
        f"ff-{PARENT[3:]}",
        f"00-{'0' * 32}-00f067aa0ba902b7-01",
        f"00-{TRACE_ID}-{'0' * 16}-01",
        f"{PARENT}\n",
        f"{PARENT}, {PARENT}",
        f"01-{PARENT[3:]}.x",
    ],
)
def test_an_invalid_traceparent_is_dropped_with_its_tracestate(value: str) -> None:
    context = caller.trace({"traceparent": value, "tracestate": "a=1", "baggage": "k=v"}, {})

    assert context == Trace(baggage="k=v")
    assert context.trace_id is None


@pytest.mark.parametrize(("name", "value"), [("tracestate", "a=\n"), ("tracestate", "é=1"), ("tracestate", "x" * 513)])
def test_an_invalid_tracestate_is_dropped_alone(name: str, value: str) -> None:
    assert caller.trace({"traceparent": PARENT, name: value}, {}) == Trace(PARENT)


@pytest.mark.parametrize("value", ["", "a=\r\nx: y", "é=1", "x" * 8193])
def test_an_invalid_baggage_is_dropped(value: str) -> None:
    assert caller.trace({"traceparent": PARENT, "baggage": value}, {}) == Trace(PARENT)


def test_meta_wins_over_the_headers() -> None:
    headers = {"traceparent": OTHER, "tracestate": "h=1", "baggage": "h=1"}

    assert caller.trace(headers, {"traceparent": PARENT, "tracestate": "m=1", "baggage": "m=1"}) == Trace(
        PARENT, "m=1", "m=1"
    )


@pytest.mark.parametrize("value", ["invalid", 5, None, [], {"a": 1}])
def test_meta_wins_even_when_what_it_says_is_invalid(value: Any) -> None:
    assert caller.trace({"traceparent": OTHER, "tracestate": "h=1"}, {"traceparent": value}) == Trace()


def test_a_tracestate_is_taken_from_where_its_traceparent_stands() -> None:
    assert caller.trace({"tracestate": "h=1"}, {"traceparent": PARENT}) == Trace(PARENT)
    assert caller.trace({"traceparent": PARENT}, {"tracestate": "m=1"}) == Trace(PARENT)


def test_without_trace_context_there_is_none() -> None:
    assert caller.trace({}, {}) == Trace()


# --- what crosses ----------------------------------------------------------------------------------------------------

ALL = {
    "guid": GUID,
    "x-request-id": "req-1",
    "mcp-session-id": "session:1",
    "employee-no": "E-100200",
    "virtual-employee-no": "V-9",
    "traceparent": PARENT,
    "tracestate": "a=1",
    "baggage": "k=v",
}
NEVER = {
    "Authorization": "Bearer secret",
    "Cookie": "a=b",
    "X-Forwarded-For": "10.0.0.1",
    "Forwarded": "for=10.0.0.1",
    "Accept": "application/json",
    "Accept-Language": "ko",
    "User-Agent": "builder/1",
    "Referer": "https://builder.example/",
    "Last-Event-ID": "5",
    "Proxy-Authorization": "Basic x",
    "X-Timeout-Ms": "1",
    "Mcp-Param-Other": "x",
    "X-Custom": "1",
}


@both
def test_what_crosses_is_what_the_contract_names_and_nothing_else(road: Road, version: str) -> None:
    result(road.speak(version, "tools/call", CALL, headers=ALL | NEVER))

    assert road.service.calls[0].headers == ALL


@both
def test_a_caller_that_sends_nothing_gets_identifiers_that_cross_and_come_back(road: Road, version: str) -> None:
    response = road.speak(version, "tools/call", CALL)

    sent = road.service.calls[0].headers
    assert sent == {"guid": response.headers["guid"], "x-request-id": response.headers["x-request-id"]}
    assert UUID.fullmatch(sent["guid"])


@both
def test_trace_context_of_meta_crosses_before_that_of_the_headers(road: Road, version: str) -> None:
    headers = {"traceparent": OTHER, "tracestate": "h=1", "baggage": "h=1"}
    meta = {"traceparent": PARENT, "tracestate": "m=1"}
    if version == BOTH[0]:
        result(road.modern("tools/call", CALL, headers=headers, meta=meta))
    else:
        result(road.legacy("tools/call", {**CALL, "_meta": meta}, headers=headers))

    sent = road.service.calls[0].headers
    assert {name: sent[name] for name in headers} == {"traceparent": PARENT, "tracestate": "m=1", "baggage": "h=1"}
    assert road.seen[0].trace.trace_id == TRACE_ID


@both
@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in MALFORMED.items() for value in values if value.isprintable()]
)
def test_a_malformed_header_stops_the_call_and_its_value_goes_nowhere(version: str, name: str, value: str) -> None:
    road = Road()

    # In WSGI a header's text is its bytes read as Latin-1.
    response = road.speak(version, "tools/call", CALL, headers={name: value.encode().decode("latin-1")})

    found = error(response, -32600, 200 if version != BOTH[0] else 400)
    assert f"header '{name}' must be" in found["message"]
    assert not road.service.calls
    assert road.seen[0].reason == "bad_caller_header"
    if len(value) > 3:
        assert value not in response.data.decode() + str(response.headers)


def test_employee_numbers_are_never_in_the_record_or_in_an_answer(road: Road) -> None:
    road.service.gives = as_json("{}")

    response = road.legacy("tools/call", CALL, headers=ALL)

    for number in ("E-100200", "V-9"):
        assert number not in str(road.seen[0])
        assert number.encode() not in response.data
        assert number not in str(response.headers)


@given(st.dictionaries(st.sampled_from([*WELL_FORMED, "traceparent", "tracestate", "baggage"]), st.text(max_size=60)))
def test_whatever_the_headers_hold_nothing_crosses_that_could_end_a_header_line(headers: dict[str, str]) -> None:
    headers = Sent(headers)
    try:
        who = caller.identify(headers, caller.correlate(headers))
    except BadCallerHeader:
        return

    for value in caller.forwarded(who, caller.trace(headers, {})).values():
        assert re.fullmatch(r"[\x20-\x7e\t]+", value)
