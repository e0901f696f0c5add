"""What goes in comes out: characters and digits, byte for byte, through the whole of two processes and two sockets."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from support.processes import Gateway, configuration, gateway
from support.rpc import Answer, post
from support.toolservice import Received, Reply, ToolService

VALUES = [
    '"한국어와 漢字, ελληνικά, עברית"',
    '"👩‍👩‍👧‍👦🚀🇰🇷"',
    '"e\u0301 é \u00a0\u2028\ufeff"',
    "12345678901234567890",
    "-98765432109876543210",
    "1.10",
    "1e2",
    "0.1000000000000000055511151231257827",
    "-0.0",
    '{"나":1.10,"가":[1.0,2.50,{"b":1,"a":12345678901234567890}]}',
    '{"":null,"a":true,"b":false}',
]


def echo(received: Received) -> Reply:
    return Reply.of_json(received.body)


def spaced(received: Received) -> Reply:
    """Answer the same JSON as another library would write it: with spaces and lines."""
    return Reply.of_json(b"\n " + received.body.replace(b'{"value":', b'{ "value" :\t') + b"\r\n")


def plain(received: Received) -> Reply:
    return Reply(received.body, "text/plain")


@pytest.fixture(scope="module")
def service() -> Iterator[ToolService]:
    with ToolService() as here:
        here.add("echo", echo)
        here.add("spaced", spaced)
        here.add("plain", plain)
        yield here


@pytest.fixture(scope="module")
def here(service: ToolService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with gateway(tmp_path_factory.mktemp("text"), configuration(service)) as running:
        yield running


def call_with(here: Gateway, tool: str, arguments: str, request_id: str = "1") -> Answer:
    params = f'{{"name":"{tool}","arguments":{arguments}}}'
    return post(here.route(), f'{{"jsonrpc":"2.0","id":{request_id},"method":"tools/call","params":{params}}}'.encode())


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("tool", ["echo", "spaced", "plain"])
def test_a_value_survives_both_ways(here: Gateway, service: ToolService, tool: str, value: str) -> None:
    arguments = f'{{"value":{value}}}'
    answer = call_with(here, tool, arguments)
    assert answer.result["isError"] is False
    assert answer.text == arguments
    assert service.calls(tool)[-1].body == arguments.encode()
    assert service.calls(tool)[-1].header("content-type") == "application/json"


def test_escapes_of_the_caller_reach_the_tool_service_as_the_same_characters(
    here: Gateway, service: ToolService
) -> None:
    answer = call_with(here, "echo", r'{"value":"\ud55c\uad6d\n\ud83d\ude80"}')
    assert json.loads(service.calls("echo")[-1].body) == {"value": "한국\n🚀"}
    assert json.loads(answer.text) == {"value": "한국\n🚀"}


@pytest.mark.parametrize("request_id", ["0", "-1", "12345678901234567890", '""', '"번호 1"', '"\\u0031"'])
def test_an_id_comes_back_as_it_was_sent(here: Gateway, request_id: str) -> None:
    answer = call_with(here, "echo", "{}", request_id)
    assert answer.json()["id"] == json.loads(request_id)
    assert isinstance(answer.json()["id"], type(json.loads(request_id)))


def test_an_answer_of_several_megabytes_comes_whole(here: Gateway) -> None:
    value = json.dumps("가나다라" * 250_000, ensure_ascii=False)
    assert call_with(here, "plain", f'{{"value":{value}}}').text == f'{{"value":{value}}}'
