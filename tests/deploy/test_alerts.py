"""The alert rules are taken by Prometheus, fire when they should, and name only what there is."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import metric_names
import pytest
import yaml

FOLDER = Path(__file__).parents[2] / "deploy" / "prometheus"
RULES: list[dict[str, Any]] = [
    rule for group in yaml.safe_load((FOLDER / "rules.yml").read_text())["groups"] for rule in group["rules"]
]


def promtool(*arguments: str, cwd: Path = FOLDER) -> subprocess.CompletedProcess[str]:
    """Run promtool; without one the test is skipped, or fails where everything has to be there."""
    if shutil.which("promtool") is None:
        if os.environ.get("CI"):
            pytest.fail("promtool is not installed")
        pytest.skip("promtool is not installed")
    return subprocess.run(["promtool", *arguments], cwd=cwd, capture_output=True, text=True, check=False, timeout=60)


def test_prometheus_takes_the_rules_and_the_example_of_how_to_scrape() -> None:
    for arguments in (("check", "rules", "rules.yml"), ("check", "config", "prometheus.yml")):
        done = promtool(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr


def test_each_alert_fires_when_it_should_and_at_no_other_time() -> None:
    done = promtool("test", "rules", "rules_test.yml")
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_alert_is_expected_to_fire_somewhere() -> None:
    tests = yaml.safe_load((FOLDER / "rules_test.yml").read_text())["tests"]
    by_name = {one["alertname"] for test in tests for one in test.get("alert_rule_test", []) if one["exp_alerts"]}
    samples = str([one["exp_samples"] for test in tests for one in test.get("promql_expr_test", [])])

    expected = by_name | set(re.findall(r'alertname="(\w+)"', samples))
    assert expected == {rule["alert"] for rule in RULES}


def test_an_alert_that_does_not_fire_is_found(tmp_path: Path) -> None:
    rules = (FOLDER / "rules.yml").read_text().replace("mcp_gateway_route_tools == 0", "mcp_gateway_route_tools == -1")
    (tmp_path / "rules.yml").write_text(rules)
    shutil.copy(FOLDER / "rules_test.yml", tmp_path)

    assert promtool("test", "rules", "rules_test.yml", cwd=tmp_path).returncode != 0


def test_the_rules_name_only_metrics_and_labels_that_are_declared() -> None:
    assert metric_names.faults(rule["expr"] for rule in RULES) == []


def test_the_tests_of_the_rules_name_only_metrics_that_are_declared() -> None:
    series = re.findall(r"series: '(mcp_\w+)\{", (FOLDER / "rules_test.yml").read_text())
    assert series
    assert set(series) <= metric_names.SAMPLES


def test_a_name_that_is_not_declared_would_be_found() -> None:
    wrong = [
        "mcp_gateway_nothing > 0",
        'mcp_gateway_workers{route="core"}',
        "sum by (tool) (mcp_gateway_route_tools)",
        "mcp_server_operation_duration_seconds",
    ]
    assert len(metric_names.faults(wrong)) == len(wrong)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_each_alert_says_what_is_the_matter_how_bad_it_is_and_whose(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in ("page", "ticket")
    assert rule["labels"]["owner"] in ("platform", "tool-service")
    assert set(rule["annotations"]) == {"summary", "description"}
