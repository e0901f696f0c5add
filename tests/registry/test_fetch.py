from __future__ import annotations

import pytest
from support.ports import free_port

from mcp_gateway.deadline import Deadline
from mcp_gateway.registry.fetch import MAX_BYTES, Fetched, FetchFault, fetch
from mcp_gateway.transport.http import HttpClient


@pytest.fixture
def get():
    """Fetch /m from a base URL."""
    clients = []

    def do(base_url: str, *, etag: str | None = None, seconds: float = 10) -> Fetched:
        clients.append(HttpClient(base_url, connect_timeout_s=5, pool_size=1, ca_bundle=None, headers={}))
        return fetch(clients[-1], "/m?v=1", what="manifest", etag=etag, deadline=Deadline.after(seconds))

    yield do
    for client in clients:
        client.close()


def sentence(get, base_url: str, **options) -> str:
    with pytest.raises(FetchFault) as caught:
        get(base_url, **options)
    return str(caught.value)


def test_a_document_is_fetched_as_it_stands(serve, get):
    server = serve(b'{"a": 1.10}')
    assert get(server.base_url) == Fetched(b'{"a": 1.10}', None)
    ((path, headers),) = server.requests
    assert (path, headers["accept"]) == ("/m?v=1", "application/json")
    assert "if-none-match" not in headers


def test_a_document_that_is_here_already_is_not_sent_again(serve, get):
    server = serve(b"{}")
    server.tagged = True
    first = get(server.base_url)
    assert get(server.base_url, etag=first.etag) == Fetched(None, first.etag)
    server.document = b"[]"
    assert get(server.base_url, etag=first.etag).text == b"[]"


def test_an_etag_that_could_break_a_header_is_not_kept(serve, get):
    server = serve(b"{}")
    for etag in ("bare", '"a b"', '"' + "x" * 300 + '"', '"\xe9"'):
        server.headers = {"ETag": etag}
        assert get(server.base_url).etag is None
    server.headers = {"ETag": 'W/"1.4"'}
    assert get(server.base_url).etag == 'W/"1.4"'


@pytest.mark.parametrize("status", [201, 204, 206, 304, 400, 401, 404, 500, 503])
def test_another_status_than_200_is_a_fault(serve, get, status):
    server = serve(b"")
    server.status = status
    assert sentence(get, server.base_url) == f"the manifest was answered with HTTP status {status}; it must be 200"


def test_a_redirect_is_refused_and_not_followed(serve, get):
    target, server = serve(b"{}"), serve(b"")
    server.status, server.headers = 302, {"Location": f"{target.base_url}/m"}
    assert sentence(get, server.base_url) == (
        "the manifest was answered with HTTP status 302 (a redirect is not followed); it must be 200"
    )
    assert target.requests == []


def test_a_service_that_is_down_is_a_fault_that_names_no_address(get):
    told = sentence(get, f"http://127.0.0.1:{free_port()}")
    assert told == "the manifest could not be fetched: the connection was refused"


def test_a_service_that_is_silent_is_a_fault_at_the_deadline(serve, get):
    server = serve(b"{}")
    server.gate.clear()
    told = sentence(get, server.base_url, seconds=0.2)
    assert told == "the manifest could not be fetched: its time budget was used up"


def test_a_document_that_is_too_large_is_a_fault(serve, get):
    server = serve(b" " * MAX_BYTES)
    assert get(server.base_url).text is not None
    server.document += b" "
    told = sentence(get, server.base_url)
    assert told == "the manifest could not be fetched: its answer is larger than 8,388,608 bytes"
