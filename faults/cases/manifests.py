"""Manifests that are not there, come back, change, or lie, beside calls that must not notice."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Sequence
from typing import Any

from ..gateway import Gateway, route
from ..load import get
from ..stage import HEALTHY, Stage, fault
from ..tool_service import Behaviour, Talk, answers, http, publishes

REFRESH = {"refresh_interval_s": 0.5, "load_timeout_s": 2}
"""Manifests are asked for all the time."""


async def ready(gateway: Gateway) -> dict[str, Any]:
    """Return the document of one worker's ``/readyz``."""
    document: dict[str, Any] = json.loads((await get(gateway.port, "/readyz")).body)
    return document


@fault(
    "manifest-down-at-boot",
    "a route's only Tool Service is down when the gateway starts, and comes up later",
    "registry_unavailable until it is there, then right; the other route right all the time",
    seconds=10,
)
async def down_at_boot(stage: Stage) -> None:
    """Start in front of nobody."""
    late = stage.service("late", late=answers)
    async with late, stage.healthy() as well:
        await late.stop()
        other = route("late", late)
        async with stage.gateway(well, routes=[other], ready=False, rests=False) as gateway:
            early = stage.load(gateway, "late", ["registry_unavailable"], path="/mcp/late", callers=4)
            beside = stage.load(gateway, HEALTHY, beside=True, callers=4)
            async with beside:
                stage.must((await get(gateway.port, "/readyz")).status == 503, "/readyz is not 503 without tools")
                await early.run(seconds=stage.seconds / 2)
                await late.start()
                await gateway.serves()
                await stage.load(gateway, "late", path="/mcp/late", callers=4).run(seconds=stage.seconds / 2)
            stage.must((await get(gateway.port, "/healthz")).status == 200, "/healthz is not 200")


@fault(
    "manifest-coming-back",
    "a Tool Service goes down, the gateway is told to reload, and it comes back",
    "refused/not_sent while it is down (its tools stay known), else right",
    seconds=12,
)
async def coming_back(stage: Stage) -> None:
    """Take it away under load, and give it back."""
    away = stage.service("away", away=answers)
    async with away, stage.healthy() as well:
        async with stage.gateway(away, well, registry=REFRESH, steady=False) as gateway:
            beside = stage.load(gateway, HEALTHY, beside=True)
            async with beside:
                await stage.load(gateway, "away").run(seconds=stage.seconds / 4)
                await away.stop()
                down = stage.load(gateway, "away", ["refused/not_sent"])
                await down.run(seconds=stage.seconds / 4)
                former = gateway.workers()
                gateway.reload()
                await gateway.replaced(former)
                await stage.load(gateway, "away", ["refused/not_sent"]).run(seconds=stage.seconds / 4)
                await away.start()
                await stage.load(gateway, "away").run(seconds=stage.seconds / 4)


@fault(
    "manifest-changing",
    "the manifest is another one at each request: tools come and go, schemas and order change",
    "right for the tool that stays",
    seconds=15,
)
async def changing(stage: Stage) -> None:
    """Publish something else each time."""
    version = itertools.count()

    def another(talk: Talk) -> None:
        number = next(version)
        document = talk.service.document()
        document["toolService"] = {"name": "well", "version": f"1.{number}.0"}
        (healthy,) = document["tools"]
        healthy["description"] = f"Version {number}."
        healthy["inputSchema"]["properties"][f"extra{number % 7}"] = {"type": "string"}
        others = [{**healthy, "name": f"other.{number + more}"} for more in range(number % 20)]
        document["tools"] = [*others, healthy] if number % 2 else [healthy, *others]
        talk.send(http(json.dumps(document)))

    async with stage.healthy() as well:
        well.manifest = another
        async with stage.gateway(well, registry=REFRESH) as gateway:
            await stage.load(gateway).run(seconds=stage.seconds)
            stage.notes.append(f"the manifest was read {next(version)} times")


