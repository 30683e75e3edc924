"""Intervals by name: of a success rate, of pass^k, of a gap between strata, and of a paired difference.

Which of them hold is measured by `benchmarks/interval_coverage.py`; its table is in the documentation of statistics.
The default is the beta-binomial posterior (`multigold.stats.beta_binomial`), because it covers as often as it says and
is no wider than the bootstrap, which covers less often.

- `beta-binomial`: the posterior of the mean over tasks.
- `bootstrap`: percentiles of resampled tasks, or trials (`multigold.stats.resampling`).
- `bca`: the same, corrected for bias and skewness (Efron), as computed by `scipy.stats.bootstrap`.
- `t`: mean of the tasks' rates, plus and minus Student's t times their standard error.
- `logit`: the same on the scale of log odds, by the delta method; what a logistic regression with an intercept and
  standard errors clustered by task gives. It has no interval where every trial ended alike.
- `effective-wilson`: Wilson's interval with as many trials as independent ones would have to be for the variance that
  is seen between tasks, at least one a task.
- `wilson`: Wilson's interval, as if all trials were independent.

A gap between strata is taken between two separate intervals by the method of variance estimates recovery, MOVER
(Newcombe 1998; Zou and Donner 2008: the distances of the limits from the estimates are squared and added), where the
method itself gives none. A difference between two agents on the same tasks has intervals of its own: see
`paired_interval`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import exp, log, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from multigold.errors import MissingExtraError
from multigold.stats.beta_binomial import Counts, difference_interval, posterior
from multigold.stats.exact import exact_bootstrap_gap, exact_bootstrap_interval
from multigold.stats.pass_k import pass_hat
from multigold.stats.rates import Interval, IntervalMethod, check_level, wilson_interval
from multigold.stats.resampling import RESAMPLES, bootstrap_gap, bootstrap_interval, import_numpy, units_of_totals
from multigold.stats.rows import check_option

if TYPE_CHECKING:
    import numpy as np

METHODS: Mapping[IntervalMethod, str] = {
    "beta-binomial": "beta-binomial posterior by tasks",
    "bootstrap": "percentile bootstrap",
    "bca": "bootstrap by tasks, corrected for bias and skewness (BCa)",
    "t": "Student's t over the tasks' rates",
    "logit": "log odds with standard errors clustered by task",
    "effective-wilson": "Wilson with the effective number of trials",
    "wilson": "Wilson, every trial taken as independent",
}
"""The methods that can be chosen, in a few words each; the first is the default."""

DEFAULT: IntervalMethod = "beta-binomial"

DRAWN = ("bootstrap", "bca")
"""The methods that draw at random."""

PSEUDO_TASKS = 2
"""Tasks that `paired_interval` adds; one for each half of the pairs that Agresti and Min add to four cells."""

FEW = 5
"""Fewest tasks for which coverage was measured; below, an interval says more of the model than of the tasks."""


@attrs.frozen(kw_only=True)
class IntervalSettings:
    """How intervals are computed.

    Attributes:
        method: See `METHODS`.
        level: Coverage, between 0 and 1.
        rng: The source of randomness of methods that draw; None for an exact bootstrap, where it can be enumerated.
        resamples: How many resamples they draw.
    """

    method: IntervalMethod = DEFAULT
    level: float = 0.95
    rng: np.random.Generator | None = None
    resamples: int = RESAMPLES

    def __attrs_post_init__(self) -> None:
        check_option("interval", self.method, METHODS)
        check_level(self.level)


def rate_interval(counts: Iterable[Counts], settings: IntervalSettings | None = None) -> Interval | None:
    """Return the interval of the success rate of one agent on tasks like these.

    Args:
        counts: Successes and trials of each task.
        settings: How.

    Returns:
        The interval; None where the method has none for such counts.

    Raises:
        CallError: The counts make no sense, or no generator is given and the bootstrap cannot be enumerated.
        MissingExtraError: The method needs a library that is not installed.
    """
    settings = settings or IntervalSettings()
    kept = [(successes, trials) for successes, trials in counts if trials]
    return _RATES[settings.method](kept, settings) if kept else None


def pass_hat_interval(counts: Iterable[Counts], k: int, settings: IntervalSettings | None = None) -> Interval | None:
    """Return the interval of pass^k: the chance that k trials of a task like these all succeed.

    Every method but the posterior and the bootstraps takes each task's own estimate as one number per task, by `t`.

    Args:
        counts: Successes and trials of each task; those with fewer than k trials are left out, as in the estimate.
        k: How many trials.
        settings: How.
    """
    settings = settings or IntervalSettings()
    kept = [(successes, trials) for successes, trials in counts if trials >= k]
    values = [value for successes, trials in kept if (value := pass_hat(successes, trials, k)) is not None]
    if not values:
        return None
    if settings.method == "beta-binomial":
        low, high = posterior(kept).pass_hat_interval(k, settings.level)
        return _made((low, high), settings, kept)
    return value_interval(values, settings)


def pass_at_interval(counts: Iterable[Counts], k: int, settings: IntervalSettings | None = None) -> Interval | None:
    """Return the interval of pass@k: the chance that k trials of a task like these do not all fail."""
    turned = pass_hat_interval([(trials - successes, trials) for successes, trials in counts], k, settings)
    return None if turned is None else attrs.evolve(turned, low=1 - turned.high, high=1 - turned.low)


def value_interval(values: Sequence[Fraction], settings: IntervalSettings | None = None) -> Interval | None:
    """Return the interval of the mean of one number per task, such as a variance: by bootstrap, or by Student's t."""
    settings = settings or IntervalSettings()
    if settings.method == "bootstrap":
        return _bootstrap_of([(value, 1) for value in values], settings)
    if settings.method == "bca":
        return _bca([(value, 1) for value in values], settings)
    return _t_of(list(map(float, values)), settings)


