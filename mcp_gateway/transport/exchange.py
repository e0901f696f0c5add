"""What one HTTP exchange carries down to its socket: how long it may take, and how far it has come."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from ..deadline import Deadline
from .names import HostAddresses


class Phase(Enum):
    """How far an exchange has come; what a fault means depends on it more than on its class."""

    LOOKING_UP = auto()
    CONNECTING = auto()
    SECURING = auto()
    SENDING = auto()
    ANSWERED = auto()


@dataclass(frozen=True, slots=True)
class Peer:
    """
    The service at the other end.

    Args:

        addresses: Where it is.

        connect_timeout_s: What look-up, connect and TLS handshake may take together.

        idle_limit_s: How long a connection may have rested and still be used again; 0: none is.
    """

    addresses: HostAddresses
    connect_timeout_s: float
    idle_limit_s: float


@dataclass(slots=True)
class Exchange:
    """
    One request and its answer, under way in one thread.

    Args:

        peer: Who is asked.

        deadline: Bounds every blocking step.

        phase: How far it has come.

        sent: Some of the request may have left this process.

        settled: Its answer was taken, whole and decoded; only then may its connection be used again.
    """

    peer: Peer
    deadline: Deadline
    phase: Phase = Phase.LOOKING_UP
    sent: bool = False
    settled: bool = False
