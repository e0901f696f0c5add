"""What the browser tests of the console share: a Tool Service with a tool for each thing to be seen, and a page."""

from __future__ import annotations

import base64
import json
import struct
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request
from support.toolservice import Received, Reply, ToolService

CHROMIUM = Path("/usr/bin/chromium")
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WAIT_MS = 15_000

OLD, NEW = "2025-11-25", "2026-07-28"

KOREAN = "안녕하세요 '여러분' \"둘\"\n$HOME `id` \\ 끝"
DIGITS = "12345678901234567890.10"

EVERYTHING = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "Words to look for.", "minLength": 1, "examples": ["근로계약서"]},
        "limit": {"type": "integer", "description": "The most.", "minimum": 1, "maximum": 20, "default": 5},
        "exact": {"type": "number", "description": "Any number."},
        "deep": {"type": "boolean", "description": "Look everywhere."},
        "order": {"enum": ["newest", "oldest", 3, None], "description": "Which come first."},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "A text, or null."},
        "tags": {"type": "array", "items": {"type": "string"}, "description": "Words."},
        "기간": {"$ref": "#/$defs/span"},
        "people": {
            "type": "array",
            "description": "Who.",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
                "required": ["name"],
            },
        },
        "either": {"oneOf": [{"type": "integer"}, {"type": "array"}], "description": "Something unusual."},
        "tree": {"$ref": "#/$defs/node"},
    },
    "required": ["query"],
    "additionalProperties": False,
    "$defs": {
        "span": {
            "type": "object",
            "description": "From when to when.",
            "properties": {"from": {"type": "string", "format": "date"}, "to": {"type": "string", "format": "date"}},
            "required": ["from"],
        },
        "node": {"type": "object", "properties": {"left": {"$ref": "#/$defs/node"}, "value": {"type": "integer"}}},
    },
}

OPEN = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "title": "번호", "minimum": 1},
        "name": {"type": "string", "title": "Name", "minLength": 1},
        "labels": {"type": "object", "additionalProperties": {"type": "string", "minLength": 1}},
        "mixed": {
            "type": "object",
            "properties": {"x": {"type": "string"}},
            "patternProperties": {"^x-": {"type": "boolean"}},
            "additionalProperties": {"enum": [1, "1"]},
        },
        "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
        "rest": {"type": "array", "prefixItems": [{"type": "string"}], "items": {"$ref": "#/$defs/point"}},
        "one": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1},
        "some": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "size": {"oneOf": [{"const": "s", "title": "작게"}, {"const": "l", "title": "크게"}]},
        "shape": {"oneOf": [{"$ref": "#/$defs/point"}, {"type": "string"}]},
        "": {"type": "string"},
    },
    "minProperties": 1,
    "anyOf": [{"required": ["id"]}, {"required": ["name"]}],
    "$defs": {"point": {"type": "object", "properties": {"x": {"type": "number"}, "y": {"type": "number"}}}},
}
"""What a form has no field for, or no plain one."""

UNION = {
    "type": "object",
    "properties": {"dry": {"type": "boolean"}},
    "required": ["dry"],
    "oneOf": [{"$ref": "#/$defs/none"}, {"$ref": "#/$defs/some"}],
    "$defs": {
        "none": {"not": {"type": "object"}},
        "some": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    },
}

ENDLESS = {
    "type": "object",
    "properties": {f"m{number}": {"$ref": "#"} for number in range(8)} | {"last": {"type": "integer"}},
}

NINE = range(9)
WIDE = {
    "type": "object",
    "properties": {"first": {"$ref": "#/$defs/d0"}},
    "$defs": {
        "d9": {"type": "integer"},
        **{
            f"d{level}": {
                "type": "object",
                "properties": {f"m{number}": {"$ref": f"#/$defs/d{level + 1}"} for number in NINE},
            }
            for level in NINE
        },
    },
}
"""A small schema that stands for millions of members."""

MIRRORED = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "page": {"type": "object", "properties": {"size": {"type": "integer", "x-mcp-header": "Page-Size"}}},
    },
}

MARKUP = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
EVIL = "http://evil.example/"

HOSTILE_SCHEMA = {
    "type": "object",
    "title": MARKUP,
    "properties": {
        MARKUP: {"type": "string", "description": MARKUP, "default": MARKUP, "examples": [MARKUP]},
        "choice": {"enum": [MARKUP, "javascript:alert(1)"], "title": MARKUP},
        "__proto__": {"type": "string", "description": "a name that objects have"},
        "constructor": {"type": "string", "format": MARKUP, "pattern": "^</style>"},
    },
}


