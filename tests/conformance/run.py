#!/usr/bin/env python3
"""
Run the official MCP conformance suite (its server scenarios) against a gateway and hold it to expected.yaml.

::

    run.py --url http://127.0.0.1:8080/mcp/conformance --spec 2025-11-25 [--cache DIR] [--only SCENARIO ...]

One line a check and one a scenario; the last lines sum up and repeat what is UNEXPECTED. Exit status:

0
    Everything went as expected.yaml says.
1
    A must-pass scenario failed, warned or checked nothing; a cannot-pass scenario or one of its listed checks passed;
    or a listed check failed for another reason than the listed one.
2
    Something is wrong with how it was started, with expected.yaml, or with the suite.
3
    The suite or the Node it needs is not here and cannot be installed.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
SPECS = ("2025-11-25", "2026-07-28")
NODE_AT_LEAST = 22
WORDS = {"SUCCESS": "pass", "FAILURE": "fail", "WARNING": "warn", "SKIPPED": "skipped", "INFO": "info"}
KEYS = {
    "must-pass": {"warns", "skips", "note"},
    "cannot-pass": {"reason", "fails", "warns"},
    "not-applicable": {"reason"},
}
NPM_CI = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]

# Signs that a check failed because the exchange broke down, not because the gateway lacks the feature.
BREAKDOWN = re.compile(
    r"fetch failed|ECONN|EPIPE|socket hang up|HTTP 5\d\d|Error POSTing|timed? ?out|did not complete|"
    r"Unexpected token|not valid JSON|non-JSON body|invalid_union|invalid_type",
    re.I,
)

Check = Mapping[str, Any]
Rule = Mapping[str, Any]


class Unable(Exception):
    """Raised when the suite cannot be run as it was asked for."""

    status = 2


class NotInstalled(Unable):
    """Raised when the suite or its Node is not here and cannot be brought here."""

    status = 3


def say(word: str, what: str, why: str = "") -> None:
    """Print one line of the report."""
    text = " ".join(why.split())
    print(f"{word:<8} {what}" + (f": {text[:300]}" if text else ""), flush=True)


def execute(command: Sequence[str], cwd: Path, seconds: int) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, both outputs in one."""
    try:
        return subprocess.run(
            command,
            cwd=cwd,
            timeout=seconds,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    except FileNotFoundError:
        raise NotInstalled(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise Unable(f"no end after {seconds} s: {' '.join(command[:6])}") from None


@dataclass(frozen=True, slots=True)
class Suite:
    """The installed suite: the Node that runs it and its entry file."""

    node: str
    entry: Path

    @property
    def version(self) -> str:
        """Return the version of the installed package."""
        return str(json.loads((self.entry.parents[1] / "package.json").read_text())["version"])

    def run(self, arguments: Sequence[str], cwd: Path, seconds: int) -> subprocess.CompletedProcess[str]:
        """Run the suite's command line."""
        return execute([self.node, str(self.entry), *arguments], cwd, seconds)


def install(cache: Path) -> Suite:
    """Return the suite of package-lock.json, installed into *cache* when it is not there yet."""
    wanted = json.loads((HERE / "package.json").read_text())["dependencies"]["@modelcontextprotocol/conformance"]
    folder = cache / f"conformance-{wanted}"
    npm_ci(HERE, folder)
    return Suite(find_node(cache), folder / "node_modules/@modelcontextprotocol/conformance/dist/index.js")


def npm_ci(source: Path, folder: Path) -> None:
    """Install what the lock file in *source* pins into *folder*, once."""
    lock = (source / "package-lock.json").read_text()
    done = folder / "installed-lock.json"
    if done.is_file() and done.read_text() == lock:
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(source / name, folder / name)
    result = execute(NPM_CI, folder, 300)
    if result.returncode:
        raise NotInstalled(f"npm ci failed:\n{result.stdout[-2000:]}")
    done.write_text(lock)


def find_node(cache: Path) -> str:
    """Return a Node that is new enough: the one on PATH, else the one that node/package-lock.json pins."""
    on_path = shutil.which("node")
    if on_path and major_version(on_path) >= NODE_AT_LEAST:
        return on_path
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine().lower())
    if platform.system() != "Linux" or machine is None:
        raise NotInstalled(f"the suite needs Node {NODE_AT_LEAST} or newer on PATH")
    npm_ci(HERE / "node", cache / "node")
    binary = cache / "node" / "node_modules" / f"node-linux-{machine}" / "bin" / "node"
    if not binary.is_file():
        raise NotInstalled(f"npm installed no {binary.name} for {machine}")
    return str(binary)


def major_version(node: str) -> int:
    """Return the major version of a Node; 0 when it does not say."""
    said = re.match(r"v(\d+)\.", execute([node, "--version"], HERE, 30).stdout)
    return int(said[1]) if said else 0


def read_expected(suite: Suite, spec: str) -> dict[str, Rule]:
    """Return the part of expected.yaml for *spec*, after checking that it is well-formed and for this suite."""
    whole = yaml.safe_load((HERE / "expected.yaml").read_text())
    if whole["suite"] != f"@modelcontextprotocol/conformance@{suite.version}":
        raise Unable(f"expected.yaml is for {whole['suite']}, installed is {suite.version}")
    rules: dict[str, Rule] = whole["specs"][spec]
    for name, rule in rules.items():
        kind = str(rule.get("expect"))
        if kind not in KEYS or set(rule) - KEYS[kind] - {"expect"}:
            raise Unable(f"expected.yaml: {spec}.{name} has a wrong key or value")
        if kind == "cannot-pass" and not (rule.get("reason") and rule.get("fails")):
            raise Unable(f"expected.yaml: {spec}.{name} needs a reason and the checks that fail")
    return rules


def list_scenarios(suite: Suite) -> dict[str, list[str]]:
    """Return every server scenario with the spec versions (or the word extension) it is tagged with."""
    done = suite.run(["list", "--server"], suite.entry.parent, 60)
    rows = re.findall(r"^\s+- (\S+) \[([^\]]*)\]\s*$", done.stdout, re.M)
    if done.returncode or not rows:
        raise Unable(f"the suite lists no server scenarios:\n{done.stdout[-1000:]}")
    return {name: tags.split(",") for name, tags in rows}


def run_scenarios(
    suite: Suite, url: str, spec: str, names: Sequence[str], tags: Mapping[str, Sequence[str]], room: Path
) -> dict[str, list[Check]]:
    """Return check lists by scenario. What is on the spec's timeline runs in one process, extensions one by one."""
    timeline = [name for name in names if spec in tags[name]]
    base = ["server", "--url", url, "--spec-version", spec, "-o", str(room)]
    whole = timeline == [name for name in tags if spec in tags[name]]
    jobs = [[*base, "--suite", "all"]] if whole else [[*base, "--scenario", name] for name in timeline]
    jobs += [[*base, "--scenario", name, "--force"] for name in names if name not in timeline]
    outputs = [suite.run(job, room, 900).stdout for job in jobs]
    results: dict[str, list[Check]] = {}
    for name in names:
        pattern = re.compile(re.escape(f"server-{name}-") + r"\d{4}-\d\d-\d\dT")
        folders = [path for path in room.iterdir() if pattern.match(path.name) and (path / "checks.json").is_file()]
        if len(folders) == 1:
            results[name] = json.loads((folders[0] / "checks.json").read_text())
    if not results:
        raise Unable(f"the suite wrote no results:\n{outputs[0][-2000:]}")
    return results


def reason_of(check: Check) -> str:
    """Return what the suite says about a check that did not simply pass."""
    details = check.get("details") or {}
    why = check.get("errorMessage") or details.get("message") or ""
    return str(why or (details.get("note") or check["description"] if check["status"] == "SKIPPED" else ""))


def fault_of_failure(check_id: str, why: str, may_fail: Mapping[str, str]) -> str:
    """Return what is wrong with a failure; empty when it is a listed one for the listed reason."""
    if check_id not in may_fail:
        return f"{check_id} failed"
    if BREAKDOWN.search(why):
        return f"{check_id} failed because the exchange broke down"
    if not re.search(may_fail[check_id], why):
        return f"{check_id} failed for another reason than /{may_fail[check_id]}/"
    return ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a scenario came to: ``pass``, ``fail`` or ``skipped``, and all that was not as expected."""

    outcome: str
    faults: tuple[str, ...]


def judge(name: str, rule: Rule, checks: Sequence[Check] | None) -> Verdict:
    """Hold the checks of one scenario to its rule, and print a line for each of them."""
    faults = [] if checks is not None else ["the suite gave no result"]
    checks = checks or []
    repeated = {check_id for check_id, count in Counter(check["id"] for check in checks).items() if count > 1}
    may_fail, may_warn = rule.get("fails") or {}, rule.get("warns") or {}
    failed: set[str] = set()
    for check in checks:
        check_id, word, why = check["id"], WORDS.get(check["status"], "fail"), reason_of(check)
        fault = ""
        if word == "fail":
            failed.add(check_id)
            fault = fault_of_failure(check_id, why, may_fail)
            word = word if fault else "xfail"
        elif word == "warn" and check_id not in may_warn:
            fault = f"{check_id} warns"
        faults += [fault] if fault else []
        label = f"{name} > {check_id}" + (f" ({check['name']})" if check_id in repeated else "")
        say(word, label, "" if word == "pass" else why)
    faults += [f"{check_id} is listed as failing and did not fail" for check_id in may_fail if check_id not in failed]
    exercised = any(
        check["status"] in ("SUCCESS", "FAILURE", "WARNING") and check["id"] != "wire-schema-valid" for check in checks
    )
    if rule["expect"] == "must-pass" and not failed and exercised == ("skips" in rule):
        faults.append("it checked something, though listed with skips" if exercised else "nothing was checked")
    return Verdict("fail" if failed else "pass" if exercised else "skipped", tuple(dict.fromkeys(faults)))


def report(name: str, rule: Rule, verdict: Verdict) -> str:
    """Print the line of one scenario, and return the kind it counts as."""
    expected, outcome = str(rule["expect"]), verdict.outcome
    if verdict.faults:
        word = "FAIL" if outcome == "fail" or expected == "must-pass" else "PASS"
        say(word, name, f"{expected}, but " + "; ".join(verdict.faults))
        return "UNEXPECTED"
    why = rule.get({"fail": "reason", "skipped": "skips", "pass": "note"}[outcome])
    say("xfail" if outcome == "fail" else outcome, name, f"{expected}, {why}" if why else expected)
    return f"{expected} " + {"fail": "failed as listed", "pass": "passed", "skipped": "skipped"}[outcome]


def probe(url: str) -> None:
    """Make sure that *url* is a loopback address where something answers."""
    if urllib.parse.urlsplit(url).hostname not in ("localhost", "127.0.0.1", "::1"):
        raise Unable(f"{url} is no loopback address")
    try:
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=10).close()
    except urllib.error.HTTPError as answer:
        answer.close()
    except (OSError, ValueError) as fault:
        raise Unable(f"no server answers at {url}: {fault}") from None


def run(url: str, spec: str, cache: Path, only: Sequence[str], room: Path) -> list[str]:
    """Run the suite and return a line for each scenario that did not go as expected.yaml says."""
    probe(url)
    suite = install(cache)
    rules, tags = read_expected(suite, spec), list_scenarios(suite)
    if difference := set(rules) ^ set(tags):
        raise Unable(f"expected.yaml and the suite differ in scenarios: {', '.join(sorted(difference))}")
    if unknown := set(only) - set(tags):
        raise Unable(f"no such scenario: {', '.join(sorted(unknown))}")
    names = [name for name in tags if not only or name in only]
    applicable = [name for name in names if rules[name]["expect"] != "not-applicable"]
    results = run_scenarios(suite, url, spec, applicable, tags, room) if applicable else {}
    counts: Counter[str] = Counter()
    unexpected: list[str] = []
    for name in names:
        rule = rules[name]
        if name not in applicable:
            counts["not applicable"] += 1
            say("skipped", name, rule["reason"])
            continue
        verdict = judge(name, rule, results.get(name))
        counts[report(name, rule, verdict)] += 1
        if verdict.faults:
            unexpected.append(f"{name} ({rule['expect']}): " + "; ".join(verdict.faults))
    print(f"\n{spec}: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    return unexpected


def main() -> int:
    """Read the command line, run the suite, and say what was unexpected."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().splitlines()[0])
    parser.add_argument("--url", required=True, help="the gateway's MCP endpoint; must be a loopback address")
    parser.add_argument("--spec", required=True, choices=SPECS)
    parser.add_argument("--cache", type=Path, default=HERE.parents[1] / ".cache" / "conformance")
    parser.add_argument("--only", action="append", default=[], metavar="SCENARIO", help="run just this (repeatable)")
    parser.add_argument("--results", type=Path, help="an empty folder to leave the suite's own checks.json files in")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mcp-conformance-") as scratch:
        room = (options.results or Path(scratch)).resolve()
        room.mkdir(parents=True, exist_ok=True)
        try:
            if any(room.iterdir()):
                raise Unable(f"{room} is not empty")
            unexpected = run(options.url, options.spec, options.cache.resolve(), options.only, room)
        except Unable as fault:
            print(f"run.py: {fault}", file=sys.stderr)
            return fault.status
    for line in unexpected:
        print(f"UNEXPECTED {line}")
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