def _broken_manifests(seconds: float) -> Sequence[Behaviour]:
    def said(document: Any) -> Behaviour:
        return lambda talk: talk.send(http(document if isinstance(document, str | bytes) else json.dumps(document)))

    tool = {"name": HEALTHY, "description": "x", "inputSchema": {"type": "object"}, "endpoint": "/tools/healthy"}

    async def silent(talk: Talk) -> None:
        await talk.gone()

    async def dripping(talk: Talk) -> None:
        await talk.drip(http(json.dumps(talk.service.document())), seconds)

    async def endless(talk: Talk) -> None:
        talk.send(http(b"", length=50_000_000))
        for _ in range(50):
            talk.send(b" " * 1_000_000)
            await talk.sent()

    return [
        said("not even JSON"),
        said(b"\xff\xfe\x00"),
        said("[" * 100_000),
        said([]),
        said({"manifestVersion": "2", "tools": []}),
        said({"manifestVersion": "1"}),
        said({"manifestVersion": "1", "tools": [{**tool, "name": f"t{n}"} for n in range(60)]}),
        lambda talk: talk.send(http("{}", status="500 Internal Server Error")),
        lambda talk: talk.send(http("", "Location: http://127.0.0.1:9/manifest", status="302 Found")),
        lambda talk: talk.reset(),
        lambda talk: talk.end(),
        lambda talk: talk.send(b"no HTTP at all\r\n\r\n"),
        silent,
        dripping,
        endless,
    ]


@fault(
    "manifest-lying",
    "the manifest is garbage, of another version, too large, a redirect, 500, cut off, silent or dripping, in turn",
    "right: the last good manifest stays",
    seconds=30,
)
async def lying(stage: Stage) -> None:
    """Publish what no manifest is, again and again."""
    async with stage.healthy() as well:
        async with stage.gateway(well, registry=REFRESH) as gateway:
            turns = itertools.cycle(_broken_manifests(0.05))
            well.manifest = lambda talk: next(turns)(talk)
            before = well.manifests
            await stage.load(gateway).run(seconds=stage.seconds)
            asked = well.manifests - before
            stage.notes.append(f"{asked} lies were told")
            stage.must(asked > 2, "hardly any manifest was asked for")
            document = await ready(gateway)
            stage.must(document["status"] == "ready", "the route is not ready any more")
            stage.must(any(each["error"] for each in document["routes"][0]["toolServices"]), "no lie shows in /readyz")
            well.manifest = publishes


@fault(
    "manifest-invalid-tools",
    "one tool among the good is invalid at each request: other hosts, other types, names of others",
    "right: it alone is left out",
    seconds=10,
)
async def invalid_tools(stage: Stage) -> None:
    """Publish one tool that must not be served."""
    wrong: Sequence[dict[str, Any]] = [
        {"endpoint": "//evil.example/x"},
        {"endpoint": "http://evil.example/x"},
        {"endpoint": "/a/../../b"},
        {"endpoint": "/x\r\nX-Evil: 1"},
        {"inputSchema": {"type": "array"}},
        {"inputSchema": {"$ref": "http://evil.example/schema"}},
        {"inputSchema": {"type": "object", "properties": {"a": True, "b": 5}}},
        {"name": "with space"},
        {"name": HEALTHY},
        {"title": None},
        {"timeoutMs": -1},
    ]
    turns = itertools.cycle(wrong)

    def one_more(talk: Talk) -> None:
        document = talk.service.document()
        document["tools"].append({**document["tools"][0], "name": "bad", **next(turns)})
        talk.send(http(json.dumps(document)))

    async with stage.healthy() as well:
        well.manifest = one_more
        async with stage.gateway(well, registry=REFRESH) as gateway:
            await stage.load(gateway).run(seconds=stage.seconds)
            for _ in range(5):
                tools = (await ready(gateway))["routes"][0]["tools"]
                stage.must(tools == [HEALTHY], f"these tools are served: {tools}")
                await asyncio.sleep(0.1)
