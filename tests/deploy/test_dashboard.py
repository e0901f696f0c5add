"""The dashboard is whole, and every expression in it is about something that there is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import metric_names
import pytest

BOARD: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "deploy" / "grafana" / "mcp-gateway.json").read_text(encoding="utf-8")
)
PANELS = [panel for panel in BOARD["panels"] if panel["type"] != "row"]


def expressions() -> list[str]:
    """Return every expression of the dashboard."""
    queried = [variable["definition"] for variable in BOARD["templating"]["list"] if variable["type"] == "query"]
    return [target["expr"] for panel in PANELS for target in panel["targets"]] + [
        query.removeprefix("label_values(").partition(",")[0] for query in queried
    ]


def test_it_shows_only_metrics_and_labels_that_are_declared() -> None:
    assert metric_names.faults(expressions()) == []


def test_every_metric_that_is_declared_is_on_it() -> None:
    shown = set().union(*(metric_names.metrics_in(text) for text in expressions()))
    missing = [
        metric.name for metric in metric_names.declared.ALL if not any(name.startswith(metric.name) for name in shown)
    ]
    assert missing == []


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_a_panel_has_a_title_a_unit_and_the_chosen_source(panel: dict[str, Any]) -> None:
    assert panel["title"]
    assert panel["fieldConfig"]["defaults"]["unit"]
    assert {target["datasource"]["uid"] for target in panel["targets"]} == {"${datasource}"}


def test_no_panel_covers_another() -> None:
    places = [panel["gridPos"] for panel in BOARD["panels"]]
    cells = [
        (x, y)
        for place in places
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in BOARD["panels"]}) == len(BOARD["panels"])
