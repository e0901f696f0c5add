"""What the tests of alert rules and of the dashboard share: expressions, and the names in them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mcp_gateway.observe import declared
from mcp_gateway.observe.declared import Kind

_NAME = re.compile(r"\bmcp_(?:gateway|server)_[a-z_]+\b")
_MATCHED = re.compile(r"(mcp_(?:gateway|server)_[a-z_]+)\{([^}]*)\}")
_LABEL = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)")
_GROUPED = re.compile(r"\bby \(([^)]*)\)")

SAMPLES = {
    name
    for metric in declared.ALL
    for name in (
        [f"{metric.name}_{ending}" for ending in ("bucket", "sum", "count")]
        if metric.kind is Kind.HISTOGRAM
        else [metric.name]
    )
}
"""The names that a sample can have."""

FROM_PROMETHEUS = {"instance", "job", "le"}


def metrics_in(text: str) -> set[str]:
    """Return the names of samples in an expression; label names look alike, and stand in braces or brackets."""
    bare = re.sub(r"\{[^}]*\}", "", re.sub(r"\bby \([^)]*\)", "", text))
    return set(_NAME.findall(bare))


def faults(expressions: Iterable[str]) -> list[str]:
    """Return what the expressions name and no sample has."""
    found: list[str] = []
    for text in expressions:
        names = metrics_in(text)
        found += [f"{name} is not declared: {text}" for name in names - SAMPLES]
        own = {label for name in names & SAMPLES for label in _labels(name)} | FROM_PROMETHEUS
        for name, matchers in _MATCHED.findall(text):
            allowed = {*_labels(name), *FROM_PROMETHEUS}
            found += [f"{name} has no label {label}: {text}" for label in set(_LABEL.findall(matchers)) - allowed]
        for grouped in _GROUPED.findall(text):
            labels = {label.strip() for label in grouped.split(",")}
            found += [f"nothing has the label {label}: {text}" for label in labels - own]
    return found


def _labels(sample: str) -> tuple[str, ...]:
    for ending in ("", "_bucket", "_sum", "_count"):
        family = sample.removesuffix(ending).removesuffix("_total")
        if family in declared.BY_FAMILY:
            return declared.BY_FAMILY[family].labels
    return ()
