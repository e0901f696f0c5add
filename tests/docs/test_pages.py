"""Every page that tells someone what to do is done."""

from __future__ import annotations

import re
import shutil
import subprocess
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest
from docs.pages import ROOT, SDK, Block, blocks, follow, not_run, printed_as_shown, same_json

FOLLOWED = sorted(
    [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "deploy").rglob("*.md")]
    + [
        path
        for room in ("tutorial", "how-to", "reference", "explanation")
        for path in (ROOT / "docs" / room).glob("*.md")
    ]
)
EVERY_PAGE = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "deploy").rglob("*.md")])

# Commands of a page that no test can run, with the reason that the page gives. Each is a hole: keep it short.
NO_ENGINE = "no container engine where the tests run"
NGINX = "it changes the nginx of the machine; the system tests run the same files with an nginx of their own"
NOT_RUN = {
    "README.md": ["it is what runs this page", NO_ENGINE],
    "deploy/compose/README.md": [NO_ENGINE],
    "deploy/kubernetes/README.md": ["no cluster where the tests run; every manifest is held to the API schemas"],
    "deploy/nginx/README.md": [NGINX],
    "docs/how-to/change-the-gateway.md": ["it is what runs this page"],
    "docs/how-to/connect-an-sdk.md": ["the tests have an environment with the SDK already"],
    "docs/how-to/put-nginx-in-front.md": [NGINX],
    "docs/how-to/use-an-openapi-document.md": ["it would install into the environment that runs the tests"],
    "docs/performance.md": ["it measures for minutes; the tests run a short one"],
    "docs/reliability.md": ["it takes half an hour; the tests play two of the faults"],
}

# Programs that a page asks of its reader, beyond what the README does.
NEEDS = {
    "deploy/prometheus/README.md": "promtool",
    "docs/how-to/connect-an-sdk.md": str(SDK),
    "docs/tutorial/any-language.md": "node",
}


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_there_are_pages_to_follow() -> None:
    assert len(FOLLOWED) > 10


# A page may start several processes and make a dozen calls.
@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", FOLLOWED, ids=name)
def test_a_reader_can_follow_the_page_to_the_letter(page: Path, tmp_path: Path) -> None:
    program = NEEDS.get(name(page), "sh")
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    follow(page, tmp_path)


def test_every_command_that_is_not_run_is_listed_here_with_its_reason() -> None:
    found = {name(page): whys for page in FOLLOWED if (whys := list(not_run(page)))}
    assert found == NOT_RUN


def made(page: Path) -> set[str]:
    """Return the files and folders that a page has its reader make."""
    found = list(blocks(page.read_text("utf-8")))
    commands = "\n".join(block.text for block in found if block.language == "sh")
    saved = {path for block in found if (path := block.option("file"))}
    return saved | set(re.findall(r"(?:\bmkdir|--output) ([\w./-]+)", commands))


def test_one_tutorial_can_be_followed_after_the_other_in_the_same_clone() -> None:
    makes = [each for page in sorted((ROOT / "docs" / "tutorial").glob("*.md")) for each in made(page)]
    assert len(makes) > 4
    assert len(makes) == len(set(makes)), makes


# --- links -----------------------------------------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    """Return what a link can point at in a page, as GitHub makes it from the headings."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = [
        re.sub(r"[`*]|\[([^]]*)\]\([^)]*\)", r"\1", title) for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    ]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def links(page: Path) -> Iterator[str]:
    text = re.sub(r"^ *```.*?^ *```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    yield from re.findall(r"\]\(([^)\s]+)\)", text)


@pytest.mark.parametrize("page", EVERY_PAGE, ids=name)
def test_every_link_of_the_page_leads_somewhere(page: Path) -> None:
    for link in links(page):
        if urllib.parse.urlsplit(link).scheme:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / urllib.parse.unquote(path)).resolve() if path else page
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), link


def test_every_page_is_reached_from_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    reached, todo = set(), [index]
    while todo:
        page = todo.pop()
        if page in reached or not page.is_file() or page.suffix != ".md":
            continue
        reached.add(page)
        todo += [(page.parent / link.partition("#")[0]).resolve() for link in links(page) if "://" not in link]
    missing = [name(page) for page in EVERY_PAGE if (ROOT / "docs") in page.parents and page not in reached]
    # The decisions are reached as a folder.
    assert [page for page in missing if not page.startswith("docs/adr/")] == []


