"""What the steps of a walk came to: for people a line and its details, for scripts a JSON object (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ..diagnosis import WHO, Culprit, Diagnosis, Layer
from ..terminal import Style, one_line

_MARK_WIDTH = 9
_LAYER_WIDTH = 15
_INDENT = " " * (_MARK_WIDTH + _LAYER_WIDTH)


class Mark(StrEnum):
    """How a step went."""

    OK = "ok"
    WARNING = "warning"
    FAULT = "FAULT"
    SKIPPED = "-"


_STYLES = {Mark.OK: Style.GOOD, Mark.WARNING: Style.DOUBTFUL, Mark.FAULT: Style.BAD, Mark.SKIPPED: Style.FAINT}


@dataclass(frozen=True, slots=True)
class Step:
    """
    One step of the walk.

    Args:

        layer: Which.

        mark: How it went.

        finding: What was seen, in one line.

        details: Further lines.

        subject: What it is about, e.g. ``Tool Service core-tools (http://…)``; the steps of one subject stand together.

        service: The Tool Service's name; ``None``: it is about none.

        diagnosis: Set when something is wrong or doubtful.

        data: What scripts get beside that.
    """

    layer: Layer
    mark: Mark
    finding: str
    details: tuple[str, ...] = ()
    subject: str = ""
    service: str | None = None
    diagnosis: Diagnosis | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


def faulty(diagnosis: Diagnosis, details: Sequence[str] = (), mark: Mark = Mark.FAULT, **more: Any) -> Step:
    """Return the step that *diagnosis* is about."""
    return Step(diagnosis.layer, mark, diagnosis.finding, tuple(details), diagnosis=diagnosis, **more)


def lines(step: Step, style: Style) -> Iterator[str]:
    """Yield what is shown of a step."""
    mark = style.of(_STYLES[step.mark], step.mark.ljust(_MARK_WIDTH))
    yield f"{mark}{step.layer.ljust(_LAYER_WIDTH)}{one_line(step.finding)}"
    for detail in step.details:
        yield f"{_INDENT}{one_line(detail)}"
    if step.mark is Mark.WARNING and step.diagnosis is not None:
        yield f"{_INDENT}{one_line(step.diagnosis.advice)}"


def fault(steps: Sequence[Step]) -> Step | None:
    """Return the first step that has failed: those behind it may only follow from it."""
    return next((step for step in steps if step.mark is Mark.FAULT), None)


def verdict(steps: Sequence[Step], style: Style, *, sent: bool) -> Iterator[str]:
    """Yield the last lines: at which layer it fails, whose fault that is, and what to do next."""
    first = fault(steps)
    if first is None or first.diagnosis is None:
        yield style.of(Style.GOOD, "No fault was found.") + ("" if sent else " No tool was called.")
        return
    yield style.of(Style.BAD, f"It fails at: {first.layer}")
    yield f"Whose fault: {who(first.diagnosis.culprit, first.service)}"
    yield f"What to do:  {one_line(first.diagnosis.advice)}"
    others = sum(step.mark is Mark.FAULT for step in steps) - 1
    if others:
        yield f"({others} more fault{'' if others == 1 else 's'} above)"


def who(culprit: Culprit, service: str | None) -> str:
    """Return who can mend it, in words."""
    named = f" {service}" if culprit is Culprit.TOOL_SERVICE and service else ""
    return WHO[culprit] + one_line(named)


def document(steps: Sequence[Step], about: Mapping[str, Any]) -> dict[str, Any]:
    """Return all of it for scripts."""
    first = fault(steps)
    return {
        **about,
        "ok": first is None,
        "fault": None if first is None else _object(first),
        "steps": [*map(_object, steps)],
    }


def _object(step: Step) -> dict[str, Any]:
    found = step.diagnosis
    return {
        "service": step.service,
        "layer": step.layer,
        "mark": "skipped" if step.mark is Mark.SKIPPED else step.mark.lower(),
        "finding": step.finding,
        "details": step.details,
        "culprit": found.culprit if found else None,
        "advice": found.advice if found else None,
        **step.data,
    }
