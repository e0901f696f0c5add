"""A console in production: off, or behind a token of its own; and calls from its page's own origin."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from console.harness import tab
from playwright.sync_api import Browser
from support.processes import Gateway, configuration, gateway
from support.rpc import request
from support.toolservice import ToolService

TOKEN = "a-token-of-its-own-0123456789"
LOCKED = {"enabled": True, "token": "${CONSOLE_TOKEN}"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("production")


@pytest.fixture(scope="module")
def locked(service: ToolService, folder: Path) -> Iterator[Gateway]:
    """A gateway in production whose console has a token, and whose own origin may call."""
    changes: dict[str, Any] = {
        "profile": "production",
        "console": LOCKED,
        "server": {"allowed_origins": ["http://127.0.0.1:${PORT}"]},
    }
    with gateway(folder, configuration(service, **changes), workers=1, env={"CONSOLE_TOKEN": TOKEN}) as running:
        yield running
        assert TOKEN not in running.said()


def test_production_has_no_console_unless_it_is_switched_on(service: ToolService, tmp_path: Path) -> None:
    with gateway(tmp_path, configuration(service, profile="production"), workers=1) as running:
        for path in ("/console", "/console/", "/console/api/routes", "/console/manifest-v1.schema.json"):
            answer = running.get(path)
            assert (answer.status, answer.json()["error"]) == (404, "not_found")


def test_without_the_token_nothing_is_told(locked: Gateway) -> None:
    paths = (
        ("GET", "/console/api/routes"),
        ("GET", "/console/api/tool?route=core&tool=text"),
        ("POST", "/console/api/check"),
    )
    for sent in (None, "", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN, "Bearer", "Bearer \xed\x95\x9c"):
        headers = {} if sent is None else {"Authorization": sent}
        for method, path in paths:
            answer = request(method, locked.url + path, None, headers)
            assert (answer.status, answer.json()["error"]) == (401, "unauthorized"), (sent, path)
            assert answer.headers["WWW-Authenticate"] == 'Bearer realm="mcp-gateway console"'
            assert set(answer.json()) == {"error", "message", "guid"}


def test_the_page_asks_for_the_token_before_it_asks_for_anything_else(browser: Browser, locked: Gateway) -> None:
    with tab(browser, locked.url) as console:
        page = console.open()
        page.get_by_role("heading", name="This console asks for its token").wait_for()
        assert not [each.url for each in console.seen.requests if "/api/" in each.url]
        page.get_by_label("Token", exact=True).fill(TOKEN)
        page.keyboard.press("Enter")
        page.get_by_role("link", name="core").click()
        page.get_by_role("heading", name="Tools", exact=True).wait_for()


def test_a_wrong_token_is_told_and_forgotten(browser: Browser, locked: Gateway) -> None:
    with tab(browser, locked.url) as console:
        console.expect("401")
        page = console.open("core")
        page.get_by_label("Token", exact=True).fill("wrong")
        page.get_by_role("button", name="Look").click()
        assert page.get_by_role("alert").inner_text() == "That was not the token."
        assert page.evaluate("sessionStorage.length") == 0


def test_a_token_in_another_script_is_a_wrong_one_too(browser: Browser, locked: Gateway) -> None:
    with tab(browser, locked.url) as console:
        page = console.open("core")
        page.get_by_label("Token", exact=True).fill("한글")
        page.get_by_role("button", name="Look").click()
        assert page.get_by_role("alert").inner_text() == "That was not the token."
        assert page.evaluate("sessionStorage.length") == 0


def test_the_token_stays_in_the_tab_goes_to_no_route_and_can_be_forgotten(browser: Browser, locked: Gateway) -> None:
    with tab(browser, locked.url) as console:
        page = console.open("core/text")
        page.get_by_label("Token", exact=True).fill(TOKEN)
        page.get_by_role("button", name="Look").click()
        console.wait_for_state("The arguments fit")
        page.reload()
        console.wait_for_state("The arguments fit")
        assert "The tool answered" in console.send().inner_text()
        assert "authorization" not in console.seen.requests[-1].all_headers()
        assert page.context.cookies() == []
        assert page.evaluate("localStorage.length") == 0
        assert TOKEN not in page.url
        page.get_by_role("button", name="Forget the token").click()
        page.get_by_role("heading", name="This console asks for its token").wait_for()
        assert page.evaluate("sessionStorage.length") == 0


def test_a_page_whose_origin_may_not_call_can_look_and_says_why_it_cannot_send(
    browser: Browser, service: ToolService, tmp_path: Path
) -> None:
    changes: dict[str, Any] = {"profile": "production", "console": {"enabled": True, "authentication": "none"}}
    with (
        gateway(tmp_path, configuration(service, **changes), workers=1) as running,
        tab(browser, running.url) as console,
    ):
        console.expect("403")
        page = console.open("core/text")
        console.wait_for_state(f"The gateway takes no calls from pages of {running.url}.")
        assert "server.allowed_origins" in page.get_by_role("note").inner_text()
        assert page.get_by_role("button", name="Send", exact=True).is_disabled()
        console.open("core")
        assert "text" in page.locator(".tools").inner_text()
