"""
What the serving room builds on inside gunicorn, some of it private.

When a new gunicorn fails here, read what changed in each class that is named, compare it with ``mcp_gateway/serving``,
run the other tests of this folder, and only then write the new digest down.
"""

from __future__ import annotations

import hashlib
import inspect
from typing import Any

import pytest
from gunicorn.arbiter import Arbiter
from gunicorn.http import body, parser, unreader, wsgi
from gunicorn.http.message import HeaderPolicy, Request
from gunicorn.workers import base, gthread

READ_BY_US = {
    "Arbiter": (Arbiter, "a082f315a540"),
    "Worker": (base.Worker, "41bcd41fbc75"),
    "ThreadWorker": (gthread.ThreadWorker, "2cde92a57d7b"),
    "TConn": (gthread.TConn, "e3a2878ba952"),
    "SocketUnreader": (unreader.SocketUnreader, "786a257be09e"),
    "Unreader": (unreader.Unreader, "84aaa8f91fcd"),
    "Parser": (parser.Parser, "3a9c06e348c7"),
    "LengthReader": (body.LengthReader, "3b01bc7c21a2"),
    "ChunkedReader": (body.ChunkedReader, "c1aa79e0ae04"),
    "Response": (wsgi.Response, "d67f8e6b29d7"),
    "HeaderPolicy": (HeaderPolicy, "84bc24b291e7"),
    "_parse_python": (Request._parse_python, "ed07ffec5178"),
    "read_into": (Request.read_into, "3f959e4da304"),
    "set_body_reader": (Request.set_body_reader, "db5c46d4c717"),
    "should_close": (Request.should_close, "37c454bfb3e3"),
}


@pytest.mark.parametrize("name", READ_BY_US)
def test_gunicorn_is_inside_as_it_was_when_this_was_written(name: str) -> None:
    place: Any
    place, digest = READ_BY_US[name]
    assert hashlib.sha256(inspect.getsource(place).encode()).hexdigest()[:12] == digest
