"""How far annotators agree: Cohen's kappa, Krippendorff's alpha, and intervals for both.

*Kappa* is the agreement of two annotators beyond chance, (observed - expected) / (1 - expected), with the agreement
expected of two who answer independently, each in his own proportions (Cohen, Educ. Psychol. Meas. 20 (1960) 37).

*Alpha* is 1 - observed / expected disagreement, from the coincidences of answers within units: a unit with m answers
gives each ordered pair of them the weight 1 / (m - 1). It takes any number of annotators and missing answers (Hayes and
Krippendorff, Commun. Methods Meas. 1 (2007) 77). Answers are names, so two either agree or differ.

Neither is defined where all answers are one: nothing could have shown disagreement.

*Intervals* are percentile bootstraps over units; resamples in which a coefficient is not defined are left out and
counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import TypeAlias

import attrs

from multigold.errors import CallError
from multigold.stats.multiverse import UniverseRun
from multigold.stats.rates import check_level

Answers: TypeAlias = Mapping[str, str]
"""Annotator to answer, of one unit."""

RESAMPLES = 2_000


@attrs.frozen(kw_only=True)
class Agreement:
    """A coefficient of agreement.

    Attributes:
        name: `kappa` or `alpha`.
        value: The coefficient, at most 1; None if it is not defined.
        low: Lower end of its interval; None if there is none.
        high: Upper end.
        level: Coverage of the interval.
        units: Units with at least two answers.
        answers: Answers in them.
        agreeing: Share of pairs of answers to one unit that are the same; None without any.
        undefined: Resamples in which it is not defined.
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    units: int = 0
    answers: int = 0
    agreeing: float | None = None
    undefined: int = 0


def cohen_kappa(pairs: Iterable[tuple[str, str]], *, level: float = 0.95, seed: int = 0) -> Agreement:
    """Return Cohen's kappa of two annotators.

    Args:
        pairs: The answers of both, one pair per unit.
        level: Coverage of the interval.
        seed: Seed of the interval.
    """
    pairs = sorted(pairs)
    return _with_interval("kappa", pairs, _kappa, pairs, level, seed)


def krippendorff_alpha(units: Iterable[Sequence[str]], *, level: float = 0.95, seed: int = 0) -> Agreement:
    """Return Krippendorff's alpha for answers that are names.

    Args:
        units: The answers to each unit, of whichever annotators; units with fewer than two say nothing.
        level: Coverage of the interval.
        seed: Seed of the interval.
    """
    kept = sorted(tuple(sorted(unit)) for unit in units if len(unit) > 1)
    return _with_interval("alpha", kept, _alpha, kept, level, seed)


def agreement_of(items: Iterable[Answers], *, level: float = 0.95, seed: int = 0) -> tuple[Agreement, ...]:
    """Return alpha, and kappa before it where there are just two annotators.

    Args:
        items: The answers to each unit.
        level: Coverage of the intervals.
        seed: Seed of the intervals.
    """
    items = list(items)
    names = sorted({name for item in items for name in item})
    alpha = krippendorff_alpha([tuple(item.values()) for item in items], level=level, seed=seed)
    if len(names) != 2:
        return (alpha,)
    both = [(item[names[0]], item[names[1]]) for item in items if len(item) == len(names)]
    return cohen_kappa(both, level=level, seed=seed), alpha


def _with_interval(
    name: str,
    units: Sequence[Sequence[str]],
    coefficient: Callable[[Mapping[tuple[str, ...], int]], Fraction | None],
    kept: Sequence[Sequence[str]],
    level: float,
    seed: int,
) -> Agreement:
    check_level(level)
    kinds = Counter(tuple(unit) for unit in kept)
    value = coefficient(kinds)
    alike = [(sum(c * (c - 1) for c in Counter(unit).values()), len(unit) * (len(unit) - 1)) for unit in units]
    found = Agreement(
        name=name,
        value=None if value is None else float(value),
        level=level,
        units=len(units),
        answers=sum(map(len, units)),
        agreeing=sum(a for a, _ in alike) / sum(b for _, b in alike) if alike else None,
    )
    if value is None or len(units) < 2:
        return found
    random, population, weights = Random(seed), list(kinds), list(kinds.values())
    drawn = [coefficient(Counter(random.choices(population, weights, k=len(units)))) for _ in range(RESAMPLES)]
    known = sorted(float(one) for one in drawn if one is not None)
    if not known:
        return found
    tail = (1 - level) / 2
    low, high = (known[min(len(known) - 1, int(share * len(known)))] for share in (tail, 1 - tail))
    return attrs.evolve(found, low=low, high=high, undefined=len(drawn) - len(known))


def _kappa(kinds: Mapping[tuple[str, ...], int]) -> Fraction | None:
    units = sum(kinds.values())
    if not units:
        return None
    first: Counter[str] = Counter()
    second: Counter[str] = Counter()
    same = 0
    for (one, other), number in kinds.items():
        first[one] += number
        second[other] += number
        same += number if one == other else 0
    expected = Fraction(sum(number * second[answer] for answer, number in first.items()), units * units)
    return None if expected == 1 else (Fraction(same, units) - expected) / (1 - expected)


def _alpha(kinds: Mapping[tuple[str, ...], int]) -> Fraction | None:
    totals: Counter[str] = Counter()
    observed = Fraction(0)
    for unit, number in kinds.items():
        counts = Counter(unit)
        for answer, count in counts.items():
            totals[answer] += number * count
        differing = len(unit) * (len(unit) - 1) - sum(c * (c - 1) for c in counts.values())
        observed += Fraction(number * differing, len(unit) - 1)
    values = sum(totals.values())
    expected = values * values - sum(count * count for count in totals.values())
    return None if not expected else 1 - (values - 1) * observed / expected


def reading_weights(answers: Iterable[tuple[str, str]], *, yes: str = "yes") -> dict[str, float]:
    """Return, for each reading, the share of annotators' answers that say it is right.

    Args:
        answers: Readings and answers, one per annotator and item.
        yes: The answer that says so; `unclear` counts as half.
    """
    totals: dict[str, list[float]] = {}
    for reading, answer in answers:
        totals.setdefault(reading, []).append(1.0 if answer == yes else 0.5 if answer == "unclear" else 0.0)
    return {reading: sum(found) / len(found) for reading, found in totals.items()}


def weighted_rate(runs: Iterable[UniverseRun], weights: Mapping[str, float]) -> float | None:
    """Return a success rate in which a success counts as much as annotators agree on the readings that it rests on.

    A run that matches several readings counts by the best of them; one that rests on no reading of which anything is
    known counts in full. None without scored runs.

    Args:
        runs: The runs.
        weights: For each reading, as `task/reading`, how far annotators agree on it, 0..1.

    Raises:
        CallError: A weight is not in 0..1.
    """
    if any(not 0 <= weight <= 1 for weight in weights.values()):
        raise CallError("a weight lies between 0 and 1.")
    values = [_weight(run, weights) for run in runs if run.scored]
    return sum(values) / len(values) if values else None


def _weight(run: UniverseRun, weights: Mapping[str, float]) -> float:
    if not run.success:
        return 0.0
    known = [weights.get(match.reading, 1.0) for match in run.counted]
    return max(known, default=1.0)
