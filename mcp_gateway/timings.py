"""
How long the server is patient with whom, all of it from one number: how long a call may take.

A leaf. gunicorn is set from it (``gunicorn.conf.py``), and so is whatever stops the server from outside (contract:
configuration, "How a stop goes").
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

PRODUCTION_DRAIN_S = 15.0
"""
The usual drain period in production. Readiness has to be seen failing (Kubernetes asks every 5 s, twice) and to reach
whoever sends requests before nobody listens any more.
"""

AFTER_CALLS_S = 10.0
"""What a worker has beyond the longest call, to write the answer and to end."""

AFTER_GRACE_S = 5.0
"""What the master has beyond the last worker before it is killed from outside."""

PROXY_IDLE_S = 60
"""The usual idle time after which proxies close a kept connection (nginx, AWS ALB); they must be the first to."""


class Given(Protocol):
    """What gunicorn goes by, under gunicorn's names; its command line can differ from its file."""

    graceful_timeout: int
    timeout: int
    keepalive: int


@dataclass(frozen=True, slots=True)
class Timings:
    """
    The server's times, in seconds.

    Args:

        drain_s: How long a server that is told to stop says so in ``/readyz`` and still takes connections.

        graceful_timeout_s: How long a worker that is told to stop has in all; gunicorn's ``graceful_timeout``.

        grace_period_s: What must pass at least between SIGTERM and SIGKILL from outside: Kubernetes'
            ``terminationGracePeriodSeconds``, compose's ``stop_grace_period``, systemd's ``TimeoutStopSec``.

        keepalive_s: How long a connection may rest between two requests; gunicorn's ``keepalive``.

        heartbeat_s: How long a worker may give no sign of life; gunicorn's ``timeout``. Not the time of a call: its
            threads may all be waiting.
    """

    drain_s: float
    graceful_timeout_s: int
    grace_period_s: int
    keepalive_s: int = 75
    heartbeat_s: int = 60

    @classmethod
    def of(cls, interaction_timeout_s: float, drain_s: float) -> Timings:
        """
        Return the times that go together.

        Args:

            interaction_timeout_s: How long a call may take in all, ``limits.interaction_timeout_s``.

            drain_s: The drain period, ``MCP_GATEWAY_DRAIN_S``.
        """
        graceful = math.ceil(drain_s + interaction_timeout_s + AFTER_CALLS_S)
        return cls(drain_s, graceful, math.ceil(graceful + AFTER_GRACE_S))

    def contradictions(self, given: Given, load_timeout_s: float) -> tuple[str, ...]:
        """
        Return a readable line for each of gunicorn's own settings under which calls or connections would be cut.

        Args:

            given: What gunicorn goes by.

            load_timeout_s: How long a worker may take to load its tools, silent, ``registry.load_timeout_s``.
        """
        faults = []
        if given.graceful_timeout < self.graceful_timeout_s:
            faults.append(
                f"limits.interaction_timeout_s: needs gunicorn's graceful_timeout to be at least "
                f"{self.graceful_timeout_s} s (with {self.drain_s:g} s to drain and {AFTER_CALLS_S:g} s to end), not "
                f"{given.graceful_timeout} s, or calls under way are cut when a worker stops"
            )
        if 0 < given.timeout <= load_timeout_s:
            faults.append(
                f"registry.load_timeout_s: must be less than gunicorn's timeout ({given.timeout} s), or a worker is "
                "killed while it loads its tools"
            )
        if 0 < given.keepalive <= PROXY_IDLE_S:
            faults.append(
                f"keepalive: must be 0 or more than {PROXY_IDLE_S} s, not {given.keepalive} s, or a proxy sends into a "
                "connection that is being closed"
            )
        return tuple(faults)
