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
from math import comb, fsum, log2, prod

import attrs

from multigold.errors import CallError
from multigold.stats.rates import Rate, success_rate
from multigold.stats.rows import RunRow, by_agent, cells_of_one_agent, natural

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
    rows = tuple(rows)
    return tuple(
        _count_sides(loophole, agent, [row for row in own if loophole in row.loopholes])
        for loophole in _loopholes(rows)
        for agent, own in by_agent(rows).items()
        if any(loophole in row.loopholes for row in own)
    )


def splits(rows: Iterable[RunRow], *, sides: Mapping[str, Sequence[str]] | None = None) -> tuple[Split, ...]:
    """Tell how far agents part: for each loophole over all its tasks, then for each of its tasks.

    Over all tasks of a loophole the runs are simply pooled, so agents that ran different tasks may seem to part.

    Args:
        rows: The runs, in any order.
        sides: The sides that each loophole declares; without it, those that some run takes.
    """
    rows = tuple(rows)
    found = []
    for loophole in _loopholes(rows):
        concerned = [row for row in rows if loophole in row.loopholes]
        declared = tuple((sides or {}).get(loophole, ()))
        found.append(_split(loophole, "", concerned, declared))
        tasks = sorted({row.name for row in concerned}, key=natural)
        found += [_split(loophole, task, [row for row in concerned if row.name == task], declared) for task in tasks]
    return tuple(found)


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
    task are tried apart.

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
    # A loophole of which no side is ever taken gets one that no run is on, so that sideless successes do not count.
    only = dict.fromkeys(_loopholes(rows), "") | taken
    return Coherent(
        agent=grid[0].agent if grid else "",
        sides=dict(sorted(taken.items(), key=lambda item: natural(item[0]))),
        rate=success_rate(take_sides(rows, only)),
    )


def entropy(counts: Iterable[int]) -> float:
    """Return the Shannon entropy of counts, in bits: log2 N - (1/N) sum of c log2 c; 0 if there are none."""
    present = [count for count in counts if count]
    total = sum(present)
    return max(0.0, log2(total) - fsum(count * log2(count) for count in present) / total) if total else 0.0


def _loopholes(rows: Sequence[RunRow]) -> list[str]:
    return sorted({loophole for row in rows for loophole in row.loopholes}, key=natural)


def _count_sides(loophole: str, agent: str, rows: Sequence[RunRow]) -> SideCount:
    scored = [row.positions.get(loophole, ()) for row in rows if row.reward is not None]
    counts = Counter(taken[0] for taken in scored if len(taken) == 1)
    return SideCount(
        loophole=loophole,
        agent=agent,
        counts=dict(sorted(counts.items())),
        several=sum(len(taken) > 1 for taken in scored),
        none=sum(not taken for taken in scored),
        unscored=len(rows) - len(scored),
    )


def _split(loophole: str, task: str, rows: Sequence[RunRow], declared: Sequence[str]) -> Split:
    table = {agent: _count_sides(loophole, agent, own).counts for agent, own in by_agent(rows).items()}
    table = {agent: counts for agent, counts in table.items() if counts}
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
    terms = []
    for weight, number in product(weights, pooled):
        for x in range(max(1, weight + number - runs), min(weight, number) + 1):
            chance = comb(number, x) * comb(runs - number, weight - x) / comb(runs, weight)
            terms.append(chance * x * log2(weight / x))
    return fsum(terms) / runs if runs else 0.0


def _agreement(table: Mapping[str, Mapping[str, int]]) -> float | None:
    pairs = [
        sum(number * other.get(side, 0) for side, number in one.items()) / (sum(one.values()) * sum(other.values()))
        for one, other in combinations(table.values(), 2)
    ]
    return fsum(pairs) / len(pairs) if pairs else None


def _on_sides(row: RunRow, sides: Mapping[str, str]) -> bool:
    """Tell whether a run is on the given sides; one that takes no known side of anything is on none."""
    concerned = [loophole for loophole in row.loopholes if loophole in sides]
    if concerned and not row.positions:
        return False
    return all(sides[loophole] in row.positions.get(loophole, (sides[loophole],)) for loophole in concerned)


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
