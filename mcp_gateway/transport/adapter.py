"""
The transport adapter through which ``requests`` speaks to one service, with what goes in and what comes out.

``requests`` leaves it to its adapters how a request travels. Its own one goes through urllib3, ``http.client`` and the
parser of mail headers, whose timeouts bind nothing to a call. This one has connections of ours below it, which know the
deadline, and does nothing that a gateway has no use for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import requests
from requests.adapters import BaseAdapter, Retry
from requests.structures import CaseInsensitiveDict

from . import wire
from .body import Body
from .exchange import Exchange
from .pool import Pool


class ServiceRequest(requests.PreparedRequest):
    """
    A request that is filled in by hand.

    Args:

        headers: A plain dict, since nothing here looks a header up; one that ignores case would be filled at a price.

        exchange: Of which it is part.
    """

    method: str
    url: str
    body: bytes | None

    def __init__(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, exchange: Exchange
    ) -> None:
        super().__init__()
        self.method = method
        self.url = url
        self.headers = cast(CaseInsensitiveDict[str], headers)
        self.body = body
        self.hooks = {}
        self.exchange = exchange


class ServiceResponse(requests.Response):
    """A response whose body is still to be read, from *raw*; it keeps no cookies."""

    def __init__(self, request: requests.PreparedRequest, raw: Any) -> None:
        # Not super's, which makes a cookie jar for each answer. The two private members say that nothing has been read.
        self._content = cast(None, False)
        self._content_consumed = False
        self.request = request
        self.url = request.url or ""
        self.status_code = raw.status
        self.reason = raw.reason
        self.headers = raw.headers
        self.raw = raw
        self.encoding = None
        self.history = []

    def close(self) -> None:
        """Let go of the connection, whether the body has been read or not."""
        self.raw.close()


class ServiceAdapter(BaseAdapter):
    """
    Sends each request once, to the one service whose connections it has.

    Args:

        pool: The connections.

        origin: Scheme, host and port of the service's URLs.

        host: What goes into ``Host``.

    ``max_retries`` and ``build_response`` are there by the names of ``HTTPAdapter``, where tools for ``requests`` look.
    """

    max_retries = Retry(0, read=False)

    def __init__(self, pool: Pool, *, origin: str, host: str) -> None:
        super().__init__()
        self._pool = pool
        self._origin = origin
        self._host = host

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: Any = None,
        verify: Any = True,
        cert: Any = None,
        proxies: Any = None,
    ) -> requests.Response:
        """
        Send a ``ServiceRequest`` and return the answer, of which the head has been read.

        Its exchange bounds the time, and the pool's TLS context does all verifying: no other argument is looked at.

        Raises:

            OSError: No connection came about, it was lost, or (``TimeoutError``) there was no head in time.
            ValueError: The request is none that HTTP allows, or the answer's head none that is taken.
        """
        asked = cast(ServiceRequest, request)
        sent = self.written(asked)
        connection = self._pool.take(asked.exchange)
        try:
            head = connection.ask(sent, asked.exchange)
        except BaseException:
            connection.close()
            raise
        return self.build_response(request, Body(head, connection, asked.exchange, self._pool))

    def build_response(self, request: requests.PreparedRequest, raw: Any) -> requests.Response:
        """Return what came, *raw*, as the response to *request*."""
        return ServiceResponse(request, raw)

    def close(self) -> None:
        """Close the connections at rest; those in use are closed when their exchange ends."""
        self._pool.close()

    def written(self, request: ServiceRequest) -> bytes:
        """
        Return the bytes that a request goes out as.

        Raises:

            ForbiddenHeader: HTTP forbids one of its headers.
        """
        target = wire.request_target(request.url.removeprefix(self._origin))
        return wire.request_head(request.method, target, self._host, request.headers) + (request.body or b"")
