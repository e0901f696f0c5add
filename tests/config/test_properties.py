from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from config.samples import VERSIONS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_gateway.config.load import ConfigFaults, load, routes_from_portal
from mcp_gateway.config.model import Config, Route

KEYS = (
    "profile server limits registry routes name title version instructions allowed_origins allowed_hosts "
    "max_request_bytes interaction_timeout_s source portal base_url token key public_path protocol_versions "
    "list_ttl_s cache_scope structured_output tool_services manifest_path timeout_s max_in_flight headers ca_bundle "
    "fallback_manifest _schema registryVersion publicPath toolServices baseUrl timeoutMs maxInFlight"
).split()
WORDS = (
    "local",
    "production",
    "config",
    "portal",
    "core",
    "/mcp/core",
    "http://127.0.0.1",
    "2025-11-25",
    "0.1",
    "${A}",
)

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.just(10**400), st.floats(), st.text(max_size=8), st.dates(),
    st.binary(max_size=4), st.sampled_from(WORDS), st.sampled_from([*WORDS, "${B:-7}", "${C", "$${", "*", "\x00"]),
)  # fmt: skip
keys = st.one_of(st.sampled_from(KEYS), st.sampled_from(KEYS), st.text(max_size=8), st.integers(), st.none())
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=6), max_leaves=30
)
service = st.fixed_dictionaries(
    {"name": scalars, "base_url": st.sampled_from(WORDS)}, optional={"timeout_s": scalars, "headers": anything}
)
route = st.fixed_dictionaries(
    {
        "key": st.sampled_from(WORDS),
        "public_path": st.sampled_from(WORDS),
        "tool_services": st.lists(service, max_size=2),
    },
    optional={"title": scalars, "protocol_versions": anything, "ca_bundle": scalars},
)
nearly_right = st.fixed_dictionaries(
    {"routes": st.lists(route, max_size=2)},
    optional={"profile": scalars, "server": anything, "limits": anything, "registry": anything},
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("config") / "any.yaml"


def loads_or_says_why(path: Path, raw: bytes) -> None:
    path.write_bytes(raw)
    try:
        assert isinstance(load(path, {"A": "a", "B": ""}, versions=VERSIONS), Config)
    except ConfigFaults as fault:
        assert fault.faults
        for line in fault.faults:
            assert re.fullmatch(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+: [^\n]+", line), line


@given(st.one_of(anything, nearly_right), st.booleans())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_structure_loads_or_is_refused_in_readable_lines(file: Path, document: Any, flow: bool) -> None:
    loads_or_says_why(file, yaml.dump(document, default_flow_style=flow, allow_unicode=True).encode())


@given(st.one_of(st.binary(max_size=200), st.text(alphabet="ab:-?[]{}&*!|>'\"%@`#, \n\t\\x0U~.$<=", max_size=60)))
@settings(max_examples=500, deadline=None)
def test_any_bytes_load_or_are_refused_in_readable_lines(file: Path, raw: bytes | str) -> None:
    loads_or_says_why(file, raw if isinstance(raw, bytes) else raw.encode())


@given(st.one_of(anything, st.fixed_dictionaries({"registryVersion": st.just("0.1"), "routes": anything})))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_answer_of_the_portal_is_read_or_refused_in_readable_lines(document: Any) -> None:
    try:
        assert all(isinstance(route, Route) for route in routes_from_portal(document, versions=VERSIONS))
    except ConfigFaults as fault:
        assert fault.faults
        assert all("\n" not in line for line in fault.faults)
