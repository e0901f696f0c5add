"""
What a configuration may say: one marshmallow schema for each section, and the contradictions between its keys.

Defaults stand in ``model`` alone: a key that is left out is left out of the frozen value's arguments.

The portal registry's routes go through the same fields under camelCase names. There unknown keys are ignored, because
the document is another team's and grows; keys that name files or hold secrets are not taken from it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

from marshmallow import EXCLUDE, RAISE, Schema, ValidationError, fields

from .document import Filled, Place, Problem, dotted
from .fields import (
    MAX_BYTES,
    MAX_COUNT,
    CaBundle,
    Count,
    Current,
    FallbackManifest,
    Flag,
    Headers,
    Listed,
    Reading,
    Seconds,
    Strict,
    Text,
    Version,
    base_url,
    choice,
    host_name,
    line,
    manifest_path,
    origin,
    prose,
    public_path,
)
from .model import (
    CacheScope,
    Config,
    Console,
    ConsoleAuthentication,
    Limits,
    Portal,
    Profile,
    Registry,
    Route,
    Server,
    ToolService,
)

MAX_INTERACTION_S = 300
"""Ceiling of one call in all, as agreed with the Agent Builder; it may be lowered and never raised."""

SOURCES = ("config", "portal")

_KEY = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_VISIBLE = re.compile(r"[!-~]{1,8192}")
_LONG_ENOUGH = re.compile(r"[!-~]{24,8192}")


class SectionSchema(Schema):
    """Reads one mapping into the frozen value that ``model`` makes; refuses keys that it does not have."""

    model: ClassVar[Callable[..., Any]]

    def __init__(self) -> None:
        super().__init__(unknown=RAISE)

    def read(self, document: Mapping[str, Any]) -> Any:
        """
        Return the frozen value.

        Raises:

            ValidationError: With all that is wrong with the section, by key.
        """
        try:
            values = self.load(document)
        except ValidationError as fault:
            raise ValidationError(self._worded(fault.messages)) from None
        return self.made(values)

    def made(self, values: dict[str, Any]) -> Any:
        """Make the frozen value of what the fields have read."""
        return type(self).model(**values)

    def _worded(self, messages: Any) -> dict[str, Any]:
        unknown = [self.error_messages["unknown"]]
        return {key: self._unknown(key) if message == unknown else message for key, message in messages.items()}

    def _unknown(self, key: str) -> list[str]:
        near = difflib.get_close_matches(key, self.fields, n=1)
        return [f"is no known key; did you mean {near[0]}?" if near else "is no known key"]


class Section(Strict):
    """A mapping that *schema* reads."""

    wanted = "a mapping"

    def __init__(self, schema: type[SectionSchema], *, optional: bool = False) -> None:
        super().__init__(optional=optional)
        self._schema = schema()

    def read(self, value: Any) -> Any:
        """Return the frozen value of the section."""
        if not isinstance(value, dict):
            raise self.refusal(value)
        return self._schema.read(value)


class ServerSchema(SectionSchema):
    """Reads ``server``."""

    model = Server

    name = line()
    title = line()
    version = line(optional=True)
    instructions = prose()
    allowed_origins = Listed(origin())
    allowed_hosts = Listed(host_name())


class LimitsSchema(SectionSchema):
    """Reads ``limits``."""

    model = Limits

    max_request_bytes = Count(MAX_BYTES)
    max_response_bytes = Count(MAX_BYTES)
    interaction_timeout_s = Seconds(most=MAX_INTERACTION_S)
    max_tools_per_route = Count(MAX_COUNT)


class PortalSchema(SectionSchema):
    """Reads ``registry.portal``."""

    model = Portal

    base_url = base_url()
    token = Text((_VISIBLE.fullmatch, "must be 1 to 8192 visible ASCII characters without spaces"), required=True)


class RegistrySchema(SectionSchema):
    """Reads ``registry``."""

    model = Registry

    source = choice(*SOURCES)
    load_timeout_s = Seconds()
    refresh_interval_s = Seconds(zero=True)
    portal = Section(PortalSchema, optional=True)


class ConsoleSchema(SectionSchema):
    """Reads ``console``."""

    model = Console

    enabled = Flag(optional=True)
    authentication = choice(*get_args(ConsoleAuthentication))
    # As long as 18 random bytes in Base64: nobody counts wrong guesses.
    token = Text((_LONG_ENOUGH.fullmatch, "must be 24 to 8192 visible ASCII characters without spaces"), optional=True)

    def made(self, values: dict[str, Any]) -> Any:
        """
        Make the section; production has an open console only where the file says so.

        Raises:

            ValidationError: There is no token where one is needed, or one where none is asked for.
        """
        console: Console = super().made(values)
        if console.authentication == "none" and console.token is not None:
            raise ValidationError({"token": ["must be left out where console.authentication is none"]})
        needed = console.enabled is True and Current.get().profile == "production"
        if needed and console.authentication == "token" and console.token is None:
            raise ValidationError({"token": ["is required in production, unless console.authentication is none"]})
        return console


class ToolServiceSchema(SectionSchema):
    """Reads one of ``tool_services``."""

    model = ToolService

    name = line(required=True)
    base_url = base_url()
    manifest_path = manifest_path()
    timeout_s = Seconds()
    connect_timeout_s = Seconds()
    max_in_flight = Count(MAX_COUNT)
    headers = Headers()
    ca_bundle = CaBundle()


class RouteSchema(SectionSchema):
    """Reads one of ``routes``."""

    model = Route

    key = Text((_KEY.fullmatch, "must be 1 to 63 of a-z, 0-9 and '-', with no '-' at either end"), required=True)
    public_path = public_path()
    name = line(optional=True)
    title = line(optional=True)
    version = line(optional=True)
    instructions = prose()
    protocol_versions = Listed(Version(), at_least=1)
    list_ttl_s = Seconds(zero=True)
    cache_scope = choice(*get_args(CacheScope))
    structured_output = Flag()
    tool_services = Listed(Section(ToolServiceSchema), at_least=1, required=True)
    fallback_manifest = FallbackManifest()

    def made(self, values: dict[str, Any]) -> Any:
        """Make the route; its versions stand newest first, and are all of them when it names none."""
        implemented = Current.get().versions
        named = values.get("protocol_versions", implemented)
        versions = tuple(version for version in implemented if version in named)
        return super().made({**values, "protocol_versions": versions})


class ConfigSchema(SectionSchema):
    """Reads the whole file."""

    model = Config

    profile = choice(*get_args(Profile))
    server = Section(ServerSchema)
    limits = Section(LimitsSchema)
    registry = Section(RegistrySchema)
    console = Section(ConsoleSchema)
    routes = Listed(Section(RouteSchema))


PORTAL_NAMES = {
    "registry_version": "registryVersion",
    "public_path": "publicPath",
    "protocol_versions": "protocolVersions",
    "cache_scope": "cacheScope",
    "structured_output": "structuredOutput",
    "tool_services": "toolServices",
    "base_url": "baseUrl",
    "manifest_path": "manifestPath",
    "timeout_s": "timeoutMs",
    "max_in_flight": "maxInFlight",
}
"""The portal's names for ours, where they differ."""


