"""
HTTP/1.1 as bytes, for the side that asks (pure: bytes in, values out).

What is read gives the same result however it was cut into pieces on its way. What leaves in doubt where an answer ends
is refused, because the next caller on that connection would get the rest of it. See RFC 9112; of the freedoms that it
gives to a reader, one is taken: a line may end with LF alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum, auto
from typing import NamedTuple
from urllib.parse import quote

MAX_HEAD_BYTES = 65_536
"""Status lines and headers of one answer, with interim answers. Precedents: Node.js 16 KiB, nginx 32 KiB, Go 1 MiB."""

MAX_FIELDS = 100
"""Header fields of one head, as in Python's ``http.client`` and in Apache."""

MAX_LINE_BYTES = 8_192
"""One line between the chunks of a body: a size, perhaps an extension, or a trailer. Precedent: Go 4 KiB."""

_KEPT_BYTES = 200
"""What is kept of an answer that is none: a greeting fits."""

_NAME_CHARACTER = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]"
_NAMES = re.compile(f"{_NAME_CHARACTER}*")
_VALUES = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_PUNCTUATION = "-._~:/?@!$&'()*+,;=%"
_TARGET = re.compile(rf"[0-9A-Za-z{re.escape(_PUNCTUATION)}]*")

_STATUS_LINE = re.compile(rb"HTTP/([0-9.]+) ([1-9][0-9]{2})(?: [^\r\n]*+)?\r?\n")
_EMPTY_LINE = re.compile(rb"\n\r?\n")
_FIELDS = re.compile(rf"(?:{_NAME_CHARACTER}++:[^\r\n\0]*+\r?\n)*+".encode())
_LENGTH = re.compile(r"[0-9]{1,19}")
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\0]*)?")

_PROTOCOL = b"HTTP/"
_VERSIONS = (b"1.0", b"1.1")
_SWITCHING_PROTOCOLS = 101
_OK = 200
_WITHOUT_BODY = (204, 304)


class ForbiddenHeader(ValueError):
    """Raised when a request has a header that HTTP forbids."""


class Unreadable(ValueError):
    """Raised when an answer cannot be read; ``detail`` is the clause that says why."""

    detail: str


class NoAnswer(Unreadable):
    """
    What came does not even begin as an HTTP answer does.

    Args:

        came: What came. Its beginning is kept for whoever looks for the fault, and is in no message.
    """

    detail = "what came back is no HTTP answer"

    def __init__(self, came: bytes = b"") -> None:
        super().__init__()
        self.came = came[:_KEPT_BYTES]


class BadHead(Unreadable):
    """The head is too long, or in a version of HTTP that nobody asked for."""

    detail = "the head of its answer is too long or malformed"


class Doubtful(Unreadable):
    """The answer leaves in doubt what it says or where it ends."""

    detail = "its answer is not valid HTTP"


class BrokenOff(Unreadable):
    """The answer ends, or no longer makes sense, before its end."""

    detail = "its answer broke off before its end"


class Head(NamedTuple):
    """
    The head of one answer.

    Args:

        status: The status code.

        headers: Lower-case names; repeated ones joined with a comma. Values are text as latin-1.

        length: How long the body is; ``None``: its chunks say so, or else the end of the connection.

        chunked: Whether the body comes in chunks.

        keeps: Whether the connection may be used again once the body has been read to its end.

        size: How many bytes the head has.
    """

    status: int
    headers: dict[str, str]
    length: int | None
    chunked: bool
    keeps: bool
    size: int

    @property
    def is_interim(self) -> bool:
        """Whether another head follows. ``101`` is none of these: what follows it is no HTTP."""
        return self.status < _OK and self.status != _SWITCHING_PROTOCOLS


def request_target(path: str) -> str:
    """Return path and query as they go into a request, what a URL cannot hold percent-encoded."""
    return path if _TARGET.fullmatch(path) else quote(path, safe=_PUNCTUATION)


def request_head(method: str, target: str, host: str, headers: Mapping[str, str]) -> bytes:
    """
    Return the head of a request.

    Args:

        target: As ``request_target`` returns it.

        host: Goes into ``Host`` unless *headers* has one.

        headers: Values are text as latin-1.

    Raises:

        ForbiddenHeader: HTTP forbids one of the names or values, or two headers together.
    """
    names = {name.lower() for name in headers}
    # What may stand in a name, or in a value, is a matter of single characters: one look at all of them will do.
    if "" in names or not _NAMES.fullmatch("".join(headers)) or not _VALUES.fullmatch("".join(headers.values())):
        raise ForbiddenHeader("a name or a value has a forbidden character")
    if len(names) < len(headers) or "transfer-encoding" in names:
        raise ForbiddenHeader("a header is there twice, or contradicts the body's length")
    lines = [f"{name}: {value}\r\n" for name, value in headers.items()]
    if "host" not in names:
        lines.insert(0, f"Host: {host}\r\n")
    return f"{method} {target} HTTP/1.1\r\n{''.join(lines)}\r\n".encode("latin-1")


