"""The gateway in front of the sample Tool Service, both in this process, over real sockets."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from werkzeug.serving import WSGIRequestHandler, make_server

from mcp_gateway import sample_tool_service
from mcp_gateway.app import Gateway
from mcp_gateway.config.model import Config, Route, ToolService
from mcp_gateway.protocol.eras import VERSIONS
from mcp_gateway.registry.snapshots import Snapshots
from mcp_gateway.sample_tool_service.main import started

HANDBOOK = Path(sample_tool_service.__file__).parent / "handbook"


@dataclass(frozen=True)
class Stack:
    """Where the two answer."""

    port: int
    tool_service_port: int


class _Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002  the name is werkzeug's
        """Say nothing: a test's own output is what should be read."""


@contextmanager
def sample_stack() -> Iterator[Stack]:
    """Run both until the end of the ``with``; the route is ``/mcp/core``."""
    with ExitStack() as ends:
        data = Path(ends.enter_context(tempfile.TemporaryDirectory())) / "notes.db"
        service = ends.enter_context(started("127.0.0.1", 0, HANDBOOK, data))
        ends.enter_context(_serving(service.serve_forever, service.shutdown))
        url = f"http://127.0.0.1:{service.server_port}"
        route = Route("core", "/mcp/core", (ToolService("core-tools", url),), VERSIONS, title="Core tools")
        gateway = Gateway(Config(routes=(route,)), store=Snapshots())
        gateway.start()
        ends.callback(gateway.stop)
        server = make_server("127.0.0.1", 0, gateway, threaded=True, request_handler=_Quiet)
        ends.callback(server.server_close)
        ends.enter_context(_serving(server.serve_forever, server.shutdown))
        yield Stack(server.server_port, service.server_port)


@contextmanager
def _serving(serve: Any, stop: Any) -> Iterator[None]:
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop()
        thread.join()
