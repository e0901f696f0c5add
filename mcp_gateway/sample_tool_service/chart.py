"""A bar chart as a PNG image, drawn with nothing but ``zlib`` and ``struct``."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

WIDTH = 320
HEIGHT = 160
_BACKGROUND, _BAR, _BELOW, _LINE = range(4)
_PALETTE = bytes((255, 255, 255, 37, 99, 235, 220, 38, 38, 100, 116, 139))
_INDEXED_COLOUR = 3


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _png(rows: Sequence[bytes]) -> bytes:
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, _INDEXED_COLOUR, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows))
    chunks = ((b"IHDR", header), (b"PLTE", _PALETTE), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in chunks)


def draw(values: Sequence[float]) -> bytes:
    """
    Draw one bar for each of *values*, from left to right; zero is a grey line.

    Args:

        values: At least one finite number, and at most one for every three columns of pixels.
    """
    top, bottom = max(0, *values), min(0, *values)
    scale = (HEIGHT - 1) / ((top - bottom) or 1)
    zero = round(top * scale)
    rows = [bytearray(WIDTH) for _ in range(HEIGHT)]
    for index, value in enumerate(values):
        left, right = WIDTH * index // len(values) + 1, WIDTH * (index + 1) // len(values) - 1
        end = zero - round(value * scale)
        colour = _BAR if value > 0 else _BELOW
        for row in rows[max(0, min(zero, end)) : max(zero, end) + 1]:
            row[left:right] = bytes((colour,)) * (right - left)
    rows[zero][:] = bytes((_LINE,)) * WIDTH
    return _png([bytes(row) for row in rows])
