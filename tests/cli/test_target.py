from __future__ import annotations

import pytest
from cli.harness import Cli, Configure, Running
from support.ports import free_port

from mcp_gateway.cli import target


@pytest.mark.parametrize(
    ("environ", "url"),
    [
        ({}, "http://127.0.0.1:8080"),
        ({"HOST": "", "PORT": ""}, "http://127.0.0.1:8080"),
        ({"HOST": "0.0.0.0", "PORT": "9000"}, "http://127.0.0.1:9000"),
        ({"HOST": "::"}, "http://[::1]:8080"),
        ({"HOST": "::1"}, "http://[::1]:8080"),
        ({"HOST": "10.1.2.3"}, "http://10.1.2.3:8080"),
        ({"HOST": "gateway.example"}, "http://gateway.example:8080"),
    ],
)
def test_the_gateway_is_where_its_environment_lets_it_listen(environ: dict[str, str], url: str) -> None:
    assert target.gateway_url(environ) == url


@pytest.mark.parametrize("route", ["core", "/mcp/core"])
def test_a_slash_at_the_end_of_an_address_is_not_doubled(gateway: Running, cli: Cli, route: str) -> None:
    address = f"http://127.0.0.1:{free_port()}"
    ran = cli("call", route, "echo", "--url", f"{address}/")
    assert ran.err == f"no answer from {address}/mcp/core: the connection was refused\n"


def test_a_port_in_the_environment_that_is_none_is_a_usage_error(
    gateway: Running, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORT", "eighty")
    ran = cli("tools", "core")
    assert ran.status == 2
    assert ran.err == "'http://127.0.0.1:eighty/mcp/core' is no URL of the form http://host:port/path\n"


def test_a_portal_that_does_not_answer_is_one_line(cli: Cli, configure: Configure) -> None:
    portal = {"base_url": f"http://127.0.0.1:{free_port()}", "token": "s3cret"}
    configure({"registry": {"source": "portal", "portal": portal}})
    for command in (["tools"], ["tools", "core"], ["check", "--fetch"]):
        ran = cli(*command)
        assert ran.status == 1
        assert ran.err == ("registry.source portal: the route list could not be fetched: the connection was refused\n")
