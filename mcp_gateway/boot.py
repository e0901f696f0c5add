"""
How the gateway comes up under gunicorn: the configuration is read in the master, the gateway made in each worker.

Only the first start refuses a faulty configuration. Afterwards (SIGHUP) the master goes on with the last good one, logs
every fault, and hands the faults to the workers, which show them in ``/readyz``.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from . import __version__, scratch
from .app import Gateway
from .config import load
from .config.load import ConfigFaults
from .config.model import Config
from .observe import logs, metrics, tracing
from .observe.seats import Seat, Seats
from .protocol import eras
from .registry.last_good import NOTHING_KEPT, LastGood
from .scratch import Scratch
from .timings import PRODUCTION_DRAIN_S, Given, Timings

_log = logging.getLogger("mcp_gateway.config")


EVERYWHERE = "0.0.0.0"  # noqa: S104  a container is reached from outside

DRAIN = "MCP_GATEWAY_DRAIN_S"
THREADS = "GUNICORN_THREADS"
USUAL_THREADS = 256


@dataclass(frozen=True, slots=True)
class Boot:
    """
    The configuration that is in force, and why a newer one was not taken.

    Args:

        timings: The server's times since its first start. Whatever stops it from outside was set by them, so a newer
            configuration may ask for less time, and not for more.
    """

    config: Config
    timings: Timings
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
    timings: Timings
    as_json: bool

    @property
    def bind(self) -> str:
        """Where to listen, as gunicorn takes it: an IPv6 address stands in brackets."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


_boot: Boot | None = None
"""What the master has read; workers are forked with it. ``None``: there is no master of ours."""

_scratch: Scratch | None = None
"""The folder of this master and its workers; ``None``: there is none."""

_last_good: LastGood = NOTHING_KEPT
"""Where workers keep what they have read well, for those to come."""

_seats: Seats | None = None
"""Where workers count; ``None``: nowhere."""

_seat: Seat | None = None
"""Where the worker counts that is forked next; in a worker, its own."""


def settings(environ: Mapping[str, str]) -> Settings:
    """
    Read how the server is run; without ``HOST``, profile local listens on loopback and any other on all addresses.

    Raises:

        ConfigFaults: A variable is no number in its range, one line each, or the configuration is faulty.
    """
    faults: list[str] = []

    def number(name: str, default: int, most: int, least: int = 1) -> int:
        text = environ.get(name) or str(default)
        if text.isascii() and text.isdigit() and least <= int(text[:9]) <= most:
            return int(text)
        faults.append(f"{name}: must be a whole number from {least} to {most}")
        return default

    port = number("PORT", 8080, 65535)
    workers = number("WEB_CONCURRENCY", os.cpu_count() or 1, 1024)
    threads = number(THREADS, USUAL_THREADS, 4096)
    read_s = number("MCP_GATEWAY_READ_TIMEOUT_S", 10, 3600)
    write_s = number("MCP_GATEWAY_WRITE_TIMEOUT_S", 60, 3600)
    number(DRAIN, 0, 3600, least=0)
    if environ.get("MCP_GATEWAY_LOG_LEVEL", "info").lower() not in logs.LEVELS:
        faults.append(f"MCP_GATEWAY_LOG_LEVEL: must be one of {', '.join(logs.LEVELS)}")
    if faults:
        raise ConfigFaults(faults)
    # gunicorn asks again on SIGHUP, when a configuration that has become faulty must not end the server.
    config = _boot.config if _boot else _read(environ)
    timings = _boot.timings if _boot else _timings(config, _drain_s(environ, config))
    host = environ.get("HOST") or ("127.0.0.1" if config.profile == "local" else EVERYWHERE)
    return Settings(host, port, workers, threads, read_s, write_s, timings, _as_json(config))


