"""The manifest: ``manifest.json`` as it stands, and what the service itself reads from it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from .checking import Schema


@dataclass(frozen=True, slots=True)
class Entry:
    """One tool of the manifest, as far as a call needs it."""

    name: str
    input_schema: Schema


@dataclass(frozen=True, slots=True)
class Manifest:
    """
    The manifest.

    Args:

        text: Its bytes, as served.

        etag: The entity tag of the bytes, in its quotes.

        by_endpoint: The tools by their endpoint.
    """

    text: bytes
    etag: str
    by_endpoint: Mapping[str, Entry]


def load() -> Manifest:
    """Read the manifest that lies beside this module."""
    text = files(__package__).joinpath("manifest.json").read_bytes()
    tools = json.loads(text)["tools"]
    by_endpoint = {tool["endpoint"]: Entry(tool["name"], tool["inputSchema"]) for tool in tools}
    return Manifest(text, f'"{hashlib.sha256(text).hexdigest()[:32]}"', by_endpoint)
