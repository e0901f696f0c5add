"""What the master and its workers make of SIGTERM, at moments that a running server cannot be brought to."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from gunicorn.app.wsgiapp import WSGIApplication
from gunicorn.config import Config
from gunicorn.glogging import Logger

from mcp_gateway.serving.leaving import Farewell, Leaving
from mcp_gateway.serving.worker import Worker

ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)


class Master(SimpleNamespace):
    """As much of gunicorn's master as hears signals."""

    reaped = 0

    def reap_workers(self) -> None:
        self.reaped += 1


@pytest.fixture
def master() -> Iterator[Any]:
    """A master in this process, whose SIGTERM is its own again afterwards."""
    before = {number: signal.getsignal(number) for number in ENDING}
    heard: list[int] = []
    yield Master(
        pid=os.getpid(),
        reexec_pid=0,
        master_pid=0,
        systemd=False,
        LISTENERS=["one"],
        heard=heard,
        signal=lambda n, _: heard.append(n),
    )
    for number, handler in before.items():
        signal.signal(number, handler)


def tell(pid: int, number: signal.Signals = signal.SIGTERM) -> None:
    assert threading.current_thread() is threading.main_thread()
    os.kill(pid, number)


def test_what_the_master_is_told_every_process_that_was_forked_from_it_sees(master: Any) -> None:
    leaving = Leaving()
    Farewell(master, leaving).heed()
    assert not leaving.said
    tell(os.getpid())

    child = os.fork()
    if child == 0:
        os._exit(7 if leaving.said else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert master.heard == [signal.SIGTERM]


def test_a_second_sigterm_means_at_once(master: Any) -> None:
    Farewell(master, Leaving()).heed()
    tell(os.getpid())
    tell(os.getpid())
    assert master.heard == [signal.SIGTERM, signal.SIGQUIT]


@pytest.mark.parametrize(("name", "value"), [("reexec_pid", 4711), ("master_pid", 4711), ("systemd", True)])
def test_a_master_whose_sockets_another_goes_on_with_ends_nothing_but_itself(
    master: Any, name: str, value: object
) -> None:
    leaving = Leaving()
    setattr(master, name, value)
    Farewell(master, leaving).heed()
    tell(os.getpid())
    assert not leaving.said
    assert master.heard == [signal.SIGTERM]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT])
def test_what_means_at_once_is_left_to_gunicorn(master: Any, number: signal.Signals) -> None:
    leaving = Leaving()
    Farewell(master, leaving).heed()
    tell(os.getpid(), number)
    assert (master.heard, leaving.said) == ([number], False)


@pytest.mark.parametrize("number", ENDING)
def test_a_worker_that_is_told_before_it_has_signals_of_its_own_ends_at_once(
    master: Any, number: signal.Signals
) -> None:
    leaving = Leaving()
    Farewell(master, leaving).heed()
    child = os.fork()
    if child == 0:
        tell(os.getpid(), number)
        os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not leaving.said


def test_a_master_that_waits_for_workers_waits_no_longer_when_it_is_told_to_stop(master: Any) -> None:
    Farewell(master, Leaving()).heed()
    master.reap_workers()
    tell(os.getpid())
    with pytest.raises(StopIteration):
        master.reap_workers()
    master.LISTENERS = []  # it stops
    master.reap_workers()
    assert Master.reap_workers(master) is None
    assert master.reaped == 4


def test_whom_the_system_has_connected_already_a_worker_takes_in_before_it_stops_listening() -> None:
    settings = Config()
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    worker = Worker(1, os.getpid(), [listener], WSGIApplication, 30, settings, Logger(settings))
    worker.poller = selectors.DefaultSelector()
    address = listener.getsockname()
    with socket.create_connection(address), socket.create_connection(address), worker.poller:
        worker._stop_listening()
        assert worker.nr_conns == 2
        assert not worker.alive
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address)
        for key in tuple(worker.poller.get_map().values()):
            key.fileobj.close()
    worker.tmp.close()
