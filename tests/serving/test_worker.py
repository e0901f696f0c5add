"""What the worker does with connections whose time is over; the other files here start whole processes."""

from __future__ import annotations

import errno
import gc
import math
import os
import select
import selectors
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from gunicorn.config import Config
from gunicorn.glogging import Logger
from gunicorn.http import wsgi
from gunicorn.workers.gthread import ThreadWorker

from mcp_gateway.serving import worker as module
from mcp_gateway.serving.balance import Balance
from mcp_gateway.serving.connection import Connection
from mcp_gateway.serving.worker import Worker, balance


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


def taken_of_three(worker: Worker) -> int:
    """Return how many of three connections that have come together a worker takes in one turn."""
    with socket.create_server(("127.0.0.1", 0)) as listener, ExitStack() as ends:
        listener.setblocking(False)
        for _ in range(3):
            ends.enter_context(socket.create_connection(listener.getsockname()))
        worker.accept(listener)
        taken: int = worker.nr_conns
        for conn in tuple(worker.pending_conns):
            worker._forget(conn)
            worker._end(conn)
    return taken


@pytest.mark.parametrize(
    ("ahead", "taken"), [([False] * 4, 3), ([False, True], 1), ([True, False, True], 2)], ids=["never", "soon", "first"]
)
def test_connections_that_come_together_are_taken_together_unless_another_worker_has_fewer(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, ahead: list[bool], taken: int
) -> None:
    monkeypatch.setattr(balance, "is_ahead", lambda _: ahead.pop(0))
    assert taken_of_three(worker) == taken


