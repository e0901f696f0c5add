"""The HTTP checks in front of JSON-RPC: their order, each of their rows, and the shape of what they answer."""

from __future__ import annotations

import io
from typing import Any

import pytest
from gunicorn.http.errors import InvalidChunkSize
from road import GUID, LEGACY, PATH, UUID, Road, accepted, dumps, error, message, parsed, refusal, result

from mcp_gateway.config.model import Limits, Server

PING = dumps(message("ping"))
JSON = {"Content-Type": "application/json", "MCP-Protocol-Version": LEGACY}


# --- methods and paths -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "UNHEARD"])
def test_any_method_but_post_is_405(road: Road, method: str) -> None:
    response = road.request(method, body=PING, headers=JSON)

    assert (response.status_code, response.headers["Allow"]) == (405, "POST")
    assert UUID.fullmatch(response.headers["guid"])
    if method == "HEAD":
        assert response.data == b""
    else:
        assert "POST" in refusal(response, 405, "method_not_allowed")["message"]


@pytest.mark.parametrize(
    "headers", [{"Content-Type": "text/plain"}, {"MCP-Protocol-Version": "x"}, {"Mcp-Session-Id": "a b"}, {"guid": "x"}]
)
def test_405_comes_before_any_look_at_type_version_or_session(road: Road, headers: dict[str, str]) -> None:
    refusal(road.request("GET", headers=headers), 405, "method_not_allowed")


def test_a_path_with_one_more_slash_in_front_is_another_path(road: Road) -> None:
    response = road.request("POST", PATH, PING, JSON, environ_overrides={"PATH_INFO": f"/{PATH}"})

    assert response.status_code == 404


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/mcp",
        "/mcp/core/",
        "/mcp/core//",
        "//mcp/core",
        "/mcp//core",
        "/MCP/core",
        "/mcp/Core",
        "/mcp/core/sse",
        "/mcp/core/.well-known/oauth-protected-resource",
        "/mcp/../mcp/core",
        "/mcp/core;x=1",
        "/mcp/core%20",
        "/.well-known/oauth-authorization-server",
        "/healthz/",
    ],
)
def test_any_other_path_is_404(road: Road, method: str, path: str) -> None:
    response = road.request(method, path, PING, JSON)

    refusal(response, 404, "not_found")
    assert "Location" not in response.headers


def test_a_path_that_escapes_what_needs_no_escape_is_the_same_path(road: Road) -> None:
    assert result(road.request(path="/mcp/c%6Fre", body=PING, headers=JSON)) == {}


def test_a_query_is_ignored(road: Road) -> None:
    assert result(road.request(path=f"{PATH}?a=1", body=PING, headers=JSON)) == {}


# --- Host ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:8080", "localhost.", "localhost:"],
)
def test_local_serves_the_names_of_this_machine(road: Road, host: str) -> None:
    assert result(road.request(body=PING, headers=JSON | {"Host": host})) == {}


HOSTILE = [
    "evil.example",
    "localhost.evil.example",
    "127.0.0.2",
    "[::2]",
    "localhost:80:80",
    "a@localhost",
    "::1",
    "",
    " ",
    "a..localhost",
    ".",
    "x" * 64,
]


@pytest.mark.parametrize("host", HOSTILE)
def test_local_serves_no_other_name(road: Road, host: str) -> None:
    response = road.request(body=PING, headers=JSON | {"Host": host})

    assert host == "" or host not in refusal(response, 403, "host_not_allowed")["message"].split()


def test_a_request_without_a_host_is_refused_where_hosts_are_named(road: Road) -> None:
    environ: dict[str, Any] = {"environ_overrides": {"HTTP_HOST": None}}

    refusal(road.request(body=PING, headers=JSON, **environ), 403, "host_not_allowed")


@pytest.mark.parametrize("host", ["evil.example", "10.0.0.7:8080", "[::2]", "a..b", ".", "x" * 64])
def test_production_serves_any_name_unless_it_is_told_which(host: str) -> None:
    assert result(Road(profile="production").request(body=PING, headers=JSON | {"Host": host})) == {}


@pytest.mark.parametrize("profile", ["local", "production"])
def test_where_hosts_are_named_no_other_is_served(profile: Any) -> None:
    road = Road(profile=profile, server=Server(allowed_hosts=("MCP.example", "[2001:db8::1]")))

    assert result(road.request(body=PING, headers=JSON | {"Host": "mcp.EXAMPLE:8443"})) == {}
    assert result(road.request(body=PING, headers=JSON | {"Host": "[2001:DB8::1]:8443"})) == {}
    refusal(road.request(body=PING, headers=JSON | {"Host": "localhost"}), 403, "host_not_allowed")


