"""What kustomize makes of a folder of ``deploy/kubernetes``, with the kustomize that kubectl has inside."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

Manifest = dict[str, Any]

OLDEST = 5
"""kustomize before 5 knows less than our folders use; some distributions have a kubectl with 2.0."""


@functools.cache
def program() -> str:
    """Return where a kubectl with a new enough kustomize is; without one the test is skipped."""
    found = shutil.which("kubectl")
    if found is None:
        pytest.skip("kubectl is not installed")
    said = subprocess.run([found, "version", "--client"], capture_output=True, text=True, check=False).stdout
    version = re.search(r"^Kustomize Version: v(\d+)", said, re.MULTILINE)
    if version is None or int(version[1]) < OLDEST:
        pytest.skip(f"the kustomize of {found} is older than {OLDEST}")
    return found


def build(folder: Path) -> list[Manifest]:
    """Return the manifests that "kubectl apply -k *folder*" would send."""
    return list(yaml.safe_load_all(_built(folder)))


@functools.cache
def _built(folder: Path) -> str:
    done = subprocess.run([program(), "kustomize", str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr  # what is deprecated is said here
    return done.stdout


def only(manifests: list[Manifest], kind: str) -> Manifest:
    """Return the one manifest of a kind."""
    (found,) = (manifest for manifest in manifests if manifest["kind"] == kind)
    return found
