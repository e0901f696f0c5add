"""
The one place that turns what an exchange ended in into ``Unanswered``.

How far the exchange had come says more than the class of the exception: a reset alone may mean that nobody was there,
that the call was lost, or that its answer was.
"""

from __future__ import annotations

import ssl

from .answer import Delivery, Reason, Unanswered
from .exchange import Exchange, Phase
from .wire import ForbiddenHeader, NoAnswer, Unreadable

FOREIGN = (OSError, ValueError)
"""
Every family of exceptions that an exchange may end in: those of sockets, of TLS and of ``requests`` are ``OSError``,
those of the wire and of names that are none ``ValueError``.
"""

_HOST_MISMATCH = (62, 64)
"""OpenSSL's X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH."""


Meaning = tuple[Reason, Delivery, str]


def translate(fault: Exception, exchange: Exchange) -> Unanswered:
    """Return what *fault*, in which *exchange* ended, means to whoever asked."""
    return Unanswered(*_meaning(fault, exchange), exchange.status)


def _meaning(fault: Exception, exchange: Exchange) -> Meaning:
    sent = Delivery.UNKNOWN if exchange.sent else Delivery.NOT_SENT
    if exchange.deadline.left() <= 0:
        return Reason.BUDGET, sent, "its time budget was used up"
    if isinstance(fault, ForbiddenHeader):
        return Reason.REFUSED, Delivery.NOT_SENT, "the request holds a header that HTTP forbids"
    if isinstance(fault, Unreadable):
        return Reason.UNREADABLE, sent if isinstance(fault, NoAnswer) else Delivery.ANSWERED, fault.detail
    match exchange.phase:
        case Phase.SECURING:
            return Reason.TLS, Delivery.NOT_SENT, _tls(fault)
        case Phase.SENDING:
            return _unanswered_request(fault, sent)
        case Phase.ANSWERED:
            return Reason.UNREADABLE, Delivery.ANSWERED, "its answer broke off before its end"
        case _:
            return Reason.REFUSED, Delivery.NOT_SENT, _not_reached(fault, exchange.phase)


def _not_reached(fault: Exception, phase: Phase) -> str:
    if phase is Phase.LOOKING_UP:
        return "its host name could not be resolved"
    if isinstance(fault, ConnectionRefusedError):
        return "the connection was refused"
    if isinstance(fault, TimeoutError):
        return "no connection came about within the connect time"
    return "its host could not be reached"


def _tls(fault: Exception) -> str:
    if isinstance(fault, ssl.SSLCertVerificationError):
        wrong_host = getattr(fault, "verify_code", None) in _HOST_MISMATCH
        return "its certificate is for another host" if wrong_host else "its certificate is not trusted"
    if isinstance(fault, TimeoutError):
        return "the TLS handshake was not finished within the connect time"
    return "the TLS handshake failed"


def _unanswered_request(fault: Exception, sent: Delivery) -> Meaning:
    if isinstance(fault, ssl.SSLError) and not _is_cut_off(fault):
        return Reason.TLS, sent, "the TLS connection failed before an answer came"
    return Reason.CONNECTION_LOST, sent, "the connection was lost before an answer came"


def _is_cut_off(fault: ssl.SSLError) -> bool:
    # Before Python 3.11.4 an end without TLS's goodbye had no class of its own.
    return (
        isinstance(fault, ssl.SSLEOFError | ssl.SSLZeroReturnError)
        or getattr(fault, "reason", None) == "UNEXPECTED_EOF_WHILE_READING"
    )
