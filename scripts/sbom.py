#!/usr/bin/env python3
"""
Write the bill of materials of an image (CycloneDX): each release that a lock pins, with the hashes that it is held to,
its licences, and what needs what. The same lock gives the same file, byte for byte.

::

    sbom.py requirements/runtime.lock build/mcp-gateway.cdx.json

The generator reads hashes from locks and licences from installed packages, never both: this joins what it says of each.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.utils import NormalizedName, canonicalize_name

Bom = dict[str, Any]
Known = dict[NormalizedName, Bom]

ROOT = "mcp_gateway"
SCHEMA = SchemaVersion.V1_6


def generate(kind: str, source: str) -> Bom:
    """Return what the generator says of a lock ("requirements") or of the packages of a Python ("environment")."""
    # What comes of both is validated, once.
    command = ["cyclonedx_py", kind, source, "--output-reproducible", "--no-validate", "--sv", SCHEMA.to_version()]
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, check=True)
    bom: Bom = json.loads(done.stdout)
    return bom


def join(pinned: Bom, installed: Bom) -> Bom:
    """
    Return the bill of what is pinned.

    Args:

        pinned: The generator's bill of a lock: versions and hashes.

        installed: Its bill of an environment: licences, descriptions and who needs whom; it may have more packages. Of
            one that is not there, since it is for another platform, the lock's word is all.
    """
    known: Known = {canonicalize_name(component["name"]): component for component in installed["components"]}
    root = known[canonicalize_name(ROOT)]
    components = [_joined(component, known) for component in pinned["components"]]
    refs = {component["bom-ref"] for component in components} | {root["bom-ref"]}
    return {
        **installed,
        "metadata": {
            **installed["metadata"],
            # Where it was installed from is the folder of whoever made this.
            "component": {key: value for key, value in root.items() if key != "externalReferences"}
            | {"type": "application"},
        },
        "components": components,
        "dependencies": [
            {**entry, "dependsOn": needed}
            if (needed := [ref for ref in entry.get("dependsOn", []) if ref in refs])
            else {"ref": entry["ref"]}
            for entry in installed["dependencies"]
            if entry["ref"] in refs
        ],
    }


def _joined(component: Bom, known: Known) -> Bom:
    own = known.get(canonicalize_name(component["name"]))
    if own is None:
        return {key: value for key, value in component.items() if key != "description"}
    if own["version"] != component["version"]:
        raise SystemExit(f"{component['name']} {own['version']} is installed and not {component['version']}: make venv")
    return {**own, "externalReferences": component["externalReferences"] + own.get("externalReferences", [])}


def main() -> int:
    """Write the bill, once it is valid."""
    options = argparse.ArgumentParser(description="Write the CycloneDX bill of materials of a lock.")
    options.add_argument("lock", type=Path)
    options.add_argument("output", type=Path)
    given = options.parse_args()
    bom = join(generate("requirements", str(given.lock)), generate("environment", sys.executable))
    text = json.dumps(bom, indent=2, sort_keys=True) + "\n"
    fault = JsonStrictValidator(SCHEMA).validate_str(text)
    if fault is not None:
        raise SystemExit(f"the bill is not valid: {fault}")
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(text, "utf-8")
    print(f"{given.output}: {len(bom['components'])} components, CycloneDX {SCHEMA.to_version()}, valid")
    return 0


if __name__ == "__main__":
    sys.exit(main())
