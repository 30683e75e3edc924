"""The multiverse of readings: what scores and ranks are under every way to read the policy at once.

"Any defensible reading counts" is one way to count. The other is to settle every loophole: take one side of each, and
count only what agrees with all of them. Every such choice is a *universe*, and a claim that holds in all of them does
not hang on how the policy is read (the multiverse analysis of Steegen, Tuerlinckx, Gelman and Vanpaemel, Perspect.
Psychol. Sci. 11 (2016) 702, for readings in the place of data choices).

A run succeeds in a universe if it matches a reading that counts, whose sides are all among the universe's, and the
rest of its reward is earned too. A reading that takes no side of a loophole agrees with either. What is the same in
all universes is counted once.

Nothing is sampled. Loopholes whose runs are not linked add up: an agent's successes are a constant plus a part for each
group of linked loopholes. So the lowest and highest score, and the range of the lead of one agent over another, are
sums over groups, however many universes there are; only ranks need every universe in turn, and universes in which all
agents score alike are taken together.

*Partial identification.* A run that is not scored could have been a success or a failure. The bounds of an agent's
score over readings and unscored runs together assume the worst and the best of both (Manski's bounds): what lies
between them cannot be told from the data, whatever one assumes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from math import prod

import attrs

from multigold.errors import CallError
from multigold.model.verdict import Match, Verdict, is_success
from multigold.state.delta import Delta
from multigold.stats.rows import natural

MOST_UNIVERSES = 1 << 22
"""Most different universes that ranks are found for; beyond, they are bounded by the leads, which are exact."""

MOST_LINKED = 1 << 16
"""Most combinations of sides of loopholes that share runs."""


@attrs.frozen(kw_only=True)
class ReadingMatch:
    """A reading that a run matches, as the multiverse sees it.

    Attributes:
        reading: The reading's id, with its task.
        positions: For each loophole that it takes a side of, that side.
        standing: Its standing.
        success: Whether the run is a success if this reading alone counts; None if that is unknown.
    """

    reading: str
    positions: Mapping[str, str]
    standing: str
    success: bool | None


@attrs.frozen(kw_only=True)
class UniverseRun:
    """One run, as the multiverse sees it.

    Attributes:
        agent: Who ran.
        domain: The domain.
        task: The task.
        scored: Whether it is scored.
        success: Whether it is a success with any reading that counts.
        single: Whether it is one by the benchmark's gold; None if that is unknown.
        untouched: Whether it left the database as it was.
        matches: The readings that it matches, off and worthless ones left out.
        contested: Whether contested readings count.
    """

    agent: str
    domain: str
    task: str
    scored: bool
    success: bool
    single: bool | None
    untouched: bool
    matches: tuple[ReadingMatch, ...] = ()
    contested: bool = False

    @property
    def counted(self) -> tuple[ReadingMatch, ...]:
        """The matches that count."""
        standings = ("core", "contested") if self.contested else ("core",)
        return tuple(match for match in self.matches if match.standing in standings and match.success)

    def succeeds(self, sides: Mapping[str, str]) -> bool:
        """Tell whether the run is a success where these sides are taken."""
        if not self.success or not self.counted:
            return self.success
        return any(_agrees(match, sides) for match in self.counted)


def _agrees(match: ReadingMatch, sides: Mapping[str, str]) -> bool:
    return all(sides.get(loophole, side) == side for loophole, side in match.positions.items())


_UNTOUCHED = Delta({}).fingerprint()


def universe_run(verdict: Verdict, *, contested: bool = False) -> UniverseRun:
    """Return what the multiverse needs of a verdict.

    Args:
        verdict: The verdict.
        contested: Whether contested readings count.
    """
    value = verdict.rewards.with_contested if contested else verdict.rewards.core
    scored = verdict.outcome != "unscored" and value is not None
    return UniverseRun(
        agent=verdict.agent,
        domain=verdict.domain,
        task=verdict.task_id,
        scored=scored,
        success=scored and bool(is_success(value)),
        single=is_success(verdict.rewards.single) if scored else None,
        untouched=verdict.end_state == _UNTOUCHED,
        matches=tuple(_matches(verdict)) if scored else (),
        contested=contested,
    )


def _matches(verdict: Verdict) -> Iterator[ReadingMatch]:
    for match in verdict.matches:
        if match.standing != "off" and not match.vacuous and match.evidence != "unknown" and verdict.loopholes:
            yield _reading_match(verdict, match)


def _reading_match(verdict: Verdict, match: Match) -> ReadingMatch:
    return ReadingMatch(
        reading=f"{verdict.task_id}/{match.reading}",
        positions=match.positions,
        standing=match.standing,
        success=is_success(match.reward),
    )


@attrs.frozen(kw_only=True)
class AgentRange:
    """One agent over all universes.

    Attributes:
        agent: The agent.
        runs: Its scored runs.
        unscored: Its others.
        any_reading: Its score with any reading that counts.
        single: Its score by the benchmark's gold, over the runs of which that is known; None if there is none.
        lowest: Its lowest score.
        highest: Its highest.
        lowest_sides: Sides under which it scores lowest, where they matter.
        highest_sides: Sides under which it scores highest.
        mean: Its mean score over universes.
        best_rank: Its best rank; 1 is the best, and equal scores share the better rank.
        worst_rank: Its worst.
        leads: Share of the universes in which it has rank 1.
        bounds: Lowest and highest score if, besides, every unscored run were lost, and were won.
    """

    agent: str
    runs: int
    unscored: int
    any_reading: float | None
    single: float | None
    lowest: float | None
    highest: float | None
    lowest_sides: Mapping[str, str]
    highest_sides: Mapping[str, str]
    mean: float | None
    best_rank: int | None
    worst_rank: int | None
    leads: float | None
    bounds: tuple[float, float]


@attrs.frozen(kw_only=True)
class PairOrder:
    """Two agents over all universes.

    Attributes:
        first: The one that is ahead with any reading, or the first by name.
        second: The other.
        lead: Its lead with any reading.
        lowest: Its lowest lead.
        highest: Its highest.
        hangs: Whether the order hangs on the reading: either is ahead in some universe.
        bounds: Lowest and highest lead if, besides, unscored runs were lost by one and won by the other.
    """

    first: str
    second: str
    lead: float
    lowest: float
    highest: float
    hangs: bool
    bounds: tuple[float, float]


@attrs.frozen(kw_only=True)
class ReadingWeight:
    """What one reading carries.

    Attributes:
        reading: Task and reading.
        standing: Its standing.
        passes: Successful runs that match it.
        change: Successes that are lost if it does not count (core), or won if it does (contested), over all agents.
        gained: Of those, runs that are no success by the benchmark's gold.
        untouched: Of the passes, runs that left the database as it was: what always refusing gets by it.
        by_agent: The change of each agent.
        exchanged: Pairs of agents that change places.
    """

    reading: str
    standing: str
    passes: int
    change: int
    gained: int
    untouched: int
    by_agent: Mapping[str, int]
    exchanged: int


@attrs.frozen(kw_only=True)
class Multiverse:
    """All universes of one domain.

    Attributes:
        domain: The domain.
        contested: Whether contested readings count.
        loopholes: The sides of each loophole that there is to settle.
        universes: How many universes there are.
        ranks_exact: Whether ranks were found in every universe; else they are bounds from the leads.
        agents: Every agent, the best with any reading first.
        pairs: Every pair of agents.
        readings: What each reading carries, the heaviest first.
        gain: Runs that are a success by a reading that counts and not by the benchmark's gold.
        gain_untouched: Of those, runs that left the database as it was.
    """

    domain: str
    contested: bool
    loopholes: Mapping[str, tuple[str, ...]]
    universes: int
    ranks_exact: bool
    agents: tuple[AgentRange, ...]
    pairs: tuple[PairOrder, ...]
    readings: tuple[ReadingWeight, ...]
    gain: int
    gain_untouched: int


def every_universe(
    runs: Iterable[UniverseRun], *, sides: Mapping[str, Sequence[str]] | None = None, most: int = MOST_UNIVERSES
) -> Multiverse:
    """Return scores and ranks under every coherent combination of sides.

    Args:
        runs: The runs of one domain, of any agents, in any order.
        sides: The sides of each loophole that some reading which counts takes; without it, those that runs are on.
        most: Most different universes that ranks are found for.

    Raises:
        CallError: The runs are of several domains, or too many loopholes share runs.
    """
    runs = tuple(runs)
    domains = sorted({run.domain for run in runs})
    if len(domains) > 1:
        raise CallError(f"a multiverse is of one domain, and these runs are of {len(domains)}: {', '.join(domains)}.")
    settled = _sides(runs, sides or {})
    agents = sorted({run.agent for run in runs})
    groups = [_Group.of(group, settled, runs, agents) for group in _linked(runs, settled)]
    table = _Table.of(runs, agents)
    order = sorted(range(len(agents)), key=lambda i: (-table.rate(i, table.successes[i]), agents[i]))
    constant = _constant(runs, agents)
    ranks = _ranks(groups, constant, table, most)
    return Multiverse(
        domain=domains[0] if domains else "",
        contested=any(run.contested for run in runs),
        loopholes=settled,
        universes=prod(len(options) for options in settled.values()),
        ranks_exact=ranks is not None,
        agents=tuple(_range(i, agents, constant, groups, table, ranks) for i in order),
        pairs=tuple(_pair(i, j, agents, constant, groups, table) for i, j in combinations(order, 2)),
        readings=tuple(_weights(runs, table, agents)),
        gain=sum(_gained(run) for run in runs),
        gain_untouched=sum(_gained(run) and run.untouched for run in runs),
    )


def _gained(run: UniverseRun) -> bool:
    return run.success and run.single is False


def _sides(runs: Sequence[UniverseRun], sides: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return the sides of each loophole that readings take, in natural order of loopholes."""
    found: dict[str, set[str]] = {loophole: set(options) for loophole, options in sides.items()}
    for run in runs:
        for match in run.counted:
            for loophole, side in match.positions.items():
                found.setdefault(loophole, set()).add(side)
    return {loophole: tuple(sorted(found[loophole])) for loophole in sorted(found, key=natural) if found[loophole]}


