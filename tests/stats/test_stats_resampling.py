from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from stats_samples import counted, runs

import multigold
from multigold.errors import CallError, MissingExtraError
from multigold.stats import resampling
from multigold.stats.exact import exact_bootstrap_gap, exact_bootstrap_interval
from multigold.stats.resampling import (
    bootstrap_gap,
    bootstrap_interval,
    generator,
    units,
    units_of_counts,
    units_of_totals,
)

np = pytest.importorskip("numpy")

SEVEN = counted("a", {"2": 0, "5": 4, "13": 2, "27": 0, "29": 0, "32": 1, "45": 2})
OTHERS = counted("a", {str(100 + i): i % 5 for i in range(43)})


@pytest.mark.parametrize("by", ["tasks", "trials"])
def test_the_resampled_interval_of_a_rate_tends_to_the_exact_one(by: str) -> None:
    sample = units(SEVEN + OTHERS, by=by)
    drawn, exact = bootstrap_interval(sample, generator(7), resamples=200_000), exact_bootstrap_interval(sample)
    assert drawn is not None
    assert exact is not None
    # One run more or less is 1/200 of the rate; the percentiles of a lattice move by whole steps.
    assert (drawn.low, drawn.high) == pytest.approx((exact.low, exact.high), abs=1.01 / 200)
    assert (drawn.by, drawn.units, drawn.resamples) == (by, sample.number, 200_000)


@pytest.mark.parametrize("by", ["tasks", "trials"])
def test_the_resampled_interval_of_a_gap_tends_to_the_exact_one(by: str) -> None:
    pair = units(OTHERS, by=by), units(SEVEN, by=by)
    drawn, exact = bootstrap_gap(*pair, generator(7), resamples=200_000), exact_bootstrap_gap(*pair)
    assert drawn is not None
    assert exact is not None
    assert (drawn.low, drawn.high) == pytest.approx((exact.low, exact.high), abs=0.005)
    assert drawn.units == (7 if by == "tasks" else 28)


def test_the_clustered_interval_is_scipys_bootstrap_over_tasks_of_any_size() -> None:
    stats = pytest.importorskip("scipy.stats")
    ragged = runs("a", {str(i): ("1101", "000", "11", "1", "0111", "00", "010")[i % 7] for i in range(40)})
    ours = bootstrap_interval(units(ragged), generator(3), resamples=50_000)
    by_task: dict[str, list[bool]] = {}
    for row in ragged:
        by_task.setdefault(row.task, []).append(bool(row.success))
    wins, sizes = zip(*((sum(own), len(own)) for own in by_task.values()), strict=True)
    theirs = stats.bootstrap(
        (wins, sizes),
        lambda w, n, axis=-1: np.sum(w, axis=axis) / np.sum(n, axis=axis),
        paired=True, vectorized=True, method="percentile", n_resamples=50_000, random_state=5,
    ).confidence_interval  # fmt: skip
    assert ours is not None
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_drawing_kinds_is_drawing_units_one_by_one() -> None:
    sample = units_of_counts(9, 28)
    one_by_one = np.random.default_rng(0).choice([1.0] * 9 + [0.0] * 19, size=(100_000, 28)).mean(axis=1)
    kinds = resampling._draws(sample, generator(0), 100_000)
    ours, theirs = (
        np.bincount(np.rint(28 * drawn).astype(int), minlength=29) / 100_000 for drawn in (kinds, one_by_one)
    )
    assert abs(ours - theirs).max() < 0.008  # five standard errors of the difference of two shares


def test_trials_that_always_agree_count_as_one() -> None:
    same = units(counted("a", {str(i): 4 * (i % 2) for i in range(30)}))
    clustered, single = (bootstrap_interval(sample, generator(1)) for sample in (same, units_of_counts(15, 30)))
    by_trial = bootstrap_interval(units_of_counts(60, 120), generator(1))
    assert clustered is not None
    assert single is not None
    assert by_trial is not None
    assert (clustered.low, clustered.high) == (single.low, single.high)
    assert clustered.high - clustered.low > 1.7 * (by_trial.high - by_trial.low)


def test_one_seed_and_name_give_one_interval_whatever_else_is_computed() -> None:
    pair = units(OTHERS), units(SEVEN)
    first = bootstrap_gap(*pair, generator(42, "a", "gap"))
    bootstrap_gap(*pair, generator(42, "b", "gap"))
    assert bootstrap_gap(*pair, generator(42, "a", "gap")) == first
    assert generator(42, "ab").random() != generator(42, "a", "b").random()
    assert generator(42).random() == np.random.default_rng(42).random()


