"""
The values that a configuration is made of: strict marshmallow fields that say in words what they take.

Nothing is converted on the quiet: ``"7"`` is no number, ``true`` no 1, ``1.5`` no integer. The one exception is a
string that came from the environment, which cannot be anything else (``document.Filled``). A fault never shows the
value it is about, since that may be a secret.
"""

from __future__ import annotations

import ipaddress
import os
import re
import ssl
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

from marshmallow import ValidationError, fields, missing
from marshmallow.experimental.context import Context

from .document import Broken, Filled, plain

MAX_SECONDS = 86_400
"""Longest time that may be configured: a day. Python's own timers overflow at some 292 years."""

MAX_BYTES = 1_073_741_824
"""Largest size limit: bodies are held in memory, and 1 GiB in each thread is more than any worker has."""

MAX_COUNT = 10_000
"""Largest number of calls or tools; precedent: nginx ships with 512 connections for a worker."""

Rule = tuple[Callable[[str], object], str]
"""A check and the words for what it asks for."""

_OWN_PATHS = re.compile(r"/(?:healthz|readyz|metrics|console(?:/.*)?)?", re.DOTALL)
_PUBLIC_PATH = re.compile(r"(?=.{1,256}\Z)(?:/(?!\.{1,2}(?:/|\Z))[A-Za-z0-9._~!$&'()*+,;=:@-]+)+")
_MANIFEST_PATH = re.compile(r"/(?!/)(?:(?!//|\.\.|(?i:%2e|%2f|%5c))[!\"$-\[\]-~]){0,1023}")
_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_HOST = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(\[[^\]/]*\]|[^:/]*)(?::([0-9]{1,5}))?(/.*)?")
_URL_PATH = re.compile(r"(?:/(?!\.{1,2}(?:/|\Z))(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%(?!2[eEfF]|5[cC])[0-9A-Fa-f]{2})+)*")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")
_HEADER_VALUE = re.compile(r"(?![ \t])[ \t!-~]{0,8192}(?<![ \t])")
_LINE = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]{1,256}")
_PROSE = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]{1,65536}")

_OWN_HEADERS = frozenset(
    [
        # How HTTP frames a message and its connection (RFC 9110 section 7.6.1, RFC 9112 section 6).
        *("connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "proxy-authenticate"),
        *("proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"),
        # What the gateway says of the body, of itself, and of a manifest that it already has.
        *("accept-encoding", "content-encoding", "content-type", "if-modified-since", "if-none-match", "user-agent"),
        # What belongs to one call and its caller.
        *("guid", "x-request-id", "mcp-session-id", "employee-no", "virtual-employee-no"),
        *("traceparent", "tracestate", "baggage", "x-timeout-ms"),
    ]
)


@dataclass(frozen=True, slots=True)
class Reading:
    """
    What a document is read with.

    Args:

        versions: Protocol versions that the gateway implements, newest first.

        root: Where relative paths start.

        profile: The profile as the document has it, right or wrong.
    """

    versions: tuple[str, ...]
    root: Path = Path()
    profile: str = "local"


Current = Context[Reading]
"""The reading that is under way; marshmallow's own way of handing something to a nested field."""


def kind(value: Any) -> str:
    """Return what *value* is, for a person."""
    kinds: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (type(None), "empty (null)"),
        (bool, "a boolean"),
        (int, "an integer"),
        ((float, Decimal), "a number with a fraction or an exponent"),
        (str, "a string"),
        (dict, "a mapping"),
        (list, "a list"),
    )
    return next((name for types, name in kinds if isinstance(value, types)), "something else")


class Strict(fields.Field[Any]):
    """
    Base of all fields: takes one type, and an empty string of the environment for nothing at all.

    ``wanted`` says what it takes, for a person; *optional* fields take null as well.
    """

    wanted: ClassVar[str]

    def __init__(self, *, required: bool = False, optional: bool = False) -> None:
        super().__init__(required=required, allow_none=optional, error_messages={"required": "is required"})

    def deserialize(
        self, value: Any, attr: str | None = None, data: Mapping[str, Any] | None = None, **kwargs: Any
    ) -> Any:
        """
        Return what *value* means here; ``missing`` when it is left out.

        Raises:

            ValidationError: It is not what this field takes.
        """
        if isinstance(value, Filled):
            value = self.filled(value) if value else missing
        if isinstance(value, Broken):
            raise ValidationError(value.why)
        if value is None and not self.allow_none:
            raise self.refusal(value)
        value = super().deserialize(value, attr, data, **kwargs)
        return value if value is None or value is missing else self.read(value)

    def filled(self, value: Filled) -> Any:
        """Return what a string of the environment stands for here."""
        return value

    @abstractmethod
    def read(self, value: Any) -> Any:
        """Return what *value* means here; it is neither missing nor null."""

    def refusal(self, value: Any) -> ValidationError:
        """Return the fault that *value* is of another type."""
        hint = "; put it in quotes" if self.wanted == "a string" and isinstance(value, bool | int | float) else ""
        return ValidationError(f"must be {self.wanted}, not {kind(value)}{hint}")


