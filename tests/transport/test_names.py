"""Name look-ups that may be left behind."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from mcp_gateway.deadline import Deadline
from mcp_gateway.transport.names import AddressInfo, HostAddresses


def row(address: str) -> AddressInfo:
    return (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, 80))


class Resolver:
    """A resolver that gives what the test puts into it, when the test lets it."""

    def __init__(self, *answers: Sequence[AddressInfo] | Exception) -> None:
        self.asked: list[tuple[str, int]] = []
        self.open = threading.Event()
        self.open.set()
        self._answers = list(answers)

    def __call__(self, host: str, port: int, family: int, kind: int) -> Sequence[AddressInfo]:
        self.asked.append((host, port))
        answer = self._answers.pop(0)
        assert self.open.wait(10)
        if isinstance(answer, Exception):
            raise answer
        return answer


UNKNOWN = socket.gaierror(socket.EAI_NONAME, "Name or service not known")


def test_a_name_is_asked_for_once_while_its_answer_is_fresh() -> None:
    resolver = Resolver([row("192.0.2.1")])
    names = HostAddresses("tools.example", 80, lookup=resolver)

    answers = [names.get(Deadline.after(5)) for _ in range(3)]

    assert answers == [[row("192.0.2.1")]] * 3
    assert resolver.asked == [("tools.example", 80)]


def test_a_name_is_asked_for_again_when_its_answer_is_no_longer_fresh() -> None:
    resolver = Resolver([row("192.0.2.1")], [row("192.0.2.2")])
    names = HostAddresses("tools.example", 80, lookup=resolver, fresh_s=0.0)

    assert names.get(Deadline.after(5)) == [row("192.0.2.1")]
    assert names.get(Deadline.after(5)) == [row("192.0.2.2")]


@pytest.mark.parametrize("fault", [UNKNOWN, UnicodeError("label too long")])
def test_a_name_that_cannot_be_resolved_is_a_fault_and_is_asked_for_again(fault: Exception) -> None:
    resolver = Resolver(fault, [row("192.0.2.1")])
    names = HostAddresses("tools.example", 80, lookup=resolver)

    with pytest.raises(type(fault)):
        names.get(Deadline.after(5))

    assert names.get(Deadline.after(5)) == [row("192.0.2.1")]


def test_a_stale_answer_beats_a_fault() -> None:
    resolver = Resolver([row("192.0.2.1")], UNKNOWN)
    names = HostAddresses("tools.example", 80, lookup=resolver, fresh_s=0.0)

    assert [names.get(Deadline.after(5)) for _ in range(2)] == [[row("192.0.2.1")]] * 2


def test_a_stale_answer_is_used_while_there_is_still_time_to_connect() -> None:
    resolver = Resolver([row("192.0.2.1")], [row("192.0.2.2")])
    names = HostAddresses("tools.example", 80, lookup=resolver, fresh_s=0.0)
    names.get(Deadline.after(5))
    resolver.open.clear()
    deadline = Deadline.after(0.4)

    assert names.get(deadline) == [row("192.0.2.1")]
    assert deadline.left() > 0
    resolver.open.set()


def test_a_late_answer_serves_the_next_call() -> None:
    resolver = Resolver([row("192.0.2.1")])
    resolver.open.clear()
    names = HostAddresses("tools.example", 80, lookup=resolver)
    began = time.monotonic()

    with pytest.raises(TimeoutError):
        names.get(Deadline.after(0.1))
    assert time.monotonic() - began < 3
    resolver.open.set()

    assert names.get(Deadline.after(5)) == [row("192.0.2.1")]
    assert len(resolver.asked) == 1


def test_callers_who_wait_at_once_share_one_look_up() -> None:
    resolver = Resolver([row("192.0.2.1")])
    resolver.open.clear()
    names = HostAddresses("tools.example", 80, lookup=resolver)

    with ThreadPoolExecutor(8) as threads:
        waiting = [threads.submit(names.get, Deadline.after(5)) for _ in range(8)]
        resolver.open.set()
        answers = [answer.result(10) for answer in waiting]

    assert answers == [[row("192.0.2.1")]] * 8
    assert len(resolver.asked) == 1


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_numeric_address_is_never_looked_up(host: str) -> None:
    resolver = Resolver()

    found = HostAddresses(host, 80, lookup=resolver).get(Deadline.after(5))

    assert found[0][4][:2] == (host, 80)
    assert not resolver.asked


def test_a_host_that_is_no_name_at_all_is_a_fault() -> None:
    with pytest.raises((OSError, ValueError)):
        HostAddresses("a" * 300, 80).get(Deadline.after(10))
