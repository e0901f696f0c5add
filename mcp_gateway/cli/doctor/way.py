"""The way to one Tool Service, step by step, as far as its manifest: what every call of it needs."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from ...app import USER_AGENT
from ...config.model import ToolService
from ...deadline import Deadline
from ...registry.fetch import FetchFault, fetch
from ...registry.loading import RouteLoad, ServiceLoad
from ...registry.manifest import ManifestFault
from ...registry.snapshot import Manifest, ServiceState
from ...transport.answer import Answer, Reason, Unanswered
from ...transport.certificate import Certificate
from ...transport.mediatype import MediaType
from ...transport.probe import Probe
from ...transport.wire import NoAnswer
from ..diagnosis import Culprit, Diagnosis, Layer
from . import causes, evidence
from .report import Mark, Step, faulty
from .witness import Witness

SOON = timedelta(days=21)
"""A certificate that expires sooner is worth a warning."""

HANDSHAKE_S = 1.0
"""How long a TLS handshake may take with a service to which there should be none."""


class Way:
    """
    The way to one Tool Service.

    Args:

        load: The Tool Service; what its manifest comes to is noted there.

        whole: The route that it is part of.

        load_timeout_s: What the way to a connection may take, and then the manifest.

        left_out: How bad it is that the manifest has tools that are left out.
    """

    def __init__(self, load: ServiceLoad, whole: RouteLoad, *, load_timeout_s: float, left_out: Mark) -> None:
        self._load = load
        self._whole = whole
        self._load_timeout_s = load_timeout_s
        self._left_out = left_out
        self._about = _about(load.service)

    def steps(self) -> Iterator[Step]:
        """Yield the steps to the Tool Service and to its manifest; the last one is the first that fails."""
        try:
            witness = cast(Witness, self._load.client(USER_AGENT, Witness))
        except OSError as fault:
            self._failed("its ca_bundle cannot be used")
            finding = f"ca_bundle {self._load.service.ca_bundle} cannot be used: {fault.strerror}"
            bad = Diagnosis(Layer.CONFIGURATION, Culprit.CONFIGURATION, finding, "Name a file of PEM certificates.")
            yield faulty(bad, **self._about)
            return
        arrived = yield from self._approach(witness)
        if arrived:
            yield self._manifest(witness)

    def _approach(self, witness: Witness) -> Generator[Step, None, bool]:
        """Yield name look-up, connect and TLS; return whether all went well."""
        steps: tuple[tuple[Layer, Callable[[Probe], _Seen], Callable[[Unanswered], Diagnosis]], ...] = (
            (Layer.LOOK_UP, _look_up, causes.of_look_up),
            (Layer.CONNECT, _connect, causes.of_connect),
            (Layer.TLS, _secure, causes.of_tls),
        )
        with Probe(witness, Deadline.after(self._load_timeout_s)) as probe:
            for layer, take, diagnose in steps:
                began = time.monotonic()
                try:
                    seen = take(probe)
                except Unanswered as fault:
                    self._failed(fault.detail)
                    shown = probe.presented() if layer is Layer.TLS else None
                    yield faulty(diagnose(fault), [*evidence.certificate(shown), *self._meanwhile()], **self._about)
                    return False
                elapsed_ms = int((time.monotonic() - began) * 1000)
                data = {"elapsedMs": elapsed_ms}
                if seen.doubt is not None:
                    yield faulty(seen.doubt, seen.details, Mark.WARNING, data=data, **self._about)
                else:
                    finding = f"{seen.finding}, {elapsed_ms} ms" if seen.timed else seen.finding
                    yield Step(layer, Mark.OK, finding, seen.details, data=data, **self._about)
        return True

    def _manifest(self, witness: Witness) -> Step:
        load = self._load
        deadline = Deadline.after(self._load_timeout_s)
        try:
            came = fetch(witness, load.service.manifest_path, what="manifest", etag=None, deadline=deadline)
            load.loaded(load.read(came.text), came.text, came.etag, datetime.now(UTC))
        except (FetchFault, ManifestFault) as fault:
            self._failed(str(fault))
            details = [*evidence.exchange(witness, load.service), *self._meanwhile()]
            return faulty(_of_manifest(witness, str(fault)), details, data=evidence.data(witness), **self._about)
        return self._loaded(witness, cast(Manifest, load.manifest))

    def _loaded(self, witness: Witness, manifest: Manifest) -> Step:
        named = " ".join(filter(None, (manifest.name, manifest.version)))
        count = f"{len(manifest.tools)} tool{'' if len(manifest.tools) == 1 else 's'}"
        finding = f"{evidence.answered(witness)}: {f'{named}, ' if named else ''}{count}"
        data = evidence.data(witness) | {"tools": [tool.name for tool in manifest.tools]}
        if manifest.left_out:
            details = [f"LEFT OUT {left.tool}: {left.place}: {left.reason}" for left in manifest.left_out]
            found = causes.of_left_out(f"{finding}, {len(details)} left out")
            return faulty(found, details, self._left_out, data=data, **self._about)
        doubt = _doubt(witness, finding)
        if doubt is not None:
            return faulty(doubt, (), Mark.WARNING, data=data, **self._about)
        return Step(Layer.MANIFEST, Mark.OK, finding, data=data, **self._about)

    def _failed(self, error: str) -> None:
        self._load.failed(error, self._whole.fallback_for(self._load))

    def _meanwhile(self) -> Iterator[str]:
        if self._load.state is ServiceState.FALLBACK:
            yield "until it answers, a gateway that starts now shows the tools of the fallback manifest"


def _about(service: ToolService) -> dict[str, Any]:
    return {"subject": f"Tool Service {service.name} ({service.base_url})", "service": service.name}


# --- as far as a connection ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a step of the way showed; ``doubt``: what is not wrong yet."""

    finding: str
    details: tuple[str, ...] = ()
    doubt: Diagnosis | None = None
    timed: bool = True


