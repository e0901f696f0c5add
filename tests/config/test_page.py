from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from config.samples import VERSIONS, Faults, Load

from mcp_gateway.config.load import ConfigFaults, load
from mcp_gateway.config.model import Config

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "contracts" / "configuration.md").read_text("utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", PAGE, re.DOTALL | re.MULTILINE)
ROWS = dict(re.findall(r"^\| `([a-z_\[\].]+)` \| [a-z ]+ \| ([^|]+) \| ", PAGE, re.MULTILINE))
ENVIRON = {
    "CORE_TOOLS_URL": "https://core.example",
    "CORE_TOOLS_TOKEN": "t",
    "PORTAL_TOKEN": "t",
    "CONSOLE_TOKEN": "t" * 24,
}


def keys_of(model: type, prefix: str = "") -> Iterator[tuple[str, dataclasses.Field[Any]]]:
    """Yield the path of every key that *model* and what it holds can have."""
    hints = typing.get_type_hints(model)
    for field in dataclasses.fields(model):
        path = prefix + field.name
        yield path, field
        hint = hints[field.name]
        parts = typing.get_args(hint) or (hint,)
        inner = next((part for part in parts if dataclasses.is_dataclass(part)), None)
        if inner is not None:
            assert isinstance(inner, type)
            is_list = typing.get_origin(hint) is tuple
            yield from keys_of(inner, path + ("[]." if is_list else "."))


KEYS = dict(keys_of(Config))


def shown(field: dataclasses.Field[Any]) -> str:
    """Return a field's default as the page has to show it."""
    default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
    if default is dataclasses.MISSING:
        return "all" if field.name == "protocol_versions" else "*required*"
    if dataclasses.is_dataclass(default):
        return "all defaults"
    plain = {None: "null", True: "true", (): "[]"}
    text = plain[default] if isinstance(default, bool | tuple | types.NoneType) else f"{default}".removesuffix(".0")
    return f"`{text}`"


def test_the_page_has_a_row_for_every_key_and_for_no_other() -> None:
    assert set(ROWS) == set(KEYS)


@pytest.mark.parametrize("key", KEYS)
def test_the_page_shows_the_default_of_the_model(key: str) -> None:
    assert ROWS[key] == shown(KEYS[key])


def test_the_page_has_examples_of_both_kinds() -> None:
    assert sum(not faults for _, faults in BLOCKS) >= 4
    assert sum(bool(faults) for _, faults in BLOCKS) >= 3


@pytest.mark.parametrize("text", [text for text, faults in BLOCKS if not faults])
def test_an_example_of_the_page_loads(load_text: Load, text: str) -> None:
    load_text(text, ENVIRON)


@pytest.mark.parametrize(("text", "lines"), [(text, faults) for text, faults in BLOCKS if faults])
def test_a_fault_of_the_page_is_worded_exactly_so(faults_of: Faults, tmp_path: Path, text: str, lines: str) -> None:
    faults = [fault.replace(f"{tmp_path}/", "") for fault in faults_of(text, ENVIRON)]
    assert faults == lines.splitlines()


def test_the_local_profile_has_one_route_to_the_sample_tool_service(load_text: Load, tmp_path: Path) -> None:
    manifest = tmp_path / "config" / "local-core-tools-manifest-sample-v1.json"
    manifest.parent.mkdir()
    manifest.write_text("{}")
    text = (ROOT / "config" / "local.yaml").read_text("utf-8")
    (route,) = load_text(text).routes
    assert (route.key, route.public_path, route.fallback_manifest) == ("core", "/mcp/core", manifest)
    assert route.tool_services[0].base_url == "http://127.0.0.1:9100"
    assert (
        load_text(text, {"SAMPLE_TOOL_SERVICE_PORT": "9"}).routes[0].tool_services[0].base_url == "http://127.0.0.1:9"
    )


def test_the_production_profile_needs_one_variable_and_has_the_defaults_otherwise(load_text: Load) -> None:
    config = load(ROOT / "config" / "production.yaml", {"CORE_TOOLS_URL": "https://core"}, versions=VERSIONS)
    by_hand = """
    profile: production
    registry: {refresh_interval_s: 60}
    routes:
      - key: core
        public_path: /mcp/core
        title: Core tools
        tool_services: [{name: core-tools, base_url: "https://core"}]
    """
    assert config == load_text(by_hand)


def test_the_production_profile_names_the_variable_that_it_misses() -> None:
    with pytest.raises(ConfigFaults) as caught:
        load(ROOT / "config" / "production.yaml", {}, versions=VERSIONS)
    assert caught.value.faults == (
        "routes[0].tool_services[0].base_url: the environment variable CORE_TOOLS_URL is not set",
    )
