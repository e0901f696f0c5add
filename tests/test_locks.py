"""The locks are what ``make lock`` would write: whole, hashed, in step with setup.cfg and with each other."""

import configparser
import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))


def entries(lock: Path) -> list[str]:
    return re.sub(r"\\\n\s*", "", lock.read_text("utf-8")).splitlines()


def pins(lock: Path) -> dict[str, str]:
    pairs = (entry.split()[0].split("==") for entry in entries(lock))
    return {canonicalize_name(name): version for name, version in pairs}


def declared(section: str, option: str) -> list[Requirement]:
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg", encoding="utf-8")
    return [Requirement(line) for line in settings[section][option].strip().splitlines()]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_entry_is_one_release_with_its_hashes_and_without_an_address(lock: Path) -> None:
    assert entries(lock)
    for entry in entries(lock):
        assert re.fullmatch(r"[\w.-]+==[\w.+-]+( ; [^#@]+?)?( --hash=sha256:[0-9a-f]{64})+", entry), entry


@pytest.mark.parametrize(
    ("lock", "section", "option"),
    [
        ("runtime.lock", "options", "install_requires"),
        ("dev.lock", "options", "install_requires"),
        ("dev.lock", "options.extras_require", "dev"),
    ],
)
def test_what_setup_cfg_asks_for_is_in_the_lock(lock: str, section: str, option: str) -> None:
    pinned = pins(ROOT / "requirements" / lock)
    for requirement in declared(section, option):
        assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)]), requirement


@pytest.mark.parametrize("lock", ["runtime.lock", "build.lock"])
def test_a_check_runs_with_the_releases_that_a_user_gets(lock: str) -> None:
    assert pins(ROOT / "requirements" / lock).items() <= pins(ROOT / "requirements" / "dev.lock").items()


def test_the_official_clients_are_locked_in_the_lines_that_are_tested() -> None:
    assert pins(ROOT / "requirements" / "mcp-client-1.lock")["mcp"].startswith("1.30.")
    assert pins(ROOT / "requirements" / "mcp-client-2.lock")["mcp"].startswith("2.3.")
