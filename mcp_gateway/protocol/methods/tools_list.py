"""``tools/list``: the tools of the route's snapshot, all on one page."""

from __future__ import annotations

from functools import partial

from ...faults import InvalidParams
from ...tools import listing
from ..era import Request, Result


def answer(request: Request) -> Result:
    """
    Answer with all tools, in manifest order.

    Raises:

        InvalidParams: There is a cursor; this server never gives one out.
        RegistryUnavailable: Nothing has been loaded yet.
    """
    if "cursor" in request.message.params:
        raise InvalidParams("unknown cursor: the list has one page")
    era, route = request.era, request.route
    tools = listing.render(route.snapshot(), era.version, partial(era.shows_output_schema, route=route))
    return Result(era.listed({"tools": tools}, route))
