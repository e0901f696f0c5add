"""The Flask application itself: how a view is found, and that nobody has a session."""

from __future__ import annotations

import pytest
from flask import Response, session
from flask.sessions import SecureCookieSessionInterface
from werkzeug.exceptions import HTTPException
from werkzeug.test import Client, EnvironBuilder

from mcp_gateway.web.site import Finder, Site

PLAIN = {"/mcp/core": ["POST"], "/healthz": ["GET"], "/console/": ["GET"]}
VARIABLE = "/console/<route>/<path:tool>"


@pytest.fixture
def site() -> Site:
    here = Site("here", static_folder=None)
    here.url_map.merge_slashes = False
    for path, methods in PLAIN.items():
        here.add_url_rule(path, path, lambda: Response(str(session.get("a"))), methods=methods)
    here.add_url_rule(VARIABLE, VARIABLE, lambda route, tool: Response(f"{route} {tool}"))
    return here


@pytest.mark.parametrize(
    "path", [*PLAIN, "/console/core/core.echo", "/console", "/mcp/core/", "//mcp/core", "/mcp", "", "/말"]
)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "DELETE", "OPTIONS"])
def test_a_path_is_found_in_one_look_exactly_where_werkzeug_finds_it(site: Site, path: str, method: str) -> None:
    def found(plain: bool) -> object:
        finder = site.create_url_adapter(site.request_class(EnvironBuilder(path, method=method).get_environ()))
        assert isinstance(finder, Finder)
        if not plain:
            finder.plain = {}
        try:
            return finder.match(return_rule=True)
        except HTTPException as fault:
            return type(fault), getattr(fault, "new_url", None), finder.allowed_methods()

    assert found(plain=True) == found(plain=False)


def test_a_plain_path_is_not_gone_through_part_by_part(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(site)
    assert client.get("/healthz").status_code == 200
    monkeypatch.setattr(site.url_map, "_matcher", None)
    assert client.get("/healthz").status_code == 200


def test_nobody_has_a_session(site: Site) -> None:
    site.secret_key = "known to whoever signs"
    signer = SecureCookieSessionInterface().get_signing_serializer(site)
    assert signer is not None
    client = Client(site)
    client.set_cookie("session", str(signer.dumps({"a": 1})))
    response = client.get("/healthz")
    assert (response.text, response.headers.getlist("Set-Cookie")) == ("None", [])
