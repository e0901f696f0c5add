"""What the application is told of a request beside what WSGI has words for."""

from __future__ import annotations

from typing import Any

import pytest
from serving.clients import USUAL
from support.processes import Gateway
from support.rpc import connect, envelope, read_answer
from support.toolservice import ToolService

from mcp_gateway.environ import DRAINING, QUEUED_S, REPEATED
from mcp_gateway.serving.telling import repeats, tell

CALL = envelope("tools/call", {"name": "echo", "arguments": {}})


def test_of_an_ordinary_request_there_is_only_its_wait_to_tell() -> None:
    environ: dict[str, Any] = {}
    tell(environ, [("HOST", "a"), ("GUID", "b")], queued_s=0.5, draining=False)
    assert environ == {QUEUED_S: 0.5}


def test_a_header_that_came_twice_is_told_with_its_values_and_draining_too() -> None:
    environ: dict[str, Any] = {}
    tell(environ, [("EMPLOYEE-NO", "1"), ("HOST", "a"), ("EMPLOYEE-NO", "2")], queued_s=0, draining=True)
    assert environ == {QUEUED_S: 0, DRAINING: True, REPEATED: {"HTTP_EMPLOYEE_NO": ("1", "2")}}


def test_each_repeated_header_has_its_values_in_the_order_in_which_they_came() -> None:
    headers = [("A", "1"), ("B", "2"), ("A", "3"), ("C", "4"), ("B", "2"), ("A", "")]
    assert repeats(headers) == {"HTTP_A": ("1", "3", ""), "HTTP_B": ("2", "2")}


@pytest.mark.parametrize("name", ["guid", "x-request-id", "mcp-session-id", "employee-no", "virtual-employee-no"])
def test_a_caller_header_with_two_values_is_refused_by_its_name(here: Gateway, service: ToolService, name: str) -> None:
    before = len(service.received)
    one, other = "3f0e7a52-0a3c-4a7e-8a1a-9a3d0d3f7c11", "3f0e7a52-0a3c-4a7e-8a1a-9a3d0d3f7c12"

    answer = sent(here, f"{name}: {one}\r\n{name}: {other}\r\n")

    assert answer.error["code"] == -32600
    assert f"'{name}'" in answer.error["message"]
    assert not {one, other} & set(answer.headers.values())
    assert len(service.received) == before


def test_a_caller_header_that_says_the_same_twice_counts_once(here: Gateway, service: ToolService) -> None:
    answer = sent(here, "employee-no: E-1\r\nEmployee-No: E-1\r\n")

    assert answer.text == "{}"
    assert service.calls("echo")[-1].header("employee-no") == "E-1"


def sent(here: Gateway, headers: str) -> Any:
    with connect(here.url) as connection:
        connection.sendall(USUAL + f"{headers}Content-Length: {len(CALL)}\r\n\r\n".encode() + CALL)
        return read_answer(connection)
