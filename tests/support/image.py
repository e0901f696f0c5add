"""
The Dockerfile, followed by hand: what its first stage makes, in a folder and not an image, and how a container is run.

There is no engine in it. ``COPY`` and ``RUN`` of the first stage are done as they are written, with the Python of the
tests in place of the base; the second stage adds that folder and its environment alone, and takes pip from the base.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from .ports import free_port
from .processes import ROOT, Gateway, running
from .waiting import wait_until

DOCKERFILE = ROOT / "Dockerfile"

# A container as "docker run --read-only --cap-drop ALL --tmpfs /dev/shm --tmpfs /tmp" has it, made of the machine's own
# root: everything read-only but memory, and neither root nor a capability left.
CONTAINER = """
mount --make-rprivate /
mount -t tmpfs tmpfs /mnt
mkdir /mnt/app /mnt/python
mount --bind "$APP" /mnt/app
mount --bind "$PYTHON" /mnt/python
mount -t tmpfs -o mode=1777,size=64m tmpfs /tmp
mkdir -p "$APP"
mount --bind /mnt/app "$APP"
mount -o remount,ro,bind "$APP"
case "$PYTHON" in /root/*)
    mount -t tmpfs -o mode=755 tmpfs /root
    mkdir -p "$PYTHON"
    mount --bind /mnt/python "$PYTHON" ;;
esac
mount -o remount,ro,bind /
mount -t tmpfs -o mode=1777,size=128m tmpfs /dev/shm
exec setpriv --reuid=10001 --regid=10001 --clear-groups --no-new-privs --bounding-set=-all -- "$@"
"""


def instructions() -> list[tuple[str, str]]:
    """Return every instruction of the Dockerfile and what stands behind it."""
    text = re.sub(r"\\\n\s*", "", DOCKERFILE.read_text("utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.partition(" ")[0], line.partition(" ")[2].strip()) for line in lines]


def stages() -> list[list[tuple[str, str]]]:
    """Return the instructions of each stage, its ``FROM`` first."""
    found: list[list[tuple[str, str]]] = []
    for instruction, rest in instructions():
        if instruction == "FROM":
            found.append([])
        if found:
            found[-1].append((instruction, rest))
    return found


def every(name: str, stage: int) -> list[str]:
    """Return what stands behind each *name* of a stage."""
    return [rest for instruction, rest in stages()[stage] if instruction == name]


def environment(stage: int) -> dict[str, str]:
    """Return the variables that a stage sets."""
    return dict(pair.split("=", 1) for rest in every("ENV", stage) for pair in rest.split())


def copied() -> list[str]:
    """Return what the first stage takes from the clone."""
    return [source.rstrip("/") for rest in every("COPY", 0) for source in rest.split()[:-1]]


@dataclass(frozen=True, slots=True)
class Image:
    """What the first stage has made, as ``/app`` of the image has it."""

    app: Path

    @property
    def python(self) -> Path:
        """Its Python."""
        return self.app / ".venv" / "bin" / "python"

    def environment(self) -> dict[str, str]:
        """Return the variables of a container, with the paths of this folder and nothing of this process."""
        return {
            name: value.replace("/app", str(self.app)).replace("$PATH", "/usr/bin:/bin")
            for name, value in environment(-1).items()
        }


def build(folder: Path, **arguments: str) -> Image:
    """Follow the first stage in *folder*, with *arguments* as "docker build --build-arg" has them."""
    app = folder / "app"
    app.mkdir(parents=True)
    given = dict(pair.split("=", 1) for pair in every("ARG", 0)) | arguments
    # pip's own cache may be used here: what comes out of it is held to the same hashes.
    of_stage = {name: value for name, value in environment(0).items() if name != "PIP_NO_CACHE_DIR"}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for instruction, rest in stages()[0]:
        if instruction == "COPY":
            *sources, target = rest.split()
            _copy(sources, app / target)
        elif instruction == "RUN":
            command = ["sh", "-e", "-c", rest]
            env = {**os.environ, **of_stage, **given, "PATH": path}
            done = subprocess.run(command, cwd=app, env=env, capture_output=True, text=True, timeout=300, check=False)
            assert done.returncode == 0, f"{rest}\n{done.stdout}\n{done.stderr}"
    return Image(app)


def _copy(sources: list[str], target: Path) -> None:
    target.mkdir(exist_ok=True)
    for source in map(ROOT.joinpath, sources):
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)


def can_contain() -> bool:
    """Say whether this machine lets the test make a container of its own: Linux, and root that may mount."""
    if sys.platform != "linux" or os.geteuid() != 0 or not shutil.which("setpriv") or not shutil.which("unshare"):
        return False
    return subprocess.run(["unshare", "--mount", "mount", "--make-rprivate", "/"], check=False).returncode == 0


@contextlib.contextmanager
def contained(image: Image, log: Path, env: Mapping[str, str]) -> Iterator[Gateway]:
    """Run the image's command as a container would, with *env* on top of the image's, until the block ends."""
    if not can_contain():
        pytest.skip("no container can be made here: that needs Linux, root, unshare and setpriv")
    (command,) = map(json.loads, every("CMD", -1))
    port = free_port()
    environ: dict[str, str | None] = dict.fromkeys(os.environ)
    # Nobody has to see that it drains, so it need not take the 15 s that it takes in production.
    environ |= image.environment() | {"HOST": "127.0.0.1", "PORT": str(port), "MCP_GATEWAY_DRAIN_S": "0"} | env
    environ |= {"APP": str(image.app), "PYTHON": sys.base_prefix}
    with running(
        ["/usr/bin/unshare", "--mount", "/bin/sh", "-ec", CONTAINER, "sh", *command], log, env=environ, cwd=image.app
    ) as here:
        gateway = Gateway(here.process, here.log, f"http://127.0.0.1:{port}", Path(env.get("MCP_GATEWAY_CONFIG", "")))
        wait_until(gateway.answers, "answer of /healthz", 30)
        yield gateway