class PortalSectionSchema(SectionSchema):
    """Reads the portal's names; what it does not know belongs to a later version of the portal, and is ignored."""

    left_out: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        Schema.__init__(self, unknown=EXCLUDE, exclude=self.left_out)

    def on_bind_field(self, field_name: str, field_obj: fields.Field[Any]) -> None:
        """Give the field the portal's name."""
        field_obj.data_key = PORTAL_NAMES.get(field_name, field_name)


class PortalToolServiceSchema(PortalSectionSchema, ToolServiceSchema):
    """Reads one of the portal's ``toolServices``; times are in milliseconds."""

    left_out = ("connect_timeout_s", "headers", "ca_bundle")

    timeout_s = Seconds(unit=1000)


class PortalRouteSchema(PortalSectionSchema, RouteSchema):
    """Reads one of the portal's ``routes``."""

    left_out = ("list_ttl_s", "fallback_manifest")

    tool_services = Listed(Section(PortalToolServiceSchema), at_least=1, required=True)


@dataclass(frozen=True, slots=True)
class PortalRoutes:
    """What the portal registry answers."""

    registry_version: str
    routes: tuple[Route, ...]


class PortalRoutesSchema(PortalSectionSchema):
    """Reads the portal registry's whole answer."""

    model = PortalRoutes

    registry_version = choice("0.1", required=True)
    routes = Listed(Section(PortalRouteSchema), required=True)


def _problems(messages: Any, place: Place = ()) -> Iterator[Problem]:
    if isinstance(messages, dict):
        for step, below in messages.items():
            yield from _problems(below, (*place, step))
    else:
        yield Problem(place, "; ".join(messages))


def loaded(schema: SectionSchema, document: Mapping[str, Any], reading: Reading) -> tuple[Any, list[Problem]]:
    """Return what *schema* makes of *document*, or ``None`` and what is wrong with it."""
    try:
        with Current(reading):
            return schema.read(document), []
    except ValidationError as fault:
        return None, list(_problems(fault.messages))


def _mappings(value: Any) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Return the members of a list that are mappings, with their places in it; of anything else, none."""
    items = value if isinstance(value, list) else []
    return ((index, item) for index, item in enumerate(items) if isinstance(item, dict))


def _repeated(items: Any, place: Place, name: str) -> Iterator[Problem]:
    first: dict[str, Place] = {}
    for index, item in _mappings(items):
        here = (*place, index, name)
        value = item.get(name)
        if isinstance(value, str) and value in first:
            yield Problem(here, f"must be unique; it is the same as {dotted(first[value])}")
        elif isinstance(value, str):
            first[value] = here


def repetitions(document: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[Problem]:
    """Find keys, paths and service names that must differ and do not; *names* turns our names into the document's."""
    routes = document.get("routes")
    services = names.get("tool_services", "tool_services")
    yield from _repeated(routes, ("routes",), "key")
    yield from _repeated(routes, ("routes",), names.get("public_path", "public_path"))
    for index, route in _mappings(routes):
        yield from _repeated(route.get(services), ("routes", index, services), "name")


def contradictions(document: Mapping[str, Any]) -> Iterator[Problem]:
    """Find what the file says against its own ``registry.source``."""
    registry = document.get("registry", {})
    if not isinstance(registry, dict):
        return
    source = registry.get("source", Filled()) or "config"
    nothing: tuple[Any, ...] = (None, [], Filled())
    no_routes = document.get("routes") in nothing
    if source == "config" and no_routes:
        yield Problem(("routes",), "at least one route is required where registry.source is config")
    if source == "portal" and not no_routes:
        yield Problem(("routes",), "must be left out where registry.source is portal, which names the routes")
    if source == "portal" and registry.get("portal") in nothing:
        yield Problem(("registry", "portal"), "is required where registry.source is portal")
