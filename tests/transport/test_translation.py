"""No foreign exception leaves the room."""

from __future__ import annotations

import inspect
import itertools
import socket
import ssl
from collections.abc import Iterator
from types import ModuleType

import pytest
import requests

from mcp_gateway.deadline import Deadline
from mcp_gateway.transport import wire
from mcp_gateway.transport.answer import Delivery, Reason
from mcp_gateway.transport.exchange import Exchange, Phase
from mcp_gateway.transport.translation import FOREIGN, translate


def exchange(phase: Phase, *, sent: bool = False, left_s: float = 60.0) -> Exchange:
    return Exchange(Deadline.after(left_s), phase, sent)


def exceptions_of(*modules: ModuleType) -> Iterator[type[Exception]]:
    for module in modules:
        for name, kind in inspect.getmembers(module, inspect.isclass):
            if issubclass(kind, Exception) and not issubclass(kind, Warning) and not name.startswith("_"):
                yield kind


BASES = (requests.RequestException, OSError, wire.Unreadable, wire.ForbiddenHeader)
ALL = sorted(
    (kind for kind in set(exceptions_of(requests.exceptions, ssl, socket, wire)) if issubclass(kind, BASES)), key=str
)


def made(kind: type[Exception]) -> Exception:
    """Make an exception of a class, whatever its constructor asks for."""
    fault = kind.__new__(kind)
    fault.args = ("secret of the peer at 192.0.2.1",)
    if kind is wire.Unreadable:
        fault.detail = "the base of those that have one"
    return fault


@pytest.mark.parametrize("kind", ALL)
def test_every_exception_of_the_libraries_has_a_reason(kind: type[Exception]) -> None:
    assert issubclass(kind, FOREIGN)
    for phase, sent in itertools.product(Phase, (True, False)):
        meaning = translate(made(kind), exchange(phase, sent=sent))

        assert meaning.reason in (Reason.REFUSED, Reason.CONNECTION_LOST, Reason.TLS, Reason.UNREADABLE)
        assert "secret" not in str(meaning)
        if phase in (Phase.LOOKING_UP, Phase.CONNECTING, Phase.SECURING) and not issubclass(kind, wire.Unreadable):
            assert meaning.delivery is Delivery.NOT_SENT


def test_the_libraries_have_exceptions_to_translate() -> None:
    assert {requests.ReadTimeout, ssl.SSLError, socket.gaierror, wire.Doubtful} <= {*ALL}


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize(("sent", "delivery"), [(True, Delivery.UNKNOWN), (False, Delivery.NOT_SENT)])
def test_whatever_happens_when_the_time_is_up_is_the_budget(phase: Phase, sent: bool, delivery: Delivery) -> None:
    meaning = translate(ConnectionResetError(), exchange(phase, sent=sent, left_s=0.0))

    assert (meaning.reason, meaning.delivery) == (Reason.BUDGET, delivery)


@pytest.mark.parametrize(
    ("fault", "detail"),
    [
        (OSError(101, "Network is unreachable"), "its host could not be reached"),
        (ConnectionRefusedError(), "the connection was refused"),
        (TimeoutError(), "no connection came about within the connect time"),
    ],
)
def test_why_no_connection_came_about_is_said(fault: OSError, detail: str) -> None:
    assert translate(fault, exchange(Phase.CONNECTING)).detail == detail


@pytest.mark.parametrize(
    ("fault", "delivery"),
    [
        (wire.NoAnswer(), Delivery.UNKNOWN),
        (wire.BadHead(), Delivery.ANSWERED),
        (wire.Doubtful(), Delivery.ANSWERED),
        (wire.BrokenOff(), Delivery.ANSWERED),
    ],
)
def test_what_cannot_be_read_is_an_answer_unless_it_is_none(fault: wire.Unreadable, delivery: Delivery) -> None:
    meaning = translate(fault, exchange(Phase.SENDING, sent=True))

    assert (meaning.reason, meaning.delivery, meaning.detail) == (Reason.UNREADABLE, delivery, fault.detail)


def test_a_forbidden_header_is_refused_and_was_not_sent() -> None:
    meaning = translate(wire.ForbiddenHeader("secret"), exchange(Phase.LOOKING_UP))

    assert (meaning.reason, meaning.delivery) == (Reason.REFUSED, Delivery.NOT_SENT)


def test_an_end_without_tls_goodbye_is_a_lost_connection_in_every_python() -> None:
    fault = ssl.SSLError()
    fault.reason = "UNEXPECTED_EOF_WHILE_READING"

    assert translate(fault, exchange(Phase.SENDING, sent=True)).reason is Reason.CONNECTION_LOST
