"""What can be wrong: with a whole document, or with one operation of it."""

from __future__ import annotations


class Unusable(ValueError):
    """Raised when a document cannot be used as a whole; the message is a clause, or one for each fault by lines."""


class NoTool(ValueError):
    """Raised when an operation cannot be a tool; the message is a clause that says why."""
