"""
How the gateway comes up under gunicorn: the configuration is read in the master, the gateway made in each worker.

Only the first start refuses a faulty configuration. Afterwards (SIGHUP) the master goes on with the last good one, logs
every fault, and hands the faults to the workers, which show them in ``/readyz``.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from .app import Gateway
from .config import load
from .config.load import ConfigFaults
from .config.model import Config
from .observe import logs
from .protocol import eras
from .registry.last_good import NOTHING_KEPT, LastGood

_log = logging.getLogger("mcp_gateway.config")


EVERYWHERE = "0.0.0.0"  # noqa: S104  a container is reached from outside


@dataclass(frozen=True, slots=True)
class Boot:
    """The configuration that is in force, and why a newer one was not taken."""

    config: Config
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """How the server is run, from the environment (contract: configuration, "Environment of the server")."""

    host: str
    port: int
    workers: int
    threads: int
    read_timeout_s: int
    write_timeout_s: int

    @property
    def bind(self) -> str:
        """Where to listen, as gunicorn takes it: an IPv6 address stands in brackets."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


_boot: Boot | None = None
"""What the master has read; workers are forked with it. ``None``: there is no master of ours."""

_last_good: LastGood = NOTHING_KEPT
"""Where workers keep what they have read well, for those to come."""


def settings(environ: Mapping[str, str]) -> Settings:
    """
    Read how the server is run; without ``HOST``, profile local listens on loopback and any other on all addresses.

    Raises:

        ConfigFaults: A variable is no number in its range, one line each, or the configuration is faulty.
    """
    faults: list[str] = []

    def number(name: str, default: int, most: int) -> int:
        text = environ.get(name) or str(default)
        if text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= most:
            return int(text)
        faults.append(f"{name}: must be a whole number from 1 to {most}")
        return default

    port = number("PORT", 8080, 65535)
    workers = number("WEB_CONCURRENCY", os.cpu_count() or 1, 1024)
    threads = number("GUNICORN_THREADS", 256, 4096)
    read_s = number("MCP_GATEWAY_READ_TIMEOUT_S", 10, 3600)
    write_s = number("MCP_GATEWAY_WRITE_TIMEOUT_S", 60, 3600)
    if environ.get("MCP_GATEWAY_LOG_LEVEL", "info").lower() not in logs.LEVELS:
        faults.append(f"MCP_GATEWAY_LOG_LEVEL: must be one of {', '.join(logs.LEVELS)}")
    if faults:
        raise ConfigFaults(faults)
    # gunicorn asks again on SIGHUP, when a configuration that has become faulty must not end the server.
    config = _boot.config if _boot else _read(environ, None)
    host = environ.get("HOST") or ("127.0.0.1" if config.profile == "local" else EVERYWHERE)
    return Settings(host, port, workers, threads, read_s, write_s)


def first(environ: Mapping[str, str], graceful_timeout_s: float) -> None:
    """
    Read the configuration at the first start.

    Raises:

        ConfigFaults: It is faulty; nothing may start.
    """
    global _boot
    _boot = Boot(_read(environ, graceful_timeout_s))
    _speak(environ, _boot.config)


def again(environ: Mapping[str, str], graceful_timeout_s: float) -> None:
    """Read the configuration anew; a faulty one is not taken, and its faults are logged and kept for ``/readyz``."""
    global _boot
    if _boot is None:
        first(environ, graceful_timeout_s)
        return
    try:
        _boot = replace(_boot, config=_read(environ, graceful_timeout_s), faults=())
    except ConfigFaults as faulty:
        _boot = replace(_boot, faults=faulty.faults)
        for fault in faulty.faults:
            _log.error("the new configuration is not taken: %s", fault)
    _speak(environ, _boot.config)


def gateway() -> Gateway:
    """
    Make the gateway of this worker.

    Raises:

        ConfigFaults: There is no master of ours that has read the configuration, and it is faulty.
    """
    boot = _boot or Boot(_read(os.environ, None))
    _speak(os.environ, boot.config)
    return Gateway(boot.config, faults=boot.faults, last_good=_last_good)


def ready() -> None:
    """Make the place for what workers read well; called once the master listens: a start that fails leaves nothing."""
    global _last_good
    _last_good = LastGood(_new_folder())


def end() -> None:
    """Take away what was kept for workers; the master calls it last."""
    if _last_good.folder is not None:
        shutil.rmtree(_last_good.folder, ignore_errors=True)


def _new_folder() -> Path | None:
    """Make a folder that this user alone can read, in memory where there is such a place; ``None``: there is none."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108  mkdtemp makes it private
    try:
        return Path(tempfile.mkdtemp(prefix="mcp-gateway-", dir=memory))
    except OSError as fault:
        _log.warning("manifests cannot be kept for workers to come: %s", fault.strerror)
        return None


def _read(environ: Mapping[str, str], graceful_timeout_s: float | None) -> Config:
    config = load.load(load.locate(environ), environ, versions=eras.VERSIONS)
    faults = () if graceful_timeout_s is None else load.check_budget(config, graceful_timeout_s)
    if faults:
        raise ConfigFaults(faults)
    return config


def _speak(environ: Mapping[str, str], config: Config) -> None:
    logs.configure(environ.get("MCP_GATEWAY_LOG_LEVEL", "info"), as_json=config.profile == "production")
