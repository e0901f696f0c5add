from __future__ import annotations

import contextlib
import json
import ssl
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import trustme
from cli.doctor.harness import Report, Serve, Walk, service
from cli.harness import Cli, Configure
from peers import Listener, Script


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a Tool Service of a script or of what it does with a call; it ends with the test."""
    with contextlib.ExitStack() as ending:

        def start(script: Script, tls: ssl.SSLContext | None = None) -> Listener:
            return ending.enter_context(Listener(script, tls=tls))

        yield start


@pytest.fixture
def doctor(cli: Cli, configure: Configure) -> Walk:
    """Walk a call to a Tool Service, and read the report for scripts."""

    def walk(
        peer: str | Listener, *arguments: str, load_timeout_s: float = 20, route: Any = None, **changes: Any
    ) -> Report:
        base_url = peer if isinstance(peer, str) else peer.base_url
        configured = service(base_url, **changes)
        core = {"key": "core", "public_path": "/mcp/core", "tool_services": [configured]} | (route or {})
        configure({"registry": {"load_timeout_s": load_timeout_s}, "routes": [core]})
        ran = cli("doctor", "core", *arguments, "--output", "json")
        assert ran.err == ""
        report = Report(json.loads(ran.out))
        assert ran.status == (0 if report["ok"] else 1)
        return report

    return walk


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="session")
def ca_bundle(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("authority") / "ca.pem"
    authority.cert_pem.write_to_path(path)
    return path


@pytest.fixture(scope="session")
def certified(authority: trustme.CA) -> Callable[..., ssl.SSLContext]:
    """Make the TLS settings of a server."""

    def make(host: str = "127.0.0.1", days: int = 300, begins: int = -400) -> ssl.SSLContext:
        now = datetime.now(UTC)
        issued = authority.issue_cert(
            host,
            common_name="core-tools",
            not_before=now + timedelta(days=begins),
            not_after=now + timedelta(days=days, hours=1),
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        issued.configure_cert(context)
        return context

    return make
