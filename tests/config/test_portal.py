from __future__ import annotations

import json
from typing import Any

import pytest
from config.samples import VERSIONS

from mcp_gateway import jsontext
from mcp_gateway.config.load import ConfigFaults, routes_from_portal
from mcp_gateway.config.model import Route, ToolService


def answer(route: dict[str, Any] | None = None, service: dict[str, Any] | None = None, **top: Any) -> Any:
    """Return the portal's answer with one route of one Tool Service, as the gateway parses it."""
    services = [{"name": "s", "baseUrl": "http://s", **(service or {})}]
    routes = [{"key": "core", "publicPath": "/mcp/core", "toolServices": services, **(route or {})}]
    return jsontext.parse(json.dumps({"registryVersion": "0.1", "routes": routes, **top}).encode())


def routes(document: Any) -> tuple[Route, ...]:
    return routes_from_portal(document, versions=VERSIONS)


def faults(document: Any) -> tuple[str, ...]:
    with pytest.raises(ConfigFaults) as caught:
        routes(document)
    return caught.value.faults


def test_the_least_that_the_portal_says_becomes_a_route_with_the_defaults_of_the_model() -> None:
    service = ToolService(name="s", base_url="http://s")
    assert routes(answer()) == (Route("core", "/mcp/core", (service,), VERSIONS),)


def test_all_that_the_portal_may_say_of_a_route_arrives() -> None:
    service = {"manifestPath": "/m", "timeoutMs": 1500, "maxInFlight": 3}
    route = {
        "name": "n",
        "title": "T",
        "version": "1",
        "instructions": "I",
        "protocolVersions": ["2025-11-25"],
        "cacheScope": "public",
        "structuredOutput": False,
    }
    assert routes(answer(route, service)) == (
        Route(
            key="core",
            public_path="/mcp/core",
            tool_services=(ToolService("s", "http://s", "/m", 1.5, max_in_flight=3),),
            protocol_versions=("2025-11-25",),
            name="n",
            title="T",
            version="1",
            instructions="I",
            cache_scope="public",
            structured_output=False,
        ),
    )


def test_a_time_may_have_a_fraction() -> None:
    assert routes(answer(service={"timeoutMs": 0.5}))[0].tool_services[0].timeout_s == 0.0005


def test_what_the_portal_says_beyond_that_is_ignored() -> None:
    service = {"headers": {"Host": "x"}, "caBundle": "/etc/passwd", "ca_bundle": 7, "connect_timeout_s": "x", "id": 1}
    route = {
        "fallbackManifest": "/etc/passwd",
        "fallback_manifest": 7,
        "public_path": 7,
        "list_ttl_s": "x",
        "owner": [],
    }
    assert routes(answer(route, service, generatedAt="now")) == routes(answer())


def test_a_portal_without_routes_has_none() -> None:
    assert routes(answer(routes=[])) == ()


def test_a_reference_to_the_environment_is_text_like_any_other() -> None:
    assert routes(answer({"title": "${HOME}"}))[0].title == "${HOME}"


@pytest.mark.parametrize("document", [None, [], "x", 7])
def test_an_answer_that_is_no_object_is_one_fault(document: Any) -> None:
    assert faults(document) == ("(top level): must be an object",)


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        (answer(registryVersion="0.2"), "registryVersion: must be 0.1"),
        (answer(registryVersion=0.1), "registryVersion: must be a string, not a number with a fraction or an exponent"),
        ({"routes": []}, "registryVersion: is required"),
        ({"registryVersion": "0.1"}, "routes: is required"),
        (answer(routes={}), "routes: must be a list, not a mapping"),
        (answer(routes=[None]), "routes[0]: must be a mapping, not empty (null)"),
        (answer({"publicPath": "/a/"}), "routes[0].publicPath: must be an absolute path"),
        (answer({"publicPath": "/metrics"}), "routes[0].publicPath: is one of the gateway's own paths"),
        (answer({"toolServices": []}), "routes[0].toolServices: must not be empty"),
        (answer({"protocolVersions": ["x"]}), "routes[0].protocolVersions[0]: must be a protocol version"),
        (answer({"structuredOutput": 1}), "routes[0].structuredOutput: must be true or false"),
        (answer({"cacheScope": "all"}), "routes[0].cacheScope: must be private or public"),
        (answer(service={"baseUrl": "ftp://s"}), "routes[0].toolServices[0].baseUrl: must be http://host"),
        (answer(service={"manifestPath": "//x"}), "routes[0].toolServices[0].manifestPath: must be a path"),
        (answer(service={"timeoutMs": 0}), "routes[0].toolServices[0].timeoutMs: must be more than 0 and at most 864"),
        (answer(service={"timeoutMs": "1"}), "routes[0].toolServices[0].timeoutMs: must be a number, not a string"),
        (answer(service={"timeoutMs": 10**400}), "routes[0].toolServices[0].timeoutMs: must be more than 0"),
        (answer(service={"maxInFlight": 1.5}), "routes[0].toolServices[0].maxInFlight: must be an integer"),
        (answer(service={"maxInFlight": True}), "routes[0].toolServices[0].maxInFlight: must be an integer"),
    ],
)  # fmt: skip
def test_a_fault_names_the_portals_own_key(document: Any, fault: str) -> None:
    (line,) = faults(document)
    assert line.startswith(fault)


@pytest.mark.parametrize("number", ["1e999999", "-1e999999", "1e-999999", "0.0", "86400000.1"])
def test_a_number_of_any_size_is_judged_and_never_overflows(number: str) -> None:
    text = json.dumps(answer(service={"timeoutMs": 7})).replace(": 7}", f": {number}}}")
    (line,) = faults(jsontext.parse(text.encode()))
    assert line.startswith("routes[0].toolServices[0].timeoutMs: must be more than 0")


def test_names_that_must_differ_are_compared_under_the_portals_names() -> None:
    document = answer()
    document["routes"][0]["toolServices"] *= 2
    document["routes"] *= 2
    assert faults(document) == (
        "routes[0].toolServices[1].name: must be unique; it is the same as routes[0].toolServices[0].name",
        "routes[1].key: must be unique; it is the same as routes[0].key",
        "routes[1].publicPath: must be unique; it is the same as routes[0].publicPath",
        "routes[1].toolServices[1].name: must be unique; it is the same as routes[1].toolServices[0].name",
    )
