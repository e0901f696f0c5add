"""
gunicorn's threaded worker, in which only requests that have arrived get a thread.

Everything that waits for a client waits in the poller: new connections, kept ones, requests that arrive in pieces
(up to ``framing.AWAITED_BYTES``; larger ones are read by a thread, in a bounded time), and clients that still send when
they have been answered. A thread has a request, makes a call, and sends the answer, which is bounded too.

The poller's thread does all the bookkeeping and the others never wake it for a connection that stays: such a connection
remains in the poller while a thread has it, and the poller takes it back when it next looks. Half of what a request
cost here went into waking threads and into system calls that say what the kernel knows already.
"""

from __future__ import annotations

import gc
import math
import os
import socket
import ssl
import sys
import time
from collections import deque
from collections.abc import Iterable
from functools import partial
from selectors import EVENT_READ
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

from gunicorn import util
from gunicorn.http import wsgi
from gunicorn.http.message import Request
from gunicorn.workers.gthread import TConn, ThreadWorker

from . import door
from .balance import Balance
from .connection import Connection, WholeRequest
from .leaving import Leaving
from .refusal import refuse
from .reply import OneWriteResponse, http_date
from .telling import tell
from .threads import Threads
from .waiting import Waiting

if TYPE_CHECKING:
    from gunicorn.config import Config
    from gunicorn.glogging import Logger

LINGER_S = 5.0
"""How long an answered client that still sends is listened to, so that it can read the answer. Precedent: nginx 5 s."""

LINGER_BYTES = 67_108_864
"""… and how much of what it sends is thrown away at most."""

LONG_IN_QUEUE_S = 1.0
"""A request that waited so long for a thread is not begun when its client has hung up meanwhile."""

STOPPING_S = 2.0
"""How long a worker that stops waits for a client that sends nothing. Precedent: gunicorn."""

ARRIVING_S = 10.0
"""… and for a request that is arriving, so that a reload fails none; calls have ``graceful_timeout``."""

SETTLING_S = 0.2
"""
How long a worker that is told to stop still takes connections at least: it may hear of it before it can see why. When
the whole server is leaving, nobody new is connected in that time, and who is connecting already can still come in.
"""

PAUSE_S = 0.1
"""How long a worker takes no connection when the system has no room for one; who wants one waits in its queue."""

COMPLAINT_S = 60.0
"""… and how often it says so."""

YIELD_S = 0.0005
"""How long a worker that has more connections in use than another leaves a new one to it."""

SPARED_S = 1.0
"""Nobody who came, began to send, or was answered less long ago is ended to make room: it may just be sending."""

RESTS_AFTER_S = 5.0
"""A connection whose client has said nothing for so long rests: it is no reason to leave new ones to others."""

HEARTBEAT_S = 1.0
"""How often the master hears from a worker; gunicorn's own tells it at each turn of its loop, with a system call."""

GARBAGE = (50_000, 50, 100)
"""
After how many new objects Python looks for garbage in cycles, and how seldom it looks at older ones.

Requests leave none behind, but one of 4 MiB may be two million lists: with Python's own numbers the process stood still
for seconds, again and again, while it looked through all of them.
"""

_DISCARDED_AT_ONCE = 262_144


_create: Any = wsgi.create

# gunicorn's worker takes these from the modules and gives no other way to choose them; wsgi.create, too, which each
# process of a worker replaces by a method of that.
util.write_error = refuse
util.http_date = http_date

balance = Balance()
"""Made in the master, shared by the workers that are forked from it; as is …"""

leaving = Leaving()
"""… whether the server is on its way out."""


