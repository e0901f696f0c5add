"""How the gateway comes up: what the first start refuses, what a reload keeps, and how the server is run."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from prometheus_client import values
from road import parsed
from support.toolservice import Reply, ToolService
from werkzeug.test import Client

from mcp_gateway import boot
from mcp_gateway.app import Gateway
from mcp_gateway.config.load import ConfigFaults
from mcp_gateway.registry.last_good import NOTHING_KEPT

GOOD = """
profile: local
server: {name: first}
routes:
  - key: core
    public_path: /mcp/core
    tool_services: [{name: core-tools, base_url: "http://127.0.0.1:9100"}]
"""


@dataclass
class Given:
    """The times that gunicorn goes by."""

    graceful_timeout: int = 310
    timeout: int = 60
    keepalive: int = 75


GIVEN = Given()


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A configuration file that the environment names; no master has read it yet, and the log is as it was after."""
    path = tmp_path / "config" / "gateway.yaml"
    path.parent.mkdir()
    path.write_text(GOOD, encoding="utf-8")
    monkeypatch.setenv("MCP_GATEWAY_CONFIG", str(path))
    monkeypatch.setattr(boot, "_boot", None)
    monkeypatch.setattr(boot, "_scratch", None)
    monkeypatch.setattr(boot, "_last_good", NOTHING_KEPT)
    monkeypatch.setattr(boot, "_seats", None)
    monkeypatch.setattr(boot, "_seat", None)
    package = logging.getLogger("mcp_gateway")
    before = (package.handlers[:], package.propagate, package.level)
    yield path
    boot.end()
    package.handlers[:], package.propagate = before[0], before[1]
    package.setLevel(before[2])


def name(gateway: Gateway) -> str:
    """Return who the gateway says it is."""
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "x", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
    }
    answer = Client(gateway).post("/mcp/core", json=body)
    served: str = parsed(answer)["result"]["serverInfo"]["name"]
    return served


def test_the_first_start_refuses_a_faulty_configuration_with_a_line_for_each_fault(file: Path) -> None:
    file.write_text(GOOD.replace("/mcp/core", "mcp/core").replace("http://", "ftp://"), encoding="utf-8")

    with pytest.raises(ConfigFaults) as refused:
        boot.first(os.environ, GIVEN)

    assert [fault.split(":")[0] for fault in refused.value.faults] == [
        "routes[0].public_path",
        "routes[0].tool_services[0].base_url",
    ]


def test_the_first_start_refuses_calls_that_may_outlast_the_patience_of_the_server(file: Path) -> None:
    with pytest.raises(ConfigFaults) as refused:
        boot.first(os.environ, Given(graceful_timeout=309))

    assert refused.value.faults[0].startswith("limits.interaction_timeout_s:")


@pytest.mark.parametrize(("threads", "warned"), [("", False), ("17", False), ("16", True), ("many", False)])
def test_a_start_warns_when_tool_services_that_hang_could_hold_every_thread(
    file: Path, caplog: pytest.LogCaptureFixture, threads: str, warned: bool
) -> None:
    logging.getLogger("mcp_gateway.config").addHandler(caplog.handler)
    try:
        boot.first({**os.environ, "GUNICORN_THREADS": threads}, GIVEN)
    finally:
        logging.getLogger("mcp_gateway.config").removeHandler(caplog.handler)

    said = [record.message for record in caplog.records if "max_in_flight" in record.message]
    assert len(said) == warned
    assert all("together are 16, and a worker has 16 threads" in line for line in said)


def test_a_reload_may_shorten_the_longest_call_and_let_it_be_what_it_was_and_no_longer(file: Path) -> None:
    def asking_for(seconds: int) -> tuple[str, ...]:
        file.write_text(f"{GOOD}\nlimits: {{interaction_timeout_s: {seconds}}}", encoding="utf-8")
        settings = boot.settings(os.environ)
        boot.again(os.environ, Given(settings.timings.graceful_timeout_s))
        return tuple(boot.gateway().health().configuration_faults)

    assert [asking_for(100), asking_for(20), asking_for(100)] == [(), (), ()]
    assert asking_for(101)[0].startswith("limits.interaction_timeout_s: ")


