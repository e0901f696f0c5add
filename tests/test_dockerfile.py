"""The Dockerfile, as far as it can be read: what it copies, as whom it runs, and what it starts."""

import json
import re
from pathlib import Path

import pytest
from support.image import copied, environment, every, instructions, stages

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("source", copied())
def test_what_is_copied_exists(source: str) -> None:
    assert (ROOT / source).exists()


def test_the_build_context_holds_what_is_copied_and_nothing_else() -> None:
    excluded, *included, caches = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert (excluded, caches) == ("*", "**/__pycache__")
    assert sorted(included) == sorted(f"!{source}" for source in copied())


def test_both_stages_stand_on_one_base_which_is_pinned_by_its_digest() -> None:
    (base,) = (rest for instruction, rest in instructions() if instruction == "ARG" and rest.startswith("BASE="))
    assert re.fullmatch(r"BASE=docker\.io/library/python:[\d.]+-slim-\w+@sha256:[0-9a-f]{64}", base)
    assert [every("FROM", stage) for stage in range(len(stages()))] == [["${BASE} AS build"], ["${BASE}"]]


def test_the_labels_name_the_base_the_version_and_the_revision() -> None:
    (labels,) = every("LABEL", -1)
    (base,) = (rest for instruction, rest in instructions() if rest.startswith("BASE="))
    said = dict(re.findall(r'org\.opencontainers\.image\.([\w.]+)="([^"]*)"', labels))
    assert said["base.name"] == base.removeprefix("BASE=").partition("@")[0]
    assert (said["version"], said["revision"]) == ("${VERSION}", "${REVISION}")
    (version,) = re.findall(r"^version = (.+)$", (ROOT / "setup.cfg").read_text("utf-8"), re.MULTILINE)
    assert every("ARG", -1) == [f"VERSION={version}", "REVISION=unknown"]


def test_every_requirement_is_held_to_its_hash_and_comes_built() -> None:
    installs = [step for run in every("RUN", 0) for step in run.split("&&") if " install " in step]
    assert installs
    assert all("--require-hashes" in step or "--no-build-isolation" in step for step in installs)
    assert environment(0).items() >= {"PIP_NO_DEPS": "1", "PIP_ONLY_BINARY": ":all:"}.items()


def test_either_lock_can_be_chosen() -> None:
    (argument,) = every("ARG", 0)
    assert argument == "LOCK=runtime"
    assert {"requirements/runtime.lock", "requirements/otel.lock"} <= set(copied())
    assert [run for run in every("RUN", 0) if "requirements/${LOCK}.lock" in run]


def test_the_image_has_nothing_to_install_with() -> None:
    (removal,) = every("RUN", -1)
    (version,) = set(re.findall(r"python(3\.\d+)", removal))
    assert "pip uninstall --yes --no-input pip" in removal
    assert "/ensurepip" in removal
    assert [rest for instruction, rest in instructions() if f"python:{version}." in rest and instruction == "ARG"]


def test_it_runs_as_a_numbered_user_who_is_not_root() -> None:
    (user,) = every("USER", -1)
    uid, gid = map(int, user.split(":"))
    assert uid > 0
    assert gid > 0


def test_it_writes_nothing_beside_its_code() -> None:
    assert environment(-1)["PYTHONDONTWRITEBYTECODE"] == "1"


def test_it_listens_for_others_in_the_production_profile() -> None:
    expected = {"HOST": "0.0.0.0", "PORT": "8080", "MCP_GATEWAY_PROFILE": "production"}
    assert expected.items() <= environment(-1).items()
    assert every("EXPOSE", -1) == [environment(-1)["PORT"]]


def test_the_command_starts_from_files_that_are_copied() -> None:
    (command,) = map(json.loads, every("CMD", -1))
    assert command == ["gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"]
    assert {"gunicorn.conf.py", "wsgi.py", "mcp_gateway", "config"} <= set(copied())
    assert every("WORKDIR", -1) == every("WORKDIR", 0) == ["/app"]
    assert (ROOT / "config" / f"{environment(-1)['MCP_GATEWAY_PROFILE']}.yaml").is_file()


def test_the_health_check_is_python_that_compiles_and_asks_healthz() -> None:
    (check,) = every("HEALTHCHECK", -1)
    python, flag, program = json.loads(check.partition("CMD ")[2])
    assert (python, flag) == ("python", "-c")
    assert "/healthz" in program
    compile(program, "HEALTHCHECK", "exec")
