from __future__ import annotations

import textwrap
from pathlib import Path

import certifi
import pytest
from config.samples import ROUTE, VERSIONS, Faults, Load, service

from mcp_gateway.config.load import ConfigFaults, load, locate
from mcp_gateway.config.model import Config, Limits, Portal, Registry, Route, Server, ToolService

WHOLE = """
profile: production
server:
  name: gw
  title: 게이트웨이
  version: "7"
  instructions: "one\\n\\ttwo"
  allowed_origins: ["https://agents.example", "http://localhost:3000", "chrome-extension://abc"]
  allowed_hosts: [GW.example, 10.0.0.1, "[::1]"]
limits:
  max_request_bytes: 1
  max_response_bytes: 2
  interaction_timeout_s: 299.5
  max_tools_per_route: 3
registry:
  source: config
  load_timeout_s: 4
  refresh_interval_s: 30
  portal: {base_url: "https://portal.example/api/", token: s3cret}
routes:
  - key: a
    public_path: /mcp/a
    name: route-a
    title: A
    version: "1"
    instructions: Use it.
    protocol_versions: ["2025-11-25", "2026-07-28"]
    list_ttl_s: 0
    cache_scope: public
    structured_output: false
    tool_services:
      - name: one
        base_url: HTTPS://one.example:8443/tools%20x/
        manifest_path: /v1/manifest?full=1
        timeout_s: 10
        connect_timeout_s: 0.5
        max_in_flight: 4
        headers: {Authorization: "Bearer abc", X-Empty: ""}
        ca_bundle: ca.pem
      - {name: two, base_url: "http://[::1]:9100"}
  - key: b
    public_path: /b/v1.0/~x
    protocol_versions: [2025-11-25]
    tool_services: [{name: one, base_url: "http://tool_service"}]
"""


def test_a_route_alone_is_enough_and_everything_else_has_the_defaults_of_the_model(load_text: Load) -> None:
    service = ToolService(name="core-tools", base_url="http://127.0.0.1:9100")
    route = Route(key="core", public_path="/mcp/core", tool_services=(service,), protocol_versions=VERSIONS)
    assert load_text(ROUTE) == Config(routes=(route,))