@pytest.mark.parametrize(
    ("profile", "said", "drain"),
    [("local", "", 0), ("local", "2", 2), ("production", "", 15), ("production", "0", 0), ("production", "3600", 3600)],
)
def test_a_server_in_production_drains_and_one_at_a_desk_does_not_unless_told_otherwise(
    file: Path, profile: str, said: str, drain: int
) -> None:
    file.write_text(GOOD.replace("profile: local", f"profile: {profile}"), encoding="utf-8")
    environ = {"MCP_GATEWAY_CONFIG": str(file), "MCP_GATEWAY_DRAIN_S": said}

    timings = boot.settings(environ).timings

    assert (timings.drain_s, timings.graceful_timeout_s) == (drain, drain + 310)
    boot.first(environ, Given(timings.graceful_timeout_s))
    with pytest.raises(ConfigFaults):
        boot.first(environ, Given(timings.graceful_timeout_s - 1))


@pytest.mark.parametrize("said", ["-1", "3601", "1.5", "soon"])
def test_a_drain_that_is_none_is_refused(file: Path, said: str) -> None:
    with pytest.raises(ConfigFaults) as refused:
        boot.settings({"MCP_GATEWAY_CONFIG": str(file), "MCP_GATEWAY_DRAIN_S": said})

    assert refused.value.faults == ("MCP_GATEWAY_DRAIN_S: must be a whole number from 0 to 3600",)


def test_a_worker_serves_what_the_master_has_read(file: Path) -> None:
    boot.first(os.environ, GIVEN)
    file.write_text("nonsense", encoding="utf-8")

    worker = boot.gateway()

    assert name(worker) == "first"
    assert worker.health().configuration_faults == ()


def test_a_reload_takes_a_configuration_that_is_right(file: Path) -> None:
    boot.first(os.environ, GIVEN)
    file.write_text(GOOD.replace("first", "second"), encoding="utf-8")

    boot.again(os.environ, GIVEN)

    assert name(boot.gateway()) == "second"


