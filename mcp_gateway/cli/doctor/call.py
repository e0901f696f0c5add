"""
One call, from the schema on: the road of a request (``protocol.exchange``), walked as it is.

First with a door closed at its end, which shows the very request; then, if wanted, to the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from ... import jsontext
from ...app import USER_AGENT
from ...caller import Headers, correlate, new_id
from ...client import examples, wire
from ...config.model import Config, Route
from ...deadline import Deadline
from ...jsontext import Fragment
from ...observe.interaction import Interaction
from ...protocol import eras
from ...protocol.exchange import exchange
from ...protocol.jsonrpc import INTERNAL_ERROR
from ...protocol.reply import Reply
from ...registry.snapshot import Snapshot, Tool
from ...registry.snapshots import Snapshots
from ...tools import route as served
from ...toolservice.client import ToolServiceClient
from ...transport.answer import Reason, Unanswered
from ..diagnosis import Culprit, Diagnosis, Layer
from . import causes, evidence
from .report import Mark, Step, faulty
from .witness import Witness

NEARLY = 0.8
"""A call that takes more than this part of its budget is worth a warning."""


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


class Call:
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
        arguments = self._asked.arguments
        if arguments is None:
            arguments = examples.arguments(schema, self._tool.input_schema.fits)
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
        if reply.code == INTERNAL_ERROR:
            found = causes.of_breakdown(Layer.REQUEST, words)
        elif self._tool.input_schema.fits(jsontext.parse(bytes(arguments), unique=False)):
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
        finding = f"{evidence.answered(witness)} of {budget_s:g} s"
        came = [*evidence.headers(witness), *evidence.body(witness)]
        if reply.code == INTERNAL_ERROR:
            found = causes.of_breakdown(Layer.ANSWER, evidence.refusal(reply.body))
            return faulty(found, [finding, *came], data=data, **self._about)
        given = [*evidence.given(result)]
        fault = self._fault(witness, result)
        if fault is not None:
            return faulty(fault, [finding, *came, *given], data=data, **self._about)
        details = [*evidence.headers(witness), *given]
        doubt = self._doubt(witness, budget_s, finding)
        if doubt is not None:
            return faulty(doubt, details, Mark.WARNING, data=data, **self._about)
        return Step(Layer.ANSWER, Mark.OK, finding, tuple(details), data=data, **self._about)

    def _fault(self, witness: Witness, result: Mapping[str, Any]) -> Diagnosis | None:
        if not result.get("isError"):
            return None
        sentence = evidence.cut(evidence.first_text(result))
        reason = evidence.reason(result)
        if reason is None:
            return causes.of_own_error(sentence)
        if witness.answer is None:
            return causes.of_unanswered(cast(Unanswered, witness.fault), sentence)
        if reason is Reason.UNREADABLE and witness.surplus:
            return causes.of_surplus(Layer.ANSWER, sentence.removesuffix("."))
        promises_result = self._tool.result_format is not None
        found = causes.of_answer(reason, witness.answer, sentence, promises_result=promises_result)
        if found.culprit is Culprit.CALLER and self._asked.arguments is None:
            return replace(found, advice=f"The arguments were made up: give your own with --json. {found.advice}")
        return found

    def _doubt(self, witness: Witness, budget_s: float, finding: str) -> Diagnosis | None:
        if witness.surplus:
            return causes.of_surplus(Layer.ANSWER, finding)
        if witness.answer is not None and witness.answer.body and causes.is_page(witness.answer):
            return causes.of_page(finding)
        if witness.elapsed_ms > budget_s * 1000 * NEARLY:
            advice = "It is nearly too slow: make it faster, or give it more time (timeoutMs in the manifest)."
            return Diagnosis(Layer.ANSWER, Culprit.TOOL_SERVICE, finding, advice)
        return None


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
