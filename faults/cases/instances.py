"""Two instances behind nginx, of which one is lost."""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import os
import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from bench import processes

from ..gateway import ROOT, Gateway, free_port, until
from ..load import NoAnswer, get
from ..stage import HEALTHY, CannotPlay, Stage, fault
from ..wire import RIGHT

NGINX: Final = ROOT / "deploy" / "nginx"
CALLERS: Final = 16
INSTANCE_LOST: Final = "502 instance_lost"

# What a distribution's nginx.conf has around conf.d/, with every path inside {folder}.
AROUND: Final = """
{user}
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 1024; }}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/conf.d/*.conf;
}}
"""


@contextlib.asynccontextmanager
async def nginx(folder: Path, *instances: Gateway) -> AsyncIterator[int]:
    """
    Run nginx with the configuration of ``deploy/nginx`` in front of these gateways; gives its port.

    Raises:

        CannotPlay: There is no nginx.
    """
    program = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if program is None:
        raise CannotPlay("nginx is not installed")
    port, conf_d = free_port(), folder / "conf.d"
    conf_d.mkdir()
    server = (NGINX / "mcp-gateway.conf").read_text()
    server = server.replace("listen 8080;", f"listen 127.0.0.1:{port};")
    server = server.replace("/var/log/nginx/mcp-gateway.log", str(folder / "access.log"))
    (conf_d / "mcp-gateway.conf").write_text(server)
    ports = (str(instance.port) for instance in instances)
    upstream = re.sub(r"(?m)^(    server [^:\s]+):\d+ ", lambda line: f"{line[1]}:{next(ports)} ", _instances())
    (conf_d / "instances.conf").write_text(upstream)
    # Started by root, its workers would be nobody, who may not enter this folder.
    user = f"user {getpass.getuser()};" if os.geteuid() == 0 else ""
    main = folder / "nginx.conf"
    main.write_text(AROUND.format(user=user, folder=folder))
    command = [program, "-c", str(main), "-e", str(folder / "error.log")]
    process = processes.start(command, folder=folder, env=dict(os.environ), log=folder / "nginx.log")
    try:
        await until(lambda: _answers(port), "answer of nginx", 30.0)
        yield port
    finally:
        processes.end(process)


def _instances() -> str:
    return (NGINX / "instances.conf").read_text()


async def _answers(port: int) -> bool:
    try:
        return (await get(port, "/healthz")).status == 200
    except (OSError, NoAnswer):
        return False


@fault(
    "instance-killed",
    "two instances behind nginx, of which one is killed with all its processes",
    "right; calls that were under way there get nginx's 502 in the gateway's form, and none is sent again",
    seconds=15,
)
async def instance_killed(stage: Stage) -> None:
    """Kill one of two, and see the other take over."""
    async with stage.healthy() as well:
        async with (
            stage.gateway(well, name="first", rests=False, steady=False) as first,
            stage.gateway(well, name="second", rests=False) as second,
            nginx(stage.folder, first, second) as port,
        ):
            await stage.load(first, HEALTHY, port=port, callers=CALLERS).run(seconds=stage.seconds / 3)
            crossing = stage.load(first, HEALTHY, [RIGHT, INSTANCE_LOST], port=port, callers=CALLERS)
            async with crossing:
                await asyncio.sleep(0.5)
                first.kill()
                await asyncio.sleep(0.5)
            await stage.load(first, HEALTHY, port=port, callers=CALLERS).run(seconds=stage.seconds / 3)
            stage.at_most(crossing.tally, INSTANCE_LOST, CALLERS)
            stage.notes.append(f"{crossing.tally.labels[INSTANCE_LOST]} calls were under way in the killed instance")


@fault(
    "instance-stopped",
    "two instances behind nginx, of which one gets SIGTERM and comes back, as in a rolling update",
    "right",
    seconds=15,
)
async def instance_stopped(stage: Stage) -> None:
    """Stop one of two under load."""
    async with stage.healthy() as well:
        environment = {"MCP_GATEWAY_DRAIN_S": "3"}
        async with (
            stage.gateway(well, name="first", rests=False, steady=False, environment=environment) as first,
            stage.gateway(well, name="second", rests=False) as second,
            nginx(stage.folder, first, second) as port,
        ):
            async with stage.load(second, HEALTHY, port=port, callers=CALLERS):
                await asyncio.sleep(stage.seconds / 3)
                await first.stop()
                await asyncio.sleep(stage.seconds / 3)
                first.start()
                await first.serves()
                await asyncio.sleep(stage.seconds / 3)