def test_a_reload_of_a_faulty_configuration_keeps_the_last_good_one_and_shows_every_fault(
    file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    boot.first(os.environ, GIVEN)
    file.write_text(GOOD.replace("/mcp/core", "mcp/core").replace("http://", "ftp://"), encoding="utf-8")

    boot.again(os.environ, GIVEN)

    worker = boot.gateway()
    assert name(worker) == "first"
    faults = parsed(Client(worker).get("/readyz"))["configurationFaults"]
    assert [fault.split(":")[0] for fault in faults] == ["routes[0].public_path", "routes[0].tool_services[0].base_url"]
    logged = capfd.readouterr().err
    assert all(f"the new configuration is not taken: {fault}" in logged for fault in faults)


def test_a_reload_after_the_fault_is_mended_forgets_it(file: Path) -> None:
    boot.first(os.environ, GIVEN)
    file.unlink()
    boot.again(os.environ, GIVEN)
    assert boot.gateway().health().configuration_faults
    file.write_text(GOOD.replace("first", "third"), encoding="utf-8")

    boot.again(os.environ, GIVEN)

    assert boot.gateway().health().configuration_faults == ()
    assert name(boot.gateway()) == "third"


def test_a_reload_before_any_start_is_a_first_start(file: Path) -> None:
    boot.again(os.environ, GIVEN)

    assert name(boot.gateway()) == "first"


def test_without_a_master_a_worker_reads_the_configuration_itself(file: Path) -> None:
    assert name(boot.gateway()) == "first"

    file.write_text("nonsense: 1", encoding="utf-8")
    with pytest.raises(ConfigFaults):
        boot.gateway()


@pytest.mark.parametrize(("profile", "as_json"), [("local", False), ("production", True)])
def test_production_logs_json_and_local_logs_for_people(
    file: Path, capfd: pytest.CaptureFixture[str], profile: str, as_json: bool
) -> None:
    file.write_text(GOOD.replace("profile: local", f"profile: {profile}"), encoding="utf-8")

    name(boot.gateway())

    line = capfd.readouterr().err.strip()
    if as_json:
        assert json.loads(line)["route"] == "core"
    else:
        assert "route=core" in line
        assert "sessionId" not in line


def test_a_reload_may_change_how_the_master_logs(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    boot.first(os.environ, GIVEN)
    file.write_text(GOOD.replace("profile: local", "profile: production"), encoding="utf-8")

    boot.again(os.environ, GIVEN)

    logging.getLogger("mcp_gateway.test").warning("now")
    assert json.loads(capfd.readouterr().err)["message"] == "now"


def test_the_environment_says_how_much_is_logged(
    file: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_GATEWAY_LOG_LEVEL", "error")

    name(boot.gateway())

    assert capfd.readouterr().err == ""


# --- what is kept for the workers to come ---------------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the master will make for what its workers read well."""
    folder = tmp_path / "kept"

    def make(prefix: str, **_: object) -> str:
        assert prefix == "mcp-gateway-"
        folder.mkdir()
        return str(folder)

    monkeypatch.setattr(tempfile, "mkdtemp", make)
    return folder


def test_the_master_makes_one_folder_for_all_its_workers_and_takes_it_away_last(file: Path, kept: Path) -> None:
    boot.first(os.environ, GIVEN)
    assert not kept.exists(), "a start that fails must leave nothing behind"
    boot.ready()
    boot.again(os.environ, GIVEN)
    assert kept.is_dir()

    boot.end()

    assert not kept.exists()


def test_a_worker_that_starts_while_its_tool_service_is_down_serves_what_a_former_one_has_read(file: Path) -> None:
    with ToolService() as service:
        service.add("core.echo", lambda received: Reply.of_json(received.body))
        file.write_text(GOOD.replace("http://127.0.0.1:9100", service.base_url), encoding="utf-8")
        boot.first(os.environ, GIVEN)
        boot.ready()
        former = boot.gateway()
        former.start()
        former.stop()

    later = boot.gateway()
    later.start()
    shown = parsed(Client(later).get("/readyz"))
    later.stop()

    assert shown["status"] == "ready"
    assert shown["routes"][0]["tools"] == ["core.echo"]
    assert shown["routes"][0]["toolServices"][0]["state"] == "stale"


def test_a_master_that_can_make_no_folder_starts_without_one(
    file: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def full(**_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "mkdtemp", full)

    boot.first(os.environ, GIVEN)
    boot.ready()

    assert name(boot.gateway()) == "first"
    assert "No space left on device" in capfd.readouterr().err
    boot.end()


def test_there_is_nothing_to_take_away_where_nothing_was_read(file: Path) -> None:
    boot.end()

    assert name(boot.gateway()) == "first"


# --- where workers count ---------------------------------------------------------------------------------------------


@pytest.fixture
def counting(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A master that listens; what counting changes in the library is changed back."""
    monkeypatch.setattr(values, "ValueClass", values.ValueClass)
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "")
    boot.first(os.environ, GIVEN)
    boot.ready()


def page(gateway: Gateway) -> str:
    """Return what ``/metrics`` says."""
    return Client(gateway).get("/metrics").get_data(as_text=True)


def test_a_worker_counts_on_the_seat_that_it_was_given_before_it_was_forked(counting: None) -> None:
    boot.seat(1)
    worker = boot.gateway()
    worker.metrics.started("1", 0)
    name(worker)

    assert "\nmcp_gateway_workers 1.0\n" in page(worker)
    assert 'mcp_method_name="initialize"' in page(worker)


def test_a_worker_that_comes_after_another_goes_on_counting_where_that_was(counting: None) -> None:
    boot.seat(1)
    boot.gateway().metrics.started("1", 0)
    boot.left(1)
    boot.seat(2)
    worker = boot.gateway()
    worker.metrics.started("1", 0)

    assert "\nmcp_gateway_workers 1.0\n" in page(worker)
    assert "\nmcp_gateway_worker_starts_total 2.0\n" in page(worker)


def test_without_a_folder_workers_start_and_count_nothing(file: Path) -> None:
    boot.first(os.environ, GIVEN)
    boot.seat(1)

    assert Client(boot.gateway()).get("/metrics").status_code == 503

    boot.left(1)


# --- how the server is run -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("profile", "environ", "bind"),
    [
        ("local", {}, "127.0.0.1:8080"),
        ("production", {}, "0.0.0.0:8080"),
        ("local", {"HOST": "0.0.0.0", "PORT": "9000"}, "0.0.0.0:9000"),
        ("production", {"HOST": "::1", "PORT": "65535"}, "[::1]:65535"),
        ("local", {"HOST": "", "PORT": ""}, "127.0.0.1:8080"),
    ],
)
def test_the_server_listens_where_it_is_told_or_where_the_profile_says(
    file: Path, profile: str, environ: dict[str, str], bind: str
) -> None:
    file.write_text(GOOD.replace("profile: local", f"profile: {profile}"), encoding="utf-8")

    assert boot.settings({"MCP_GATEWAY_CONFIG": str(file), **environ}).bind == bind


def test_the_environment_says_how_many_workers_and_threads_there_are(file: Path) -> None:
    environ = {"MCP_GATEWAY_CONFIG": str(file)}
    told = boot.settings({**environ, "WEB_CONCURRENCY": "1", "GUNICORN_THREADS": "4096"})
    usual = boot.settings(environ)

    assert (told.workers, told.threads) == (1, 4096)
    assert usual.workers == os.cpu_count()
    assert usual.threads >= 64


def test_the_environment_says_how_long_a_client_may_take(file: Path) -> None:
    environ = {"MCP_GATEWAY_CONFIG": str(file)}
    told = boot.settings({**environ, "MCP_GATEWAY_READ_TIMEOUT_S": "1", "MCP_GATEWAY_WRITE_TIMEOUT_S": "3600"})
    usual = boot.settings(environ)

    assert (told.read_timeout_s, told.write_timeout_s) == (1, 3600)
    assert (usual.read_timeout_s, usual.write_timeout_s) == (10, 60)


@pytest.mark.parametrize("value", ["0", "-1", "x", "1.5", "70000", "١", "9" * 5000])
def test_a_number_that_is_none_is_refused_by_its_name(file: Path, value: str) -> None:
    wrong = {"MCP_GATEWAY_CONFIG": str(file), "PORT": value, "WEB_CONCURRENCY": value, "GUNICORN_THREADS": value}

    with pytest.raises(ConfigFaults) as refused:
        boot.settings(wrong)

    assert refused.value.faults == (
        "PORT: must be a whole number from 1 to 65535",
        "WEB_CONCURRENCY: must be a whole number from 1 to 1024",
        "GUNICORN_THREADS: must be a whole number from 1 to 4096",
    )


def test_a_log_level_that_there_is_not_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_GATEWAY_LOG_LEVEL", "loud")

    with pytest.raises(ConfigFaults) as refused:
        boot.settings(os.environ)

    assert refused.value.faults == ("MCP_GATEWAY_LOG_LEVEL: must be one of debug, info, warning, error, critical",)


def test_a_reload_asks_how_to_run_the_server_without_reading_a_file_that_is_faulty_now(file: Path) -> None:
    boot.first(os.environ, GIVEN)
    file.unlink()

    assert boot.settings(os.environ).host == "127.0.0.1"
