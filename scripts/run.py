"""
Start the sample Tool Service and the gateway, wait until a call would work, say how to make one; Ctrl-C ends both.

For ``make run``. Standard library only, and nothing of the package: what runs here is what a user would start by hand.
``HOST``, ``PORT`` and ``SAMPLE_TOOL_SERVICE_PORT`` choose the addresses.
"""

from __future__ import annotations

import errno
import http.client
import ipaddress
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent

READY_WITHIN_S = 30.0
"""How long a start may take; a warm one takes about two seconds, the first on a slow disk ten."""

TOOLS_WITHIN_S = 8.0
"""How long is waited for the tools of every route once the gateway answers: it gives each manifest 5 s."""

END_WITHIN_S = 10.0
"""How long a process may finish what it is doing before it is killed; a second Ctrl-C does not wait for it."""

POLL_S = 0.1

LOG_TAIL_LINES = 40


class CannotRun(Exception):
    """Raised when the two cannot be started, or one of them has ended; the message is for who started them."""


class Stopped(Exception):
    """Raised when a signal asks for the end."""


@dataclass(frozen=True)
class Settings:
    """Where the two processes listen, from the environment."""

    host: str
    port: int
    sample_port: int

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> Settings:
        """
        Read the settings; an empty variable counts as absent.

        Raises:

            CannotRun: A port is no port, or both are the same.
        """
        host = environ.get("HOST") or "127.0.0.1"
        port = _port(environ, "PORT", 8080)
        sample_port = _port(environ, "SAMPLE_TOOL_SERVICE_PORT", 9100)
        if port == sample_port:
            raise CannotRun(f"PORT and SAMPLE_TOOL_SERVICE_PORT are both {port}: each needs its own")
        return cls(host, port, sample_port)

    @property
    def reached_at(self) -> str:
        """The host under which this machine reaches the gateway: one that means "every address" cannot be called."""
        try:
            address = ipaddress.ip_address(self.host)
        except ValueError:
            return self.host
        if address.is_unspecified:
            return "127.0.0.1" if address.version == 4 else "::1"
        return self.host

    @property
    def url(self) -> str:
        """The gateway's address, without a path."""
        host = f"[{self.reached_at}]" if ":" in self.reached_at else self.reached_at
        return f"http://{host}:{self.port}"


def _port(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name) or str(default)
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 65536):
        raise CannotRun(f"{name} must be a number from 1 to 65535, not {text!r}")
    return int(text)


def refuse_taken(host: str, port: int, variable: str) -> None:
    """
    Make sure that *port* can be listened on.

    Raises:

        CannotRun: Something else listens there, or it may not be used; says how to choose another.
    """
    other = f"choose another one: {variable}={port + 1 if port < 65535 else port - 1} make run"
    family = socket.AF_INET6 if ":" in host else socket.AF_INET  # what gunicorn takes, for a name such as localhost too
    try:
        *_, address = socket.getaddrinfo(host, port, family, socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(1)
    except (socket.gaierror, UnicodeError):
        raise CannotRun(f"HOST={host} is no address of this machine") from None
    except OSError as fault:
        if fault.errno == errno.EADDRINUSE:
            raise CannotRun(f"Port {port} is in use by another process; {other}") from None
        if fault.errno == errno.EACCES:
            raise CannotRun(f"Port {port} may not be used by this user; {other}") from None
        raise CannotRun(f"Cannot listen on {host} port {port}: {fault.strerror}") from None


def curl_line(url: str) -> str:
    """Return one command line that calls a tool through the gateway."""
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "core.search_documents", "arguments": {"query": "gateway"}},
    }
    headers = ["-H", "content-type: application/json", "-H", "mcp-protocol-version: 2025-11-25"]
    return shlex.join(["curl", "-s", f"{url}/mcp/core", *headers, "-d", json.dumps(call, separators=(",", ":"))])


def doctor_line(settings: Settings) -> str:
    """Return one command line that walks a call step by step, with the ports that are not the usual ones."""
    ports = (("PORT", settings.port, 8080), ("SAMPLE_TOOL_SERVICE_PORT", settings.sample_port, 9100))
    chosen = [f"{name}={port}" for name, port, usual in ports if port != usual]
    return " ".join([*chosen, ".venv/bin/mcp-gateway doctor core core.search_documents --send"])


def greeting(settings: Settings, logs: Sequence[Path]) -> str:
    """Return what is printed when everything is up."""
    url = settings.url
    return f"""
The gateway is up.

  MCP URL   {url}/mcp/core
  console   {url}/console
  probes    {url}/healthz  {url}/readyz
  logs      {"  ".join(map(str, logs))}

Call a tool from another terminal:

  {curl_line(url)}

Walk a call step by step, and see whose fault it is when one fails:

  {doctor_line(settings)}

Ctrl-C ends it.
"""


def unready(report: str) -> list[str]:
    """Return what ``/readyz`` says is not ready, a line for each route or Tool Service."""
    try:
        routes = json.loads(report)["routes"]
        return [
            f"route '{route['route']}': Tool Service '{service['name']}': {service['error']}"
            for route in routes
            if not route["ready"]
            for service in route["toolServices"]
        ]
    except (ValueError, KeyError, TypeError):
        return [report[:200]]


def tail(log: Path, lines: int = LOG_TAIL_LINES) -> str:
    """Return the last lines of *log*, for a person."""
    last = log.read_text("utf-8", "replace").splitlines()[-lines:]
    return "\n".join([f"The last lines of {log}:", *(f"  {line}" for line in last or ["(it is empty)"])])