def _involved(run: UniverseRun) -> frozenset[str]:
    """Return the loopholes that decide whether a run succeeds; none if it does whichever sides are taken."""
    if not run.success or any(not match.positions for match in run.counted):
        return frozenset()
    return frozenset(loophole for match in run.counted for loophole in match.positions)


def _linked(runs: Iterable[UniverseRun], settled: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the loopholes in groups that share no run."""
    groups: list[set[str]] = []
    for involved in {_involved(run) for run in runs}:
        if involved:
            touching = [group for group in groups if group & involved]
            groups = [group for group in groups if group not in touching]
            groups.append(set(involved).union(*touching))
    found = [tuple(name for name in settled if name in group) for group in groups]
    return sorted(found, key=lambda group: natural(group[0]))


@attrs.frozen
class _Group:
    """Loopholes that share runs.

    Attributes:
        loopholes: Their names.
        options: Combinations of their sides, in order.
        scores: Successes of each agent under each combination, of the runs that hang on them.
    """

    loopholes: tuple[str, ...]
    options: tuple[tuple[str, ...], ...]
    scores: tuple[tuple[int, ...], ...]

    @classmethod
    def of(
        cls,
        loopholes: tuple[str, ...],
        settled: Mapping[str, Sequence[str]],
        runs: Iterable[UniverseRun],
        agents: Sequence[str],
    ) -> _Group:
        if prod(len(settled[name]) for name in loopholes) > MOST_LINKED:
            raise CallError(f"the loopholes {', '.join(loopholes)} share runs and have too many combinations of sides.")
        place = {agent: i for i, agent in enumerate(agents)}
        kinds: Counter[tuple[int, frozenset[frozenset[tuple[str, str]]]]] = Counter()
        for run in runs:
            if _involved(run) & set(loopholes):
                kinds[place[run.agent], frozenset(frozenset(m.positions.items()) for m in run.counted)] += 1
        options = tuple(product(*(settled[name] for name in loopholes)))
        return cls(loopholes, options, tuple(cls._score(loopholes, sides, kinds, len(agents)) for sides in options))

    @staticmethod
    def _score(
        loopholes: Sequence[str],
        sides: Sequence[str],
        kinds: Mapping[tuple[int, frozenset[frozenset[tuple[str, str]]]], int],
        agents: int,
    ) -> tuple[int, ...]:
        taken = set(zip(loopholes, sides, strict=True))
        scores = [0] * agents
        for (agent, readings), number in kinds.items():
            if any(reading <= taken for reading in readings):
                scores[agent] += number
        return tuple(scores)

    def named(self, index: int) -> dict[str, str]:
        return dict(zip(self.loopholes, self.options[index], strict=True))


@attrs.frozen
class _Table:
    """What each agent's runs add up to."""

    runs: tuple[int, ...]
    unscored: tuple[int, ...]
    successes: tuple[int, ...]
    singles: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, runs: Iterable[UniverseRun], agents: Sequence[str]) -> _Table:
        counts: dict[str, Counter[str]] = {agent: Counter() for agent in agents}
        for run in runs:
            own = counts[run.agent]
            own["scored"] += run.scored
            own["unscored"] += not run.scored
            own["success"] += run.success
            own["known"] += run.single is not None
            own["single"] += bool(run.single)
        return cls(
            tuple(counts[agent]["scored"] for agent in agents),
            tuple(counts[agent]["unscored"] for agent in agents),
            tuple(counts[agent]["success"] for agent in agents),
            tuple((counts[agent]["single"], counts[agent]["known"]) for agent in agents),
        )

    def rate(self, agent: int, successes: float) -> float:
        return successes / self.runs[agent] if self.runs[agent] else 0.0

    def bounds(self, agent: int, lowest: int, highest: int) -> tuple[float, float]:
        planned = self.runs[agent] + self.unscored[agent]
        return (lowest / planned, (highest + self.unscored[agent]) / planned) if planned else (0.0, 1.0)


