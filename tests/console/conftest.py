from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from console.harness import CHROMIUM, SWITCHES, WAIT_MS, Console, furnish, new_tab
from playwright.sync_api import Browser, BrowserContext, sync_playwright
from support.processes import Gateway, configuration, gateway
from support.toolservice import ToolService


# One for the package: while it is there, an event loop of Playwright's runs in this thread.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Debian's Chromium; a machine of a check must have it."""
    if not CHROMIUM.exists() and not os.environ.get("CI"):
        pytest.skip(f"{CHROMIUM} is not installed")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(SWITCHES))
        yield started
        started.close()


@pytest.fixture(scope="package")
def service() -> Iterator[ToolService]:
    """A Tool Service with a tool for each thing that there is to be seen."""
    with ToolService() as running:
        furnish(running)
        yield running


@pytest.fixture(scope="package")
def served(service: ToolService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """A gateway in front of it, in profile local."""
    folder = tmp_path_factory.mktemp("console")
    with gateway(folder, configuration(service), workers=1) as running:
        yield running


@pytest.fixture(scope="package")
def window(browser: Browser) -> Iterator[BrowserContext]:
    """Where the tabs of most tests are, so that the console's files are loaded once."""
    opened = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    opened.set_default_timeout(WAIT_MS)
    opened.grant_permissions(["clipboard-read", "clipboard-write"])
    yield opened
    opened.close()


@pytest.fixture
def console(window: BrowserContext, served: Gateway) -> Iterator[Console]:
    """The console in a tab of its own."""
    with new_tab(window, served.url) as opened:
        yield opened
