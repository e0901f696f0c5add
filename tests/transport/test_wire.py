"""HTTP/1.1 as bytes, written and read."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_gateway.transport import wire
from mcp_gateway.transport.wire import (
    MAX_FIELDS,
    MAX_HEAD_BYTES,
    MAX_LINE_BYTES,
    BadHead,
    BrokenOff,
    Chunks,
    Doubtful,
    ForbiddenHeader,
    Head,
    NoAnswer,
    Unreadable,
)

OK = b"HTTP/1.1 200 OK\r\n"


def written(**headers: str) -> bytes:
    return wire.request_head("POST", "/x", "tools.example", headers)


def read(*fields: str, status_line: str = "HTTP/1.1 200 OK") -> Head:
    data = "\r\n".join([status_line, *fields, "", ""]).encode("latin-1")
    head = wire.read_head(data)
    assert head is not None
    assert head.size == len(data)
    return head


# The request


def test_a_head_is_written_as_it_was_given() -> None:
    assert wire.request_head("POST", "/x?y=1", "tools.example:81", {"guid": "g", "X-Empty": ""}) == (
        b"POST /x?y=1 HTTP/1.1\r\nHost: tools.example:81\r\nguid: g\r\nX-Empty: \r\n\r\n"
    )


def test_a_request_needs_no_header_but_its_host() -> None:
    assert written() == b"POST /x HTTP/1.1\r\nHost: tools.example\r\n\r\n"


def test_a_host_that_is_given_is_the_only_one() -> None:
    assert written(host="other") == b"POST /x HTTP/1.1\r\nhost: other\r\n\r\n"


def test_a_value_goes_out_as_latin_1() -> None:
    assert b"x: \xed\x95\x9c \t~\r\n" in written(x="\u00ed\u0095\u009c \t~")


@pytest.mark.parametrize("name", ["", "x a", "x:", "x\r\ny", "x\0", "한", "x\u00e9"])
def test_a_name_that_is_no_token_is_refused(name: str) -> None:
    with pytest.raises(ForbiddenHeader):
        written(**{"x-a": "1", name: "1"})


@pytest.mark.parametrize("value", ["a\r\nx: y", "a\n", "\r", "a\r\n b", "\0", "\x1b[0m", "\x7f", "답", "\udc80"])
def test_a_value_that_http_forbids_is_refused(value: str) -> None:
    with pytest.raises(ForbiddenHeader):
        written(**{"x-a": "1", "x-b": value})


@pytest.mark.parametrize("headers", [{"guid": "1", "GUID": "2"}, {"Transfer-Encoding": "chunked"}])
def test_headers_that_contradict_each_other_are_refused(headers: dict[str, str]) -> None:
    with pytest.raises(ForbiddenHeader):
        written(**headers)


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=8), max_size=4))
def test_whatever_is_given_comes_to_one_line_each_or_to_a_refusal(headers: dict[str, str]) -> None:
    try:
        head = written(**headers)
    except ForbiddenHeader:
        return
    lines = head.decode("latin-1").split("\r\n")
    assert lines[-2:] == ["", ""]
    assert {f"{name}: {value}" for name, value in headers.items()} <= set(lines)
    assert len(lines) == len(headers) + (3 if "host" in map(str.lower, headers) else 4)


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/a-b/c.d_~?q=1&r=%20;:@!$'()*+,", "/a-b/c.d_~?q=1&r=%20;:@!$'()*+,"),
        ("/한", "/%ED%95%9C"),
        ("/a b\r\nX: y#z|", "/a%20b%0D%0AX:%20y%23z%7C"),
    ],
)
def test_a_path_is_percent_encoded_where_a_url_cannot_hold_it(path: str, target: str) -> None:
    assert wire.request_target(path) == target


# The head of an answer


def test_a_head_says_status_and_headers() -> None:
    head = read("Content-Type: text/plain", "X-A:1", "x-a: \t2 \t", "X-Empty:")

    assert head.status == 200
    assert head.headers == {"content-type": "text/plain", "x-a": "1, 2", "x-empty": ""}
    assert (head.length, head.chunked, head.keeps, head.is_interim) == (None, False, False, False)


def test_a_value_comes_as_latin_1() -> None:
    assert read("X: caf\u00e9").headers["x"] == "caf\u00e9"


def test_a_line_may_end_with_a_line_feed_alone() -> None:
    head = wire.read_head(b"HTTP/1.1 200\nContent-Length: 2\nX: y\r\n\n{}")

    assert head is not None
    assert (head.status, head.length, head.size) == (200, 2, 38)
    assert head.headers == {"content-length": "2", "x": "y"}


@pytest.mark.parametrize(
    ("fields", "length", "chunked", "keeps"),
    [
        (["Content-Length: 5"], 5, False, True),
        (["Content-Length: 0"], 0, False, True),
        (["Content-Length: 5", "Content-Length: 5"], 5, False, True),
        (["Content-Length: 5, 5"], 5, False, True),
        (["Transfer-Encoding: Chunked"], None, True, True),
        (["Content-Length: 5", "Connection: close"], 5, False, False),
        (["Content-Length: 5", "Connection: x , CLOSE"], 5, False, False),
        (["Content-Length: 5", "Connection: keep-alive"], 5, False, True),
        ([], None, False, False),
    ],
)
def test_a_head_says_where_its_answer_ends(fields: list[str], length: int | None, chunked: bool, keeps: bool) -> None:
    head = read(*fields)

    assert (head.length, head.chunked, head.keeps) == (length, chunked, keeps)


def test_an_http_1_0_connection_is_not_used_again() -> None:
    head = read("Content-Length: 5", "Connection: keep-alive", status_line="HTTP/1.0 200 OK")

    assert (head.length, head.keeps) == (5, False)


@pytest.mark.parametrize("status", [100, 103, 204, 304])
@pytest.mark.parametrize("field", ["Content-Length: 5", "Transfer-Encoding: chunked", "X: y"])
def test_some_statuses_have_no_body_whatever_the_head_says(status: int, field: str) -> None:
    head = read(field, status_line=f"HTTP/1.1 {status} X")

    assert (head.length, head.chunked, head.keeps) == (0, False, True)


@pytest.mark.parametrize(("status", "interim"), [(100, True), (199, True), (101, False), (200, False), (999, False)])
def test_an_interim_answer_is_told_from_a_final_one(status: int, interim: bool) -> None:
    assert read(status_line=f"HTTP/1.1 {status} X").is_interim is interim


@pytest.mark.parametrize(
    "line",
    [
        "",
        "hello",
        "HTTP/1.1",
        "HTTP/1.1 20 OK",
        "HTTP/1.1 099 OK",
        "HTTP/1.1 2000",
        "http/1.1 200 OK",
        " HTTP/1.1 200 OK",
    ],
)
def test_what_has_no_status_line_is_no_answer(line: str) -> None:
    with pytest.raises(NoAnswer):
        wire.read_head(f"{line}\r\n".encode())


@pytest.mark.parametrize("version", ["2", "2.0", "1.2", "0.9", "11"])
def test_another_version_is_refused(version: str) -> None:
    with pytest.raises(BadHead):
        wire.read_head(f"HTTP/{version} 200 OK\r\n".encode())


@pytest.mark.parametrize(
    "fields",
    [
        ["no colon"],
        [": nameless"],
        ["x y: z"],
        ["Content-Length : 5"],
        ["X: y", " folded"],
        ["X: y", "\tfolded"],
        ["X: a\0b"],
        ["X: a\rb"],
        ["X\u00e9: y"],
        ["Content-Length: -5"],
        ["Content-Length: +5"],
        ["Content-Length: 5_0"],
        ["Content-Length: \u00b2"],
        ["Content-Length:"],
        ["Content-Length: 5, 6"],
        ["Content-Length: 5", "Content-Length: 6"],
        ["Content-Length: 5,"],
        ["Content-Length: " + "9" * 20],
        ["Transfer-Encoding: gzip"],
        ["Transfer-Encoding: gzip, chunked"],
        ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
        ["Transfer-Encoding:"],
        ["Transfer-Encoding: chunked", "Content-Length: 5"],
    ],
)
def test_a_head_that_leaves_anything_in_doubt_is_refused(fields: list[str]) -> None:
    with pytest.raises(Doubtful):
        read(*fields)


def test_a_head_may_have_so_many_fields_and_no_more() -> None:
    assert len(read(*(f"X-{n}: y" for n in range(MAX_FIELDS))).headers) == MAX_FIELDS
    with pytest.raises(BadHead):
        read(*("X: y" for _ in range(MAX_FIELDS + 1)))


def test_a_head_may_be_so_long_and_no_longer() -> None:
    room = MAX_HEAD_BYTES - len(OK) - len("X: \r\n\r\n")
    assert wire.read_head(OK + b"X: " + b"y" * room + b"\r\n\r\n") is not None
    with pytest.raises(BadHead):
        wire.read_head(OK + b"X: " + b"y" * (room + 1) + b"\r\n\r\n")


@pytest.mark.parametrize("data", [b"H" * MAX_HEAD_BYTES, OK + b"X" * MAX_HEAD_BYTES])
def test_a_head_without_an_end_is_refused_at_the_limit_and_not_before(data: bytes) -> None:
    assert wire.read_head(data[: MAX_HEAD_BYTES - 1]) is None
    with pytest.raises(BadHead):
        wire.read_head(data[:MAX_HEAD_BYTES])


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"", None),
        (b"HT", None),
        (b"HTTP/1.1 20", None),
        (b"HTTP/1.1 200\n", 200),
        (OK + b"X: y", 200),
        (b"HTTP/2 404 Not Found\r\n", 404),
        (b"HTTP/1.1 101 Switching Protocols\r\n", 101),
        (b"HTTP/1.1 103 Early Hints\r\n", None),
    ],
)
def test_an_answer_that_broke_off_in_its_head_has_the_status_that_came(data: bytes, status: int | None) -> None:
    assert wire.begun(data) == status


@pytest.mark.parametrize("data", [b"2", b"http/1.1 200 OK\r\n", b"HTTPS", b"\x15\x03\x01" + b"x" * 500])
def test_what_begins_as_no_answer_does_is_none_and_its_beginning_is_kept(data: bytes) -> None:
    with pytest.raises(NoAnswer) as caught:
        wire.begun(data)
    assert caught.value.came == data[:200]
    assert str(caught.value) == ""


@pytest.mark.parametrize("fault", [NoAnswer, BadHead, Doubtful, BrokenOff])
def test_every_fault_says_what_it_is(fault: type[Unreadable]) -> None:
    assert fault().detail


# Chunks


def unchunked(*pieces: bytes) -> tuple[bytes, bytes]:
    """Return a body that came in pieces, and what is behind it."""
    chunks = Chunks()
    body = b"".join(chunks.feed(piece) for piece in pieces)
    assert chunks.ended
    return body, chunks.behind


def test_chunks_are_put_together() -> None:
    assert unchunked(b'3\r\n{"a\r\nB ; x="y z"\r\n": 1234567}\r\n00\r\n\r\n') == (b'{"a": 1234567}', b"")


def test_trailers_are_dropped_and_what_is_behind_them_is_told() -> None:
    assert unchunked(b"1\nx\n0\r\nX-T: 1\r\nX-U: 2\n\r\nHTTP/1.1") == (b"x", b"HTTP/1.1")


@pytest.mark.parametrize(
    "data",
    [
        b"zz\r\n",
        b"-2\r\n",
        b"+2\r\n",
        b"0x5\r\n",
        b" 5\r\n",
        b"\r\n",
        b";x\r\n",
        b"5 5\r\n",
        b"1" * 16 + b"\r\n",
        b"5;\r\r\n",
    ],
)
def test_a_chunk_without_a_right_size_breaks_the_body_off(data: bytes) -> None:
    with pytest.raises(BrokenOff):
        Chunks().feed(data)


def test_a_chunk_that_is_longer_than_it_says_breaks_the_body_off() -> None:
    with pytest.raises(BrokenOff):
        Chunks().feed(b"2\r\nabc\r\n")


@pytest.mark.parametrize("start", [b"1;", b"0\r\n"])
def test_a_line_between_chunks_may_be_so_long_and_no_longer(start: bytes) -> None:
    used = len(start.rpartition(b"\n")[2])
    fits, too_long = (start + b"x" * (MAX_LINE_BYTES - used + more) for more in (0, 1))

    assert Chunks().feed(fits + b"\n") == b""
    for end in (b"", b"\n"):
        with pytest.raises(Doubtful):
            Chunks().feed(too_long + end)


# However it is cut

Outcome = tuple[object, ...]


def head_of(pieces: Iterable[bytes]) -> Outcome:
    """Read a head out of pieces, each handed in together with what came before; return it, or the fault's class."""
    data = b""
    try:
        for piece in pieces:
            data += piece
            if (head := wire.read_head(data)) is not None:
                return tuple(head)
    except Unreadable as fault:
        return (type(fault),)
    return ("more",)


