"""Undo an answer's content coding without ever holding more than was asked for."""

from __future__ import annotations

import zlib

_GZIP = zlib.MAX_WBITS | 16
_CODINGS: dict[str, tuple[int, ...]] = {
    "gzip": (_GZIP,),
    "x-gzip": (_GZIP,),
    # Some senders leave out the zlib wrapper that HTTP asks for.
    "deflate": (zlib.MAX_WBITS, -zlib.MAX_WBITS),
}


class CannotDecode(ValueError):
    """Raised when a body is not what its content coding says; the message completes "its answer …"."""


class TooLarge(ValueError):
    """Raised when a body is larger than the limit, as it came or decoded."""


def decode(body: bytes, coding: str, max_bytes: int) -> bytes:
    """
    Return *body* without its content coding.

    Args:

        body: The bytes as they came.

        coding: The value of ``Content-Encoding``; empty: there is none.

        max_bytes: What the decoded body may have.

    Raises:

        CannotDecode: The coding is not understood, or the body is broken, short, or longer than its coding says.
        TooLarge: The decoded body would be larger than *max_bytes*.
    """
    name = coding.strip().lower()
    if not body or name in ("", "identity"):
        return body
    if name not in _CODINGS:
        raise CannotDecode("has a content coding that is not understood")
    for window in _CODINGS[name]:
        inflater = zlib.decompressobj(window)
        try:
            decoded = inflater.decompress(body, max_bytes + 1)
        except zlib.error:
            continue
        if len(decoded) > max_bytes:
            raise TooLarge
        if inflater.eof and not inflater.unused_data:
            return decoded
    raise CannotDecode("is not what its content coding says")
