"""How many connections a worker may hold, by what the system lets a process open."""

from __future__ import annotations

import resource

_FILES_OF_A_CALL = 2
"""The connection to the Tool Service, and a name look-up's socket while that is made."""

_OTHER_FILES = 128
"""Modules, the log, the poller, the listener, and idle connections to Tool Services."""


def connections(wanted: int, threads: int) -> int:
    """
    Let this process open as many files as *wanted* connections need; return how many connections that makes.

    Workers inherit it. A system that allows less gets fewer connections, so that calls find the files that they need.
    """
    others = threads * _FILES_OF_A_CALL + _OTHER_FILES
    needed = wanted + others
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return wanted
    most = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return max(most - others, threads + 1)


def shortage(threads: int) -> str:
    """Return what to warn of where calls in all *threads* need more files than this process may open; else nothing."""
    needed = threads * (1 + _FILES_OF_A_CALL) + _OTHER_FILES
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if allowed == resource.RLIM_INFINITY or allowed >= needed:
        return ""
    return (
        f"open files: calls in {threads} threads need up to {needed}, and the system allows a worker {allowed}: raise "
        "that (ulimit -n) or lower GUNICORN_THREADS, or calls fail and new connections wait"
    )
