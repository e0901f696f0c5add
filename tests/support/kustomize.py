"""
What "kubectl apply -k" would send of a folder of ``deploy/kubernetes``, on a machine without kubectl, too.

This reads of kustomize what those folders use, and refuses whatever else it meets: nothing is passed over in silence.
Where there is a kubectl that can, it is asked as well and has to say the same (``kustomize_kubectl``).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from .kustomize_kubectl import confirm

Manifest = dict[str, Any]

VERSIONS = {
    "Kustomization": "kustomize.config.k8s.io/v1beta1",
    "Component": "kustomize.config.k8s.io/v1alpha1",
}

IN_NAMESPACE = frozenset(
    "Deployment HorizontalPodAutoscaler Ingress NetworkPolicy PodDisruptionBudget PrometheusRule Service "
    "ServiceAccount ServiceMonitor".split()
)


class Refused(Exception):
    """A folder asks for what this reader does not know, or for what cannot be done."""


def build(folder: Path) -> list[Manifest]:
    """
    Return the manifests that "kubectl apply -k *folder*" would send.

    Raises:
        Refused: something in the folder is not known here.

    """
    manifests = _accumulated(folder, "Kustomization", [])
    for config_map in _each(manifests, "ConfigMap"):
        name = config_map["metadata"]["name"]
        config_map["metadata"]["name"] = f"{name}-{content_hash(config_map['data'])}"
        _refer(manifests, name, config_map["metadata"]["name"])
    confirm(folder, manifests)
    return manifests


def only(manifests: list[Manifest], kind: str) -> Manifest:
    """Return the one manifest of a kind."""
    (found,) = _each(manifests, kind)
    return found


def content_hash(data: Mapping[str, str]) -> str:
    """Return what kustomize puts behind the name of a ConfigMap that it generates."""
    content = {"data": data, "kind": "ConfigMap", "name": ""}  # it means to take the name, and looks in the wrong place
    # As Go writes JSON: sorted, dense, and with what HTML or JavaScript could take amiss written as \uXXXX.
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    text = re.sub("[<>&\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", text)
    digits = hashlib.sha256(text.encode("utf-8")).hexdigest()[:10]
    return digits.translate(str.maketrans("013ae", "ghkmt"))  # kustomize's own alphabet: no bad words


def _accumulated(folder: Path, kind: str, manifests: list[Manifest]) -> list[Manifest]:
    """Add to *manifests* what *folder* brings, and do to all of them what it says, in the order that kustomize has."""
    steps = yaml.safe_load(_inside(folder, "kustomization.yaml").read_text("utf-8"))
    _hold(steps, "apiVersion kind", "resources configMapGenerator components", *_TRANSFORMERS)
    if (steps["apiVersion"], steps["kind"]) != (VERSIONS[kind], kind):
        raise Refused(f"{folder} is no {kind} of {VERSIONS[kind]}")
    for name in steps.get("resources", ()):
        below = folder / name
        manifests += _accumulated(below, "Kustomization", []) if below.is_dir() else _loaded(_inside(folder, name))
    for generator in steps.get("configMapGenerator", ()):
        _generate(manifests, generator, folder)
    for name in steps.get("components", ()):
        manifests = _accumulated(folder / name, "Component", manifests)
    identities = [(each["kind"], each["metadata"]["name"]) for each in manifests]
    if len(set(identities)) < len(identities):
        raise Refused(f"{folder} has an object twice: {sorted(identities)}")
    for field, transform in _TRANSFORMERS.items():
        if field in steps:
            transform(manifests, steps[field])
    return manifests


def _loaded(path: Path) -> list[Manifest]:
    manifests: list[Manifest] = list(yaml.safe_load_all(path.read_text("utf-8")))
    for manifest in manifests:
        if manifest["kind"] not in {*IN_NAMESPACE, "Namespace"}:
            raise Refused(f"{manifest['kind']} in {path}")
        _hold(manifest["metadata"], "name", "labels annotations")
    return manifests


def _generate(manifests: list[Manifest], generator: Any, folder: Path) -> None:
    _hold(generator, "name files", "behavior")
    paths = [_inside(folder, name) for name in generator["files"]]
    data = {path.name: path.read_bytes().decode("utf-8") for path in paths}
    match generator.get("behavior", "create"):
        case "create":
            metadata = {"name": generator["name"]}
            manifests.append({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
        case "replace":
            _named(manifests, "ConfigMap", generator["name"])["data"] = data
        case behavior:
            raise Refused(f"behavior: {behavior}")


def _patch(manifests: list[Manifest], patches: Any) -> None:
    for patch in patches:
        _hold(patch, "target patch")
        _hold(patch["target"], "kind name")
        operations = yaml.safe_load(patch["patch"])
        if not isinstance(operations, list):
            raise Refused("a patch that is no list of operations")
        for operation in operations:
            _hold(operation, "op path value")
            _operate(_named(manifests, **patch["target"]), **operation)


def _operate(manifest: Manifest, op: str, path: str, value: Any) -> None:
    """Do one operation of RFC 6902."""
    *way, last = (part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:])
    place: Any = manifest
    for part in way:
        place = place[int(part) if isinstance(place, list) else part]
    match op, place:
        case "add", list():
            place.insert(len(place) if last == "-" else int(last), value)
        case "replace", list():
            place[int(last)] = value
        case "add", dict():
            place[last] = value
        case "replace", dict() if last in place:
            place[last] = value
        case _:
            raise Refused(f"{op} {path}")


def _set_namespace(manifests: list[Manifest], namespace: Any) -> None:
    for manifest in manifests:
        manifest["metadata"]["name" if manifest["kind"] == "Namespace" else "namespace"] = namespace


def _label(manifests: list[Manifest], labels: Any) -> None:
    for label in labels:
        _hold(label, "pairs includeTemplates")
        if label["includeTemplates"] is not True:
            raise Refused("includeTemplates that is not true")
        for manifest in manifests:
            template = [manifest["spec"]["template"]] if manifest["kind"] == "Deployment" else []
            for labelled in (manifest, *template):
                labelled.setdefault("metadata", {}).setdefault("labels", {}).update(label["pairs"])


def _set_replicas(manifests: list[Manifest], replicas: Any) -> None:
    for each in replicas:
        _hold(each, "name count")
        _named(manifests, "Deployment", each["name"])["spec"]["replicas"] = each["count"]


def _set_images(manifests: list[Manifest], images: Any) -> None:
    for image in images:
        _hold(image, "name newName newTag")
        for deployment in _each(manifests, "Deployment"):
            pod = deployment["spec"]["template"]["spec"]
            for container in (*pod["containers"], *pod.get("initContainers", ())):
                if re.fullmatch(re.escape(image["name"]) + r"(:[^:/@]+)?(@.+)?", container["image"]):
                    container["image"] = f"{image['newName']}:{image['newTag']}"


_TRANSFORMERS: Mapping[str, Callable[[list[Manifest], Any], None]] = {
    "patches": _patch,
    "namespace": _set_namespace,
    "labels": _label,
    "replicas": _set_replicas,
    "images": _set_images,
}


def _refer(at: Any, name: str, renamed: str) -> None:
    """Let whatever refers to the ConfigMap *name* refer to *renamed*."""
    if isinstance(at, dict):
        for key in ("configMap", "configMapRef", "configMapKeyRef"):
            if key in at and at[key]["name"] == name:
                at[key]["name"] = renamed
    for below in at.values() if isinstance(at, dict) else at if isinstance(at, list) else ():
        _refer(below, name, renamed)


def _each(manifests: list[Manifest], kind: str) -> list[Manifest]:
    return [manifest for manifest in manifests if manifest["kind"] == kind]


def _named(manifests: list[Manifest], kind: str, name: str) -> Manifest:
    for manifest in _each(manifests, kind):
        if manifest["metadata"]["name"] == name:
            return manifest
    raise Refused(f"no {kind} is called {name}")


def _inside(folder: Path, name: str) -> Path:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise Refused(f"{name} is outside of {folder}")
    return path


def _hold(given: Any, needed: str, *possible: str) -> None:
    """Refuse a mapping that lacks a field of *needed*, or has one that is not in *possible* either."""
    fields, least = set(given), set(needed.split())
    if wrong := fields - least - set(" ".join(possible).split()) or least - fields:
        raise Refused(f"{', '.join(sorted(wrong))} in {given}")
