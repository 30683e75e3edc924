"""What the successes on some tasks say of tasks like them: the beta-binomial posterior.

Tasks differ in difficulty, and the trials of one task share it. So each task has a success probability of its own, and
these are drawn from a beta distribution with mean m and intraclass correlation r (the correlation of two trials of one
task): Beta(m K, (1 - m) K) with K = 1 / r - 1. At r = 0 all tasks are equally hard and trials are coin flips; at r = 1
every task is always solved or never. Both m and r are unknown, and any value of either is as likely as any other
beforehand: uniform on 0..1. Nothing else is assumed, and with one trial per task the result is that of the binomial
posterior with a uniform prior, for r then changes nothing.

A posterior shares what the tasks have in common: three tasks that were solved four times of four do not say that the
fourth trial never fails. That is why it holds up where a bootstrap does not, which only ever sees the tasks that it
has; `benchmarks/interval_coverage.py` measures it. Bayesian intervals for small evaluations, and a hierarchical model
for questions in clusters, are what Bowyer, Aitchison and Ivanova recommend (arXiv 2503.01747); Hariri et al. (arXiv
2510.04265) put posteriors in the place of pass@k, task by task.

The likelihood of a task with c successes in n trials is B(a + c, b + n - c) / B(a, b), with a = m K and b = (1 - m) K,
which is a product of a + j over successes and b + j over failures by K + j over trials. So all that counts is how many
tasks have more than j successes, failures and trials. It is summed over a grid of m and r that is narrowed to where
the posterior lies; no library is needed. The means of the grid are denser near 0 and 1 (even steps of u in
m = sin(pi u / 2) squared), where an interval's end moves fastest.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate
from math import exp, fsum, log, pi, sin
from typing import TypeAlias

import attrs

from multigold.errors import CallError

Counts: TypeAlias = tuple[int, int]
"""Successes and trials of one task."""

_COARSE = 14
"""Points on either axis while the grid is narrowed."""

_FINE = (72, 20)
"""Points of the final grid: over the mean, and over the correlation."""

_NEGLIGIBLE = 20.0
"""Points whose likelihood is less than the highest by a factor of e to this are left out: two in a billion."""

_TINY = 1e-10
"""Points whose likelihood is less than this share of the highest are not kept."""

_ROUNDS = 12
"""Most times that the grid is narrowed."""


@attrs.frozen(kw_only=True)
class Node:
    """A point of the posterior.

    Attributes:
        mean: Mean success probability of tasks.
        correlation: Correlation of two trials of one task.
        weight: Its probability.
        spread: K, the sum of the two parameters of the beta distribution.
    """

    mean: float
    correlation: float
    weight: float
    spread: float = attrs.field(init=False)

    @spread.default
    def _sum(self) -> float:
        return 1 / self.correlation - 1


@attrs.frozen(kw_only=True, slots=False)
class Posterior:
    """What some tasks say of tasks like them.

    Attributes:
        counts: Successes and trials of each task, sorted.
        nodes: The points, by mean; their weights add up to 1.
        edges: The means that the points of each mean stand for lie between two of these.
    """

    counts: tuple[Counts, ...]
    nodes: tuple[Node, ...]
    edges: Mapping[float, tuple[float, float]]

    @property
    def mean(self) -> float:
        """The posterior mean of the success rate."""
        return sum(node.mean * node.weight for node in self.nodes)

    @property
    def extreme(self) -> int | None:
        """1 if every trial succeeded, 0 if none did; None if they ended in both ways."""
        successes, trials = (sum(numbers) for numbers in zip(*self.counts, strict=True))
        return None if 0 < successes < trials else int(successes == trials)

    @property
    def correlation(self) -> float:
        """The posterior mean of the correlation between two trials of one task."""
        return sum(node.correlation * node.weight for node in self.nodes)

    @cached_property
    def means(self) -> tuple[tuple[float, float], ...]:
        """The success rate and its weight, summed over correlations, in order."""
        weights: dict[float, float] = {}
        for node in self.nodes:
            weights[node.mean] = weights.get(node.mean, 0.0) + node.weight
        return tuple(weights.items())

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the interval of the success rate that has this probability.

        Its tails are equal, but where every trial ended alike: there the rate that was seen, 0 or 1, is its end.
        """
        edges = [self.edges[self.means[0][0]][0], *(self.edges[mean][1] for mean, _ in self.means)]
        reached = [0.0, *accumulate(weight for _, weight in self.means)]
        return self._ends(lambda share: _interpolated(edges, reached, share), level)

    def pass_hat_interval(self, k: int, level: float = 0.95) -> tuple[float, float]:
        """Return the interval of pass^k, the chance that k trials of a task drawn at random all succeed."""
        if k == 1:
            return self.interval(level)
        weights = (node.weight for node in self.nodes)
        pairs = sorted(zip(self._pass_hats(k), weights, strict=True))
        return self._ends(lambda share: weighted_quantile(pairs, share), level, k)

    def pass_hat(self, k: int) -> float:
        """Return the posterior mean of pass^k on tasks like these; see also `shrunk_pass_hats`."""
        return fsum(value * node.weight for value, node in zip(self._pass_hats(k), self.nodes, strict=True))

    def _pass_hats(self, k: int) -> list[float]:
        """Return pass^k at each node; every k is worked out from the one before, and kept."""
        while len(self._moments) <= k:
            j = len(self._moments) - 1
            self._moments.append(
                [
                    value * (node.mean * node.spread + j) / (node.spread + j)
                    for value, node in zip(self._moments[-1], self.nodes, strict=True)
                ]
            )
        return self._moments[k]

    @cached_property
    def _moments(self) -> list[list[float]]:
        return [[1.0] * len(self.nodes)]

    def shrunk_pass_hats(self, most: int) -> list[float]:
        """Return pass^1 to pass^most of these tasks, with each task's share of successes shrunk to that of all.

        The mean over tasks of the posterior mean of p to the k. It exists for any k, also beyond the trials that there
        are, where it rests on the model; a task that was always solved counts as less than certain, the more so the
        fewer its trials and the more alike the tasks.
        """
        totals = [0.0] * most
        betas = [(node.mean * node.spread, node.spread, node.weight) for node in self.nodes]
        for (successes, trials), number in Counter(self.counts).items():
            for first, both, weight in betas:
                value, won, tried = number * weight, first + successes, both + trials
                for j in range(most):
                    value *= (won + j) / (tried + j)
                    totals[j] += value
        return [total / len(self.counts) for total in totals]

    def _ends(self, quantile: Callable[[float], float], level: float, k: int = 1) -> tuple[float, float]:
        tail = 1 - level
        if all(successes == trials for successes, trials in self.counts):
            return quantile(tail), 1.0
        if not any(successes >= k for successes, _ in self.counts):
            return 0.0, quantile(1 - tail)
        return quantile(tail / 2), quantile(1 - tail / 2)


