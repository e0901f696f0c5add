"""
At which layer a call has failed, whose fault that is, and what to do next (pure).

One small table for each way to fail. ``doctor`` asks while it walks a call, ``call`` when the gateway's failure note is
all that there is. Where two parties could be at fault, the one is named that can tell: its advice then names the other.
"""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..toolservice.mediatype import MediaType
from ..transport.answer import Answer, Reason, Unanswered


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


# --- no answer: how far it came, and what the system says ------------------------------------------------------------

_NO_SUCH_NAME = (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))
_WRONG_HOST = (62, 64)
_EXPIRED = (9, 10)
_UNKNOWN_ISSUER = (2, 18, 19, 20, 21)
"""Results of OpenSSL's X509_verify_cert, as ``ssl.SSLCertVerificationError.verify_code`` has them."""

_NO_TLS_THERE = frozenset({"HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG", "UNKNOWN_PROTOCOL", "WRONG_VERSION_NUMBER"})
"""What OpenSSL calls an answer that is no TLS at all."""

_UNREACHABLE = (errno.EHOSTUNREACH, errno.ENETUNREACH)


def of_look_up(fault: Unanswered) -> Diagnosis:
    """Say whose fault a name without an address is."""
    cause = fault.__cause__
    if isinstance(cause, socket.gaierror) and cause.errno in _NO_SUCH_NAME:
        advice = "Check how base_url spells the host. If it is right, have the name registered."
        return Diagnosis(Layer.LOOK_UP, Culprit.CONFIGURATION, "there is no such host name", advice)
    if isinstance(cause, ValueError):
        advice = "Correct the host name in base_url."
        return Diagnosis(Layer.LOOK_UP, Culprit.CONFIGURATION, "it is no name that could be looked up", advice)
    told = f" ({cause.strerror})" if isinstance(cause, socket.gaierror) else ""
    late = "did not answer in time" if isinstance(cause, TimeoutError) else f"could not answer{told}"
    advice = "Ask this machine's name service: getent hosts NAME. Look at /etc/resolv.conf and the network policy."
    return Diagnosis(Layer.LOOK_UP, Culprit.NETWORK, f"the name service {late}", advice)


def of_connect(fault: Unanswered) -> Diagnosis:
    """Say whose fault a connection is that does not come about."""
    cause = fault.__cause__
    if isinstance(cause, ConnectionRefusedError):
        advice = (
            "Start the Tool Service, or have it listen on that port and on an address that is reached from here. "
            "If it runs elsewhere, correct base_url."
        )
        return Diagnosis(Layer.CONNECT, Culprit.TOOL_SERVICE, "the connection was refused: nobody listens", advice)
    told = f" ({cause.strerror})" if isinstance(cause, OSError) and cause.errno in _UNREACHABLE else ""
    advice = "Look for a firewall or a network policy between here and there, and for a host that is down."
    return Diagnosis(Layer.CONNECT, Culprit.NETWORK, fault.detail + told, advice)


def of_tls(fault: Unanswered) -> Diagnosis:
    """Say whose fault a TLS handshake is that fails."""
    cause = fault.__cause__
    reason = getattr(cause, "reason", None) if isinstance(cause, ssl.SSLError) else None
    if isinstance(cause, ssl.SSLCertVerificationError):
        return _of_certificate(cause, fault.detail)
    if reason in _NO_TLS_THERE:
        advice = (
            "Write http:// in base_url if the Tool Service is meant to be spoken to without TLS; else correct its port."
        )
        return Diagnosis(Layer.TLS, Culprit.CONFIGURATION, "what answers at that port does not speak TLS", advice)
    told = f" ({reason})" if reason else ""
    advice = (
        "Look at its TLS settings and its log: the gateway speaks TLS 1.2 and 1.3 and has no certificate of its own."
    )
    return Diagnosis(Layer.TLS, Culprit.TOOL_SERVICE, fault.detail + told, advice)


