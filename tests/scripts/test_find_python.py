import os
import subprocess
import sys
from pathlib import Path

import pytest

FIND = Path(__file__).resolve().parents[2] / "scripts" / "find_python.sh"
OLD = 'case "$*" in *version_info*) exit 1 ;; esac\n'
BROKEN_SHIM = "echo 'no such version' >&2\nexit 127\n"
WITHOUT_VENV = f'case "$*" in *ensurepip*) exit 1 ;; esac\nexec "{sys.executable}" "$@"\n'
WHOLE = f'exec "{sys.executable}" "$@"\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A folder that is the whole PATH of the script."""
    return tmp_path


def find(path: Path, pythons: dict[str, str], **environ: str) -> subprocess.CompletedProcess[str]:
    for name, body in pythons.items():
        program = path / name
        program.write_text(f"#!/bin/sh\n{body}")
        program.chmod(0o755)
    return subprocess.run(
        ["/bin/sh", str(FIND)], env={"PATH": str(path), **environ}, capture_output=True, text=True, check=False
    )


def test_the_newest_python_that_runs_is_taken(path: Path) -> None:
    done = find(path, {"python3.14": BROKEN_SHIM, "python3.13": WHOLE, "python3.11": WHOLE, "python3": WHOLE})
    assert (done.returncode, done.stdout, done.stderr) == (0, "python3.13\n", "")


def test_a_python_that_cannot_make_an_environment_is_passed_over(path: Path) -> None:
    done = find(path, {"python3.12": WITHOUT_VENV, "python3": WHOLE})
    assert (done.returncode, done.stdout) == (0, "python3\n")


def test_where_only_the_venv_module_is_missing_the_package_is_named(path: Path) -> None:
    done = find(path, {"python3": WITHOUT_VENV})
    version = "{}.{}".format(*sys.version_info[:2])
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        f"Python {version} is here, but without its venv module.",
        f"On Debian and Ubuntu: sudo apt-get install python{version}-venv",
    ]


@pytest.mark.parametrize("pythons", [{}, {"python3": OLD}], ids=["none", "too old"])
def test_where_there_is_no_python_it_says_what_is_needed(path: Path, pythons: dict[str, str]) -> None:
    done = find(path, pythons)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Python 3.11 or newer is needed and was not found")


def test_the_python_that_is_named_is_the_only_one_looked_at(path: Path) -> None:
    assert find(path, {"mine": WHOLE, "python3": WHOLE}, PYTHON="mine").stdout == "mine\n"
    done = find(path, {"mine": OLD, "python3": WHOLE}, PYTHON="mine")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "PYTHON=mine is no Python 3.11 or newer that can be run.\n"


def test_the_script_can_be_started() -> None:
    assert os.access(FIND, os.X_OK)