def png() -> bytes:
    """Return a small red picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + b"\xcc\x22\x11" * 24) * 16
    head = struct.pack(">IIBBBBB", 24, 16, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def wav() -> bytes:
    """Return a tenth of a second of silence."""
    data = bytes(800)
    head = struct.pack(
        "<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8, b"data", len(data)
    )
    return head + data


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


SVG = (
    f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="{EVIL}x.png"/><script>1</script></svg>'
)

ALL_KINDS: dict[str, Any] = {
    "content": [
        {"type": "text", "text": "첫째 글"},
        {"type": "image", "mimeType": "image/png", "data": _b64(png())},
        {"type": "audio", "mimeType": "audio/wav", "data": _b64(wav())},
        {"type": "resource", "resource": {"uri": "file:///글.txt", "mimeType": "text/plain", "text": "자료의 글"}},
        {"type": "resource", "resource": {"uri": "file:///b.bin", "mimeType": "a/b", "blob": "AAEC"}},
        {"type": "resource_link", "uri": "https://docs.example/규정", "name": "규정", "mimeType": "text/html"},
    ],
    "isError": False,
}

HOSTILE_ANSWER: dict[str, Any] = {
    "content": [
        {"type": "text", "text": MARKUP},
        {"type": "resource_link", "uri": "javascript:document.title='owned'", "name": MARKUP},
        {"type": "resource", "resource": {"uri": f"{EVIL}{MARKUP}", "text": MARKUP}},
        {"type": "image", "mimeType": "image/svg+xml", "data": _b64(SVG.encode())},
        {"type": "image", "mimeType": "image/png", "data": "bm90IGEgcGljdHVyZQ=="},
    ],
    "isError": False,
}


def echo(received: Received) -> Reply:
    """Answer with the arguments as they came."""
    return Reply.of_json(received.body)


def hold(received: Received) -> Reply:
    """Answer when the service ends, which nobody waits for."""
    received.hold(threading.Event())
    return Reply.of_text("")


def tell(text: str, **options: Any) -> Any:
    """Return a handler that answers with *text*."""
    return lambda received: Reply.of_text(text, **options)


def furnish(service: ToolService) -> None:
    """Give a Tool Service a tool for each thing that there is to be seen."""
    hints = {"title": "전부 찾기", "readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}
    service.add(
        "everything",
        echo,
        EVERYTHING,
        title="Every control · 모든 입력",
        annotations=hints,
        outputSchema={"type": "object"},
        _meta={"version": "1.2.0"},
    )
    service.add("mirrored", echo, MIRRORED)
    service.add("nothing", tell("done"), {"type": "object", "additionalProperties": False}, timeoutMs=5000)
    service.add("text", tell("한글 <b>그대로</b>\n둘째 줄"))
    service.add("picture", lambda received: Reply(png(), "image/png"))
    service.add("sound", lambda received: Reply(wav(), "audio/wav"))
    service.add(
        "kinds", lambda received: Reply.of_json(json.dumps(ALL_KINDS, ensure_ascii=False).encode()), resultFormat="mcp"
    )
    service.add(
        "numbers",
        lambda received: Reply.of_json(
            b'{"big":%s,"list":[1.10,1e400],"\\ud55c":"\\uae00","10":1,"2":[]}' % DIGITS.encode()
        ),
        outputSchema={"type": "object"},
    )
    service.add("fails", tell("no such document: 규정.pdf", status=404))
    service.add("breaks", tell("secret trace", status=500))
    service.add(
        "says-so",
        lambda received: Reply.of_json(b'{"content":[{"type":"text","text":"sorry"}],"isError":true}'),
        resultFormat="mcp",
    )
    service.add("late", hold, timeoutMs=300)
    service.add("slow", hold, timeoutMs=10_000)  # a gateway that stops waits for it
    service.add(
        "hostile",
        lambda received: Reply.of_json(json.dumps(HOSTILE_ANSWER).encode()),
        HOSTILE_SCHEMA,
        title=MARKUP,
        description=MARKUP,
        resultFormat="mcp",
        annotations={"title": MARKUP, "x": MARKUP},
        icons=[{"src": "https://evil.example/icon.png"}, {"src": "data:text/html;base64,PGI+"}],
        _meta={"version": MARKUP},
    )
    service.add("left.out", tell(""), endpoint="//evil.example/x")
    for number in range(20):
        service.add(
            f"many.{number:02}", tell("done"), title=f"One of many {number}", description="Looks like the others."
        )
    service.add("open", echo, OPEN)
    service.add("union", echo, UNION)
    service.add("endless", echo, ENDLESS)
    service.add("wide", echo, WIDE)


@dataclass
class Seen:
    """What a page has said and asked for behind its reader's back."""

    errors: list[str] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    expected: tuple[str, ...] = ()

    def watch(self, page: Page) -> None:
        """Take note of everything from now on."""
        page.on("console", self._said)
        page.on("pageerror", lambda fault: self.errors.append(f"uncaught: {fault}"))
        page.on("request", lambda request: self.requests.append(request))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning", "assert"):
            self.errors.append(f"{message.type}: {message.text}")

    def hold(self, host: str) -> None:
        """Fail when the page complained, or asked anybody but *host*."""
        unexpected = [each for each in self.errors if not any(words in each for words in self.expected)]
        assert not unexpected, unexpected
        strangers = [
            each.url
            for each in self.requests
            if urlsplit(each.url).scheme not in ("data", "blob") and urlsplit(each.url).netloc != host
        ]
        assert not strangers, strangers


