"""
The budget of one call as a point in time, made once and handed down to the socket.

A leaf: it knows the monotonic clock and nothing else.
"""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Deadline:
    """
    A moment on the monotonic clock after which nothing may be waited for.

    Args:

        end: The moment, in seconds of ``time.monotonic()``.
    """

    end: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """Make the deadline that lies *seconds* from now."""
        return cls(time.monotonic() + seconds)

    def within(self, seconds: float) -> Deadline:
        """Return the earlier of this deadline and the one *seconds* from now."""
        return Deadline(min(self.end, time.monotonic() + seconds))

    def left(self) -> float:
        """Return the seconds that are left; zero or less when the deadline has passed."""
        return self.end - time.monotonic()

    def timeout(self) -> float:
        """
        Return the seconds that are left, for a blocking step.

        Raises:

            TimeoutError: The deadline has passed.
        """
        left = self.end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time budget is used up")
        return left