class Text(Strict):
    """A string that keeps every one of *rules*; *clean* makes its final form."""

    wanted = "a string"

    def __init__(
        self, *rules: Rule, clean: Callable[[str], str] = str, required: bool = False, optional: bool = False
    ) -> None:
        super().__init__(required=required, optional=optional)
        self._rules = rules
        self._clean = clean

    def read(self, value: Any) -> str:
        """Return the string, as a plain one."""
        if not isinstance(value, str):
            raise self.refusal(value)
        for check, words in self._rules:
            if not check(value):
                raise ValidationError(words)
        return self._clean(str(value))


class Version(Text):
    """A protocol version that the gateway implements."""

    def read(self, value: Any) -> str:
        """Return the version."""
        text = super().read(value)
        versions = Current.get().versions
        if text not in versions:
            raise ValidationError(f"must be a protocol version that the gateway implements: {' or '.join(versions)}")
        return text


class _Scalar(Strict):
    """Something that YAML writes without quotes, and the environment cannot but give as a string."""

    def filled(self, value: Filled) -> Any:
        return plain(value.strip())


class Flag(_Scalar):
    """A boolean."""

    wanted = "true or false"

    def read(self, value: Any) -> bool:
        """Return the boolean."""
        if not isinstance(value, bool):
            raise self.refusal(value)
        return value


class Count(_Scalar):
    """A whole number from 1 to *most*."""

    wanted = "an integer"

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def read(self, value: Any) -> int:
        """Return the number."""
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.refusal(value)
        if not 1 <= value <= self._most:
            raise ValidationError(f"must be from 1 to {self._most}")
        return value


class Seconds(_Scalar):
    """A time of at most *most* seconds: more than 0, or also 0 where *zero* is set. *unit*: how many make a second."""

    wanted = "a number"

    def __init__(self, *, most: int = MAX_SECONDS, zero: bool = False, unit: int = 1) -> None:
        super().__init__()
        self._most = most * unit
        self._zero = zero
        self._unit = unit

    def read(self, value: Any) -> float:
        """Return the time in seconds."""
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            raise self.refusal(value)
        if isinstance(value, Decimal):
            value = float(value)
        # The upper bound comes first: float() of a long integer overflows. NaN keeps neither, hence "not".
        if not value <= self._most or not (value > 0 or (self._zero and value == 0)):
            least = "at least" if self._zero else "more than"
            raise ValidationError(f"must be {least} 0 and at most {self._most}")
        return float(value) / self._unit


class Listed(Strict):
    """A list, kept as a tuple; a string of the environment is split at its commas."""

    wanted = "a list"

    def __init__(self, item: Strict, *, at_least: int = 0, required: bool = False) -> None:
        super().__init__(required=required)
        self._item = item
        self._at_least = at_least

    def filled(self, value: Filled) -> Any:
        """Return the parts between the commas."""
        return [Filled(part.strip()) for part in value.split(",")]

    def read(self, value: Any) -> tuple[Any, ...]:
        """Return the items that are not left out; no string stands twice."""
        if not isinstance(value, list):
            raise self.refusal(value)
        items: list[Any] = []
        faults: dict[int, Any] = {}
        for index, raw in enumerate(value):
            try:
                item = self._item.deserialize(raw)
                if isinstance(item, str) and item in items:
                    raise ValidationError("is in the list already")
            except ValidationError as fault:
                faults[index] = fault.messages
            else:
                items += [] if item is missing else [item]
        if faults:
            raise ValidationError(faults)
        if len(items) < self._at_least:
            raise ValidationError("must not be empty")
        return tuple(items)


class Headers(Strict):
    """Header fields for every request to a service, none of which HTTP or the gateway itself sets."""

    wanted = "a mapping"

    def __init__(self) -> None:
        super().__init__()
        words = "must be at most 8192 visible ASCII characters; spaces and tabs only between them"
        self._value = Text((_HEADER_VALUE.fullmatch, words))

    def read(self, value: Any) -> dict[str, str]:
        """Return the headers that are not left out."""
        if not isinstance(value, dict):
            raise self.refusal(value)
        headers: dict[str, str] = {}
        faults: dict[str, Any] = {}
        seen: set[str] = set()
        for name, raw in value.items():
            try:
                _check_header_name(name, seen)
                text = self._value.deserialize(raw)
            except ValidationError as fault:
                faults[name] = fault.messages
            else:
                headers |= {} if text is missing else {name: text}
            seen.add(name.lower())
        if faults:
            raise ValidationError(faults)
        return headers


