"""
One HTTP exchange with one service: sent once, answered whole or not at all.

Built on a transport adapter of ``requests`` and a request that is filled in by hand. A ``requests.Session`` would bring
what a gateway must not have: cookies of other callers, redirects that carry a POST to another host, proxies and
passwords out of the environment.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import requests
from requests.utils import DEFAULT_CA_BUNDLE_PATH

from ..deadline import Deadline
from . import decoding
from .adapter import ServiceAdapter, ServiceRequest
from .answer import Answer, Delivery, Reason, Unanswered
from .approach import Approach
from .exchange import Exchange
from .names import HostAddresses
from .pool import Pool
from .translation import FOREIGN, translate

IDLE_LIMIT_S = 1.5
"""
How long a connection may rest and be used again. Servers close resting connections (gunicorn after 2 s, uvicorn and
Node.js after 5 s); a POST that meets the closing is lost and must not be sent again.
"""

_PIECE = 65_536
"""Bytes of a body read at once."""

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

    ``peer`` is its host and port, as *base_url* names them.

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
        url = urlsplit(_normalised(base_url))
        host, port = url.hostname or "", url.port or _DEFAULT_PORTS[url.scheme]
        origin, authority = f"{url.scheme}://{url.netloc}", url.netloc.rpartition("@")[2]
        self.peer = (host, port)
        self._base_url = origin + url.path.rstrip("/")
        self._headers = [
            (name.lower(), name, value) for name, value in {"Accept-Encoding": "identity", **headers}.items()
        ]
        self._pool = Pool(
            addresses or HostAddresses(host, port),
            host=host.rstrip("."),  # no certificate has it
            tls=_tls_context(ca_bundle) if url.scheme == "https" else None,
            size=pool_size,
            connect_timeout_s=connect_timeout_s,
            idle_limit_s=idle_limit_s,
        )
        default = f":{_DEFAULT_PORTS[url.scheme]}"
        self._adapter = ServiceAdapter(self._pool, origin=origin, host=authority.removesuffix(default))

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
        exchange = Exchange(deadline)
        try:
            request = self._request(method, path, headers, body, exchange)
            with self._adapter.send(request, stream=True) as response:
                answer = _answer(response, max_bytes)
                exchange.settled = True
                return answer
        except FOREIGN as fault:
            raise translate(fault, exchange) from fault

    def written(self, method: str, path: str, *, headers: Mapping[str, str], body: bytes | None) -> bytes:
        """Return the very bytes that ``send`` would put on the wire; the headers are those that HTTP allows."""
        return self._adapter.written(self._request(method, path, headers, body, Exchange(Deadline(0))))

    def approach(self, exchange: Exchange) -> Approach:
        """Return the way to a connection of its own, for whoever wants to see each step of it."""
        return self._pool.approach(exchange)

    @property
    def surplus(self) -> int:
        """On how many connections more came than was asked for, which made them useless."""
        return self._pool.surplus

    def close(self) -> None:
        """Close the connections at rest; those in use are closed when their exchange ends."""
        self._adapter.close()

    def _request(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None, exchange: Exchange
    ) -> ServiceRequest:
        return ServiceRequest(method, self._base_url + path, self._merged(headers, body), body, exchange)

    def _merged(self, headers: Mapping[str, str], body: bytes | None) -> dict[str, str]:
        names = {name.lower() for name in headers}
        merged = {name: value for lower, name, value in self._headers if lower not in names}
        merged |= headers
        if body is not None:
            merged["Content-Length"] = str(len(body))
        return merged


def _normalised(base_url: str) -> str:
    """Return a URL as ``requests`` sends it: its host in lower case and in ASCII, its path percent-encoded."""
    request = requests.PreparedRequest()
    request.prepare_url(base_url, None)
    return request.url or ""


def _tls_context(ca_bundle: Path | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF  # Python before 3.11.4 sets it: a cut-off answer would look whole
    context.hostname_checks_common_name = False
    context.load_verify_locations(ca_bundle or DEFAULT_CA_BUNDLE_PATH)
    return context


def _answer(response: requests.Response, max_bytes: int) -> Answer:
    status = response.status_code
    if status not in _STATUSES:
        raise Unanswered(Reason.UNREADABLE, Delivery.ANSWERED, "its status is none that HTTP knows", status)
    headers = {name.lower(): value for name, value in response.headers.items()}
    try:
        body = decoding.decode(_body(response, max_bytes), headers.get("content-encoding", ""), max_bytes)
    except decoding.CannotDecode as fault:
        raise Unanswered(Reason.UNREADABLE, Delivery.ANSWERED, f"its answer {fault}", status) from fault
    except decoding.TooLarge as fault:
        detail = f"its answer is larger than {max_bytes:,} bytes"
        raise Unanswered(Reason.TOO_LARGE, Delivery.ANSWERED, detail, status) from fault
    return Answer(status, headers, body)


def _body(response: requests.Response, max_bytes: int) -> bytes:
    if (response.raw.length_remaining or 0) > max_bytes:
        raise decoding.TooLarge
    pieces, size = [], 0
    # Only reading up to the empty piece makes a short body an error.
    while piece := response.raw.read(_PIECE, decode_content=False):
        pieces.append(piece)
        size += len(piece)
        if size > max_bytes:
            raise decoding.TooLarge
    return b"".join(pieces)