def test_drawing_in_blocks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = bootstrap_interval(units(OTHERS), generator(1), resamples=1001)
    monkeypatch.setattr(resampling, "_BLOCK", 100)
    assert bootstrap_interval(units(OTHERS), generator(1), resamples=1001) == whole


def test_few_tasks_and_results_without_spread_are_said() -> None:
    few = bootstrap_interval(units(SEVEN), generator(1))
    assert few is not None
    assert "7 tasks are few" in few.note
    flat = bootstrap_interval(units(counted("a", {str(i): 4 for i in range(50)})), generator(1))
    assert flat is not None
    assert (flat.low, flat.high) == (1, 1)
    assert "cannot show" in flat.note
    enough = bootstrap_interval(units(OTHERS), generator(1))
    assert enough is not None
    assert enough.note == ""


def test_nothing_to_resample_is_none() -> None:
    assert bootstrap_interval(units([]), generator(1)) is None
    assert bootstrap_gap(units(SEVEN), units(runs("a", {"9": "--"})), generator(1)) is None


def test_tasks_without_a_scored_run_are_no_units_unless_they_count_as_failed() -> None:
    some = runs("a", {"1": "11", "2": "--"})
    assert units(some).number == 1
    assert units(some, missing="failed").counts == {(Fraction(2), 2): 1, (Fraction(0), 2): 1}
    assert units(some, by="trials", missing="failed").counts == {(Fraction(1), 1): 2, (Fraction(0), 1): 2}


def test_a_figure_of_units_is_the_ratio_of_sums() -> None:
    assert units(runs("a", {"1": "1111", "2": "0"})).value == Fraction(4, 5)
    assert units_of_totals([(Fraction(1, 3), 1), (Fraction(2, 3), 1)]).value == Fraction(1, 2)


def test_what_makes_no_sense_is_refused() -> None:
    sample = units(SEVEN)
    with pytest.raises(CallError, match="one kind"):
        bootstrap_gap(sample, units(OTHERS, by="trials"), generator(1))
    with pytest.raises(CallError, match="resample"):
        bootstrap_interval(sample, generator(1), resamples=0)
    with pytest.raises(CallError, match="level"):
        bootstrap_interval(sample, generator(1), level=95)
    with pytest.raises(CallError, match="by must be"):
        units(SEVEN, by="runs")  # type: ignore[arg-type]
    with pytest.raises(CallError, match="seed"):
        generator(-1)
    with pytest.raises(CallError, match="cannot be"):
        units_of_counts(5, 4)


def test_resampling_without_numpy_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = generator(1)
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(MissingExtraError, match=r'pip install "multigold\[stats\]"'):
        generator(1)
    with pytest.raises(MissingExtraError):
        bootstrap_interval(units(SEVEN), rng)


def test_what_needs_no_numpy_works_where_it_is_not_installed() -> None:
    program = """
import sys
sys.modules["numpy"] = None
from multigold.stats.exact import exact_bootstrap_gap, hypergeometric_overlap
from multigold.stats.paired_comparison import compare_agents
from multigold.stats.rates import success_rate, wilson_interval
from multigold.stats.reaggregation import reaggregate
from multigold.stats.pass_k import pass_at_k, pass_hat_k, pass_hat_k_on_one_side, trial_variance
from multigold.stats.resampling import units
from multigold.stats.rows import RunRow
from multigold.stats.loophole_sides import coherent_rate, side_counts, splits
from multigold.stats.item_diagnostics import diagnose_items
runs = [(a, t, i) for a in "ab" for t in range(5) for i in range(4)]
rows = [RunRow(agent=a, task=str(t), trial=i, reward=float((t + i) % 2)) for a, t, i in runs]
own = [row for row in rows if row.agent == "a"]
success_rate(rows), wilson_interval(1, 3), hypergeometric_overlap(population=50, marked=29, drawn=7, hits=7)
exact_bootstrap_gap(units(rows), units(own)), trial_variance(rows)
side_counts(rows), splits(rows), diagnose_items(rows)
pass_hat_k(own), pass_at_k(own), pass_hat_k_on_one_side(own), coherent_rate(own), reaggregate(rows, own)
print(compare_agents(own, rows[len(own):]).decision)
"""
    source = str(Path(multigold.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": source},
        timeout=60,
    )
    assert done.stdout.strip() == "not_distinguishable", done.stderr


def test_the_order_of_units_changes_no_interval() -> None:
    totals = [(Fraction(i % 5), 4) for i in range(43)]
    forward, backward = (bootstrap_interval(units_of_totals(some), generator(1)) for some in (totals, totals[::-1]))
    assert forward == backward
