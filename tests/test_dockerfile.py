"""The image, as far as it can be checked without building it: what it copies, as whom it runs, and what it starts."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text("utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in lines]


def every(name: str) -> list[str]:
    return [rest for instruction, rest in instructions() if instruction == name]


def copied() -> list[str]:
    return [source.rstrip("/") for rest in every("COPY") for source in rest.split()[:-1]]


def environment() -> dict[str, str]:
    return dict(pair.split("=", 1) for rest in every("ENV") for pair in rest.split())


@pytest.mark.parametrize("source", copied())
def test_what_is_copied_exists(source: str) -> None:
    assert (ROOT / source).exists()


def test_the_build_context_holds_what_is_copied_and_nothing_else() -> None:
    excluded, *included, caches = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert (excluded, caches) == ("*", "**/__pycache__")
    assert sorted(included) == sorted(f"!{source}" for source in copied())


def test_it_is_built_in_one_stage() -> None:
    assert len(every("FROM")) == 1


def test_every_requirement_is_held_to_its_hash() -> None:
    installs = [step for run in every("RUN") for step in run.split("&&") if "pip install" in step]
    assert installs
    for step in installs:
        assert "--no-deps" in step
        assert "--require-hashes" in step or "--no-build-isolation" in step


def test_it_runs_as_a_numbered_user_who_is_not_root() -> None:
    (user,) = every("USER")
    uid, gid = map(int, user.split(":"))
    assert uid > 0
    assert gid > 0


def test_it_writes_nothing_beside_its_code() -> None:
    assert environment()["PYTHONDONTWRITEBYTECODE"] == "1"


def test_it_listens_for_others_in_the_production_profile() -> None:
    expected = {"HOST": "0.0.0.0", "PORT": "8080", "MCP_GATEWAY_PROFILE": "production"}
    assert expected.items() <= environment().items()
    assert every("EXPOSE") == [environment()["PORT"]]


def test_the_command_starts_from_files_that_are_copied() -> None:
    (command,) = map(json.loads, every("CMD"))
    assert command == ["gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"]
    assert {"gunicorn.conf.py", "wsgi.py", "mcp_gateway", "config"} <= set(copied())
    assert (ROOT / "config" / f"{environment()['MCP_GATEWAY_PROFILE']}.yaml").is_file()


def test_the_health_check_is_python_that_compiles_and_asks_healthz() -> None:
    (check,) = every("HEALTHCHECK")
    python, flag, program = json.loads(check.partition("CMD ")[2])
    assert (python, flag) == ("python", "-c")
    assert "/healthz" in program
    compile(program, "HEALTHCHECK", "exec")