def test_every_key_arrives_in_its_frozen_value(load_text: Load, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_bytes(Path(certifi.where()).read_bytes())
    one = ToolService(
        name="one",
        base_url="https://one.example:8443/tools%20x",
        manifest_path="/v1/manifest?full=1",
        timeout_s=10.0,
        connect_timeout_s=0.5,
        max_in_flight=4,
        headers={"Authorization": "Bearer abc", "X-Empty": ""},
        ca_bundle=tmp_path / "ca.pem",
    )
    a = Route(
        key="a",
        public_path="/mcp/a",
        name="route-a",
        title="A",
        version="1",
        instructions="Use it.",
        protocol_versions=("2026-07-28", "2025-11-25"),
        list_ttl_s=0.0,
        cache_scope="public",
        structured_output=False,
        tool_services=(one, ToolService(name="two", base_url="http://[::1]:9100")),
    )
    b = Route(
        key="b",
        public_path="/b/v1.0/~x",
        protocol_versions=("2025-11-25",),
        tool_services=(ToolService(name="one", base_url="http://tool_service"),),
    )
    assert load_text(WHOLE) == Config(
        profile="production",
        server=Server(
            name="gw",
            title="게이트웨이",
            version="7",
            instructions="one\n\ttwo",
            allowed_origins=("https://agents.example", "http://localhost:3000", "chrome-extension://abc"),
            allowed_hosts=("gw.example", "10.0.0.1", "[::1]"),
        ),
        limits=Limits(1, 2, 299.5, 3),
        registry=Registry("config", 4.0, 30.0, Portal("https://portal.example/api", "s3cret")),
        routes=(a, b),
    )


def test_whole_numbers_of_seconds_become_floats(load_text: Load) -> None:
    config = load_text("limits: {interaction_timeout_s: 60}" + ROUTE)
    assert isinstance(config.limits.interaction_timeout_s, float)


def test_a_fallback_manifest_is_found_beside_the_configuration_folder(load_text: Load, tmp_path: Path) -> None:
    (tmp_path / "fallback.json").write_text("{}")
    config = load_text(ROUTE + "    fallback_manifest: fallback.json\n")
    assert config.routes[0].fallback_manifest == tmp_path / "fallback.json"


def test_a_path_in_a_linked_file_starts_beside_the_link(tmp_path: Path) -> None:
    (tmp_path / "data" / "v1").mkdir(parents=True)
    (tmp_path / "config").mkdir()
    (tmp_path / "fallback.json").write_text("{}")
    (tmp_path / "data" / "v1" / "real.yaml").write_text(ROUTE + "    fallback_manifest: fallback.json\n")
    link = tmp_path / "config" / "local.yaml"
    link.symlink_to(tmp_path / "data" / "v1" / "real.yaml")
    assert load(link, {}, versions=VERSIONS).routes[0].fallback_manifest == tmp_path / "fallback.json"


def test_an_absolute_path_is_taken_as_it_is(load_text: Load) -> None:
    config = load_text(service(f"ca_bundle: {certifi.where()}"))
    assert config.routes[0].tool_services[0].ca_bundle == Path(certifi.where())


def test_keys_whose_default_is_nothing_take_null(load_text: Load) -> None:
    assert load_text(ROUTE + "    title: null\n    fallback_manifest:\n") == load_text(ROUTE)


def test_secrets_do_not_show_in_the_representation_of_a_configuration(load_text: Load) -> None:
    text = "registry: {source: portal, portal: {base_url: https://p.example, token: s3cret}}"
    assert "s3cret" not in repr(load_text(text))
    assert "s3cret" not in repr(load_text(service("headers: {Authorization: s3cret}")))


def test_with_the_portal_as_source_there_are_no_routes(load_text: Load) -> None:
    text = "registry: {source: portal, portal: {base_url: https://p.example, token: t}}\nroutes: []"
    assert load_text(text).routes == ()


@pytest.mark.parametrize(
    ("environ", "path"),
    [
        ({}, "config/local.yaml"),
        ({"MCP_GATEWAY_PROFILE": "production"}, "config/production.yaml"),
        ({"MCP_GATEWAY_PROFILE": "", "MCP_GATEWAY_CONFIG": ""}, "config/local.yaml"),
        ({"MCP_GATEWAY_PROFILE": "production", "MCP_GATEWAY_CONFIG": "/etc/gw.yaml"}, "/etc/gw.yaml"),
    ],
)
def test_the_file_is_named_by_the_environment(environ: dict[str, str], path: str) -> None:
    assert locate(environ) == Path(path)


def test_a_file_that_is_not_there_is_one_fault(tmp_path: Path) -> None:
    with pytest.raises(ConfigFaults) as caught:
        load(tmp_path / "none.yaml", {}, versions=VERSIONS)
    assert caught.value.faults == (f"{tmp_path / 'none.yaml'}: it cannot be read: No such file or directory",)


def test_a_folder_is_one_fault(tmp_path: Path) -> None:
    with pytest.raises(ConfigFaults, match="it cannot be read: Is a directory"):
        load(tmp_path, {}, versions=VERSIONS)


def test_a_name_that_no_file_can_have_is_one_fault() -> None:
    with pytest.raises(ConfigFaults, match="a character that no file name can have"):
        load(Path("a\0b"), {}, versions=VERSIONS)


def test_all_faults_come_at_once_in_the_order_of_their_places(faults_of: Faults) -> None:
    text = """
    server: {nam: x, title: 7}
    limits: {interaction_timeout_s: 301}
    routes:
      - {key: core, public_path: /mcp/core/, tool_services: []}
      - key: core
        public_path: /mcp/core/
        tool_services:
          - {name: a, base_url: "ftp://x"}
          - {name: a, base_url: "${NOT_SET}"}
    surprise: 1
    """
    assert [fault.split(": ")[0] for fault in faults_of(textwrap.dedent(text))] == [
        "limits.interaction_timeout_s",
        "routes[0].public_path",
        "routes[0].tool_services",
        "routes[1].key",
        "routes[1].public_path",
        "routes[1].public_path",
        "routes[1].tool_services[0].base_url",
        "routes[1].tool_services[1].base_url",
        "routes[1].tool_services[1].name",
        "server.nam",
        "server.title",
        "surprise",
    ]


def test_the_exception_shows_its_lines() -> None:
    assert str(ConfigFaults(["a: b", "c: d"])) == "a: b\nc: d"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("profile: prod", "profile: must be local or production"),
        ("profile: null", "profile: must be a string, not empty (null)"),
        ("server: []", "server: must be a mapping, not a list"),
        ("server:", "server: must be a mapping, not empty (null)"),
        ("server: {name: 1}", "server.name: must be a string, not an integer; put it in quotes"),
        ("server: {name: {a: 1}}", "server.name: must be a string, not a mapping"),
        ("server: {version: 1.0}", "server.version: must be a string, not a number with a fraction or an exponent; "),
        ("server: {name: ''}", "server.name: must be 1 to 256 characters"),
        ('server: {title: "a\\nb"}', "server.title: must be 1 to 256 characters"),
        ('server: {instructions: "a\\rb"}', "server.instructions: must be 1 to 65536 characters"),
        ("server: {allowed_hosts: a.example}", "server.allowed_hosts: must be a list, not a string"),
        ("server: {allowed_hosts: [a, a]}", "server.allowed_hosts[1]: is in the list already"),
        ("server: {vesrion: '1'}", "server.vesrion: is no known key; did you mean version?"),
        ("server: {zzz: '1'}", "server.zzz: is no known key"),
        ("server: {_schema: '1'}", "server._schema: is no known key"),
        ("server: {'a.b\\n': '1'}", "server['a.b\\\\n']: is no known key"),
        ("'x y': 1", "['x y']: is no known key"),
        ("registry: {source: files}", "registry.source: must be config or portal"),
        ("registry: {source: portal}", "registry.portal: is required where registry.source is portal"),
        ("registry: {portal: {base_url: http://p}}", "registry.portal.token: is required"),
        ("registry: {portal: {base_url: http://p, token: a b}}", "registry.portal.token: must be 1 to 8192 visible"),
        ("registry: {load_timeout_s: 0}", "registry.load_timeout_s: must be more than 0 and at most 86400"),
        ("registry: {refresh_interval_s: -1}", "registry.refresh_interval_s: must be at least 0 and at most 86400"),
        ("registry: 7", "registry: must be a mapping, not an integer"),
        ("routes: []", "routes: at least one route is required where registry.source is config"),
        ("routes: {}", "routes: must be a list, not a mapping"),
        ("routes: [7]", "routes[0]: must be a mapping, not an integer"),
        ("routes: [{}]", "routes[0].tool_services: is required"),
        ("consoles: {enabled: true}", "consoles: is no known key; did you mean console?"),
    ],
)
def test_a_fault_names_the_key_and_what_it_takes(faults_of: Faults, text: str, fault: str) -> None:
    faults = faults_of(text)
    assert any(line.startswith(fault) for line in faults), faults


