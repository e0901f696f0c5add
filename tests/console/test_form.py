"""The form that is made from ``inputSchema``, and what is said while one types."""

from __future__ import annotations

import pytest
from console.harness import DIGITS, EVERYTHING, KOREAN, NEW, OLD, Console, texts
from support.processes import Gateway
from support.toolservice import ToolService


def test_each_member_has_the_control_of_its_type(console: Console) -> None:
    console.tool("everything")
    kinds = {path: console.field(path).get_attribute("class") for path in EVERYTHING["properties"]}
    assert kinds == {
        "query": "field text",
        "limit": "field number",
        "exact": "field number",
        "deep": "field boolean",
        "order": "field choice",
        "maybe": "field text",
        "tags": "field list",
        "기간": "field object",
        "people": "field list",
        "either": "field raw",
        "tree": "field object",
    }
    assert console.field("query").locator(".required").first.inner_text() == "required"
    assert console.field("limit").locator(".required").count() == 0


def test_a_field_says_what_its_schema_says(console: Console) -> None:
    console.tool("everything")
    limit = console.field("limit").inner_text()
    for words in ("The most.", "integer", "1 to 20", "default 5"):
        assert words in limit
    assert 'for example "근로계약서"' in console.field("query").inner_text()
    assert "format date" in console.field("기간.from").inner_text()


def test_what_is_left_empty_is_left_out(console: Console) -> None:
    console.tool("everything")
    assert console.arguments() == {}


def test_every_control_writes_its_member(console: Console) -> None:
    page = console.tool("everything")
    console.fill("query", KOREAN)
    console.fill("limit", "7")
    console.fill("exact", "-1.50e3")
    console.field("deep").locator("select").select_option("true")
    labels = console.field("order").locator("option").all_inner_texts()
    assert labels == ["(left out)", '"newest"', '"oldest"', "3", "null"]  # "3" would be another choice than 3
    console.field("order").locator("select").select_option("3")
    console.fill("maybe", "x")
    console.field("tags").get_by_role("button", name="Add an item").click()
    page.keyboard.type("가")
    console.field("tags").get_by_role("button", name="Add an item").click()
    page.keyboard.type("나")
    console.fill("기간.from", "2026-01-31")
    console.field("people").get_by_role("button", name="Add an item").click()
    console.fill("people[0].name", "김")
    console.fill("people[0].age", "41")
    console.fill("either", "[1]")
    console.fill("tree.left.value", "2")
    assert console.arguments() == {
        "query": KOREAN,
        "limit": 7,
        "exact": -1500,
        "deep": True,
        "order": 3,
        "maybe": "x",
        "tags": ["가", "나"],
        "기간": {"from": "2026-01-31"},
        "people": [{"name": "김", "age": 41}],
        "either": [1],
        "tree": {"left": {"value": 2}},
    }
    assert "The arguments fit; Send makes the call." in console.state.inner_text()
    assert '"exact":-1.50e3' in console.shown("JSON-RPC body")


def test_an_item_can_be_taken_out_of_a_list_and_the_others_stay(console: Console) -> None:
    console.tool("everything", {"query": "x", "tags": ["a", "b", "c"], "people": [{"name": "김"}, {"name": "이"}]})
    console.page.get_by_role("button", name="Remove tags[1]").click()
    console.page.get_by_role("button", name="Remove people[0]").click()
    console.wait_for_arguments({"query": "x", "tags": ["a", "c"], "people": [{"name": "이"}]})


def test_digits_are_kept_from_the_link_to_the_tool_service(console: Console, service: ToolService) -> None:
    console.tool("everything", f'{{"query":"x","exact":{DIGITS},"either":[1e400]}}')
    assert console.field("exact").locator("input").input_value() == DIGITS
    console.send()
    assert service.calls("everything")[-1].body == f'{{"query":"x","exact":{DIGITS},"either":[1e400]}}'.encode()


def test_faults_are_said_in_the_words_of_the_gateway_while_one_types(console: Console) -> None:
    console.tool("everything", {"query": ""} | {"limit": 99, "people": [{"age": 1}]})
    assert texts(console.state.locator("li")) == [
        "'query' must have at least 1 character",
        "'limit' must be at most 20",
        "'people[0].name' is required",
    ]
    assert "It would answer HTTP 200 with JSON-RPC error -32602." in console.state.inner_text()
    console.fill("limit", "five")
    console.state.get_by_text("'limit' must be integer").wait_for()
    assert console.arguments()["limit"] == "five"


def test_a_fault_stands_at_its_field_too(console: Console) -> None:
    console.tool("everything", {"query": "x", "limit": 99, "기간": {"to": "2026-01-31"}})
    limit = console.field("limit")
    assert limit.locator(".fault").inner_text() == "'limit' must be at most 20"
    assert limit.locator("input").get_attribute("aria-invalid") == "true"
    assert console.field("기간.from").locator(".fault").inner_text() == "'기간.from' is required"
    console.fill("limit", "3")
    console.fill("기간.from", "2026-01-01")
    console.wait_for_state("The arguments fit")
    assert console.page.locator(".fault:visible").count() == 0


