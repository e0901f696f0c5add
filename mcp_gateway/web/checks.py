"""The checks before a body is read, each a small pure rule: host, origin, media type, encoding."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from ..faults import HttpFault

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})

_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^:\[\]]+)(?::[0-9]*)?")
_LOOPBACK_ORIGIN = re.compile(r"https?://(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Policy:
    """
    Whom the gateway answers.

    Args:

        hosts: The names that ``Host`` may say; ``None``: any.

        origins: The browser origins that may call.

        loopback_origins: Whether every origin on this machine may call too.
    """

    hosts: Collection[str] | None
    origins: Collection[str]
    loopback_origins: bool

    @classmethod
    def of(cls, profile: str, allowed_hosts: Collection[str], allowed_origins: Collection[str]) -> Policy:
        """Return a configuration's policy: without ``allowed_hosts``, loopback names in local and any elsewhere."""
        local = profile == "local"
        hosts = frozenset(host.lower() for host in allowed_hosts) or (LOOPBACK if local else None)
        return cls(hosts, frozenset(origin.lower() for origin in allowed_origins), local)


def check_host(policy: Policy, host: str | None) -> None:
    """
    Hold ``Host`` to the names that are served; a page of another name must not reach the gateway (DNS rebinding).

    Raises:

        HttpFault: 403.
    """
    if policy.hosts is None:
        return
    found = _HOST.fullmatch((host or "").strip().lower())
    if found is None or found["name"].removesuffix(".") not in policy.hosts:
        raise HttpFault(403, "host_not_allowed", "this Host is not served here (server.allowed_hosts)")


def allows_origin(policy: Policy, origin: str) -> bool:
    """Return whether a browser page of *origin* may call."""
    name = origin.lower()
    return name in policy.origins or (policy.loopback_origins and _LOOPBACK_ORIGIN.fullmatch(name) is not None)


def check_origin(policy: Policy, origin: str | None) -> None:
    """
    Hold ``Origin`` to the allowed ones; a caller that sends none is no browser.

    Raises:

        HttpFault: 403.
    """
    if origin is not None and not allows_origin(policy, origin):
        raise HttpFault(403, "origin_not_allowed", "this Origin may not call (server.allowed_origins)")


def check_media_type(
    content_type: str | None, content_encoding: str | None, transfer_encoding: str | None = None
) -> None:
    """
    Hold the body's declared form to plain JSON, whatever parameters stand behind the type.

    Raises:

        HttpFault: 415.
    """
    essence = (content_type or "").partition(";")[0].strip().lower()
    if essence != "application/json":
        raise HttpFault(415, "unsupported_media_type", "Content-Type must be application/json")
    if content_encoding is not None and content_encoding.strip().lower() not in ("", "identity"):
        raise HttpFault(415, "unsupported_content_encoding", "Content-Encoding must be identity")
    if transfer_encoding is not None and transfer_encoding.strip().lower() != "chunked":
        raise HttpFault(415, "unsupported_transfer_encoding", "Transfer-Encoding must be chunked alone")
