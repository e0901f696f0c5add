"""
An OpenAPI document becomes tools: one for each POST operation that takes a JSON object, and a reason for each other.

The library ``openapi-spec-validator`` says whether the document is one. Its validator is used, and not its resolver,
which would fetch what a document refers to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import quote, urlsplit

from openapi_spec_validator.shortcuts import get_validator_cls

from .document import read
from .faults import NoTool, Unusable
from .names import Names
from .references import resolve_component
from .schemas import Budget, kind
from .schemas import translate as translate_schema

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
LONGEST_NAME = 128

MAX_FAULTS = 5
"""As many faults of a document as are told."""

_VERSION = re.compile(r"3\.[01]\.[0-9]+(?:-.*)?")
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.-]+")
_VARIABLE = re.compile(r"\{([^{}]*)\}")
_JSON = "application/json"
# What an operation without more words says of an answer; with the schema of an object, it is JSON.
_ANYTHING = "*/*"
_ANSWERED = ("200", "201")
# Sent with every call, whatever the caller sends.
_ALWAYS_SENT = frozenset({"guid", "x-request-id", "x-timeout-ms", "content-type", "user-agent", "accept", "host"})


@dataclass(frozen=True, slots=True)
class Operation:
    """
    One operation of a document.

    Args:

        name: ``POST /orders``.

        tool: The tool that it becomes, as in a manifest.

        reason: Why it becomes none.
    """

    name: str
    tool: Mapping[str, Any] | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Translation:
    """
    What became of a document.

    Args:

        title: ``info.title``.

        version: ``info.version``.

        base_url: Where the service is, as far as the document says: scheme and host.

        operations: Every operation, in the document's order.
    """

    title: str
    version: str
    base_url: str | None
    operations: tuple[Operation, ...]


def translate(text: bytes) -> Translation:
    """
    Translate the text of a document.

    Raises:

        Unusable: It is no OpenAPI document of version 3.0 or 3.1, or a hostile one.
    """
    document = read(text)
    _check(document)
    translator = _Translator(document)
    operations = tuple(translator.operations())
    info = document["info"]
    return Translation(info["title"], info["version"], translator.origin, operations)


def _check(document: dict[str, Any]) -> None:
    version = document.get("openapi", document.get("swagger"))
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        told = "says no version" if version is None else f"says {str(version)[:20]!r}"
        raise Unusable(f"it must be an OpenAPI document of version 3.0 or 3.1; it {told}")
    errors = get_validator_cls(document).schema_validator.iter_errors(document)
    faults = [f"{_place(error.absolute_path)}: {_short(error.message)}" for error in islice(errors, MAX_FAULTS)]
    if faults:
        raise Unusable("\n".join(["it is no valid OpenAPI document:", *(f"  {fault}" for fault in faults)]))


def _place(path: Any) -> str:
    return ".".join(map(str, path)) or "(top level)"


def _short(text: str) -> str:
    text = text.partition("\n")[0]
    return text if len(text) <= 200 else f"{text[:120]} … {text[-75:]}"


class _Translator:
    """Walks through one document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._budget = Budget()
        self._names = Names(stem=LONGEST_NAME - 8)
        self.origin: str | None = None

    def operations(self) -> Iterator[Operation]:
        for path, item in (self._document.get("paths") or {}).items():
            if path.startswith("x-"):
                continue
            try:
                item = resolve_component(self._document, item, "pathItems")
            except NoTool as reason:
                yield Operation(path, reason=str(reason))
                continue
            for method in METHODS:
                if method in item:
                    yield self._operation(method, path, item)

    def _operation(self, method: str, path: str, item: Mapping[str, Any]) -> Operation:
        name = f"{method.upper()} {path}"
        try:
            if method != "post":
                raise NoTool("only POST operations become tools")
            return Operation(name, tool=self._tool(path, item, item["post"]))
        except NoTool as reason:
            return Operation(name, reason=str(reason))

    def _tool(self, path: str, item: Mapping[str, Any], operation: Mapping[str, Any]) -> dict[str, Any]:
        self._check_parameters(path, item, operation)
        input_schema = self._input_schema(operation)
        output_schema = self._output_schema(operation)
        endpoint = self._endpoint(path, item, operation)
        summary, description = operation.get("summary"), operation.get("description")
        tool = {
            "name": self._names.give(_legal(operation.get("operationId") or f"post{path}")),
            "title": summary,
            "description": description or summary or f"POST {path}",
            "inputSchema": input_schema,
            "outputSchema": output_schema,
            "endpoint": endpoint,
        }
        return {field: value for field, value in tool.items() if value}

    def _check_parameters(self, path: str, item: Mapping[str, Any], operation: Mapping[str, Any]) -> None:
        if variable := _VARIABLE.search(path):
            raise NoTool(f"its path has the parameter {variable[1]!r}, and the endpoint of a tool is fixed")
        given = [*item.get("parameters", ()), *operation.get("parameters", ())]
        parameters = [resolve_component(self._document, each, "parameters") for each in given]
        # Of two of one name and place the later one counts, which is the operation's own.
        for (name, place), parameter in {(each.get("name"), each.get("in")): each for each in parameters}.items():
            sent = place == "header" and str(name).lower() in _ALWAYS_SENT
            if parameter.get("required") is True and not sent:
                raise NoTool(f"it requires the {place} parameter {name!r}, and a call has a body alone")

    def _input_schema(self, operation: Mapping[str, Any]) -> dict[str, Any]:
        body = resolve_component(self._document, operation.get("requestBody"), "requestBodies")
        content = body.get("content") if isinstance(body, dict) else None
        if not content:
            raise NoTool("it has no request body")
        if (media := _find(content, _JSON)) is None:
            raise NoTool(f"its request body is {' or '.join(content)}, not {_JSON}")
        schema = translate_schema(self._document, media.get("schema"), "in", self._budget)
        if schema is None:
            found = kind(self._document, media.get("schema"))
            raise NoTool(f"its request body is {found}, and the arguments of a tool are an object")
        return schema

    def _output_schema(self, operation: Mapping[str, Any]) -> dict[str, Any] | None:
        responses = operation.get("responses") or {}
        for status in _ANSWERED:
            response = resolve_component(self._document, responses.get(status), "responses")
            content = response.get("content") if isinstance(response, dict) else None
            media = _find(content or {}, _JSON) or _find(content or {}, _ANYTHING)
            if media is not None:
                return translate_schema(self._document, media.get("schema"), "out", self._budget)
        return None

    def _endpoint(self, path: str, item: Mapping[str, Any], operation: Mapping[str, Any]) -> str:
        servers = operation.get("servers") or item.get("servers") or self._document.get("servers") or [{"url": "/"}]
        origin, below = _server(servers[0])
        if self.origin is None:
            self.origin = origin
        elif origin not in (None, self.origin):
            raise NoTool(f"it is at {origin}, others at {self.origin}, and a Tool Service has one base_url")
        return quote(below + path, safe="/%:@!$&'()*+,;=?~")


def _legal(name: str) -> str:
    return _NOT_IN_A_NAME.sub("_", name).strip("_")[:LONGEST_NAME] or "tool"


def _find(content: Mapping[str, Any], media_type: str) -> Mapping[str, Any] | None:
    for name, media in content.items():
        if name.partition(";")[0].strip().lower() == media_type and isinstance(media, dict):
            return media
    return None


def _server(server: Mapping[str, Any]) -> tuple[str | None, str]:
    """Return scheme and host of a server, if it says so, and its path without a slash at the end."""
    variables = server.get("variables") or {}

    def value(match: re.Match[str]) -> str:
        return str(variables.get(match[1], {}).get("default", ""))

    try:
        parts = urlsplit(_VARIABLE.sub(value, server["url"]))
    except ValueError:
        raise NoTool("the address of its server is none") from None
    origin = f"{parts.scheme}://{parts.netloc}" if parts.scheme and parts.netloc else None
    path = parts.path.strip("/")
    return origin, f"/{path}" if path else ""
