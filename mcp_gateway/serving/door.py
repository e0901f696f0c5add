"""
A listening socket that connects nobody any more, while those who are connected already can still be taken in.

Closing one resets whoever the system has connected meanwhile and no worker has taken yet: a client that has sent its
request by then cannot know whether it was made. Whoever is not connected at all is simply refused a moment later.
"""

from __future__ import annotations

import ctypes
import socket
import struct
from contextlib import suppress

_SO_ATTACH_FILTER = 26
"""Linux; the socket module has no name for it."""

# A classic BPF program over the TCP header: a segment that asks for a connection (SYN, the second bit of byte 13) is
# dropped, every other passes.
_NO_SYN = b"".join(
    struct.pack("HBBI", *instruction)
    for instruction in (
        (0x30, 0, 0, 13),  # load byte 13
        (0x45, 0, 1, 0x02),  # SYN? else skip one
        (0x06, 0, 0, 0),  # drop
        (0x06, 0, 0, 0xFFFFFFFF),  # pass
    )
)


def close(listener: socket.socket) -> None:
    """Connect nobody any more, in all processes that share *listener*; where the system cannot, everything goes on."""
    program = ctypes.create_string_buffer(_NO_SYN, len(_NO_SYN))
    with suppress(OSError):
        listener.setsockopt(
            socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("HP", len(_NO_SYN) // 8, ctypes.addressof(program))
        )
