"""The static files of the console, read once: no request ever names a file on the disk."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}

INDEX = "index.html"


@dataclass(frozen=True, slots=True)
class Assets:
    """
    The files by their names.

    Args:

        files: The bytes of each.

        digest: Names this set of files in their addresses, so that a browser may keep them for ever.
    """

    files: Mapping[str, bytes]
    digest: str

    @classmethod
    def read(cls) -> Assets:
        """Read the files that the package brings."""
        folder = resources.files(__package__).joinpath("static")
        files = {file.name: file.read_bytes() for file in folder.iterdir()}
        digest = hashlib.sha256()
        for name in sorted(files):
            digest.update(name.encode() + b"\0" + files[name] + b"\0")
        return cls(files, digest.hexdigest()[:16])

    def index(self, *, locked: bool) -> bytes:
        """Return the one page; *locked* tells it to ask for the token before it asks for anything else."""
        folder = f"/console/assets/{self.digest}"
        # Named at once, or a browser would find out about each module from another one.
        modules = [
            f'<link rel="modulepreload" href="{folder}/{name}">' for name in sorted(self.files) if name.endswith(".js")
        ]
        filled = {"{assets}": folder, "{modules}": "\n  ".join(modules), "{locked}": "true" if locked else "false"}
        page = self.files[INDEX].decode("utf-8")
        for mark, text in filled.items():
            page = page.replace(mark, text)
        return page.encode("utf-8")


def media_type(name: str) -> str:
    """Return the media type of the file *name*, which is one of ``Assets.files``."""
    return TYPES[name.rpartition(".")[2]]
