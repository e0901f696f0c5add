"""What a caller reads when a Tool Service misbehaves, over real sockets."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

import peers
import pytest
from peers import Listener, answer, good, sending

from mcp_gateway.config.model import ToolService
from mcp_gateway.deadline import Deadline
from mcp_gateway.toolservice.client import Call, ToolServiceClient
from mcp_gateway.transport.answer import Delivery, Reason

MAX_BYTES = 1_000_000
BOUND_S = 3.0

LATE = "Tool 'x' did not answer within its budget of 0.4 s."
LOST = "Tool 'x' could not be called: the connection was lost before an answer came."
UNUSABLE = "Tool 'x' gave an answer that cannot be used: "
TOO_LARGE = UNUSABLE + "its answer is larger than 1,000,000 bytes."

SENTENCES = {
    "silent": (Reason.BUDGET, Delivery.UNKNOWN, LATE),
    "dripping headers": (Reason.BUDGET, Delivery.UNKNOWN, LATE),
    "dripping body": (Reason.BUDGET, Delivery.UNKNOWN, LATE),
    "reset after reading": (Reason.CONNECTION_LOST, Delivery.UNKNOWN, LOST),
    "closed without a word": (Reason.CONNECTION_LOST, Delivery.UNKNOWN, LOST),
    "truncated": (Reason.UNREADABLE, Delivery.ANSWERED, UNUSABLE + "its answer broke off before its end."),
    "garbage": (Reason.UNREADABLE, Delivery.UNKNOWN, UNUSABLE + "what came back is no HTTP answer."),
    "8 MB header": (
        Reason.UNREADABLE,
        Delivery.ANSWERED,
        UNUSABLE + "the head of its answer is too long or malformed.",
    ),
    "50 MB announced": (Reason.TOO_LARGE, Delivery.ANSWERED, TOO_LARGE),
    "gzip bomb": (Reason.TOO_LARGE, Delivery.ANSWERED, TOO_LARGE),
}

ANSWERS = {
    "redirect": (
        answer(b"", "Location: http://127.0.0.1:9/elsewhere", status="307 Temporary Redirect"),
        Reason.REDIRECT,
        "Tool 'x' answered with a redirect (status 307), which is not followed.",
    ),
    "JSON that is none": (
        answer(b'{"a": 1'),
        Reason.UNREADABLE,
        UNUSABLE + "it says it is JSON and is none: Expecting ',' delimiter (line 1, column 8).",
    ),
    "wrong charset": (
        answer("한글".encode("cp949"), "Content-Type: text/plain; charset=utf-8"),
        Reason.UNREADABLE,
        UNUSABLE + "it is not in the charset utf-8 (byte 0).",
    ),
    "server error": (answer(b"{}", status="503 Busy"), Reason.STATUS, "Tool 'x' answered with status 503."),
}


@contextlib.contextmanager
def closing_client(peer: Listener) -> Iterator[ToolServiceClient]:
    service = ToolService("core-tools", peer.base_url, timeout_s=20.0)
    with contextlib.closing(ToolServiceClient(service, max_response_bytes=MAX_BYTES, user_agent="t")) as client:
        yield client


@pytest.mark.parametrize("name", SENTENCES)
def test_a_call_that_brings_no_whole_answer_ends_in_a_sentence_within_its_budget(name: str) -> None:
    reason, delivery, sentence = SENTENCES[name]
    budget_s = 0.4 if reason is Reason.BUDGET else 10.0
    with Listener(peers.HOSTILE[name], good) as peer, closing_client(peer) as client:
        began = time.monotonic()
        outcome = client.call(Call("x", "/x", b"{}", {}, budget_s), Deadline.after(60))
        took_s = time.monotonic() - began
        after = client.call(Call("x", "/x", b'{"n":2}', {}), Deadline.after(60))

    assert outcome.is_error
    assert outcome.content == ({"type": "text", "text": sentence},)
    assert outcome.failure is not None
    assert (outcome.failure.reason, outcome.failure.delivery) == (reason, delivery)
    assert took_s < budget_s + BOUND_S
    assert after.content == ({"type": "text", "text": '{"n":2}'},)
    assert [request.body for request in peer.requests] == [b"{}", b'{"n":2}']


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_is_no_success_ends_in_a_sentence(name: str) -> None:
    reply, reason, sentence = ANSWERS[name]
    with Listener(sending(reply)) as peer, closing_client(peer) as client:
        outcome = client.call(Call("x", "/x", b"{}", {}), Deadline.after(60))

    assert outcome.is_error
    assert outcome.content == ({"type": "text", "text": sentence},)
    assert outcome.failure is not None
    assert (outcome.failure.reason, outcome.failure.delivery) == (reason, Delivery.ANSWERED)
    assert len(peer.requests) == 1