def posterior(counts: Iterable[Counts]) -> Posterior:
    """Return the posterior of the success rate on tasks like these.

    Args:
        counts: Successes and trials of each task; tasks without trials say nothing and are left out.

    Raises:
        CallError: No task has a trial, or some counts cannot be.
    """
    kept = tuple(sorted((successes, trials) for successes, trials in counts if trials))
    if not kept:
        raise CallError("there is no posterior without a trial.")
    for successes, trials in kept:
        if not 0 <= successes <= trials:
            raise CallError(f"{successes} successes are impossible in {trials} trials.")
    return _posterior(kept)


@lru_cache(maxsize=256)
def _posterior(counts: tuple[Counts, ...]) -> Posterior:
    tally = _Tally.of(counts)
    low, high = (0.0, 1.0), (0.0, 1.0)
    for _ in range(_ROUNDS):
        narrowed = _narrow(tally, low, high)
        if (narrowed[0][1] - narrowed[0][0]) * (narrowed[1][1] - narrowed[1][0]) > 0.6 * (low[1] - low[0]) * (
            high[1] - high[0]
        ):
            break
        low, high = narrowed
    places, correlations = _middles(low, _FINE[0]), _middles(high, _FINE[1])
    means = list(map(_mean_at, places))
    rows = tally.log_likelihoods(means, correlations)
    top = max(map(max, rows))
    # The prior is even over means, so a place weighs as much as the means that it stands for.
    weights = [[_density_at(u) * exp(value - top) for value in row] for u, row in zip(places, rows, strict=True)]
    total = sum(map(sum, weights))
    step = (low[1] - low[0]) / _FINE[0]
    return Posterior(
        counts=counts,
        nodes=tuple(
            Node(mean=mean, correlation=correlation, weight=weight / total)
            for mean, row in zip(means, weights, strict=True)
            for correlation, weight in zip(correlations, row, strict=True)
            if weight > _TINY
        ),
        edges={mean: (_mean_at(u - step / 2), _mean_at(u + step / 2)) for mean, u in zip(means, places, strict=True)},
    )


