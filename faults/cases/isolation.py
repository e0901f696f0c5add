"""A Tool Service that hangs and is flooded, and what others feel of it."""

from __future__ import annotations

import asyncio

from ..gateway import WORKERS, route
from ..load import Tally, all_of
from ..stage import HEALTHY, Stage, fault
from ..tool_service import Talk, answers
from ..wire import RIGHT

FLOOD = 200
"""New callers of the hung service, each second."""

MAX_IN_FLIGHT = 16

SLOWER = 5.0
"""How many times slower the healthy tool may be at its 99th percentile: the flood has its share of the CPUs too."""

GENEROUS_S = 0.25


@fault(
    "hung-and-flooded",
    f"a service hangs with {MAX_IN_FLIGHT} calls in each worker, and {FLOOD} more callers a second come",
    "busy at once for the surplus; right, and as fast as before, for others on the same route and on another",
    seconds=15,
)
async def hung_and_flooded(stage: Stage) -> None:
    """Measure the healthy service alone, then beside the flood."""
    released = asyncio.Event()

    async def hangs(talk: Talk) -> None:
        await released.wait()
        answers(talk)

    async with stage.service("hung", hangs=hangs) as hung, stage.healthy() as well:
        # One more service of that name: a route of its own in front of the same healthy one.
        async with stage.gateway(hung, well, routes=[route("other", well)]) as gateway:

            async def healthy() -> tuple[Tally, Tally]:
                same = stage.load(gateway, HEALTHY, beside=True, callers=4, rate=100)
                other = stage.load(gateway, HEALTHY, beside=True, callers=4, rate=100, path="/mcp/other")
                await all_of(same.run(seconds=stage.seconds), other.run(seconds=stage.seconds))
                return same.tally, other.tally

            alone = await healthy()
            held = stage.load(gateway, "hangs", [RIGHT, "busy"], callers=WORKERS * MAX_IN_FLIGHT * 4, fresh=True)
            flood = stage.load(gateway, "hangs", ["busy", RIGHT])
            filling = asyncio.ensure_future(held.run(count=WORKERS * MAX_IN_FLIGHT * 4))
            await asyncio.sleep(1)
            flooding = asyncio.ensure_future(flood.arrive(rate=FLOOD, seconds=stage.seconds))
            beside = await healthy()
            await flooding
            refused = sorted(flood.tally.times)
            released.set()
            await filling
            busy = flood.tally.labels["busy"]
            stage.must(held.tally.labels[RIGHT] + flood.tally.labels[RIGHT] == WORKERS * MAX_IN_FLIGHT, "not all hung")
            stage.notes.append(
                f"{busy} of {flood.tally.calls} callers of the hung service were told busy, half of them within "
                f"{refused[len(refused) // 2] * 1000:.1f} ms"
            )
            for name, before, after in zip(("the same route", "another route"), alone, beside, strict=True):
                _compare(stage, name, before, after)


def _compare(stage: Stage, name: str, alone: Tally, beside: Tally) -> None:
    figures = [
        f"{part * 1000:.1f} ms" for tally in (alone, beside) for part in (tally.quantile(0.5), tally.quantile(0.99))
    ]
    stage.notes.append(
        f"a healthy tool on {name}: half within {figures[0]}, 99 % within {figures[1]} alone; "
        f"{figures[2]} and {figures[3]} beside the flood"
    )
    bound = alone.quantile(0.99) * SLOWER + GENEROUS_S
    stage.must(
        beside.quantile(0.99) <= bound, f"on {name} 99 % took {beside.quantile(0.99):.3f} s; {bound:.3f} s is the bound"
    )
