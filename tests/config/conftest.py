from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from config.samples import VERSIONS, Faults, Load

from mcp_gateway.config.load import ConfigFaults, load
from mcp_gateway.config.model import Config


@pytest.fixture
def load_text(tmp_path: Path) -> Load:
    """Load a text as the file ``config/local.yaml`` of a project folder of its own."""

    def run(text: str | bytes, environ: Mapping[str, str] | None = None) -> Config:
        path = tmp_path / "config" / "local.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load(path, environ or {}, versions=VERSIONS)

    return run


@pytest.fixture
def faults_of(load_text: Load) -> Faults:
    """Return the fault lines of a text that must not load."""

    def run(text: str | bytes, environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
        with pytest.raises(ConfigFaults) as caught:
            load_text(text, environ)
        return caught.value.faults

    return run
