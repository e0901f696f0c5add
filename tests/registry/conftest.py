from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from registry.samples import DocumentServer


@pytest.fixture
def serve() -> Iterator[Callable[..., DocumentServer]]:
    """Start servers of one document each; all end with the test."""
    servers: list[DocumentServer] = []

    def start(document: bytes = b"", **options: Any) -> DocumentServer:
        servers.append(DocumentServer(document, **options))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()
