"""What one HTTP exchange carries down to its socket: how long it may take, and how far it has come."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from ..deadline import Deadline


class Phase(Enum):
    """How far an exchange has come; what a fault means depends on it more than on its class."""

    LOOKING_UP = auto()
    CONNECTING = auto()
    SECURING = auto()
    SENDING = auto()
    ANSWERED = auto()


@dataclass(slots=True)
class Exchange:
    """
    One request and its answer, under way in one thread.

    Args:

        deadline: Bounds every blocking step.

        phase: How far it has come.

        sent: Some of the request may have left this process.

        status: The status that the answer began with; ``None``: it has not begun.

        settled: Its answer was taken, whole and decoded; only then may its connection be used again.
    """

    deadline: Deadline
    phase: Phase = Phase.LOOKING_UP
    sent: bool = False
    status: int | None = None
    settled: bool = False
