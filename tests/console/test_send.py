"""Send: the call, what came back, and who is at fault."""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import Any

import pytest
from console.harness import DIGITS, KOREAN, NEW, OLD, Console, texts
from support.processes import HOSTILE_ENVIRONMENT, Gateway
from support.toolservice import ToolService

from mcp_gateway.cli import diagnosis
from mcp_gateway.transport.answer import Reason

ARGUMENTS = {"query": KOREAN, "tags": ["하나"], "기간": {"from": "2026-01-31"}}


def without_times(answer: Any) -> Any:
    """Return an answer without what differs from call to call."""
    for block in answer["result"]["content"]:
        block.pop("_meta", None)
    return answer


@pytest.mark.parametrize("version", [OLD, NEW])
def test_what_is_sent_is_what_is_shown(console: Console, served: Gateway, version: str) -> None:
    console.tool("everything", ARGUMENTS, version)
    console.send()
    sent = console.seen.requests[-1]
    assert (sent.method, sent.url) == ("POST", served.route())
    assert sent.post_data == console.shown("JSON-RPC body")
    head, _, body = console.shown("HTTP request").partition("\n\n")
    first, *lines = head.split("\n")
    assert first == "POST /mcp/core HTTP/1.1"
    assert body == sent.post_data
    shown = dict(line.split(": ", 1) for line in lines)
    really = sent.all_headers()
    assert {name.lower(): value for name, value in shown.items()}.items() <= really.items()


@pytest.mark.parametrize("version", [OLD, NEW])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("everything", ARGUMENTS),
        ("everything", f'{{"query":"x","exact":{DIGITS}}}'),
        ("mirrored", {"region": "서울 '중구'", "page": {"size": 7}}),
        ("kinds", None),
    ],
)
def test_the_curl_script_that_is_shown_gets_the_answer_that_send_gets(
    console: Console, tool: str, arguments: Any, version: str
) -> None:
    console.tool(tool, arguments, version)
    console.send()
    environ = {**os.environ, **HOSTILE_ENVIRONMENT}
    script = console.shown(f"curl for {version}").encode()
    done = subprocess.run(["sh"], input=script, capture_output=True, check=True, timeout=30, env=environ)
    assert without_times(json.loads(done.stdout)) == without_times(console.answer())


def test_mirrored_arguments_are_in_the_headers_of_the_later_revision(console: Console) -> None:
    console.tool("mirrored", {"region": "kr", "page": {"size": 7}}, NEW)
    request = console.shown("HTTP request")
    assert "\nMcp-Param-Region: kr\nMcp-Param-Page-Size: 7\n" in request
    assert "-H 'Mcp-Param-Region: kr'" in console.shown(f"curl for {NEW}")
    assert "Mcp-Param" not in console.shown(f"curl for {OLD}"), "the other one is there at the same time"
    console.page.get_by_role("radio", name=OLD).check()
    assert "Mcp-Param" not in console.shown("HTTP request")


def test_the_answer_is_told_with_status_times_headers_and_guid(console: Console, served: Gateway) -> None:
    console.tool("text")
    outcome = console.send()
    facts = outcome.locator(".facts").inner_text()
    assert "HTTP 200" in facts
    assert re.search(r"\b\d+ ms\b", facts)
    assert re.search(r"\b\d+ ms at the Tool Service", facts)
    guid = outcome.locator(".guid code").inner_text()
    assert guid in served.said(), "it is what the log is searched with"
    outcome.get_by_text("Headers", exact=True).click()
    headers = outcome.locator(".headers").inner_text()
    assert f"guid\n{guid}" in headers
    assert "content-type\napplication/json" in headers


def test_text_is_shown_as_it_is(console: Console) -> None:
    console.tool("text")
    console.send()
    assert console.shown("Text") == "한글 <b>그대로</b>\n둘째 줄"


def test_json_is_shown_with_a_line_for_each_member_and_every_digit(console: Console) -> None:
    console.tool("numbers")
    console.send()
    lines = ['"big": ' + DIGITS, '"list": [\n    1.10,\n    1e400\n  ]', '"한": "글"', '"10": 1', '"2": []']
    assert console.shown("JSON") == "{\n  " + ",\n  ".join(lines) + "\n}"
    console.page.get_by_text("Structured content", exact=True).click()
    assert texts(console.page.locator("details pre").filter(has_text="big"))[0] == console.shown("JSON")


def test_a_picture_is_shown(console: Console) -> None:
    console.tool("picture")
    picture = console.send().get_by_role("img", name="The image that the tool answered with")
    assert picture.evaluate("image => [image.naturalWidth, image.naturalHeight]") == [24, 16]


def test_a_sound_can_be_played(console: Console) -> None:
    console.tool("sound")
    sound = console.send().locator("audio")
    sound.evaluate("sound => sound.readyState > 0 || new Promise(done => sound.onloadedmetadata = done)")
    assert sound.evaluate("sound => sound.duration") == pytest.approx(0.1)


def test_every_kind_of_content_is_shown(console: Console) -> None:
    console.tool("kinds")
    outcome = console.send()
    assert texts(outcome.locator(".kind")) == [
        "text",
        "image · image/png, 83 bytes",
        "audio · audio/wav, 844 bytes",
        "resource · text/plain",
        "resource · a/b, 3 bytes",
        "resource link · 규정, text/html",
    ]
    assert "자료의 글" in outcome.inner_text()
    link = outcome.get_by_role("link", name="https://docs.example/규정")
    assert link.get_attribute("rel") == "noopener noreferrer nofollow"


