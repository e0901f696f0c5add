"""
How many instances, workers, threads and places a load needs. Pure: figures in, figures out.

Calls arrive whenever they like, each stays for a while, and none waits for another: so the number under way at a moment
is Poisson distributed around rate times seconds (Little's law), whatever the times of single calls look like. What is
sized is the number that is exceeded in one moment of a thousand, with one instance gone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

CPU_MS = 1.1
"""
CPU of one call with a small answer, in milliseconds, on the slower of two machines; 0.65 on the other, and 0.95 and 2.4
for an answer of 100 kB. Measured: docs/performance.md, "Against a bare passthrough"; ``make bench``.
"""

MASTER_MB, WORKER_MB, CALL_MB = 60.0, 20.0, 0.05
"""
Memory (PSS) of the master and what all share, of each worker, and of each call under way. Measured: 94 MB with two
workers after 20,000 calls, 9 MB for 200 calls that wait (docs/performance.md, "Memory").
"""

CPU_SHARE = 0.6
"""How much of a CPU is planned with: beyond that, calls begin to wait for each other."""

THREADS = 256
"""What ``GUNICORN_THREADS`` is by default."""

CONNECTIONS = 4096
"""Connections that a worker holds beside those of its threads (``worker_connections``)."""

MAX_IN_FLIGHT = 16
"""What ``max_in_flight`` of a Tool Service is by default."""

KEEPALIVE_S = 75.0
"""How long a connection may rest between two requests."""

EXCEEDED = 0.001
"""In which share of all moments there may be more calls under way than are sized for."""

LONGEST_CALL_S = 300.0
"""No call takes longer, whatever its Tool Service does (``limits.interaction_timeout_s``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """
    What is to be carried.

    Args:

        rate: Calls a second, at the busiest time.

        seconds: How long a call of the Tool Service takes, on average.

        slow_seconds: How long a call takes when the Tool Service has a bad time (its p99); the places are sized for it.

        cpus: CPUs of one instance; each gets a worker.

        cpu_ms: CPU of the gateway for one call, in milliseconds.

        threads: Threads of one worker.
    """

    rate: float
    seconds: float
    slow_seconds: float
    cpus: int = 2
    cpu_ms: float = CPU_MS
    threads: int = THREADS


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """
    What carries it.

    Args:

        in_flight: Calls under way at a moment, on average: rate times seconds.

        slow_in_flight: The same in a bad time of the Tool Service.

        instances: Instances, one more than are needed.

        workers: Workers of one instance.

        threads: Threads of one worker.

        reserve: Threads of them that are left for lists, pings and probes.

        each: Calls under way in one worker on average, with all instances.

        each_short: The same with one instance gone, in a bad time.

        max_in_flight: What to set for the Tool Service: so many of its calls may be under way in one worker.

        at_tool_service: Calls that the Tool Service may see at once, from all workers together.

        cpu_share: The share of its CPUs that an instance uses, with one instance gone.

        connections: Connections of one worker, with one instance gone, if each call comes on one of its own that is
            then kept open.

        worker_connections: How many it may hold.

        memory_mb: Memory of one instance when all its places are taken, with small answers.
    """

    in_flight: float
    slow_in_flight: float
    instances: int
    workers: int
    threads: int
    reserve: int
    each: float
    each_short: float
    max_in_flight: int
    at_tool_service: int
    cpu_share: float
    connections: int
    worker_connections: int
    memory_mb: int


def plan(load: Load) -> Plan:
    """Return what carries *load* with one instance gone."""
    in_flight = load.rate * load.seconds
    slow = load.rate * load.slow_seconds
    workers = load.cpus
    reserve = reserved(load.threads)
    cpus = load.rate * load.cpu_ms / 1000
    for_calls = math.ceil(slow / (workers * mean_for(load.threads - reserve)))
    for_cpu = math.ceil(cpus / (CPU_SHARE * load.cpus))
    needed = max(for_calls, for_cpu)
    places = at_most(slow / (needed * workers))
    instances = needed + 1
    return Plan(
        in_flight=in_flight,
        slow_in_flight=slow,
        instances=instances,
        workers=workers,
        threads=load.threads,
        reserve=reserve,
        each=in_flight / (instances * workers),
        each_short=slow / (needed * workers),
        max_in_flight=places,
        at_tool_service=instances * workers * places,
        cpu_share=cpus / (needed * load.cpus),
        connections=places + math.ceil(load.rate * KEEPALIVE_S / (needed * workers)),
        worker_connections=CONNECTIONS + load.threads,
        memory_mb=math.ceil(MASTER_MB + workers * (WORKER_MB + places * CALL_MB)),
    )


def reserved(threads: int) -> int:
    """Return how many threads of a worker are not for calls: an eighth, at least 4, and never the last one."""
    return min(max(4, threads // 8), threads - 1)


def at_most(mean: float) -> int:
    """Return the number of calls that is exceeded in ``EXCEEDED`` of all moments, of a Poisson number around *mean*."""
    # What lies further below is less than can be added up; to begin at 0 would underflow.
    count = max(0, math.floor(mean - 10 * math.sqrt(mean)))
    total = term = math.exp(count * math.log(mean) - mean - math.lgamma(count + 1))
    while total < 1 - EXCEEDED:
        count += 1
        term *= mean / count
        total += term
    return max(count, 1)


def mean_for(places: int) -> float:
    """Return the mean for which *places* are enough, to a thousandth below."""
    low, high = 0.0, float(places)
    while high - low > 0.001:
        middle = (low + high) / 2
        low, high = (middle, high) if at_most(middle) <= places else (low, middle)
    return low
