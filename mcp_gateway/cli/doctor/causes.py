"""
Whose fault it is, where a walk has seen for itself what happened (pure).

What a failure note alone would say stands in ``..diagnosis``.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping

from ...transport.answer import Answer, Delivery, Reason, Unanswered
from ...transport.mediatype import MediaType
from ...transport.wire import NoAnswer
from ..diagnosis import (
    AS_HTTP,
    AS_IT_SAYS,
    CREDENTIALS,
    ENDPOINT,
    HUNG_UP,
    NO_HTTP,
    Culprit,
    Diagnosis,
    Layer,
    of_reason,
    of_status,
)

# --- no answer: how far it came, and what the system says ------------------------------------------------------------

_NO_SUCH_NAME = (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))
_WRONG_HOST = (62, 64)
_NOT_YET_VALID = 9
_EXPIRED = 10
_UNKNOWN_ISSUER = (2, 18, 19, 20, 21)
"""Results of OpenSSL's X509_verify_cert, as ``ssl.SSLCertVerificationError.verify_code`` has them."""

_NO_TLS_THERE = frozenset({"HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG", "UNKNOWN_PROTOCOL", "WRONG_VERSION_NUMBER"})
"""What OpenSSL calls an answer that is no TLS at all."""


def of_look_up(fault: Unanswered) -> Diagnosis:
    """Say whose fault a name without an address is."""
    cause = fault.__cause__
    if isinstance(cause, socket.gaierror) and cause.errno in _NO_SUCH_NAME:
        advice = "Check how base_url spells the host. If it is right, have the name registered."
        return Diagnosis(Layer.LOOK_UP, Culprit.CONFIGURATION, "there is no such host name", advice)
    if isinstance(cause, ValueError):
        advice = "Correct the host name in base_url."
        return Diagnosis(Layer.LOOK_UP, Culprit.CONFIGURATION, "it is no name that could be looked up", advice)
    late = isinstance(cause, TimeoutError)
    seen = "did not answer in time" if late else f"could not answer{_in_brackets(_system(cause))}"
    advice = "Ask this machine's name service: getent hosts NAME. Look at /etc/resolv.conf and the network policy."
    return Diagnosis(Layer.LOOK_UP, Culprit.NETWORK, f"the name service {seen}", advice)


def of_connect(fault: Unanswered) -> Diagnosis:
    """Say whose fault a connection is that does not come about."""
    cause = fault.__cause__
    if isinstance(cause, ConnectionRefusedError):
        advice = (
            "Start the Tool Service, or have it listen on that port and on an address that is reached from here. "
            "If it runs elsewhere, correct base_url."
        )
        return Diagnosis(Layer.CONNECT, Culprit.TOOL_SERVICE, "the connection was refused: nobody listens", advice)
    advice = "Look for a firewall or a network policy between here and there, and for a host that is down."
    return Diagnosis(Layer.CONNECT, Culprit.NETWORK, fault.detail + _in_brackets(_system(cause)), advice)


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
    advice = (
        "Look at its TLS settings and its log: the gateway speaks TLS 1.2 and 1.3 and has no certificate of its own. "
        "If it is meant to be spoken to without TLS, write http:// in base_url."
    )
    return Diagnosis(Layer.TLS, Culprit.TOOL_SERVICE, fault.detail + _in_brackets(reason or _system(cause)), advice)


def _system(cause: BaseException | None) -> str | None:
    """Return what the system says of a fault, if it is one of the system's."""
    return cause.strerror if isinstance(cause, OSError) else None


def _in_brackets(told: str | None) -> str:
    return f" ({told})" if told else ""


def _of_certificate(cause: ssl.SSLCertVerificationError, detail: str) -> Diagnosis:
    if cause.verify_code in _WRONG_HOST:
        advice = "Serve a certificate that has this name among its own, or write one of its names in base_url."
        return Diagnosis(Layer.TLS, Culprit.TOOL_SERVICE, detail, advice)
    finding = f"{detail}: {cause.verify_message}"
    if cause.verify_code in _UNKNOWN_ISSUER:
        advice = "Name a file with the certificate of its issuer as the Tool Service's ca_bundle."
        return Diagnosis(Layer.TLS, Culprit.CONFIGURATION, finding, advice)
    return Diagnosis(Layer.TLS, Culprit.TOOL_SERVICE, finding, _UNTRUSTED.get(cause.verify_code, _NOT_TRUSTED))


_UNTRUSTED = {
    _NOT_YET_VALID: "Serve a certificate that is valid already. If this one should be, set the clock of this machine.",
    _EXPIRED: "Renew the certificate.",
}
_NOT_TRUSTED = "Serve a certificate that can be trusted."


def of_exchange(fault: Unanswered, layer: Layer) -> Diagnosis:
    """Say whose fault it is that an exchange on *layer* brought no whole answer."""
    match fault.reason:
        case Reason.REFUSED if isinstance(fault.__cause__, socket.gaierror):
            return of_look_up(fault)
        case Reason.REFUSED:
            return of_connect(fault)
        case Reason.BUDGET if fault.delivery is Delivery.NOT_SENT:
            return of_connect(fault)
        case Reason.TLS:
            return of_tls(fault)
    if isinstance(fault.__cause__, NoAnswer):
        finding = "what answers at that port does not speak HTTP/1.1"
        advice = (
            "Correct host and port in base_url. If they are right, have the Tool Service speak HTTP/1.1: "
            "the gateway speaks nothing else."
        )
        return Diagnosis(layer, Culprit.CONFIGURATION, finding, advice)
    return Diagnosis(layer, Culprit.TOOL_SERVICE, fault.detail, _UNANSWERED[fault.reason])


