"""A real nginx with the configuration of deploy/nginx, which is changed in its ports and paths alone."""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import re
import shutil
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .ports import free_port
from .processes import ROOT, Gateway, Running, process_table, running
from .rpc import request
from .waiting import wait_until

CONFIGURATION = ROOT / "deploy" / "nginx" / "mcp-gateway.conf"
INSTANCES = CONFIGURATION.with_name("instances.conf")

# What a distribution's nginx.conf has around conf.d/, with every path inside {folder}.
AROUND = """
{user}
daemon off;
worker_processes 2;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 512; }}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/conf.d/*.conf;
}}
"""


@dataclass(frozen=True, slots=True)
class Nginx(Running):
    """A running nginx."""

    url: str
    access_log: Path
    instances: Path

    def workers(self) -> set[int]:
        """Return the process ids of its workers."""
        return {pid for pid, parent in process_table() if parent == self.pid}

    def reload(self, text: str) -> None:
        """Take other instances, and wait until no worker with the old ones is left."""
        old = self.workers()
        self.instances.write_text(text, encoding="utf-8")
        self.signal(signal.SIGHUP)
        wait_until(lambda: len(now := self.workers()) == len(old) and not now & old, "new workers of nginx")

    def lines(self) -> list[dict[str, Any]]:
        """Return its access log, a document for each request in the order in which they ended."""
        return [json.loads(line) for line in self.access_log.read_text(encoding="utf-8").splitlines()]

    def line(self, guid: str) -> dict[str, Any]:
        """Return the line of one request, once it is there: nginx writes it after it has answered."""

        def found() -> list[dict[str, Any]]:
            return [line for line in self.lines() if line["guid"] == guid]

        (line,) = wait_until(found, f"line of {guid}")
        return line


def program() -> str:
    """Return where nginx is; without one the test is skipped, or fails where everything has to be there."""
    found = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if found is None and os.environ.get("CI"):
        pytest.fail("nginx is not installed")
    return found or pytest.skip("nginx is not installed")


def changed(text: str, changes: Mapping[str, str]) -> str:
    """Return a configuration with other ports and paths, and nothing else changed."""
    for old, new in changes.items():
        assert text.count(old) == 1, f"{old!r} is not once in it"
        text = text.replace(old, new)
    return text


@contextlib.contextmanager
def nginx(folder: Path, *instances: Gateway, upstream: Path = INSTANCES) -> Iterator[Nginx]:
    """
    Start nginx in front of *instances* and wait until it answers.

    Args:

        folder: Where its files are put.

        instances: The gateways, in the order in which *upstream* names them.

        upstream: The file that says where the instances are.
    """
    command = program()
    port, access_log = free_port(), folder / "access.log"
    conf_d = folder / "conf.d"
    conf_d.mkdir()
    own = {"listen 8080;": f"listen 127.0.0.1:{port};", "/var/log/nginx/mcp-gateway.log": str(access_log)}
    (conf_d / CONFIGURATION.name).write_text(changed(CONFIGURATION.read_text("utf-8"), own), "utf-8")
    named = upstream.read_text("utf-8")
    addresses = re.findall(r"^    server (\S+) ", named, re.MULTILINE)
    others = {
        f"server {address} ": f"server {instance.url.removeprefix('http://')} "
        for address, instance in zip(addresses, instances, strict=True)
    }
    (conf_d / INSTANCES.name).write_text(changed(named, others), "utf-8")
    # Started by root, its workers would be nobody, who may not enter a test's folder.
    user = f"user {getpass.getuser()};" if os.geteuid() == 0 else ""
    main = folder / "nginx.conf"
    main.write_text(AROUND.format(user=user, folder=folder), encoding="utf-8")
    with running([command, "-c", str(main), "-e", str(folder / "error.log")], folder / "nginx.log") as here:
        server = Nginx(here.process, here.log, f"http://127.0.0.1:{port}", access_log, conf_d / INSTANCES.name)
        wait_until(lambda: _answers(server), "answer of nginx")
        yield server


def _answers(server: Nginx) -> bool:
    assert server.process.poll() is None, f"nginx ended; it said:\n{server.said()}"
    try:
        return request("GET", f"{server.url}/healthz").status == 200
    except OSError:
        return False
