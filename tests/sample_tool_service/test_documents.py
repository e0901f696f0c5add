from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_gateway.sample_tool_service.documents import MAX_FILE_BYTES, SNIPPET_CHARACTERS, DocumentIndex, Found

HANDBOOK = Path(__file__).parents[2] / "mcp_gateway" / "sample_tool_service" / "handbook"


@pytest.fixture
def index(documents: Path) -> Iterator[DocumentIndex]:
    index = DocumentIndex(documents)
    yield index
    index.close()


@pytest.fixture(scope="module")
def handbook() -> Iterator[DocumentIndex]:
    index = DocumentIndex(HANDBOOK)
    yield index
    index.close()


def ids(found: Found) -> list[str]:
    return [hit.document.id for hit in found.hits]


@pytest.mark.parametrize(
    "query",
    [
        "보고서",
        "보고",
        "주간 보고서",
        "금요일",
        "계약",
        "근로계약서",
        "약서",
        "법",
        "보",
        "서를",
        unicodedata.normalize("NFD", "보고서"),
        "보고서, 계약",
    ],
)
def test_korean_words_of_any_length_are_found_wherever_they_stand(documents: Path, query: str) -> None:
    (documents / "law.md").write_text(
        "# 법무\n\n금요일의 보고서를 근로계약서와 함께 주간 자료에 둡니다.", encoding="utf-8"
    )
    index = DocumentIndex(documents)
    found = index.search(query, 5)
    index.close()
    assert found.every_word
    assert "law.md" in ids(found)
    assert "budgets.md" not in ids(found)


@pytest.mark.parametrize("query", ["budget", "BUDGETS", "budg", "tool-service", "cut off", "ｂｕｄｇｅｔ"])
def test_english_words_are_found_in_any_case_form_and_by_their_beginning(index: DocumentIndex, query: str) -> None:
    found = index.search(query, 5)
    assert found.every_word
    assert ids(found) == ["budgets.md"]


def test_a_document_is_found_by_its_path(index: DocumentIndex) -> None:
    assert ids(index.search("report.ko.md", 5)) == ["report.ko.md"]


def test_without_a_document_that_holds_every_word_those_with_some_are_found(index: DocumentIndex) -> None:
    found = index.search("보고서는 언제까지 제출하나요", 5)
    assert not found.every_word
    assert ids(found) == ["report.ko.md"]


def test_one_korean_letter_at_the_end_of_a_longer_word_is_no_match_by_itself(index: DocumentIndex) -> None:
    assert index.search("도장서", 5) == Found(0, False, ())


def test_the_word_in_the_title_makes_the_better_match(documents: Path) -> None:
    filler = "nothing of note. " * 20
    (documents / "a.md").write_text(f"# Something else\n\nThe zebra is here. {filler}", encoding="utf-8")
    (documents / "b.md").write_text(f"# The zebra\n\nIt is here. {filler}", encoding="utf-8")
    index = DocumentIndex(documents)
    found = index.search("zebra", 5)
    index.close()
    assert ids(found) == ["b.md", "a.md"]
    assert found.hits[0].score > found.hits[1].score > 0


def test_the_limit_bounds_the_documents_but_not_the_total(documents: Path) -> None:
    for number in range(6):
        (documents / f"{number}.txt").write_text("pelican", encoding="utf-8")
    index = DocumentIndex(documents)
    found = index.search("pelican", 2)
    index.close()
    assert found.total == 6
    assert len(found.hits) == 2


@pytest.mark.parametrize(
    "query",
    [
        '" OR NEAR( *',
        '"',
        "*",
        "body:budget OR",
        "NOT",
        "a AND",
        "NEAR(budget slow, 3)",
        "^budget",
        "{title body}: x",
        "'; DROP TABLE pages; --",
        "\x00",
        "-budget",
        "budget + slow",
        "😀",
        "(" * 200,
        "a " * 100,
    ],
)
def test_nothing_in_a_query_is_fts_syntax(index: DocumentIndex, query: str) -> None:
    index.search(query, 5)
    assert ids(index.search("budget", 5)) == ["budgets.md"]


def test_operators_are_words_like_any_other(documents: Path) -> None:
    (documents / "not.md").write_text("do NOT go NEAR", encoding="utf-8")
    index = DocumentIndex(documents)
    found = index.search('NOT "NEAR"', 5)
    index.close()
    assert ids(found) == ["not.md"]


def test_a_query_without_letters_or_digits_finds_nothing(index: DocumentIndex) -> None:
    assert index.search('"" *!?', 5).total == 0


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200))
def test_any_query_gets_an_answer(handbook: DocumentIndex, query: str) -> None:
    found = handbook.search(query, 3)
    assert len(found.hits) == min(3, found.total)


@pytest.mark.parametrize(("query", "expected"), [("보고서", "weekly-report.ko.md"), ("계약", "contract-review.ko.md")])
def test_the_handbook_that_comes_along_has_korean_documents(handbook: DocumentIndex, query: str, expected: str) -> None:
    assert ids(handbook.search(query, 1)) == [expected]
    assert len(handbook) >= 4


def test_the_snippet_shows_the_passage_with_most_of_the_words(documents: Path) -> None:
    text = "# Long\n\nheron. " + "filler " * 100 + "the heron sat by the 계약서를 pond " + "filler " * 100
    (documents / "long.md").write_text(text, encoding="utf-8")
    index = DocumentIndex(documents)
    snippet = index.search("heron 계약", 1).hits[0].snippet
    index.close()
    assert "heron sat by the 계약서를 pond" in snippet
    assert snippet.startswith("…filler")
    assert snippet.endswith("…")
    assert len(snippet) <= SNIPPET_CHARACTERS + 2


