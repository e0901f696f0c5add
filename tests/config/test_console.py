"""The section ``console``: where there is a console, and who may look."""

from __future__ import annotations

import pytest
from config.samples import ROUTE, Faults, Load

TOKEN = "t" * 24
PRODUCTION = "profile: production\n" + ROUTE


@pytest.mark.parametrize(
    ("text", "served"),
    [
        (ROUTE, True),
        ("console: {enabled: false}" + ROUTE, False),
        ("console: {enabled: null}" + ROUTE, True),
        (PRODUCTION, False),
        (f"console: {{enabled: true, token: {TOKEN}}}\n" + PRODUCTION, True),
        ("console: {enabled: true, authentication: none}\n" + PRODUCTION, True),
    ],
)
def test_the_console_is_on_in_local_and_off_in_production_unless_the_file_says_otherwise(
    load_text: Load, text: str, served: bool
) -> None:
    config = load_text(text)
    assert config.console.serves(config.profile) is served


def test_local_needs_no_token(load_text: Load) -> None:
    assert load_text("console: {enabled: true}" + ROUTE).console.token is None


def test_production_needs_a_token_or_the_word_that_there_is_none(faults_of: Faults) -> None:
    for console in ("enabled: true", "enabled: true, authentication: token", "enabled: true, token: '${NONE:-}'"):
        assert faults_of(f"console: {{{console}}}\n" + PRODUCTION) == (
            "console.token: is required in production, unless console.authentication is none",
        )


def test_the_environment_may_switch_it_on(faults_of: Faults, load_text: Load) -> None:
    text = "console: {enabled: '${ON}', token: '${CONSOLE_TOKEN:-}'}\n" + PRODUCTION
    assert load_text(text, {"ON": "false"}).console.enabled is False
    assert faults_of(text, {"ON": "true"})[0].startswith("console.token: is required")
    assert load_text(text, {"ON": "true", "CONSOLE_TOKEN": TOKEN}).console.token == TOKEN


@pytest.mark.parametrize("token", ["t" * 23, "t" * 24 + " ", "가" * 24, "t" * 8193])
def test_a_token_that_could_be_guessed_or_cannot_be_sent_is_refused_and_not_shown(
    faults_of: Faults, token: str
) -> None:
    (fault,) = faults_of("console: {token: '${TOKEN}'}" + ROUTE, {"TOKEN": token})
    assert fault == "console.token: must be 24 to 8192 visible ASCII characters without spaces"


def test_a_token_that_nobody_asks_for_is_a_contradiction(faults_of: Faults) -> None:
    assert faults_of(f"console: {{authentication: none, token: {TOKEN}}}" + ROUTE) == (
        "console.token: must be left out where console.authentication is none",
    )


def test_the_token_is_in_no_representation_of_the_configuration(load_text: Load) -> None:
    assert TOKEN not in repr(load_text(f"console: {{token: {TOKEN}}}" + ROUTE))
