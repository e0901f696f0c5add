"""Names that are given once each (pure)."""

from __future__ import annotations


class Names:
    """
    Gives each name once: whoever comes second with ``search`` gets ``search_2``.

    Args:

        stem: How much of a name stays in front of a number, in characters; ``None``: all of it.
    """

    def __init__(self, stem: int | None = None) -> None:
        self._stem = stem
        self._given: set[str] = set()
        # The numbers up to this one are all given: thousands who want one name would else each count from the start.
        self._last: dict[str, int] = {}

    def give(self, wanted: str) -> str:
        """Return *wanted*, or where it is given already, its stem with the next number that is free."""
        name, number = wanted, self._last.get(wanted, 1)
        while name in self._given:
            number += 1
            name = f"{wanted[: self._stem]}_{number}"
        self._last[wanted] = number
        self._given.add(name)
        return name