def test_the_snippet_of_a_short_document_is_all_of_it(index: DocumentIndex) -> None:
    assert index.search("slow", 1).hits[0].snippet == (
        "# Time budgets Every call has a budget; a slow Tool Service is cut off."
    )


def test_a_word_found_in_another_form_only_shows_the_beginning(documents: Path) -> None:
    (documents / "forms.md").write_text("# Forms\n\nIt was flying. " + "filler " * 100, encoding="utf-8")
    index = DocumentIndex(documents)
    snippet = index.search("flys", 1).hits[0].snippet
    index.close()
    assert snippet.startswith("# Forms It was flying.")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("intro\n\n## 둘째 제목 ##\n# Later", "둘째 제목"),
        ("```sh\n# a comment\n```\n\n# Real", "Real"),
        ("no heading at all\n#hashtag", "page"),
        ("# \n", "page"),
        ("# #\n", "#"),
        ("# On C# and F#\t\n", "On C# and F#"),
        ("\ufeff# With a mark", "With a mark"),
    ],
)
def test_the_title_is_the_first_heading_or_else_the_name(tmp_path: Path, text: str, title: str) -> None:
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    index = DocumentIndex(tmp_path)
    document = index.get("page.md")
    index.close()
    assert document
    assert document.title == title


def test_a_heading_with_very_many_blanks_is_read_like_any_other(tmp_path: Path) -> None:
    """A regular expression that tries each place where they could be parted takes hours."""
    heading = "a" + " " * 300_000 + "#b"
    (tmp_path / "page.md").write_text(f"# {heading} ##", encoding="utf-8")
    index = DocumentIndex(tmp_path)
    document = index.get("page.md")
    index.close()
    assert document
    assert document.title == heading


@pytest.mark.parametrize("content", ["# 한글 문서".encode("cp949"), b"# \xed\x95\x9c\xea\xb8\x80 \xff\xff"])
def test_a_text_in_the_old_korean_code_page_or_with_broken_bytes_is_still_a_document(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "old.txt").write_bytes(content)
    index = DocumentIndex(tmp_path)
    found = index.search("한글", 1)
    index.close()
    assert ids(found) == ["old.txt"]


def test_documents_lie_in_folders_and_are_named_by_their_path(tmp_path: Path) -> None:
    (tmp_path / "계약").mkdir()
    (tmp_path / "계약" / "A.TXT").write_text("content", encoding="utf-8")
    index = DocumentIndex(tmp_path)
    document = index.get("계약/A.TXT")
    index.close()
    assert document
    assert document.text == "content"


def test_what_is_no_document_of_the_folder_is_left_out(tmp_path: Path) -> None:
    outside, folder = tmp_path / "secret.md", tmp_path / "folder"
    outside.write_text("secret", encoding="utf-8")
    folder.mkdir()
    (folder / "link.md").symlink_to(outside)
    (folder / "up").symlink_to(tmp_path)
    (folder / "folder.md").mkdir()
    (folder / ".hidden.md").write_text("secret", encoding="utf-8")
    (folder / ".git").mkdir()
    (folder / ".git" / "note.md").write_text("secret", encoding="utf-8")
    (folder / "code.py").write_text("secret", encoding="utf-8")
    (folder / "large.md").write_bytes(b"secret " * (MAX_FILE_BYTES // 7 + 1))
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.md")).write_text("secret", encoding="utf-8")
    os.mkfifo(folder / "pipe.md")
    index = DocumentIndex(folder)
    found = index.search("secret", 5)
    index.close()
    assert found.total == 0
    assert len(index) == 0


def test_a_changed_a_new_and_a_deleted_file_are_noticed_at_the_next_search(
    documents: Path, index: DocumentIndex
) -> None:
    assert index.search("ostrich", 5).total == 0
    (documents / "new.md").write_text("# Ostrich", encoding="utf-8")
    assert ids(index.search("ostrich", 5)) == ["new.md"]
    (documents / "new.md").write_text("# Flamingo instead", encoding="utf-8")
    assert index.search("ostrich", 5).total == 0
    assert ids(index.search("flamingo", 5)) == ["new.md"]
    (documents / "new.md").unlink()
    assert index.search("flamingo", 5).total == 0
    assert index.get("new.md") is None


class Reader:
    """Reads files, remembers which, and can be told to fail."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.fails = False

    def __call__(self, path: Path) -> bytes:
        self.names.append(path.name)
        if self.fails:
            raise PermissionError("no")
        return path.read_bytes()


@pytest.fixture
def indexed_with(documents: Path) -> Iterator[Callable[[Reader], DocumentIndex]]:
    made: list[DocumentIndex] = []

    def make(reader: Reader) -> DocumentIndex:
        made.append(DocumentIndex(documents, reader))
        return made[-1]

    yield make
    for index in made:
        index.close()


def test_an_unchanged_file_is_read_once(indexed_with: Callable[[Reader], DocumentIndex]) -> None:
    reader = Reader()
    index = indexed_with(reader)
    index.search("budget", 5)
    index.get("budgets.md")
    assert sorted(reader.names) == ["budgets.md", "report.ko.md"]


def test_a_file_that_cannot_be_read_is_left_out_until_it_can(
    indexed_with: Callable[[Reader], DocumentIndex],
) -> None:
    reader = Reader()
    reader.fails = True
    index = indexed_with(reader)
    assert index.search("budget", 5).total == 0
    reader.fails = False
    assert ids(index.search("budget", 5)) == ["budgets.md"]