def test_a_page_that_has_just_been_opened_accuses_nobody(console: Console) -> None:
    console.tool("everything")
    assert "Still to be filled in:" in console.state.inner_text()
    assert texts(console.state.locator("li")) == ["'query' is required"]
    assert console.page.locator(".fault:visible").count() == 0


def test_the_later_revision_answers_bad_arguments_with_a_result(console: Console) -> None:
    console.tool("everything", {"query": "x", "limit": 0}, version=NEW)
    assert texts(console.state.locator("li")) == ["'limit' must be at least 1"]
    assert "It would answer HTTP 200 with a result with isError: true." in console.state.inner_text()


def test_any_field_can_be_written_as_json_and_back(console: Console) -> None:
    page = console.tool("everything", {"query": "x"})
    console.field("limit").get_by_role("button", name="Write limit as JSON").click()
    console.fill("limit", "[1,")
    console.wait_for_state("This is no JSON yet: limit.")
    assert page.get_by_role("button", name="Send", exact=True).is_disabled()
    assert console.shown(f"curl for {OLD}") == "There is no request while the arguments are no JSON."
    console.fill("limit", "12")
    console.wait_for_arguments({"query": "x", "limit": 12})
    console.field("limit").get_by_role("button", name="Write limit as JSON").click()
    assert console.field("limit").locator("input").input_value() == "12"


def test_the_whole_of_the_arguments_can_be_written_as_json_and_is_sent_as_written(
    console: Console, service: ToolService
) -> None:
    console.tool("everything", {"query": "x"})
    console.page.get_by_role("button", name="Write all arguments as JSON").click()
    written = '{ "limit": 1.0,\n "query": "\\ud55c글" }'
    console.fill("", written)
    console.wait_for_state("The arguments fit")
    console.send()
    assert service.calls("everything")[-1].body == written.encode()


def test_json_that_the_form_cannot_show_stays_json(console: Console) -> None:
    console.tool("everything", '{"query":"x","stranger":1}')
    assert console.field("").locator("textarea.code").first.input_value() == '{"query":"x","stranger":1}'
    assert texts(console.state.locator("li")) == ["'stranger' is not allowed"]
    console.page.get_by_role("button", name="Write all arguments as JSON").click()
    assert console.note("") == 'The form has no field for "stranger", so it stays JSON.'


def test_json_that_a_strict_reader_refuses_is_told(console: Console) -> None:
    console.tool("everything")
    console.page.get_by_role("button", name="Write all arguments as JSON").click()
    console.fill("", '{"query":"x","query":"y"}')
    console.wait_for_state("The arguments are no JSON that can be read: an object has two members named 'query'")
    console.fill("", "[1]")
    console.wait_for_state("Invalid params: 'arguments' must be an object")


def test_an_empty_text_from_a_link_stays_an_empty_text(console: Console) -> None:
    console.tool("everything", {"query": "x", "maybe": "", "tags": [], "기간": {}})
    assert console.arguments() == {"query": "x", "maybe": "", "tags": [], "기간": {}}


def test_an_example_fills_the_required_arguments_in(console: Console) -> None:
    page = console.tool("everything")
    page.get_by_role("button", name="Fill in an example").click()
    console.wait_for_arguments({"query": "근로계약서"})
    page.get_by_role("button", name="Clear").click()
    console.wait_for_arguments({})
    assert "Still to be filled in:" in console.state.inner_text()


def test_a_tool_without_arguments_needs_none(console: Console) -> None:
    console.tool("nothing")
    assert "The arguments fit" in console.state.inner_text()
    assert "The tool answered" in console.send().inner_text()


@pytest.mark.parametrize("version", [OLD, NEW])
def test_a_link_carries_tool_revision_and_arguments_and_no_server_sees_them(
    console: Console, served: Gateway, version: str
) -> None:
    console.tool("everything", version=version)
    console.fill("query", KOREAN)
    console.field("tags").get_by_role("button", name="Add an item").click()
    console.page.keyboard.type("태그")
    console.wait_for_arguments({"query": KOREAN, "tags": ["태그"]})
    link = console.page.url
    console.page.goto("about:blank")
    console.page.goto(link)
    console.wait_for_arguments({"query": KOREAN, "tags": ["태그"]})
    assert console.page.get_by_role("radio", name=version).is_checked()
    assert not [
        each.url for each in console.seen.requests if "query=" in each.url or "%ED" in each.url.partition("#")[0]
    ]
    assert "태그" not in served.said()


