"""A peer and a client for each test, ended with it."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from peers import Listener, Script

from mcp_gateway.transport.http import HttpClient

Serve = Callable[..., Listener]
Connect = Callable[..., HttpClient]


@pytest.fixture
def ending() -> Iterator[contextlib.ExitStack]:
    """What is entered here ends with the test."""
    with contextlib.ExitStack() as stack:
        yield stack


@pytest.fixture
def serve(ending: contextlib.ExitStack) -> Serve:
    """Start a peer with the given scripts."""

    def start(*scripts: Script, tls: ssl.SSLContext | None = None) -> Listener:
        return ending.enter_context(Listener(*scripts, tls=tls))

    return start


@pytest.fixture
def connect(ending: contextlib.ExitStack) -> Connect:
    """Make a client for a peer (or for any base URL)."""

    def make(where: Listener | str, **options: Any) -> HttpClient:
        base_url = where if isinstance(where, str) else where.base_url
        settings = {"connect_timeout_s": 2.0, "pool_size": 4, "ca_bundle": None, "headers": {}, **options}
        return ending.enter_context(contextlib.closing(HttpClient(base_url, **settings)))

    return make


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    """A certificate authority that nobody trusts unless told to."""
    return trustme.CA()


@pytest.fixture(scope="session")
def ca_bundle(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its certificate, as a file."""
    path = tmp_path_factory.mktemp("ca") / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return path


@pytest.fixture(scope="session")
def certified(authority: trustme.CA) -> Callable[[str], ssl.SSLContext]:
    """Make a server's TLS context with a certificate for a host."""

    def make(host: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(host).configure_cert(context)
        return context

    return make
