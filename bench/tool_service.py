"""
A Tool Service that is never the bottleneck: one process, one selector, every answer made beforehand.

``python -m bench.tool_service`` listens on a free loopback port, prints it, and serves until it is ended. It speaks as
much HTTP/1.1 as its callers here do: kept connections, bodies with a Content-Length, one request at a time.
"""

from __future__ import annotations

import json
import re
import selectors
import socket
from collections.abc import Mapping
from typing import Any, Final

WAIT_S: Final = 10.0
"""How long a caller may leave an answer unread; nothing here takes a thousandth of that."""

_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)

_QUERY: Final = {"type": "string", "minLength": 1, "maxLength": 2000, "description": "What to look for. 검색어."}
_SEARCH: Final = {
    "type": "object",
    "properties": {"query": _QUERY, "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10}},
    "required": ["query"],
    "additionalProperties": False,
}
_RECORDS: Final = {
    "type": "object",
    "properties": {
        "query": _QUERY,
        "from": {"type": "string", "description": "First day, YYYY-MM-DD."},
        "kind": {"type": "string", "enum": ["a", "b", "c"]},
        "limit": {"type": "integer", "minimum": 1, "maximum": 200, "default": 20},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 10},
    },
    "required": ["query"],
}


def fast() -> dict[str, Any]:
    """Return a small answer; the marker stands last, so that an answer that was cut does not have it."""
    titles = ("휴가 신청 절차", "Vacation policy for new hires", "Remote work: 재택근무 안내")
    rows = [{"id": f"doc-{n}", "title": title, "score": 0.9731 - n / 100} for n, title in enumerate(titles)]
    return {"total": 3, "tookMs": 4, "results": rows, "marker": "~bench:fast~"}


def large(marker: str) -> dict[str, Any]:
    """Return an answer of about 100 kB when it is written compactly."""
    rows = [
        {
            "id": f"doc-{n:05}",
            "title": f"사내 규정 제{n % 97}조 — Section {n}",
            "score": round(1 - n * 0.000731, 6),
            "tags": ["hr", "policy", f"ko-{n % 7}"],
            "author": {"name": f"담당자 {n % 31}", "dept": 'People & "Culture"'},
            "snippet": f"The quick brown fox jumps over the lazy dog\nline two\t{n}",
            "archived": n % 5 == 0,
            "next": None,
        }
        for n in range(405)
    ]
    return {"total": len(rows), "results": rows, "marker": marker}


def manifest() -> dict[str, Any]:
    """Return a manifest of 50 tools: those that are called, and others as a team has them."""
    called = [_tool(name, f"Answers {name}.", _SEARCH) for name in ("fast", "large", "pretty")]
    others = [
        _tool(f"tool{n}", f"Looks up records of kind {n}, 부서별 기록을 조회한다. ~bench:tool{n}~", _RECORDS)
        for n in range(len(called), 50)
    ]
    return {"manifestVersion": "1", "tools": called + others}


def _tool(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": f"bench.{name}",
        "title": name,
        "description": description,
        "inputSchema": schema,
        "annotations": {"readOnlyHint": True, "idempotentHint": True},
        "endpoint": f"/tools/{name}",
        "_meta": {"version": "1.0.0"},
    }


def answers() -> dict[bytes, bytes]:
    """Return every answer, head and body, by its path."""
    bodies = {
        b"/manifest": _compact(manifest()),
        b"/tools/fast": _compact(fast()),
        b"/tools/large": _compact(large("~bench:large~")),
        b"/tools/pretty": json.dumps(large("~bench:pretty~"), ensure_ascii=False, indent=2),
    }
    return {path: _answer("200 OK", body) for path, body in bodies.items()}


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _answer(status: str, body: str) -> bytes:
    data = body.encode()
    return f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data


class Connection:
    """One caller: what it has sent of its next request."""

    def __init__(self, sock: socket.socket) -> None:
        sock.settimeout(WAIT_S)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock = sock
        self._got = b""

    def serve(self, ready: Mapping[bytes, bytes], missing: bytes) -> bool:
        """Read what has come and answer the request if it is whole; return whether the caller is still there."""
        data = self.sock.recv(65_536)
        self._got += data
        head, end, body = self._got.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if end and len(body) >= (int(length[1]) if length else 0):
            self._got = b""
            self.sock.sendall(ready.get(head.split(b" ", 2)[1], missing))
        return bool(data)


def serve(listener: socket.socket) -> None:
    """Serve until the process is ended."""
    ready, missing = answers(), _answer("404 Not Found", "{}")
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.data is None:
                    connection = Connection(listener.accept()[0])
                    selector.register(connection.sock, selectors.EVENT_READ, connection)
                    continue
                try:
                    here = key.data.serve(ready, missing)
                except OSError:  # the caller has reset the connection, or does not read
                    here = False
                if not here:
                    selector.unregister(key.data.sock)
                    key.data.sock.close()


if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as here:
        print(here.getsockname()[1], flush=True)
        serve(here)
