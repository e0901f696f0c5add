"""The log: one line for each exchange, and the lines of the other rooms, as JSON or, in profile local, for people."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pythonjsonlogger.msgspec import MsgspecFormatter

from .interaction import Interaction

_exchanges = logging.getLogger("mcp_gateway.exchange")

LEVELS = ("debug", "info", "warning", "error", "critical")
"""What ``MCP_GATEWAY_LOG_LEVEL`` may say, the most talkative first."""

LOGGERS = ("mcp_gateway", "gunicorn.error", "opentelemetry")
"""Whose lines are written, all in one form: those of the gateway, of its server, and of what exports its traces."""

STDERR = 2

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def configure(level: str, *, as_json: bool, descriptor: int = STDERR) -> None:
    """
    Send the log lines of ``LOGGERS`` to standard error, or to another file descriptor.

    Args:

        level: ``debug``, ``info``, ``warning``, ``error`` or ``critical``; anything else counts as ``info``.

        as_json: One JSON object a line; else a line for people.
    """
    handler = OneWrite(descriptor)
    handler.setFormatter(JsonLines() if as_json else PlainLines())
    known = logging.getLevelNamesMapping()
    for logger in map(logging.getLogger, LOGGERS):
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(known.get(level.upper(), logging.INFO))


def write(seen: Interaction) -> None:
    """Write the line of one exchange."""
    if _exchanges.isEnabledFor(logging.INFO):
        # Made by hand: info() would look through the stack for who calls, which no line says.
        record = logging.LogRecord(_exchanges.name, logging.INFO, __file__, 0, "exchange", None, None)
        record.fields = fields(seen)
        _exchanges.handle(record)


def fields(seen: Interaction) -> dict[str, Any]:
    """Return what the line of an exchange says, in its order; what is not known is left out."""
    named = {
        "route": seen.route,
        "revision": seen.revision,
        "method": seen.method,
        "tool": seen.tool,
        "toolService": seen.service,
        "outcome": seen.outcome,
        "reason": seen.reason,
        "status": seen.status,
        "toolStatus": seen.tool_status,
        "durationMs": _tenths(seen.total_ms),
        "queueMs": _tenths(seen.queue_ms),
        "checksMs": _tenths(seen.checks_ms),
        "toolMs": _tenths(seen.tool_ms),
        "bytesIn": seen.bytes_in,
        "bytesOut": seen.bytes_out,
        "guid": seen.guid,
        "requestId": seen.request_id,
        "sessionId": seen.session_id,
        "traceId": seen.trace.trace_id,
    }
    return {name: value for name, value in named.items() if value is not None}


def _tenths(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else round(milliseconds, 1)


class OneWrite(logging.Handler):
    """
    Writes each line with one system call and without a lock, which sixteen threads would queue for.

    A line reaches a file or a pipe whole, as the kernel does not mix what is written at once.

    Args:

        descriptor: Where to, a file descriptor.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor

    def createLock(self) -> None:  # noqa: N802  the name is the standard library's
        """Make none."""
        self.lock = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line of *record*; one that cannot be written is nobody's fault to answer for."""
        try:
            line = memoryview(self.format(record).encode("utf-8", "backslashreplace") + b"\n")
            while line:
                line = line[os.write(self._descriptor, line) :]
        except Exception:
            self.handleError(record)


class JsonLines(MsgspecFormatter):
    """One JSON object a line."""

    def add_fields(self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: Mapping[str, Any]) -> None:
        """Say what the line of *record* says, in its order; *message_dict* holds a traceback, where there is one."""
        log_data["time"] = datetime.fromtimestamp(record.created, UTC)
        log_data["level"] = record.levelname.lower()
        log_data["logger"] = record.name
        log_data["message"] = record.message
        log_data.update(_context(record))
        if "exc_info" in message_dict:
            log_data["exception"] = message_dict["exc_info"]

    def jsonify_log_record(self, log_data: dict[str, Any]) -> str:
        """Write *log_data* as one line for whatever reads lines, a terminal too."""
        line: str = super().jsonify_log_record(log_data)
        return line if line.isascii() and "\x7f" not in line else _CONTROL.sub(_as_json, line)


class PlainLines(logging.Formatter):
    """A line for people: time, level, message, then ``name=value`` for what else there is."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(name)s: %(message)s", "%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  logging calls it so
        """Return the one line of *record*; only a traceback, which comes after it, has lines of its own."""
        words = [super().formatMessage(record), *(f"{name}={value}" for name, value in _context(record).items())]
        return _CONTROL.sub(_escaped, " ".join(words))


def _escaped(found: re.Match[str]) -> str:
    # What a caller or a Tool Service said must neither look like another line nor speak to a terminal.
    return found[0].encode("unicode_escape").decode("ascii")


def _as_json(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _context(record: logging.LogRecord) -> dict[str, Any]:
    found: dict[str, Any] = getattr(record, "fields", {})
    return found
