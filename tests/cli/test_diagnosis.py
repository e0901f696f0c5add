"""What the walks of the doctor cannot bring about: an exchange that fails on a way that was good a moment before."""

from __future__ import annotations

import socket
import ssl

import pytest

from mcp_gateway.cli.diagnosis import Culprit, Layer
from mcp_gateway.cli.doctor import causes, evidence
from mcp_gateway.transport.answer import Delivery, Reason, Unanswered
from mcp_gateway.transport.certificate import Certificate

NOT_SENT, UNKNOWN = Delivery.NOT_SENT, Delivery.UNKNOWN


@pytest.mark.parametrize(
    ("reason", "delivery", "cause", "layer", "culprit"),
    [
        (Reason.REFUSED, NOT_SENT, socket.gaierror(socket.EAI_AGAIN, "x"), Layer.LOOK_UP, Culprit.NETWORK),
        (Reason.REFUSED, NOT_SENT, ConnectionRefusedError(), Layer.CONNECT, Culprit.TOOL_SERVICE),
        (
            Reason.TLS,
            UNKNOWN,
            ssl.SSLError(1, "[SSL: TLSV1_ALERT_INTERNAL_ERROR] x"),
            Layer.TLS,
            Culprit.TOOL_SERVICE,
        ),
        (Reason.BUDGET, NOT_SENT, TimeoutError(), Layer.CONNECT, Culprit.NETWORK),
        (Reason.BUDGET, UNKNOWN, TimeoutError(), Layer.ANSWER, Culprit.TOOL_SERVICE),
        (Reason.CONNECTION_LOST, NOT_SENT, ConnectionResetError(), Layer.ANSWER, Culprit.TOOL_SERVICE),
    ],
)
def test_an_exchange_that_fails_on_the_way_is_the_ways_fault(
    reason: Reason, delivery: Delivery, cause: OSError, layer: Layer, culprit: Culprit
) -> None:
    fault = Unanswered(reason, delivery, "why")
    fault.__cause__ = cause
    found = causes.of_exchange(fault, Layer.ANSWER)
    assert (found.layer, found.culprit) == (layer, culprit)


@pytest.mark.parametrize(("delivery", "said"), [(NOT_SENT, False), (UNKNOWN, True)])
def test_a_call_that_was_not_sent_is_not_said_to_be_perhaps_carried_out(delivery: Delivery, said: bool) -> None:
    fault = Unanswered(Reason.CONNECTION_LOST, delivery, "why")
    assert ("carried out all the same" in causes.of_unanswered(fault, "why").advice) is said


def test_what_a_certificate_does_not_say_is_not_shown() -> None:
    assert list(evidence.certificate(Certificate(subject="CN=a"))) == ["certificate of CN=a, issued by "]