@pytest.mark.parametrize("key", ["max_request_bytes", "max_response_bytes", "max_tools_per_route"])
@pytest.mark.parametrize(
    "value", ["'7'", "true", "1.5", "1e3", "null", "0", "-1", "99999999999", "9" * 30, ".inf", "[]"]
)
def test_a_size_is_a_positive_integer_and_nothing_like_it(faults_of: Faults, key: str, value: str) -> None:
    (fault,) = faults_of(f"limits: {{{key}: {value}}}" + ROUTE)
    assert fault.startswith(f"limits.{key}: ")


@pytest.mark.parametrize(
    "value", ["'7'", "true", "null", "0", "0.0", "-1", "300.001", ".nan", ".inf", "1e999", "2025-11-25", "1:30"]
)
def test_the_interaction_budget_is_a_number_above_0_and_never_above_300(faults_of: Faults, value: str) -> None:
    (fault,) = faults_of(f"limits: {{interaction_timeout_s: {value}}}" + ROUTE)
    assert fault.startswith("limits.interaction_timeout_s: ")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "mcp",
        "/mcp/",
        "//mcp",
        "/a//b",
        "/a/../b",
        "/.",
        "/a/..",
        "/a?b",
        "/a#b",
        "/a b",
        "/a%20",
        "/é",
        "/a\\b",
        "/<x>",
        "/a\n",
        "/" + "a" * 256,
        "/healthz",
        "/readyz",
        "/metrics",
        "/console",
        "/console/tools",
        "''",
    ],
)
def test_a_public_path_is_refused_unless_it_can_be_served_as_it_stands(faults_of: Faults, path: str) -> None:
    quoted = path if path == "''" else '"' + path.replace("\\", "\\\\").replace("\n", "\\n") + '"'
    (fault,) = faults_of(ROUTE.replace("/mcp/core", quoted))
    assert fault.startswith("routes[0].public_path: ")
    assert ("own paths" in fault) == path.startswith(("/healthz", "/readyz", "/metrics", "/console")) or path == "/"


@pytest.mark.parametrize("path", ["/consoles", "/healthz/x", "/a...b", "/.well-known", "/a/..b", "/" + "a" * 255])
def test_a_public_path_may_look_like_a_refused_one(load_text: Load, path: str) -> None:
    assert load_text(ROUTE.replace("/mcp/core", path)).routes[0].public_path == path


