"""The gold sets are in our own words: they share nothing longer than a phrase with what they were worked from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from multigold.benchmark_data import load_policy
from multigold.catalogues.loading import shipped_directory
from multigold.readers.files import open_results
from multigold.state.canonical import Json

RUN = 8
"""So many words in a row are no accident."""


def runs(text: str) -> set[tuple[str, ...]]:
    """Return every run of words of a text; one that is mostly numbers is a list of facts and left out."""
    found = re.findall(r"[a-z0-9$']+", text.lower())
    every = {tuple(found[start : start + RUN]) for start in range(len(found) - RUN + 1)}
    return {run for run in every if sum(word.isdigit() for word in run) < RUN // 2}


def strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from strings(part)


def shipped_files() -> list[Path]:
    directory = shipped_directory()
    assert directory is not None
    return sorted(directory.rglob("*.json"))


@pytest.fixture(scope="module")
def sources(shared: Path) -> set[tuple[str, ...]]:
    """The runs of words of the analysis, of the paper, and of the three policies."""
    files = [*shared.glob("*.md"), *(shared / "seeds").glob("*.txt")]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in files]
    assert len(texts) > 2
    texts += [load_policy(name).text for name in ("tau2-airline", "tau2-retail")]
    first = next(iter(open_results(shared / "data" / "results" / "tau1" / "airline_gpt-4o.json").runs))
    texts.append(first.trajectory.messages[0].text)
    return set().union(*map(runs, texts))


@pytest.mark.parametrize("path", shipped_files(), ids=lambda path: f"{path.parent.parent.name}-{path.stem}")
def test_no_run_of_words_is_copied(path: Path, sources: set[tuple[str, ...]]) -> None:
    copied = {run for text in strings(json.loads(path.read_text())) for run in runs(text) & sources}
    assert copied == set()


def test_a_copied_sentence_would_be_found(sources: set[tuple[str, ...]], shared: Path) -> None:
    sentence = max((shared / "READINGS.md").read_text(encoding="utf-8").splitlines(), key=len)
    assert runs(f"We say: {sentence}") & sources
