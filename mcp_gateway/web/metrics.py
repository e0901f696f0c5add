"""``/metrics``: what Prometheus reads, with the numbers of all workers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from flask import Blueprint, Response, request

from ..caller import correlate
from . import answers
from .requests import EnvironHeaders

TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"


def blueprint(page: Callable[[], bytes | None]) -> Blueprint:
    """
    Return the blueprint of ``/metrics``.

    Args:

        page: Returns the text; ``None``: there is no place to count in, and the answer is 503.
    """
    served = Blueprint("metrics", __name__)

    def metrics() -> Response:
        correlation = correlate(EnvironHeaders(request.environ))
        text = page()
        if text is None:
            sentence = "this server has no place to count in; its log says why"
            return answers.http_error(503, "metrics_unavailable", sentence, correlation, {"Cache-Control": "no-store"})
        response = answers.json_answer(200, text, correlation, {"Cache-Control": "no-store"})
        response.headers["Content-Type"] = TEXT
        return response

    served.add_url_rule("/metrics", view_func=metrics, methods=["GET"], provide_automatic_options=False)
    return served
