"""What the walks of the doctor cannot bring about: an exchange that fails on a way that was good a moment before."""

from __future__ import annotations

import socket
import ssl

import pytest

from mcp_gateway.cli import diagnosis
from mcp_gateway.cli.diagnosis import Culprit, Layer
from mcp_gateway.cli.doctor import evidence
from mcp_gateway.transport.answer import Delivery, Reason, Unanswered
from mcp_gateway.transport.certificate import Certificate


@pytest.mark.parametrize(
    ("reason", "cause", "layer", "culprit"),
    [
        (Reason.REFUSED, socket.gaierror(socket.EAI_AGAIN, "x"), Layer.LOOK_UP, Culprit.NETWORK),
        (Reason.REFUSED, ConnectionRefusedError(), Layer.CONNECT, Culprit.TOOL_SERVICE),
        (Reason.TLS, ssl.SSLError(1, "[SSL: TLSV1_ALERT_INTERNAL_ERROR] x"), Layer.TLS, Culprit.TOOL_SERVICE),
        (Reason.BUDGET, TimeoutError(), Layer.ANSWER, Culprit.TOOL_SERVICE),
    ],
)
def test_an_exchange_that_fails_on_the_way_is_the_ways_fault(
    reason: Reason, cause: OSError, layer: Layer, culprit: Culprit
) -> None:
    fault = Unanswered(reason, Delivery.NOT_SENT, "why")
    fault.__cause__ = cause
    found = diagnosis.of_exchange(fault, Layer.ANSWER)
    assert (found.layer, found.culprit) == (layer, culprit)


def test_what_a_certificate_does_not_say_is_not_shown() -> None:
    assert list(evidence.certificate(Certificate(subject="CN=a"))) == ["certificate of CN=a, issued by "]
