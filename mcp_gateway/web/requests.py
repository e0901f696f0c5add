"""What the gateway reads of a WSGI request: its headers and its body, both without trust."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from gunicorn.http.errors import ParseException

from ..caller import Headers
from ..environ import QUEUED_S, REPEATED
from ..faults import HttpFault

NONE_REPEATED: Mapping[str, tuple[str, ...]] = {}


class EnvironHeaders(Headers):
    """
    The headers of a WSGI request.

    Values are text as latin-1, as WSGI has them; repeated headers were joined with a comma by the server.
    """

    __slots__ = ("_environ",)

    def __init__(self, environ: dict[str, Any]) -> None:
        self._environ = environ

    def get(self, name: str) -> str | None:
        """Return the value of the header *name* (lower case); ``None``: absent."""
        value: str | None = self._environ.get(_variable(name))
        return value

    def each(self, name: str) -> tuple[str, ...]:
        """Return every value of the header *name* (lower case), one for each time it came; empty: absent."""
        variable = _variable(name)
        value: str | None = self._environ.get(variable)
        if value is None:
            return ()
        repeated: Mapping[str, tuple[str, ...]] = self._environ.get(REPEATED, NONE_REPEATED)
        return repeated.get(variable, (value,))


@cache
def _variable(name: str) -> str:
    """Return the WSGI variable that holds the header *name*, one of the few that this package knows."""
    return "HTTP_" + name.replace("-", "_").upper()


def queue_ms(environ: dict[str, Any]) -> float | None:
    """Return how long the request has waited for a thread, in milliseconds; ``None``: the server does not say."""
    queued_s: float | None = environ.get(QUEUED_S)
    return None if queued_s is None else queued_s * 1000


def read_body(environ: dict[str, Any], limit: int) -> bytes:
    """
    Read the body of a request, whole, and never more than *limit* bytes of it.

    Raises:

        HttpFault: 413 when it is longer; 408 when it does not arrive in time; 400 when it ends early or is framed
            wrongly.
    """
    declared = environ.get("CONTENT_LENGTH")
    length = int(declared) if declared else None
    if length is not None and length > limit:
        raise _too_large(limit)
    try:
        body: bytes = environ["wsgi.input"].read(limit + 1 if length is None else length)
    except TimeoutError:
        raise HttpFault(408, "request_timeout", "the body did not arrive in time") from None
    except (OSError, ParseException):
        raise HttpFault(400, "bad_request", "the body could not be read") from None
    if len(body) > limit:
        raise _too_large(limit)
    if length is not None and len(body) != length:
        raise HttpFault(400, "bad_request", "the body is shorter than its Content-Length")
    return body


def _too_large(limit: int) -> HttpFault:
    return HttpFault(413, "payload_too_large", f"the body is longer than {limit} bytes")