def read_head(data: bytes, limit: int = MAX_HEAD_BYTES) -> Head | None:
    """
    Return the head with which *data* begins; ``None`` while more of it must come.

    Args:

        limit: How many bytes it may have.

    Raises:

        Unreadable: It is none, or none that is taken.
    """
    line = _STATUS_LINE.match(data, 0, limit)
    if line is None:
        if data.find(b"\n", 0, limit) >= 0:
            raise NoAnswer(data)
        _refuse_length(data, limit)
        return None
    version, status = line.groups()
    if version not in _VERSIONS:
        raise BadHead
    end = _EMPTY_LINE.search(data, line.end() - 1, limit)
    if end is None:
        _refuse_length(data, limit)
        return None
    headers = _read_fields(data[line.end() : end.start() + 1])
    return _framed(version, int(status), headers, end.end())


def begun(data: bytes) -> int | None:
    """
    Return the status with which an answer began that will not come whole; ``None``: it did not come so far.

    Args:

        data: What came of it; interim answers have been taken off.

    Raises:

        NoAnswer: No HTTP answer begins like that.
    """
    if not _PROTOCOL.startswith(data[: len(_PROTOCOL)]):
        raise NoAnswer(data)
    line = _STATUS_LINE.match(data)
    status = int(line[2]) if line else 0
    return status if status >= _OK or status == _SWITCHING_PROTOCOLS else None


def _refuse_length(data: bytes, limit: int) -> None:
    if len(data) >= limit:
        raise BadHead


def _read_fields(block: bytes) -> dict[str, str]:
    if not _FIELDS.fullmatch(block):
        raise Doubtful
    lines = block.decode("latin-1").split("\n")
    lines.pop()
    if len(lines) > MAX_FIELDS:
        raise BadHead
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        name, value = name.lower(), value.strip(" \t\r")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _framed(version: bytes, status: int, headers: dict[str, str], size: int) -> Head:
    """Say where an answer ends (RFC 9112, section 6.3)."""
    length, chunked = _length(headers), _is_chunked(headers)
    if chunked and length is not None:
        raise Doubtful
    if status in _WITHOUT_BODY or status < _OK:
        length, chunked = 0, False
    ends = chunked or length is not None
    keeps = ends and version == b"1.1" and "close" not in _members(headers.get("connection", ""))
    return Head(status, headers, length, chunked, keeps, size)


def _length(headers: Mapping[str, str]) -> int | None:
    if "content-length" not in headers:
        return None
    said = _members(headers["content-length"])
    length = said.pop()
    if said or not _LENGTH.fullmatch(length):
        raise Doubtful
    return int(length)


def _is_chunked(headers: Mapping[str, str]) -> bool:
    coding = headers.get("transfer-encoding")
    if coding is not None and coding.lower() != "chunked":
        raise Doubtful
    return coding is not None


def _members(value: str) -> set[str]:
    return {member.strip(" \t") for member in value.lower().split(",")}


class _Expected(Enum):
    """What a line between chunks must be."""

    SIZE = auto()
    END_OF_CHUNK = auto()
    TRAILER = auto()


class Chunks:
    """
    Takes the chunks of a body apart as they come.

    ``ended`` is set when the last one and the trailers behind it, which are dropped, have come; ``behind`` is then what
    follows the body.
    """

    def __init__(self) -> None:
        self.ended = False
        self.behind = b""
        self._left = 0
        self._expected = _Expected.SIZE

    def feed(self, data: bytes) -> bytes:
        """
        Return what *data* brings of the body.

        Raises:

            Unreadable: It is not what chunks look like.
        """
        data = self.behind + data
        body: list[bytes] = []
        at = 0
        while not self.ended:
            if self._left:
                body.append(data[at : at + self._left])
                at += len(body[-1])
                self._left -= len(body[-1])
                if self._left:
                    break
            end = data.find(b"\n", at)
            if (end if end >= 0 else len(data)) - at > MAX_LINE_BYTES:
                raise Doubtful
            if end < 0:
                break
            self._take_line(data[at:end].removesuffix(b"\r"))
            at = end + 1
        self.behind = data[at:]
        return b"".join(body)

    def _take_line(self, line: bytes) -> None:
        if self._expected is _Expected.SIZE:
            size = _CHUNK_SIZE.fullmatch(line)
            if size is None:
                raise BrokenOff
            self._left = int(size[1], 16)
            self._expected = _Expected.END_OF_CHUNK if self._left else _Expected.TRAILER
        elif self._expected is _Expected.TRAILER:
            self.ended = not line
        elif line:
            raise BrokenOff
        else:
            self._expected = _Expected.SIZE