def empty_log(name: str) -> Path:
    """
    Make the empty file that a process writes what it says into.

    Raises:

        CannotRun: The file cannot be written.
    """
    log = ROOT / "var" / "log" / f"{name}.log"
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_bytes(b"")
    except OSError as fault:
        raise CannotRun(f"Cannot write {log}: {fault.strerror}") from None
    return log


class Child:
    """A started process, the leader of a group of its own so that nothing of it can stay behind."""

    def __init__(self, name: str, command: Sequence[str], log: Path, environ: Mapping[str, str]) -> None:
        self.name = name
        self.log = log
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C reaches this script alone, which then ends both in order
            )

    def ended(self) -> str | None:
        """Return how the process has ended, as words; None while it runs."""
        status = self._process.poll()
        if status is None:
            return None
        return f"with status {status}" if status >= 0 else f"by {signal.Signals(-status).name}"

    def end(self, hurry: Callable[[], bool]) -> None:
        """Ask the process to end, wait until it has, and kill whatever of its group is left after ``END_WITHIN_S``."""
        if self._process.poll() is None:
            self._process.terminate()
        patience = time.monotonic() + END_WITHIN_S
        while self._process.poll() is None and time.monotonic() < patience and not hurry():
            time.sleep(POLL_S)
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass  # the group is empty (macOS says so with EPERM)
        self._process.wait()


class Signals:
    """Counts the signals that ask for the end; the main loop looks, so that no clean-up is ever torn in half."""

    def __init__(self) -> None:
        self.count = 0
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._note)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup has asked for it to be ignored
            signal.signal(signal.SIGHUP, self._note)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.count += 1


def wait_for(url: str, children: Sequence[Child], signals: Signals) -> None:
    """
    Wait until *url* answers 200.

    Raises:

        CannotRun: A process has ended, or it took too long.
        Stopped: A signal came.
    """
    said = _patiently(url, READY_WITHIN_S, children, signals)
    if said is not None:
        logs = "\n\n".join(tail(child.log) for child in children)
        raise CannotRun(f"{url} was not there within {READY_WITHIN_S:.0f} s; it says: {said}\n\n{logs}")


def _patiently(url: str, within_s: float, children: Sequence[Child], signals: Signals) -> str | None:
    """Return ``None`` as soon as *url* answers 200, else what it has last said."""
    until = time.monotonic() + within_s
    while (said := _get(url)) != "200":
        _look(children, signals)
        if time.monotonic() > until:
            return said.partition(" ")[2]
        time.sleep(POLL_S)
    return None


def _get(url: str) -> str:
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.netloc, timeout=5)
    try:
        connection.request("GET", address.path)
        answer = connection.getresponse()
        body = answer.read(1_000_000).decode("utf-8", "replace")
        return "200" if answer.status == 200 else f"{answer.status} {body}"
    except (OSError, http.client.HTTPException) as fault:
        return f"- nothing ({fault})"
    finally:
        connection.close()


def _look(children: Sequence[Child], signals: Signals) -> None:
    if signals.count:
        raise Stopped
    for child in children:
        if (how := child.ended()) is not None:
            raise CannotRun(f"The {child.name} has ended {how}.\n\n{tail(child.log)}")


def run(environ: Mapping[str, str]) -> None:
    """
    Start both, stay until one ends or a signal comes, and end both.

    Raises:

        CannotRun: They could not be started, or one of them ended by itself.
        Stopped: A signal came.
    """
    settings = Settings.read(environ)
    refuse_taken(settings.host, settings.port, "PORT")
    refuse_taken("127.0.0.1", settings.sample_port, "SAMPLE_TOOL_SERVICE_PORT")
    child_environ = {
        **environ,
        "HOST": settings.host,
        "PORT": str(settings.port),
        "SAMPLE_TOOL_SERVICE_PORT": str(settings.sample_port),
        "PYTHONUNBUFFERED": "1",
    }
    python = [sys.executable, "-m"]
    sample = [*python, "mcp_gateway", "sample-tool-service", "--port", str(settings.sample_port)]
    gateway = [*python, "gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"]
    signals = Signals()
    children: list[Child] = []
    try:
        print("Starting …", flush=True)
        log = empty_log(f"sample-tool-service-{settings.sample_port}")
        children.append(Child("sample Tool Service", sample, log, child_environ))
        # The gateway asks for the manifest once as it starts.
        wait_for(f"http://127.0.0.1:{settings.sample_port}/manifest", children, signals)
        children.append(Child("gateway", gateway, empty_log(f"gateway-{settings.port}"), child_environ))
        wait_for(f"{settings.url}/healthz", children, signals)
        missing = _patiently(f"{settings.url}/readyz", TOOLS_WITHIN_S, children, signals)
        print(greeting(settings, [child.log.relative_to(ROOT) for child in children]), flush=True)
        for line in unready(missing) if missing else ():
            print(f"Not ready yet: {line}", flush=True)
        while True:
            _look(children, signals)
            time.sleep(POLL_S)
    finally:
        # The gateway first: it finishes the calls that it has under way with the Tool Service still there.
        seen = signals.count
        for child in reversed(children):
            child.end(hurry=lambda: signals.count > max(seen, 1))


def main() -> int:
    """Run, and return the exit status: 0 when a signal ended it."""
    try:
        run(os.environ)
    except Stopped:
        print("\nEnded.", flush=True)
        return 0
    except CannotRun as fault:
        print(fault, file=sys.stderr, flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main())
