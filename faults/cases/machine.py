"""A machine whose disk is full, or whose clock jumps."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ..gateway import ROOT, Gateway
from ..load import all_of, get
from ..stage import HEALTHY, CannotPlay, Stage, fault
from ..tool_service import Talk, answers

MEMORY = "/dev/shm"  # noqa: S108  where the gateway keeps metrics and heartbeats

SMALL = f'mount -t tmpfs -o size=2m faults {MEMORY} && exec "$@"'
"""A shell line that gives one process a small disk of its own there."""

A_YEAR_S = 365 * 86_400


def small_disk() -> Sequence[str]:
    """
    Return the command that runs another one with a small disk of its own.

    Raises:

        CannotPlay: This system does not let us.
    """
    if shutil.which("unshare") is None:
        raise CannotPlay("there is no unshare")
    apart = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--user", "--map-root-user"]
    command = [*apart, "sh", "-c", SMALL, "sh"]
    tried = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        raise CannotPlay(f"no disk can be mounted here: {tried.stderr.strip()}")
    return command


def fill(gateway: Gateway) -> int:
    """Write into the disk of a gateway until it is full; return how many bytes that took."""
    place = Path(f"/proc/{gateway.pid}/root{MEMORY}/full")
    written = 0
    with contextlib.suppress(OSError), place.open("wb", buffering=0) as file:
        while True:
            written += file.write(bytes(4096))
    return written


@fault(
    "full-disk",
    "the disk that holds metrics, heartbeats and the last good manifests is full; then SIGHUP, then a killed worker",
    "right, before and after; nothing ends",
    seconds=15,
)
async def full_disk(stage: Stage) -> None:
    """Fill it, call tools that were never counted before, reload, kill, and call again."""
    many = {f"tool{number}": answers for number in range(20)}
    async with stage.service("well", healthy=answers, **many) as well:
        async with stage.gateway(well, within=small_disk(), steady=False) as gateway:
            await stage.load(gateway).run(seconds=stage.seconds / 4)
            written = fill(gateway)
            stage.notes.append(f"{written // 1024} KiB were left and are taken")
            async with stage.load(gateway, beside=True, callers=4):
                for tool in many:
                    await stage.load(gateway, tool, callers=4).run(count=40)
                former = gateway.workers()
                gateway.reload()
                await gateway.replaced(former)
            (victim, *_) = gateway.workers()
            gateway.kill(victim)
            await gateway.replaced({victim})
            await stage.load(gateway).run(seconds=stage.seconds / 4)
            stage.notes.append(f"/metrics answers {(await get(gateway.port, '/metrics')).status}")


@fault(
    "clock-jumps",
    "the clock of the gateway's processes jumps by up to ten years, back and forth, ten times a second",
    "right; budget/unknown at the budget for a tool that hangs: deadlines do not look at this clock",
    seconds=15,
)
async def clock_jumps(stage: Stage) -> None:
    """Move the clock while calls are under way."""
    clock, chance = stage.folder / "clock", random.Random(stage.seed)  # noqa: S311  to be played again by its seed
    clock.write_bytes(struct.pack("d", 0.0))
    environment = {"PYTHONPATH": str(ROOT / "faults" / "clock"), "FAULTS_CLOCK": str(clock)}
    jumps = 0

    async def silent(talk: Talk) -> None:
        await talk.gone()

    async def jump() -> None:
        nonlocal jumps
        with clock.open("r+b", buffering=0) as file:
            while True:
                file.seek(0)
                file.write(struct.pack("d", chance.choice([0, 3600, -3600, chance.uniform(-10, 10) * A_YEAR_S])))
                jumps += 1
                await asyncio.sleep(0.1)

    async with stage.service("odd", {"silent": 1_000}, silent=silent) as odd, stage.healthy() as well:
        async with stage.gateway(odd, well, environment=environment) as gateway:
            late = stage.load(gateway, "silent", ["budget/unknown"])
            beside = stage.load(gateway, HEALTHY, beside=True)
            jumping = asyncio.ensure_future(jump())
            await all_of(late.run(seconds=stage.seconds), beside.run(seconds=stage.seconds))
            jumping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await jumping
            stage.within(late.tally, 1.0 + 3.0)
            stage.must(min(late.tally.times, default=0.0) > 0.9, "a call was given up before its budget was used up")
            stage.notes.append(f"{jumps} jumps")