def gap_interval(
    minuend: Iterable[Counts], subtrahend: Iterable[Counts], settings: IntervalSettings | None = None
) -> Interval | None:
    """Return the interval of the difference of two success rates on different tasks, `minuend - subtrahend`.

    Args:
        minuend: Successes and trials of each task of one stratum.
        subtrahend: The same of the other.
        settings: How.
    """
    settings = settings or IntervalSettings()
    one, other = ([(c, n) for c, n in counts if n] for counts in (minuend, subtrahend))
    if not one or not other:
        return None
    fewer = min(one, other, key=len)
    if settings.method == "beta-binomial":
        return _made(difference_interval(posterior(one), posterior(other), settings.level), settings, fewer)
    if settings.method == "bootstrap":
        units, others = (units_of_totals((Fraction(c), n) for c, n in counts) for counts in (one, other))
        if settings.rng is None:
            return exact_bootstrap_gap(units, others, level=settings.level)
        return bootstrap_gap(units, others, settings.rng, resamples=settings.resamples, level=settings.level)
    first, second = rate_interval(one, settings), rate_interval(other, settings)
    if first is None or second is None:
        return None
    return _made(_mover(_rate(one), first, _rate(other), second), settings, fewer)


def _mover(one: float, first: Interval, other: float, second: Interval) -> tuple[float, float]:
    """Return the limits of a difference from those of its two parts, which are independent."""
    low = one - other - sqrt((one - first.low) ** 2 + (second.high - other) ** 2)
    high = one - other + sqrt((first.high - one) ** 2 + (other - second.low) ** 2)
    return max(-1.0, low), min(1.0, high)


# The methods


def _beta_binomial(counts: Sequence[Counts], settings: IntervalSettings) -> Interval:
    return _made(posterior(counts).interval(settings.level), settings, counts)


def _bootstrap(counts: Sequence[Counts], settings: IntervalSettings) -> Interval | None:
    return _bootstrap_of([(Fraction(successes), trials) for successes, trials in counts], settings)


def _bootstrap_of(totals: Sequence[tuple[Fraction, int]], settings: IntervalSettings) -> Interval | None:
    units = units_of_totals(totals)
    if settings.rng is None:
        return exact_bootstrap_interval(units, level=settings.level)
    return bootstrap_interval(units, settings.rng, resamples=settings.resamples, level=settings.level)


def _bca_of_counts(counts: Sequence[Counts], settings: IntervalSettings) -> Interval | None:
    return _bca([(Fraction(successes), trials) for successes, trials in counts], settings)


def _bca(totals: Sequence[tuple[Fraction, int]], settings: IntervalSettings) -> Interval | None:
    """Return scipy's interval; None where all tasks have the same figure, so that there is nothing to correct by."""
    if len({total / size for total, size in totals}) < 2 or settings.rng is None:
        return None
    np, stats = import_numpy(), import_scipy_stats()
    values = np.array([float(total) for total, _ in totals])
    sizes = np.array([float(size) for _, size in totals])
    found = stats.bootstrap(
        (values, sizes),
        lambda x, n, axis=-1: x.sum(axis=axis) / n.sum(axis=axis),
        paired=True,
        n_resamples=settings.resamples,
        confidence_level=settings.level,
        method="BCa",
        rng=settings.rng,
    ).confidence_interval
    return _made((float(found.low), float(found.high)), settings, totals, resamples=settings.resamples)


def _t(counts: Sequence[Counts], settings: IntervalSettings) -> Interval | None:
    return _t_of([successes / trials for successes, trials in counts], settings)


def _t_of(values: Sequence[float], settings: IntervalSettings) -> Interval | None:
    if len(values) < 2 or len(set(values)) < 2:
        return None
    middle, error = _mean_and_error(values)
    reach = t_quantile(settings.level, len(values) - 1) * error
    return _made((max(0.0, middle - reach), min(1.0, middle + reach)), settings, values)


