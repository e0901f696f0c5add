"""``make sbom``: the image's bill of materials, held to the lock that it is made of."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.utils import canonicalize_name
from support.processes import ROOT
from test_locks import entries, pins

SCRIPT = ROOT / "scripts" / "sbom.py"
LOCK = ROOT / "requirements" / "runtime.lock"


def made(lock: Path, output: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, lock, output], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("sbom") / "build" / "bom.json"
    done = made(LOCK, output)
    assert (done.returncode, done.stderr) == (0, "")
    assert "valid" in done.stdout
    return output


@pytest.fixture
def bom(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def test_it_lists_what_the_lock_pins_and_nothing_else(bom: Any) -> None:
    listed = {canonicalize_name(component["name"]): component["version"] for component in bom["components"]}
    assert listed == pins(LOCK)
    assert (bom["bomFormat"], bom["specVersion"]) == ("CycloneDX", "1.6")


def test_every_component_has_the_hashes_that_it_is_held_to(bom: Any) -> None:
    pinned = {canonicalize_name(entry.partition("==")[0]): entry.count("--hash=sha256:") for entry in entries(LOCK)}
    for component in bom["components"]:
        hashes = [each for reference in component["externalReferences"] for each in reference.get("hashes", [])]
        assert len(hashes) == pinned[canonicalize_name(component["name"])]
        assert all(each["alg"] == "SHA-256" for each in hashes)


def test_every_component_that_is_installed_here_has_its_licence_and_an_address_of_its_own(bom: Any) -> None:
    elsewhere = {canonicalize_name(entry.partition("==")[0]) for entry in entries(LOCK) if " ; " in entry}
    for component in bom["components"]:
        assert component["purl"].startswith("pkg:pypi/")
        assert component.get("licenses") or canonicalize_name(component["name"]) in elsewhere


def test_the_gateway_stands_on_top_and_needs_what_setup_cfg_says(bom: Any) -> None:
    root = bom["metadata"]["component"]
    assert (root["type"], root["name"], root["version"]) == ("application", "mcp_gateway", "0.1.0")
    refs = {component["bom-ref"] for component in bom["components"]}
    needs = {entry["ref"]: set(entry.get("dependsOn", [])) for entry in bom["dependencies"]}
    assert {"Flask", "gunicorn", "requests"} <= {ref.partition("==")[0] for ref in needs[root["bom-ref"]]}
    assert set(needs) <= refs | {root["bom-ref"]}
    assert set().union(*needs.values()) <= refs


def test_it_says_nothing_of_the_machine_that_it_was_made_on(path: Path) -> None:
    text = path.read_text("utf-8")
    assert str(ROOT) not in text
    assert "file:" not in text
    assert '"timestamp"' not in text
    assert '"serialNumber"' not in text


def test_the_same_lock_gives_the_same_bytes(path: Path, tmp_path: Path) -> None:
    assert made(LOCK, tmp_path / "again.json").returncode == 0
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


def test_an_environment_that_is_not_the_locks_is_refused(tmp_path: Path) -> None:
    lock = tmp_path / "other.lock"
    lock.write_text(f"flask==0.1 --hash=sha256:{'0' * 64}\n", "utf-8")
    done = made(lock, tmp_path / "bom.json")
    assert done.returncode == 1
    assert "flask" in done.stderr
    assert not (tmp_path / "bom.json").exists()
