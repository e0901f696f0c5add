"""``docs/contracts/console.md`` says what is there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import yaml
from console.roads import console_road
from road import Road, refusal

from mcp_gateway.config.model import Console, Server

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "contracts" / "console.md").read_text("utf-8")
ROWS = re.findall(r"^\| `(/console[^`]*)` \| (GET|POST) \| .* \| (yes|no) \|$", PAGE, re.MULTILINE)


def test_the_page_names_every_path_with_its_method() -> None:
    served = {
        (rule.rule, method)
        for rule in console_road().app.url_map.iter_rules()
        if rule.rule.startswith("/console") and rule.rule != "/console/"
        for method in (rule.methods or set()) - {"HEAD"}
    }
    shown = {(urlsplit(path).path.replace("…", "<digest>/<name>"), method) for path, method, _ in ROWS}
    assert shown == served


def test_the_page_says_where_the_token_is_asked_for() -> None:
    road = console_road(console=Console(token="t" * 24))
    for path, method, token in ROWS:
        response = road.request(method, path.replace("…", "x/main.js"))
        if token == "yes":
            refusal(response, 401, "unauthorized")
        else:
            assert response.status_code == 200, path


def test_the_schema_that_an_editor_is_told_of_is_served(road: Road) -> None:
    (block,) = re.findall(r"^```json\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    manifest = json.loads(block)
    schema = json.loads(road.request("GET", urlsplit(manifest["$schema"]).path).data)
    assert schema["required"] == ["manifestVersion", "tools"]
    assert manifest.keys() >= set(schema["required"])


def test_the_origin_that_the_page_allows_may_call() -> None:
    (block,) = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    origins = yaml.safe_load(block)["server"]["allowed_origins"]
    road = console_road(
        profile="production", server=Server(allowed_origins=tuple(origins)), console=Console(enabled=True)
    )
    overview = json.loads(road.request("GET", f"/console/api/routes?origin={origins[0]}").data)
    assert overview["mayCall"] is True