class Console:
    """
    The console in one tab of a browser.

    ``seen`` holds what happened behind the page; a test that wants an HTTP error says so with ``expect``.
    """

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.seen = Seen()
        self.seen.watch(page)

    def expect(self, *words: str) -> None:
        """Let the browser complain with these words, as it does about every status from 400 on."""
        self.seen.expected += words

    def open(self, place: str = "", *, waits: str = "h1") -> Page:
        """Go to a place behind the ``#``, and wait for its heading."""
        self.page.goto(f"{self.url}/console#/{place}")
        self.page.locator(waits).first.wait_for()
        return self.page

    def tool(self, name: str, arguments: Any = None, version: str = OLD) -> Page:
        """Open the page of a tool, the form filled by the link, and wait for what the gateway says to it."""
        query = f"?version={version}"
        if arguments is not None:
            text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            query += f"&arguments={quote(text)}"
        self.open(f"core/{name}{query}")
        self.settle()
        return self.page

    def settle(self) -> None:
        """Wait until the gateway has said what it says to the arguments as they are."""
        self.page.locator('.state[aria-busy="false"]').wait_for()

    @property
    def state(self) -> Locator:
        """What the gateway says to the arguments."""
        return self.page.locator(".state")

    @property
    def outcome(self) -> Locator:
        """What came of Send."""
        return self.page.locator(".outcome")

    def field(self, path: str) -> Locator:
        """The field of one argument."""
        return self.page.locator(f'[data-place="{path}"]')

    def hints(self, path: str) -> Sequence[str]:
        """What the field of one argument says of its schema."""
        return texts(self.field(path).locator("> .about > .hints > span"))

    def note(self, path: str) -> str:
        """Why the field of one argument is shown as JSON."""
        return self.field(path).locator("> .note").inner_text()

    def fill(self, path: str, text: str) -> None:
        """Write into the field of one argument."""
        self.field(path).locator("textarea, input").first.fill(text)

    def shown(self, title: str) -> str:
        """What a block of text shows."""
        text = self.page.get_by_role("region", name=title, exact=True).first.text_content()
        assert text is not None
        return text

    def body(self) -> Any:
        """The JSON-RPC body as it is shown."""
        self.settle()
        return json.loads(self.shown("JSON-RPC body"))

    def arguments(self) -> Any:
        """The arguments of the call as it is shown."""
        return self.body()["params"]["arguments"]

    def wait_for_arguments(self, arguments: Any) -> None:
        """Wait until the request that is shown has these arguments."""
        wanted = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
        self.page.get_by_role("region", name="JSON-RPC body", exact=True).filter(
            has_text=f'"arguments":{wanted}'
        ).wait_for()

    def wait_for_state(self, words: str) -> None:
        """Wait until the gateway says *words* to the arguments."""
        self.state.filter(has_text=words).wait_for()

    def send(self) -> Locator:
        """Press Send, wait for the verdict and return all that came of it."""
        self.page.get_by_role("button", name="Send", exact=True).click()
        self.page.locator(".verdict").wait_for()
        return self.outcome

    def answer(self) -> Any:
        """The answer as it came."""
        self.page.get_by_text("The answer as it came", exact=True).first.click()
        return json.loads(self.shown("The answer as it came"))


@contextmanager
def tab(browser: Browser, url: str, **options: Any) -> Iterator[Console]:
    """Open the console in a browser that knows nothing yet; see ``new_tab``."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
    context.set_default_timeout(WAIT_MS)
    try:
        with new_tab(context, url) as console:
            yield console
    finally:
        context.close()


@contextmanager
def new_tab(context: BrowserContext, url: str) -> Iterator[Console]:
    """Open the console in a new tab; leaving fails when the page complained or asked anybody else."""
    console = Console(context.new_page(), url)
    try:
        yield console
    finally:
        console.page.close()
    console.seen.hold(urlsplit(url).netloc)


def texts(found: Locator) -> Sequence[str]:
    """Return the text of each element."""
    return [text.strip() for text in found.all_text_contents()]