def _constant(runs: Iterable[UniverseRun], agents: Sequence[str]) -> list[int]:
    """Return each agent's successes in any universe whatever."""
    place = {agent: i for i, agent in enumerate(agents)}
    constant = [0] * len(agents)
    for run in runs:
        if run.success and not _involved(run):
            constant[place[run.agent]] += 1
    return constant


def _range(
    i: int,
    agents: Sequence[str],
    constant: Sequence[int],
    groups: Sequence[_Group],
    table: _Table,
    ranks: Mapping[int, tuple[int, int, float]] | None,
) -> AgentRange:
    worst = [min(range(len(group.scores)), key=lambda k: group.scores[k][i]) for group in groups]
    best = [max(range(len(group.scores)), key=lambda k: group.scores[k][i]) for group in groups]
    low, high = (
        constant[i] + sum(group.scores[k][i] for group, k in zip(groups, chosen, strict=True))
        for chosen in (worst, best)
    )
    mean = constant[i] + sum(sum(score[i] for score in group.scores) / len(group.scores) for group in groups)
    scored = table.runs[i] > 0
    won, known = table.singles[i]
    best_rank: int | None
    worst_rank: int | None
    leads: float | None
    if ranks is None:
        best_rank, worst_rank, leads = *_bounded_rank(i, constant, groups, table), None
    else:
        best_rank, worst_rank, leads = ranks.get(i, (None, None, None))
    return AgentRange(
        agent=agents[i],
        runs=table.runs[i],
        unscored=table.unscored[i],
        any_reading=table.rate(i, table.successes[i]) if scored else None,
        single=won / known if known else None,
        lowest=table.rate(i, low) if scored else None,
        highest=table.rate(i, high) if scored else None,
        lowest_sides=_matter(i, groups, worst),
        highest_sides=_matter(i, groups, best),
        mean=table.rate(i, mean) if scored else None,
        best_rank=best_rank if scored else None,
        worst_rank=worst_rank if scored else None,
        leads=leads if scored else None,
        bounds=table.bounds(i, low, high),
    )


