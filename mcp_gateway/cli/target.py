"""Which route of which gateway is meant, and asking it."""

from __future__ import annotations

import argparse
import ipaddress
import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from .. import __version__
from ..client import wire
from ..client.wire import Message
from ..config.model import Config, Route
from ..deadline import Deadline
from ..jsontext import Fragment
from ..protocol import eras
from ..registry.source import SourceFault
from ..registry.sources import open_source
from ..transport.answer import Answer, Unanswered
from ..transport.http import HttpClient
from . import options as shared
from .listing import Tool
from .terminal import Failed

USER_AGENT = f"mcp-gateway-cli/{__version__}"
CONNECT_TIMEOUT_S = 10.0

MAX_ANSWER_BYTES = 1 << 30
"""Only so that a stranger on the port cannot fill the memory; a gateway bounds its answers itself, far below."""


@dataclass(frozen=True, slots=True)
class Target:
    """A route of a running gateway: where it is, the version that is spoken, and what else each request carries."""

    url: str
    version: str
    headers: Mapping[str, str]
    ca_bundle: Path | None

    def list_tools(self) -> Message:
        """Write ``tools/list`` for it."""
        return wire.list_tools(self.version).adding(self.headers)

    def call_tool(self, tool: str, arguments: Fragment, listed: Tool | None) -> Message:
        """Write ``tools/call`` for it; *listed*: the tool as the gateway lists it, ``None``: not known."""
        schema = listed.input_schema if listed else None
        return wire.call_tool(self.version, tool, arguments, schema).adding(self.headers)

    def ask(self, message: Message, timeout_s: float) -> Answer:
        """
        Send one request and return the answer.

        Raises:

            Failed: There is no answer.
        """
        # Header values are UTF-8 on the wire, and the client below writes text as latin-1.
        headers = {name: value.encode("utf-8").decode("latin-1") for name, value in message.headers.items()}
        origin, path = _split(self.url)
        try:
            client = HttpClient(
                origin,
                connect_timeout_s=CONNECT_TIMEOUT_S,
                pool_size=1,
                ca_bundle=self.ca_bundle,
                headers={"User-Agent": USER_AGENT},
            )
        except OSError as fault:
            raise Failed(f"--ca-bundle {self.ca_bundle}: it cannot be used: {fault.strerror}") from None
        with closing(client):
            try:
                return client.send(
                    "POST",
                    path,
                    headers=headers,
                    body=message.body,
                    deadline=Deadline.after(timeout_s),
                    max_bytes=MAX_ANSWER_BYTES,
                )
            except Unanswered as fault:
                raise Failed(f"no answer from {self.url}: {fault.detail}") from None


def find(options: argparse.Namespace) -> Target:
    """
    Return the route that ``options.route`` names.

    Raises:

        Failed: There is no such route, or the configuration that would say so is faulty.
    """
    if options.url and _has_path(options.url):
        return _target(options, options.url, wire.PROTOCOLS)
    if options.url and options.route.startswith("/"):
        return _target(options, options.url.rstrip("/") + options.route, wire.PROTOCOLS)
    return _of_route(options, named(options.route, configured(shared.read_config(options))))


def named(name: str, routes: Sequence[Route]) -> Route:
    """
    Return the route with that key or public path.

    Raises:

        Failed: There is none.
    """
    for route in routes:
        if name in (route.key, route.public_path):
            return route
    known = ", ".join(f"{route.key} ({route.public_path})" for route in routes)
    raise Failed(f"unknown route {name!r}; there are: {known}", status=2)


def preferred(served: Sequence[str]) -> str:
    """Return the version that is spoken to a route which serves these, unless another is asked for."""
    return next(version for version in wire.PROTOCOLS if version in served)


def find_all(options: argparse.Namespace) -> list[Target]:
    """
    Return every route of the configuration, or the one that a whole URL names.

    Raises:

        Failed: The configuration is faulty.
    """
    if options.url and _has_path(options.url):
        return [_target(options, options.url, wire.PROTOCOLS)]
    return [_of_route(options, route) for route in configured(shared.read_config(options))]


def configured(config: Config) -> tuple[Route, ...]:
    """
    Return the routes of a configuration, those that a portal lists included.

    Raises:

        Failed: The portal does not say what they are.
    """
    with closing(open_source(config, versions=eras.VERSIONS, user_agent=USER_AGENT)) as source:
        try:
            return source.routes(Deadline.after(config.registry.load_timeout_s))
        except SourceFault as fault:
            raise Failed(f"registry.source {config.registry.source}: {fault}") from None


def gateway_url(environ: Mapping[str, str]) -> str:
    """Return where a gateway of this environment is reached from this machine."""
    host = environ.get("HOST") or "127.0.0.1"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        pass  # a name
    else:
        if address.is_unspecified:  # listened on, which no one can call
            host = "127.0.0.1" if address.version == 4 else "::1"
    return f"http://{f'[{host}]' if ':' in host else host}:{environ.get('PORT') or '8080'}"


def _of_route(options: argparse.Namespace, route: Route) -> Target:
    base = options.url.rstrip("/") if options.url else gateway_url(os.environ)
    return _target(options, base + route.public_path, route.protocol_versions)


def _target(options: argparse.Namespace, url: str, served: Sequence[str]) -> Target:
    try:
        url = shared.address(url)
    except argparse.ArgumentTypeError as fault:  # out of HOST and PORT, or a path that the user made up
        raise Failed(str(fault), status=2) from None
    headers = {header.name: header.value for header in options.header}
    return Target(url, options.protocol or preferred(served), headers, options.ca_bundle)


def _has_path(url: str) -> bool:
    return urlsplit(url).path not in ("", "/")


def _split(url: str) -> tuple[str, str]:
    """Return the scheme and authority of *url*, and the rest."""
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}"
    return origin, url.removeprefix(origin)
