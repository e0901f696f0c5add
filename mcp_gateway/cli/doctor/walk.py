"""
The steps of one call, taken one after the other with the gateway's own rooms.

``service`` goes as far as the manifest of a Tool Service; ``call`` goes on with one tool: the road of a request
(``protocol.exchange``) is walked as it is, first with a door closed at its end, then, if wanted, to the end.
"""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from ... import jsontext
from ...app import USER_AGENT
from ...caller import Headers, correlate, new_id
from ...client import examples, wire
from ...config.model import Config, Route, ToolService
from ...deadline import Deadline
from ...jsontext import Fragment
from ...observe.interaction import Interaction
from ...protocol import eras
from ...protocol.exchange import exchange
from ...protocol.reply import Reply
from ...registry.fetch import FetchFault, fetch
from ...registry.loading import RouteLoad, ServiceLoad
from ...registry.manifest import ManifestFault
from ...registry.snapshot import LeftOut, Manifest, ServiceState, Snapshot, Tool
from ...registry.snapshots import Snapshots
from ...tools import route as served
from ...toolservice.client import ToolServiceClient
from ...toolservice.mediatype import MediaType
from ...transport.answer import Answer, Reason, Unanswered
from ...transport.certificate import Certificate
from ...transport.probe import Probe
from ...transport.wire import NoAnswer
from .. import diagnosis
from ..diagnosis import Culprit, Diagnosis, Layer
from . import evidence
from .report import Mark, Step, faulty
from .witness import Witness

SOON = timedelta(days=21)
"""A certificate that expires sooner is worth a warning."""

NEARLY = 0.8
"""A call that takes more than this part of its budget is worth a warning."""


HANDSHAKE_S = 1.0
"""How long a TLS handshake may take with a service to which there should be none."""


@dataclass(frozen=True, slots=True)
class Asked:
    """
    The call that is walked.

    Args:

        tool: The tool's name.

        arguments: Its arguments as written; ``None``: some are made up.

        version: The protocol version that the caller speaks.

        headers: The caller's headers.
    """

    tool: str
    arguments: Fragment | None
    version: str
    headers: Mapping[str, str]


