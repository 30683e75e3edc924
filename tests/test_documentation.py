"""What the documentation shows is what happens."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_run_and_print_the_text_block_that_follows(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a page share their names; a `text` block right after a `python` block is its output."""
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "library"))
    found = blocks(page)
    names: dict[str, object] = {"__name__": f"documentation_{page.stem}"}
    for index, (language, source) in enumerate(found):
        if language != "python":
            continue
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(source, f"{page.name} block {index}", "exec"), names)
        if index + 1 < len(found) and found[index + 1][0] == "text":
            assert output.getvalue().strip() == found[index + 1][1].strip()


def test_the_readme_has_python_that_runs() -> None:
    assert [language for language, _ in blocks(ROOT / "README.md")].count("python") >= 1


def test_every_command_is_documented() -> None:
    from multigold.cli._group import COMMANDS

    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    missing = [name for name in COMMANDS if f"multigold {name}" not in text]
    assert not missing


def test_the_changelog_says_one_sentence_per_change() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    changes = [line for line in lines if line.startswith("- ")]
    assert changes
    assert all(line.endswith(".") and ". " not in line for line in changes)


LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings_that_are_there(page: Path) -> None:
    for place, heading in LINK.findall(page.read_text(encoding="utf-8")):
        target = page.parent / place if place else page
        assert target.exists(), place
        if heading:
            titles = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]
            assert heading in anchors, f"{place}#{heading}"


def test_every_law_is_cited_by_a_test_and_every_citation_is_of_a_law() -> None:
    laws = re.findall(r"^(\d+)\. ", (ROOT / "docs" / "laws.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert laws == [str(number) for number in range(1, len(laws) + 1)]
    cited: dict[str, set[str]] = {"src": set(), "tests": set()}
    for room, found in cited.items():
        for path in (ROOT / room).rglob("*.py"):
            for numbers in re.findall(
                r"(?<![A-Za-z])[Ll]aws?[ _]((?:\d+(?:, | and )?)+)", path.read_text(encoding="utf-8")
            ):
                found.update(re.findall(r"\d+", numbers))
    assert cited["tests"] == set(laws)
    assert cited["src"] <= set(laws)
