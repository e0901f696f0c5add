"""OpenAPI documents to test with: one operation, changed at will."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mcp_gateway.openapi.translation import Operation, Translation, translate

DOCUMENTS = Path(__file__).parent / "documents"
OBJECT = {"type": "object", "properties": {"query": {"type": "string"}}}


def body(schema: Any, media_type: str = "application/json") -> dict[str, Any]:
    return {"content": {media_type: {"schema": schema}}}


def post(schema: Any = OBJECT, **fields: Any) -> dict[str, Any]:
    responses = {"200": {"description": "Fine."}}
    return {"operationId": "search", "requestBody": body(schema), "responses": responses, **fields}


def document(operation: Any = None, *, version: str = "3.0.3", path: str = "/search", **fields: Any) -> dict[str, Any]:
    """Write a document whose one path has the operation, which is posted to."""
    paths = {path: {"post": post() if operation is None else operation}}
    return {"openapi": version, "info": {"title": "Search", "version": "1"}, "paths": paths, **fields}


def translated(whole: Any) -> Translation:
    return translate(json.dumps(whole, ensure_ascii=False).encode())


def only(whole: Any) -> Operation:
    """Return what became of the one operation of a document."""
    (operation,) = translated(whole).operations
    return operation


def tool(whole: Any) -> dict[str, Any]:
    """Return the tool that the one operation of a document became."""
    operation = only(whole)
    assert operation.tool is not None, operation.reason
    return dict(operation.tool)


def input_schema(schema: Any, *, version: str = "3.0.3", **schemas: Any) -> Any:
    """Return what a schema became as that of arguments; *schemas* are the components."""
    return tool(document(post(schema), version=version, components={"schemas": schemas}))["inputSchema"]


def a_property(schema: Any, *, version: str = "3.0.3") -> Any:
    """Return what the schema of a property became."""
    return input_schema({"type": "object", "properties": {"a": schema}}, version=version)["properties"]["a"]