@pytest.mark.parametrize("key", ["''", "A", "a_b", "-a", "a-", "a" * 64, '"a\\n"'])
def test_a_route_key_of_other_characters_is_refused(faults_of: Faults, key: str) -> None:
    (fault,) = faults_of(ROUTE.replace("key: core", f"key: {key}"))
    assert fault.startswith("routes[0].key: must be 1 to 63 of a-z, 0-9 and '-'")


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:9100",
        "ftp://h",
        "http://",
        "http:///x",
        "http://u@h",
        "http://u:p@h",
        "http://h?q",
        "http://h#f",
        "http://h//",
        "http://h/a//b",
        "http://h/../a",
        "http://h/a/%2E%2e",
        "http://h/%2f",
        "http://h/%zz",
        "http://h:0",
        "http://h:65536",
        "http://h:",
        "http://h:x",
        "http://a b",
        "http://é",
        "http://h/é",
        "http://a..b",
        "http://-a",
        "http://[::1",
        "http://[x]",
        "http://[::1%25eth0]",
        "http://::1",
        "http://" + "a" * 64,
        "http://h\\@x",
        "h",
        "http://" + ".".join(["a" * 60] * 5),
        "http://h\n",
    ],
)
def test_a_base_url_that_could_mean_another_place_is_refused(faults_of: Faults, url: str) -> None:
    quoted = '"' + url.replace("\\", "\\\\").replace("\n", "\\n") + '"'
    (fault,) = faults_of(service(f"base_url: {quoted}"))
    assert fault.startswith("routes[0].tool_services[0].base_url: must be http://host or https://host")


@pytest.mark.parametrize(
    "path",
    [
        "manifest",
        "http://x/m",
        "//x/m",
        "/a//b",
        "/a/../b",
        "/..",
        "/a#b",
        "/a\\b",
        "/a b",
        "/é",
        "/%2e%2E/x",
        "/%5C",
        "",
        "/" + "a" * 1024,
    ],
)
def test_a_manifest_path_that_could_leave_the_base_url_is_refused(faults_of: Faults, path: str) -> None:
    (fault,) = faults_of(service(f"manifest_path: '{path}'"))
    assert fault.startswith("routes[0].tool_services[0].manifest_path: must be a path such as /manifest")


@pytest.mark.parametrize(
    "name",
    ["Host", "content-length", "Content-Type", "Transfer-Encoding", "connection", "GUID", "employee-no", "User-Agent"],
)
def test_a_header_that_http_or_the_gateway_sets_is_refused(faults_of: Faults, name: str) -> None:
    (fault,) = faults_of(service(f"headers: {{{name}: x}}"))
    assert fault.startswith(f"routes[0].tool_services[0].headers.{name}: is a header that HTTP or the gateway itself")


@pytest.mark.parametrize("name", ["''", "a b", "'a:'", "é", '"a\\n"', "a" * 129])
def test_a_header_name_that_http_forbids_is_refused(faults_of: Faults, name: str) -> None:
    (fault,) = faults_of(service(f"headers:\n  {name}: x"))
    assert "is no HTTP header name" in fault


@pytest.mark.parametrize("value", ['"a\\r\\nX: y"', "' a'", '"a\\t"', "é", '"\\0"', "7", "null", "[a]"])
def test_a_header_value_that_http_forbids_is_refused(faults_of: Faults, value: str) -> None:
    (fault,) = faults_of(service(f"headers:\n  X-A: {value}"))
    assert fault.startswith("routes[0].tool_services[0].headers.X-A: must be ")


def test_two_headers_that_differ_in_case_alone_are_refused(faults_of: Faults) -> None:
    (fault,) = faults_of(service("headers: {X-A: a, x-a: b}"))
    assert fault.startswith("routes[0].tool_services[0].headers.x-a: is there already in other letters")


def test_headers_must_be_a_mapping(faults_of: Faults) -> None:
    assert "headers: must be a mapping, not a list" in faults_of(service("headers: []"))[0]


def test_a_ca_bundle_that_is_not_there_is_refused(faults_of: Faults) -> None:
    (fault,) = faults_of(service("ca_bundle: none.pem"))
    assert fault.startswith("routes[0].tool_services[0].ca_bundle: names no file; a relative path starts at the folder")


@pytest.mark.parametrize("path", ["config", "''", "x" * 5000])
def test_a_ca_bundle_that_is_no_file_is_refused(faults_of: Faults, path: str) -> None:
    assert "ca_bundle: names no file" in faults_of(service(f"ca_bundle: {path}"))[0]


