from __future__ import annotations

from typing import Any

import pytest
from config.samples import ROUTE, Faults, Load, service

from mcp_gateway.config.document import MAX_FILE_BYTES, Broken, Filled, Unreadable, fill, plain, read


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None), ("~", None), ("null", None), ("true", True), ("False", False), ("7", 7), ("-007", -7), ("+1", 1),
        ("1.5", 1.5), (".5", 0.5), ("1.", 1.0), ("1e3", 1000.0), ("yes", "yes"), ("on", "on"), ("0x10", "0x10"),
        ("1_000", "1_000"), ("1:30", "1:30"), ("2025-11-25", "2025-11-25"), (".nan", ".nan"), (".inf", ".inf"),
        ("٣", "٣"), ("9" * 18, int("9" * 18)),
    ],
)  # fmt: skip
def test_a_plain_scalar_has_the_meaning_of_the_core_schema(text: str, value: Any) -> None:
    assert plain(text) == value
    assert type(plain(text)) is type(value)


@pytest.mark.parametrize("text", ["9" * 19, "9" * 5000, "1e999", "-1e999"])
def test_a_number_beyond_all_bounds_is_broken(text: str) -> None:
    assert isinstance(plain(text), Broken)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a", "a"),
        ("${A}", "x"),
        ("<${A}|${A}>", "<x|x>"),
        ("${E}", ""),
        ("${E:-d}", "d"),
        ("${N:-d}", "d"),
        ("${N:-}", ""),
        ("${A:-d}", "x"),
        ("${N:-a:-b $x}", "a:-b $x"),
        ("$A $ {A} $$", "$A $ {A} $$"),
        ("$${A}", "${A}"),
        ("$${A} ${A}", "${A} x"),
        ("${R}", "${A}"),
    ],
)
def test_references_are_filled_once(text: str, value: str) -> None:
    assert fill(text, {"A": "x", "E": "", "R": "${A}"}) == value


@pytest.mark.parametrize("text", ["${}", "${1}", "${A", "${A-b}", "${A:=b}", "${A b}", "${A:-${B}}", "${A:-${B:-c}}"])
def test_a_reference_of_another_form_is_broken(text: str) -> None:
    broken = fill(text, {"A": "x", "B": "y"})
    assert isinstance(broken, Broken)
    assert "begins neither ${NAME} nor ${NAME:-default}" in broken.why


def test_all_missing_variables_of_a_string_are_named_once() -> None:
    assert fill("${A}${B}${A}", {}) == Broken(
        "the environment variable A is not set; the environment variable B is not set"
    )


def test_a_variable_that_is_not_utf8_is_broken() -> None:
    assert fill("${A}", {"A": "\udcff"}) == Broken("the environment variable A is not UTF-8")


def test_only_strings_with_a_reference_count_as_filled() -> None:
    assert isinstance(fill("${A}", {"A": "x"}), Filled)
    assert not isinstance(fill("$${A}", {}), Filled)


def test_a_value_of_the_environment_cannot_bring_yaml_of_its_own(load_text: Load) -> None:
    config = load_text(ROUTE + "    title: ${T}\n", {"T": "x, key: evil #"})
    assert config.routes[0].title == "x, key: evil #"


def test_numbers_booleans_and_lists_may_come_from_the_environment(load_text: Load) -> None:
    text = ROUTE + '    structured_output: "${S}"\n    list_ttl_s: ${L:-1.5}\nlimits: {max_request_bytes: "${M}"}\n'
    text += "server: {allowed_hosts: '${H}'}\n"
    config = load_text(text, {"S": "false", "M": " 7 ", "H": "a.example, b.example,"})
    assert config.routes[0].structured_output is False
    assert config.routes[0].list_ttl_s == 1.5
    assert config.limits.max_request_bytes == 7
    assert config.server.allowed_hosts == ("a.example", "b.example")


@pytest.mark.parametrize("value", ["yes", "1.5", "true", "x", "9" * 30, "1e999", " "])
def test_a_string_of_the_environment_that_is_no_integer_is_refused(faults_of: Faults, value: str) -> None:
    (fault,) = faults_of("limits: {max_request_bytes: '${M}'}" + ROUTE, {"M": value})
    assert fault.startswith("limits.max_request_bytes: ")


def test_what_comes_out_empty_counts_as_left_out(load_text: Load) -> None:
    text = service("timeout_s: ${N:-}\nca_bundle: ${N:-}\nheaders: {A: '${N:-}', B: b}") + "profile: ${N:-}\n"
    text += "server: {title: '${N:-}', allowed_hosts: ['${N:-}', a], allowed_origins: '${N:-}'}"
    config = load_text(text)
    assert config == load_text(service("headers: {B: b}") + "server: {allowed_hosts: [a]}")


def test_a_required_key_that_comes_out_empty_is_required(faults_of: Faults) -> None:
    assert faults_of(service("base_url: ${N:-}")) == ("routes[0].tool_services[0].base_url: is required",)


