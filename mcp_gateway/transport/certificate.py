"""What a TLS certificate says of itself, for a person (pure)."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

# X.509 writes the time of validity as two times in a sequence of its own (RFC 5280, 4.1.2.5); in DER each has but one
# spelling: two digits of the year and the letter Z, or from 2050 on four.
_TIME = rb"(?:\x17\x0d(\d{12})Z|\x18\x0f(\d{14})Z)"
_VALIDITY = re.compile(rb"\x30[\x1e-\x22]" + _TIME * 2, re.DOTALL)
_CENTURY_TURNS = 50


@dataclass(frozen=True, slots=True)
class Certificate:
    """
    A certificate, as far as it can be read.

    Args:

        subject: Whose it is, e.g. ``CN=core-tools.example, O=Example``; empty: it does not say, or cannot be read.

        issuer: Who vouches for it, in the same form.

        names: The host names and addresses that it is good for.

        begins: When it becomes valid; ``None``: not known.

        ends: When it expires; ``None``: not known.
    """

    subject: str = ""
    issuer: str = ""
    names: tuple[str, ...] = ()
    begins: datetime | None = None
    ends: datetime | None = None


def of_verified(found: Mapping[str, Any]) -> Certificate:
    """Return what ``ssl.SSLSocket.getpeercert`` has found in a certificate that it trusts."""
    return Certificate(
        subject=_name(found.get("subject", ())),
        issuer=_name(found.get("issuer", ())),
        names=tuple(name for _, name in found.get("subjectAltName", ())),
        begins=_moment(found.get("notBefore")),
        ends=_moment(found.get("notAfter")),
    )


def of_der(der: bytes) -> Certificate:
    """Return what can be said of a certificate that is not trusted, of which there are only bytes: its dates."""
    match = _VALIDITY.search(der)
    if match is None:
        return Certificate()
    begins, ends = _times(match.groups())
    return Certificate(begins=begins, ends=ends)


def _name(parts: Iterable[Iterable[tuple[str, str]]]) -> str:
    return ", ".join(f"{_SHORT.get(key, key)}={value}" for part in parts for key, value in part)


_SHORT = {
    "commonName": "CN",
    "countryName": "C",
    "localityName": "L",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "stateOrProvinceName": "ST",
}


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromtimestamp(ssl.cert_time_to_seconds(text), UTC)


def _times(groups: Iterable[bytes | None]) -> Iterator[datetime]:
    for digits in filter(None, groups):
        text = digits.decode("ascii")
        if len(text) == len("YYMMDDhhmmss"):
            text = ("20" if int(text[:2]) < _CENTURY_TURNS else "19") + text
        yield datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
