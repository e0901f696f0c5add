"""
One HTTP exchange with one service: sent once, answered whole or not at all.

Built on ``HTTPAdapter.send`` with a request that is filled in by hand. A ``requests.Session`` would bring what a
gateway must not have: cookies of other callers, redirects that carry a POST to another host, proxies and passwords out
of the environment.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import requests
from requests.adapters import HTTPAdapter
from requests.structures import CaseInsensitiveDict
from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3 import HTTPConnectionPool
from urllib3.util import SKIP_HEADER, parse_url

from ..deadline import Deadline
from . import decoding
from .answer import Answer, Delivery, Reason, Unanswered
from .connections import BoundPool, BoundTLSPool, ExchangeTimeout
from .exchange import Exchange, Peer, Phase
from .names import HostAddresses
from .sockets import DeadlineTLSSocket
from .translation import FOREIGN, translate

IDLE_LIMIT_S = 1.5
"""
How long a connection may rest and be used again. Servers close resting connections (gunicorn after 2 s, uvicorn and
Node.js after 5 s); a POST that meets the closing is lost and must not be sent again.
"""

_PIECE = 65_536
_DEFAULT_PORTS = {"http": 80, "https": 443}
_STATUSES = range(200, 600)


class HttpClient:
    """
    Exchanges with one service.

    Args:

        base_url: Scheme, host, port and an optional path.

        connect_timeout_s: What look-up, connect and TLS handshake may take together.

        pool_size: How many connections are kept for use again.

        ca_bundle: The certificates that are trusted; ``None``: those of ``certifi``.

        headers: Sent with every request; those of a request win over them.

        idle_limit_s: How long a connection may have rested and still be used again.

        addresses: Where the service is; ``None``: where the resolver says.

    Raises:

        OSError: *ca_bundle* cannot be read.
    """

    def __init__(
        self,
        base_url: str,
        *,
        connect_timeout_s: float,
        pool_size: int,
        ca_bundle: Path | None,
        headers: Mapping[str, str],
        idle_limit_s: float = IDLE_LIMIT_S,
        addresses: HostAddresses | None = None,
    ) -> None:
        url = parse_url(base_url)
        host, scheme = url.host or "", url.scheme or "http"
        port = url.port or _DEFAULT_PORTS[scheme]
        self._base_url = base_url.rstrip("/")
        self._headers = {"User-Agent": SKIP_HEADER, "Accept-Encoding": "identity", **headers}
        found = addresses or HostAddresses(host.strip("[]"), port)
        self._peer = Peer(found, connect_timeout_s, idle_limit_s)
        self._adapter = _ServiceAdapter(
            BoundTLSPool(host, port, maxsize=pool_size, ssl_context=_tls_context(ca_bundle))
            if scheme == "https"
            else BoundPool(host, port, maxsize=pool_size)
        )

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
        Send one request, once, and return the whole answer.

        Args:

            method: The HTTP method.

            path: Path and query below the base URL; starts with ``/``.

            headers: Win over the client's own.

            body: The request's body; ``None``: it has none.

            deadline: Bounds everything together.

            max_bytes: What the answer's body may have, before and after decoding.

        Raises:

            Unanswered: There is no whole answer.
        """
        exchange = Exchange(self._peer, deadline)
        try:
            request = self._request(method, path, headers, body)
            # The types of requests know numbers only; its documentation names urllib3's Timeout as well.
            timeout = cast(Any, ExchangeTimeout(exchange))
            with self._adapter.send(request, stream=True, timeout=timeout) as response:
                exchange.phase = Phase.ANSWERED
                answer = _answer(response, max_bytes)
                exchange.settled = True
                return answer
        except FOREIGN as fault:
            raise translate(fault, exchange) from fault

    def close(self) -> None:
        """Close the connections at rest; those in use are closed when their exchange ends."""
        self._adapter.close()

    def _request(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> requests.PreparedRequest:
        request = requests.PreparedRequest()
        request.method = method
        request.url = self._base_url + path
        request.headers = CaseInsensitiveDict(self._headers)
        request.headers.update(headers)
        request.body = body
        if body is not None:
            request.headers["Content-Length"] = str(len(body))
        request.hooks = {}
        return request


class _ServiceAdapter(HTTPAdapter):
    """An adapter with one pool, whatever the request says; the pool's TLS context does all verifying."""

    def __init__(self, pool: HTTPConnectionPool) -> None:
        super().__init__()
        self._pool = pool

    def get_connection_with_tls_context(self, *_args: Any, **_options: Any) -> HTTPConnectionPool:
        return self._pool

    def cert_verify(self, *_args: Any, **_options: Any) -> None:
        # The original makes urllib3 load the certificate file anew for every connection (20 ms each).
        return None

    def close(self) -> None:
        super().close()
        self._pool.close()


def _tls_context(ca_bundle: Path | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF  # Python before 3.11.4 sets it: a cut-off answer would look whole
    context.hostname_checks_common_name = False
    context.load_verify_locations(ca_bundle or DEFAULT_CA_BUNDLE_PATH)
    context.sslsocket_class = DeadlineTLSSocket
    return context


def _answer(response: requests.Response, max_bytes: int) -> Answer:
    if response.status_code not in _STATUSES:
        raise Unanswered(Reason.UNREADABLE, Delivery.ANSWERED, "its status is none that HTTP knows")
    headers = {name.lower(): value for name, value in response.headers.items()}
    try:
        body = decoding.decode(_body(response, max_bytes), headers.get("content-encoding", ""), max_bytes)
    except decoding.CannotDecode as fault:
        raise Unanswered(Reason.UNREADABLE, Delivery.ANSWERED, f"its answer {fault}") from fault
    except decoding.DecodedTooLarge as fault:
        raise _too_large(max_bytes) from fault
    return Answer(response.status_code, headers, body)


def _body(response: requests.Response, max_bytes: int) -> bytes:
    if (response.raw.length_remaining or 0) > max_bytes:
        raise _too_large(max_bytes)
    body = bytearray()
    # Only reading up to the empty piece makes a short body an error.
    while piece := response.raw.read1(_PIECE, decode_content=False):
        body += piece
        if len(body) > max_bytes:
            raise _too_large(max_bytes)
    return bytes(body)


def _too_large(max_bytes: int) -> Unanswered:
    return Unanswered(Reason.TOO_LARGE, Delivery.ANSWERED, f"its answer is larger than {max_bytes:,} bytes")
