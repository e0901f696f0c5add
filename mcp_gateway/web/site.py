"""Flask without what no request here needs: sessions, coroutines, paths with variable parts, a look at ``Host``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

from flask import Flask, Request
from flask.sessions import NullSession, SessionInterface
from werkzeug.routing import MapAdapter, Rule


class NoSessions(SessionInterface):
    """Nobody has a session here, so no request is looked through for one."""

    _nobody = NullSession()

    def open_session(self, app: Flask, request: Request) -> NullSession:
        """Return the session of nobody, which is never saved."""
        return self._nobody


class Finder(MapAdapter):
    """
    What finds the view of a request: in one look where no part of the path is variable.

    The question goes from part to part otherwise, for a tenth of the time that a ``ping`` takes.
    """

    plain: Mapping[tuple[str, str], Rule] = MappingProxyType({})
    """The rules without a variable part, by path and method."""

    def match(self, *args: Any, **options: Any) -> Any:
        """Return the rule, and the variable parts of the path; raises what werkzeug raises when there is none."""
        rule = self.plain.get((self.path_info, self.default_method))
        if rule is None or args or options != {"return_rule": True}:
            return super().match(*args, **options)
        return rule, {}


class Site(Flask):
    """
    Flask without the question, asked of each hook and view of each request, whether it is a coroutine: none is; and
    without a look at ``Host``, which is the guard's: Flask fails on one that is no name, such as ``a..b``.
    """

    session_interface = NoSessions()

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return *func* as it is."""
        return func

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Return what finds the view of a request, by its path and its method alone; ``None``: there is no request."""
        if request is None:
            return None
        environ = request.environ
        path = environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace")
        finder = Finder(self.url_map, "gateway", "/", "", "http", path, environ["REQUEST_METHOD"])
        finder.plain = self._plain_rules
        return finder

    @cached_property
    def _plain_rules(self) -> Mapping[tuple[str, str], Rule]:
        rules = [rule for rule in self.url_map.iter_rules() if not rule.arguments]
        return {(rule.rule, method): rule for rule in rules for method in rule.methods or ()}
