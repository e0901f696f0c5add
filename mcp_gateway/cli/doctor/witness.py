"""Connections to a Tool Service that tell what went over them."""

from __future__ import annotations

import time
from collections.abc import Mapping

from ...deadline import Deadline
from ...transport.answer import Answer, Unanswered
from ...transport.http import HttpClient

_NOTHING = Answer(204, {}, b"")


class Witness(HttpClient):
    """
    The gateway's own client, which notes its last exchange.

    ``rehearses``: it writes requests and sends none; each then counts as answered with nothing. ``request`` is the last
    one as the bytes on the wire, ``answer`` what came, ``fault`` why nothing whole came, ``elapsed_ms`` for how long.
    """

    rehearses = False
    request = b""
    answer: Answer | None = None
    fault: Unanswered | None = None
    elapsed_ms = 0

    def send(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
        deadline: Deadline,
        max_bytes: int,
    ) -> Answer:
        """
        Send one request as ``HttpClient`` does, and note it.

        Raises:

            Unanswered: There is no whole answer.
        """
        self.request = self.written(method, path, headers=headers, body=body)
        self.answer = self.fault = None
        if self.rehearses:
            return _NOTHING
        began = time.monotonic()
        try:
            self.answer = super().send(method, path, headers=headers, body=body, deadline=deadline, max_bytes=max_bytes)
        except Unanswered as fault:
            self.fault = fault
            raise
        finally:
            self.elapsed_ms = int((time.monotonic() - began) * 1000)
        return self.answer