def _logit(counts: Sequence[Counts], settings: IntervalSettings) -> Interval | None:
    """Return the interval on the scale of log odds; the variance is that of the sum of each task's residuals."""
    rate, number = _rate(counts), len(counts)
    if not 0 < rate < 1 or number < 2:
        return None
    trials = sum(n for _, n in counts)
    residuals = sum((c - n * rate) ** 2 for c, n in counts) * number / (number - 1)
    error = sqrt(residuals) / (trials * rate * (1 - rate))
    reach = t_quantile(settings.level, number - 1) * error
    middle = log(rate / (1 - rate))
    return _made((1 / (1 + exp(reach - middle)), 1 / (1 + exp(-reach - middle))), settings, counts)


def _effective_wilson(counts: Sequence[Counts], settings: IntervalSettings) -> Interval:
    rate, number = _rate(counts), len(counts)
    trials = sum(n for _, n in counts)
    effective = float(number)
    if number > 1 and 0 < rate < 1:
        _, error = _mean_and_error([c / n for c, n in counts])
        effective = min(float(trials), max(float(number), rate * (1 - rate) / error**2)) if error else float(trials)
    z = NormalDist().inv_cdf((1 + settings.level) / 2)
    weight = z * z / effective
    middle = rate + weight / 2
    reach = z * sqrt(rate * (1 - rate) / effective + weight / (4 * effective))
    ends = (max(0.0, (middle - reach) / (1 + weight)), min(1.0, (middle + reach) / (1 + weight)))
    return _made(ends, settings, counts)


def _wilson(counts: Sequence[Counts], settings: IntervalSettings) -> Interval | None:
    successes, trials = (sum(numbers) for numbers in zip(*counts, strict=True))
    return wilson_interval(successes, trials, level=settings.level)


_Finder: TypeAlias = Callable[[Sequence[Counts], IntervalSettings], Interval | None]

_RATES: Mapping[IntervalMethod, _Finder] = {
    "beta-binomial": _beta_binomial,
    "bootstrap": _bootstrap,
    "bca": _bca_of_counts,
    "t": _t,
    "logit": _logit,
    "effective-wilson": _effective_wilson,
    "wilson": _wilson,
}


# Paired differences


def paired_interval(
    differences: Sequence[Fraction], *, trials: float = 1.0, level: float = 0.95
) -> tuple[float, float] | None:
    """Return the interval of the mean difference of two agents on tasks like these.

    The mean and its standard error, with two pseudo-tasks added: on one either agent is ahead by what chance between
    trials makes at most, 1 / sqrt(trials). With one trial per task that is the adjusted interval for matched
    proportions of Agresti and Min (Stat. Med. 24 (2005) 729), which adds half a pair to each cell of the table. Without
    it, two agents that differ on no task would differ by 0 for certain.

    Args:
        differences: One per task, -1..1.
        trials: Trials per task and agent, on average.
        level: Coverage.

    Returns:
        The ends; None without tasks.
    """
    check_level(level)
    number = len(differences)
    if not number:
        return None
    weight = number + PSEUDO_TASKS
    total = float(sum(differences, Fraction(0)))
    squares = float(sum((d * d for d in differences), Fraction(0))) + PSEUDO_TASKS / 2 / max(1.0, trials)
    middle = total / weight
    error = sqrt(max(0.0, squares - total * total / weight)) / weight
    reach = NormalDist().inv_cdf((1 + level) / 2) * error
    return max(-1.0, middle - reach), min(1.0, middle + reach)


# Helpers


def _made(
    ends: tuple[float, float], settings: IntervalSettings, units: Sequence[object], *, resamples: int = 0
) -> Interval:
    return Interval(
        low=ends[0],
        high=ends[1],
        level=settings.level,
        method=settings.method,
        by="tasks",
        units=len(units),
        resamples=resamples,
        note=_caution(len(units)),
    )


def _caution(tasks: int) -> str:
    if tasks >= FEW:
        return ""
    return f"{'one task' if tasks == 1 else f'{tasks} tasks'}: the interval says more of the method than of the agent"


def _rate(counts: Sequence[Counts]) -> float:
    return sum(c for c, _ in counts) / sum(n for _, n in counts)


def _mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    middle = sum(values) / len(values)
    variance = sum((value - middle) ** 2 for value in values) / (len(values) - 1)
    return middle, sqrt(variance / len(values))


def t_quantile(level: float, freedom: int) -> float:
    """Return how many standard errors a two-sided interval by Student's t reaches."""
    return float(import_scipy_stats().t.ppf((1 + level) / 2, freedom))


def import_scipy_stats() -> Any:
    """Return `scipy.stats`, imported only now.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        from scipy import stats
    except ImportError:
        raise MissingExtraError(
            "this interval needs scipy, which is not installed.",
            remedy='Install it with: pip install "multigold[stats]"; or use the default, which needs no library.',
        ) from None
    return stats
