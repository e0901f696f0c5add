"""The log: one line for each exchange, and the lines of the other rooms, as JSON or, in profile local, for people."""

from __future__ import annotations

import logging
import os
import re
from datetime import UTC, datetime
from typing import Any

from .. import jsontext
from .interaction import Interaction

_exchanges = logging.getLogger("mcp_gateway.exchange")

LEVELS = ("debug", "info", "warning", "error", "critical")
"""What ``MCP_GATEWAY_LOG_LEVEL`` may say, the most talkative first."""

STDERR = 2

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def configure(level: str, *, as_json: bool, descriptor: int = STDERR) -> None:
    """
    Send the package's log lines to standard error, or to another file descriptor.

    Args:

        level: ``debug``, ``info``, ``warning``, ``error`` or ``critical``; anything else counts as ``info``.

        as_json: One JSON object a line; else a line for people.
    """
    handler = OneWrite(descriptor)
    handler.setFormatter(JsonLines() if as_json else PlainLines())
    package = logging.getLogger("mcp_gateway")
    package.handlers[:] = [handler]
    package.propagate = False
    known = logging.getLevelNamesMapping()
    package.setLevel(known.get(level.upper(), logging.INFO))


def write(seen: Interaction) -> None:
    """Write the line of one exchange."""
    if _exchanges.isEnabledFor(logging.INFO):
        _exchanges.info("exchange", extra={"fields": fields(seen)})


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
        """Write the line of *record*; a log that cannot be written is nobody's fault to answer for."""
        line = memoryview(self.format(record).encode("utf-8", "backslashreplace") + b"\n")
        try:
            while line:
                line = line[os.write(self._descriptor, line) :]
        except OSError:
            self.handleError(record)


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of *record*."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_context(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return jsontext.encode(line).decode("utf-8")


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


def _context(record: logging.LogRecord) -> dict[str, Any]:
    found: dict[str, Any] = getattr(record, "fields", {})
    return found