class Walk:
    """
    One walk over a route.

    Args:

        config: The configuration.

        route: The route.

        services: Those of its Tool Services that are looked at.

        every: Each tool matters; else one does, and what others lack is worth a warning.
    """

    def __init__(self, config: Config, route: Route, services: Sequence[ToolService], *, every: bool) -> None:
        self._left_out = Mark.FAULT if every else Mark.WARNING
        self._config = config
        self._route = route
        self._loads = {service.name: ServiceLoad(service) for service in services}
        self._whole = RouteLoad(route, list(self._loads.values()))
        self._snapshot: Snapshot | None = None

    def close(self) -> None:
        """Let go of connections."""
        for load in self._loads.values():
            load.close()

    def owner(self, tool: str) -> str | None:
        """Return the Tool Service that runs *tool*, as far as the manifests that were had say so."""
        found = self._snapshot.find(tool) if self._snapshot else None
        return found.service if found else None

    # --- as far as the manifest --------------------------------------------------------------------------------------

    def service(self, name: str) -> Iterator[Step]:
        """Yield the steps to a Tool Service and to its manifest; the last one is the first that fails."""
        load = self._loads[name]
        try:
            witness = cast(Witness, load.client(USER_AGENT, Witness))
        except OSError as fault:
            self._failed(load, "its ca_bundle cannot be used")
            finding = f"ca_bundle {load.service.ca_bundle} cannot be used: {fault.strerror}"
            bad = Diagnosis(Layer.CONFIGURATION, Culprit.CONFIGURATION, finding, "Name a file of PEM certificates.")
            yield faulty(bad, **_about(load.service))
            return
        arrived = yield from self._way(witness, load)
        if arrived:
            yield self._manifest(witness, load)

    def _way(self, witness: Witness, load: ServiceLoad) -> Generator[Step, None, bool]:
        """Yield name look-up, connect and TLS, each of which a call needs; return whether all went well."""
        about = _about(load.service)
        steps: tuple[tuple[Layer, Callable[[Probe], _Seen], Callable[[Unanswered], Diagnosis]], ...] = (
            (Layer.LOOK_UP, _look_up, diagnosis.of_look_up),
            (Layer.CONNECT, _connect, diagnosis.of_connect),
            (Layer.TLS, _secure, diagnosis.of_tls),
        )
        with Probe(witness, Deadline.after(self._config.registry.load_timeout_s)) as probe:
            for layer, take, diagnose in steps:
                began = time.monotonic()
                try:
                    seen = take(probe)
                except Unanswered as fault:
                    self._failed(load, fault.detail)
                    shown = probe.presented() if layer is Layer.TLS else None
                    yield faulty(diagnose(fault), [*evidence.certificate(shown), *self._meanwhile(load)], **about)
                    return False
                elapsed_ms = int((time.monotonic() - began) * 1000)
                data = {"elapsedMs": elapsed_ms}
                if seen.doubt is not None:
                    yield faulty(seen.doubt, seen.details, Mark.WARNING, data=data, **about)
                else:
                    finding = f"{seen.finding}, {elapsed_ms} ms" if seen.timed else seen.finding
                    yield Step(layer, Mark.OK, finding, seen.details, data=data, **about)
        return True

    def _manifest(self, witness: Witness, load: ServiceLoad) -> Step:
        about = _about(load.service)
        deadline = Deadline.after(self._config.registry.load_timeout_s)
        try:
            came = fetch(witness, load.service.manifest_path, what="manifest", etag=None, deadline=deadline)
            load.loaded(load.read(came.text), came.text, came.etag, datetime.now(UTC))
        except (FetchFault, ManifestFault) as fault:
            self._failed(load, str(fault))
            found = self._of_manifest(witness, load, str(fault))
            details = [*evidence.exchange(witness, load.service), *self._meanwhile(load)]
            return faulty(found, details, data=evidence.data(witness), **about)
        return self._loaded(witness, load, about)

    def _of_manifest(self, witness: Witness, load: ServiceLoad, fault: str) -> Diagnosis:
        answer = witness.answer
        if self._wants_tls(witness):
            finding = f"base_url begins with http:// and the Tool Service speaks TLS: {fault}"
            advice = "Write https:// in base_url."
            return Diagnosis(Layer.TLS, Culprit.CONFIGURATION, finding, advice)
        if answer is None:
            return diagnosis.of_exchange(cast(Unanswered, witness.fault), Layer.MANIFEST)
        if answer.status != 200:
            return diagnosis.of_manifest_status(answer)
        return diagnosis.of_manifest(answer, fault)

    def _wants_tls(self, witness: Witness) -> bool:
        """Say whether a service that did not answer plain HTTP as HTTP does speaks TLS."""
        lost = witness.fault is not None and (
            witness.fault.reason is Reason.CONNECTION_LOST or isinstance(witness.fault.__cause__, NoAnswer)
        )
        bad_request = witness.answer is not None and witness.answer.status == 400
        with Probe(witness, Deadline.after(HANDSHAKE_S)) as probe:
            return probe.is_plain and (lost or bad_request) and probe.speaks_tls()

    def _loaded(self, witness: Witness, load: ServiceLoad, about: Mapping[str, Any]) -> Step:
        manifest, answer = cast(Manifest, load.manifest), cast(Answer, witness.answer)
        named = " ".join(filter(None, (manifest.name, manifest.version)))
        count = f"{len(manifest.tools)} tool{'' if len(manifest.tools) == 1 else 's'}"
        finding = f"{evidence.answered(witness)}: {f'{named}, ' if named else ''}{count}"
        details = tuple(f"LEFT OUT {left.tool}: {left.place}: {left.reason}" for left in manifest.left_out)
        data = evidence.data(witness) | {"tools": [tool.name for tool in manifest.tools]}
        if manifest.left_out:
            advice = "Mend it in the manifest: 'mcp-gateway check --fetch' says how."
            found = Diagnosis(Layer.MANIFEST, Culprit.TOOL_SERVICE, f"{finding}, {len(details)} left out", advice)
            return faulty(found, details, self._left_out, data=data, **about)
        if not MediaType.of(answer.headers).says_json:
            advice = "Declare it application/json."
            found = Diagnosis(Layer.MANIFEST, Culprit.TOOL_SERVICE, finding, advice)
            return faulty(found, details, Mark.WARNING, data=data, **about)
        return Step(Layer.MANIFEST, Mark.OK, finding, details, data=data, **about)

    def _failed(self, load: ServiceLoad, error: str) -> None:
        load.failed(error, self._whole.fallback_for(load))

    def _meanwhile(self, load: ServiceLoad) -> Iterator[str]:
        if load.state is ServiceState.FALLBACK:
            yield "until it answers, a gateway that starts now shows the tools of the fallback manifest"

    # --- the route ---------------------------------------------------------------------------------------------------

    def assemble(self) -> Iterator[Step]:
        """Yield what is wrong when the Tool Services of the route are put together; nothing when all is well."""
        self._snapshot = self._whole.renew(max_tools=self._config.limits.max_tools_per_route, now=datetime.now(UTC))
        subject = f"Route {self._route.key}"
        if self._whole.error:
            advice = "Raise limits.max_tools_per_route, or spread the Tool Services over several routes."
            bad = Diagnosis(Layer.CONFIGURATION, Culprit.CONFIGURATION, self._whole.error, advice)
            yield faulty(bad, subject=subject)
        for report in self._snapshot.services if self._snapshot else ():
            own = self._loads[report.name].manifest
            clashes = report.left_out[len(own.left_out) if own else 0 :]
            for finding in _told(report.name, clashes, each=self._left_out is Mark.FAULT):
                advice = "Have one of the two renamed by its owner, or put the Tool Services on routes of their own."
                bad = Diagnosis(Layer.MANIFEST, Culprit.CONFIGURATION, finding, advice)
                yield faulty(bad, (), self._left_out, subject=subject, service=report.name)

    # --- the call ----------------------------------------------------------------------------------------------------

    def call(self, asked: Asked, *, send: bool) -> Iterator[Step]:
        """Yield the steps of the call from the schema on; the last one is the first that fails."""
        subject = f"Tool {asked.tool}"
        tool = self._snapshot.find(asked.tool) if self._snapshot else None
        if tool is None or self._snapshot is None:
            yield self._missing(asked.tool, subject)
            return
        call = _Call(self._config, self._route, self._snapshot, tool, asked)
        try:
            for step in call.steps(send=send):
                yield step
                if step.mark is Mark.FAULT:
                    return
        finally:
            call.close()

    def _missing(self, name: str, subject: str) -> Step:
        unknown = [load.service.name for load in self._loads.values() if load.manifest is None]
        for load in self._loads.values():
            for left in load.manifest.left_out if load.manifest else ():
                if left.tool == name:
                    finding = f"it is left out: {left.place}: {left.reason}"
                    advice = "Mend it in the manifest: 'mcp-gateway check --fetch' says how."
                    bad = Diagnosis(Layer.MANIFEST, Culprit.TOOL_SERVICE, finding, advice)
                    return faulty(bad, subject=subject, service=load.service.name)
        if unknown or self._snapshot is None:
            finding = f"not known: there is no manifest of {', '.join(unknown) or 'the route'}"
            return Step(Layer.SCHEMA, Mark.SKIPPED, finding, subject=subject)
        names = list(self._snapshot.by_name)
        near = difflib.get_close_matches(name, names, n=3)
        advice = f"Did you mean {' or '.join(near)}?" if near else f"There are: {', '.join(names) or '(none)'}."
        finding = f"the route has no tool {name!r}"
        return faulty(Diagnosis(Layer.SCHEMA, Culprit.CALLER, finding, advice), subject=subject)


