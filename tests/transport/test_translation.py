"""No foreign exception leaves the room."""

from __future__ import annotations

import http.client
import inspect
import itertools
import socket
import ssl
from collections.abc import Iterator
from types import ModuleType

import pytest
import requests
import urllib3

from mcp_gateway.deadline import Deadline
from mcp_gateway.transport.answer import Delivery, Reason
from mcp_gateway.transport.exchange import Exchange, Peer, Phase
from mcp_gateway.transport.names import HostAddresses
from mcp_gateway.transport.translation import FOREIGN, translate

PEER = Peer(HostAddresses("127.0.0.1", 80), connect_timeout_s=1.0, idle_limit_s=1.5)


def exchange(phase: Phase, *, sent: bool = False, left_s: float = 60.0) -> Exchange:
    return Exchange(PEER, Deadline.after(left_s), phase, sent)


def exceptions_of(*modules: ModuleType) -> Iterator[type[Exception]]:
    for module in modules:
        for name, kind in inspect.getmembers(module, inspect.isclass):
            if issubclass(kind, Exception) and not issubclass(kind, Warning) and not name.startswith("_"):
                yield kind


ALL = sorted(
    set(exceptions_of(requests.exceptions, urllib3.exceptions, http.client, ssl, socket)), key=lambda kind: str(kind)
)


def made(kind: type[Exception]) -> Exception:
    """Make an exception of a class, whatever its constructor asks for."""
    fault = kind.__new__(kind)
    fault.args = ("secret of the peer at 192.0.2.1",)
    return fault


@pytest.mark.parametrize("kind", ALL)
def test_every_exception_of_the_libraries_has_a_reason(kind: type[Exception]) -> None:
    assert issubclass(kind, FOREIGN)
    for phase, sent in itertools.product(Phase, (True, False)):
        meaning = translate(made(kind), exchange(phase, sent=sent))

        assert meaning.reason in (Reason.REFUSED, Reason.CONNECTION_LOST, Reason.TLS, Reason.UNREADABLE)
        assert "secret" not in str(meaning)
        if phase in (Phase.LOOKING_UP, Phase.CONNECTING, Phase.SECURING):
            assert meaning.delivery is Delivery.NOT_SENT


def test_the_libraries_have_exceptions_to_translate() -> None:
    assert {requests.ReadTimeout, urllib3.exceptions.ProtocolError, http.client.BadStatusLine, ssl.SSLError} <= {*ALL}


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


def test_the_cause_is_found_behind_every_wrapping() -> None:
    wrapped = requests.ConnectionError(urllib3.exceptions.ProtocolError("aborted", http.client.BadStatusLine("x")))

    meaning = translate(wrapped, exchange(Phase.SENDING, sent=True))

    assert (meaning.reason, meaning.delivery) == (Reason.UNREADABLE, Delivery.UNKNOWN)


def test_causes_that_name_each_other_do_not_go_round_for_ever() -> None:
    one, two = OSError("one"), OSError("two")
    one.__cause__, two.__cause__ = two, one

    assert translate(one, exchange(Phase.SENDING, sent=True)).reason is Reason.CONNECTION_LOST


def test_an_end_without_tls_goodbye_is_a_lost_connection_in_every_python() -> None:
    fault = ssl.SSLError()
    fault.reason = "UNEXPECTED_EOF_WHILE_READING"

    assert translate(fault, exchange(Phase.SENDING, sent=True)).reason is Reason.CONNECTION_LOST
