"""Kappa and alpha against published worked examples, and against other implementations."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multigold.errors import CallError
from multigold.stats.agreement import (
    agreement_of,
    cohen_kappa,
    krippendorff_alpha,
    reading_weights,
    weighted_rate,
)
from multigold.stats.multiverse import ReadingMatch, UniverseRun
from multigold.stats.prediction_powered import corrected_rate, draw_audit

KRIPPENDORFF = ("1 1 *  1", "2 2 3 2", "3 3 3 3", "3 3 3 3", "2 2 2 2", "1 2 3 4", "4 4 4 4", "1 1 2 1", "2 2 2 2",
                "* 5 5 5", "* * 1 1", "* * 3 *")  # fmt: skip
"""The data of Krippendorff (Content Analysis, 1980) that R's package irr ships with `kripp.alpha`: unit by unit."""

GRANTS = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
"""Fifty proposals and two readers, the usual worked example of kappa: 0.7 agree, 0.5 by chance."""

words = st.sampled_from("abc")


def units(rows: tuple[str, ...]) -> list[list[str]]:
    return [[answer for answer in row.split() if answer != "*"] for row in rows]


def test_alpha_is_the_published_one() -> None:
    found = krippendorff_alpha(units(KRIPPENDORFF))
    assert found.value == pytest.approx(0.743, abs=5e-4)
    assert (found.units, found.answers) == (11, 40)
    assert found.low < found.value <= found.high


def test_kappa_is_the_published_one() -> None:
    found = cohen_kappa(GRANTS)
    assert found.value == pytest.approx(0.4)
    assert (found.agreeing, found.units) == (0.7, 50)
    assert found.low < 0.4 < found.high


@given(st.lists(st.tuples(words, words), min_size=2, max_size=12))
@settings(max_examples=40, deadline=None)
def test_kappa_is_that_of_another_implementation(pairs: list[tuple[str, str]]) -> None:
    raters = pytest.importorskip("statsmodels.stats.inter_rater")
    table = [[pairs.count((a, b)) for b in "abc"] for a in "abc"]
    found = cohen_kappa(pairs).value
    expected = raters.cohens_kappa(table, return_results=False) if found is not None else None
    assert found == (None if expected is None else pytest.approx(float(expected)))


@given(st.lists(st.lists(words, min_size=0, max_size=4), min_size=2, max_size=8))
@settings(max_examples=40, deadline=None)
def test_alpha_is_one_less_observed_by_expected_disagreement(rows: list[list[str]]) -> None:
    """By its definition: every ordered pair within units, and every ordered pair of all values."""
    kept = [row for row in rows if len(row) > 1]
    values = [value for row in kept for value in row]
    expected = [(a, b) for i, a in enumerate(values) for j, b in enumerate(values) if i != j]
    found = krippendorff_alpha(rows).value
    if not values or len(set(values)) == 1:
        assert found is None
        return
    within = sum(
        sum(a != b for i, a in enumerate(row) for j, b in enumerate(row) if i != j) / (len(row) - 1) for row in kept
    )
    by_chance = sum(a != b for a, b in expected) / len(expected)
    assert found == pytest.approx(1 - within / len(values) / by_chance)


def test_where_all_answers_are_one_nothing_could_have_shown_disagreement() -> None:
    assert cohen_kappa([("a", "a")] * 9).value is None
    assert krippendorff_alpha([("a", "a")] * 9).value is None


def test_two_annotators_have_both_coefficients_and_three_have_alpha() -> None:
    two = [{"ann": a, "bob": b} for a, b in GRANTS]
    assert [one.name for one in agreement_of(two)] == ["kappa", "alpha"]
    three = [{"ann": "a", "bob": "b", "cyd": "a"}, {"ann": "a", "bob": "a"}]
    assert [one.name for one in agreement_of(three)] == ["alpha"]


def test_a_success_weighs_as_much_as_people_agree_on_its_reading() -> None:
    weights = reading_weights([("1/r", "yes"), ("1/r", "no"), ("1/s", "yes"), ("2/t", "unclear")])
    assert weights == {"1/r": 0.5, "1/s": 1.0, "2/t": 0.5}

    def run(*readings: str, success: bool = True) -> UniverseRun:
        matches = tuple(ReadingMatch(reading=name, positions={}, standing="core", success=success) for name in readings)
        return UniverseRun(
            agent="a", domain="d", task="1", scored=True, success=success, single=None, untouched=False, matches=matches
        )

    assert weighted_rate([run("1/r"), run("1/r", "1/s"), run(), run("1/r", success=False)], weights) == 2.5 / 4
    assert weighted_rate([], weights) is None
    with pytest.raises(CallError, match="between 0 and 1"):
        weighted_rate([], {"1/r": 2.0})


@pytest.mark.parametrize(("missed", "invented"), [(0.0, 0.0), (0.1, 0.05), (0.3, 0.3)])
@pytest.mark.parametrize("runs", [200, 1000])
def test_a_corrected_rate_holds_as_often_as_it_says(runs: int, missed: float, invented: float) -> None:
    """A tenth of the runs is audited; the verdicts miss some successes and invent others."""
    rng, held = random.Random(runs), 0
    for _ in range(250):
        truth = [rng.random() < 0.6 for _ in range(runs)]
        verdicts = [rng.random() >= missed if right else rng.random() < invented for right in truth]
        drawn = rng.sample(range(runs), runs // 10)
        found = corrected_rate(verdicts, [(verdicts[i], truth[i]) for i in drawn])
        held += found.low <= sum(truth) / runs <= found.high
    assert held / 250 >= 0.94


def test_an_audit_of_every_run_leaves_nothing_open() -> None:
    verdicts = [True] * 6 + [False] * 4
    truth = [True] * 5 + [False] * 5
    found = corrected_rate(verdicts, list(zip(verdicts, truth, strict=True)))
    assert (found.low, found.corrected, found.high) == pytest.approx((0.5, 0.5, 0.5))
    assert found.overturned == (1, 0)


def test_an_audit_that_found_no_fault_is_not_certain() -> None:
    found = corrected_rate([True] * 50 + [False] * 50, [(True, True)] * 5 + [(False, False)] * 5)
    assert found.low < 0.5 == found.corrected < found.high


def test_an_audit_of_nothing_is_refused() -> None:
    with pytest.raises(CallError, match="cannot correct"):
        corrected_rate([True], [])
    with pytest.raises(CallError, match="between 0 and 1"):
        draw_audit(["a"], 0)


def test_a_draw_does_not_depend_on_the_order_of_runs() -> None:
    names = [f"run-{i}" for i in range(40)]
    assert draw_audit(names, 0.1, seed=3) == draw_audit(names[::-1], 0.1, seed=3)
    assert len(draw_audit(names, 0.1)) == 4
    assert draw_audit(names, 0.1, seed=3) != draw_audit(names, 0.1, seed=4)