def test_what_a_form_has_no_field_for_is_written_as_json_and_said(console: Console) -> None:
    console.tool("open")
    assert console.hints("") == ["at least 1 member", "at least one of: id or name"]
    assert console.hints("labels") == ["object", "each member: string, at least 1 character"]
    assert console.hints("mixed") == [
        "object",
        "members like ^x-: boolean",
        'other members: one of 1, "1"',
        "the JSON button takes those",
    ]
    assert console.hints("pair") == ["array", "item 1: string", "item 2: integer", "no further items"]
    assert console.hints("rest") == ["array", "item 1: string", "further items: object, with x, y"]
    assert console.hints("shape") == [
        "exactly one of 2 schemas",
        "exactly one of: (1) object, with x, y (2) string",
    ]
    assert console.hints("one") == ["array of string", "exactly 1 item"]
    assert console.hints("some") == ["array of string", "at least 1 item"]
    console.fill("id", "7")
    console.fill("labels", '{"색": "빨강"}')
    console.fill("pair", '["a", 1]')
    console.field("mixed").get_by_role("button", name="Write mixed as JSON").click()
    console.fill("mixed", '{"x": "a", "x-1": true, "y": 1}')
    console.wait_for_state("The arguments fit")
    assert console.arguments() == {
        "id": 7,
        "labels": {"색": "빨강"},
        "mixed": {"x": "a", "x-1": True, "y": 1},
        "pair": ["a", 1],
    }


def test_titles_are_shown_where_they_say_more_than_the_name(console: Console) -> None:
    console.tool("open")
    assert texts(console.page.locator(".called")) == ["번호"]
    assert texts(console.field("size").locator("option")) == ["(left out)", "s · 작게", "l · 크게"]
    assert '""' in texts(console.page.locator("label.name")), "a member without a name has a label too"


def test_an_example_takes_the_first_way_that_the_schema_leaves_open(console: Console) -> None:
    page = console.tool("open")
    page.get_by_role("button", name="Fill in an example").click()
    console.wait_for_arguments({"id": 1})
    page = console.tool("union")
    page.get_by_role("button", name="Fill in an example").click()
    console.wait_for_arguments({"dry": True, "n": 1})
    console.wait_for_state("The arguments fit")


UNSHOWN = [
    ("limit", '"5"', "The field takes a number, and this is text"),
    ("maybe", "null", "The field takes text, and this is null"),
    ("maybe", '""', "The form would leave out an empty text"),
    ("maybe", '"a\\rb"', "The field would change a character of this text"),
    ("deep", '"true"', "The field takes true or false, and this is text"),
    ("order", '"3"', "The field takes one of the values that it offers, and this is none of them"),
    ("tags", '{"a": 1}', "The field takes a list, and this is an object"),
    ("tags", "[]", "The form would leave out a list that is empty"),
    ("기간", "[ 1.0 ]", "The field takes an object, and this is a list"),
    ("기간", '{"from": "a", "from": "b"}', "An object in this has two members of one name"),
    ("기간", '{"from": "a", "until": "b"}', 'The form has no field for "until"'),
    ("기간", "false", "The field takes an object, and this is true or false"),
    ("people", "[1,", "This is no JSON yet"),
]
"""A field, what is written in it as JSON, and how the sentence begins that says why it stays JSON."""


def test_json_that_a_field_cannot_show_stays_as_it_is_written_and_says_why(console: Console) -> None:
    console.tool("everything", {"query": "x"})
    for place, written, why in UNSHOWN:
        way = console.field(place).get_by_role("button", name=f"Write {place} as JSON")
        way.click()
        console.fill(place, written)
        way.click()
        said = console.note(place)
        assert said.startswith(why)
        assert said.endswith("so it stays JSON.")
        console.settle()
        assert console.note(place) == said, "what the gateway says does not wipe it away"
        assert console.field(place).locator("textarea.code").first.input_value() == written
        console.fill(place, "")
        assert console.field(place).locator("> .note").is_hidden()
        way.click()
    console.wait_for_arguments({"query": "x"})


def test_what_one_field_cannot_show_of_the_whole_stays_json_there(console: Console) -> None:
    console.tool("everything", '{"query":"x","limit":"many","people":[{"name":1.10}]}')
    assert console.note("limit") == "The field takes a number, and this is text, so it stays JSON."
    assert console.field("people[0].name").locator("textarea.code").input_value() == "1.10"
    console.fill("limit", "2")
    console.field("limit").get_by_role("button", name="Write limit as JSON").click()
    assert console.field("limit").locator("input").input_value() == "2"


def test_a_schema_that_holds_itself_makes_a_form_that_ends_as_json(console: Console) -> None:
    console.tool("endless")
    kinds = [console.field(place).get_attribute("class") for place in ("m7", "m7.m7", "last")]
    assert kinds == ["field object", "field raw", "field number"]
    console.fill("m7.m7", '{"last":3}')
    console.wait_for_arguments({"m7": {"m7": {"last": 3}}})


def test_references_that_multiply_do_not_fill_the_page(console: Console) -> None:
    console.tool("wide")
    assert 400 < console.page.locator("[data-place]").count() < 1000
    console.page.get_by_text("inputSchema", exact=True).click()
    assert "… and more" in console.page.locator(".schema").first.inner_text()
