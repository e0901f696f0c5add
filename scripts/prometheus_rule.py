"""
Write the alert rules of ``deploy/prometheus`` as the object that the Prometheus Operator takes.

kustomize reads nothing outside of a component's folder, so the rules stand there once more; the tests fail when the two
are no longer the same. ``python scripts/prometheus_rule.py`` writes the object anew.
"""

from __future__ import annotations

from pathlib import Path

DEPLOY = Path(__file__).resolve().parent.parent / "deploy"
RULES = DEPLOY / "prometheus" / "rules.yml"
OBJECT = DEPLOY / "kubernetes" / "components" / "prometheus-rule" / "prometheus-rule.yaml"

HEAD = """\
# Made by "python scripts/prometheus_rule.py" from deploy/prometheus/rules.yml, which is the file to change.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: mcp-gateway
  labels:
    app.kubernetes.io/name: mcp-gateway
spec:
"""


def text() -> str:
    """Return the object: the groups as they are written, one step further in."""
    lines = RULES.read_text(encoding="utf-8").splitlines()
    groups = lines[lines.index("groups:") :]
    return HEAD + "".join(f"  {line}\n" if line else "\n" for line in groups)


if __name__ == "__main__":
    OBJECT.write_text(text(), encoding="utf-8")
