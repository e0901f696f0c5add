"""Structured output: an answer held to its tool's ``outputSchema`` (contract: structured output)."""

from __future__ import annotations

from dataclasses import replace

from .. import jsontext
from ..registry.snapshot import Tool
from ..toolservice.outcome import Failure, Outcome
from ..transport.answer import Delivery, Reason
from ..turns import at_length


def conform(tool: Tool, outcome: Outcome, *, objects_only: bool) -> Outcome:
    """
    Return *outcome* when it is structured and fits the tool's ``outputSchema``, or has failed anyway, else a failure.

    Clients throw away a good answer without structure from a tool that shows an ``outputSchema``, so an answer that is
    passed on must have one.

    Args:

        objects_only: The revision takes nothing but a JSON object as ``structuredContent``.
    """
    if outcome.is_error or tool.output_schema is None:
        return outcome
    if outcome.structured is None:
        return _misfit(tool, outcome, "it brings no JSON that could be held to it")
    if objects_only and not bytes(outcome.structured).startswith(b"{"):
        return _misfit(tool, outcome, "it is not a JSON object")
    text = bytes(outcome.structured)
    try:
        with at_length(len(text)):
            violations = tool.output_schema.violations(jsontext.parse(text, unique=False), "the answer")
    except jsontext.NotJson as fault:
        return _misfit(tool, outcome, str(fault))
    if violations:
        return _misfit(tool, outcome, "; ".join(violation.message for violation in violations))
    return outcome


def plain(outcome: Outcome) -> Outcome:
    """Return *outcome* without its structure, for a revision or a route that shows none."""
    return replace(outcome, structured=None) if outcome.structured is not None else outcome


def _misfit(tool: Tool, outcome: Outcome, why: str) -> Outcome:
    sentence = f"Tool '{tool.name}' gave an answer that does not fit its outputSchema: {why}."
    return Outcome(
        content=({"type": "text", "text": sentence},),
        is_error=True,
        status=outcome.status,
        failure=Failure(Reason.OUTPUT_SCHEMA, Delivery.ANSWERED, outcome.status),
    )
