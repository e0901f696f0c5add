"""Loopback ports for servers that have to keep theirs."""

from __future__ import annotations

import random
import socket

# Below the range from which systems take the source ports of outgoing connections (32768 on Linux, 49152 elsewhere):
# a connection to a service that is down could otherwise be given the very port it is meant for, and meet itself.
FIRST, LAST = 20_000, 32_000


def free_port() -> int:
    """Return a loopback port that nobody listens on at this moment."""
    for _ in range(200):
        port = random.randint(FIRST, LAST)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError(f"no free port between {FIRST} and {LAST}")