def _told(service: str, clashes: Sequence[LeftOut], *, each: bool) -> Iterator[str]:
    """Yield what there is to say of tools whose names the route has already: of each, or of all in one sentence."""
    if each or len(clashes) == 1:
        for clash in clashes:
            yield f"{clash.tool} of Tool Service {service} is left out: {clash.place}: {clash.reason}"
    elif clashes:
        yield f"{len(clashes)} tools of Tool Service {service} are left out, whose names the route has already"


def _about(service: ToolService) -> dict[str, Any]:
    return {"subject": f"Tool Service {service.name} ({service.base_url})", "service": service.name}


# --- the way to a Tool Service ---------------------------------------------------------------------------------------


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
    return _Seen(f"{secured.protocol}, {secured.cipher}", tuple(evidence.certificate(shown)), _doubt(shown))


def _doubt(shown: Certificate) -> Diagnosis | None:
    if shown.ends is None or shown.ends - datetime.now(UTC) > SOON:
        return None
    finding = f"its certificate expires on {shown.ends:%Y-%m-%d}"
    return Diagnosis(Layer.TLS, Culprit.TOOL_SERVICE, finding, "Renew the certificate before that day.")


def _new_identifiers() -> dict[str, str]:
    """Return the identifiers of the call, so that what is shown beforehand is what is sent."""
    return {"guid": new_id(), "x-request-id": new_id()}


