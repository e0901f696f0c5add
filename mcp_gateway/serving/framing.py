"""Whether a request has arrived whole: a guess for the poller, never a judgement. gunicorn's parser judges."""

from __future__ import annotations

import re

AWAITED_BYTES = 65_536
"""A request up to this size is awaited without a thread; what is awaited costs memory only once it has arrived."""

_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,18})[ \t]*\r\n", re.IGNORECASE)
_ENCODED = re.compile(rb"\r\ntransfer-encoding:[ \t]*([^\r\n]*?)[ \t]*\r\n", re.IGNORECASE)
_MOST_CHUNKS = 256
_EXPECTS = re.compile(rb"\r\nexpect:", re.IGNORECASE)


def is_worth_a_thread(received: bytes | bytearray) -> bool:
    """
    Return whether a thread can do something with what has arrived of a request, other than wait for the rest.

    A guess that is wrong does no harm: a thread that has to wait after all waits for a bounded time.
    """
    if len(received) >= AWAITED_BYTES:
        return True
    end = received.find(b"\r\n\r\n")
    if end < 0:
        # A bare LF is refused wherever the head ends, so there is nothing to wait for.
        return received.count(b"\n") != received.count(b"\r\n")
    head = received[: end + 2]
    if _EXPECTS.search(head):
        return True  # the client waits for our 100 before it sends the rest
    encoded = _ENCODED.search(head)
    if encoded is not None:
        return encoded[1].lower() != b"chunked" or _has_last_chunk(bytes(received[end + 4 :]))
    length = _LENGTH.search(head)
    whole = end + 4 + (int(length[1]) if length else 0)
    return whole > AWAITED_BYTES or len(received) >= whole


def _has_last_chunk(body: bytes) -> bool:
    """Return whether a chunked body has arrived up to its end, or to where the parser will refuse it."""
    at = 0
    for _ in range(_MOST_CHUNKS):  # beyond these a thread reads it: the poller has others to look after
        line_end = body.find(b"\r\n", at)
        if line_end < 0:
            return False
        try:
            size = int(body[at:line_end].partition(b";")[0], 16)
        except ValueError:
            return True
        if size == 0:
            return body.find(b"\r\n\r\n", line_end) >= 0
        at = line_end + 2 + size
        if len(body) < at + 2:
            return False
        if body[at : at + 2] != b"\r\n":
            return True
        at += 2
    return True
