"""When a request that arrives in pieces is worth a thread."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_gateway.serving import framing
from mcp_gateway.serving.framing import AWAITED_BYTES, Arrival

HEAD = b"POST /mcp/core HTTP/1.1\r\nHost: a\r\n"


def is_worth_a_thread(received: bytes) -> bool:
    return Arrival().add(received)


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
        pytest.param(with_head(b"Transfer-Encoding: chunked\r\n", b"-1\r\n"), id="less than no chunk size"),
        pytest.param(with_head(b"Transfer-Encoding: chunked\r\n", b"1\r\nxXX"), id="no end of a chunk"),
        pytest.param(with_head(b"Transfer-Encoding: identity\r\n"), id="a coding that is refused"),
        pytest.param(with_head(b"Content-Length: five\r\n"), id="no number for a length"),
        pytest.param(with_head(b"Content-Length: %d\r\n" % 10**18), id="a length beyond all lengths"),
        pytest.param(b"POST /mcp/core HTTP/1.1\n", id="bare LF"),
    ],
)
def test_a_request_that_a_thread_must_read_or_refuse_is_not_awaited(request_bytes: bytes) -> None:
    assert is_worth_a_thread(request_bytes)


def test_what_was_taken_is_no_part_of_the_next_request() -> None:
    arrival = Arrival()
    assert arrival.add(with_head(b"Content-Length: 5\r\n", b"hello")) is True
    assert arrival.take() == with_head(b"Content-Length: 5\r\n", b"hello")
    assert arrival.add(with_head(b"Content-Length: 5\r\n", b"hell")) is False
    assert arrival.add(b"o") is True


PIECES = st.sampled_from(
    [
        *(b"\r", b"\n", b"\r\n", b"\r\n\r\n", b" ", b"x", b"5", b"hello", b"0", b"-1", b";", b"\r\n0\r\n\r\n"),
        *(
            b"POST / HTTP/1.1\r\nHost: a",
            b"\r\nContent-Length:",
            b"\r\nTransfer-Encoding:",
            b"chunked",
            b"\r\nExpect: a",
        ),
    ]
)


@given(st.lists(PIECES).map(b"".join), st.lists(st.integers(1, 40)))
def test_a_request_is_judged_alike_however_it_is_cut(request_bytes: bytes, lengths: list[int]) -> None:
    arrival = Arrival()
    cuts = [0, *(cut for cut in itertools.accumulate(lengths) if cut < len(request_bytes)), len(request_bytes)]
    for start, end in itertools.pairwise(cuts):
        verdict = arrival.add(request_bytes[start:end])
        assert verdict is is_worth_a_thread(request_bytes[:end])
        if verdict:
            break


class Watched(bytearray):
    """Counts the bytes that are looked at."""

    looked_at = 0

    def find(self, sub: Any, start: Any = 0, end: Any = None) -> int:
        self.looked_at += len(self) - start
        return super().find(sub, start)

    def count(self, sub: Any, start: Any = 0, end: Any = None) -> int:
        self.looked_at += len(self) - start
        return super().count(sub, start)

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        self.looked_at += len(found)
        return found


LONG = 20_000


@pytest.mark.parametrize(
    "request_bytes",
    [
        pytest.param(HEAD + b"Cookie: " + b"x" * LONG, id="head"),
        pytest.param(HEAD + b"X: y\r\n" * (LONG // 6), id="lines"),
        pytest.param(with_head(b"Content-Length: %d\r\n" % LONG, b"\n" * (LONG - 1)), id="body"),
        pytest.param(with_head(b"Transfer-Encoding: chunked\r\n", b"1;" + b"x" * LONG), id="chunk size"),
        pytest.param(with_head(b"Transfer-Encoding: chunked\r\n", b"ffff\r\n" + b"\r" * LONG), id="chunk"),
        pytest.param(with_head(b"Transfer-Encoding: chunked\r\n", b"50\r\n%s\r\n" % (b"x" * 80) * 200), id="chunks"),
        pytest.param(with_head(b"Transfer-Encoding: chunked\r\n", b"0\r\n" + b"x: y\r\n" * (LONG // 6)), id="trailers"),
    ],
)
def test_a_request_that_drips_is_looked_at_once(request_bytes: bytes) -> None:
    received = Watched()
    waits = framing._waits(received)
    for byte in request_bytes:
        received.append(byte)
        assert next(waits, True) is False
    assert received.looked_at < 8 * len(request_bytes)


@pytest.mark.parametrize("name", [b"Transfer-Encoding", b"Content-Length", b"Expect", b"X"])
@pytest.mark.parametrize("value", [b" " * 60_000 + b"\rx", b"a" + b" " * 60_000 + b"b", b" " * 60_000, b"1" * 60_000])
def test_a_head_with_a_long_value_is_judged_at_once(name: bytes, value: bytes) -> None:
    """A regular expression that tries each way to part the spaces takes hours for the first one."""
    assert is_worth_a_thread(with_head(name + b":" + value + b"\r\n"))
