"""
At which layer a call has failed, whose fault that is, and what to do next, as far as a failure note says it (pure).

One small table for each way to fail. ``call`` has nothing but the gateway's note; ``doctor`` has seen more, which
``doctor.causes`` reads. Where two parties could be at fault, the one is named that can tell: its advice then names the
other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..transport.answer import Delivery, Reason


class Layer(StrEnum):
    """The steps of a call, in order."""

    CONFIGURATION = "configuration"
    LOOK_UP = "name look-up"
    CONNECT = "connect"
    TLS = "TLS"
    MANIFEST = "manifest"
    SCHEMA = "schema"
    REQUEST = "request"
    ANSWER = "answer"


class Culprit(StrEnum):
    """Who can mend it."""

    CONFIGURATION = "configuration"
    NETWORK = "network"
    TOOL_SERVICE = "tool_service"
    CALLER = "caller"
    GATEWAY = "gateway"


WHO: Mapping[Culprit, str] = {
    Culprit.CONFIGURATION: "the owner of the gateway's configuration",
    Culprit.NETWORK: "the network or its name service, between the gateway and the Tool Service",
    Culprit.TOOL_SERVICE: "the owner of the Tool Service",
    Culprit.CALLER: "the caller",
    Culprit.GATEWAY: "the gateway",
}
"""Each in words."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """
    What is wrong.

    Args:

        layer: The step that fails.

        culprit: Who can mend it.

        finding: What was seen, as a clause.

        advice: What to do next, as sentences.
    """

    layer: Layer
    culprit: Culprit
    finding: str
    advice: str


# --- the reason of a failure note ------------------------------------------------------------------------------------

Blame = tuple[Layer, Culprit, str]
"""At which layer, who can mend it, and what to do."""

# What to do, as it is said in more than one place.
AS_HTTP = "Look at how it, or a proxy in front of it, writes HTTP: status line, headers, lengths, chunks, codings."
AS_IT_SAYS = "Answer what the Content-Type says, whole: JSON, text, an image, audio."
HUNG_UP = "Look at its log: it, or a proxy in front of it, hung up instead of answering."
ENDPOINT = "endpoint in the manifest, or base_url"
_IS_IT_UP = "Is it up? 'mcp-gateway doctor', beside the gateway, says where it fails."
_PERHAPS_DONE = "The call may have been carried out all the same."
NO_HTTP = f"Look at what took the call: it does not speak HTTP/1.1, all that the gateway speaks. {_PERHAPS_DONE}"

_NOTED: Mapping[Reason, Blame] = {
    Reason.BUDGET: (
        Layer.ANSWER,
        Culprit.TOOL_SERVICE,
        "Make the tool faster, or give it more time: timeoutMs in the manifest, else timeout_s in the configuration. "
        + _PERHAPS_DONE,
    ),
    Reason.CONNECTION_LOST: (
        Layer.ANSWER,
        Culprit.TOOL_SERVICE,
        f"Look for the guid in its log: it, or a proxy in front of it, hung up. {_PERHAPS_DONE}",
    ),
    Reason.TOO_LARGE: (
        Layer.ANSWER,
        Culprit.TOOL_SERVICE,
        "Answer less at once: give the tool a limit or pages. The bound is limits.max_response_bytes.",
    ),
    Reason.UNREADABLE: (
        Layer.ANSWER,
        Culprit.TOOL_SERVICE,
        f"Read what is said of the answer. If it is about the content: {AS_IT_SAYS} If it is about HTTP: {AS_HTTP}",
    ),
    Reason.OUTPUT_SCHEMA: (
        Layer.ANSWER,
        Culprit.TOOL_SERVICE,
        "Answer what outputSchema promises, or promise something else.",
    ),
    Reason.REDIRECT: (
        Layer.ANSWER,
        Culprit.TOOL_SERVICE,
        f"Correct {ENDPOINT}: a redirect is not followed.",
    ),
    Reason.REFUSED: (
        Layer.CONNECT,
        Culprit.TOOL_SERVICE,
        _IS_IT_UP,
    ),
    Reason.TLS: (
        Layer.TLS,
        Culprit.CONFIGURATION,
        "'mcp-gateway doctor', beside the gateway, shows what is wrong with it.",
    ),
}
"""Every reason but a status, which says more."""

_UNSENT: Mapping[Reason, Blame] = {
    Reason.BUDGET: (
        Layer.CONNECT,
        Culprit.TOOL_SERVICE,
        f"The time was up before there was a connection, and nothing was sent. {_IS_IT_UP}",
    ),
    Reason.CONNECTION_LOST: (Layer.ANSWER, Culprit.TOOL_SERVICE, HUNG_UP),
}
"""The reasons that are another matter when the Tool Service cannot have seen the call."""


def of_reason(reason: Reason, delivery: str, status: int | None) -> Blame:
    """
    Return whose fault it is that a call failed, where it was not its status.

    Args:

        reason: Of the failure note.

        delivery: Whether the Tool Service can have seen the call.

        status: That it gave; ``None``: none is known.
    """
    if delivery == Delivery.NOT_SENT and reason in _UNSENT:
        return _UNSENT[reason]
    layer, culprit, advice = _NOTED[reason]
    if reason is Reason.BUDGET and status is not None:
        advice = f"Its answer began in time: see that it ends where its head says. If it does: {advice}"
    elif reason is Reason.UNREADABLE and delivery == Delivery.UNKNOWN:
        advice = NO_HTTP
    elif reason is Reason.UNREADABLE and (status is None or status // 100 != 2):
        advice = AS_HTTP  # the content of another answer is no matter
    return layer, culprit, advice


# --- the status of an answer -----------------------------------------------------------------------------------------

_KEY = "Give the Tool Service the credentials that it asks for, as its headers in the configuration."
_PROXY_KEY = (
    "A proxy in front of the Tool Service asks for credentials, and the gateway has none for proxies: "
    "have the proxy let it pass, or write a base_url that leads past the proxy."
)
_READ = "Read what it says, if anything, and"

CREDENTIALS: Mapping[int, str] = {401: _KEY, 403: _KEY, 407: _PROXY_KEY}
"""What to do about a status that asks for credentials."""

_BY_STATUS: Mapping[int, tuple[Culprit, str]] = {
    status: (culprit, advice)
    for statuses, culprit, advice in (
        ((401, 403), Culprit.CONFIGURATION, f"{_KEY} If it gets them, this caller may not use the tool."),
        ((407,), Culprit.CONFIGURATION, _PROXY_KEY),
        (
            (404, 410),
            Culprit.TOOL_SERVICE,
            "Read its words: either what was asked for is not there, or the manifest's endpoint leads nowhere.",
        ),
        (
            (408, 425, 429, 503),
            Culprit.TOOL_SERVICE,
            "It is busy or late: try again later, or have it scaled.",
        ),
        (
            (400, 409, 413, 422),  # what another choice of arguments can change
            Culprit.CALLER,
            f"{_READ} change the arguments. If inputSchema said so, the gateway would refuse them itself.",
        ),
        (
            (405, 406, 411, 415),  # what the gateway does alike in every call
            Culprit.TOOL_SERVICE,
            "No argument changes that: have the endpoint take a POST of application/json, all that it ever gets.",
        ),
        (
            (502, 504),
            Culprit.TOOL_SERVICE,
            "It, or a proxy in front of it, got no answer from what stands behind: look for the guid in both logs.",
        ),
    )
    for status in statuses
}


def of_status(status: int) -> tuple[Culprit, str]:
    """Return whose fault it is that a call was answered with *status*, 4xx or 5xx, and what to do."""
    advice = "Look for the guid in the log of the Tool Service."
    if status // 100 == 4:
        advice = f"{_READ} ask its owner what {status} means there: its log has the guid."
    return _BY_STATUS.get(status, (Culprit.TOOL_SERVICE, advice))


# --- what a caller gets of a gateway ---------------------------------------------------------------------------------


def of_note(note: Mapping[str, Any]) -> Diagnosis | None:
    """Return what the gateway's failure note comes to; ``None``: it has no reason that is known here."""
    try:
        reason = Reason(str(note.get("reason")))
    except ValueError:
        return None
    status = note.get("status")
    known = status if isinstance(status, int) else None
    if reason is Reason.STATUS:
        culprit, advice = of_status(known or 0)
        return Diagnosis(Layer.ANSWER, culprit, "", advice)
    layer, culprit, advice = of_reason(reason, str(note.get("outcome")), known)
    return Diagnosis(layer, culprit, "", advice)


def of_error(code: Any, data: Mapping[str, Any]) -> Diagnosis | None:
    """Return what a JSON-RPC error comes to; ``None``: it has no code of the gateway's."""
    if code == _INTERNAL:
        found = _CANNOT_START.get(str(data.get("reason")), _BROKEN)
        return Diagnosis(found[0], found[1], "", found[2])
    if isinstance(code, int) and code in _CALLERS:
        return Diagnosis(Layer.REQUEST, Culprit.CALLER, "", "Nothing was sent to a Tool Service. Change the request.")
    return None


_INTERNAL = -32603
_CALLERS = (-32700, -32600, -32601, -32602, -32020, -32022)
_CANNOT_START = {
    "busy": (
        Layer.REQUEST,
        Culprit.TOOL_SERVICE,
        "As many calls of it are under way as max_in_flight allows: try again shortly. If it stays so, it is too slow.",
    ),
    "registry_unavailable": (
        Layer.MANIFEST,
        Culprit.TOOL_SERVICE,
        "No manifest of the route has been loaded yet: /readyz and 'mcp-gateway doctor ROUTE' say why.",
    ),
}
_BROKEN = (Layer.REQUEST, Culprit.GATEWAY, "Look for the guid in the gateway's log.")