def body_of(pieces: Iterable[bytes]) -> Outcome:
    """Put chunks together; return the body and what is behind it, or the fault's class."""
    chunks, body, behind = Chunks(), b"", b""
    try:
        for piece in pieces:
            if chunks.ended:
                behind += piece
            else:
                body += chunks.feed(piece)
    except Unreadable as fault:
        return (type(fault),)
    return chunks.ended, body, chunks.behind + behind


def byte_by_byte(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


HEADS = st.lists(
    st.sampled_from(
        [
            OK,
            b"HTTP/1.0 404\n",
            b"Content-Length: 5\r\n",
            b"X: y\n",
            b"\r\n",
            b"\n",
            b"\r",
            b" z\r\n",
            b"Transfer-Encoding: chunked\r\n",
        ]
    )
    | st.binary(max_size=6),
    max_size=8,
).map(b"".join)
BODIES = st.lists(
    st.sampled_from([b"5\r\nhello\r\n", b"1;x\nx\n", b"0\r\n", b"X: y\r\n", b"\r\n", b"\n", b"5\r\nhel", b"zz\r\n"])
    | st.binary(max_size=6),
    max_size=8,
).map(b"".join)


@pytest.mark.parametrize("start", [b"", OK])
@given(data=HEADS, trailing=st.binary(max_size=20))
def test_a_head_is_the_same_whole_and_byte_by_byte_and_with_something_behind_it(
    start: bytes, data: bytes, trailing: bytes
) -> None:
    data = start + data
    whole = head_of([data])

    assert head_of(byte_by_byte(data)) == whole
    assert whole == ("more",) or head_of([data + trailing]) == whole


@given(data=BODIES, trailing=st.binary(max_size=20))
def test_chunks_are_the_same_whole_and_byte_by_byte_and_with_something_behind_them(
    data: bytes, trailing: bytes
) -> None:
    whole = body_of([data])

    assert body_of(byte_by_byte(data)) == whole
    if whole[0] is True:
        _, body, behind = whole
        assert body_of([data + trailing]) == (True, body, bytes(behind) + trailing)


@given(
    st.lists(st.binary(min_size=1, max_size=300), max_size=5), st.binary(max_size=20), st.randoms(use_true_random=False)
)
def test_any_body_survives_its_chunks_however_they_are_cut(parts: list[bytes], behind: bytes, random: Random) -> None:
    data = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n" + behind
    cuts = sorted(random.randrange(len(data) + 1) for _ in range(6))
    pieces = [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]

    assert body_of(pieces) == (True, b"".join(parts), behind)
