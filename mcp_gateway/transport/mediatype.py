"""What an answer says its bytes are, and its bytes as text."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass

_NAME = r"[A-Za-z0-9!#$&^_.+-]+"
_ESSENCE = re.compile(rf"\s*({_NAME}/{_NAME})\s*(?:;|$)")
_CHARSET = re.compile(r";\s*charset\s*=\s*(\"?)([A-Za-z0-9._:+-]{1,40})\1\s*(?:;|$)", re.IGNORECASE)
_ANY_CHARSET = re.compile(r";\s*charset\s*=", re.IGNORECASE)

# Python has these among its text encodings; none of them is one that a service may name: they interpret escapes,
# encode host names, or let through characters that are none.
_NOT_FOR_TEXT = frozenset(("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"))


class NotText(ValueError):
    """Raised when bytes cannot be read as the text they are said to be; the message is a clause for a person."""


@dataclass(frozen=True, slots=True)
class MediaType:
    """
    The media type of an answer.

    Args:

        essence: Type and subtype in lower case; empty when none is declared, or none that can be read.

        charset: The charset it names; empty: one that cannot be read; ``None``: it names none.
    """

    essence: str
    charset: str | None

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> MediaType:
        """Read ``content-type`` among *headers*."""
        declared = headers.get("content-type", "")
        essence = _ESSENCE.match(declared)
        charset = _CHARSET.search(declared)
        unreadable = "" if _ANY_CHARSET.search(declared) else None
        return cls(essence[1].lower() if essence else "", charset[2] if charset else unreadable)

    @property
    def kind(self) -> str:
        """The part before the slash."""
        return self.essence.partition("/")[0]

    @property
    def says_json(self) -> bool:
        """Whether it declares JSON."""
        return self.essence == "application/json" or self.essence.endswith("+json")

    def text(self, body: bytes) -> str:
        """
        Return *body* as text: by the charset that is named, else as UTF-8.

        Raises:

            NotText: The charset is unknown, or the bytes are not of it.
        """
        if self.charset is None:
            return _decode(body, "utf-8")
        try:
            name = codecs.lookup(self.charset).name
            if name in _NOT_FOR_TEXT:
                raise LookupError
            text = _decode(body, name)
            text.encode()
        except (LookupError, UnicodeEncodeError):
            raise NotText("it names a charset that is not known") from None
        return text


def _decode(body: bytes, charset: str) -> str:
    try:
        return body.decode(charset)
    except UnicodeDecodeError as fault:
        raise NotText(f"it is not in the charset {charset} (byte {fault.start})") from None
