"""``mcp-gateway serve``: checks the configuration, then becomes gunicorn."""

from __future__ import annotations

import argparse
import errno
import os
import re
import socket
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from .. import boot
from ..config.load import ConfigFaults
from . import options as shared
from .terminal import Failed

SETTINGS = Path(__file__).resolve().parents[2] / "gunicorn.conf.py"
"""How gunicorn is run. It stands beside the package in a clone and in the image."""

APPLICATION = "mcp_gateway.boot:gateway()"
"""What ``wsgi:app`` is too; named so, a ``wsgi.py`` of the folder that the command is called in is not in its way."""

_LISTENS_ELSEWHERE = re.compile(r"(?:^|\s)(?:-b|--bind|--reuse-port|-c|--config)")
"""What of gunicorn's own arguments may make it listen elsewhere, or beside whoever listens already."""

Execute = Callable[[str, list[str], dict[str, str]], None]

EXAMPLES = """
examples:
  mcp-gateway serve
  mcp-gateway serve --config config/production.yaml --host 0.0.0.0 --port 8080 --workers 2
"""


def add(commands: shared.Commands) -> None:
    """Add the command."""
    command: argparse.ArgumentParser = commands.add_parser(
        "serve",
        help="start the gateway",
        description="Start the gateway in this process, under gunicorn. SIGTERM and Ctrl-C end it; SIGHUP makes it "
        "read its configuration and the manifests anew. The configuration is checked first.",
        epilog=EXAMPLES,
        formatter_class=shared.Help,
    )
    shared.add_config(command)
    command.add_argument(
        "--host", help="address to listen on (default: HOST, else 127.0.0.1 in profile local and 0.0.0.0 in production)"
    )
    command.add_argument("--port", help="port to listen on (default: PORT, else 8080)")
    command.add_argument("--workers", help="worker processes (default: WEB_CONCURRENCY, else one for each CPU)")
    command.add_argument("--threads", help="threads of each worker (default: GUNICORN_THREADS, else 256)")
    command.set_defaults(run=run)


def run(options: argparse.Namespace, execute: Execute = os.execve, settings: Path = SETTINGS) -> int:
    """
    Become gunicorn: when all is well, nothing comes back from here.

    Args:

        execute: Replaces this process.

        settings: gunicorn's settings.

    Raises:

        Failed: The configuration or the environment is faulty, *settings* is not there, or the address is taken.
    """
    shared.read_config(options)
    environ = environment(options, os.environ)
    try:
        server = boot.settings(environ)
    except ConfigFaults as faulty:
        raise Failed("\n".join(faulty.faults)) from None
    if not settings.is_file():
        raise Failed(f"{settings} is not there: serve works from a clone of the project, or in its image")
    if _listens_as_set(environ):
        _refuse_taken(server)
    sys.stdout.flush()
    execute(sys.executable, [sys.executable, "-m", "gunicorn", "-c", str(settings), APPLICATION], environ)
    return 0


def environment(options: argparse.Namespace, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that the settings are read from: what is there already, under what the options say."""
    said = {
        "MCP_GATEWAY_CONFIG": options.config,
        "HOST": options.host,
        "PORT": options.port,
        "WEB_CONCURRENCY": options.workers,
        "GUNICORN_THREADS": options.threads,
    }
    return {**environ, **{name: str(value) for name, value in said.items() if value is not None}}


def _listens_as_set(environ: Mapping[str, str]) -> bool:
    """Say whether gunicorn will listen where the settings say, and not where its arguments or systemd do."""
    return "LISTEN_FDS" not in environ and not _LISTENS_ELSEWHERE.search(environ.get("GUNICORN_CMD_ARGS", ""))


def _refuse_taken(server: boot.Settings) -> None:
    """
    Bind the address as gunicorn will, and let go of it: gunicorn would try for seconds, and say less.

    Raises:

        Failed: It is taken, or cannot be listened on.
    """
    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            # As gunicorn does: connections that are still ending do not keep an address, only who listens there does.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((server.host, server.port))
    except (OSError, TypeError) as fault:
        raise Failed(f"{server.bind} {_why(fault)}; {_other(server.port)}") from None


def _why(fault: OSError | TypeError) -> str:
    if isinstance(fault, TypeError):  # it is no name that could be looked up
        return "is no address"
    if fault.errno == errno.EADDRINUSE:
        return "is taken: another process listens there"
    return f"cannot be listened on: {fault.strerror}"


def _other(port: int) -> str:
    """Return how to choose another address."""
    another = port + 1 if port < 65535 else port - 1
    return f"choose another port (PORT={another} or --port {another}) or another address (HOST or --host)"
