"""
The one place that turns foreign exceptions into ``Unanswered``.

How far the exchange had come says more than the class of the exception: ``urllib3`` alone wraps a reset in five ways.
"""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Iterator
from typing import Any

import requests
import urllib3

from .answer import Delivery, Reason, Unanswered
from .exchange import Exchange, Phase

FOREIGN = (
    requests.RequestException,
    urllib3.exceptions.HTTPError,
    http.client.HTTPException,
    OSError,
    ValueError,
)
"""Every family of exceptions that an exchange may end in."""

_HOST_MISMATCH = (62, 64)
"""OpenSSL's X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH."""


def translate(fault: Exception, exchange: Exchange) -> Unanswered:
    """Return what *fault*, in which *exchange* ended, means to whoever asked."""
    causes = tuple(_causes(fault))
    sent = Delivery.UNKNOWN if exchange.sent else Delivery.NOT_SENT
    if exchange.deadline.left() <= 0:
        return Unanswered(Reason.BUDGET, sent, "its time budget was used up")
    if exchange.phase is Phase.SECURING:
        return Unanswered(Reason.TLS, Delivery.NOT_SENT, _tls(causes))
    if exchange.phase is Phase.ANSWERED:
        return Unanswered(Reason.UNREADABLE, Delivery.ANSWERED, _broken_answer(causes))
    if exchange.phase is Phase.SENDING:
        return _unanswered_request(causes, sent)
    return Unanswered(Reason.REFUSED, Delivery.NOT_SENT, _not_reached(causes, exchange.phase))


def _causes(fault: Exception) -> Iterator[BaseException]:
    """Yield an exception and everything it came from; ``urllib3`` hands some of it on as an argument only."""
    pending: list[Any] = [fault]
    seen: set[int] = set()
    while pending:
        cause = pending.pop()
        if isinstance(cause, BaseException) and id(cause) not in seen:
            seen.add(id(cause))
            pending += [cause.__cause__, cause.__context__, *cause.args]
            yield cause


def _any(causes: tuple[BaseException, ...], *kinds: type[BaseException]) -> bool:
    return any(isinstance(cause, kinds) for cause in causes)


def _not_reached(causes: tuple[BaseException, ...], phase: Phase) -> str:
    if phase is Phase.LOOKING_UP:
        return "its host name could not be resolved"
    if _any(causes, ConnectionRefusedError):
        return "the connection was refused"
    if _any(causes, TimeoutError):
        return "no connection came about within the connect time"
    return "its host could not be reached"


def _tls(causes: tuple[BaseException, ...]) -> str:
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            wrong_host = getattr(cause, "verify_code", None) in _HOST_MISMATCH
            return "its certificate is for another host" if wrong_host else "its certificate is not trusted"
    if _any(causes, TimeoutError):
        return "the TLS handshake was not finished within the connect time"
    return "the TLS handshake failed"


def _unanswered_request(causes: tuple[BaseException, ...], sent: Delivery) -> Unanswered:
    if _any(causes, ConnectionError, ssl.SSLEOFError, ssl.SSLZeroReturnError) or _cut_off(causes):
        return Unanswered(Reason.CONNECTION_LOST, sent, "the connection was lost before an answer came")
    if _any(causes, ssl.SSLError):
        return Unanswered(Reason.TLS, sent, "the TLS connection failed before an answer came")
    if sent is Delivery.NOT_SENT and _any(causes, ValueError):
        return Unanswered(Reason.REFUSED, sent, "the request holds a header that HTTP forbids")
    if _any(causes, http.client.BadStatusLine):
        return Unanswered(Reason.UNREADABLE, sent, "what came back is no HTTP answer")
    if _any(causes, http.client.HTTPException, ValueError):
        return Unanswered(Reason.UNREADABLE, Delivery.ANSWERED, "the head of its answer is too long or malformed")
    return Unanswered(Reason.CONNECTION_LOST, sent, "the connection was lost before an answer came")


def _cut_off(causes: tuple[BaseException, ...]) -> bool:
    # Before Python 3.11.4 an end without TLS's goodbye had no class of its own.
    return any(getattr(cause, "reason", None) == "UNEXPECTED_EOF_WHILE_READING" for cause in causes)


def _broken_answer(causes: tuple[BaseException, ...]) -> str:
    if _any(causes, http.client.IncompleteRead, ConnectionError, ssl.SSLError):
        return "its answer broke off before its end"
    return "its answer is not valid HTTP"
