"""What kubectl makes of a folder of ``deploy/kubernetes``, where there is one that can."""

from __future__ import annotations

import difflib
import functools
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

OLDEST = 5
"""kustomize before 5 knows less than our folders use; some distributions have a kubectl with 2.0."""


def confirm(folder: Path, manifests: list[Any]) -> None:
    """Hold *manifests* to what kubectl builds of *folder*, in whatever order; without one that can, all is well."""
    program = shutil.which("kubectl")
    if program is not None and _can(program):
        theirs = list(yaml.safe_load_all(_built(program, folder)))
        difference = "\n".join(difflib.unified_diff(_lines(theirs), _lines(manifests), "kubectl", "here", lineterm=""))
        assert not difference, difference


@functools.cache
def _can(program: str) -> bool:
    said = subprocess.run([program, "version", "--client"], capture_output=True, text=True, check=False).stdout
    version = re.search(r"^Kustomize Version: v(\d+)", said, re.MULTILINE)
    return version is not None and int(version[1]) >= OLDEST


@functools.cache
def _built(program: str, folder: Path) -> str:
    done = subprocess.run([program, "kustomize", str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr  # what is deprecated is said here
    return done.stdout


def _lines(manifests: list[Any]) -> list[str]:
    ordered = sorted(manifests, key=lambda manifest: (manifest["kind"], manifest["metadata"]["name"]))
    return json.dumps(ordered, ensure_ascii=False, indent=1, sort_keys=True).splitlines()
