"""Manifests and answers are written by others: nothing of them runs, loads or leads away."""

from __future__ import annotations

from console.harness import ALL_KINDS, EVIL, MARKUP, Console, texts


def unharmed(console: Console) -> None:
    assert "owned" not in console.page.title()
    assert console.page.locator("main script, main iframe, main object, main style, main link").count() == 0
    assert console.page.locator("main [onerror], main [onload], main [onclick]").count() == 0
    assert (
        console.page.locator('a[href^="javascript"], a[href^="data"], [src^="javascript"], [src^="http"]').count() == 0
    )


def test_a_hostile_manifest_is_text_in_the_list_and_on_its_page(console: Console) -> None:
    page = console.open("core")
    assert MARKUP in texts(page.locator(".tool-link .title"))
    unharmed(console)
    console.tool("hostile")
    assert page.locator("h1").inner_text() == MARKUP
    assert page.locator("img.icon").count() == 0, "an icon from elsewhere is not fetched, a page in disguise not shown"
    for summary in page.locator("summary").all():
        summary.click()
    assert page.locator(".schema").first.inner_text().count(MARKUP) >= 3
    unharmed(console)


def test_members_with_names_that_objects_have_are_members_like_others(console: Console) -> None:
    console.tool("hostile", '{"__proto__":"가","constructor":"나"}')
    assert console.shown("JSON-RPC body").count('"arguments":{"__proto__":"가","constructor":"나"}') == 1
    console.field("__proto__").locator("textarea").first.fill("다")
    console.settle()
    assert "'constructor' must match the pattern" in console.state.inner_text()
    assert '{"__proto__":"다","constructor":"나"}' in console.shown("JSON-RPC body")


def test_hostile_choices_are_text(console: Console) -> None:
    console.tool("hostile")
    options = texts(console.field("choice").locator("option"))
    assert options == ["(left out)", MARKUP, "javascript:alert(1)"]
    console.field("choice").locator("select").select_option("1")
    console.wait_for_arguments({"choice": "javascript:alert(1)"})
    unharmed(console)


def test_a_hostile_answer_is_text(console: Console) -> None:
    console.tool("hostile")
    outcome = console.send()
    assert outcome.inner_text().count(MARKUP) >= 3
    assert texts(outcome.locator(".address code")) == ["javascript:document.title='owned'"]
    link = outcome.locator(".address a").get_attribute("href")
    assert link is not None
    assert link.startswith(EVIL), "only a web page can be clicked, and nothing of it is fetched before"
    unharmed(console)


def test_what_cannot_be_shown_as_what_it_says_is_shown_as_it_came(console: Console) -> None:
    console.page.route(
        "**/mcp/core",
        lambda route: route.fulfill(
            json={
                "jsonrpc": "2.0",
                "id": 1,
                "result": {
                    "content": [
                        {"type": "image", "mimeType": "text/html", "data": "PGI+"},
                        {"type": "image", "mimeType": "image/png", "data": '"><script>'},
                        {"type": "video", "x": MARKUP},
                        "no block at all",
                        {"type": "__proto__"},
                        {"type": "text"},
                        *ALL_KINDS["content"][:1],
                    ]
                },
            }
        ),
    )
    console.tool("text")
    outcome = console.send()
    assert outcome.locator("img").count() == 0
    assert texts(outcome.locator(".kind"))[:5] == [
        "image · as it came",
        "image · as it came",
        "video · as it came",
        "undefined · as it came",
        "__proto__ · as it came",
    ]
    unharmed(console)


def test_an_answer_that_is_no_json_rpc_is_shown_as_it_came(console: Console) -> None:
    console.expect("502")
    console.page.route(
        "**/mcp/core", lambda route: route.fulfill(status=502, body=f"<h1>{MARKUP}", content_type="text/html")
    )
    console.tool("text")
    outcome = console.send()
    assert "HTTP 502, and no JSON-RPC" in outcome.inner_text()
    assert "perhaps a proxy" in outcome.inner_text()
    assert console.shown("The answer as it came") == f"<h1>{MARKUP}"
    unharmed(console)


def test_a_place_in_the_address_is_never_more_than_a_name(console: Console) -> None:
    console.expect("404")
    for place in ("core/%3Cimg%20src%3Dx%3E", "%E0%A4%A", "__proto__/constructor", "core/..%2f..%2fhealthz"):
        console.open(place)
        console.page.get_by_role("alert").wait_for()
        unharmed(console)
