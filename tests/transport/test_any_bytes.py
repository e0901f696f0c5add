"""Whatever bytes a peer sends, an exchange ends in an answer or in a fault of ours."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peers import Listener, Talk

from mcp_gateway.deadline import Deadline
from mcp_gateway.transport.answer import Unanswered
from mcp_gateway.transport.http import HttpClient

LINES = st.sampled_from(
    [
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200\n",
        b"HTTP/1.0 200 OK\r\n",
        b"HTTP/1.1 103 Early Hints\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n",
        b"Content-Length: 5\r\n",
        b"Content-Length: 5, 5\r\n",
        b"Content-Length : 5\r\n",
        b"content-length: +5\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked, chunked\r\n",
        b"Transfer-Encoding:\r\n chunked\r\n",
        b"Content-Encoding: gzip\r\n",
        b"Content-Encoding: deflate\r\n",
        b"Content-Type: multipart/mixed; boundary=\xff\r\n",
        b"Connection: close\r\n",
        b"Set-Cookie: \xff=\x00; expires=never; domain=..; max-age=x\r\n",
        b"Location: http://[::1\r\n",
        b"Retry-After: \xb2\r\n",
        b": nameless\r\n",
        b" folded\r\n",
        b"\x00: \x00\r\n",
        b"\r\n",
        b"\n",
        b"5\r\nhello\r\n",
        b"0\r\n\r\n",
        b"-1\r\n",
        b"0x5\r\n",
        b"hello",
        b"\x1f\x8b\x08\x00",
    ]
)
BOUND_S = 3.0
"""Generous: it tells a call that is cut off from one that hangs."""

REPLIES = st.binary(max_size=200) | st.lists(LINES | st.binary(max_size=20), max_size=12).map(b"".join)


class Script:
    """Answers each request with whatever the test holds at that moment, then closes unless it is to stay."""

    reply = b""
    stays = False

    def __call__(self, talk: Talk) -> None:
        if talk.request():
            talk.send(self.reply)
            if self.stays:
                talk.stay()


@pytest.fixture(scope="module")
def scripted() -> Iterator[tuple[Script, HttpClient]]:
    script = Script()
    with (
        Listener(script) as peer,
        contextlib.closing(
            HttpClient(peer.base_url, connect_timeout_s=5.0, pool_size=1, ca_bundle=None, headers={}, idle_limit_s=0.0)
        ) as client,
    ):
        yield script, client


@settings(max_examples=300, deadline=None)
@given(reply=REPLIES)
def test_any_bytes_come_to_an_answer_or_a_fault(scripted: tuple[Script, HttpClient], reply: bytes) -> None:
    script, client = scripted
    script.reply, script.stays = reply, False

    try:
        answer = client.send("POST", "/x", headers={}, body=b"{}", deadline=Deadline.after(20), max_bytes=100)
    except Unanswered as fault:
        assert fault.detail
    else:
        assert 200 <= answer.status < 600
        assert len(answer.body) <= 100


@settings(max_examples=40, deadline=None)
@given(reply=REPLIES)
def test_any_bytes_of_a_peer_that_stays_come_to_an_end_when_the_budget_does(
    scripted: tuple[Script, HttpClient], reply: bytes
) -> None:
    script, client = scripted
    script.reply, script.stays = reply, True
    began = time.monotonic()

    with contextlib.suppress(Unanswered):
        client.send("POST", "/x", headers={}, body=b"{}", deadline=Deadline.after(0.1), max_bytes=100)

    assert time.monotonic() - began < BOUND_S
