"""What "kubectl apply -k" would send: right by Kubernetes' own schemas, within itself, and beside the gateway."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import sys
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml
from support.kustomize import Manifest, Refused, build, content_hash, only
from support.processes import ROOT

from mcp_gateway.config import load
from mcp_gateway.config.model import Config
from mcp_gateway.observe import declared
from mcp_gateway.protocol import eras
from mcp_gateway.timings import PRODUCTION_DRAIN_S, Timings

HERE = ROOT / "deploy" / "kubernetes"
OVERLAYS = sorted((HERE / "overlays").iterdir())
COMPONENTS = sorted((HERE / "components").iterdir())
KUBERNETES = ("1.33", "1.37")
SECRET = {"CORE_TOOLS_AUTHORIZATION": "Bearer x"}
IN_MEMORY = ("/dev/shm", "/tmp")  # noqa: S108  of a container
OPERATOR = yaml.safe_load((Path(__file__).parent / "prometheus-operator.yaml").read_text("utf-8"))
RULES = ROOT / "deploy" / "prometheus" / "rules.yml"
INGRESS = {"kind": "Ingress", "name": "mcp-gateway"}
ADD = "[{op: add, path: /a, value: b}]"

_spec = importlib.util.spec_from_file_location("scripts_prometheus_rule", ROOT / "scripts" / "prometheus_rule.py")
assert _spec is not None
assert _spec.loader is not None
prometheus_rule = sys.modules[_spec.name] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(prometheus_rule)

every_overlay = pytest.mark.parametrize("overlay", OVERLAYS, ids=lambda path: path.name)


@pytest.fixture(params=OVERLAYS, ids=lambda path: path.name)
def manifests(request: pytest.FixtureRequest) -> list[Manifest]:
    return build(request.param)


@pytest.fixture
def pod(manifests: list[Manifest]) -> Manifest:
    spec: Manifest = only(manifests, "Deployment")["spec"]["template"]["spec"]
    return spec


@pytest.fixture
def container(pod: Manifest) -> Manifest:
    (alone,) = pod["containers"]
    return dict(alone)


def config_of(manifests: list[Manifest], folder: Path) -> Config:
    """Read the configuration that a pod of these manifests would be given."""
    path = folder / "gateway.yaml"
    path.write_text(only(manifests, "ConfigMap")["data"]["gateway.yaml"], "utf-8")
    return load.load(path, SECRET, versions=eras.VERSIONS)


def environment(container: Manifest) -> dict[str, str]:
    return {variable["name"]: variable["value"] for variable in container["env"]}


def own_overlay(folder: Path, overlay: Path, **fields: Any) -> list[Manifest]:
    """Build what a user's own overlay in *folder* makes of one of ours with *fields*."""
    head = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    own = head | {"resources": [os.path.relpath(overlay, folder)]} | fields
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(own), "utf-8")
    return build(folder)


def with_component(folder: Path, component: Path) -> list[Manifest]:
    return own_overlay(folder, HERE / "overlays" / "behind-ingress", components=[os.path.relpath(component, folder)])


def validate(manifest: Manifest, version: str = KUBERNETES[-1]) -> None:
    """Hold an object to the schema of its kind: Kubernetes' own, or ours for the kinds of the Prometheus Operator."""
    if manifest["kind"] in OPERATOR:
        schema = OPERATOR[manifest["kind"]] | {"$defs": OPERATOR["$defs"]}
        jsonschema.Draft202012Validator(schema).validate(manifest)
    else:
        kubernetes_validate.validate(manifest, version, strict=True)


@pytest.mark.parametrize("version", KUBERNETES)
def test_every_manifest_fits_the_schema_of_its_kind(manifests: list[Manifest], version: str) -> None:
    for manifest in manifests:
        validate(manifest, version)


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda path: path.name)
def test_every_component_can_be_added_to_an_overlay(component: Path, tmp_path: Path) -> None:
    for manifest in with_component(tmp_path, component):
        validate(manifest)


def test_a_field_that_kubernetes_does_not_know_is_found() -> None:
    deployment = only(build(OVERLAYS[0]), "Deployment")
    deployment["spec"]["template"]["spec"]["terminationGracePeriod"] = 330
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(deployment, KUBERNETES[-1], strict=True)


def test_every_manifest_but_the_namespace_is_put_into_it(manifests: list[Manifest]) -> None:
    name = only(manifests, "Namespace")["metadata"]["name"]
    for manifest in manifests:
        assert manifest["kind"] == "Namespace" or manifest["metadata"]["namespace"] == name