def difference_interval(one: Posterior, other: Posterior, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of the difference of two success rates, on tasks that have nothing to do with each other."""
    pairs = sorted((a - b, wa * wb) for a, wa in one.means for b, wb in other.means)
    tail = 1 - level
    if one.extreme is not None and other.extreme is not None and one.extreme != other.extreme:
        # What was seen is an end of what is possible, and so of the interval.
        return (weighted_quantile(pairs, tail), 1.0) if one.extreme else (-1.0, weighted_quantile(pairs, 1 - tail))
    return weighted_quantile(pairs, tail / 2), weighted_quantile(pairs, 1 - tail / 2)


def weighted_quantile(pairs: Sequence[tuple[float, float]], share: float) -> float:
    """Return a quantile of values with weights, interpolated between the middles of their steps.

    Args:
        pairs: Values and weights, by value.
        share: Which quantile, 0..1.
    """
    reached = list(accumulate(weight for _, weight in pairs))
    total = reached[-1]
    middles = [(upto - weight / 2) / total for upto, (_, weight) in zip(reached, pairs, strict=True)]
    return _interpolated([value for value, _ in pairs], middles, share)


def _interpolated(values: Sequence[float], places: Sequence[float], share: float) -> float:
    """Return the value at a place between places that are in order."""
    after = bisect_left(places, share)
    if after == 0 or after == len(places):
        return values[min(after, len(places) - 1)]
    left, right = places[after - 1], places[after]
    part = (share - left) / (right - left) if right > left else 1.0
    return values[after - 1] + part * (values[after] - values[after - 1])


@attrs.frozen
class _Tally:
    """How many tasks have more than j successes, failures and trials, for each j."""

    successes: tuple[int, ...]
    failures: tuple[int, ...]
    trials: tuple[int, ...]

    @classmethod
    def of(cls, counts: Sequence[Counts]) -> _Tally:
        return cls(
            _more_than([successes for successes, _ in counts]),
            _more_than([trials - successes for successes, trials in counts]),
            _more_than([trials for _, trials in counts]),
        )

    def log_likelihoods(self, means: Sequence[float], correlations: Sequence[float]) -> list[list[float]]:
        """Return the logarithm of the likelihood, a row for each mean."""
        spreads = [1 / correlation - 1 for correlation in correlations]
        of_trials = [_sum_of_logs(self.trials, spread) for spread in spreads]
        return [
            [
                _sum_of_logs(self.successes, mean * spread)
                + _sum_of_logs(self.failures, (1 - mean) * spread)
                - subtracted
                for spread, subtracted in zip(spreads, of_trials, strict=True)
            ]
            for mean in means
        ]


def _more_than(numbers: Sequence[int]) -> tuple[int, ...]:
    """Return for each j from 0 how many numbers are greater than j, as far as any is."""
    found = [0] * (max(numbers) + 1)
    for number in numbers:
        found[number] += 1
    return tuple(reversed(list(accumulate(reversed(found[1:])))))


def _sum_of_logs(tally: Sequence[int], start: float) -> float:
    total = 0.0
    for number in tally:
        total += number * log(start)
        start += 1
    return total


_Span: TypeAlias = tuple[float, float]


def _narrow(tally: _Tally, over_mean: _Span, over_correlation: _Span) -> tuple[_Span, _Span]:
    """Return the part of the grid outside of which the posterior is negligible."""
    means = [_mean_at(u) for u in _middles(over_mean, _COARSE)]
    rows = tally.log_likelihoods(means, _middles(over_correlation, _COARSE))
    needed = max(map(max, rows)) - _NEGLIGIBLE
    kept = [(i, j) for i, row in enumerate(rows) for j, value in enumerate(row) if value >= needed]
    return _part(over_mean, [i for i, _ in kept]), _part(over_correlation, [j for _, j in kept])


def _part(span: _Span, kept: Sequence[int]) -> _Span:
    """Return the part of a span that holds the kept points, and one more on either side."""
    step = (span[1] - span[0]) / _COARSE
    return max(span[0], span[0] + (min(kept) - 1) * step), min(span[1], span[0] + (max(kept) + 2) * step)


def _mean_at(place: float) -> float:
    """Return the mean at a place of the grid, 0..1."""
    return sin(pi / 2 * min(1.0, max(0.0, place))) ** 2


def _density_at(place: float) -> float:
    """Return how fast the mean moves there, but for a factor."""
    return sin(pi * place)


def _middles(span: _Span, number: int) -> list[float]:
    step = (span[1] - span[0]) / number
    return [span[0] + (i + 0.5) * step for i in range(number)]
