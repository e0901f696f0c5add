"""Many calls."""

from __future__ import annotations

from ..stage import Stage, fault

GROWTH_MB = 5.0


@fault("20000-calls", "20,000 calls after a warm-up of 4,000", "right; memory grows by less than 5 MB", seconds=0)
async def many_calls(stage: Stage) -> None:
    """Call, look at the memory, call, and look again."""
    warm_up, calls = (500, 2_000) if stage.quick else (4_000, 20_000)
    async with stage.healthy() as well, stage.gateway(well) as gateway:
        await stage.load(gateway, callers=16).run(count=warm_up)
        before = gateway.figures().megabytes
        await stage.load(gateway, callers=16).run(count=calls)
        growth = gateway.figures().megabytes - before
        stage.must(stage.quick or growth < GROWTH_MB, f"the workers have grown by {growth:.1f} MB")
        stage.notes.append(f"the two workers have {before:.0f} MB together, and grew by {growth:.1f} MB")