def test_every_selector_finds_the_pods(manifests: list[Manifest]) -> None:
    deployment = only(manifests, "Deployment")
    labels = deployment["spec"]["template"]["metadata"]["labels"].items()
    selectors = [deployment["spec"]["selector"]["matchLabels"], only(manifests, "Service")["spec"]["selector"]]
    selectors.append(only(manifests, "NetworkPolicy")["spec"]["podSelector"]["matchLabels"])
    spread = deployment["spec"]["template"]["spec"]["topologySpreadConstraints"]
    selectors += [constraint["labelSelector"]["matchLabels"] for constraint in spread]
    selectors += [
        manifest["spec"]["selector"]["matchLabels"]
        for manifest in manifests
        if manifest["kind"] == "PodDisruptionBudget"
    ]
    for selector in selectors:
        assert selector
        assert selector.items() <= labels


def test_every_port_that_is_named_is_the_port_that_the_image_listens_on(
    manifests: list[Manifest], container: Manifest
) -> None:
    (port,) = container["ports"]
    assert f"EXPOSE {port['containerPort']}" in (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    (service_port,) = only(manifests, "Service")["spec"]["ports"]
    ingress_ports = [
        path["backend"]["service"]["port"]["name"]
        for manifest in manifests
        if manifest["kind"] == "Ingress"
        for rule in manifest["spec"]["rules"]
        for path in rule["http"]["paths"]
    ]
    policy = only(manifests, "NetworkPolicy")["spec"]["ingress"]
    policy_ports = [each["port"] for rule in policy for each in rule["ports"]]
    probes = [container[f"{probe}Probe"]["httpGet"]["port"] for probe in ("startup", "readiness", "liveness")]
    assert {service_port["targetPort"], *policy_ports, *probes} == {port["name"]}
    assert set(ingress_ports) <= {service_port["name"]}


def test_probes_ask_what_they_are_for(container: Manifest) -> None:
    paths = {probe: container[f"{probe}Probe"]["httpGet"]["path"] for probe in ("startup", "readiness", "liveness")}
    assert paths == {"startup": "/healthz", "readiness": "/readyz", "liveness": "/healthz"}


def test_a_pod_is_not_killed_before_its_longest_call_has_ended(
    manifests: list[Manifest], pod: Manifest, container: Manifest, tmp_path: Path
) -> None:
    longest = config_of(manifests, tmp_path).limits.interaction_timeout_s
    timings = Timings.of(longest, float(environment(container)["MCP_GATEWAY_DRAIN_S"]))
    assert pod["terminationGracePeriodSeconds"] >= timings.grace_period_s


def test_a_pod_drains_for_longer_than_its_readiness_takes_to_fail(container: Manifest) -> None:
    probe = container["readinessProbe"]
    drain_s = float(environment(container)["MCP_GATEWAY_DRAIN_S"])
    assert drain_s == PRODUCTION_DRAIN_S
    assert probe["periodSeconds"] * probe["failureThreshold"] + probe["timeoutSeconds"] < drain_s


def test_a_rollout_never_has_fewer_pods_than_it_should(manifests: list[Manifest]) -> None:
    strategy = only(manifests, "Deployment")["spec"]["strategy"]
    assert strategy == {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}


def test_a_pod_may_do_nothing_that_it_does_not_need(
    manifests: list[Manifest], pod: Manifest, container: Manifest
) -> None:
    assert pod["automountServiceAccountToken"] is False
    assert only(manifests, "ServiceAccount")["automountServiceAccountToken"] is False
    assert pod["serviceAccountName"] == only(manifests, "ServiceAccount")["metadata"]["name"]
    (user,) = re.findall(r"^USER (\d+):(\d+)$", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    assert pod["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": int(user[0]),
        "runAsGroup": int(user[1]),
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    namespace = only(manifests, "Namespace")["metadata"]["labels"]
    assert namespace["pod-security.kubernetes.io/enforce"] == "restricted"


def test_what_is_written_is_in_memory_and_bounded(pod: Manifest, container: Manifest) -> None:
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
    assert set(mounts) == {*IN_MEMORY, "/etc/mcp-gateway/config"}
    for path in IN_MEMORY:
        kept = volumes[mounts[path]["name"]]["emptyDir"]
        assert kept["medium"] == "Memory"
        assert kept["sizeLimit"]
    assert mounts["/etc/mcp-gateway/config"]["readOnly"] is True


def test_a_changed_configuration_has_another_name_and_so_rolls_the_pods(manifests: list[Manifest]) -> None:
    config_map = only(manifests, "ConfigMap")
    assert re.fullmatch(r"mcp-gateway-[a-z0-9]{10}", config_map["metadata"]["name"])
    pod = only(manifests, "Deployment")["spec"]["template"]["spec"]
    (volume,) = (each for each in pod["volumes"] if "configMap" in each)
    assert volume["configMap"]["name"] == config_map["metadata"]["name"]


def test_the_configuration_is_there_where_the_gateway_looks(container: Manifest, manifests: list[Manifest]) -> None:
    path = Path(environment(container)["MCP_GATEWAY_CONFIG"])
    assert str(path.parent) in {mount["mountPath"] for mount in container["volumeMounts"]}
    assert path.name in only(manifests, "ConfigMap")["data"]


def test_the_configuration_is_one_for_production(manifests: list[Manifest], tmp_path: Path) -> None:
    config = config_of(manifests, tmp_path)
    assert config.profile == "production"
    assert config.routes[0].tool_services[0].headers["Authorization"] == SECRET["CORE_TOOLS_AUTHORIZATION"]


def test_no_secret_is_written_down(manifests: list[Manifest], container: Manifest) -> None:
    assert "Secret" not in {manifest["kind"] for manifest in manifests}
    assert container["envFrom"] == [{"secretRef": {"name": "mcp-gateway"}}]


def test_workers_are_not_made_for_every_cpu_of_the_node(container: Manifest) -> None:
    assert int(environment(container)["WEB_CONCURRENCY"]) == 2


def test_memory_is_bounded_and_cpu_is_not(container: Manifest) -> None:
    resources = container["resources"]
    assert set(resources["requests"]) == {"cpu", "memory"}
    assert set(resources["limits"]) == {"memory"}


def test_nobody_reaches_a_pod_or_is_reached_from_it_unless_a_rule_says_so(manifests: list[Manifest]) -> None:
    policy = only(manifests, "NetworkPolicy")["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    peers = [peer for rule in policy["ingress"] for peer in rule["from"]]
    peers += [peer for rule in policy["egress"] for peer in rule["to"]]
    for peer in peers:
        assert peer["namespaceSelector"]["matchLabels"]


def test_names_are_looked_up_at_the_dns_of_the_cluster_as_they_are_labelled(manifests: list[Manifest]) -> None:
    rules = only(manifests, "NetworkPolicy")["spec"]["egress"]
    (peer,) = [
        peer for rule in rules if {"port": 53, "protocol": "UDP"} in rule.get("ports", ()) for peer in rule["to"]
    ]
    assert peer["podSelector"] == {"matchLabels": {"k8s-app": "kube-dns"}}


def test_the_ingress_lets_in_what_routes_are_under_and_nothing_else(tmp_path: Path) -> None:
    manifests = build(HERE / "overlays" / "behind-ingress")
    (rule,) = only(manifests, "Ingress")["spec"]["rules"]
    (path,) = rule["http"]["paths"]
    assert path["pathType"] == "Prefix"
    for route in config_of(manifests, tmp_path).routes:
        assert route.public_path.startswith(path["path"] + "/")
    for own in ("/healthz", "/readyz", "/metrics", "/console"):
        assert not own.startswith(path["path"])


def test_the_ingress_changes_no_path_and_waits_longer_than_any_call(tmp_path: Path) -> None:
    manifests = build(HERE / "overlays" / "behind-ingress")
    annotations = only(manifests, "Ingress")["metadata"]["annotations"]
    assert not [name for name in annotations if "rewrite" in name]
    longest = config_of(manifests, tmp_path).limits.interaction_timeout_s
    waits = [value for name, value in annotations.items() if name.endswith("/proxy-read-timeout")]
    assert len(waits) == 2
    assert all(int(wait.removesuffix("s")) > longest for wait in waits)


def test_the_autoscaler_and_the_budget_leave_a_pod_to_lose() -> None:
    manifests = build(HERE / "overlays" / "behind-ingress")
    autoscaler = only(manifests, "HorizontalPodAutoscaler")["spec"]
    assert autoscaler["scaleTargetRef"]["name"] == only(manifests, "Deployment")["metadata"]["name"]
    assert autoscaler["minReplicas"] >= 2
    assert only(manifests, "PodDisruptionBudget")["spec"]["maxUnavailable"] == 1
    assert "replicas" not in only(manifests, "Deployment")["spec"], "each apply would undo the autoscaler"


def test_a_single_instance_has_nothing_that_keeps_a_node_from_being_emptied() -> None:
    manifests = build(HERE / "overlays" / "one-instance")
    assert only(manifests, "Deployment")["spec"]["replicas"] == 1
    assert {"HorizontalPodAutoscaler", "PodDisruptionBudget"}.isdisjoint(each["kind"] for each in manifests)


@every_overlay
def test_an_overlay_of_ones_own_brings_its_own_configuration(overlay: Path, tmp_path: Path) -> None:
    (tmp_path / "gateway.yaml").write_text("profile: production\n", "utf-8")
    generator = {"name": "mcp-gateway", "behavior": "replace", "files": ["gateway.yaml"]}
    manifests = own_overlay(tmp_path, overlay, namespace="tools", configMapGenerator=[generator])
    assert only(manifests, "ConfigMap")["data"] == {"gateway.yaml": "profile: production\n"}
    assert only(manifests, "Namespace")["metadata"]["name"] == "tools"


def test_calls_under_way_scale_at_a_share_of_the_places_that_a_pod_has(tmp_path: Path) -> None:
    manifests = with_component(tmp_path, HERE / "components" / "scale-on-calls")
    cpu, calls = only(manifests, "HorizontalPodAutoscaler")["spec"]["metrics"]
    assert (cpu["type"], calls["type"]) == ("Resource", "Pods")
    assert calls["pods"]["metric"]["name"] == declared.IN_FLIGHT.name
    (container,) = only(manifests, "Deployment")["spec"]["template"]["spec"]["containers"]
    (service,) = config_of(manifests, tmp_path).routes[0].tool_services
    places = int(environment(container)["WEB_CONCURRENCY"]) * service.max_in_flight
    assert int(calls["pods"]["target"]["averageValue"]) == int(0.6 * places)


def test_the_alerts_of_the_operator_are_those_of_prometheus_to_the_letter(tmp_path: Path) -> None:
    assert prometheus_rule.OBJECT.read_text("utf-8") == prometheus_rule.text(), "run: python scripts/prometheus_rule.py"
    manifests = with_component(tmp_path, HERE / "components" / "prometheus-rule")
    assert only(manifests, "PrometheusRule")["spec"] == yaml.safe_load(RULES.read_text("utf-8"))


def test_the_alerts_look_for_the_job_that_the_service_monitor_gives(tmp_path: Path) -> None:
    manifests = with_component(tmp_path, HERE / "components" / "service-monitor")
    monitor, service = only(manifests, "ServiceMonitor")["spec"], only(manifests, "Service")
    assert monitor["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert "jobLabel" not in monitor, "without it, the job is the name of the Service"
    assert {endpoint["port"] for endpoint in monitor["endpoints"]} <= {
        port["name"] for port in service["spec"]["ports"]
    }
    assert set(re.findall(r'\bjob="([^"]*)"', RULES.read_text("utf-8"))) == {service["metadata"]["name"]}


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("spec", "groups", 0, "rules", 0, "for"), "two minutes"),
        (("spec", "groups", 0, "rules", 0, "record"), "up:sum"),
        (("spec", "groups", 0, "rules", 0, "severity"), "page"),
        (("spec", "groups", 0, "rules", 0, "labels"), {"severity": 1}),
        (("spec", "groups", 0, "every"), "1m"),
        (("spec", "rules"), []),
        (("apiVersion",), "monitoring.coreos.com/v2"),
        (("status",), {}),
    ],
    ids=str,
)
def test_a_field_that_the_operator_does_not_know_is_found(place: tuple[str | int, ...], value: Any) -> None:
    manifest = yaml.safe_load(prometheus_rule.text())
    validate(manifest)
    *way, last = place
    at = manifest
    for step in way:
        at = at[step]
    at[last] = value
    with pytest.raises(jsonschema.ValidationError):
        validate(manifest)


def test_a_label_that_an_operator_looks_for_is_added_as_the_readme_says(tmp_path: Path) -> None:
    (text,) = re.findall(r"`- (\{target: \{kind: PrometheusRule.*\})`", (HERE / "README.md").read_text("utf-8"))
    component = os.path.relpath(HERE / "components" / "prometheus-rule", tmp_path)
    manifests = own_overlay(tmp_path, OVERLAYS[0], components=[component], patches=[yaml.safe_load(text)])
    assert only(manifests, "PrometheusRule")["metadata"]["labels"]["release"] == "prometheus"


def test_the_overlay_of_the_readme_builds(tmp_path: Path) -> None:
    (text,) = re.findall(r"```yaml kubernetes\n(apiVersion.*?)```", (HERE / "README.md").read_text("utf-8"), re.DOTALL)
    written = "../mcp-gateway/deploy/kubernetes/overlays/behind-ingress"
    assert written in text
    real = os.path.relpath(HERE / "overlays" / "behind-ingress", tmp_path)
    (tmp_path / "kustomization.yaml").write_text(text.replace(written, real), "utf-8")
    (tmp_path / "gateway.yaml").write_text("profile: production\n", "utf-8")
    manifests = build(tmp_path)
    (container,) = only(manifests, "Deployment")["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "registry.internal/tools/mcp-gateway:0.1.0"
    ingress = only(manifests, "Ingress")["spec"]
    assert (ingress["rules"][0]["host"], ingress["tls"][0]["hosts"]) == ("tools.internal", ["tools.internal"])


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"one": ""}, "9g67k2htb6"),
        ({"gateway.yaml": 'title: 도구 <a> & "b"\\\t\n'}, "7887g46gf9"),
    ],
)
def test_a_configuration_gets_the_hash_that_kustomize_gives_it(data: dict[str, str], expected: str) -> None:
    assert content_hash(data) == expected