class Worker(ThreadWorker):
    """
    A worker whose threads wait for Tool Services, not for clients.

    ``read_s`` and ``write_s`` are set by ``gunicorn.conf.py``: how long a request may take to arrive (and a second more
    for each ``connection.BYTES_PER_S``), how long an answer may take to be taken; and ``drain_s``: how long a server
    that is told to stop goes on as before, so that whoever sends requests can notice.
    """

    read_s = 10.0
    write_s = 60.0
    drain_s = 0.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Each is in the order of timeouts; the first two are gunicorn's.
        self.keepalived_conns = cast("Any", Waiting())
        self.pending_conns = cast("Any", Waiting())
        self._arriving = Waiting()
        self._lingering = Waiting()
        self._answered: deque[Connection] = deque()
        self._notified_at = 0.0
        self._accepts_at = 0.0
        self._complained_at = -math.inf
        self._told_at: float | None = None
        self._door_is_open = True
        self._status: int | None = None
        self._is_ending = False

    @classmethod
    def check_config(cls, cfg: Config, log: Logger) -> None:
        """Refuse settings with which a client could hold a thread after all, or SIGHUP would be for nothing."""
        if cfg.preload_app:
            sys.exit(
                "preload_app: must be left as it is: the gateway is made in each worker, or SIGHUP would change nothing"
            )
        if cfg.protocol != "http" or "h2" in cfg.http_protocols:
            sys.exit("protocol, http_protocols: the gateway speaks HTTP/1.1 only; leave them as they are")
        super().check_config(cfg, log)

    def init_process(self) -> None:
        """Serve, with settings that are what they are now: gunicorn asks for 28 of them in each request."""
        gc.set_threshold(*GARBAGE)
        vars(self.cfg).update({name: setting.get() for name, setting in self.cfg.settings.items()})
        wsgi.create = cast("Any", self._make)
        super().init_process()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop (SIGTERM), or end at once as long as there is nothing to finish."""
        if not self.booted:
            os._exit(0)
        if self._told_at is None and not self._is_ending:
            self._told_at = time.monotonic()
            self.method_queue.defer(lambda: None)  # wakes the poller, which then knows when to wake by itself

    def handle_quit(self, sig: int, frame: FrameType | None) -> None:
        """End at once (SIGQUIT, SIGINT), whatever is under way."""
        if self._is_ending:
            os._exit(0)  # Python is on its way out already, and would report that as interrupted
        self._status = 0
        # Not gthread's own: it ends the pool, whose lock this very thread may hold when the signal comes.
        super(ThreadWorker, self).handle_quit(sig, frame)

    def handle_abort(self, sig: int, frame: FrameType | None) -> None:
        """End at once (SIGABRT): the master has not heard from this worker for too long."""
        self._status = 1
        super().handle_abort(sig, frame)

    def run(self) -> None:
        """Serve until the worker has stopped; where that fails, nobody takes connections here any more, and it ends."""
        try:
            super().run()
        except Exception:
            self._status = 1
            raise

    def end(self) -> None:
        """End the process where there is nothing to wait for; else the threads that are left are awaited."""
        if self._status is not None:
            os._exit(self._status)
        self._is_ending = True

    def notify(self) -> None:
        """Tell the master that this worker lives, not more often than it can matter."""
        now = time.monotonic()
        if now - self._notified_at >= HEARTBEAT_S:
            self._notified_at = now
            super().notify()

    def wait_for_and_dispatch_events(self, timeout: float | None) -> None:
        """Wait as long as gunicorn wants to, but not beyond the moment of leaving."""
        self._take_back()
        soonest = min(timeout or 0.0, self._changes_in_s(), cast("Threads[Connection]", self.tpool).look())
        super().wait_for_and_dispatch_events(max(0.0, soonest))
        if self._changes_in_s() <= 0:
            if leaving.said and self._door_is_open:
                self._close_door()
            else:
                self._stop_listening()

    def is_parent_alive(self) -> bool:
        """Return whether there is a master; without one this worker stops, and nobody may be sent to it any more."""
        lives: bool = super().is_parent_alive()
        if not lives and self.alive:
            self._stop_listening()
        return lives

    def _changes_in_s(self) -> float:
        """Return in how many seconds this worker takes the next step towards its end."""
        if self._told_at is None or not self.alive:
            return math.inf
        goes_at = self._told_at + max(self.drain_s if leaving.said else 0.0, SETTLING_S)
        return goes_at - (SETTLING_S if leaving.said and self._door_is_open else 0.0) - time.monotonic()

    def _close_door(self) -> None:
        """Have the system connect nobody any more; only where no other server goes on with these sockets."""
        self._door_is_open = False
        for listener in self.sockets:
            door.close(listener)

    def _stop_listening(self) -> None:
        """Take what the system has already connected, refuse what comes now, and stop."""
        self.set_accept_enabled(False)
        for listener in self.sockets:
            while self.nr_conns < self.worker_connections and self._accept(listener):
                pass
            listener.close()  # or clients would be connected to somebody who never answers
        self.alive = False
        balance.leave(self.age)  # or the others would leave new connections to a worker that takes none

    def _note_use(self) -> None:
        """Let the other workers know how many connections are in use here."""
        deadline = time.monotonic() + self.cfg.keepalive - RESTS_AFTER_S
        waiting = cast("Iterable[Waiting]", (self.keepalived_conns, self.pending_conns))
        resting = sum(each.rest(deadline) for each in waiting)
        balance.note(self.age, self.nr_conns - resting)

    def accept(self, listener: socket.socket) -> None:
        """Take new connections, but leave those to a worker with fewer in use that it takes."""
        if balance.is_ahead(self.age):
            time.sleep(YIELD_S)
        while self._accept(listener) and self.nr_conns < self.worker_connections and not balance.is_ahead(self.age):
            pass

    def _accept(self, listener: socket.socket) -> bool:
        """Take a new connection and wait for its first byte in the poller; return whether there was one."""
        try:
            client_socket, client = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):  # another worker was faster, or the client has left again
            return False
        except OSError as fault:
            self._pause(fault)
            return False
        self.nr_conns += 1
        self._note_use()
        conn = Connection(
            self.cfg, client_socket, client, listener.getsockname(), self.read_s, self.write_s, self._linger
        )
        self._await(conn, cast("Waiting", self.pending_conns), self._silent_s())
        return True

    def _silent_s(self) -> float:
        """Return how long a new connection may say nothing: as long as a kept one; where none is kept, as a request."""
        return float(self.cfg.keepalive or self.read_s)

    def _pause(self, fault: OSError) -> None:
        """Go on without new connections for a moment, and make room: there are no files or no memory for one more."""
        now = time.monotonic()
        self._make_room(now)
        self._accepts_at = now + PAUSE_S
        self.set_accept_enabled(False)
        if now - self._complained_at >= COMPLAINT_S:
            self._complained_at = now
            self.log.warning("New connections have to wait: %s", fault.strerror)

    def set_accept_enabled(self, enabled: bool | None) -> None:
        """Take new connections from now on, or none; gunicorn asks for it at each turn of its loop."""
        super().set_accept_enabled(bool(enabled) and time.monotonic() >= self._accepts_at)

    def _on_readable(self, conn: Connection, _: socket.socket) -> None:
        """Do what is due for a connection on which something has come, or whose client has hung up."""
        if conn.waiting is None:
            self._take_back()  # its thread may just have answered
        if conn.waiting is None:
            self._ignore(conn)  # the client is ahead of its answer
        elif conn.waiting is self._lingering:
            if not self._discard(conn):
                self._forget(conn)
                self._end(conn)
        elif conn.collect():
            self._forget(conn)
            self.enqueue_req(conn)
        elif conn.waiting is not self._arriving:
            self._forget(conn)
            self._await(conn, self._arriving, self.read_s)

    def get_thread_pool(self) -> Any:
        """Return the threads that have the requests."""
        return Threads(self.cfg.threads, self._serve)

    def enqueue_req(self, conn: TConn) -> None:
        """Hand a request to a thread, when one is free."""
        ours = cast("Connection", conn)
        ours.queued_at = time.monotonic()
        if self.cfg.is_ssl:
            self._ignore(ours)  # its thread puts another socket in the place of this one
        cast("Threads[Connection]", self.tpool).submit(ours)

    def _serve(self, conn: Connection) -> None:
        """Answer one request, and give its connection back; runs in a thread."""
        keep = False
        try:
            keep = self.handle(conn)
        finally:
            if keep and not conn.has_more():
                conn.answered_at = time.monotonic()
                self._answered.append(conn)
                if not conn.watched:  # nothing would make the poller look
                    self.method_queue.defer(self._take_back)
            else:
                self.method_queue.defer(self._go_on, conn, keep)

    def _go_on(self, conn: Connection, keep: bool) -> None:
        """End an answered connection, or go on with what has been read of its next request already."""
        if not keep:
            self._ignore(conn)
            self.nr_conns -= 1
            conn.close(graceful=True)
        elif conn.go_on():
            self.enqueue_req(conn)
        else:
            self._await(conn, self._arriving, self.read_s)

    def _take_back(self) -> None:
        """Wait for the next request on each connection that a thread has answered since this was last called."""
        while self._answered:
            seconds = self.cfg.keepalive if self.alive else STOPPING_S
            conn = self._answered.popleft()
            self._await(conn, cast("Waiting", self.keepalived_conns), seconds, since=conn.answered_at)

    def handle(self, conn: TConn) -> bool:
        """Answer one request; runs in a thread."""
        ours = cast("Connection", conn)
        ours.queued_s = time.monotonic() - ours.queued_at
        if ours.queued_s > LONG_IN_QUEUE_S and ours.has_hung_up():
            self.log.debug("A request was not begun: its client has hung up")
            return False
        return super().handle(conn)

    def _make(self, req: WholeRequest, *others: Any) -> Any:
        """Make the response and the environment of a request as gunicorn does, and say what else there is to know."""
        response, environ = _create(req, *others, response_class=partial(OneWriteResponse, ends=self._stops))
        tell(environ, req.headers, queued_s=req.queued_s, draining=leaving.said)
        return response, environ

    def _stops(self) -> bool:
        """Return whether clients have to hear, in an answer and not by losing their next request, that this ends."""
        return leaving.said or self._told_at is not None or not self.alive

    def handle_request(self, req: Request, conn: TConn) -> bool:
        """Run the application and send its answer, for which the client has a bounded time."""
        cast("WholeRequest", req).queued_s = cast("Connection", conn).queued_s
        try:
            return super().handle_request(req, conn)
        except TimeoutError:
            self.log.debug("An answer was not taken in time")
            return False

    def murder_pending(self) -> None:
        """End what has waited for too long; gunicorn's loop calls it at each turn."""
        now = time.monotonic()
        if self.alive:
            self._note_use()
            if self.nr_conns >= self.worker_connections:
                self._make_room(now)
        else:
            self._hurry((*self.pending_conns, *self._lingering), now + STOPPING_S)
            self._hurry(self._arriving, now + ARRIVING_S)
        super().murder_pending()
        while self._arriving and self._arriving[0].timeout <= now:
            conn = self._arriving[0]
            conn.late = True
            self._forget(conn)
            self.enqueue_req(conn)
        while self._lingering and self._lingering[0].timeout <= now:
            conn = self._lingering[0]
            self._forget(conn)
            self._end(conn)

    def _make_room(self, now: float) -> None:
        """
        End the connection whose client has let this worker wait for longest, if that is long.

        Whether it rests between two requests, has never sent one, or sends one without end does not matter: if one kind
        were spared, its connections could take every place. Who rests may do so for longest, so as a rule those go, who
        lose nothing, before a request that is arriving.
        """
        kinds = (
            (cast("Waiting", self.keepalived_conns), self.cfg.keepalive),
            (cast("Waiting", self.pending_conns), self._silent_s()),
            (self._arriving, self.read_s),
        )
        firsts = [(waiting[0].timeout - seconds, waiting[0]) for waiting, seconds in kinds if waiting]
        since, conn = min(firsts, key=lambda first: first[0], default=(now, None))
        if conn is not None and now - since >= SPARED_S:
            self._forget(conn)
            self._end(conn)

    def _hurry(self, waiting: Iterable[TConn], deadline: float) -> None:
        """Bound the waits for clients: a worker that stops waits for calls, and not longer for clients than this."""
        for conn in waiting:
            conn.timeout = min(conn.timeout or deadline, deadline)

    def _linger(self, conn: Connection) -> bool:
        """Tell the client that the answer is complete, and close once it has closed too; never wait for that here."""
        try:
            conn.sock.shutdown(socket.SHUT_WR)
            conn.sock.setblocking(False)
        except OSError:
            return False
        if not self._discard(conn):
            return False
        self.nr_conns += 1
        self._await(conn, self._lingering, LINGER_S)
        return True

    def _discard(self, conn: Connection) -> bool:
        """Throw away what has come; return whether there may be more."""
        try:
            data = conn.receive(_DISCARDED_AT_ONCE)
        except (BlockingIOError, ssl.SSLWantReadError):
            return True
        except OSError:
            return False
        conn.discarded += len(data)
        return bool(data) and conn.discarded < LINGER_BYTES

    def _await(self, conn: Connection, waiting: Waiting, seconds: float, since: float | None = None) -> None:
        conn.timeout = (time.monotonic() if since is None else since) + seconds
        conn.waiting = waiting
        waiting.append(conn)
        if not conn.watched:
            conn.watched = True
            self.poller.register(conn.sock, EVENT_READ, partial(self._on_readable, conn))

    def _forget(self, conn: Connection) -> None:
        cast("Waiting", conn.waiting).remove(conn)
        conn.waiting = None

    def _ignore(self, conn: Connection) -> None:
        if conn.watched:
            conn.watched = False
            self.poller.unregister(conn.sock)

    def _end(self, conn: Connection) -> None:
        self._ignore(conn)
        self.nr_conns -= 1
        conn.close()
