"""Workers that die, and signals that are sent while calls are under way."""

from __future__ import annotations

import asyncio
import signal
import time

from ..load import NoAnswer, all_of, get
from ..stage import HEALTHY, Stage, fault
from ..tool_service import after
from ..wire import LOST, NO_CONNECTION, RIGHT

CALLERS = 16

ROOM = {"max_in_flight": 64}
"""While there is one worker only, all calls are in it: none may be refused for being one too many."""


@fault(
    "worker-killed",
    "SIGKILL to one of two workers, again and again",
    "right; only calls that were under way in the killed worker are cut, and none is sent again",
    seconds=15,
)
async def worker_killed(stage: Stage) -> None:
    """Kill, wait for the new worker, and kill again."""
    async with stage.healthy() as well:
        async with stage.gateway(well, rests=False, steady=False, service_fields=ROOM) as gateway:
            load = stage.load(gateway, HEALTHY, [RIGHT, LOST], callers=CALLERS)
            kills, end = 0, time.monotonic() + stage.seconds
            async with load:
                while time.monotonic() < end:
                    await asyncio.sleep(1)
                    (victim, *_), former = sorted(gateway.workers()), gateway.workers()
                    gateway.kill(victim)
                    kills += 1
                    await gateway.replaced({victim})
                    stage.must(len(gateway.workers() & former) == 1, "the other worker is gone too")
            stage.at_most(load.tally, LOST, kills * CALLERS)
            stage.notes.append(f"{kills} workers killed, {load.tally.lost} of the calls under way cut")


@fault("sighup", "SIGHUP under load, again and again", "right, on kept connections and on new ones", seconds=20)
async def sighup(stage: Stage) -> None:
    """Reload, wait for the new workers, and reload again."""
    async with stage.service("well", healthy=after(0.0), slow=after(0.5)) as well:
        async with stage.gateway(well, steady=False, service_fields=ROOM) as gateway:
            loads = [
                stage.load(gateway, HEALTHY, callers=CALLERS),
                stage.load(gateway, HEALTHY, callers=4, fresh=True),
                stage.load(gateway, "slow", callers=CALLERS),
            ]
            reloads, end = 0, time.monotonic() + stage.seconds
            async with loads[0], loads[1], loads[2]:
                while time.monotonic() < end:
                    await asyncio.sleep(0.5)
                    former = gateway.workers()
                    gateway.reload()
                    reloads += 1
                    await gateway.replaced(former)
            stage.notes.append(f"{reloads} reloads")


@fault(
    "sigterm",
    "SIGTERM under load, with calls under way that take 3 s",
    "right for every call that was taken, then no connection; exit status 0",
    seconds=6,
)
async def sigterm(stage: Stage) -> None:
    """Tell it to stop, and go on calling until nobody listens any more."""
    drain_s = 2
    async with stage.service("well", healthy=after(0.0), slow=after(3.0)) as well:
        environment = {"MCP_GATEWAY_DRAIN_S": str(drain_s)}
        async with stage.gateway(
            well, rests=False, steady=False, environment=environment, service_fields=ROOM
        ) as gateway:
            taken = (RIGHT, NO_CONNECTION)
            kept = stage.load(gateway, HEALTHY, taken, callers=CALLERS)
            fresh = stage.load(gateway, HEALTHY, taken, callers=4, fresh=True)
            slow = stage.load(gateway, "slow", taken, callers=CALLERS)

            async def stop() -> None:
                await asyncio.sleep(stage.seconds / 2)
                gateway.signal(signal.SIGTERM)
                began = time.monotonic()
                await asyncio.sleep(drain_s / 2)
                try:
                    ready = (await get(gateway.port, "/readyz")).status
                except (OSError, NoAnswer) as fault:
                    stage.problems.append(f"no new connection was answered while it drained: {fault!r}")
                else:
                    stage.must(ready == 503, f"/readyz was {ready} after SIGTERM")
                status = await gateway.ended()
                stage.must(status == 0, f"exit status {status}")
                stage.notes.append(
                    f"ended {time.monotonic() - began:.1f} s after SIGTERM, of which {drain_s} s to drain"
                )

            await all_of(stop(), *(load.run(seconds=stage.seconds + 30) for load in (kept, fresh, slow)))
