"""One call of one tool, its request looked at where it leaves the process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import responses
from peers import Listener, Talk, answer, good
from requests.structures import CaseInsensitiveDict

from mcp_gateway.config.model import ToolService
from mcp_gateway.deadline import Deadline
from mcp_gateway.faults import Busy
from mcp_gateway.toolservice.client import Call, ToolServiceClient
from mcp_gateway.transport.answer import Delivery, Reason

BASE = "http://tools.example:9100"
URL = BASE + "/tools/search"


def client_of(base_url: str = BASE, **options: Any) -> ToolServiceClient:
    service = ToolService("core-tools", base_url, **{"timeout_s": 20.0, **options})
    return ToolServiceClient(service, max_response_bytes=1000, user_agent="mcp-gateway/1.2.3")


def call_of(arguments: bytes = b"{}", **options: Any) -> Call:
    return Call("core.search", "/tools/search", arguments, options.pop("headers", {}), **options)


@pytest.fixture
def service() -> Iterator[responses.RequestsMock]:
    """A Tool Service that answers inside the process."""
    with responses.RequestsMock(target="mcp_gateway.transport.adapter.ServiceAdapter.send") as mock:
        yield mock


def test_the_arguments_arrive_byte_for_byte(service: responses.RequestsMock) -> None:
    service.post(URL, body="found")
    arguments = '{"q":  "한글 \\ud83d\\ude00", "n": 1.10, "big": 12345678901234567890, "e": 1e400}'.encode()

    outcome = client_of().call(call_of(arguments), Deadline.after(60))

    assert outcome.content == ({"type": "text", "text": "found"},)
    assert service.calls[0].request.body == arguments


def test_a_request_has_our_headers_the_callers_and_the_services_fixed_ones(service: responses.RequestsMock) -> None:
    service.post(URL, body="found")
    client = client_of(headers={"Authorization": "Bearer fixed", "GUID": "fixed", "user-agent": "fixed"})

    client.call(call_of(headers={"guid": "of the caller"}), Deadline.after(60))

    sent = CaseInsensitiveDict(service.calls[0].request.headers)
    assert sent["authorization"] == "Bearer fixed"
    assert sent["guid"] == "of the caller"
    assert sent["user-agent"] == "mcp-gateway/1.2.3"
    assert sent["content-type"] == "application/json"
    assert sorted(name.lower() for name in sent) == [
        "accept-encoding",
        "authorization",
        "content-length",
        "content-type",
        "guid",
        "user-agent",
        "x-timeout-ms",
    ]


@pytest.mark.parametrize(
    ("tool_s", "service_s", "left_s", "expected_ms"),
    [
        (2.0, 20.0, 300.0, 2_000),
        (None, 20.0, 300.0, 20_000),
        (90.0, 20.0, 300.0, 90_000),
        (90.0, 20.0, 5.0, 5_000),
    ],
)
def test_the_budget_is_the_tools_else_the_services_and_never_more_than_what_is_left(
    tool_s: float | None, service_s: float, left_s: float, expected_ms: int, service: responses.RequestsMock
) -> None:
    service.post(URL, body="found")

    client_of(timeout_s=service_s).call(call_of(budget_s=tool_s), Deadline.after(left_s))

    told_ms = int(service.calls[0].request.headers["x-timeout-ms"])
    assert expected_ms - 1_000 < told_ms <= expected_ms


def test_a_tool_service_is_told_at_least_one_millisecond(service: responses.RequestsMock) -> None:
    service.post(URL, body="found")

    client_of().call(call_of(budget_s=0.0), Deadline.after(60))

    assert service.calls[0].request.headers["x-timeout-ms"] == "1"


def test_an_answer_is_read_in_the_format_of_the_tool(service: responses.RequestsMock) -> None:
    body = b'{"content": [{"type": "text", "text": "own"}], "isError": true}'
    service.post(URL, body=body, content_type="application/json")

    outcome = client_of().call(call_of(result_format="mcp"), Deadline.after(60))

    assert outcome.is_error
    assert outcome.failure is None


def test_an_answer_over_the_limit_is_a_sentence(service: responses.RequestsMock) -> None:
    service.post(URL, body="x" * 1001)

    outcome = client_of().call(call_of(), Deadline.after(60))

    assert outcome.content[0]["text"] == (
        "Tool 'core.search' gave an answer that cannot be used: its answer is larger than 1,000 bytes."
    )
    assert outcome.failure is not None
    assert outcome.failure.reason is Reason.TOO_LARGE


def test_an_interaction_whose_time_is_up_sends_nothing() -> None:
    with Listener(good) as peer:
        client = client_of(peer.base_url)
        outcome = client.call(call_of(), Deadline.after(-1))
        client.close()

    assert outcome.content[0]["text"] == (
        "Tool 'core.search' was not called: the time for the whole request was used up before."
    )
    assert outcome.failure is not None
    assert (outcome.failure.reason, outcome.failure.delivery) == (Reason.BUDGET, Delivery.NOT_SENT)
    assert not peer.requests


def test_a_call_beyond_max_in_flight_is_refused_at_once_and_not_sent() -> None:
    arrived, release = threading.Semaphore(0), threading.Event()

    def holding(talk: Talk) -> None:
        while talk.request():
            arrived.release()
            release.wait(10)
            talk.send(answer(b'"done"'))

    with Listener(holding) as peer, ThreadPoolExecutor(2) as threads:
        client = client_of(peer.base_url, max_in_flight=2)
        running = [threads.submit(client.call, call_of(), Deadline.after(30)) for _ in range(2)]
        assert all(arrived.acquire(timeout=10) for _ in range(2))

        assert client.in_flight == 2
        with pytest.raises(Busy, match="'core-tools' is busy"):
            client.call(call_of(), Deadline.after(30))

        release.set()
        assert [call.result(10).content[0]["text"] for call in running] == ["done", "done"]
        assert client.in_flight == 0
        assert client.call(call_of(), Deadline.after(30)).content[0]["text"] == "done"
        client.close()

    assert len(peer.requests) == 3


def test_a_closed_client_calls_nobody() -> None:
    with Listener(good) as peer:
        client = client_of(peer.base_url)
        client.close()
        outcome = client.call(call_of(), Deadline.after(5))

    assert outcome.is_error
    assert peer.connections == 0
