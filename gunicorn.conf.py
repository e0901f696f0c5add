"""
How gunicorn runs the gateway; every setting can be overridden on gunicorn's command line.

Threads wait for Tool Services, so there are many of them: a thread that waits costs under 0.1 MB and no CPU. See
``docs/contracts/configuration.md`` for the environment variables.
"""

import os
import sys

from mcp_gateway import boot
from mcp_gateway.config.load import ConfigFaults
from mcp_gateway.observe import logs
from mcp_gateway.serving import limits, refusal
from mcp_gateway.serving.leaving import Farewell
from mcp_gateway.serving.worker import Worker, balance, leaving


def _refuse(faulty):
    """End the start with one line for each fault, and no traceback."""
    for fault in faulty.faults:
        print(fault, file=sys.stderr)
    sys.exit(1)


try:
    _settings = boot.settings(os.environ)
except ConfigFaults as faulty:
    _refuse(faulty)

bind = _settings.bind
workers = _settings.workers
threads = _settings.threads
worker_class = "mcp_gateway.serving.worker.Worker"  # gthread, but only a request that has arrived takes a thread
Worker.read_s = _settings.read_timeout_s
Worker.write_s = _settings.write_timeout_s
Worker.drain_s = _settings.timings.drain_s

# Open connections of one worker, with or without a thread. One that says nothing costs under 2 kB, and makes room for
# the next when they are all taken. Each is an open file, and a call under way needs some more.
worker_connections = limits.connections(4096 + threads, threads)

# All of these follow from how long a call may take: mcp_gateway/timings.py.
graceful_timeout = _settings.timings.graceful_timeout_s
timeout = _settings.timings.heartbeat_s
keepalive = _settings.timings.keepalive_s

http_parser = "python"  # "auto" takes whatever C parser lies around, and parses differently with it
control_socket_disable = True  # two gateways under one HOME would share its path
forwarded_allow_ips = ""  # no header of a request changes its scheme or path
limit_request_line = 4094
limit_request_fields = 100
preload_app = False  # each worker loads its own snapshot
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108  a heartbeat must not wait for a disk
accesslog = None  # the gateway writes its own line for each exchange
errorlog = None  # gunicorn's lines are written with the gateway's and like them
loglevel = os.environ.get("MCP_GATEWAY_LOG_LEVEL") or "info"
logs.configure(loglevel, as_json=_settings.as_json)


def on_starting(server):
    """Refuse to start with a faulty configuration, one line for each fault, or with workers of another kind."""
    if not issubclass(server.worker_class, Worker):
        sys.exit(
            f"worker_class: must be left as it is, not {server.cfg.worker_class_str}: only its own worker keeps "
            "what the gateway promises of slow clients and of stops"
        )
    try:
        boot.first(os.environ, server.cfg)
    except ConfigFaults as faulty:
        _refuse(faulty)
    if warning := limits.shortage(server.cfg.threads):
        server.log.warning("%s", warning)


def when_ready(server):
    """Make a place for what workers read well, and be ready to be told to stop."""
    boot.ready()
    Farewell(server, leaving).heed()


def on_reload(server):
    """Read the configuration anew on SIGHUP; the last good one stays in force when it is faulty."""
    boot.again(os.environ, server.cfg)


def pre_fork(server, worker):
    """Give a worker a place to count."""
    boot.seat(worker.age)


def post_worker_init(worker):
    """Load the tools when the worker boots, before it takes its first request."""
    refusal.told[:] = [worker.wsgi.metrics.turned_away]
    worker.wsgi.start()


def child_exit(server, worker):
    """Let the others know that a worker is gone, killed ones too."""
    balance.leave(worker.age)
    boot.left(worker.age)


def worker_exit(server, worker):
    """End the loading thread of a worker that stops."""
    gateway = getattr(worker, "wsgi", None)  # not there when the worker could not boot
    try:
        if gateway is not None:
            gateway.stop()
    finally:
        worker.end()


def on_exit(server):
    """Leave nothing behind."""
    boot.end()
