"""Verdicts and metrics as data frames of either library: same rows, same columns, nothing missing turned to 0."""

from __future__ import annotations

import sys
from typing import Any

import attrs
import pytest

import multigold
from multigold.errors import CallError, MissingExtraError
from multigold.integrations.frames import METRIC_COLUMNS, VERDICT_COLUMNS, metric_frame, verdict_frame
from multigold.stats.summary import FIELDS, Metric

BEFORE = {"users": {"a": {"n": 1}}}
GOLDS = multigold.GoldSet.from_databases(
    {"strict": {"users": {"a": {"n": 2}}}, "lenient": {"users": {"a": {"n": 3}}}}, benchmark="strict"
)


def verdict(value: int, **changes: Any) -> multigold.Verdict:
    run = multigold.Trajectory.from_end_state({"users": {"a": {"n": value}}})
    return attrs.evolve(multigold.score(multigold.Task("t", initial=BEFORE), run, GOLDS), agent="someone", **changes)


VERDICTS = [verdict(3, trial=1), verdict(9, trial=2), multigold.Verdict(outcome="unscored", task_id="t", trial=3)]
METRICS = [Metric(metric="success_rate", value=0.5, numerator=1, denominator=2), Metric(metric="gap")]


def cells(frame: Any, column: str) -> list[Any]:
    """A column as Python values, None if missing."""
    found = frame[column].to_list()
    return [None if str(value) == "<NA>" else value for value in found]


@pytest.fixture(params=["pandas", "polars"])
def library(request: pytest.FixtureRequest) -> Any:
    pytest.importorskip(request.param, reason=f"{request.param} is an extra")
    return request.param


def test_a_frame_has_a_row_for_each_verdict_and_nothing_missing_is_zero(library: Any) -> None:
    frame = verdict_frame(VERDICTS, library)
    assert list(frame.columns) == list(VERDICT_COLUMNS)
    assert cells(frame, "trial") == [1, 2, 3]
    assert cells(frame, "outcome") == ["matched", "unmatched", "unscored"]
    assert cells(frame, "matched") == ["lenient", "", ""]
    assert cells(frame, "core") == [1.0, 0.0, None]
    assert cells(frame, "single") == [0.0, 0.0, None]
    assert cells(frame, "benchmark_matched") == [False, False, None]
    assert cells(frame, "nearest") == [None, "strict", None]
    assert cells(frame, "distance") == [None, 1, None]
    assert cells(frame, "recorded_reward") == [None, None, None]


def test_a_frame_of_nothing_has_the_same_columns_and_types(library: Any) -> None:
    full, empty = verdict_frame(VERDICTS, library), verdict_frame([], library)
    assert len(empty) == 0
    assert list(map(str, full.dtypes)) == list(map(str, empty.dtypes))


def test_figures_have_the_fields_of_a_figure(library: Any) -> None:
    frame = metric_frame(METRICS, library)
    assert list(frame.columns) == list(METRIC_COLUMNS) == list(FIELDS)
    assert cells(frame, "value") == [0.5, None]
    assert cells(frame, "denominator") == [2, None]


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_without_the_library_one_sentence_says_what_to_install(name: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=rf'pip install "multigold\[{name}\]"'):
        verdict_frame(VERDICTS, name)


def test_another_library_is_refused() -> None:
    with pytest.raises(CallError, match="data frames of 'arrow' are not"):
        verdict_frame(VERDICTS, "arrow")  # type: ignore[arg-type]
