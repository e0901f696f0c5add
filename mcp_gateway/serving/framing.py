"""Whether a request has arrived whole: a guess for the poller, never a judgement. gunicorn's parser judges."""

from __future__ import annotations

from collections.abc import Iterator

AWAITED_BYTES = 65_536
"""A request up to this size is awaited without a thread; what is awaited costs memory only once it has arrived."""

_MOST_CHUNKS = 256
_LONGEST_NUMBER = 18


class Arrival:
    """
    What has arrived of a request.

    No byte is looked at again when others come, and there is no regular expression: one that goes back and forth in a
    head that was made for it holds the poller, and with it everybody.
    """

    def __init__(self) -> None:
        self._received = bytearray()
        self._waits = _waits(self._received)

    def add(self, data: bytes) -> bool:
        """
        Add what has come; return whether a thread can do something with all of it, other than wait for the rest.

        A guess that is wrong does no harm: a thread that has to wait after all waits for a bounded time.
        """
        self._received += data
        return len(self._received) >= AWAITED_BYTES or next(self._waits, True)

    def take(self) -> bytes:
        """Return all of it, and begin anew."""
        taken = bytes(self._received)
        self._received = bytearray()
        self._waits = _waits(self._received)
        return taken


def _waits(received: bytearray) -> Iterator[bool]:
    """Yield false each time that more has to be *received*, and end when a thread can do something."""
    looked = 0
    while (end := received.find(b"\r\n\r\n", max(looked - 3, 0))) < 0:
        # A bare LF is refused wherever the head ends, so there is nothing to wait for.
        if received.count(b"\n", looked) != received.count(b"\r\n", max(looked - 1, 0)):
            return
        looked = len(received)
        yield False
    head = bytes(received[: end + 2]).lower()
    if b"\r\nexpect:" in head:
        return  # the client waits for our 100 before it sends the rest
    body = end + 4
    coding = _value(head, b"transfer-encoding")
    if coding is not None:
        if coding == b"chunked":
            yield from _waits_for_chunks(received, body)
        return
    length = _value(head, b"content-length") or b""
    if not length.isdigit() or len(length) > _LONGEST_NUMBER:
        return  # there is no body, or what says how long it is will be refused
    whole = body + int(length)
    while len(received) < whole <= AWAITED_BYTES:
        yield False


def _value(head: bytes, name: bytes) -> bytes | None:
    """Return the value of the first header of that name; all in small letters."""
    _, found, rest = head.partition(b"\r\n" + name + b":")
    return rest.partition(b"\r\n")[0].strip(b" \t") if found else None


def _waits_for_chunks(received: bytearray, at: int) -> Iterator[bool]:
    """Do so for a chunked body that begins *at* that place, up to its end or to where the parser will refuse it."""
    for _ in range(_MOST_CHUNKS):  # beyond these a thread reads it: the poller has others to look after
        looked = at
        while (line_end := received.find(b"\r\n", looked)) < 0:
            looked = max(len(received) - 1, at)
            yield False
        size = _size(bytes(received[at:line_end]))
        if size is None:
            return
        if size == 0:
            looked = line_end
            while received.find(b"\r\n\r\n", looked) < 0:
                looked = max(len(received) - 3, line_end)
                yield False
            return
        at = line_end + 2 + size
        while len(received) < at + 2:
            yield False
        if received[at : at + 2] != b"\r\n":
            return
        at += 2


def _size(line: bytes) -> int | None:
    try:
        size = int(line.partition(b";")[0], 16)
    except ValueError:
        return None
    return size if size >= 0 else None