def _check_header_name(name: str, seen: set[str]) -> None:
    if not _HEADER_NAME.fullmatch(name):
        raise ValidationError("is no HTTP header name (letters, digits and !#$%&'*+-.^_`|~, at most 128)")
    if name.lower() in _OWN_HEADERS:
        raise ValidationError("is a header that HTTP or the gateway itself sets; it cannot be set here")
    if name.lower() in seen:
        raise ValidationError("is there already in other letters; header names ignore case")


class PresentFile(Text):
    """A file that is there; relative paths start at the folder above the configuration file's own."""

    def __init__(self) -> None:
        super().__init__(optional=True)

    def read(self, value: Any) -> Any:
        """Return the file's path."""
        path = Current.get().root / super().read(value)
        # Not Path.is_file: that raises where a name is too long or a folder may not be searched.
        if not os.path.isfile(path):
            raise ValidationError("names no file; a relative path starts at the folder above the configuration file's")
        return path


class CaBundle(PresentFile):
    """A file of certificates in PEM."""

    def read(self, value: Any) -> Any:
        """Return the file's path."""
        path = super().read(value)
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
        except OSError:
            raise ValidationError("holds no certificate in PEM format that can be read") from None
        return path


class FallbackManifest(PresentFile):
    """The manifest that stands in while a Tool Service is down, on a developer's machine only."""

    def read(self, value: Any) -> Any:
        """Return the file's path."""
        if Current.get().profile == "production":
            raise ValidationError("is for profile local only; in production the Tool Services are the only source")
        return super().read(value)


def _is_host(text: str) -> bool:
    if not text.startswith("["):
        return _HOST.fullmatch(text) is not None
    try:
        return text.endswith("]") and ipaddress.IPv6Address(text[1:-1]).scope_id is None
    except ValueError:
        return False


def _is_authority(host: str, port: str | None) -> bool:
    return _is_host(host) and (port is None or 0 < int(port) <= 65535)


def _is_base_url(text: str) -> bool:
    match = _URL.fullmatch(text.removesuffix("/"))
    if match is None:
        return False
    scheme, host, port, path = match.groups()
    return scheme.lower() in ("http", "https") and _is_authority(host, port) and bool(_URL_PATH.fullmatch(path or ""))


def _clean_base_url(text: str) -> str:
    scheme, rest = text.removesuffix("/").split("://", 1)
    return f"{scheme.lower()}://{rest}"


def _is_origin(text: str) -> bool:
    match = _URL.fullmatch(text)
    if match is None or text != text.lower():
        return False
    scheme, host, port, path = match.groups()
    # A browser leaves the default port out, so that an origin with one would never match.
    return path is None and _is_authority(host, port) and (scheme, port) not in (("http", "80"), ("https", "443"))


def line(*, required: bool = False, optional: bool = False) -> Text:
    """Make the field of a short text, such as a name or a title."""
    words = "must be 1 to 256 characters, none of them a control character"
    return Text((_LINE.fullmatch, words), required=required, optional=optional)


def prose() -> Text:
    """Make the field of a text of several lines, which may be left out."""
    words = "must be 1 to 65536 characters; of control characters, only tab and line feed"
    return Text((_PROSE.fullmatch, words), optional=True)


def choice(*options: str, required: bool = False) -> Text:
    """Make the field of one of a few words."""
    return Text((options.__contains__, f"must be {' or '.join(options)}"), required=required)


def public_path() -> Text:
    """Make the field of a path that is served as it stands."""
    own = "is one of the gateway's own paths (/, /healthz, /readyz, /metrics, /console and all below it)"
    words = (
        "must be an absolute path such as /mcp/core: at most 256 letters, digits and -._~!$&'()*+,;=:@ between single "
        "slashes, no '.' or '..' between two slashes, no slash at the end"
    )
    return Text((lambda path: not _OWN_PATHS.fullmatch(path), own), (_PUBLIC_PATH.fullmatch, words), required=True)


def manifest_path() -> Text:
    """Make the field of a path below a Tool Service's base URL; it can never point at another host."""
    words = (
        "must be a path such as /manifest: at most 1024 visible ASCII characters without '//', '..', '#', a backslash, "
        "%2e, %2f or %5c"
    )
    return Text((_MANIFEST_PATH.fullmatch, words))


def base_url() -> Text:
    """Make the field of where a service is; one slash at its end is dropped, so that a path can be appended."""
    words = (
        "must be http://host or https://host, with :port and /path if need be; no user, query, fragment, '//' or '..' "
        "in it"
    )
    return Text((_is_base_url, words), clean=_clean_base_url, required=True)


def origin() -> Text:
    """Make the field of a browser origin, spelled as browsers send it."""
    words = "must be scheme://host or scheme://host:port as browsers send it: lower case, no path, no default port"
    return Text((_is_origin, words))


def host_name() -> Text:
    """Make the field of a host as ``Host`` names it, without the port; kept in lower case."""
    words = "must be a host name or an IP address without a port (IPv6 in square brackets)"
    return Text((_is_host, words), clean=str.lower)