def test_no_more_connections_are_taken_together_than_there_may_be(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(balance, "is_ahead", lambda _: False)
    worker.worker_connections = 2
    assert taken_of_three(worker) == 2


@dataclass(frozen=True, slots=True)
class Full:
    """A worker that has as many connections as it may have."""

    worker: Worker
    ends: ExitStack

    def add(self, kind: str, seconds_ago: float) -> Connection:
        """Let the worker have one more, which has waited for so long."""
        ours, theirs = socket.socketpair()
        self.ends.enter_context(theirs)
        conn = Connection(self.worker.cfg, ours, "", "", 10, 60, lambda _: False)
        self.ends.enter_context(conn.sock)
        waiting = getattr(self.worker, kind)
        self.worker._await(conn, waiting, self.worker.read_s if kind == "_arriving" else self.worker.cfg.keepalive)
        conn.timeout -= seconds_ago
        self.worker.nr_conns += 1
        self.worker.worker_connections = self.worker.nr_conns
        return conn

    def left(self, *conns: Connection) -> list[Connection]:
        """Return which of them are left after one turn of gunicorn's loop."""
        self.worker.murder_keepalived()
        self.worker.murder_pending()
        return [conn for conn in conns if conn.waiting is not None]


KINDS = ["keepalived_conns", "pending_conns", "_arriving"]
NAMES = ["at rest", "silent", "unfinished"]


@pytest.fixture
def full(worker: Worker) -> Iterator[Full]:
    """The worker, once it has been given connections."""
    worker.cfg.set("keepalive", 75)
    with ExitStack() as ends:
        yield Full(worker, ends)


@pytest.mark.parametrize("oldest", KINDS, ids=NAMES)
def test_who_has_waited_for_longest_makes_room_at_rest_silent_or_unfinished(full: Full, oldest: str) -> None:
    longest = full.add(oldest, 4)
    others = [full.add(kind, 3) for kind in KINDS]
    assert full.left(*others, longest) == others
    assert full.worker.nr_conns == 3


@pytest.mark.parametrize("older", KINDS, ids=NAMES)
def test_who_has_just_come_does_not_make_room_while_others_have_waited_longer(full: Full, older: str) -> None:
    waits, newest = full.add(older, 2), full.add("pending_conns", 0)
    assert full.left(waits, newest) == [newest]


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
def test_nobody_makes_room_who_may_just_be_sending(full: Full, kind: str) -> None:
    fresh = full.add(kind, 0.5)
    assert full.left(fresh) == [fresh]


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
def test_nobody_has_to_make_room_while_there_is_some(full: Full, kind: str) -> None:
    waits = full.add(kind, 5)
    full.worker.worker_connections += 1
    assert full.left(waits) == [waits]


def test_a_worker_all_of_whose_connections_are_busy_ends_none(full: Full) -> None:
    full.worker.nr_conns = full.worker.worker_connections
    assert full.left() == []
    assert full.worker.nr_conns == full.worker.worker_connections


class Crowded(socket.socket):
    """A listener of a process that has no room for one more connection, for a while."""

    lacks = 0

    def accept(self) -> Any:
        """Take a connection when nothing is lacking any more."""
        if self.lacks:
            raise OSError(self.lacks, os.strerror(self.lacks))
        return super().accept()


@pytest.fixture
def crowded(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> Iterator[Crowded]:
    """The worker's listener, which has no file left; somebody has connected."""
    monkeypatch.setattr(balance, "is_ahead", lambda _: False)
    with Crowded() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.lacks = errno.EMFILE
        worker.sockets = [listener]
        worker.set_accept_enabled(True)
        with socket.create_connection(listener.getsockname()):
            yield listener


def takes(worker: Worker) -> bool:
    """Let the worker look at its listeners once, as in each turn of gunicorn's loop; return whether it took anybody."""
    worker.set_accept_enabled(True)
    for key, _ in worker.poller.select(0):
        key.data(key.fileobj)
    taken = tuple(worker.pending_conns)
    for conn in taken:
        worker._forget(conn)
        worker._end(conn)
    return bool(taken)


@pytest.mark.parametrize("lacks", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM], ids=errno.errorcode.get)
def test_a_connection_for_which_there_is_no_room_waits_until_there_is(
    worker: Worker, crowded: Crowded, monkeypatch: pytest.MonkeyPatch, lacks: int
) -> None:
    monkeypatch.setattr(module, "PAUSE_S", 0)
    crowded.lacks = lacks
    assert not takes(worker)
    crowded.lacks = 0
    assert takes(worker)


def test_who_has_waited_for_longest_makes_room_too_when_no_file_is_left(full: Full, crowded: Crowded) -> None:
    waits = full.add("keepalived_conns", 5)
    full.worker.worker_connections += 1
    assert not takes(full.worker)
    assert full.left(waits) == []


def test_a_worker_that_has_no_room_does_not_try_again_at_once(
    worker: Worker, crowded: Crowded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAUSE_S", 3600)
    assert not takes(worker)
    crowded.lacks = 0
    assert not takes(worker)


@pytest.mark.parametrize(("every_s", "lines"), [(3600, 1), (0, 2)], ids=["soon", "later"])
def test_that_there_is_no_room_is_said_and_not_again_soon(
    worker: Worker, crowded: Crowded, monkeypatch: pytest.MonkeyPatch, every_s: float, lines: int
) -> None:
    said: list[str] = []
    monkeypatch.setattr(worker, "log", SimpleNamespace(warning=lambda text, *words: said.append(text % words)))
    monkeypatch.setattr(module, "PAUSE_S", 0)
    monkeypatch.setattr(module, "COMPLAINT_S", every_s)
    takes(worker)
    takes(worker)
    assert said == [f"New connections have to wait: {os.strerror(errno.EMFILE)}"] * lines


def test_nobody_leaves_a_connection_to_a_worker_that_stops(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    here, another = Balance(), worker.age + 1
    monkeypatch.setattr(module, "balance", here)
    here.note(another, 5)
    worker.murder_pending()
    assert here.is_ahead(another)
    worker._stop_listening()
    worker.murder_pending()
    assert not here.is_ahead(another)


@pytest.mark.parametrize("waiting", ["pending_conns", "keepalived_conns"], ids=["silent", "idle"])
def test_a_connection_that_rests_is_no_reason_to_leave_new_ones_to_others(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, waiting: str
) -> None:
    here, another = Balance(), worker.age + 1
    monkeypatch.setattr(module, "balance", here)
    here.note(another, 1)
    ours = [Connection(worker.cfg, socket.socket(), "", "", 10, 60, lambda _: False) for _ in range(2)]
    worker.cfg.set("keepalive", 75)
    for conn in ours:
        worker.nr_conns += 1
        worker._await(conn, getattr(worker, waiting), worker.cfg.keepalive)
    worker.murder_pending()
    assert here.is_ahead(worker.age)
    ours[0].timeout -= module.RESTS_AFTER_S
    worker.murder_pending()
    assert not here.is_ahead(worker.age)
    for conn in ours:
        worker._forget(conn)
        worker._end(conn)


def test_older_objects_are_seldom_looked_through_for_garbage(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ThreadWorker, "init_process", lambda _: None)
    monkeypatch.setattr(wsgi, "create", None)
    before = gc.get_threshold()
    try:
        worker.init_process()
        assert all(ours > pythons for ours, pythons in zip(gc.get_threshold(), (700, 10, 10), strict=True))
    finally:
        gc.set_threshold(*before)


def test_settings_are_looked_up_once(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ThreadWorker, "init_process", lambda _: None)
    monkeypatch.setattr(gc, "set_threshold", lambda *_: None)
    monkeypatch.setattr(wsgi, "create", None)  # the worker puts its own there
    worker.cfg.set("threads", 7)
    worker.init_process()
    worker.cfg.settings.clear()
    assert (worker.cfg.threads, worker.cfg.is_ssl) == (7, None)


def test_the_poller_looks_again_when_the_threads_want_to_be_looked_at(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(ThreadWorker, "wait_for_and_dispatch_events", lambda _, timeout: waited.append(timeout))
    wanted = [0.02, math.inf]
    monkeypatch.setattr(worker, "tpool", SimpleNamespace(look=lambda: wanted.pop(0)))
    worker.wait_for_and_dispatch_events(timeout=1.0)
    worker.wait_for_and_dispatch_events(timeout=1.0)
    assert waited == [0.02, 1.0]


def test_a_worker_that_ends_already_is_told_nothing_by_sigterm(worker: Worker) -> None:
    worker.booted = True
    worker.end()
    worker.handle_exit(signal.SIGTERM, None)
    assert worker._told_at is None


def test_sigquit_ends_a_worker_that_ends_already_without_a_word(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leave(status: int) -> None:
        raise OSError(status)

    monkeypatch.setattr(os, "_exit", leave)
    worker.end()
    with pytest.raises(OSError, match=r"^0$"):
        worker.handle_quit(signal.SIGQUIT, None)


def test_sigquit_ends_the_worker_whatever_its_main_thread_is_doing_with_the_pool(worker: Worker) -> None:
    worker.tpool = worker.get_thread_pool()
    with worker.tpool._lock, pytest.raises(SystemExit):
        worker.handle_quit(signal.SIGQUIT, None)
    worker.tpool.shutdown()


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """With what status the process was ended."""
    statuses: list[int] = []
    monkeypatch.setattr(os, "_exit", statuses.append)
    return statuses


def test_a_worker_that_fails_ends_its_process_whatever_its_threads_do(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, ended: list[int]
) -> None:
    def fail(_: object) -> None:
        raise EOFError

    monkeypatch.setattr(ThreadWorker, "run", fail)
    with pytest.raises(EOFError):
        worker.run()
    worker.end()
    assert ended == [1]


def test_a_worker_that_is_aborted_ends_its_process_whatever_its_threads_do(worker: Worker, ended: list[int]) -> None:
    with pytest.raises(SystemExit):
        worker.handle_abort(signal.SIGABRT, None)
    worker.end()
    assert ended == [1]


def test_a_worker_that_has_stopped_leaves_its_threads_the_time_they_need(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, ended: list[int]
) -> None:
    monkeypatch.setattr(ThreadWorker, "run", lambda _: None)
    worker.run()
    worker.end()
    assert ended == []
