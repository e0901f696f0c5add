"""Rules about the files themselves, where no tool of its own exists for them. The rooms are kept by import-linter."""

import ast
import configparser
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "mcp_gateway"
MODULES = sorted(PACKAGE.rglob("*.py"))

# Each of these reads or writes JSON of its own side only, or says at its top why it may touch someone else's.
MAY_IMPORT_JSON = ("jsontext.py", "schema.py", "cli/", "sample_tool_service/")

# A clone must build behind any mirror, on any machine, and speak of nothing that only its authors have.
# Written in pieces, since this file is searched too.
FOREIGN = re.compile(
    "|".join(
        [
            r"(?<![\w.:/~$}-])/(?:" + "work|root|tmp|" + r"home/\w+)/[\w.]",
            re.escape("pypi" + ".org"),
            re.escape("python" + "hosted.org"),
            re.escape("registry.npm" + "js.org"),
            re.escape("deb.debian" + ".org"),
            "MCP-" + "WIRE",
            "CONTRACT" + r"(?:\.md| section)",
            r"\.\./" + "shared/",
        ]
    )
)


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def files_of_the_project() -> Iterator[Path]:
    """Yield the tracked files; in a copy without its history, all but what is made here."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listing.returncode == 0 and (ROOT / ".git").exists():
        yield from (ROOT / name for name in listing.stdout.decode().split("\0") if name)
        return
    made_here = {".git", ".venv", ".cache", ".hypothesis", "__pycache__", "build", "var"}
    for path in ROOT.rglob("*"):
        parts = path.relative_to(ROOT).parts
        if path.is_file() and not made_here.intersection(parts) and not any(p.endswith(".egg-info") for p in parts):
            yield path


@pytest.mark.parametrize("module", MODULES, ids=relative)
def test_every_module_says_what_it_is(module: Path) -> None:
    assert ast.get_docstring(ast.parse(module.read_text("utf-8")))


@pytest.mark.parametrize("module", MODULES, ids=relative)
def test_foreign_json_is_read_and_written_by_jsontext_alone(module: Path) -> None:
    if module.relative_to(PACKAGE).as_posix().startswith(MAY_IMPORT_JSON):
        return
    imported = set()
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            imported.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            imported.add((node.module or "").partition(".")[0])
    assert "json" not in imported


def test_no_file_names_a_machine_a_registry_or_a_page_that_a_clone_does_not_have() -> None:
    found = []
    for path in files_of_the_project():
        try:
            lines = path.read_text("utf-8").splitlines()
        except (UnicodeDecodeError, FileNotFoundError):  # no text, or deleted and not yet committed
            continue
        for number, line in enumerate(lines, 1):
            if match := FOREIGN.search(line):
                found.append(f"{relative(path)}:{number}: {match[0]}")
    assert not found, "\n".join(found)


def test_a_wheel_holds_every_file_of_the_package(tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(PACKAGE, source / "mcp_gateway", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.cfg", "pyproject.toml"):
        shutil.copy(ROOT / name, source)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(tmp_path), str(source)],
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == {
        path.relative_to(ROOT).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_every_decision_record_has_its_three_parts() -> None:
    records = sorted((ROOT / "docs" / "adr").glob("[0-9]*.md"))
    assert records
    for record in records:
        headings = re.findall(r"^## (.+)$", record.read_text("utf-8"), re.MULTILINE)
        assert {"Context", "Decision", "Consequences"} <= set(headings), relative(record)


def test_every_protocol_revision_is_fenced_by_the_import_contract() -> None:
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg", encoding="utf-8")
    fenced = settings["importlinter:contract:eras"]["protected_modules"].split()
    revisions = [f"mcp_gateway.protocol.{path.stem}" for path in sorted((PACKAGE / "protocol").glob("v*.py"))]
    assert fenced == revisions
