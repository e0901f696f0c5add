"""An answer that leaves in one write: head and body together, as one segment and one wake-up of the client."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from email.utils import formatdate
from functools import lru_cache
from typing import Any, cast

from gunicorn import util
from gunicorn.http.wsgi import Response

from ..turns import away
from .client_socket import ClientSocket

COPIED_BYTES = 1_048_576
"""
So much of a body is put behind its head; of a larger one the rest leaves as it is, or each answer that somebody is slow
to read would be held twice.
"""


class OneWriteResponse(Response):
    """
    A response whose head waits for its body.

    gunicorn writes them one after the other, which costs a system call more, and a worker that is killed in between
    leaves a head without its body.

    Args:

        gunicorns: What gunicorn makes a response of.

        ends: Says whether the connection ends with this answer, whatever the request wants. It is asked when the head
            is made ready, once: a worker may be told to stop while the application runs, and what the head has said
            then holds.
    """

    _head = b""

    def __init__(self, *gunicorns: Any, ends: Callable[[], bool] = lambda: False) -> None:
        super().__init__(*gunicorns)
        self._ends = ends

    def send_headers(self) -> None:
        """Make the head ready; it leaves with the body, or alone when there is none."""
        if not self.headers_sent:
            if self._ends():
                self.force_close()
            lines = [*self.default_headers(), *(f"{name}: {value}\r\n" for name, value in self.headers), "\r\n"]
            self._head = "".join(lines).encode("latin-1")
            self.headers_sent = True

    def _emit_body(self, data: bytes) -> None:
        if self.chunked:
            self._flush()
            _write(self.sock, data, chunked=True)
        else:
            head, self._head = self._head, b""
            _write(self.sock, head + data[:COPIED_BYTES])
            if len(data) > COPIED_BYTES:
                _write(self.sock, cast("bytes", memoryview(data)[COPIED_BYTES:]))

    def close(self) -> None:
        """End the answer."""
        self.send_headers()
        self._flush()
        super().close()

    def _flush(self) -> None:
        head, self._head = self._head, b""
        if head:
            _write(self.sock, head)


def _write(sock: socket.socket, data: bytes, *, chunked: bool = False) -> None:
    if isinstance(sock, ClientSocket):
        util.write(sock, data, chunked=chunked)  # it knows itself when it waits
    else:
        with away:
            util.write(sock, data, chunked=chunked)


def http_date(timestamp: float | None = None) -> str:
    """Return the date in the form of HTTP, by default that of now; it is written once a second, not for each answer."""
    return _date_of(int(time.time() if timestamp is None else timestamp))


@lru_cache(maxsize=1)
def _date_of(second: int) -> str:
    return formatdate(second, usegmt=True)
