"""Exact distributions: the bootstrap by enumeration, and the overlap of two sets of tasks. Whole numbers throughout.

The bootstrap's distribution is known where units have one size: the sum of n draws has the n-fold convolution of the
units' distribution, and the gap between two strata has the convolution of the two. Convolution is multiplication of
polynomials, and a polynomial with non-negative whole coefficients fits into one large integer, each coefficient in its
slot, so that the n-fold convolution is that integer to the n-th power.

For trials the sum is binomial, and these are the intervals that the paper's 10,000 draws approximate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction
from itertools import product
from math import comb, lcm

import attrs

from multigold.errors import CallError
from multigold.stats.rates import Interval, check_level
from multigold.stats.resampling import Units, caution, check_same_kind

_MOST_BITS = 1 << 22
"""Largest integer that a convolution may fill: half a second of work."""

_MOST_PAIRS = 1_000_000
"""Most pairs of sums that a gap is enumerated over."""

_RESAMPLE = "Resample instead, with a generator."


@attrs.frozen(kw_only=True)
class TaskOverlap:
    """How surprising the overlap of two sets of tasks is.

    Attributes:
        population: Tasks in all.
        marked: Tasks in the first set.
        drawn: Tasks in the second.
        hits: Tasks in both.
        expected: Mean number in both by chance.
        exact: Chance of at least `hits`, as a fraction.
        p_value: The same as a float.
    """

    population: int
    marked: int
    drawn: int
    hits: int
    expected: float
    exact: Fraction
    p_value: float


def exact_bootstrap_interval(sample: Units, *, level: float = 0.95) -> Interval | None:
    """Return the percentile interval that a bootstrap of infinitely many resamples has; None without units.

    An end is the smallest value whose cumulative probability reaches the percentile.

    Args:
        sample: The units; all of one size.
        level: Coverage, between 0 and 1.

    Raises:
        CallError: The units differ in size, there are too many to enumerate, or the level makes no sense.
    """
    check_level(level)
    if sample.value is None:
        return None
    return _interval(_mean_weights(sample), (sample,), level)


def exact_bootstrap_gap(minuend: Units, subtrahend: Units, *, level: float = 0.95) -> Interval | None:
    """Return the same for the difference of two metrics that are resampled independently.

    Args:
        minuend: The units of one stratum.
        subtrahend: The units of the other; what it has is taken away.
        level: Coverage, between 0 and 1.

    Raises:
        CallError: As for one metric; or the two are of different kinds.
    """
    check_level(level)
    check_same_kind(minuend, subtrahend)
    if minuend.value is None or subtrahend.value is None:
        return None
    ones, others = _mean_weights(minuend), _mean_weights(subtrahend)
    if len(ones) * len(others) > _MOST_PAIRS:
        raise CallError("the gap has too many values to enumerate.", remedy=_RESAMPLE)
    scale = lcm(*(value.denominator for value in (*ones, *others)))
    gaps: Counter[int] = Counter()
    for (one, weight), (other, factor) in product(_scaled(ones, scale), _scaled(others, scale)):
        gaps[one - other] += weight * factor
    return _interval({Fraction(gap, scale): weight for gap, weight in gaps.items()}, (minuend, subtrahend), level)


def sum_weights(numbers: Mapping[int, int], draws: int) -> list[int]:
    """Return in how many ways each sum comes up when values are drawn with replacement.

    Args:
        numbers: Value, 0 or more, to how many units have it.
        draws: How many units are drawn.

    Returns:
        For each sum from 0 to `draws` times the largest value, the number of sequences of draws that have it; they add
        up to the number of units to the power of `draws`.

    Raises:
        CallError: There are too many values to enumerate.
    """
    slot = (draws * sum(numbers.values()).bit_length() + 8) // 8  # bytes; no coefficient can overflow it
    length = draws * max(numbers) + 1
    if slot * length * 8 > _MOST_BITS:
        raise CallError("the bootstrap has too many values to enumerate.", remedy=_RESAMPLE)
    packed = sum(number << (8 * slot * value) for value, number in numbers.items()) ** draws
    return unpack(packed, slot, length)


def unpack(packed: int, slot: int, length: int) -> list[int]:
    """Return the coefficients of a polynomial that is packed into an integer.

    Args:
        packed: The integer.
        slot: Bytes per coefficient.
        length: How many coefficients there are.
    """
    raw = packed.to_bytes(slot * length, "little")
    return [int.from_bytes(raw[i : i + slot], "little") for i in range(0, slot * length, slot)]


def hypergeometric_overlap(*, population: int, marked: int, drawn: int, hits: int) -> TaskOverlap:
    """Return the chance that two independent sets of tasks share at least so many.

    P(X >= hits) = sum over x of C(marked, x) C(population - marked, drawn - x) / C(population, drawn): Fisher's exact
    test, one-sided (Fisher, J. R. Stat. Soc. 98 (1935) 39). The paper's case is 29 of 50 tasks changed, and all 7 of
    its affected tasks among them.

    Args:
        population: Tasks in all.
        marked: Size of one set.
        drawn: Size of the other.
        hits: Tasks in both.

    Raises:
        CallError: Such sets are impossible.
    """
    lowest, highest = max(0, drawn + marked - population), min(marked, drawn)
    if not (0 <= marked <= population and 0 <= drawn <= population and lowest <= hits <= highest):
        raise CallError(f"two sets of {marked} and {drawn} out of {population} tasks cannot have {hits} in common.")
    ways = sum(comb(marked, x) * comb(population - marked, drawn - x) for x in range(hits, highest + 1))
    exact = Fraction(ways, comb(population, drawn))
    return TaskOverlap(
        population=population,
        marked=marked,
        drawn=drawn,
        hits=hits,
        expected=marked * drawn / population if population else 0.0,
        exact=exact,
        p_value=float(exact),
    )


def overlap_of_tasks(population: Collection[str], first: Collection[str], second: Collection[str]) -> TaskOverlap:
    """Return the same from the tasks themselves.

    Args:
        population: All tasks.
        first: The tasks of one set.
        second: The tasks of the other.

    Raises:
        CallError: A set names a task that is not in the population.
    """
    everything, one, other = set(population), set(first), set(second)
    strangers = sorted((one | other) - everything)
    if strangers:
        raise CallError(f"not among the {len(everything)} tasks: {', '.join(strangers[:5])}.")
    return hypergeometric_overlap(population=len(everything), marked=len(one), drawn=len(other), hits=len(one & other))


def _mean_weights(sample: Units) -> dict[Fraction, int]:
    """Return each value that the mean of a resample can have, with the number of resamples that have it."""
    if len({size for _, size in sample.counts}) > 1:
        raise CallError(
            "tasks have different numbers of trials, so their bootstrap is not enumerated.", remedy=_RESAMPLE
        )
    means = {total / size: number for (total, size), number in sample.counts.items()}
    scale, lowest = lcm(*(mean.denominator for mean in means)), min(means)
    steps = {int((mean - lowest) * scale): number for mean, number in means.items()}
    weights = sum_weights(steps, sample.number)
    return {lowest + Fraction(s, scale * sample.number): weight for s, weight in enumerate(weights) if weight}


def _scaled(weights: Mapping[Fraction, int], scale: int) -> Iterator[tuple[int, int]]:
    return ((int(value * scale), weight) for value, weight in weights.items())


def _interval(weights: Mapping[Fraction, int], samples: tuple[Units, ...], level: float) -> Interval:
    tail = (1 - Fraction(str(level))) / 2
    return Interval(
        low=float(_quantile(weights, tail)),
        high=float(_quantile(weights, 1 - tail)),
        level=level,
        method="exact-bootstrap",
        by=samples[0].by,
        units=min(sample.number for sample in samples),
        note=caution(samples),
    )


def _quantile(weights: Mapping[Fraction, int], share: Fraction) -> Fraction:
    needed, reached = share * sum(weights.values()), 0
    for value in sorted(weights):
        reached += weights[value]
        if reached >= needed:
            break
    return value
