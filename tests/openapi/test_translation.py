"""Which operations become tools, what a tool gets from where, and why the others do not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openapi.samples import DOCUMENTS, OBJECT, body, document, only, post, tool, translated

from mcp_gateway.openapi.faults import Unusable
from mcp_gateway.openapi.translation import translate

# --- documents as frameworks and people write them -------------------------------------------------------------------

REAL_LIFE = {
    "fastapi-3.1.json": (
        None,
        ["leave_balance_leave_balance_post", "ask_leave_ask_post"],
        {
            "GET /healthz": "only POST operations become tools",
            "POST /leave/upload": "its request body is multipart/form-data, not application/json",
        },
    ),
    "spring-3.0.json": (
        "http://localhost:8080",
        ["search", "search_1"],
        {
            "POST /documents/raw": "its request body is a string, and the arguments of a tool are an object",
            "DELETE /documents/{id}": "only POST operations become tools",
        },
    ),
    "orders-3.0.yaml": (
        "https://orders.example",
        ["searchOrders", "create_order"],
        {
            "GET /orders": "only POST operations become tools",
            "POST /orders/{id}/cancel": "its path has the parameter 'id', and the endpoint of a tool is fixed",
            "POST /orders/export": "it requires the header parameter 'X-Tenant', and a call has a body alone",
            "POST /orders/upload": "its request body is multipart/form-data, not application/json",
            "POST /orders/batch": "its request body is an array, and the arguments of a tool are an object",
            "POST /ping": "it has no request body",
        },
    ),
}


@pytest.mark.parametrize("name", REAL_LIFE)
def test_every_operation_of_a_document_becomes_a_tool_or_has_a_reason(name: str) -> None:
    base_url, tools, left_out = REAL_LIFE[name]

    found = translate((DOCUMENTS / name).read_bytes())

    assert found.base_url == base_url
    assert [each.tool["name"] for each in found.operations if each.tool] == tools
    assert {each.name: each.reason for each in found.operations if not each.tool} == left_out


def test_every_document_that_lies_there_is_tried() -> None:
    assert {path.name for path in DOCUMENTS.iterdir()} == set(REAL_LIFE)


# --- the fields of a tool --------------------------------------------------------------------------------------------


def test_an_operation_gives_its_tool_name_title_and_description() -> None:
    made = tool(document(post(summary="Search", description="Finds things.")))
    assert (made["name"], made["title"], made["description"]) == ("search", "Search", "Finds things.")


@pytest.mark.parametrize(
    ("fields", "description"),
    [({"summary": "검색"}, "검색"), ({}, "POST /search"), ({"description": ""}, "POST /search")],
)
def test_an_operation_that_describes_nothing_is_described_by_what_there_is(
    fields: dict[str, Any], description: str
) -> None:
    assert tool(document(post(**fields)))["description"] == description


@pytest.mark.parametrize(
    ("operation_id", "name"),
    [
        ("searchOrders", "searchOrders"),
        ("orders.search-v2_x", "orders.search-v2_x"),
        ("create order (주문)", "create_order"),
        ("주문", "tool"),
        ("", "post_search"),
        ("x" * 200, "x" * 128),
    ],
)
def test_a_name_is_the_operation_id_made_legal(operation_id: str, name: str) -> None:
    assert tool(document(post(operationId=operation_id)))["name"] == name


def test_a_name_without_an_operation_id_comes_from_the_path() -> None:
    assert (
        tool(document({k: v for k, v in post().items() if k != "operationId"}, path="/a/b c"))["name"] == "post_a_b_c"
    )


def test_names_are_unique_even_when_only_what_was_illegal_told_them_apart() -> None:
    paths = {f"/{at}": {"post": post(operationId=wanted)} for at, wanted in enumerate(["a b", "a_b", "a b", "a?b"])}
    names = [each.tool["name"] for each in translated(document() | {"paths": paths}).operations if each.tool]
    assert names == ["a_b", "a_b_2", "a_b_3", "a_b_4"]


@pytest.mark.parametrize(
    ("servers", "endpoint", "base_url"),
    [
        ([], "/search", None),
        ([{"url": "/"}], "/search", None),
        ([{"url": "/api/v1/"}], "/api/v1/search", None),
        ([{"url": "https://api.example"}], "/search", "https://api.example"),
        (
            [{"url": "https://api.example:8443/v1"}, {"url": "https://b.example"}],
            "/v1/search",
            "https://api.example:8443",
        ),
        (
            [
                {
                    "url": "https://{host}/{base}",
                    "variables": {"host": {"default": "h.example"}, "base": {"default": "v2"}},
                }
            ],
            "/v2/search",
            "https://h.example",
        ),
        ([{"url": "https://h.example/{unknown}"}], "/search", "https://h.example"),
        ([{"url": "/한글"}], "/%ED%95%9C%EA%B8%80/search", None),
    ],
)
def test_an_endpoint_is_the_path_of_the_first_server_and_the_path_of_the_operation(
    servers: list[Any], endpoint: str, base_url: str | None
) -> None:
    found = translated(document(servers=servers))
    assert [each.tool["endpoint"] for each in found.operations if each.tool] == [endpoint]
    assert found.base_url == base_url


def test_the_servers_of_an_operation_win_over_those_of_its_path_and_of_the_document() -> None:
    whole = document(post(servers=[{"url": "/own"}]), servers=[{"url": "/all"}])
    whole["paths"]["/search"]["servers"] = [{"url": "/path"}]
    assert tool(whole)["endpoint"] == "/own/search"
    del whole["paths"]["/search"]["post"]["servers"]
    assert tool(whole)["endpoint"] == "/path/search"


def test_an_operation_of_another_server_than_the_others_is_left_out() -> None:
    whole = document(servers=[{"url": "https://a.example"}])
    whole["paths"]["/b"] = {"post": post(servers=[{"url": "https://b.example"}])}
    first, second = translated(whole).operations
    assert first.tool
    assert (
        second.reason == "it is at https://b.example, others at https://a.example, and a Tool Service has one base_url"
    )


@pytest.mark.parametrize("status", ["200", "201"])
@pytest.mark.parametrize("media_type", ["application/json", "application/json;charset=UTF-8", "*/*"])
def test_the_schema_of_a_json_answer_is_the_output_schema(status: str, media_type: str) -> None:
    responses = {status: {"description": "Fine.", **body(OBJECT, media_type)}}
    assert tool(document(post(responses=responses)))["outputSchema"] == OBJECT


@pytest.mark.parametrize(
    "response",
    [
        {"200": {"description": "Nothing."}},
        {"200": {"description": "Text.", **body(OBJECT, "text/plain")}},
        {"200": {"description": "A list.", **body({"type": "array", "items": {}})}},
        {"200": {"description": "Anything.", "content": {"application/json": {}}}},
        {"default": {"description": "Fine.", **body(OBJECT)}},
        {"404": {"description": "Not there.", **body(OBJECT)}},
    ],
)
def test_any_other_answer_gives_no_output_schema(response: Any) -> None:
    assert "outputSchema" not in tool(document(post(responses=response)))


# --- the reasons -----------------------------------------------------------------------------------------------------


def parameter(name: str, place: str, *, required: bool) -> dict[str, Any]:
    return {"name": name, "in": place, "required": required, "schema": {"type": "string"}}


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        ({"responses": {"200": {"description": "Fine."}}}, "it has no request body"),
        (post() | {"requestBody": {"content": {}}}, "it has no request body"),
        (
            post() | {"requestBody": body(OBJECT, "text/xml") | {}},
            "its request body is text/xml, not application/json",
        ),
        (
            post({"type": "array", "items": {}}),
            "its request body is an array, and the arguments of a tool are an object",
        ),
        (post({}), "its request body is of no single type, and the arguments of a tool are an object"),
        (
            post() | {"requestBody": {"content": {"application/json": {}}}},
            "its request body is of no single type, and the arguments of a tool are an object",
        ),
        (
            post(parameters=[parameter("lang", "query", required=True)]),
            "it requires the query parameter 'lang', and a call has a body alone",
        ),
        (post(servers=[{"url": "https://[::1"}]), "the address of its server is none"),
    ],
)
def test_an_operation_that_cannot_be_called_like_a_tool_is_left_out_with_the_reason(
    operation: Any, reason: str
) -> None:
    assert only(document(operation)).reason == reason


@pytest.mark.parametrize(
    "fields",
    [
        {"parameters": [parameter("lang", "query", required=False)]},
        {"parameters": [parameter("Guid", "header", required=True)]},
        {"parameters": [parameter("X-Request-Id", "header", required=True)]},
    ],
)
def test_a_parameter_that_is_optional_or_always_sent_is_no_obstacle(fields: dict[str, Any]) -> None:
    assert tool(document(post(**fields)))


def test_a_parameter_of_the_path_counts_unless_the_operation_has_its_own() -> None:
    whole = document(post(parameters=[parameter("lang", "query", required=False)]))
    whole["paths"]["/search"]["parameters"] = [parameter("lang", "query", required=True)]
    assert tool(whole)
    whole["paths"]["/search"]["post"]["parameters"] = []
    assert "'lang'" in only(whole).reason


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        (
            "https://other.example/a.yaml#/Body",
            "it refers to 'https://other.example/a.yaml#/Body', which leaves the document and is never fetched",
        ),
        (
            "file:///etc/passwd",
            "it refers to 'file:///etc/passwd', which leaves the document and is never fetched; bundle them first",
        ),
        ("#/components/requestBodies/None", "it refers to '#/components/requestBodies/None', which is not there"),
        ("#/paths/~1search/post/requestBody", "it refers to '#/paths/~1search/post/requestBody'"),
        ("#Body", "it refers to '#Body'; only references such as '#/components/schemas/…' are followed"),
        ("#/components/requestBodies/Circle", "its references lead in a circle"),
        ("#/info/title", "it refers to '#/info/title', where '#/components/requestBodies/…' is expected"),
    ],
)
def test_a_reference_that_cannot_be_followed_is_a_reason(reference: str, reason: str) -> None:
    circle = {"Circle": {"$ref": "#/components/requestBodies/Circle"}}
    whole = document(post() | {"requestBody": {"$ref": reference}}, components={"requestBodies": circle})
    assert only(whole).reason.startswith(reason)


def test_a_reference_into_a_list_is_followed_as_far_as_the_list_goes() -> None:
    alternatives = {"Any": {"oneOf": [OBJECT]}}
    for index, right in [("0", True), ("1", False), ("x", False), ("٠", False)]:
        schema = {"$ref": f"#/components/schemas/Any/oneOf/{index}"}
        assert bool(only(document(post(schema), components={"schemas": alternatives})).tool) is right


def test_a_path_that_stands_among_the_components_is_read() -> None:
    item = {"post": post()}
    whole = document(version="3.1.0", components={"pathItems": {"Search": item}})
    whole["paths"] = {"/x": {"$ref": "#/components/pathItems/Search"}, "/y": {"$ref": "other.yaml"}, "x-more": {}}
    first, second = translated(whole).operations
    assert first.name == "POST /x"
    assert first.tool
    assert second.name == "/y"
    assert "other.yaml" in second.reason


def test_a_document_without_paths_has_no_operations() -> None:
    assert translated({"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "components": {}}).operations == ()


# --- documents that are none -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("whole", "reason"),
    [
        ({}, "it must be an OpenAPI document of version 3.0 or 3.1; it says no version"),
        ({"swagger": "2.0"}, "it must be an OpenAPI document of version 3.0 or 3.1; it says '2.0'"),
        ({"openapi": 3.1}, "it must be an OpenAPI document of version 3.0 or 3.1; it says '3.1'"),
        ({"openapi": "3.2.0"}, "it must be an OpenAPI document of version 3.0 or 3.1; it says '3.2.0'"),
        ({"openapi": "3.0.3"}, "it is no valid OpenAPI document:\n  (top level): "),
        (document() | {"info": {"title": "t"}}, "it is no valid OpenAPI document:\n  info: "),
        (document() | {"servers": 3}, "it is no valid OpenAPI document:\n  servers: "),
    ],
)
def test_a_document_that_is_none_is_refused_with_the_place(whole: Any, reason: str) -> None:
    with pytest.raises(Unusable) as caught:
        translated(whole)
    assert str(caught.value).startswith(reason)


def test_of_many_faults_the_first_are_told_and_shortly() -> None:
    whole = document()
    whole["paths"] = {f"/{index}": {"post": {"operationId": ["x" * 500]}} for index in range(20)}
    with pytest.raises(Unusable) as caught:
        translated(whole)
    lines = str(caught.value).split("\n")
    assert len(lines) == 6
    assert max(map(len, lines)) < 300


def test_numbers_keep_their_digits() -> None:
    text = json.dumps(document(post({"type": "object", "properties": {"a": {"maximum": "HERE"}}})))
    (operation,) = translate(text.replace('"HERE"', "1234567890.12345678901234567890").encode()).operations
    assert operation.tool
    assert str(operation.tool["inputSchema"]["properties"]["a"]["maximum"]) == "1234567890.12345678901234567890"
