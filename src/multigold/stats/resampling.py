"""Bootstrap intervals of a rate and of a gap between strata, by trial or by task.

A bootstrap draws units with replacement, as many as there are, and takes the percentiles of what comes out (Efron and
Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3). Two kinds of unit are offered. `trials` takes every
run as a draw of its own; the paper's intervals are of this kind (its appendix A.4: both strata resampled
independently at the trial level, at their sizes). `tasks`, the default, draws tasks with all their trials, because four
trials of one task are not four tasks: tasks are what a benchmark samples, and trials of one task resemble each other
(Miller, Adding Error Bars to Evals, arXiv 2411.00640, section 2.2; Cameron and Miller, J. Hum. Resour. 50 (2015) 317).

Units that look alike are interchangeable, so what is drawn is how often each *kind* of unit comes up: one multinomial
draw per resample. That is the same distribution as drawing the units one by one; it does not depend on their
order, and its cost does not grow with their number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from multigold.errors import CallError, MissingExtraError
from multigold.stats.rates import BY, By, Interval, check_level
from multigold.stats.rows import MISSING, Missing, RunRow, cells, check_option

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Draws: TypeAlias = NDArray[np.float64]

RESAMPLES = 10_000
"""Resamples drawn by default, as in the paper."""

FEW_TASKS = 20
"""Below this many tasks a clustered percentile interval tends to be too narrow (Cameron and Miller, section VI)."""

_BLOCK = 4_000_000
"""Most numbers held at once while drawing."""


@attrs.frozen(kw_only=True)
class Units:
    """What is resampled: kinds of unit, and how many there are of each.

    Attributes:
        by: What a unit is.
        counts: `(total, size)` to the number of such units. For a success rate, a unit's total is its successes, its
            size its trials. The metric is the sum of totals by the sum of sizes.
        number: How many units there are.
        value: The metric itself; None if there are no units.
    """

    by: By
    counts: Mapping[tuple[Fraction, int], int]
    number: int = attrs.field(init=False)
    value: Fraction | None = attrs.field(init=False)

    @number.default
    def _count(self) -> int:
        return sum(self.counts.values())

    @value.default
    def _figure(self) -> Fraction | None:
        size = sum(size * number for (_, size), number in self.counts.items())
        return sum((total * number for (total, _), number in self.counts.items()), Fraction(0)) / size if size else None


def units(
    rows: Iterable[RunRow],
    *,
    by: By = "tasks",
    missing: Missing = "left_out",
    planned: int | None = None,
    tasks: Iterable[str] = (),
) -> Units:
    """Return the units of a success rate.

    With `by="tasks"` a unit is a task with all its trials by all agents in the rows; tasks without a trial that counts
    are not units.

    Args:
        rows: The runs, in any order.
        by: What a unit is.
        missing: The convention for missing trials.
        planned: Trials planned of each task, as in `rates.success_rate`.
        tasks: Names of tasks that should be there.

    Raises:
        CallError: `by` or `missing` is not an option.
    """
    check_option("by", by, BY)
    check_option("missing", missing, MISSING)
    clusters: dict[str, tuple[int, int]] = {}
    for cell in cells(rows, planned=planned, tasks=tasks):
        successes, trials = clusters.get(cell.task, (0, 0))
        clusters[cell.task] = (successes + cell.successes, trials + cell.trials(missing))
    if by == "trials":
        return units_of_counts(
            sum(successes for successes, _ in clusters.values()), sum(trials for _, trials in clusters.values())
        )
    return units_of_totals((Fraction(successes), trials) for successes, trials in clusters.values() if trials)


def units_of_counts(successes: int, of: int) -> Units:
    """Return the units of a success rate by trial, from its counts.

    Raises:
        CallError: The counts are impossible.
    """
    if not 0 <= successes <= of:
        raise CallError(f"there cannot be {successes} successes in {of} runs.")
    kinds = {(Fraction(1), 1): successes, (Fraction(0), 1): of - successes}
    return Units(by="trials", counts={kind: number for kind, number in kinds.items() if number})


def units_of_totals(totals: Iterable[tuple[Fraction, int]]) -> Units:
    """Return units, one per task, from each task's total and size.

    For the mean over tasks of any metric, such as pass^k or a variance, a task's total is the sum of its metrics and
    its size is how many there are.
    """
    return Units(by="tasks", counts=Counter(totals))


def generator(seed: int, *names: str) -> np.random.Generator:
    """Return a generator for one metric.

    Without names it is `numpy.random.default_rng(seed)`'s. With names, the stream depends on them too, so that a metric
    keeps its interval whichever other metrics are computed, and in whatever order.

    Args:
        seed: The seed, 0 or more.
        names: What the metric is called, such as agent, domain and stratum.

    Raises:
        CallError: The seed is negative.
        MissingExtraError: numpy is not installed.
    """
    numpy = import_numpy()
    if seed < 0:
        raise CallError(f"a seed is 0 or more; this one is {seed}.")
    digest = sha256("\0".join(names).encode()).digest() if names else b""
    words = [int.from_bytes(digest[i : i + 4], "big") for i in range(0, len(digest), 4)]
    source = numpy.random.SeedSequence([seed, *words] if words else seed)
    made: np.random.Generator = numpy.random.Generator(numpy.random.PCG64(source))
    return made


def bootstrap_interval(
    sample: Units, rng: np.random.Generator, *, resamples: int = RESAMPLES, level: float = 0.95
) -> Interval | None:
    """Return a percentile bootstrap interval of a metric; None if there are no units.

    Args:
        sample: The units.
        rng: The source of randomness.
        resamples: How many resamples to draw.
        level: Coverage, between 0 and 1.

    Raises:
        CallError: `resamples` or `level` makes no sense.
        MissingExtraError: numpy is not installed.
    """
    check_level(level)
    if sample.value is None:
        return None
    return _percentiles(_draws(sample, rng, resamples), (sample,), level)


def bootstrap_gap(
    minuend: Units, subtrahend: Units, rng: np.random.Generator, *, resamples: int = RESAMPLES, level: float = 0.95
) -> Interval | None:
    """Return a percentile bootstrap interval of the difference of two metrics, `minuend - subtrahend`.

    The two are resampled independently, each at its own size (the paper, appendix A.4), so they must share no task.
    None if one of them has no units.

    Args:
        minuend: The units of one stratum, for the paper's gap the unaffected one.
        subtrahend: The units of the other.
        rng: The source of randomness.
        resamples: How many resamples to draw.
        level: Coverage, between 0 and 1.

    Raises:
        CallError: The two are of different kinds, or `resamples` or `level` makes no sense.
        MissingExtraError: numpy is not installed.
    """
    check_level(level)
    check_same_kind(minuend, subtrahend)
    if minuend.value is None or subtrahend.value is None:
        return None
    drawn = _draws(minuend, rng, resamples) - _draws(subtrahend, rng, resamples)
    return _percentiles(drawn, (minuend, subtrahend), level)


def check_same_kind(one: Units, other: Units) -> None:
    """Refuse to take the gap between trials and tasks.

    Raises:
        CallError: The kinds differ.
    """
    if one.by != other.by:
        raise CallError(f"a gap needs units of one kind; these are {one.by} and {other.by}.")


def caution(samples: Iterable[Units]) -> str:
    """Return what to know before trusting a bootstrap of these units; empty if there is nothing."""
    samples = tuple(samples)
    if all(len({total / size for total, size in sample.counts}) == 1 for sample in samples):
        return f"all {samples[0].by} have the same result: a bootstrap cannot show how uncertain it is"
    fewest = min(sample.number for sample in samples)
    if samples[0].by == "tasks" and fewest < FEW_TASKS:
        return f"{fewest} {'task is' if fewest == 1 else 'tasks are'} few: the interval is likely too narrow"
    return ""


def _percentiles(drawn: Draws, samples: tuple[Units, ...], level: float) -> Interval:
    np = import_numpy()
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]).tolist()
    fewest = min(sample.number for sample in samples)
    return Interval(
        low=low,
        high=high,
        level=level,
        method="bootstrap",
        by=samples[0].by,
        units=fewest,
        resamples=len(drawn),
        note=caution(samples),
    )


def _draws(sample: Units, rng: np.random.Generator, resamples: int) -> Draws:
    np = import_numpy()
    if resamples < 1:
        raise CallError(f"a bootstrap needs at least one resample, not {resamples}.")
    kinds = sorted(sample.counts)
    totals = np.array([float(total) for total, _ in kinds])
    sizes = np.array([size for _, size in kinds], dtype=np.float64)
    shares = np.array([sample.counts[kind] for kind in kinds]) / sample.number
    blocks = [
        _ratio(rng.multinomial(sample.number, shares, size=size), totals, sizes)
        for size in _block_sizes(resamples, max(1, _BLOCK // len(kinds)))
    ]
    drawn: Draws = np.concatenate(blocks)
    return drawn


def _ratio(times: NDArray[np.int64], totals: Draws, sizes: Draws) -> Draws:
    ratio: Draws = (times @ totals) / (times @ sizes)
    return ratio


def _block_sizes(total: int, most: int) -> Iterator[int]:
    for start in range(0, total, most):
        yield min(most, total - start)


def import_numpy() -> Any:
    """Return numpy, imported only now.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        import numpy
    except ImportError:
        raise MissingExtraError(
            "resampling needs numpy, which is not installed.",
            remedy='Install it with: pip install "multigold[stats]"; or do without, with --resamples 0.',
        ) from None
    return numpy