@pytest.mark.parametrize(
    ("why", "field"),
    [
        ("namePrefix", {"namePrefix": "x-"}),
        ("is no Kustomization", {"kind": "Component"}),
        ("ClusterRole", {"resources": ["role.yaml"]}),
        ("includeTemplates", {"labels": [{"pairs": {"a": "b"}}]}),
        ("includeSelectors", {"labels": [{"pairs": {"a": "b"}, "includeSelectors": True}]}),
        ("not true", {"labels": [{"pairs": {"a": "b"}, "includeTemplates": False}]}),
        ("digest", {"images": [{"name": "mcp-gateway", "digest": "sha256:0"}]}),
        ("no Deployment is called other", {"replicas": [{"name": "other", "count": 1}]}),
        ("literals", {"configMapGenerator": [{"name": "x", "literals": ["a=b"]}]}),
        ("outside", {"configMapGenerator": [{"name": "x", "files": ["../gateway.yaml"]}]}),
        ("twice", {"configMapGenerator": [{"name": "mcp-gateway", "files": []}]}),
        ("merge", {"configMapGenerator": [{"name": "mcp-gateway", "files": [], "behavior": "merge"}]}),
        ("path", {"patches": [{"path": "patch.yaml"}]}),
        ("no list", {"patches": [{"target": INGRESS, "patch": "kind: Ingress"}]}),
        ("labelSelector", {"patches": [{"target": {**INGRESS, "labelSelector": "a=b"}, "patch": "[]"}]}),
        ("no Ingress is called other", {"patches": [{"target": {**INGRESS, "name": "other"}, "patch": ADD}]}),
        ("from", {"patches": [{"target": INGRESS, "patch": "[{op: move, from: /spec, path: /other}]"}]}),
        ("test /kind", {"patches": [{"target": INGRESS, "patch": "[{op: test, path: /kind, value: Ingress}]"}]}),
        ("replace /a", {"patches": [{"target": INGRESS, "patch": ADD.replace("add", "replace")}]}),
    ],
)
def test_what_these_tests_cannot_read_of_kustomize_is_refused(why: str, field: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "role.yaml").write_text("{kind: ClusterRole, metadata: {name: x}}", "utf-8")
    with pytest.raises(Refused, match=why):
        own_overlay(tmp_path, HERE / "overlays" / "behind-ingress", **field)


@pytest.mark.parametrize(("version", "asked"), [("v5.5.0", True), ("v2.0.3", False)])
def test_a_kubectl_that_builds_something_else_is_believed_unless_it_is_too_old(
    version: str, asked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "kubectl"
    other = '{"kind": "Service", "metadata": {"name": "other"}}'
    program.write_text(
        f"#!/bin/sh\ncase $1 in version) echo 'Kustomize Version: {version}';; *) echo '{other}';; esac\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AssertionError, match='-   "name": "other"') if asked else contextlib.nullcontext():
        build(OVERLAYS[0])
