"""
The last good document of each source, kept for the worker that comes next.

A worker that SIGHUP or a crash brings knows nothing yet. When a Tool Service or the portal is down at that moment, the
worker goes on with what an earlier one of the same master has last read well. The folder goes with that master.
"""

from __future__ import annotations

import hashlib
import logging
import os
from dataclasses import dataclass
from pathlib import Path

_log = logging.getLogger("mcp_gateway.registry")


@dataclass(frozen=True, slots=True)
class LastGood:
    """
    Documents by the place that they came from.

    Args:

        folder: Where they are kept, readable by this user alone; ``None``: nowhere.
    """

    folder: Path | None = None

    def keep(self, place: str, text: bytes) -> None:
        """Keep *text*, which has been read well; a full disk is told and otherwise ignored."""
        if self.folder is None:
            return
        target = self._path(self.folder, place)
        # Another worker may write the same at the same moment, and a third read it: nobody must see half a document.
        unfinished = target.with_suffix(f".{os.getpid()}")
        try:
            unfinished.write_bytes(text)
            unfinished.replace(target)
        except OSError as fault:
            _log.warning("a document could not be kept for the workers to come: %s", fault.strerror)

    def find(self, place: str) -> bytes | None:
        """Return what was last kept for *place*; ``None``: nothing."""
        if self.folder is None:
            return None
        try:
            return self._path(self.folder, place).read_bytes()
        except OSError:
            return None

    @staticmethod
    def _path(folder: Path, place: str) -> Path:
        return folder / hashlib.sha256(place.encode("utf-8")).hexdigest()


NOTHING_KEPT = LastGood()
"""For whoever has no earlier workers."""