def _matter(i: int, groups: Sequence[_Group], chosen: Sequence[int]) -> dict[str, str]:
    """Return the sides that were chosen, of the groups of which an agent's score hangs on the choice."""
    return {
        loophole: side
        for group, k in zip(groups, chosen, strict=True)
        if len({score[i] for score in group.scores}) > 1
        for loophole, side in group.named(k).items()
        if len({option[group.loopholes.index(loophole)] for option in group.options}) > 1
    }


def _lead(
    i: int, j: int, constant: Sequence[int], groups: Sequence[_Group], one: float, other: float
) -> tuple[float, float]:
    """Return the lowest and the highest of one agent's successes by `one` minus another's by `other`."""
    leads = [[score[i] / one - score[j] / other for score in group.scores] for group in groups]
    start = constant[i] / one - constant[j] / other
    return start + sum(map(min, leads)), start + sum(map(max, leads))


def _pair(
    i: int, j: int, agents: Sequence[str], constant: Sequence[int], groups: Sequence[_Group], table: _Table
) -> PairOrder:
    low, high = _lead(i, j, constant, groups, table.runs[i] or 1, table.runs[j] or 1)
    one, other = table.runs[i] + table.unscored[i] or 1, table.runs[j] + table.unscored[j] or 1
    lowest, highest = _lead(i, j, constant, groups, one, other)
    return PairOrder(
        first=agents[i],
        second=agents[j],
        lead=table.rate(i, table.successes[i]) - table.rate(j, table.successes[j]),
        lowest=low,
        highest=high,
        hangs=low < -_EQUAL and high > _EQUAL,
        bounds=(lowest - table.unscored[j] / other, highest + table.unscored[i] / one),
    )


_EQUAL = 1e-12
"""Scores that differ by less are equal: they are quotients of counts, compared as floats."""


