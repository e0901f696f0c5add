"""What the worker does with connections whose time is over; the other files here start whole processes."""

from __future__ import annotations

import select
import selectors
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from gunicorn.config import Config
from gunicorn.glogging import Logger

from mcp_gateway.serving.connection import Connection
from mcp_gateway.serving.worker import Worker


@pytest.fixture
def worker() -> Iterator[Worker]:
    """A worker that has no process of its own."""
    config = Config()
    here: Any = Worker(1, 1, [], None, 30, config, Logger(config))
    here.poller = selectors.DefaultSelector()
    yield here
    here.poller.close()
    here.tmp.close()


@pytest.mark.parametrize("waiting", ["pending_conns", "keepalived_conns"], ids=["silent", "idle"])
def test_a_connection_that_has_said_nothing_for_too_long_is_closed(worker: Worker, waiting: str) -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        worker.nr_conns += 1
        conn = Connection(worker.cfg, ours, "", "", 10, 60, lambda _: False)
        worker._await(conn, getattr(worker, waiting), seconds=0)
        worker.murder_keepalived()
        worker.murder_pending()
        assert theirs.recv(1) == b""
        assert (worker.nr_conns, len(getattr(worker, waiting))) == (0, 0)


@pytest.mark.parametrize("watched", [True, False])
def test_the_poller_is_woken_for_an_answered_connection_only_when_it_would_not_look_by_itself(
    worker: Worker, watched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker.method_queue.init()
    monkeypatch.setattr(worker, "handle", lambda _: True)
    ours, theirs = socket.socketpair()
    with theirs, ours:
        conn = Connection(worker.cfg, ours, "", "", 10, 60, lambda _: False)
        conn.init()
        conn.watched = watched
        worker._serve(conn)
        woken = select.select([worker.method_queue.fileno()], [], [], 0)[0] != []
        worker.method_queue.run_callbacks(None)
        assert (woken, list(worker.keepalived_conns)) == (not watched, [] if watched else [conn])
        conn.sock.close()
    worker.method_queue.close()
