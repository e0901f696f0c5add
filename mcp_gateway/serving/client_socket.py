"""A client's socket, whose reads and writes that need not wait cost one system call each."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

from ..turns import away

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class ClientSocket(socket.socket):
    """
    A socket that never blocks in the kernel, and waits for a bounded time where its user has to wait.

    gunicorn changes the mode of a socket three times for each request, and a socket with a time limit is polled before
    each use. Each system call hands the interpreter to another thread, and with many threads it costs more to get that
    back than to make the call.
    """

    @classmethod
    def of(cls, accepted: socket.socket, wait_s: float) -> ClientSocket:
        """
        Return the connection as such a socket; *accepted* is spent.

        Args:

            wait_s: How long a read or a write may wait for the client, in seconds.
        """
        ours = cls(fileno=accepted.detach())
        ours.settimeout(wait_s)
        return ours

    def setblocking(self, flag: bool, /) -> None:
        """Leave the mode as it is."""

    def receive(self, most: int) -> bytes:
        """
        Take what has arrived, without waiting.

        Raises:

            BlockingIOError: Nothing has.
            OSError: The connection is broken.
        """
        return os.read(self.fileno(), most)

    def sendall(self, data: ReadableBuffer, flags: int = 0, /) -> None:
        """
        Send everything: at once as far as the kernel has room for it, and wait for the client with the rest.

        Raises:

            TimeoutError: The client does not take it in time.
            OSError: The connection is broken.
        """
        try:
            sent = os.write(self.fileno(), data)
        except BlockingIOError:
            sent = 0
        rest = memoryview(data).cast("B")[sent:]
        if rest:
            with away:
                super().sendall(rest, flags)