class _Headers(Headers):
    """The headers of a request that is not sent over any wire: in lower case, and text as latin-1."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._values = {name.lower(): value.encode().decode("latin-1") for name, value in given.items()}

    def get(self, name: str) -> str | None:
        """Return the value of the header *name*."""
        return self._values.get(name)


# --- one call --------------------------------------------------------------------------------------------------------


class _Call:
    """The call of one tool, over connections that tell what went over them."""

    def __init__(self, config: Config, route: Route, snapshot: Snapshot, tool: Tool, asked: Asked) -> None:
        self._tool = tool
        self._asked = asked
        self._route = route
        self._service = next(service for service in route.tool_services if service.name == tool.service)
        self._witnesses: list[Witness] = []
        self._client = ToolServiceClient(
            self._service,
            max_response_bytes=config.limits.max_response_bytes,
            user_agent=USER_AGENT,
            connect=self._connected,
        )
        store = Snapshots()
        store.publish(snapshot)
        self._served = served.Route(route, config.server, store, {tool.service: self._client})
        self._longest_s = config.limits.interaction_timeout_s
        self._about: dict[str, Any] = {"subject": f"Tool {tool.name}", "service": tool.service}

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()

    def _connected(self, *given: Any, **named: Any) -> Witness:
        self._witnesses.append(Witness(*given, **named))
        return self._witnesses[0]

    def steps(self, *, send: bool) -> Iterator[Step]:
        """Yield the steps from the schema on; what stands behind one that fails means nothing."""
        schema = jsontext.parse(bytes(self._tool.shown["inputSchema"]), unique=False)
        made_up = self._asked.arguments is None
        arguments = examples.arguments(schema) if self._asked.arguments is None else self._asked.arguments
        message = wire.call_tool(self._asked.version, self._tool.name, arguments, schema)
        headers = _Headers({**message.headers, **_new_identifiers(), **self._asked.headers})
        (witness,) = self._witnesses
        witness.rehearses = True
        reply = self._exchange(headers, message.body)
        refused = not witness.request
        yield self._fits(arguments, reply if refused else None, made_up=made_up, send=send)
        if refused:
            return
        yield self._written(witness, arguments)
        if send:
            witness.rehearses = False
            yield self._answered(witness, self._exchange(headers, message.body))

    def _exchange(self, headers: _Headers, body: bytes) -> Reply:
        correlation = correlate(headers)
        seen = Interaction(self._route.key, correlation.guid, correlation.request_id)
        return exchange(self._served, headers, body, correlation, Deadline.after(self._longest_s), seen)

    def _fits(self, arguments: Fragment, reply: Reply | None, *, made_up: bool, send: bool) -> Step:
        shown = evidence.cut(bytes(arguments).decode("utf-8"))
        origin = "made up; give your own with --json" if made_up else "as given"
        details = [f"arguments, {origin}: {shown}"]
        warnings = [f"warning: {sentence}" for sentence in eras.warnings(self._tool, self._route)]
        if reply is None:
            return Step(Layer.SCHEMA, Mark.OK, "the arguments fit inputSchema", (*details, *warnings), **self._about)
        words = evidence.refusal(reply.body)
        if self._tool.input_schema.fits(jsontext.parse(bytes(arguments), unique=False)):
            found = Diagnosis(Layer.REQUEST, Culprit.CALLER, words, "Change the request: nothing was sent.")
        else:
            advice = "Change the arguments: nothing was sent. If they are right, inputSchema in the manifest is not."
            found = Diagnosis(Layer.SCHEMA, Culprit.CALLER, words, advice)
        if made_up and found.layer is Layer.SCHEMA and not send:
            advice = "Nobody could make up arguments that fit: give some with --json."
            found = Diagnosis(Layer.SCHEMA, Culprit.CALLER, words, advice)
            return faulty(found, details, Mark.WARNING, **self._about)
        return faulty(found, details, **self._about)

    def _written(self, witness: Witness, arguments: Fragment) -> Step:
        sent = evidence.request(witness, self._service)
        finding = f"{sent['method']} {sent['url']}, {len(arguments):,} bytes"
        lines = [f"{name}: {value}" for name, value in sent["headers"].items()]
        return Step(
            Layer.REQUEST,
            Mark.OK,
            finding,
            (*lines, "", evidence.cut(sent["body"])),
            data={"request": sent},
            **self._about,
        )

    def _answered(self, witness: Witness, reply: Reply) -> Step:
        result = evidence.result(reply.body)
        budget_s = min(self._tool.timeout_s or self._service.timeout_s, self._longest_s)
        data = evidence.data(witness) | {"result": jsontext.members(reply.body).get("result"), "budgetS": budget_s}
        found = self._judged(witness, result)
        finding = f"{evidence.answered(witness)} of {budget_s:g} s"
        if found is not None:
            details = [finding, *evidence.headers(witness), *evidence.body(witness), *evidence.given(result)]
            return faulty(found, details, data=data, **self._about)
        details = [*evidence.headers(witness), *evidence.given(result)]
        doubt = self._doubtful(witness, budget_s, finding)
        if doubt is not None:
            return faulty(doubt, details, Mark.WARNING, data=data, **self._about)
        return Step(Layer.ANSWER, Mark.OK, finding, tuple(details), data=data, **self._about)

    def _judged(self, witness: Witness, result: Mapping[str, Any]) -> Diagnosis | None:
        if not result.get("isError"):
            return None
        sentence = evidence.cut(evidence.first_text(result))
        reason = evidence.reason(result)
        if reason is None:
            return diagnosis.of_own_error(sentence)
        if witness.fault is not None and reason in (Reason.REFUSED, Reason.TLS):
            return diagnosis.of_exchange(witness.fault, Layer.ANSWER)
        status = witness.answer.status if witness.answer else None
        return diagnosis.of_answer(reason, status, witness.answer, sentence)

    def _doubtful(self, witness: Witness, budget_s: float, finding: str) -> Diagnosis | None:
        if witness.surplus:
            seen = f"{finding}; more bytes came than the answer has"
            advice = (
                "Send the body as long as Content-Length says: the connection is thrown away after each such answer."
            )
            return Diagnosis(Layer.ANSWER, Culprit.TOOL_SERVICE, seen, advice)
        if witness.elapsed_ms > budget_s * 1000 * NEARLY:
            advice = "It is nearly too slow: make it faster, or give it more time (timeoutMs in the manifest)."
            return Diagnosis(Layer.ANSWER, Culprit.TOOL_SERVICE, finding, advice)
        return None
