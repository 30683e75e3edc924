from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_samples import counted, runs

from multigold.errors import CallError
from multigold.stats import exact
from multigold.stats.exact import (
    exact_bootstrap_gap,
    exact_bootstrap_interval,
    hypergeometric_overlap,
    overlap_of_tasks,
    sum_weights,
)
from multigold.stats.resampling import Units, units, units_of_counts, units_of_totals


def all_means(sample: Units) -> list[Fraction]:
    """Every resample, one by one."""
    each = [total / size for (total, size), number in sample.counts.items() for _ in range(number)]
    return [Fraction(sum(drawn), len(drawn)) for drawn in product(each, repeat=len(each))]


def quantile(values: list[Fraction], share: Fraction) -> Fraction:
    """The smallest value that at least this share of the values do not exceed."""
    return sorted(values)[max(0, ceil(share * len(values)) - 1)]


small_units = st.lists(st.sampled_from([Fraction(n, 4) for n in range(-4, 5)]), min_size=1, max_size=4).map(
    lambda values: units_of_totals((4 * value, 4) for value in values)
)


@given(small_units, st.sampled_from([0.5, 0.8, 0.95]))
def test_the_exact_interval_is_what_all_resamples_give(sample: Units, level: float) -> None:
    found, means = exact_bootstrap_interval(sample, level=level), all_means(sample)
    tail = (1 - Fraction(str(level))) / 2
    assert found is not None
    assert found.low == float(quantile(means, tail))
    assert found.high == float(quantile(means, 1 - tail))


@given(small_units, small_units)
def test_the_exact_gap_is_what_all_pairs_of_resamples_give(one: Units, other: Units) -> None:
    ones, others = Counter(all_means(one)), Counter(all_means(other))
    gaps: Counter[Fraction] = Counter()
    for (a, n), (b, m) in product(ones.items(), others.items()):
        gaps[a - b] += n * m
    found, total = exact_bootstrap_gap(one, other), sum(gaps.values())
    low, high = (
        min(g for g in gaps if sum(n for h, n in gaps.items() if h <= g) * 40 >= share * total) for share in (1, 39)
    )
    assert found is not None
    assert (found.low, found.high) == (float(low), float(high))


@pytest.mark.parametrize(("successes", "of"), [(9, 28), (111, 172), (0, 5), (5, 5), (1, 400)])
def test_the_exact_interval_by_trial_is_scipys_binomial(successes: int, of: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    found = exact_bootstrap_interval(units_of_counts(successes, of))
    assert found is not None
    ends = [stats.binom.ppf(q, of, successes / of) / of for q in (0.025, 0.975)]
    assert [found.low, found.high] == pytest.approx(ends, abs=1e-12)


@pytest.mark.parametrize(
    ("others", "affected", "low", "high"),
    [(111, 9, 13.29, 50.66), (83, 12, -14.70, 25.00), (70, 10, -14.62, 23.84)],
)
def test_the_papers_gaps_have_these_exact_intervals(others: int, affected: int, low: float, high: float) -> None:
    found = exact_bootstrap_gap(units_of_counts(others, 172), units_of_counts(affected, 28))
    assert found is not None
    assert (round(100 * found.low, 2), round(100 * found.high, 2)) == (low, high)
    assert (found.method, found.by, found.units, found.resamples) == ("exact-bootstrap", "trials", 28, 0)


@given(st.dictionaries(st.integers(0, 4), st.integers(1, 3), min_size=1, max_size=3), st.integers(1, 4))
def test_weights_of_sums_count_every_sequence_of_draws(numbers: dict[int, int], draws: int) -> None:
    each = [value for value, number in numbers.items() for _ in range(number)]
    counted_one_by_one = Counter(sum(drawn) for drawn in product(each, repeat=draws))
    weights = sum_weights(numbers, draws)
    assert {s: w for s, w in enumerate(weights) if w} == counted_one_by_one
    assert sum(weights) == len(each) ** draws


def test_tasks_of_different_sizes_and_too_many_runs_are_sent_to_resampling() -> None:
    with pytest.raises(CallError, match="different numbers of trials"):
        exact_bootstrap_interval(units(runs("a", {"1": "11", "2": "0"})))
    with pytest.raises(CallError, match="Resample"):
        exact_bootstrap_interval(units_of_counts(1000, 2000))
    with pytest.raises(CallError, match="one kind"):
        exact_bootstrap_gap(units_of_counts(1, 2), units(counted("a", {"1": 1})))


def test_nothing_to_enumerate_is_none() -> None:
    assert exact_bootstrap_interval(units([])) is None
    assert exact_bootstrap_gap(units([]), units(counted("a", {"1": 1}))) is None


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(0, n))), st.data())
def test_the_overlap_test_is_scipys_hypergeometric(sizes: tuple[int, int, int], data: st.DataObject) -> None:
    stats = pytest.importorskip("scipy.stats")
    population, marked, drawn = sizes
    hits = data.draw(st.integers(max(0, marked + drawn - population), min(marked, drawn)))
    found = hypergeometric_overlap(population=population, marked=marked, drawn=drawn, hits=hits)
    assert found.p_value == pytest.approx(stats.hypergeom.sf(hits - 1, population, marked, drawn), rel=1e-9, abs=1e-12)


def test_the_overlap_test_counts_every_draw() -> None:
    marked = {0, 1, 2, 3}
    draws = [len(marked & set(drawn)) for drawn in combinations(range(9), 3)]
    for hits in range(4):
        found = hypergeometric_overlap(population=9, marked=4, drawn=3, hits=hits)
        assert found.exact == Fraction(sum(n >= hits for n in draws), len(draws))
        assert found.expected == pytest.approx(sum(draws) / len(draws))


def test_the_papers_seven_inside_twenty_nine_of_fifty_have_chance_1_56_percent() -> None:
    tasks = [str(i) for i in range(50)]
    found = overlap_of_tasks(tasks, tasks[:29], tasks[:7])
    assert found == hypergeometric_overlap(population=50, marked=29, drawn=7, hits=7)
    assert round(100 * found.p_value, 2) == 1.56


def test_sets_that_cannot_be_are_refused() -> None:
    with pytest.raises(CallError, match="cannot have"):
        hypergeometric_overlap(population=50, marked=29, drawn=7, hits=8)
    with pytest.raises(CallError, match="cannot have"):
        hypergeometric_overlap(population=5, marked=4, drawn=4, hits=2)
    with pytest.raises(CallError, match="not among"):
        overlap_of_tasks(["1"], ["1"], ["2"])


def test_a_gap_with_too_many_pairs_of_sums_is_sent_to_resampling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "_MOST_PAIRS", 5)
    with pytest.raises(CallError, match="gap has too many"):
        exact_bootstrap_gap(units_of_counts(1, 2), units_of_counts(1, 2))
