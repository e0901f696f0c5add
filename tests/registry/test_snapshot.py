from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from registry.samples import manifest, tool

from mcp_gateway.registry.manifest import read
from mcp_gateway.registry.snapshot import (
    LeftOut,
    Part,
    ServiceReport,
    ServiceState,
    Snapshot,
    TooManyTools,
    assemble,
)
from mcp_gateway.registry.snapshots import Snapshots, snapshots

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2026, 7, 28, tzinfo=UTC)


def part(service: str, *tools, state: ServiceState = ServiceState.LOADED) -> Part:
    return Part(service, state, read(manifest(*tools), service=service), loaded_at=NOW)


def snapshot(*parts: Part, max_tools: int = 50) -> Snapshot:
    return assemble("core", parts, max_tools=max_tools, now=NOW)


def test_tools_stand_in_the_order_of_services_and_manifests():
    both = snapshot(part("one", tool("b"), tool("a")), part("two", tool("c")))
    assert [(entry.name, entry.service) for entry in both.tools] == [("b", "one"), ("a", "one"), ("c", "two")]
    assert (both.route, both.loaded_at) == ("core", NOW)


def test_a_tool_is_found_by_its_exact_name():
    only = snapshot(part("one", tool("a")))
    assert only.find("a") is only.tools[0]
    assert only.find("A") is None


def test_of_two_services_with_one_name_the_earlier_one_is_served_and_the_later_left_out():
    both = snapshot(part("one", tool("a")), part("two", tool("b"), tool("a", endpoint="/other")))
    assert [(entry.name, entry.service) for entry in both.tools] == [("a", "one"), ("b", "two")]
    assert both.services == (
        ServiceReport("one", ServiceState.LOADED, 1, loaded_at=NOW, declared=1),
        ServiceReport(
            "two",
            ServiceState.LOADED,
            1,
            left_out=(LeftOut("a", "tools[1].name", "Tool Service 'one' of this route already has it"),),
            loaded_at=NOW,
            declared=2,
        ),
    )


def test_a_report_has_the_tools_that_the_manifest_left_out_too():
    (report,) = snapshot(part("one", tool("a"), tool("b", title=None))).services
    assert (report.tools, report.left_out) == (1, (LeftOut("b", "tools[1].title", "must be a string"),))


def test_a_service_that_failed_is_reported_and_takes_nothing_from_the_others():
    both = snapshot(Part("one", ServiceState.FAILED, error="it is down"), part("two", tool("a")))
    assert [entry.name for entry in both.tools] == ["a"]
    assert both.services[0] == ServiceReport("one", ServiceState.FAILED, 0, error="it is down")


def test_more_tools_than_a_route_may_have_are_refused():
    parts = [part("one", *(tool(f"a{index}") for index in range(26))), part("two", *(tool(f"b{i}") for i in range(25)))]
    with pytest.raises(TooManyTools, match="have 51 tools together, and a route may have 50") as caught:
        snapshot(*parts)
    assert (caught.value.count, caught.value.limit) == (51, 50)
    assert len(snapshot(*parts, max_tools=51).tools) == 51


def test_tools_that_are_left_out_do_not_count_towards_the_limit():
    assert len(snapshot(part("one", tool("a")), part("two", tool("a")), max_tools=1).tools) == 1


def test_the_digest_does_not_depend_on_when_or_where_or_on_what_nobody_sees():
    loaded = part("one", tool("a"))
    later = assemble("other", [loaded], max_tools=9, now=datetime(2027, 1, 1, tzinfo=UTC))
    assert later.digest == snapshot(loaded).digest
    assert snapshot(part("one", tool("a"), state=ServiceState.STALE)).digest == snapshot(loaded).digest
    assert snapshot(part("one", tool("a", unknown=1))).digest == snapshot(loaded).digest


@pytest.mark.parametrize(
    "other",
    [
        part("two", tool("a")),
        part("one", tool("b")),
        part("one", tool("a", endpoint="/b")),
        part("one", tool("a", timeoutMs=1)),
        part("one", tool("a", resultFormat="mcp")),
        part("one", tool("a", description="Other.")),
        part("one", tool("a", _meta={"version": "2"})),
        part("one", tool("a"), tool("b")),
        part("one"),
    ],
)
def test_the_digest_changes_with_all_that_callers_and_calls_can_see(other):
    assert snapshot(other).digest != snapshot(part("one", tool("a"))).digest


def test_the_digest_is_the_same_in_every_process():
    probe = (
        "import sys; sys.path.insert(0, 'tests'); from registry.test_snapshot import *; "
        "print(snapshot(part('one', tool('a', _meta={'version': '1'}), tool('b'))).digest)"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", probe], cwd=ROOT, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1
    assert len(seen.pop().strip()) == 64


def test_a_snapshot_is_current_from_its_publication_until_it_is_retired():
    store = Snapshots()
    assert store.current("core") is None
    first, second = snapshot(part("one", tool("a"))), snapshot(part("one", tool("b")))
    store.publish(first)
    assert store.current("core") is first
    store.publish(second)
    assert store.current("core") is second
    store.retire(["other"])
    assert store.current("core") is second
    store.retire(["core"])
    assert store.current("core") is None


def test_publishing_one_route_leaves_the_others():
    store = Snapshots()
    store.publish(snapshot(part("one", tool("a"))))
    store.publish(assemble("other", [part("one", tool("a"))], max_tools=1, now=NOW))
    store.retire(["core"])
    assert store.current("other") is not None


def test_a_worker_has_one_store():
    assert isinstance(snapshots, Snapshots)


def test_a_store_is_empty_at_first():
    assert Snapshots().current("core") is None