def first(environ: Mapping[str, str], given: Given) -> None:
    """
    Read the configuration at the first start.

    Args:

        given: The times that gunicorn goes by.

    Raises:

        ConfigFaults: It is faulty, or gunicorn's times do not fit it; nothing may start.
    """
    global _boot
    config = _read(environ)
    timings = _timings(config, _drain_s(environ, config))
    _check(config, timings, given)
    _boot = Boot(config, timings)
    _speak(environ, config)
    _warn(environ, config)


def again(environ: Mapping[str, str], given: Given) -> None:
    """Read the configuration anew; a faulty one is not taken, and its faults are logged and kept for ``/readyz``."""
    global _boot
    if _boot is None:
        first(environ, given)
        return
    try:
        config = _read(environ)
        _check(config, _timings(config, _boot.timings.drain_s), given)
        _boot = replace(_boot, config=config, faults=())
    except ConfigFaults as faulty:
        _boot = replace(_boot, faults=faulty.faults)
        for fault in faulty.faults:
            _log.error("the new configuration is not taken: %s", fault)
    _speak(environ, _boot.config)
    _warn(environ, _boot.config)


def warnings(environ: Mapping[str, str], config: Config) -> tuple[str, ...]:
    """Return what of a configuration is legal and harmful with the server that the environment asks for, in lines."""
    said = environ.get(THREADS, "")
    return load.crowded(config.routes, int(said) if said.isascii() and said.isdigit() else USUAL_THREADS)


def gateway() -> Gateway:
    """
    Make the gateway of this worker.

    Raises:

        ConfigFaults: There is no master of ours that has read the configuration, and it is faulty.
    """
    config, faults = (_boot.config, _boot.faults) if _boot else (_read(os.environ), ())
    _speak(os.environ, config)
    counted = metrics.of(_seat)
    return Gateway(
        config,
        faults=faults,
        last_good=_last_good,
        sinks=(logs.write, counted.exchange),
        metrics=counted,
        tracer=tracing.tracer(os.environ, __version__),
    )


def ready() -> None:
    """Make the place for what workers leave behind, once the master listens: a start that fails leaves nothing."""
    global _scratch, _last_good, _seats
    for folder in scratch.sweep():
        _log.info("%s was left by a server that was killed, and is taken away", folder)
    try:
        _scratch = Scratch.make()
    except OSError as fault:
        _log.warning("manifests cannot be kept for workers to come, and nothing is counted: %s", fault.strerror)
        return
    _last_good, _seats = LastGood(_scratch.folder), Seats(_scratch.folder / "metrics")


def seat(worker: int) -> None:
    """Give the worker of that number a place to count; the master calls it before it forks one."""
    global _seat
    _seat = None if _seats is None else _seats.take(worker)


def left(worker: int) -> None:
    """Note that the worker of that number is gone, however it ended."""
    if _seats is not None:
        _seats.leave(worker)


def end() -> None:
    """Take away what was kept for workers; the master calls it last."""
    global _scratch
    if _scratch is not None:
        _scratch.remove()
        _scratch = None


def _read(environ: Mapping[str, str]) -> Config:
    return load.load(load.locate(environ), environ, versions=eras.VERSIONS)


def _warn(environ: Mapping[str, str], config: Config) -> None:
    for warning in warnings(environ, config):
        _log.warning("%s", warning)


def _drain_s(environ: Mapping[str, str], config: Config) -> float:
    usual = 0.0 if config.profile == "local" else PRODUCTION_DRAIN_S  # who stops it at a desk waits for nothing
    return float(environ.get(DRAIN) or usual)


def _timings(config: Config, drain_s: float) -> Timings:
    return Timings.of(config.limits.interaction_timeout_s, drain_s)


def _check(config: Config, timings: Timings, given: Given) -> None:
    if faults := timings.contradictions(given, config.registry.load_timeout_s):
        raise ConfigFaults(faults)


def _speak(environ: Mapping[str, str], config: Config) -> None:
    logs.configure(environ.get("MCP_GATEWAY_LOG_LEVEL", "info"), as_json=_as_json(config))


def _as_json(config: Config) -> bool:
    return config.profile == "production"
