"""What is legal and harmful about a tool depends on the route that serves it."""

from __future__ import annotations

from typing import Any

import pytest
from road import snapshot, tool

from mcp_gateway.config.model import Route, ToolService
from mcp_gateway.protocol import eras

BOTH = ("2026-07-28", "2025-11-25")
LIST = {"type": "array"}
OBJECT = {"type": "object"}
HIDDEN = 'outputSchema has no root "type": "object" and is not shown on 2025-11-25'
THROWN_AWAY = "shows an outputSchema on a route with structured_output: false; clients throw its answers away"


@pytest.mark.parametrize(
    ("schema", "versions", "structured", "wanted"),
    [
        (LIST, BOTH, True, (HIDDEN,)),
        (LIST, ("2026-07-28",), True, ()),
        (OBJECT, BOTH, True, ()),
        (OBJECT, BOTH, False, (THROWN_AWAY,)),
        (LIST, BOTH, False, (THROWN_AWAY,)),
        (None, BOTH, False, ()),
    ],
)
def test_an_output_schema_is_warned_of_where_callers_would_suffer(
    schema: Any, versions: tuple[str, ...], structured: bool, wanted: tuple[str, ...]
) -> None:
    fields = {} if schema is None else {"outputSchema": schema}
    (served,) = snapshot(tool(**fields)).tools
    route = Route("core", "/mcp/core", (ToolService("a", "http://a"),), versions, structured_output=structured)

    assert eras.warnings(served, route) == (*served.warnings, *wanted)
