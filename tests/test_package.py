import importlib.metadata
import runpy
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "mcp_gateway" / "__init__.py"


def test_the_version_is_that_of_the_installed_package() -> None:
    assert runpy.run_path(str(PACKAGE))["__version__"] == importlib.metadata.version("mcp_gateway")


def test_a_source_tree_that_is_not_installed_says_that_its_version_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    assert runpy.run_path(str(PACKAGE))["__version__"] == "0+unknown"