_UNANSWERED: Mapping[Reason, str] = {
    Reason.BUDGET: "Look at what the Tool Service was doing then: it took the connection and did not finish in time.",
    Reason.CONNECTION_LOST: HUNG_UP,
    Reason.TOO_LARGE: "Answer less.",
    Reason.UNREADABLE: AS_HTTP,
}


def of_unanswered(fault: Unanswered, sentence: str) -> Diagnosis:
    """Say whose fault it is that a call brought no whole answer; *sentence* is what the caller is told."""
    if fault.reason is Reason.TLS or fault.delivery is Delivery.NOT_SENT:
        return of_exchange(fault, Layer.ANSWER)
    _, culprit, advice = of_reason(fault.reason, fault.delivery, fault.status)
    if isinstance(fault.__cause__, NoAnswer):
        advice = NO_HTTP
    elif fault.reason is Reason.UNREADABLE:
        advice = AS_HTTP
    return Diagnosis(Layer.ANSWER, culprit, sentence, advice)


# --- an answer that is not the right one -----------------------------------------------------------------------------

_REDIRECTS = (301, 302, 303, 307, 308)
_NOT_THERE = (404, 405, 410)


def of_manifest_status(answer: Answer) -> Diagnosis:
    """Say whose fault it is that a manifest was not answered with 200."""
    status = answer.status
    finding = f"it was answered with HTTP status {status}; it must be 200"
    if status in _REDIRECTS:
        advice = _moved(answer, "base_url or manifest_path")
        return Diagnosis(Layer.MANIFEST, Culprit.CONFIGURATION, finding, advice)
    culprit, advice = Culprit.TOOL_SERVICE, "Look at the log of the Tool Service."
    if status in CREDENTIALS:
        culprit, advice = Culprit.CONFIGURATION, CREDENTIALS[status]
    elif status // 100 == 2:
        advice = "Answer 200, with the whole manifest."
    elif status in _NOT_THERE:
        advice = "Publish the manifest at that path. If it is at another one, correct manifest_path or base_url."
    return Diagnosis(Layer.MANIFEST, culprit, finding, advice + _from_proxy(answer))


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


def of_left_out(finding: str) -> Diagnosis:
    """Say whose fault it is that a manifest has a tool that is left out; *finding* is which and why."""
    advice = "Mend it in the manifest: 'mcp-gateway check --fetch' says how."
    return Diagnosis(Layer.MANIFEST, Culprit.TOOL_SERVICE, finding, advice)


def of_surplus(layer: Layer, seen: str) -> Diagnosis:
    """Say whose fault it is that more bytes came than an answer has; *seen* is what else there is to say of it."""
    finding = f"{seen}; more bytes came than the answer has"
    advice = (
        "Send the body as long as Content-Length or its chunks say: "
        "the connection is thrown away after each such answer."
    )
    return Diagnosis(layer, Culprit.TOOL_SERVICE, finding, advice)


def of_page(seen: str) -> Diagnosis:
    """Say what it may mean that a call brought an HTML page; *seen* is what there is to say of it."""
    advice = (
        "The caller gets it as text. If the tool does not write it, a proxy or a login page answers in its place: "
        "look at where base_url leads."
    )
    return Diagnosis(Layer.ANSWER, Culprit.NETWORK, f"{seen}; an HTML page came", advice)


def of_answer(reason: Reason, answer: Answer, sentence: str, *, promises_result: bool) -> Diagnosis:
    """
    Say whose fault it is that a call was answered whole and failed.

    Args:

        reason: Of the failure note.

        answer: What came.

        sentence: What the caller is told.

        promises_result: The tool has ``resultFormat: mcp``.
    """
    if reason is Reason.STATUS:
        culprit, advice = of_status(answer.status)
        advice += _from_proxy(answer)
    elif reason is Reason.REDIRECT:
        here = "Answer the POST itself: it asks for nothing that could be kept elsewhere or be known already."
        culprit, advice = Culprit.TOOL_SERVICE, _moved(answer, ENDPOINT) if answer.status in _REDIRECTS else here
    elif reason is Reason.UNREADABLE:
        promised = "Answer the whole MCP result that resultFormat promises in the manifest, or leave resultFormat out."
        culprit, advice = Culprit.TOOL_SERVICE, (promised if promises_result else AS_IT_SAYS) + _from_proxy(answer)
    else:
        _, culprit, advice = of_reason(reason, Delivery.ANSWERED, answer.status)
    return Diagnosis(Layer.ANSWER, culprit, sentence, advice)


def of_own_error(sentence: str) -> Diagnosis:
    """Say whose fault it is that a tool says of itself, in an MCP result, that it has failed."""
    advice = "The tool says so itself: read its words. If the arguments are right, its owner can say more."
    return Diagnosis(Layer.ANSWER, Culprit.TOOL_SERVICE, sentence, advice)


def of_breakdown(layer: Layer, words: str) -> Diagnosis:
    """Say whose fault it is that the gateway itself breaks down."""
    return Diagnosis(
        layer, Culprit.GATEWAY, words, "Report it: the log of a gateway that gets this call has the traceback."
    )


def _moved(answer: Answer, where: str) -> str:
    location = answer.headers.get("location")
    return f"Correct {where}: a redirect is not followed" + (f"; it leads to {location}." if location else ".")


def is_page(answer: Answer) -> bool:
    """Say whether an HTML page came, which no Tool Service answers with and many a proxy does."""
    return MediaType.of(answer.headers).essence in ("text/html", "application/xhtml+xml")


def _from_proxy(answer: Answer) -> str:
    if not is_page(answer):
        return ""
    server = answer.headers.get("server")
    return f" The answer is an HTML page, perhaps of a proxy in front of it{f' ({server})' if server else ''}."
