from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations
from math import comb, prod
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_samples import counted, runs

from multigold.errors import CallError
from multigold.stats.exact import exact_bootstrap_interval
from multigold.stats.pass_k import (
    cell_variance,
    pass_at,
    pass_at_k,
    pass_hat,
    pass_hat_k,
    pass_hat_k_on_one_side,
    trial_variance,
    variance_ratio,
)
from multigold.stats.rows import RunRow

outcomes = st.lists(st.booleans(), min_size=1, max_size=7)


@given(outcomes, st.integers(1, 8))
def test_pass_hat_and_pass_at_are_shares_of_the_sets_of_k_trials(trials: list[bool], k: int) -> None:
    drawn = list(combinations(trials, k))
    hat, at = pass_hat(sum(trials), len(trials), k), pass_at(sum(trials), len(trials), k)
    if not drawn:
        assert hat is None
        assert at is None
    else:
        assert hat == Fraction(sum(all(some) for some in drawn), len(drawn))
        assert at == Fraction(sum(any(some) for some in drawn), len(drawn))


def test_pass_at_is_the_product_form_of_its_paper() -> None:
    for n in range(1, 12):
        for c in range(n + 1):
            for k in range(1, n + 1):
                product = 1.0 if n - c < k else 1 - prod(1 - k / i for i in range(n - c + 1, n + 1))
                assert float(pass_at(c, n, k) or 0) == pytest.approx(product)


@pytest.mark.parametrize(("successes", "trials", "k"), [(1, 2, 0), (3, 2, 1), (-1, 2, 1)])
def test_counts_that_cannot_be_are_refused(successes: int, trials: int, k: int) -> None:
    for function in (pass_hat, pass_at):
        with pytest.raises(CallError):
            function(successes, trials, k)


def test_a_file_with_three_four_and_one_trials_says_which_tasks_each_k_could_count() -> None:
    ragged = runs("a", {"1": "1111", "2": "110", "3": "111", "4": "1"})
    one, two, three, four = pass_hat_k(ragged)
    assert (one.tasks, one.left_out, one.single) == (4, (), ("4",))
    assert one.exact == (1 + Fraction(2, 3) + 1 + 1) / 4
    assert (two.tasks, two.left_out, two.exact) == (3, ("4",), (1 + Fraction(1, 3) + 1) / 3)
    assert (three.tasks, three.left_out, three.exact) == (3, ("4",), Fraction(2, 3))
    assert (four.tasks, four.left_out, four.exact) == (1, ("2", "3", "4"), 1)
    assert four.note == "3 of 4 tasks have fewer than 4 trials and are left out"
    assert {found.missing for found in (one, two, three, four)} == {"left_out"}


def test_the_other_convention_counts_missing_trials_as_failed_and_says_how_many() -> None:
    ragged = runs("a", {"1": "1111", "2": "110", "3": "111-", "4": "1"})
    *_, four = pass_hat_k(ragged, missing="failed")
    assert (four.k, four.tasks, four.left_out, four.assumed_failed) == (4, 4, (), 1 + 1 + 3)
    assert four.exact == Fraction(1, 4)
    assert four.note == "5 missing trials count as failed"
    one, *_ = pass_hat_k(ragged, missing="failed", tasks=["1", "2", "3", "4", "5"])
    assert (one.exact, one.tasks) == ((1 + Fraction(2, 4) + Fraction(3, 4) + Fraction(1, 4) + 0) / 5, 5)


def test_a_single_surviving_run_is_never_a_hundred_percent_without_saying_so() -> None:
    (only,) = pass_hat_k(runs("a", {"7": "1---"}))
    assert only.value == 1
    assert only.note == "1 of 1 tasks rest on a single trial"
    found = pass_hat_k(runs("a", {"7": "1---"}), missing="failed")
    assert [f.exact for f in found] == [Fraction(1, 4), 0, 0, 0]
    absent = pass_hat_k(runs("a", {"7": "1"}), tasks=["7", "8", "9"])
    assert (absent[0].tasks, absent[0].left_out) == (1, ("8", "9"))
    assert "2 of 3 tasks have fewer than 1 trials" in absent[0].note


def test_no_runs_give_no_figure() -> None:
    assert pass_hat_k([]) == ()
    assert pass_at_k(runs("a", {"1": "--"})) == ()


def test_a_figure_over_trials_is_for_one_agent() -> None:
    with pytest.raises(CallError, match="2: a, b"):
        pass_hat_k(counted("a", {"1": 1}) + counted("b", {"1": 1}))


def test_pass_at_k_never_falls_and_pass_hat_k_never_rises_with_k() -> None:
    some = counted("a", {str(c): c for c in range(5)})
    hats, ats = [f.exact for f in pass_hat_k(some)], [f.exact for f in pass_at_k(some)]
    assert hats == sorted(hats, reverse=True)
    assert ats == sorted(ats)
    assert hats[0] == ats[0] == Fraction(10, 20)


def test_the_interval_of_pass_hat_k_resamples_tasks() -> None:
    *_, four = pass_hat_k(counted("a", {str(i): 4 * (i % 2) for i in range(30)}))
    found, by_hand = exact_bootstrap_interval(four.units()), four.units()
    assert found is not None
    assert by_hand.counts == {(Fraction(0), 1): 15, (Fraction(1), 1): 15}
    assert found.low < 0.5 < found.high