def test_a_list_that_comes_out_empty_is_empty(faults_of: Faults) -> None:
    (fault,) = faults_of(ROUTE + "    protocol_versions: ['${N:-}']\n")
    assert fault == "routes[0].protocol_versions: must not be empty"


def test_a_missing_variable_is_named_with_its_place(faults_of: Faults) -> None:
    assert faults_of(service("base_url: http://${HOST_OF_IT}:80")) == (
        "routes[0].tool_services[0].base_url: the environment variable HOST_OF_IT is not set",
    )


def test_a_missing_variable_stands_for_a_whole_section_as_well(faults_of: Faults) -> None:
    assert faults_of("server: ${S}" + ROUTE) == ("server: the environment variable S is not set",)


def test_aliases_are_read(load_text: Load) -> None:
    config = load_text(ROUTE + "    title: &t Same\n    name: *t\n")
    assert (config.routes[0].title, config.routes[0].name) == ("Same", "Same")


def test_a_key_given_twice_is_refused_wherever_it_is(faults_of: Faults) -> None:
    text = "profile: local\nprofile: production\n" + service("headers:\n  A: a\n  A: b")
    assert faults_of(text) == (
        "profile: is given twice (lines 1 and 2)",
        "routes[0].tool_services[0].headers.A: is given twice (lines 10 and 11)",
    )


@pytest.mark.parametrize("key", ["1", "true", "null", "1.5", "? [a]\n", "? {a: b}\n", "!!int '1'", '"\\ud800"'])
def test_a_key_that_is_no_string_is_refused(faults_of: Faults, key: str) -> None:
    assert faults_of(f"{key}: x{ROUTE}") == ("(top level): the key in line 1 must be a string",)


@pytest.mark.parametrize("value", ["!!int '5'", "!!python/object:os.system x", "!x [a]", "!x {a: b}", "!!set {a, b}"])
def test_a_tag_is_refused(faults_of: Faults, value: str) -> None:
    assert faults_of(f"server: {{title: {value}}}{ROUTE}") == (
        "server.title: has a YAML tag (line 1), which is not read; write the plain value",
    )


def test_a_tag_that_says_string_is_read(load_text: Load) -> None:
    assert load_text("server: {version: !!str 7, name: ! x}" + ROUTE).server.version == "7"


def test_half_a_surrogate_pair_is_refused(faults_of: Faults) -> None:
    assert faults_of('server: {title: "\\ud800"}' + ROUTE)[0].startswith("server.title: holds half of a surrogate pair")


def test_a_merge_key_is_no_known_key(faults_of: Faults) -> None:
    assert faults_of("server:\n  <<: {title: x}" + ROUTE)[0] == "server['<<']: is no known key"


def test_a_byte_order_mark_is_dropped(load_text: Load) -> None:
    assert load_text(b"\xef\xbb\xbf" + ROUTE.encode()) == load_text(ROUTE)


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 10)}]\n" for before, name in zip("abcdefg", "bcdefgh", strict=True)
)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "it is empty; it must be a mapping"),
        (b"# nothing", "it is empty; it must be a mapping"),
        (b"- a", "it must be a mapping of keys to values"),
        (b"text", "it must be a mapping of keys to values"),
        (b"null", "it must be a mapping of keys to values"),
        (b"!x {a: b}", "it must be a mapping of keys to values"),
        (b"a: \xff", "it is not UTF-8 (byte 3)"),
        ("a: 1".encode("utf-16"), "it is not UTF-8 (byte 0)"),
        (b"a: \x01", "it is no YAML: the character U+0001 is not allowed (line 1)"),
        (b"a:\n\t- b", "it is no YAML: while scanning for the next token, found character '\\t' that cannot start any"),
        (
            b"a: [",
            "it is no YAML: while parsing a flow node, expected the node content, but found '<stream end>' (line",
        ),
        (b"a: *b", "it is no YAML: found undefined alias 'b' (line 1, column 4)"),
        (b"a: 1\n---\nb: 2", "it is no YAML: expected a single document in the stream, but found another document"),
        (b'a: "\\UFFFFFFFF"', "it is no YAML: an escape or a directive holds a number that is out of range"),
        (b"%YAML 1." + b"9" * 5000 + b"\n--- {}", "it is no YAML: an escape or a directive holds a number"),
        (b"[" * 5000, "it is nested deeper than 32 levels"),
        (b"a: " + b"[" * 40 + b"]" * 40, "it is nested deeper than 32 levels (line 1)"),
        (b"a: &a [*a]", "it is nested deeper than 32 levels (line 1)"),
        (BOMB.encode(), "it holds more than 20000 values"),
        (b"#" * (MAX_FILE_BYTES + 1), "it is larger than 262144 bytes"),
    ],
)
def test_a_text_that_is_no_mapping_is_one_fault(raw: bytes, why: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read(raw, {})
    assert str(caught.value).startswith(why)


def test_the_largest_file_is_read() -> None:
    assert read(b"a: 1\n#".ljust(MAX_FILE_BYTES, b"#"), {}) == ({"a": 1}, [])
