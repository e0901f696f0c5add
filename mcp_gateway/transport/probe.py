"""
The way to a service, looked at step by step: for whoever wants to know at which one a call fails.

Every step is the one that an exchange takes (``approach``), and its fault is put in the same words (``translation``).
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..deadline import Deadline
from .certificate import Certificate, of_der, of_verified
from .exchange import Exchange
from .http import HttpClient
from .names import AddressInfo
from .translation import FOREIGN, translate

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Secured:
    """A TLS connection: the protocol that was agreed on, e.g. ``TLSv1.3``, its cipher, and whose certificate it has."""

    protocol: str
    cipher: str
    certificate: Certificate


class Probe:
    """
    One walk to a service, as a context manager; nothing is sent on the connection.

    Args:

        client: Knows the way.

        deadline: Bounds all of it.

    ``is_plain`` says that the service is spoken to without TLS; ``port`` is where it listens.
    """

    def __init__(self, client: HttpClient, deadline: Deadline) -> None:
        self._exchange = Exchange(deadline)
        self._approach = client.approach(self._exchange)
        self._addresses: Sequence[AddressInfo] = ()
        self._sock: socket.socket | None = None
        self.is_plain = self._approach.tls is None
        self.port = client.peer[1]

    def __enter__(self) -> Probe:
        return self

    def __exit__(self, *_: object) -> None:
        if self._sock is not None:
            self._sock.close()

    def look_up(self) -> tuple[str, ...]:
        """
        Return the numeric addresses of the service.

        Raises:

            Unanswered: There are none.
        """
        self._addresses = self._told(self._approach.look_up)
        return tuple(dict.fromkeys(str(location[0]) for *_, location in self._addresses))

    def connect(self) -> str:
        """
        Connect, after ``look_up``, and return the numeric address that answered.

        Raises:

            Unanswered: None did.
        """
        self._sock = self._told(lambda: self._approach.connect(self._addresses))
        return str(self._sock.getpeername()[0])

    def secure(self) -> Secured | None:
        """
        Put TLS on the connection, after ``connect``; ``None``: the service is spoken to without.

        Raises:

            Unanswered: It could not be done; the certificate, if one came, is what ``presented`` shows.
        """
        sock, context = self._sock, self._approach.tls
        if sock is None or context is None:
            return None
        self._sock = None
        secured = self._told(lambda: self._approach.secure(sock, context))
        self._sock = secured
        return _secured(secured)

    def speaks_tls(self) -> bool:
        """Say whether a service speaks TLS to which nobody does; ``False`` too when it cannot be found out."""
        try:
            self._addresses = self._approach.look_up()
        except FOREIGN:
            return False
        return self.presented() is not None

    def presented(self) -> Certificate | None:
        """
        Return the certificate that the service presents, trusted or not, over connections of their own.

        ``None``: it presents none. That the other end speaks TLS at all is then in doubt too.
        """
        context = _blind()
        try:
            with self._again(context) as secured:
                der = secured.getpeercert(binary_form=True) or b""
        except FOREIGN:
            return None
        try:
            with self._again(_trusting(der)) as secured:
                return of_verified(secured.getpeercert() or {})
        except FOREIGN:  # not even itself makes it valid: it has expired, say
            return of_der(der)

    def _again(self, context: ssl.SSLContext) -> ssl.SSLSocket:
        return self._approach.secure(self._approach.connect(self._addresses), context)

    def _told(self, step: Callable[[], Result]) -> Result:
        try:
            return step()
        except FOREIGN as fault:
            raise translate(fault, self._exchange) from fault


def _secured(sock: ssl.SSLSocket) -> Secured:
    cipher, *_ = sock.cipher() or ("",)
    return Secured(sock.version() or "", cipher, of_verified(sock.getpeercert() or {}))


def _blind() -> ssl.SSLContext:
    """Return a context that takes any certificate, for looking at it: nothing is ever sent over such a connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _trusting(der: bytes) -> ssl.SSLContext:
    """Return a context that trusts this very certificate: the library tells only of trusted ones what they say."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.load_verify_locations(cadata=der)
    return context