def _look_up(probe: Probe) -> _Seen:
    return _Seen(", ".join(probe.look_up()))


def _connect(probe: Probe) -> _Seen:
    address = probe.connect()
    return _Seen(f"{address} port {probe.port}")


def _secure(probe: Probe) -> _Seen:
    secured = probe.secure()
    if secured is None:
        return _Seen("none: base_url begins with http://", timed=False)
    shown = secured.certificate
    return _Seen(f"{secured.protocol}, {secured.cipher}", tuple(evidence.certificate(shown)), _expiry(shown))


def _expiry(shown: Certificate) -> Diagnosis | None:
    if shown.ends is None or shown.ends - datetime.now(UTC) > SOON:
        return None
    finding = f"its certificate expires on {shown.ends:%Y-%m-%d}"
    return Diagnosis(Layer.TLS, Culprit.TOOL_SERVICE, finding, "Renew the certificate before that day.")


# --- the manifest ----------------------------------------------------------------------------------------------------


def _doubt(witness: Witness, finding: str) -> Diagnosis | None:
    if witness.surplus:
        return causes.of_surplus(Layer.MANIFEST, finding)
    if not MediaType.of(cast(Answer, witness.answer).headers).says_json:
        return Diagnosis(Layer.MANIFEST, Culprit.TOOL_SERVICE, finding, "Declare it application/json.")
    return None


def _of_manifest(witness: Witness, fault: str) -> Diagnosis:
    answer = witness.answer
    if _wants_tls(witness):
        finding = f"base_url begins with http:// and the Tool Service speaks TLS: {fault}"
        return Diagnosis(Layer.TLS, Culprit.CONFIGURATION, finding, "Write https:// in base_url.")
    if answer is None:
        return causes.of_exchange(cast(Unanswered, witness.fault), Layer.MANIFEST)
    if answer.status != 200:
        return causes.of_manifest_status(answer)
    if witness.surplus:
        return causes.of_surplus(Layer.MANIFEST, fault)
    return causes.of_manifest(answer, fault)


def _wants_tls(witness: Witness) -> bool:
    """Say whether a service that did not answer plain HTTP as HTTP does speaks TLS."""
    lost = witness.fault is not None and (
        witness.fault.reason is Reason.CONNECTION_LOST or isinstance(witness.fault.__cause__, NoAnswer)
    )
    bad_request = witness.answer is not None and witness.answer.status == 400
    with Probe(witness, Deadline.after(HANDSHAKE_S)) as probe:
        return probe.is_plain and (lost or bad_request) and probe.speaks_tls()
