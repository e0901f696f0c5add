"""Whether a request has arrived whole: a guess for the poller, never a judgement. gunicorn's parser judges."""

from __future__ import annotations

import re

AWAITED_BYTES = 65_536
"""A request up to this size is awaited without a thread; what is awaited costs memory only once it has arrived."""

_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,18})[ \t]*\r\n", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding:", re.IGNORECASE)
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
    if _CHUNKED.search(head):
        return received.endswith(b"\r\n0\r\n\r\n")
    length = _LENGTH.search(head)
    whole = end + 4 + (int(length[1]) if length else 0)
    return whole > AWAITED_BYTES or len(received) >= whole
