"""When a request that arrives in pieces is worth a thread."""

from __future__ import annotations

import pytest

from mcp_gateway.serving.framing import AWAITED_BYTES, is_worth_a_thread

HEAD = b"POST /mcp/core HTTP/1.1\r\nHost: a\r\n"


def with_head(lines: bytes, body: bytes = b"") -> bytes:
    return HEAD + lines + b"\r\n" + body


@pytest.mark.parametrize(
    "request_bytes",
    [
        with_head(b""),
        with_head(b"Content-Length: 5\r\n", b"hello"),
        with_head(b"content-length:5 \r\n", b"hello"),
        with_head(b"Content-Length: 0\r\n"),
        with_head(b"Content-Length: %d\r\n" % (AWAITED_BYTES // 2), b"x" * (AWAITED_BYTES // 2)),
        with_head(b"Transfer-Encoding: chunked\r\n", b"5\r\nhello\r\n0\r\n\r\n"),
        with_head(b"transfer-encoding:chunked \r\n", b"5;a=b\r\nhello\r\n000;c\r\nTrailer: 1\r\n\r\n"),
        with_head(b"Transfer-Encoding: chunked\r\n", b"9\r\nx\r\n0\r\n\r\ny\r\n0\r\n\r\n"),
    ],
    ids=lambda request_bytes: request_bytes[len(HEAD) : len(HEAD) + 30],
)
def test_a_small_request_is_worth_a_thread_with_its_last_byte_and_not_before(request_bytes: bytes) -> None:
    assert is_worth_a_thread(request_bytes)
    assert not [cut for cut in range(1, len(request_bytes)) if is_worth_a_thread(request_bytes[:cut])]


def test_what_stands_behind_a_request_does_not_hold_it_back() -> None:
    assert is_worth_a_thread(with_head(b"Content-Length: 5\r\n", b"helloPOST /next"))
    assert is_worth_a_thread(with_head(b"Transfer-Encoding: chunked\r\n", b"0\r\n\r\nPOST /next"))


@pytest.mark.parametrize(
    "request_bytes",
    [
        pytest.param(with_head(b"Content-Length: %d\r\n" % AWAITED_BYTES), id="large body"),
        pytest.param(with_head(b"Expect: 100-continue\r\nContent-Length: 5\r\n"), id="client that waits to be asked"),
        pytest.param(HEAD + b"Cookie: " + b"x" * AWAITED_BYTES, id="endless head"),
        pytest.param(with_head(b"Transfer-Encoding: chunked\r\n", b"x" * AWAITED_BYTES), id="endless chunks"),
        pytest.param(with_head(b"Transfer-Encoding: chunked\r\n", b"1\r\nx\r\n" * 300), id="very many chunks"),
        pytest.param(with_head(b"Transfer-Encoding: chunked\r\n", b"zz\r\n"), id="no chunk size"),
        pytest.param(with_head(b"Transfer-Encoding: chunked\r\n", b"1\r\nxXX"), id="no end of a chunk"),
        pytest.param(with_head(b"Transfer-Encoding: identity\r\n"), id="a coding that is refused"),
        pytest.param(b"POST /mcp/core HTTP/1.1\n", id="bare LF"),
    ],
)
def test_a_request_that_a_thread_must_read_or_refuse_is_not_awaited(request_bytes: bytes) -> None:
    assert is_worth_a_thread(request_bytes)
