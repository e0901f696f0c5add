"""The official test suite of JSON Schema: what the gateway takes it judges as the suite does; the rest is listed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_gateway import jsontext, schema
from mcp_gateway.schema import BadSchema

ROOT = Path(__file__).resolve().parents[2]
SUITE = ROOT / ".cache" / "schema-suite" / "json" / "tests"
REFUSED = Path(__file__).with_name("refused.txt")

DRAFTS = dict(zip(("draft2020-12", "draft2019-09", "draft7"), schema.DIALECTS, strict=True))

pytestmark = pytest.mark.skipif(
    not SUITE.is_dir() and "CI" not in os.environ, reason="the suite is not here: make test fetches it"
)


def refused() -> set[str]:
    """Return the groups of tests whose schema the gateway does not take; the file says why."""
    lines = REFUSED.read_text("utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def groups(draft: str) -> Iterator[tuple[str, dict[str, Any], list[dict[str, Any]]]]:
    """Yield name, schema and tests of each group of a draft; ``format`` is asserted by none of them."""
    for path in sorted((SUITE / draft).rglob("*.json")):
        place = path.relative_to(SUITE).as_posix()
        if "/optional/format" in place:
            continue
        for group in json.loads(path.read_text("utf-8")):
            given = group["schema"]
            whole = given if isinstance(given, dict) else {"allOf": [given]}
            yield f"{place}: {group['description']}", {"$schema": DRAFTS[draft], **whole}, group["tests"]


@pytest.mark.parametrize("draft", DRAFTS)
def test_a_value_is_judged_as_the_suite_judges_it(draft: str) -> None:
    judged, wrong = 0, []
    for name, definition, tests in groups(draft):
        if name in refused():
            continue
        text = json.dumps(definition).encode()
        compiled, of_large_values = schema.compile(text), schema._terse(text)
        for test in tests:
            judged += 1
            value = jsontext.parse(json.dumps(test["data"]).encode())
            if {compiled.fits(value), of_large_values.is_valid(value)} != {test["valid"]}:
                wrong.append(f"{name}: {test['description']}")
    assert not wrong
    assert judged > 900


@pytest.mark.parametrize("draft", DRAFTS)
def test_a_schema_is_refused_only_where_it_is_listed(draft: str) -> None:
    found = set()
    for name, definition, _ in groups(draft):
        try:
            schema.compile(json.dumps(definition))
        except BadSchema:
            found.add(name)
    assert found == {name for name in refused() if name.startswith(f"{draft}/")}
