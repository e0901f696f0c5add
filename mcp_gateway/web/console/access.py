"""Who may look at the documents of the console (pure; contract: the console, "Who may look")."""

from __future__ import annotations

import hmac

from ...config.model import Console
from ...faults import HttpFault

SCHEME = "bearer "


def check(console: Console, authorization: str | None) -> None:
    """
    Hold ``Authorization`` to the console's token, in a time that says nothing about it; without a token all may look.

    Raises:

        HttpFault: 401; it holds nothing of what was sent.
    """
    if console.token is None:
        return
    sent = authorization or ""
    scheme, token = sent[: len(SCHEME)].lower(), sent[len(SCHEME) :].strip()
    same = hmac.compare_digest(token.encode("utf-8", "surrogateescape"), console.token.encode("ascii"))
    if scheme != SCHEME or not same:
        raise HttpFault(401, "unauthorized", "the console asks for its token, as 'Authorization: Bearer TOKEN'")