# --- Origin ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "origin", ["http://localhost", "http://localhost:3000", "https://127.0.0.1:1", "http://[::1]:6274"]
)
def test_local_takes_the_origins_of_this_machine(road: Road, origin: str) -> None:
    assert result(road.request(body=PING, headers=JSON | {"Origin": origin})) == {}


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "",
        "http://localhost.evil.example",
        "http://evil.example/localhost",
        "http://localhost@evil.example",
        "ftp://localhost",
        "http://localhost:x",
        "http://127.0.0.1.evil.example",
        "localhost",
        "http://localhost, http://localhost",
    ],
)
def test_no_other_origin_may_call(road: Road, origin: str) -> None:
    response = road.request(body=PING, headers=JSON | {"Origin": origin})

    refusal(response, 403, "origin_not_allowed")
    assert "Access-Control-Allow-Origin" not in response.headers


@pytest.mark.parametrize(
    ("header", "word", "setting"),
    [
        ("Host", "host_not_allowed", "server.allowed_hosts"),
        ("Origin", "origin_not_allowed", "server.allowed_origins"),
    ],
)
def test_a_refusal_names_the_setting_that_its_operator_looks_for(
    road: Road, header: str, word: str, setting: str
) -> None:
    response = road.request(body=PING, headers=JSON | {header: "https://evil.example"})

    assert setting in refusal(response, 403, word)["message"]


def test_origins_that_are_named_may_call() -> None:
    road = Road(profile="production", server=Server(allowed_origins=("https://Builder.example",)))

    assert result(road.request(body=PING, headers=JSON | {"Origin": "https://builder.example"})) == {}
    refusal(road.request(body=PING, headers=JSON | {"Origin": "http://localhost"}), 403, "origin_not_allowed")
    refusal(
        road.request(body=PING, headers=JSON | {"Origin": "https://builder.example:444"}), 403, "origin_not_allowed"
    )


@pytest.mark.parametrize("path", ["/healthz", "/readyz", PATH])
def test_the_origin_is_looked_at_on_every_path_that_there_is(road: Road, path: str) -> None:
    refusal(road.request("GET", path, headers={"Origin": "https://evil.example"}), 403, "origin_not_allowed")


# --- type and encoding -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "application/json; charset=utf-8", "Application/JSON;charset=EUC-KR", "application/json ;x=1"],
)
def test_a_body_that_is_declared_json_is_taken_whatever_its_parameters(road: Road, content_type: str) -> None:
    assert result(road.post(message("ping"), JSON | {"Content-Type": content_type})) == {}


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/plain",
        "application/json-rpc",
        "application/problem+json",
        "text/json",
        "application/json, text/plain",
    ],
)
def test_a_body_that_is_declared_anything_else_is_415(road: Road, content_type: str | None) -> None:
    refusal(road.post(message("ping"), JSON | {"Content-Type": content_type}), 415, "unsupported_media_type")


@pytest.mark.parametrize("encoding", ["gzip", "br", "identity, gzip", "x"])
def test_an_encoded_body_is_415(road: Road, encoding: str) -> None:
    response = road.post(message("ping"), JSON | {"Content-Encoding": encoding})

    refusal(response, 415, "unsupported_content_encoding")


@pytest.mark.parametrize("encoding", ["identity", "Identity", "", " "])
def test_identity_is_no_encoding(road: Road, encoding: str) -> None:
    assert result(road.post(message("ping"), JSON | {"Content-Encoding": encoding})) == {}


@pytest.mark.parametrize("accept", [None, "*/*", "text/event-stream", "text/html", "application/json;q=0", "nonsense"])
def test_accept_may_say_anything(road: Road, accept: str | None) -> None:
    response = road.post(message("ping"), JSON | {"Accept": accept})

    assert response.headers["Content-Type"] == "application/json"
    assert result(response) == {}


# --- size ------------------------------------------------------------------------------------------------------------


def padded(size: int) -> bytes:
    return PING + b" " * (size - len(PING))


@pytest.mark.parametrize("declared", [True, False])
def test_a_body_of_the_limit_is_taken_and_one_byte_more_is_413(declared: bool) -> None:
    road = Road(limits=Limits(max_request_bytes=200))
    # What a server gives to an application when the body came in chunks: its end is known only when it is reached.
    environ: Any = {} if declared else {"environ_overrides": {"CONTENT_LENGTH": "", "wsgi.input_terminated": True}}

    assert result(road.request(body=padded(200), headers=JSON, **environ)) == {}
    found = refusal(road.request(body=padded(201), headers=JSON, **environ), 413, "payload_too_large")
    assert "200" in found["message"]