# --- the runner itself: it must be able to fail ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\nb\n", "a\nb", True),
        ("a\nb\n", "a\nc\n", False),
        ("a … c\n", "a b b c\n", True),
        ("a …\n", "b c\n", False),
        ("a\n…\nz\n", "a\nb\nc\nz\n", True),
        ("a\n…\nz\n", "a\nz\n", True),
        ("a\n…\nz\n", "a\nb\n", False),
        ("…\n", "", True),
        ("a.c\n", "abc\n", False),
    ],
)
def test_an_output_is_compared_with_what_the_page_shows(shown: str, printed: str, *, same: bool) -> None:
    assert printed_as_shown(shown, printed) is same


@pytest.mark.parametrize(
    ("shown", "got", "same"),
    [
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": 1, "…": "…"}, {"a": 1, "b": 2}, True),
        ({"a": 1, "…": "…"}, {"b": 2}, False),
        ({"a": "…"}, {"a": [1]}, True),
        ({"a": "x … z"}, {"a": "x y z"}, True),
        ({"a": "x … z"}, {"a": "x y"}, False),
        ([1, "…"], [1, 2, 3], True),
        ([1, "…"], [2], False),
        ({"a": 1}, {"a": True}, False),
    ],
)
def test_json_is_compared_with_what_the_page_shows(shown: object, got: object, *, same: bool) -> None:
    assert same_json(shown, got) is same


@pytest.mark.parametrize(
    ("page", "why"),
    [
        ("```sh\nfalse\n```\n", "it ended with status 1"),
        ("```sh status=1\ntrue\n```\n", "it ended with status 0"),
        ("```sh\necho a\n```\n\n```text\nb\n```\n", "what came is\na"),
        ("```text\nb\n```\n", "it shows the output of nothing"),
        ("```sh\necho '{}'\n```\n\n```json output\n[]\n```\n", "what came is\n{}"),
        ("```json\n{}\n```\n", "nobody can tell what this json block is"),
        ("```sh background\nfalse\n```\n\n```text\nready\n```\n", "line 5: "),
        ("```sh\nsudo reboot\n```\n", "'sudo' is not run"),
        ("```json file=no/such/a.json\n{}\n```\n", "the folder of no/such/a.json is not there yet"),
    ],
)
def test_a_page_that_is_wrong_fails_with_its_line(page: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(page, encoding="utf-8")
    (tmp_path / "clone").mkdir()
    with pytest.raises(AssertionError) as caught:
        follow(tmp_path / "page.md", tmp_path / "clone")
    assert str(caught.value).startswith("line ")
    assert why in str(caught.value)


def test_what_a_block_leaves_in_the_shell_and_in_files_is_there_for_the_next(tmp_path: Path) -> None:
    page = """
```sh
mkdir b
cd b
export A='x y'
```

```text file=b/c.txt
8080
```

```sh
echo "$A"; cat c.txt
```

```text
x y
8080
```
"""
    (tmp_path / "page.md").write_text(page, encoding="utf-8")
    (tmp_path / "clone").mkdir()
    follow(tmp_path / "page.md", tmp_path / "clone")
    # The page's 8080 was another port, on both sides.
    assert (tmp_path / "clone" / "b" / "c.txt").read_text() != "8080\n"


def test_what_a_page_starts_is_ended(tmp_path: Path) -> None:
    page = "```sh background\necho ready $$; sleep 600\n```\n\n```text\nready …\n```\n"
    (tmp_path / "page.md").write_text(page, encoding="utf-8")
    (tmp_path / "clone").mkdir()
    follow(tmp_path / "page.md", tmp_path / "clone")
    pid = (tmp_path / "clone" / ".background-0").read_text().split()[1]
    assert subprocess.run(["/bin/kill", "-0", pid], capture_output=True, check=False).returncode != 0


def test_the_words_behind_a_fence_are_read() -> None:
    (block,) = blocks('```sh status=1 not-run="needs docker"\nx\n```\n')
    assert block == Block("sh", frozenset(), {"status": "1", "not-run": "needs docker"}, "x\n", 1)
