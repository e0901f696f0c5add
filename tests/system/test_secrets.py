"""Who calls, and what opens doors, is passed on where the contract says so and written down nowhere."""

from __future__ import annotations

from pathlib import Path

from support.processes import configuration, gateway
from support.rpc import call
from support.toolservice import Received, Reply, ToolService

EMPLOYEE = "E-20240117-private"
VIRTUAL = "AbC+virtual/0=="
TOKEN = "tool-service-token-7731"
ARGUMENT = "a-private-argument-4242"
IDENTITY = {"employee-no": EMPLOYEE, "virtual-employee-no": VIRTUAL}


def echo(received: Received) -> Reply:
    return Reply.of_json(received.body)


def fail(received: Received) -> Reply:
    return Reply.of_text("what went wrong inside", 500)


def test_employee_numbers_and_tokens_are_passed_on_and_never_logged(tmp_path: Path) -> None:
    with ToolService() as service:
        service.add("echo", echo)
        service.add("fail", fail)
        config = configuration(service)
        config["routes"][0]["tool_services"][0]["headers"] = {"Authorization": "Bearer ${TOOL_TOKEN}"}
        env = {"TOOL_TOKEN": TOKEN, "MCP_GATEWAY_LOG_LEVEL": "DEBUG"}
        with gateway(tmp_path, config, env=env) as here:
            answers = [
                call(here.route(), "echo", {"secret": ARGUMENT}, headers=IDENTITY),
                call(here.route(), "fail", {"secret": ARGUMENT}, headers=IDENTITY),
                call(here.route(), "nowhere", {"secret": ARGUMENT}, headers=IDENTITY),
                call(here.route(), "echo", {"secret": ARGUMENT}, headers={"employee-no": f"{EMPLOYEE} {VIRTUAL}"}),
            ]
            service.stop()
            answers.append(call(here.route(), "echo", {"secret": ARGUMENT}, headers=IDENTITY))
            shown = [here.get(path).body.decode() for path in ("/readyz", "/healthz", "/metrics")]
        said = here.said()

    received = service.calls("echo")[0]
    assert received.header("employee-no") == EMPLOYEE
    assert received.header("virtual-employee-no") == VIRTUAL
    assert received.header("authorization") == f"Bearer {TOKEN}"
    assert len(service.calls("echo")) == 1

    assert answers[3].error["code"] == -32600
    assert "employee-no" in answers[3].error["message"]
    for secret in (EMPLOYEE, VIRTUAL, TOKEN):
        assert secret not in said
        assert secret not in "".join(shown)
        assert not [answer for answer in answers if secret.encode() in answer.body]
    for secret in (ARGUMENT, "nowhere", answers[0].headers["guid"], "what went wrong inside"):
        assert secret not in shown[-1]
    assert 'gen_ai_tool_name="echo"' in shown[-1]
    assert ARGUMENT not in said
    assert answers[0].headers["guid"] in said

    assert "what went wrong inside" not in answers[1].text
    assert "what went wrong inside" in said


def test_nothing_else_of_the_caller_is_passed_on(tmp_path: Path) -> None:
    extra = {"Authorization": "Bearer caller", "Cookie": "a=b", "X-Forwarded-For": "10.0.0.1", "X-Api-Key": "caller"}
    with ToolService() as service:
        service.add("echo", echo)
        with gateway(tmp_path, configuration(service)) as here:
            assert call(here.route(), "echo", {}, headers=extra).text == "{}"
    names = {name.lower() for name in service.calls("echo")[0].headers}
    assert not names & {name.lower() for name in extra}
