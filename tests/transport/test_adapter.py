"""The adapter as ``requests`` knows adapters."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import responses
from peers import Listener, Script, answer, good, sending
from requests.adapters import BaseAdapter

from mcp_gateway.deadline import Deadline
from mcp_gateway.transport.adapter import ServiceAdapter, ServiceRequest
from mcp_gateway.transport.exchange import Exchange
from mcp_gateway.transport.http import HttpClient
from mcp_gateway.transport.names import HostAddresses
from mcp_gateway.transport.pool import Pool

Serve = Callable[..., Listener]

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"


class Service:
    """An adapter for a peer, and requests to it."""

    def __init__(self, peer: Listener) -> None:
        self.origin = peer.base_url
        addresses = HostAddresses("127.0.0.1", peer.port)
        pool = Pool(addresses, host="", tls=None, size=2, connect_timeout_s=5.0, idle_limit_s=60.0)
        self.adapter = ServiceAdapter(pool, origin=self.origin, host="tools.example")

    def request(self, body: bytes = b"{}") -> ServiceRequest:
        headers = {"content-length": str(len(body))}
        return ServiceRequest("POST", f"{self.origin}/x", headers, body, Exchange(Deadline.after(10)))


Make = Callable[..., tuple[Service, Listener]]


@pytest.fixture
def make(serve: Serve) -> Iterator[Make]:
    """Make a service of scripts."""
    made: list[Service] = []

    def start(*scripts: Script) -> tuple[Service, Listener]:
        peer = serve(*scripts)
        made.append(Service(peer))
        return made[-1], peer

    yield start
    for service in made:
        service.adapter.close()


def test_it_is_a_transport_adapter_of_requests() -> None:
    assert issubclass(ServiceAdapter, BaseAdapter)


@pytest.mark.parametrize("reply", [answer(b"abc"), CHUNKED, b"HTTP/1.1 200 OK\r\n\r\nabc"])
def test_what_comes_back_is_a_response_of_requests(reply: bytes, make: Make) -> None:
    service, _ = make(sending(reply))

    with service.adapter.send(service.request()) as response:
        assert response.ok
        assert response.content == b"abc"
        assert response.text == "abc"
        assert response.url == f"{service.origin}/x"
        assert not response.is_redirect


def test_a_connection_goes_back_once_however_often_its_answer_is_closed(make: Make) -> None:
    service, _ = make(good)
    first = service.request()
    response = service.adapter.send(first)
    assert response.content == b"{}"
    first.exchange.settled = True
    response.close()
    response.raw.close()

    one, other = (service.adapter.send(service.request(body)) for body in (b"1", b"2"))
    with one, other:
        assert (one.content, other.content) == (b"1", b"2")


def test_a_connection_whose_exchange_was_not_settled_is_closed(make: Make) -> None:
    service, peer = make(good)

    for number in (b"1", b"2"):
        with service.adapter.send(service.request(number)) as response:
            assert response.raw.read(10) == number
            assert response.raw.read(10) == b""

    peer.wait_finished(2)
    assert peer.connections == 2


def test_responses_can_stand_in_for_it() -> None:
    with responses.RequestsMock(target="mcp_gateway.transport.adapter.ServiceAdapter.send") as mock:
        mock.post("http://tools.example/x", body="found", status=429, headers={"Retry-After": "1"})
        client = HttpClient(
            "http://tools.example", connect_timeout_s=1.0, pool_size=1, ca_bundle=None, headers={"X-A": "1"}
        )
        got = client.send("POST", "/x", headers={}, body=b"{}", deadline=Deadline.after(5), max_bytes=100)
        client.close()

        assert (got.status, got.body, got.headers["retry-after"]) == (429, b"found", "1")
        assert mock.calls[0].request.headers == {"Accept-Encoding": "identity", "X-A": "1", "Content-Length": "2"}
        assert len(mock.calls) == 1
