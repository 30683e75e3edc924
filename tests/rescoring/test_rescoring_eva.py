"""EVA's own verdict on a record beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multigold.model.trajectory import Trajectory
from multigold.model.verdict import Verdict
from multigold.readers import Run
from multigold.rescoring import rescore
from multigold.rescoring.eva import contains, with_session

VALUES = st.recursive(
    st.one_of(st.none(), st.integers(0, 3), st.sampled_from(["a", "A", "b"])),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("xyz"), inner, max_size=3)),
    max_leaves=8,
)


@given(value=VALUES)
def test_a_value_contains_itself(value: Any) -> None:
    assert contains(value, value)


@given(value=st.dictionaries(st.sampled_from("xyz"), VALUES), more=VALUES)
def test_a_session_with_more_members_contains_the_expected_one(value: dict[str, Any], more: Any) -> None:
    assert contains({**value, "more": more}, value)
    assert not contains(value, {**value, "more": more})


@pytest.mark.parametrize(
    ("final", "expected", "whether"),
    [("SMITH", "smith", True), ({"a": "X"}, {"a": "x"}, True), (1.0, 1, True), (True, 1, False), ([1], [1, 2], False)],
)
def test_strings_are_compared_in_any_case_and_everything_else_strictly(
    final: Any, expected: Any, whether: bool
) -> None:
    assert contains(final, expected) is whether


@pytest.mark.parametrize(
    ("final", "passes"),
    [({"name": "DOE", "more": 1}, True), ({"name": "roe"}, False), (None, None)],
)
def test_a_record_passes_where_its_database_and_its_session_do(final: Any, passes: bool | None) -> None:
    run = Run(trajectory=Trajectory(), extra={"session": final, "expected_session": {"name": "doe"}, "completed": True})
    verdict = with_session(Verdict(outcome="matched", benchmark_matched=True), run)
    assert verdict.other_scorer["passes"] is passes
    assert verdict.other_scorer["theirs"] == {"completed": True}
    assert with_session(Verdict(outcome="unmatched", benchmark_matched=False), run).other_scorer["passes"] is False


def test_a_real_record_ends_in_the_expected_database_and_does_not_tell_its_session(shared: Path) -> None:
    (verdict,) = rescore(shared / "data" / "eva")
    assert (verdict.outcome, verdict.benchmark_matched) == ("matched", True)
    assert (verdict.other_scorer["session"], verdict.other_scorer["passes"]) == (None, None)