def test_a_body_that_is_declared_too_large_is_not_read() -> None:
    road = Road(limits=Limits(max_request_bytes=200))

    response = road.request(body=PING, headers=JSON, environ_overrides={"CONTENT_LENGTH": "9999999999"})

    refusal(response, 413, "payload_too_large")


def test_a_body_that_ends_early_is_400(road: Road) -> None:
    response = road.request(body=PING, headers=JSON, environ_overrides={"CONTENT_LENGTH": str(len(PING) + 1)})

    refusal(response, 400, "bad_request")


class BrokenInput(io.BytesIO):
    """The body of a request whose sender fails."""

    def __init__(self, fault: Exception) -> None:
        super().__init__()
        self._fault = fault

    def read(self, size: int | None = -1, /) -> bytes:
        raise self._fault


@pytest.mark.parametrize("fault", [ConnectionResetError("reset"), InvalidChunkSize(b"x")])
def test_a_body_that_cannot_be_read_is_400(road: Road, fault: Exception) -> None:
    response = road.request(body=PING, headers=JSON, environ_overrides={"wsgi.input": BrokenInput(fault)})

    assert refusal(response, 400, "bad_request")["message"] == "the body could not be read"


def test_a_body_that_does_not_arrive_in_time_is_408(road: Road) -> None:
    response = road.request(body=PING, headers=JSON, environ_overrides={"wsgi.input": BrokenInput(TimeoutError())})

    refusal(response, 408, "request_timeout")


def test_a_post_without_a_body_is_no_json(road: Road) -> None:
    error(road.request(headers=JSON), -32700, request_id=None)


# --- what every answer has -------------------------------------------------------------------------------------------

ANSWERS: dict[str, dict[str, Any]] = {
    "200": {"body": PING, "headers": JSON},
    "202": {"body": b'{"jsonrpc":"2.0","method":"x"}', "headers": JSON},
    "204": {"method": "OPTIONS", "headers": {"Origin": "http://localhost"}},
    "400": {"body": PING, "headers": JSON | {"MCP-Protocol-Version": "x"}},
    "403 host": {"headers": {"Host": "evil.example"}},
    "403 origin": {"headers": {"Origin": "https://evil.example"}},
    "404": {"path": "/nothing"},
    "405": {"method": "GET"},
    "413": {"body": b"x" * 1001, "headers": JSON},
    "415": {"body": PING},
    "healthz": {"method": "GET", "path": "/healthz"},
    "readyz": {"method": "GET", "path": "/readyz"},
}


@pytest.mark.parametrize("request_", ANSWERS.values(), ids=ANSWERS.keys())
def test_every_answer_carries_the_callers_identifiers(request_: dict[str, Any]) -> None:
    road = Road(limits=Limits(max_request_bytes=1000))
    headers = request_.get("headers", {}) | {"guid": GUID, "x-request-id": "req.1:a_b-C"}

    response = road.request(**{**request_, "headers": headers})

    assert (response.headers["guid"], response.headers["x-request-id"]) == (GUID, "req.1:a_b-C")
    if response.data and "error" in (document := parsed(response)):
        assert GUID in (document.get("guid"), document.get("data", {}).get("guid"))


@pytest.mark.parametrize("request_", ANSWERS.values(), ids=ANSWERS.keys())
def test_every_answer_carries_new_identifiers_in_the_place_of_malformed_ones(request_: dict[str, Any]) -> None:
    road = Road(limits=Limits(max_request_bytes=1000))
    headers = request_.get("headers", {}) | {"guid": "malformed", "x-request-id": "mal formed"}

    response = road.request(**{**request_, "headers": headers})

    assert UUID.fullmatch(response.headers["guid"])
    assert UUID.fullmatch(response.headers["x-request-id"])
    assert b"malformed" not in response.data
    assert "malformed" not in str(response.headers)


def test_an_empty_answer_declares_no_type(road: Road) -> None:
    accepted(road.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, JSON))


def test_a_transfer_coding_besides_chunked_is_415(road: Road) -> None:
    response = road.request("POST", PATH, PING, JSON, environ_overrides={"HTTP_TRANSFER_ENCODING": "gzip, chunked"})

    assert response.status_code == 415
    assert parsed(response)["error"] == "unsupported_transfer_encoding"