def _of_certificate(cause: ssl.SSLCertVerificationError, detail: str) -> Diagnosis:
    if cause.verify_code in _WRONG_HOST:
        advice = "Serve a certificate that has this name among its own, or write one of its names in base_url."
        return Diagnosis(Layer.TLS, Culprit.TOOL_SERVICE, detail, advice)
    finding = f"{detail}: {cause.verify_message}"
    if cause.verify_code in _UNKNOWN_ISSUER:
        advice = "Name a file with the certificate of its issuer as the Tool Service's ca_bundle."
        return Diagnosis(Layer.TLS, Culprit.CONFIGURATION, finding, advice)
    renew = cause.verify_code in _EXPIRED
    advice = "Renew the certificate." if renew else "Serve a certificate that can be trusted."
    return Diagnosis(Layer.TLS, Culprit.TOOL_SERVICE, finding, advice)


def of_exchange(fault: Unanswered, layer: Layer) -> Diagnosis:
    """Say whose fault it is that an exchange on *layer* brought no whole answer."""
    match fault.reason:
        case Reason.REFUSED if isinstance(fault.__cause__, socket.gaierror):
            return of_look_up(fault)
        case Reason.REFUSED:
            return of_connect(fault)
        case Reason.TLS:
            return of_tls(fault)
    return Diagnosis(layer, Culprit.TOOL_SERVICE, fault.detail, _UNANSWERED[fault.reason])


_UNANSWERED: Mapping[Reason, str] = {
    Reason.BUDGET: "Look at what the Tool Service was doing then: it took the connection and did not finish in time.",
    Reason.CONNECTION_LOST: "Look at its log: it, or a proxy in front of it, hung up instead of answering.",
    Reason.TOO_LARGE: "Answer less.",
    Reason.UNREADABLE: "Look at how it, or a proxy in front of it, writes HTTP: lengths, chunks, codings.",
}


# --- an answer that is not the right one -----------------------------------------------------------------------------

_UNAUTHORIZED = (401, 403)
_NOT_FOUND = 404
_BUSY = (408, 425, 429, 503)
_ARGUMENTS = (400, 409, 413, 422)  # what another choice of arguments can change


def of_manifest_status(answer: Answer) -> Diagnosis:
    """Say whose fault it is that a manifest was not answered with 200."""
    finding = f"it was answered with HTTP status {answer.status}; it must be 200"
    if answer.status // 100 == 3:
        culprit, advice = Culprit.CONFIGURATION, _moved(answer, "base_url or manifest_path")
    elif answer.status in _UNAUTHORIZED:
        culprit, advice = Culprit.CONFIGURATION, _key_refused()
    elif answer.status == _NOT_FOUND:
        culprit = Culprit.TOOL_SERVICE
        advice = "Publish the manifest at that path. If it is at another one, correct manifest_path or base_url."
    else:
        culprit, advice = Culprit.TOOL_SERVICE, "Look at the log of the Tool Service." + _from_proxy(answer)
    return Diagnosis(Layer.MANIFEST, culprit, finding, advice)


def of_manifest(answer: Answer, fault: str) -> Diagnosis:
    """Say whose fault a manifest is that cannot be used; *fault* is why."""
    if is_page(answer):
        advice = (
            "A proxy, a login page or another web server answers in the Tool Service's place. Look at where base_url "
            "leads; the gateway itself uses no proxy."
        )
        return Diagnosis(Layer.MANIFEST, Culprit.NETWORK, f"an HTML page came instead of a manifest: {fault}", advice)
    advice = "Mend the manifest: 'mcp-gateway manifest check FILE' tells every fault of it, and how to mend it."
    return Diagnosis(Layer.MANIFEST, Culprit.TOOL_SERVICE, fault, advice)


def of_answer(reason: Reason, status: int | None, answer: Answer | None, sentence: str) -> Diagnosis:
    """
    Say whose fault it is that a call was answered and failed.

    Args:

        reason: Of the failure note.

        status: That the Tool Service gave; ``None``: none is known.

        answer: What came; ``None``: only the note is known.

        sentence: What the caller is told.
    """
    if reason is Reason.STATUS:
        culprit, advice = _of_status(status or 0, answer)
    elif reason is Reason.REDIRECT:
        culprit, advice = Culprit.TOOL_SERVICE, _moved(answer, "endpoint in the manifest, or base_url")
    elif reason is Reason.UNREADABLE and answer is not None and is_page(answer):
        culprit, advice = Culprit.TOOL_SERVICE, "Answer JSON or text." + _from_proxy(answer)
    else:
        culprit, advice = _ANSWERS[reason]
    return Diagnosis(Layer.ANSWER, culprit, sentence, advice)