def test_a_ca_bundle_without_a_certificate_is_refused(faults_of: Faults, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("nothing")
    assert "ca_bundle: holds no certificate in PEM" in faults_of(service("ca_bundle: ca.pem"))[0]


def test_a_fallback_manifest_that_is_not_there_is_refused(faults_of: Faults) -> None:
    assert faults_of(ROUTE + "    fallback_manifest: none.json\n")[0].startswith(
        "routes[0].fallback_manifest: names no file"
    )


def test_a_fallback_manifest_must_be_a_string(faults_of: Faults) -> None:
    assert faults_of(ROUTE + "    fallback_manifest: 7\n")[0].startswith(
        "routes[0].fallback_manifest: must be a string"
    )


def test_a_fallback_manifest_is_refused_in_production_even_if_it_is_there(faults_of: Faults, tmp_path: Path) -> None:
    (tmp_path / "fallback.json").write_text("{}")
    assert faults_of("profile: production" + ROUTE + "    fallback_manifest: fallback.json\n") == (
        "routes[0].fallback_manifest: is for profile local only; in production the Tool Services are the only source",
    )


@pytest.mark.parametrize(
    "origin",
    [
        "*",
        "null",
        "https://A.example",
        "https://a.example/",
        "https://a.example:443",
        "http://a.example:80",
        "a.example",
        "https://a.example:0",
        "https://",
        "https://a.example?x",
        "https://u@a.example",
    ],
)
def test_an_origin_that_no_browser_sends_is_refused(faults_of: Faults, origin: str) -> None:
    (fault,) = faults_of(f"server: {{allowed_origins: ['{origin}']}}" + ROUTE)
    assert fault.startswith("server.allowed_origins[0]: must be scheme://host or scheme://host:port")


@pytest.mark.parametrize("host", ["a.example:80", "*", "", "a b", "::1", "[::1", "[::1]:80", "http://a"])
def test_a_host_with_a_port_or_none_at_all_is_refused(faults_of: Faults, host: str) -> None:
    (fault,) = faults_of(f"server: {{allowed_hosts: ['{host}']}}" + ROUTE)
    assert fault.startswith("server.allowed_hosts[0]: must be a host name")


@pytest.mark.parametrize(
    ("versions", "fault"),
    [
        ("[]", "routes[0].protocol_versions: must not be empty"),
        ("2025-11-25", "routes[0].protocol_versions: must be a list, not a string"),
        ("[2025-06-18]", "routes[0].protocol_versions[0]: must be a protocol version that the gateway implements: "),
        ("[2025-11-25, 2025-11-25]", "routes[0].protocol_versions[1]: is in the list already"),
        ("[7]", "routes[0].protocol_versions[0]: must be a string"),
    ],
)
def test_protocol_versions_are_some_of_those_implemented(faults_of: Faults, versions: str, fault: str) -> None:
    (line,) = faults_of(ROUTE + f"    protocol_versions: {versions}\n")
    assert line.startswith(fault)


def test_routes_beside_the_portal_are_refused(faults_of: Faults) -> None:
    text = "registry: {source: portal, portal: {base_url: https://p.example, token: t}}" + ROUTE
    assert faults_of(text) == ("routes: must be left out where registry.source is portal, which names the routes",)


def test_a_repeated_name_points_at_the_first(faults_of: Faults) -> None:
    text = "routes:\n" + "  - {key: a, public_path: /a, tool_services: [{name: x, base_url: http://x}]}\n" * 2
    assert faults_of(text) == (
        "routes[1].key: must be unique; it is the same as routes[0].key",
        "routes[1].public_path: must be unique; it is the same as routes[0].public_path",
    )


def test_no_fault_shows_a_secret_whatever_is_wrong_with_it(faults_of: Faults) -> None:
    text = service("headers: {Authorization: 's3cret\u00e9', X-B: '${B}'}\nca_bundle: ${C}\nmax_in_flight: ${D}")
    text += "registry: {portal: {base_url: '${E}', token: 's3cret s3cret'}}\nserver: {allowed_origins: '${F}'}\n"
    environ = {name: f"s3cret{name}\n" for name in "BCDEF"}
    faults = faults_of(text, environ)
    assert len(faults) == 7
    assert not any("s3cret" in fault for fault in faults)


@pytest.mark.parametrize("value", ["'true'", "yes", "1", "null"])
def test_a_switch_is_true_or_false_and_nothing_like_it(faults_of: Faults, value: str) -> None:
    (fault,) = faults_of(ROUTE + f"    structured_output: {value}\n")
    assert fault.startswith("routes[0].structured_output: must be true or false, not ")