def _bounded_rank(i: int, constant: Sequence[int], groups: Sequence[_Group], table: _Table) -> tuple[int, int]:
    """Return bounds of a rank from the leads: those that are always ahead, and those that ever are."""
    others = [j for j in range(len(constant)) if j != i and table.runs[j]]
    leads = [_lead(j, i, constant, groups, table.runs[j], table.runs[i] or 1) for j in others]
    return 1 + sum(low > _EQUAL for low, _ in leads), 1 + sum(high > _EQUAL for _, high in leads)


def _ranks(
    groups: Sequence[_Group], constant: Sequence[int], table: _Table, most: int
) -> dict[int, tuple[int, int, float]] | None:
    """Return each agent's best and worst rank and how often it leads; None if there are too many universes.

    Universes in which all agents score alike are one, with the number of them as its weight.
    """
    parts = [Counter(group.scores) for group in groups]
    parts = [part for part in parts if len(part) > 1]
    if prod(len(part) for part in parts) > most:
        return None
    scored = [i for i in range(len(constant)) if table.runs[i]]
    worlds: Counter[tuple[int, ...]] = Counter({tuple(constant[i] for i in scored): 1})
    fixed = [next(iter(Counter(group.scores))) for group in groups if len(set(group.scores)) == 1]
    for scores in fixed:
        worlds = Counter({tuple(a + scores[i] for a, i in zip(w, scored, strict=True)): n for w, n in worlds.items()})
    for part in parts:
        grown: Counter[tuple[int, ...]] = Counter()
        steps = [(tuple(scores[i] for i in scored), number) for scores, number in part.items()]
        for world, weight in worlds.items():
            for scores, number in steps:
                grown[tuple(map(int.__add__, world, scores))] += weight * number
        worlds = grown
    return _ranked(worlds, scored, [table.runs[i] for i in scored])


def _ranked(
    worlds: Mapping[tuple[int, ...], int], scored: Sequence[int], runs: Sequence[int]
) -> dict[int, tuple[int, int, float]]:
    best, worst, first = [len(scored) + 1] * len(scored), [0] * len(scored), [0] * len(scored)
    same = len(set(runs)) == 1
    for world, weight in worlds.items():
        rates: Sequence[float] = world if same else [round(a / b, 12) for a, b in zip(world, runs, strict=True)]
        ordered = sorted(rates, reverse=True)
        ranks = {rate: len(ordered) - place for place, rate in enumerate(reversed(ordered))}
        for i, rate in enumerate(rates):
            rank = ranks[rate]
            if rank < best[i]:
                best[i] = rank
            if rank > worst[i]:
                worst[i] = rank
            if rank == 1:
                first[i] += weight
    total = sum(worlds.values())
    return {agent: (best[i], worst[i], first[i] / total) for i, agent in enumerate(scored)}


# What each reading carries


def _weights(runs: Sequence[UniverseRun], table: _Table, agents: Sequence[str]) -> list[ReadingWeight]:
    """Return, for each core reading, what is lost without it, and for each contested one, what it would add."""
    found: dict[tuple[str, str], list[UniverseRun]] = {}
    for run in runs:
        for match in run.matches:
            if match.success:
                found.setdefault((match.reading, match.standing), []).append(run)
    weights = [_weight(*key, own, table, agents) for key, own in found.items()]
    return sorted(weights, key=lambda weight: (-abs(weight.change), natural(weight.reading)))


def _weight(
    reading: str, standing: str, runs: Sequence[UniverseRun], table: _Table, agents: Sequence[str]
) -> ReadingWeight:
    alone = [run for run in runs if not any(match.reading != reading for match in run.counted)]
    counts = any(match.reading == reading for run in runs for match in run.counted)
    sign = -1 if counts else 1
    by_agent = Counter(run.agent for run in alone)
    return ReadingWeight(
        reading=reading,
        standing=standing,
        passes=len(runs),
        change=sign * len(alone),
        gained=sum(run.single is False for run in alone),
        untouched=sum(run.untouched for run in runs),
        by_agent={agent: sign * by_agent[agent] for agent in agents if by_agent[agent]},
        exchanged=_exchanged(table, [sign * by_agent[agent] for agent in agents]),
    )


def _exchanged(table: _Table, changes: Sequence[int]) -> int:
    """Return how many pairs of agents change places by so many successes more or less."""
    before = [table.rate(i, successes) for i, successes in enumerate(table.successes)]
    after = [table.rate(i, successes + changes[i]) for i, successes in enumerate(table.successes)]
    return sum(
        (before[i] - before[j]) * (after[i] - after[j]) < -(_EQUAL**2) for i, j in combinations(range(len(before)), 2)
    )