def test_recorded_rewards_of_a_real_file_give_pass_hat_one_to_four_exactly(shared: Path) -> None:
    records = json.loads((shared / "data/results/tau1/airline_gpt-4o.json").read_text())
    rows = [RunRow(agent="gpt-4o", task=str(r["task_id"]), trial=r["trial"], reward=r["reward"]) for r in records]
    # tau-bench's own sum, over its own records, in whole numbers.
    wins = {
        r["task_id"]: sum(abs(s["reward"] - 1) <= 1e-6 for s in records if s["task_id"] == r["task_id"])
        for r in records
    }
    expected = [Fraction(sum(comb(c, k) for c in wins.values()), comb(4, k) * len(wins)) for k in range(1, 5)]
    assert [found.exact for found in pass_hat_k(rows)] == expected
    assert [round(float(f), 4) for f in expected] == [0.42, 0.2733, 0.22, 0.2]


sides = st.one_of(
    st.none(),
    st.dictionaries(st.sampled_from(["L3", "L4"]), st.sets(st.sampled_from("xyz"), min_size=1, max_size=3), max_size=2),
)


@given(st.lists(sides, max_size=6), st.integers(0, 2), st.integers(1, 5))
def test_pass_hat_k_on_one_side_is_the_share_of_the_sets_of_k_that_share_their_sides(
    taken: list[dict[str, set[str]] | None], failures: int, k: int
) -> None:
    def agree(some: tuple[object, ...]) -> bool:
        dicts = [trial for trial in some if isinstance(trial, dict)]
        if "failed" in some:
            return False
        return all(set.intersection(*(d[name] for d in dicts if name in d)) for d in dicts for name in d)

    trials = [*taken, *["failed"] * failures]
    drawn = list(combinations(trials, k))
    rows = [
        RunRow(
            agent="a",
            task="1",
            trial=number,
            reward=float(trial != "failed"),
            loopholes=() if trial is None else ("L3", "L4"),
            positions={name: tuple(found) for name, found in trial.items()} if isinstance(trial, dict) else {},
        )
        for number, trial in enumerate(trials)
    ]
    found = {one.k: one.exact for one in pass_hat_k_on_one_side(rows)}
    assert found.get(k) == (Fraction(sum(agree(some) for some in drawn), len(drawn)) if drawn else None)


def test_an_agent_that_flips_sides_passes_every_time_and_is_not_reliable() -> None:
    flips = [
        RunRow(agent="a", task="32", trial=i, reward=1.0, loopholes=("L6",), positions={"L6": (side,)})
        for i, side in enumerate("xyxy")
    ]
    assert [f.exact for f in pass_hat_k(flips)] == [1, 1, 1, 1]
    assert [f.exact for f in pass_hat_k_on_one_side(flips)] == [1, Fraction(2, 6), 0, 0]


def test_on_tasks_without_loopholes_one_side_is_pass_hat_k() -> None:
    some = counted("a", {"1": 3, "2": 4, "3": 0})
    assert [f.exact for f in pass_hat_k_on_one_side(some)] == [f.exact for f in pass_hat_k(some)]


@given(outcomes)
def test_the_variance_of_a_cell_is_the_population_variance(trials: list[bool]) -> None:
    mean = Fraction(sum(trials), len(trials))
    assert cell_variance(sum(trials), len(trials)) == sum((t - mean) ** 2 for t in trials) / len(trials)


@pytest.mark.parametrize(
    ("agent", "counts", "value", "flips"),
    [
        ("GPT-5", (0, 4, 2, 0, 0, 1, 2), 0.098, 3),
        ("Kimi", (0, 3, 4, 0, 2, 0, 3), 0.089, 3),
        ("Mistral", (1, 2, 3, 0, 3, 0, 1), 0.143, 5),
    ],
)
def test_the_papers_variances_follow_from_its_counts(
    agent: str, counts: tuple[int, ...], value: float, flips: int
) -> None:
    found = trial_variance(counted(agent, dict(zip(("2", "5", "13", "27", "29", "32", "45"), counts, strict=True))))
    assert found.value is not None
    assert (round(found.value, 3), found.cells, found.flips) == (value, 7, flips)


def test_the_mean_variance_is_numpys_over_cells_of_several_agents() -> None:
    np = pytest.importorskip("numpy")
    some = counted("a", {str(i): i % 5 for i in range(9)}) + counted("b", {str(i): (3 * i) % 5 for i in range(9)})
    table = [[float(row.success or 0) for row in some[i : i + 4]] for i in range(0, len(some), 4)]
    assert trial_variance(some).value == pytest.approx(np.var(table, axis=1, ddof=0).mean())
    assert trial_variance(some).units().value == trial_variance(some).exact
    assert trial_variance(some).units().number == 9


def test_cells_with_one_scored_trial_cannot_vary_and_are_left_out() -> None:
    found = trial_variance(runs("a", {"1": "10", "2": "1--", "3": "--"}))
    assert (found.value, found.cells, found.flips, found.left_out) == (0.25, 1, 1, 2)
    nothing = trial_variance(runs("a", {"1": "1"}))
    assert (nothing.value, nothing.cells, nothing.left_out) == (None, 0, 1)
    with pytest.raises(CallError, match="without trials"):
        cell_variance(0, 0)


def test_a_ratio_of_variances_is_none_where_it_would_divide_by_nothing() -> None:
    even, flat, none = (
        trial_variance(counted("a", {"1": 2})),
        trial_variance(counted("a", {"1": 4})),
        trial_variance([]),
    )
    assert variance_ratio(even, trial_variance(counted("a", {"1": 1}))) == pytest.approx(4 / 3)
    assert variance_ratio(flat, even) == 0
    assert variance_ratio(even, flat) is None
    assert variance_ratio(even, none) is None
    assert variance_ratio(none, even) is None