def of_own_error(sentence: str) -> Diagnosis:
    """Say whose fault it is that a tool says of itself, in an MCP result, that it has failed."""
    advice = "The tool says so itself: read its words. If the arguments are right, its owner can say more."
    return Diagnosis(Layer.ANSWER, Culprit.TOOL_SERVICE, sentence, advice)


_MORE_TIME = "give it more time: timeoutMs in the manifest, else timeout_s in the configuration"
_PERHAPS_DONE = "The call may have been carried out all the same."

_ANSWERS: Mapping[Reason, tuple[Culprit, str]] = {
    Reason.BUDGET: (Culprit.TOOL_SERVICE, f"Make the tool faster, or {_MORE_TIME}. {_PERHAPS_DONE}"),
    Reason.CONNECTION_LOST: (
        Culprit.TOOL_SERVICE,
        f"Look for the guid in its log: it, or a proxy in front of it, hung up. {_PERHAPS_DONE}",
    ),
    Reason.TOO_LARGE: (
        Culprit.TOOL_SERVICE,
        "Answer less at once: give the tool a limit or pages. The bound is limits.max_response_bytes.",
    ),
    Reason.UNREADABLE: (Culprit.TOOL_SERVICE, "Answer what the Content-Type says, whole: JSON, text, an image, audio."),
    Reason.OUTPUT_SCHEMA: (Culprit.TOOL_SERVICE, "Answer what outputSchema promises, or promise something else."),
    Reason.REFUSED: (Culprit.TOOL_SERVICE, "Is it up? 'mcp-gateway doctor', beside the gateway, says where it fails."),
    Reason.TLS: (Culprit.CONFIGURATION, "'mcp-gateway doctor', beside the gateway, shows what is wrong with it."),
}


def _of_status(status: int, answer: Answer | None) -> tuple[Culprit, str]:
    if status in _UNAUTHORIZED:
        return Culprit.CONFIGURATION, _key_refused() + " If it does, this caller may not use the tool."
    if status in _BUSY:
        return Culprit.TOOL_SERVICE, "It is busy or late: try again later, or have it scaled." + _from_proxy(answer)
    if status == _NOT_FOUND:
        advice = "Read its words: either what was asked for is not there, or the manifest's endpoint leads nowhere."
        return Culprit.TOOL_SERVICE, advice + _from_proxy(answer)
    if status in _ARGUMENTS:
        advice = (
            "Read what it says, if anything, and change the arguments. "
            "If inputSchema said so, the gateway would refuse them itself."
        )
        return Culprit.CALLER, advice
    if status // 100 == 4:
        advice = "No argument changes that: have the endpoint take a POST of application/json, all that it ever gets."
        return Culprit.TOOL_SERVICE, advice + _from_proxy(answer)
    return Culprit.TOOL_SERVICE, "Look for the guid in the log of the Tool Service." + _from_proxy(answer)


def _key_refused() -> str:
    return "Give the Tool Service the credentials that it asks for, as its headers in the configuration."


def _moved(answer: Answer | None, where: str) -> str:
    location = answer.headers.get("location") if answer else None
    return f"Correct {where}: a redirect is not followed" + (f"; it leads to {location}." if location else ".")


def is_page(answer: Answer) -> bool:
    """Say whether an HTML page came, which no Tool Service answers with and many a proxy does."""
    return MediaType.of(answer.headers).essence in ("text/html", "application/xhtml+xml")


def _from_proxy(answer: Answer | None) -> str:
    if answer is None or not is_page(answer):
        return ""
    server = answer.headers.get("server")
    return f" The answer is an HTML page, perhaps of a proxy in front of it{f' ({server})' if server else ''}."


# --- what a caller gets of a gateway ---------------------------------------------------------------------------------


def of_note(note: Mapping[str, Any]) -> Diagnosis | None:
    """Return what the gateway's failure note comes to; ``None``: it has no reason that is known here."""
    try:
        reason = Reason(str(note.get("reason")))
    except ValueError:
        return None
    status = note.get("status")
    found = of_answer(reason, status if isinstance(status, int) else None, None, "")
    layer = _NOTED.get(reason, Layer.ANSWER)
    return Diagnosis(layer, found.culprit, found.finding, found.advice)


_NOTED = {Reason.REFUSED: Layer.CONNECT, Reason.TLS: Layer.TLS}


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
