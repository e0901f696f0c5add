"""The paths of the console: one page with its files, and the documents that it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import wraps

from flask import Blueprint, Response, request
from werkzeug.exceptions import NotFound

from ... import jsontext
from ...caller import correlate
from ...config import model
from ...environ import DRAINING
from ...faults import HttpFault
from ...registry import published
from ...registry.snapshot import Tool
from .. import answers, checks
from ..checks import Policy
from ..health import Health
from ..requests import EnvironHeaders, read_body
from . import access, documents, trial
from .assets import INDEX, Assets, media_type
from .trial import Rehearse

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""The page runs its own files and nothing else, and may ask this gateway alone."""

FOR_EVER = "public, max-age=31536000, immutable"
ASK_FIRST = "no-cache"

MARKS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""What every answer of the console carries."""

View = Callable[..., Response]


def blueprint(
    config: model.Config,
    routes: Iterable[model.Route],
    policy: Policy,
    look: Callable[[], Health],
    rehearse: Rehearse,
) -> Blueprint:
    """
    Return the blueprint of the console.

    Args:

        config: The configuration; its ``console`` says who may look.

        routes: The routes that are served, in the configuration's form.

        policy: Which origins may call the routes.

        look: Says how this worker is, and holds the snapshots.

        rehearse: Says what the gateway would refuse.
    """
    console = Blueprint("console", __name__)
    _add_files(console, Assets.read(), locked=config.console.token is not None)
    _add_documents(console, config, {route.key: route for route in routes}, policy, look, rehearse)

    @console.after_request
    def after(response: Response) -> Response:
        response.headers.update(MARKS)
        return response

    return console


def _add_files(console: Blueprint, assets: Assets, *, locked: bool) -> None:
    """Add what anybody may have: the page, its files, and the published schema of a manifest."""

    def page() -> Response:
        return _file(assets.index(locked=locked), media_type(INDEX), ASK_FIRST, {"Content-Security-Policy": POLICY})

    def asset(digest: str, name: str) -> Response:
        if name not in assets.files or name == INDEX:
            raise NotFound
        # An instance of another version may have written the page.
        return _file(assets.files[name], media_type(name), FOR_EVER if digest == assets.digest else "no-store")

    def schema() -> Response:
        return _file(published.SCHEMA, "application/schema+json", ASK_FIRST)

    for path, view in (
        ("/console", page),
        ("/console/", page),
        ("/console/assets/<digest>/<name>", asset),
        ("/console/manifest-v1.schema.json", schema),
    ):
        console.add_url_rule(path, view_func=view, methods=["GET"], provide_automatic_options=False)


def _add_documents(
    console: Blueprint,
    config: model.Config,
    served: Mapping[str, model.Route],
    policy: Policy,
    look: Callable[[], Health],
    rehearse: Rehearse,
) -> None:
    """Add what only those get who may look."""

    def may_call() -> bool:
        # A browser names its page's origin when it posts, and not when it only reads.
        return checks.allows_origin(policy, request.args.get("origin", ""))

    def overview() -> Response:
        draining, now = DRAINING in request.environ, datetime.now(UTC)
        return _document(documents.overview(look(), served.values(), draining=draining, now=now, may_call=may_call()))

    def tool() -> Response:
        health = look()
        route, found = _find(served, health)
        warnings = [words for name, words in health.warnings.get(route.key, ()) if name == found.name]
        return _document(documents.tool_document(route, found, warnings, may_call=may_call()))

    def check() -> Response:
        headers = EnvironHeaders(request.environ)
        checks.check_media_type(request.content_type, headers.get("content-encoding"), headers.get("transfer-encoding"))
        route, found = _find(served, look())
        arguments = read_body(request.environ, config.limits.max_request_bytes)
        origin = headers.get("origin") or f"http://{headers.get('host')}"
        return _document(trial.tried(route, found, arguments, origin, rehearse))

    # Arguments belong into no address, as addresses are written to logs: so the check of them is a POST.
    for path, view, method in (("routes", overview, "GET"), ("tool", tool, "GET"), ("check", check, "POST")):
        guarded = _guarded(config.console, view)
        console.add_url_rule(
            f"/console/api/{path}", view_func=guarded, methods=[method], provide_automatic_options=False
        )


def _guarded(console: model.Console, view: View) -> View:
    """Let *view* answer only those who may look."""

    @wraps(view)
    def guarded() -> Response:
        headers = EnvironHeaders(request.environ)
        try:
            access.check(console, headers.get("authorization"))
            return view()
        except HttpFault as fault:
            response = answers.refused(fault, correlate(headers))
        if response.status_code == 401:
            response.headers["WWW-Authenticate"] = 'Bearer realm="mcp-gateway console"'
        return response

    return guarded


def _find(served: Mapping[str, model.Route], health: Health) -> tuple[model.Route, Tool]:
    """
    Return the route and the tool that the query names.

    Raises:

        HttpFault: 404.
    """
    key, name = request.args.get("route", ""), request.args.get("tool", "")
    snapshot = next((status.snapshot for status in health.routes if status.route == key), None)
    tool = snapshot.find(name) if snapshot else None
    if key not in served or tool is None:
        raise HttpFault(404, "not_found", "there is no such tool on a route of that key at this moment")
    return served[key], tool


def _document(body: dict[str, object]) -> Response:
    correlation = correlate(EnvironHeaders(request.environ))
    return answers.json_answer(200, jsontext.encode(body), correlation, {"Cache-Control": "no-store"})


def _file(body: bytes, kind: str, caching: str, headers: dict[str, str] | None = None) -> Response:
    """Return a file, or 304 to a browser that has it already."""
    correlation = correlate(EnvironHeaders(request.environ))
    response = answers.json_answer(200, body, correlation, {"Cache-Control": caching, **(headers or {})})
    response.headers["Content-Type"] = kind
    response.add_etag()
    response.make_conditional(request)
    return response
