"""Any number of agents on the same tasks: which can be told apart, and what ranks are possible.

Every pair is compared by task (`multigold.stats.paired_comparison`). With many pairs some differ by chance, so the
p-values are held against Holm's thresholds (Holm, Scand. J. Stat. 6 (1979) 65): the chance that any two equal agents
are called different, in all pairs together, stays at 1 - level.

*Ranks.* An agent's rank is at best one more than the number of agents that are better for certain, and at worst the
number of agents less those that are worse for certain. As the pairs are tested together, all these rank intervals hold
together with the given level (confidence sets for ranks from differences: Chetverikov et al., arXiv 2401.15205).

*Groups* are the largest sets of agents of which no two can be told apart. An agent can be in several: not being told
apart is no equality.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import attrs

from multigold.errors import CallError
from multigold.stats.paired_comparison import Decision, PairedComparison, PairedInterval, Pairing, compare_agents
from multigold.stats.rates import Rate, check_level, success_rate
from multigold.stats.resampling import RESAMPLES
from multigold.stats.rows import RunRow

if TYPE_CHECKING:
    import numpy as np


@attrs.frozen(kw_only=True)
class PairDecision:
    """Two agents among many.

    Attributes:
        comparison: The two compared.
        adjusted: The p-value by Holm; None if they share no task.
        decision: Which is better, where that can be told with all pairs taken together.
    """

    comparison: PairedComparison
    adjusted: float | None
    decision: Decision


@attrs.frozen(kw_only=True)
class Standing:
    """One agent among many.

    Attributes:
        name: What it is called.
        rate: Its success rate over all its runs.
        better_than: Agents that it is better than, for certain.
        worse_than: Agents that are better.
        best_rank: The best rank that it may have.
        worst_rank: The worst.
        note: Why it is not ranked; empty if it is.
    """

    name: str
    rate: Rate
    better_than: tuple[str, ...]
    worse_than: tuple[str, ...]
    best_rank: int
    worst_rank: int
    note: str = ""


@attrs.frozen(kw_only=True)
class ManyAgents:
    """Any number of agents compared.

    Attributes:
        level: The level that all pairs, and all rank intervals, have together.
        agents: Every agent, the best rate first; those most of whose runs are unscored come last.
        pairs: Every pair, in the order of the agents.
        groups: The largest sets of agents of which no two can be told apart, the best first.
    """

    level: float
    agents: tuple[Standing, ...]
    pairs: tuple[PairDecision, ...]
    groups: tuple[tuple[str, ...], ...]


def compare_many(
    agents: Mapping[str, Iterable[RunRow]],
    *,
    pairing: Pairing = "tasks",
    interval: PairedInterval = "adjusted",
    rng: np.random.Generator | None = None,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    power: float = 0.8,
) -> ManyAgents:
    """Compare every pair of several agents.

    Args:
        agents: What each is called, and its runs.
        pairing: What is paired; see `paired_comparison.PAIRING`.
        interval: How the interval of a difference is found.
        rng: The source of randomness, where anything is drawn.
        resamples: How many resamples to draw then.
        level: The level of all pairs together; the intervals of single differences have it each.
        power: Chance that the smallest detectable difference belongs to.

    Raises:
        CallError: There are fewer than two agents, or `compare_agents` refuses a pair.
    """
    check_level(level)
    rows = {name: tuple(own) for name, own in agents.items()}
    if len(rows) < 2:
        raise CallError(f"a comparison needs at least two agents, and there is {len(rows)}.")
    rates = {name: success_rate(own) for name, own in rows.items()}
    order = sorted(rows, key=lambda name: (rates[name].mostly_unscored, -(rates[name].value or 0.0), name))
    compared = [
        compare_agents(
            rows[a], rows[b], pairing=pairing, interval=interval, rng=rng, resamples=resamples, level=level, power=power
        )
        for a, b in combinations(order, 2)
    ]
    adjusted = holm([None if one.test is None else one.test.p_value for one in compared])
    pairs = tuple(
        PairDecision(comparison=attrs.evolve(one, first=a, second=b), adjusted=p, decision=_decide(one, p, level))
        for (a, b), one, p in zip(combinations(order, 2), compared, adjusted, strict=True)
    )
    return ManyAgents(
        level=level,
        agents=tuple(_standing(name, order, pairs, rates[name]) for name in order),
        pairs=pairs,
        groups=_groups(order, pairs),
    )


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p-values adjusted by Holm's step-down method, in the order in which they came.

    The smallest is multiplied by their number, the next by one less, and so on; none is smaller than the one before it,
    and none above 1. None stays None, and is not counted.
    """
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    found: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for number, (p, place) in enumerate(known):
        highest = max(highest, min(1.0, p * (len(known) - number)))
        found[place] = highest
    return found


def _decide(compared: PairedComparison, adjusted: float | None, level: float) -> Decision:
    if adjusted is None or not compared.difference or adjusted > 1 - level + 1e-12:
        return "not_distinguishable"
    return "first" if compared.difference > 0 else "second"


def _standing(name: str, order: Sequence[str], pairs: Sequence[PairDecision], rate: Rate) -> Standing:
    winners = [_winner_loser(pair) for pair in pairs if pair.decision != "not_distinguishable"]
    better = tuple(loser for winner, loser in winners if winner == name)
    worse = tuple(winner for winner, loser in winners if loser == name)
    return Standing(
        name=name,
        rate=rate,
        better_than=better,
        worse_than=worse,
        best_rank=1 + len(worse),
        worst_rank=len(order) - len(better),
        note=f"{rate.scored} of {rate.planned} runs are scored: not ranked" if rate.mostly_unscored else "",
    )


def _winner_loser(pair: PairDecision) -> tuple[str, str]:
    first, second = pair.comparison.first, pair.comparison.second
    return (first, second) if pair.decision == "first" else (second, first)


def _groups(order: Sequence[str], pairs: Sequence[PairDecision]) -> tuple[tuple[str, ...], ...]:
    """Return the maximal sets of agents that are pairwise not told apart (Bron and Kerbosch)."""
    alike: dict[str, set[str]] = {name: set() for name in order}
    for pair in pairs:
        if pair.decision == "not_distinguishable":
            alike[pair.comparison.first].add(pair.comparison.second)
            alike[pair.comparison.second].add(pair.comparison.first)
    found: list[set[str]] = []

    def extend(chosen: set[str], open_: set[str], done: set[str]) -> None:
        if not open_ and not done:
            found.append(chosen)
            return
        pivot = max(open_ | done, key=lambda name: len(alike[name] & open_))
        for name in sorted(open_ - alike[pivot]):
            extend(chosen | {name}, open_ & alike[name], done & alike[name])
            open_ = open_ - {name}
            done = done | {name}

    extend(set(), set(order), set())
    place = {name: i for i, name in enumerate(order)}
    groups = [tuple(sorted(group, key=place.__getitem__)) for group in found]
    return tuple(sorted(groups, key=lambda group: [place[name] for name in group]))
