"""Intervals against independent computations, and what no interval may ever say."""

from __future__ import annotations

import sys
from fractions import Fraction
from math import sqrt
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multigold.errors import CallError
from multigold.stats.beta_binomial import difference_interval, posterior, weighted_quantile
from multigold.stats.intervals import (
    METHODS,
    IntervalSettings,
    gap_interval,
    paired_interval,
    pass_at_interval,
    pass_hat_interval,
    rate_interval,
)
from multigold.stats.resampling import generator

np = pytest.importorskip("numpy")
scipy_stats = pytest.importorskip("scipy.stats")

SEVEN = [(0, 4), (4, 4), (2, 4), (0, 4), (1, 4), (3, 4), (4, 4)]
RAGGED = [(0, 3), (5, 8), (2, 2), (1, 1), (0, 1), (7, 8), (3, 4)]

some_counts = st.lists(
    st.integers(1, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=8
)


def by_quadrature(counts: list[tuple[int, int]], k: int = 1) -> tuple[float, float, float]:
    """The posterior of pass^k by brute force on a fine grid, with scipy's own beta function: ends, and mean."""
    from scipy.special import betaln

    mean = ((np.arange(1500) + 0.5) / 1500)[:, None]
    correlation = ((np.arange(500) + 0.5) / 500)[None, :]
    spread = 1 / correlation - 1
    a, b = mean * spread, (1 - mean) * spread
    log_likelihood = sum(betaln(a + c, b + n - c) - betaln(a, b) for c, n in counts)
    weights = np.exp(log_likelihood - log_likelihood.max())
    weights /= weights.sum()
    values = np.ones_like(weights)
    for j in range(k):
        values = values * (a + j) / (spread + j)
    order = np.argsort(values, axis=None)
    reached = np.cumsum(weights.ravel()[order])
    low, high = (values.ravel()[order][np.searchsorted(reached, share)] for share in (0.025, 0.975))
    return float(low), float(high), float((values * weights).sum())


@pytest.mark.parametrize("counts", [SEVEN, RAGGED, [(3, 4)] * 40 + [(0, 4)] * 20])
@pytest.mark.parametrize("k", [1, 3])
def test_the_posterior_is_the_one_that_brute_force_gives(counts: list[tuple[int, int]], k: int) -> None:
    found = posterior(counts)
    low, high, mean = by_quadrature(counts, k)
    assert found.pass_hat_interval(k) == pytest.approx((low, high), abs=0.004)
    assert found.pass_hat(k) == pytest.approx(mean, abs=0.001)
    if k == 1:
        assert found.interval() == pytest.approx((low, high), abs=0.002)


@given(st.integers(1, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
@settings(max_examples=25)
def test_with_one_trial_a_task_it_is_the_binomial_posterior(counts: tuple[int, int]) -> None:
    successes, tasks = counts
    found = posterior([(1, 1)] * successes + [(0, 1)] * (tasks - successes)).interval()
    beta = scipy_stats.beta(successes + 1, tasks - successes + 1)
    if successes == tasks:
        expected = (beta.ppf(0.05), 1.0)
    elif successes == 0:
        expected = (0.0, beta.ppf(0.95))
    else:
        expected = (beta.ppf(0.025), beta.ppf(0.975))
    assert found == pytest.approx(expected, abs=0.002)


def test_shrinking_pulls_each_task_towards_the_others() -> None:
    """Four of four is not certain; by hand at each point of the posterior."""
    found = posterior(SEVEN)
    raw = [sum((c / n) ** 1 for c, n in SEVEN) / 7]
    shrunk = found.shrunk_pass_hats(5)
    assert shrunk[0] == pytest.approx(raw[0], abs=0.02)
    assert shrunk == sorted(shrunk, reverse=True)
    assert posterior([(4, 4), (4, 4), (4, 4)]).shrunk_pass_hats(4)[3] < 1
    by_hand = sum(
        node.weight
        * sum(
            (node.mean * node.spread + c)
            * (node.mean * node.spread + c + 1)
            / ((node.spread + n) * (node.spread + n + 1))
            for c, n in SEVEN
        )
        / 7
        for node in found.nodes
    )
    assert shrunk[1] == pytest.approx(by_hand)


def test_the_logit_interval_is_that_of_a_logistic_regression_clustered_by_task() -> None:
    api = pytest.importorskip("statsmodels.api")
    outcomes = np.array([float(i < c) for c, n in RAGGED for i in range(n)])
    groups = np.array([task for task, (_, n) in enumerate(RAGGED) for _ in range(n)])
    fitted = api.Logit(outcomes, np.ones_like(outcomes)).fit(
        disp=0, cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
    )
    number = len(RAGGED)
    error = float(fitted.bse[0]) * sqrt(number / (number - 1))
    reach = scipy_stats.t.ppf(0.975, number - 1) * error
    expected = [1 / (1 + np.exp(-(float(fitted.params[0]) + sign * reach))) for sign in (-1, 1)]
    found = rate_interval(RAGGED, IntervalSettings(method="logit"))
    assert found is not None
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-6)


def test_the_t_interval_is_that_of_scipy() -> None:
    values = [c / n for c, n in SEVEN]
    expected = scipy_stats.ttest_1samp(values, 0).confidence_interval(0.95)
    found = rate_interval(SEVEN, IntervalSettings(method="t"))
    assert found is not None
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_the_effective_wilson_interval_is_wilsons_where_trials_are_independent_tasks() -> None:
    single = [(1, 1)] * 7 + [(0, 1)] * 13
    expected = scipy_stats.binomtest(7, 20).proportion_ci(0.95, "wilson")
    for method in ("wilson", "effective-wilson"):
        found = rate_interval(single, IntervalSettings(method=method))
        assert found is not None
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.006)


def test_the_paired_interval_is_the_published_one_for_matched_pairs() -> None:
    """b = 10 and c = 3 discordant pairs of 50: Agresti and Min's adjusted interval, worked out from their formula."""
    differences = [Fraction(1)] * 3 + [Fraction(-1)] * 10 + [Fraction(0)] * 37
    middle, z = (3 - 10) / 52, scipy_stats.norm.ppf(0.975)
    error = sqrt(10 + 3 + 1 - (3 - 10) ** 2 / 52) / 52
    assert paired_interval(differences) == pytest.approx((middle - z * error, middle + z * error))


def test_two_agents_that_never_differ_may_still_differ() -> None:
    low, high = paired_interval([Fraction(0)] * 5, trials=4) or (0.0, 0.0)
    assert low < 0 < high
    assert paired_interval([]) is None


@given(some_counts)
@settings(max_examples=40, deadline=None)
def test_no_interval_is_ever_a_point_and_each_holds_its_estimate_if_all_ended_alike(
    counts: list[tuple[int, int]],
) -> None:
    found = rate_interval(counts)
    assert found is not None
    assert 0 <= found.low < found.high <= 1
    wins, trials = (sum(numbers) for numbers in zip(*counts, strict=True))
    if wins in (0, trials):
        assert found.low <= wins / trials <= found.high
    hat, at = pass_hat_interval(counts, 1), pass_at_interval(counts, 1)
    assert hat is not None
    assert at is not None
    assert (hat.low, hat.high) == pytest.approx((at.low, at.high), abs=1e-9)


@given(some_counts, st.randoms())
@settings(max_examples=15, deadline=None)
def test_the_order_of_tasks_changes_no_interval(counts: list[tuple[int, int]], random: object) -> None:
    shuffled = list(counts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert rate_interval(counts) == rate_interval(shuffled)


def test_a_gap_of_two_posteriors_is_what_drawing_from_both_gives() -> None:
    one, other = posterior(SEVEN * 4), posterior(RAGGED)
    rng = np.random.default_rng(3)

    def drawn(found: object, number: int) -> object:
        values, weights = zip(*found.means, strict=True)  # type: ignore[attr-defined]
        return rng.choice(values, number, p=np.array(weights) / sum(weights))

    sample = drawn(one, 200_000) - drawn(other, 200_000)  # type: ignore[operator]
    assert difference_interval(one, other) == pytest.approx(np.quantile(sample, [0.025, 0.975]).tolist(), abs=0.006)


def test_all_against_none_is_a_gap_of_one_and_not_for_certain() -> None:
    found = gap_interval([(4, 4)] * 6, [(0, 4)] * 6)
    assert found is not None
    assert found.low < found.high == 1.0


def test_a_gap_without_a_posterior_is_by_recovered_variances() -> None:
    """Newcombe's hybrid score interval, his example: 56 of 70 against 48 of 80 is 0.0524 to 0.3339."""
    one, other = [(1, 1)] * 56 + [(0, 1)] * 14, [(1, 1)] * 48 + [(0, 1)] * 32
    found = gap_interval(one, other, IntervalSettings(method="wilson"))
    assert found is not None
    assert (found.low, found.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)


@pytest.mark.parametrize("method", list(METHODS))
def test_every_method_gives_something_or_nothing_but_no_nonsense(method: str) -> None:
    how = IntervalSettings(method=method, rng=generator(1), resamples=200)
    for counts in (SEVEN, RAGGED, [(1, 1)], [(4, 4)] * 3, [(0, 2)]):
        found = rate_interval(counts, how)
        assert found is None or 0 <= found.low <= found.high <= 1
    assert rate_interval([], how) is None
    assert gap_interval([], SEVEN, how) is None


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(CallError, match="impossible"):
        posterior([(3, 2)])
    with pytest.raises(CallError, match="without a trial"):
        posterior([(0, 0)])
    with pytest.raises(CallError, match="interval must be one of"):
        IntervalSettings(method="guess")


def test_a_weighted_quantile_lies_between_its_values() -> None:
    pairs = [(0.0, 1.0), (1.0, 1.0), (2.0, 2.0)]
    assert weighted_quantile(pairs, 0.0) == 0.0
    assert weighted_quantile(pairs, 1.0) == 2.0
    assert weighted_quantile(pairs, 0.375) == pytest.approx(1.0)


def test_the_shipped_simulation_shows_what_the_documentation_says() -> None:
    """A short, seeded run: the default covers where the old one did not, and is not wider."""
    folder = Path(__file__).parents[2] / "benchmarks"
    if not folder.is_dir():
        pytest.skip("the benchmarks are not here")
    sys.path.insert(0, str(folder))
    try:
        import interval_coverage
    finally:
        sys.path.remove(str(folder))
    found = interval_coverage.averaged(
        [interval_coverage.measure("success rate", tasks, trials, 20, 0) for tasks, trials in ((7, 4), (12, 2))]
    )
    assert found["beta-binomial"]["coverage"] >= 0.94 > found["bootstrap"]["coverage"]
    assert found["beta-binomial"]["width"] <= found["bootstrap"]["width"] * 1.03
