"""
What one request costs, counted in calls of functions instead of seconds, so that the same tree always costs the same.

A request goes from the WSGI entry to the last byte of its answer in this process, with the log line written as in
profile production, the metrics kept, and a real Tool Service on a kept connection. Counted is what the thread of the
request does: every call of a Python function (and every resumption of a generator), and every call of a function
written in C.

When a change makes a bound too small: look first whether the change needs what it calls. If it does, measure it, with
``make bench`` before and after in one sitting on a quiet machine (a count says nothing of how long a call takes: more
calls may even be faster); then set the bound to what the failed assertion prints, plus a tenth, and name the reason and
both measurements in the commit. When a change makes a count much smaller, lower the bound too, or the next creep of as
many calls goes unseen. The bounds hold for Python 3.11 to 3.13: later ones count up to twenty more calls of C code.
"""

from __future__ import annotations

import gc
import io
import json
import logging
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any

import pytest
from prometheus_client import values
from road import LEGACY, META, MODERN, PATH, message
from support.toolservice import Reply, ToolService
from werkzeug.test import EnvironBuilder

from mcp_gateway.app import Gateway
from mcp_gateway.config import model
from mcp_gateway.observe import logs, metrics
from mcp_gateway.observe.seats import Seat
from mcp_gateway.registry.snapshots import Snapshots

Request = Callable[[], dict[str, Any]]

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 1},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100},
    },
    "required": ["query"],
}
ANSWER = '{"total":3,"results":[{"title":"휴가 신청 절차","score":0.9731}]}'
CALL = {"name": "core.search", "arguments": {"query": "휴가 규정", "limit": 10}}

BOUNDS: Mapping[str, tuple[int, int]] = {
    "tools/call": (494, 402),
    "tools/call on 2026-07-28": (536, 431),
    "tools/list": (330, 246),
    "ping": (326, 243),
}
"""What is asked, then at most how many calls of Python functions, and of functions written in C."""


def request(version: str, method: str, params: Mapping[str, Any] | None = None) -> Request:
    """Return what makes the WSGI environment of a request afresh."""
    headers = {"MCP-Protocol-Version": version}
    given = dict(params or {})
    if version == MODERN:
        headers |= {"Mcp-Method": method, "Mcp-Name": given["name"]}
        given["_meta"] = META
    body = json.dumps(message(method, given), ensure_ascii=False).encode()
    made = EnvironBuilder(PATH, method="POST", data=body, content_type="application/json", headers=headers)
    environ = made.get_environ()
    made.close()
    return lambda: {**environ, "wsgi.input": io.BytesIO(body)}


REQUESTS: Mapping[str, Request] = {
    "tools/call": request(LEGACY, "tools/call", CALL),
    "tools/call on 2026-07-28": request(MODERN, "tools/call", CALL),
    "tools/list": request(LEGACY, "tools/list"),
    "ping": request(LEGACY, "ping"),
}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """A gateway in front of a real Tool Service with 20 tools, logging and counting as it does in production."""
    package = logging.getLogger("mcp_gateway")
    before = (package.handlers[:], package.propagate, package.level)
    with open(os.devnull, "wb") as nowhere, ToolService() as service, pytest.MonkeyPatch.context() as replaced:
        logs.configure("info", as_json=True, descriptor=nowhere.fileno())
        for name in ("core.search", *(f"core.other{number}" for number in range(19))):
            service.add(name, lambda _: Reply.of_json(ANSWER.encode()), SCHEMA)
        route = model.Route("core", PATH, (model.ToolService(service.name, service.base_url),), (MODERN, LEGACY))
        replaced.setattr(values, "ValueClass", values.ValueClass)
        replaced.setenv("PROMETHEUS_MULTIPROC_DIR", "")
        counted = metrics.of(Seat(tmp_path_factory.mktemp("metrics"), 0))
        sinks = (logs.write, counted.exchange)
        config = model.Config(profile="production", routes=(route,))
        gateway = Gateway(config, store=Snapshots(), sinks=sinks, metrics=counted)
        gateway.start()
        try:
            yield gateway
        finally:
            gateway.stop()
            package.handlers[:], package.propagate = before[0], before[1]
            package.setLevel(before[2])


def count(gateway: Gateway, make: Request) -> tuple[int, int]:
    """Return how many Python functions one request calls, and how many written in C."""
    seen: Counter[str] = Counter()
    environ = make()
    status: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        seen[event] += 1

    def start_response(line: str, *_: object) -> Callable[[bytes], None]:
        status.append(line)
        return lambda _: None

    sys.setprofile(note)
    chunks = gateway(environ, start_response)
    body = b"".join(chunks)
    getattr(chunks, "close", lambda: None)()
    sys.setprofile(None)
    assert status == ["200 OK"]
    assert json.loads(body)["result"].get("isError", False) is False
    return seen["call"], seen["c_call"]


@pytest.mark.parametrize("what", REQUESTS)
def test_a_request_calls_no_more_functions_than_it_did(gateway: Gateway, what: str) -> None:
    make = REQUESTS[what]
    package = logging.getLogger("mcp_gateway")
    package.handlers[:] = [each for each in package.handlers if isinstance(each, logs.OneWrite)]  # without pytest's
    profiler = sys.getprofile()
    gc.disable()  # a collection runs what others left behind
    try:
        for _ in range(20):  # until every cache is filled
            count(gateway, make)
        # The smallest of some: whether an answer is there at once or has to be waited for is the system's choice.
        counts = [count(gateway, make) for _ in range(10)]
    finally:
        gc.enable()
        sys.setprofile(profiler)
    python, c = min(one for one, _ in counts), min(other for _, other in counts)
    most_python, most_c = BOUNDS[what]
    said = f"{what} calls {python} Python functions and {c} in C; allowed are {BOUNDS[what]}: see the top of this file"
    assert python <= most_python, said
    assert c <= most_c, said
