"""The faults and warnings of a manifest in lines: what, where, what a client makes of it, and how to mend it (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..registry import findings
from ..registry.findings import Rule
from ..registry.snapshot import LeftOut


def left_out(each: LeftOut) -> Iterator[str]:
    """Yield the lines about a tool that is left out."""
    yield f"LEFT OUT: {each.tool}: {each.place}: {each.reason}"
    faults = each.faults or ((each.place, each.reason),)
    for rule in dict.fromkeys(findings.of_fault(place, reason) for place, reason in faults):
        yield from _why(rule)


def warnings(tool: str, sentences: Iterable[str]) -> Iterator[str]:
    """Yield the lines about what is legal and harmful about a tool."""
    for sentence in sentences:
        yield f"warning: {tool}: {sentence}"
        yield from _why(findings.of_warning(sentence))


def _why(rule: Rule) -> Iterator[str]:
    yield f"  why:  {rule.harm} [{rule.code}]"
    yield f"  mend: {rule.mend}"