@pytest.mark.parametrize(
    ("tool", "what", "layer", "who"),
    [
        ("fails", "The Tool Service answered with HTTP status 404.", "answer", "the owner of the Tool Service"),
        ("breaks", "The Tool Service answered with HTTP status 500.", "answer", "the owner of the Tool Service"),
        ("late", "did not finish within the tool's time budget", "answer", "the owner of the Tool Service"),
        ("says-so", "says itself that it failed", "answer", "the owner of the Tool Service"),
    ],
)
def test_a_failing_tool_is_told_with_the_layer_and_who_can_mend_it(
    console: Console, tool: str, what: str, layer: str, who: str
) -> None:
    console.tool(tool)
    outcome = console.send()
    told = dict(zip(texts(outcome.locator(".blame dt")), texts(outcome.locator(".blame dd")), strict=True))
    assert what in told["What happened"]
    assert (told["Layer"], told["Who can mend it"]) == (layer, who)
    assert told["What to do"]
    assert outcome.locator(".guid code").is_visible()


def test_the_words_of_the_tool_stand_beside_the_verdict(console: Console) -> None:
    console.tool("fails")
    outcome = console.send()
    assert "The call failed" in outcome.inner_text()
    assert "reason: status" in outcome.inner_text()
    assert console.shown("Text") == "no such document: 규정.pdf"


def test_what_may_have_run_is_said_to_may_have_run(console: Console) -> None:
    console.tool("late")
    assert "may have carried the call out all the same" in console.send().inner_text()


def test_a_call_that_the_gateway_would_refuse_can_be_sent_to_see_the_refusal(console: Console) -> None:
    console.tool("everything", {"limit": 0})
    outcome = console.send()
    assert "The gateway refused the call" in outcome.inner_text()
    assert "the caller: these arguments or this request" in outcome.inner_text()
    assert texts(outcome.locator(".faults li")) == ["'limit' must be at least 1", "'query' is required"]
    console.page.get_by_role("radio", name=NEW).check()
    outcome = console.send()
    assert "The gateway refused the arguments" in outcome.inner_text()


def test_the_wait_for_an_answer_can_be_given_up(console: Console, service: ToolService) -> None:
    before = len(service.calls("slow"))
    console.tool("slow")
    console.page.get_by_role("button", name="Send", exact=True).click()
    service.wait_for_calls("slow", before + 1)
    console.page.get_by_role("button", name="Stop waiting").click()
    assert "Cancelled here" in console.outcome.inner_text()
    assert console.page.get_by_role("button", name="Send", exact=True).is_enabled()


def test_a_gateway_that_is_gone_is_said_to_be_gone(console: Console) -> None:
    console.expect("net::ERR")
    console.tool("text")
    console.page.route("**/mcp/core", lambda route: route.abort("connectionrefused"))
    assert "No answer" in console.send().inner_text()
    assert "the network between this browser and the gateway" in console.outcome.inner_text()


def test_every_text_has_a_button_that_copies_it(console: Console) -> None:
    page = console.tool("everything", ARGUMENTS)
    for name, text in (
        ("Copy JSON-RPC body", console.shown("JSON-RPC body")),
        ("Copy HTTP request", console.shown("HTTP request")),
        (f"Copy curl for {OLD}", console.shown(f"curl for {OLD}")),
        (f"Copy curl for {NEW}", console.shown(f"curl for {NEW}")),
        ("Copy the name", "everything"),
        ("Copy link a link to these arguments", page.url),
    ):
        page.get_by_role("button", name=name, exact=True).click()
        assert page.evaluate("navigator.clipboard.readText()") == text


def test_a_page_without_the_clipboard_of_secure_pages_copies_all_the_same(console: Console) -> None:
    page = console.tool("text")
    page.evaluate("() => { navigator.clipboard.writeText = async () => { throw new Error('not secure'); }; }")
    page.get_by_role("button", name=f"Copy curl for {OLD}", exact=True).click()
    page.get_by_role("button", name=f"Copy curl for {OLD}", exact=True).filter(has_text="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == console.shown(f"curl for {OLD}")


STATUSES = (400, 401, 403, 404, 405, 406, 407, 408, 409, 410, 411, 413, 415, 418, 422, 425, 429, 500, 502, 503, 504)


def test_the_console_blames_whom_the_command_line_blames(console: Console) -> None:
    console.open()
    said = console.page.evaluate(
        """async (statuses) => {
            const main = document.querySelector('script[type=module]').src;
            const words = await import(main.replace('main.js', 'failure.js'));
            const pair = ([layer, culprit]) => [layer, culprit];
            const pairs = (table) => Object.fromEntries(Object.entries(table).map(([why, of]) => [why, pair(of)]));
            return [pairs(words.REASONS), pairs(words.UNSENT), statuses.map((status) => pair(words.ofStatus(status)))];
        }""",
        STATUSES,
    )

    def blamed(**note: Any) -> list[str]:
        found = diagnosis.of_note(note)
        assert found is not None
        return [found.layer, found.culprit]

    assert said == [
        {reason: blamed(reason=reason) for reason in Reason if reason is not Reason.STATUS},
        {reason: blamed(reason=reason, outcome="not_sent") for reason in (Reason.BUDGET, Reason.CONNECTION_LOST)},
        [blamed(reason="status", status=status) for status in STATUSES],
    ]
