"""Which way of reading each agent takes, and how far agents part.

A run's side of a loophole is known if the readings that it matched take exactly one. Shares are of the runs whose
side is known; the others are counted separately, by reason.

How far agents part is the mutual information between agent and side, I = H(side) - H(side | agent): the generalised
Jensen-Shannon divergence between the agents' sides, weighted by their runs (Lin, IEEE Trans. Inf. Theory 37 (1991) 145,
section V). The plain entropy of the sides would not do, for it cannot tell agents that each read the policy their own
way from agents that all flip a coin. It is what I is a part of: total = between + within, exactly.

`score` is I by the most that it can be, min(H(agent), log2 of the number of sides): 0 if all agents share one
distribution, 1 if every agent keeps to one side and they divide evenly. Few runs alone make I larger than 0, so
`expected` says what I would be if the sides were dealt to the runs at random, by the hypergeometric model of Vinh,
Epps and Bailey (J. Mach. Learn. Res. 11 (2010) 2837, section 3); `adjusted` is (I - expected) / (most - expected), at
most 1, around 0 by chance, and below 0 if agents agree more than chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from math import fsum, log2, prod

import attrs

from multigold.errors import CallError
from multigold.stats.rates import Rate, success_rate
from multigold.stats.rows import RunRow, cells_of_one_agent, natural

_MOST_WAYS = 10_000
"""Most combinations of sides that `coherent_rate` tries for loopholes that share tasks."""


@attrs.frozen(kw_only=True)
class SideCount:
    """The sides of one loophole that one agent takes.

    Attributes:
        loophole: The loophole.
        agent: The agent.
        counts: Side to number of runs whose side is known.
        shares: The same by the number of runs whose side is known.
        known: That number.
        several: Runs that match readings on more than one side.
        none: Scored runs that match no reading with a side.
        unscored: Runs without a reward.
        runs: All runs on tasks that exercise the loophole.
    """

    loophole: str
    agent: str
    counts: Mapping[str, int]
    several: int = 0
    none: int = 0
    unscored: int = 0
    known: int = attrs.field(init=False)
    runs: int = attrs.field(init=False)
    shares: Mapping[str, float] = attrs.field(init=False)

    @known.default
    def _count_known(self) -> int:
        return sum(self.counts.values())

    @runs.default
    def _count_runs(self) -> int:
        return self.known + self.several + self.none + self.unscored

    @shares.default
    def _share(self) -> dict[str, float]:
        return {side: number / self.known for side, number in self.counts.items()}


@attrs.frozen(kw_only=True)
class Split:
    """How far agents part on a loophole, or on one task of it.

    Attributes:
        loophole: The loophole.
        task: The task's name; empty if all of the loophole's tasks are taken together.
        agents: Agents with at least one run whose side is known.
        runs: Runs whose side is known.
        counts: Agent to side to number of runs.
        agreement: Chance that a run of one agent and a run of another take the same side, mean over pairs of agents;
            None with fewer than two agents.
        score: How far they part, 0..1; None with fewer than two agents.
        adjusted: The same with chance taken out; None if chance alone gives the most, so that nothing follows.
    """

    loophole: str
    task: str = ""
    agents: tuple[str, ...]
    runs: int
    counts: Mapping[str, Mapping[str, int]]
    agreement: float | None
    score: float | None
    adjusted: float | None


@attrs.frozen(kw_only=True)
class Coherent:
    """The success of an agent under the one side per loophole that suits it best.

    Attributes:
        agent: The agent.
        sides: The best side of each loophole; the first by name if several are equally good.
        rate: Its success rate under them.
    """

    agent: str
    sides: Mapping[str, str]
    rate: Rate


def side_counts(rows: Iterable[RunRow]) -> tuple[SideCount, ...]:
    """Count the sides that each agent takes of each loophole, over all its runs on tasks that exercise it.

    Args:
        rows: The runs, in any order.
    """
    tables: dict[tuple[str, str], _Table] = {}
    for row in rows:
        for loophole in dict.fromkeys(row.loopholes):
            tables.setdefault((loophole, row.agent), _Table()).add(row, loophole)
    keys = sorted(tables, key=lambda key: (natural(key[0]), key[1]))
    return tuple(tables[loophole, agent].counted(loophole, agent) for loophole, agent in keys)


@attrs.define
class _Table:
    """The sides of one loophole that one agent takes, while its runs are counted."""

    sides: Counter[str] = attrs.field(factory=Counter)
    several: int = 0
    none: int = 0
    unscored: int = 0

    def add(self, row: RunRow, loophole: str) -> None:
        taken = row.positions.get(loophole, ())
        if row.reward is None:
            self.unscored += 1
        elif len(taken) == 1:
            self.sides[taken[0]] += 1
        else:
            self.several += len(taken) > 1
            self.none += not taken

    def counted(self, loophole: str, agent: str) -> SideCount:
        return SideCount(
            loophole=loophole,
            agent=agent,
            counts=dict(sorted(self.sides.items())),
            several=self.several,
            none=self.none,
            unscored=self.unscored,
        )


def splits(rows: Iterable[RunRow], *, sides: Mapping[str, Sequence[str]] | None = None) -> tuple[Split, ...]:
    """Tell how far agents part: for each loophole over all its tasks, then for each of its tasks.

    Over all tasks of a loophole the runs are simply pooled, so agents that ran different tasks may seem to part.

    Args:
        rows: The runs, in any order.
        sides: The sides that each loophole declares; without it, those that some run takes.
    """
    # One count per row and loophole is all that is done per run; the rest works on the few different counts.
    counts = Counter(
        (loophole, row.name, row.agent, _known_side(row, loophole))
        for row in rows
        for loophole in dict.fromkeys(row.loopholes)
    )
    tables: dict[str, dict[str, dict[str, Counter[str]]]] = {}
    for (loophole, name, agent, side), number in counts.items():
        for task in ("", name):
            here = tables.setdefault(loophole, {}).setdefault(task, {}).setdefault(agent, Counter())
            if side is not None:
                here[side] += number
    return tuple(
        _split(loophole, task, tables[loophole][task], tuple((sides or {}).get(loophole, ())))
        for loophole in sorted(tables, key=natural)
        for task in ("", *sorted((name for name in tables[loophole] if name), key=natural))
    )


def _known_side(row: RunRow, loophole: str) -> str | None:
    taken = row.positions.get(loophole, ())
    return taken[0] if row.reward is not None and len(taken) == 1 else None


def take_sides(rows: Iterable[RunRow], sides: Mapping[str, str]) -> tuple[RunRow, ...]:
    """Return the rows as they would be scored if one side of some loopholes were the only one that counts.

    A run on a task with such loopholes keeps its reward if the readings that it matched take the given side of each
    of them; else its reward is 0. Unscored runs stay unscored. Use it on a column in which all the readings in question
    count.

    Args:
        rows: The runs.
        sides: The side to take, by loophole.
    """
    return tuple(row if row.reward is None or _on_sides(row, sides) else attrs.evolve(row, reward=0.0) for row in rows)


def coherent_rate(rows: Iterable[RunRow]) -> Coherent:
    """Return an agent's success under the best single side per loophole, over all its tasks and trials.

    An agent that flips sides at random matches some reading every time, and yet follows no policy. Here it has to keep
    to one side of each loophole, whichever suits it best. All combinations of sides are tried; loopholes that share no
    task are tried apart. A success that takes no side of a loophole counts whichever is taken, so one that nobody
    disputes changes nothing.

    Args:
        rows: The runs of one agent, in any order.

    Raises:
        CallError: The rows are of several agents, or too many loopholes share tasks.
    """
    rows = tuple(rows)
    grid = cells_of_one_agent(rows)
    taken: dict[str, str] = {}
    for group in _groups(rows):
        taken |= _best_sides([row for row in rows if row.success and set(row.loopholes) & set(group)], group)
    return Coherent(
        agent=grid[0].agent if grid else "",
        sides=dict(sorted(taken.items(), key=lambda item: natural(item[0]))),
        rate=success_rate(take_sides(rows, taken)),
    )


def entropy(counts: Iterable[int]) -> float:
    """Return the Shannon entropy of counts, in bits: log2 N - (1/N) sum of c log2 c; 0 if there are none."""
    present = [count for count in counts if count]
    total = sum(present)
    return max(0.0, log2(total) - fsum(count * log2(count) for count in present) / total) if total else 0.0


def _split(loophole: str, task: str, sides: Mapping[str, Mapping[str, int]], declared: Sequence[str]) -> Split:
    table = {agent: dict(sorted(sides[agent].items())) for agent in sorted(sides) if sides[agent]}
    weights = [sum(counts.values()) for counts in table.values()]
    pooled = sum((Counter(counts) for counts in table.values()), Counter[str]())
    runs, total = sum(weights), entropy(pooled.values())
    within = fsum(w * entropy(c.values()) for w, c in zip(weights, table.values(), strict=True)) / runs if runs else 0.0
    between = max(0.0, total - within)
    most = min(entropy(weights), log2(max(2, len(set(declared) | set(pooled)))))
    expected = max(0.0, total - _expected_within(weights, list(pooled.values())))
    return Split(
        loophole=loophole,
        task=task,
        agents=tuple(table),
        runs=runs,
        counts=table,
        agreement=_agreement(table),
        score=between / most if most else None,
        adjusted=(between - expected) / (most - expected) if most - expected > 1e-12 else None,
    )


def _expected_within(weights: Sequence[int], pooled: Sequence[int]) -> float:
    """Return the mean of H(side | agent) when the pooled sides are dealt to the runs at random."""
    runs = sum(weights)
    return (
        fsum(_expected_term(weight, number, runs) for weight, number in product(weights, pooled)) / runs
        if runs
        else 0.0
    )


def _expected_term(weight: int, number: int, runs: int) -> float:
    """Return the mean of x log2(weight / x), x being how many of `number` fall among `weight` of all runs.

    The chances are worked out from the likeliest x, each from its neighbour, and divided by their sum: no factorial is
    needed, and those too small for a float do not matter.
    """
    lowest, highest = max(0, weight + number - runs), min(weight, number)
    start = min(highest, max(lowest, (weight + 1) * (number + 1) // (runs + 2)))
    chances, sums = [1.0], [_bits(start, weight)]
    for x, step in ((start, 1), (start, -1)):
        chance = 1.0
        while chance > _TINY and lowest <= x + step <= highest:
            chance *= _ratio(x, weight, number, runs) if step == 1 else 1 / _ratio(x - 1, weight, number, runs)
            x += step
            chances.append(chance)
            sums.append(chance * _bits(x, weight))
    return fsum(sums) / fsum(chances)


_TINY = 1e-25
"""Chances below this, by the likeliest, change no figure."""


def _ratio(x: int, weight: int, number: int, runs: int) -> float:
    """Return the hypergeometric chance of x + 1 by that of x."""
    return (number - x) * (weight - x) / ((x + 1) * (runs - number - weight + x + 1))


def _bits(x: int, weight: int) -> float:
    return x * log2(weight / x) if x else 0.0


def _agreement(table: Mapping[str, Mapping[str, int]]) -> float | None:
    pairs = [
        sum(number * other.get(side, 0) for side, number in one.items()) / (sum(one.values()) * sum(other.values()))
        for one, other in combinations(table.values(), 2)
    ]
    return fsum(pairs) / len(pairs) if pairs else None


def _on_sides(row: RunRow, sides: Mapping[str, str]) -> bool:
    """Tell whether a run is on the given sides, or on neither: what takes no side of a loophole contradicts none."""
    return all(sides[loophole] in taken for loophole, taken in row.taken.items() if loophole in sides)


def _groups(rows: Sequence[RunRow]) -> list[tuple[str, ...]]:
    """Return the loopholes in groups that share no task with each other."""
    groups: list[set[str]] = []
    for linked in sorted({tuple(sorted(set(row.loopholes))) for row in rows if row.loopholes}):
        touching = [group for group in groups if group & set(linked)]
        groups = [group for group in groups if group not in touching]
        groups.append(set(linked).union(*touching))
    return sorted(tuple(sorted(group, key=natural)) for group in groups)


def _best_sides(successes: Sequence[RunRow], group: Sequence[str]) -> dict[str, str]:
    """Return the sides of linked loopholes under which most successes stay; of several, the first by name."""
    options = {
        loophole: sorted({side for row in successes for side in row.positions.get(loophole, ())}) for loophole in group
    }
    options = {loophole: sides for loophole, sides in options.items() if sides}
    if prod(len(sides) for sides in options.values()) > _MOST_WAYS:
        raise CallError(
            f"the loopholes {', '.join(options)} share tasks and have too many combinations of sides to try."
        )
    alike = Counter(
        (row.loopholes, tuple(sorted((k, tuple(v)) for k, v in row.positions.items()))) for row in successes
    )
    kinds = [
        (RunRow(agent="", task="", loopholes=linked, positions=dict(taken)), n) for (linked, taken), n in alike.items()
    ]
    scores = {
        sides: sum(number for row, number in kinds if _on_sides(row, dict(zip(options, sides, strict=True))))
        for sides in product(*options.values())
    }
    best = max(scores, key=lambda sides: scores[sides])
    return dict(zip(options, best, strict=True))
