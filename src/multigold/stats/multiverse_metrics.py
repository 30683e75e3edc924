"""The multiverse of readings as metrics, in the one list that holds all others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from multigold.model.catalogue import Catalogue
from multigold.stats.multiverse import AgentRange, Multiverse, PairOrder, ReadingWeight, UniverseRun, every_universe
from multigold.stats.summary import Metric

MOST_READINGS = 20
"""Readings that are listed by what they carry; the rest stand in `Multiverse.readings`."""


def universe_metrics(
    runs: Iterable[UniverseRun], *, sides: Mapping[str, Mapping[str, Sequence[str]]] | None = None
) -> tuple[Metric, ...]:
    """Return the multiverse of each domain as metrics.

    Args:
        runs: The runs, of any agents and domains.
        sides: For each domain, the sides of each loophole; see `sides_of`.
    """
    by_domain: dict[str, list[UniverseRun]] = {}
    for run in runs:
        by_domain.setdefault(run.domain, []).append(run)
    found: list[Metric] = []
    for domain in sorted(by_domain):
        found += _metrics(every_universe(by_domain[domain], sides=(sides or {}).get(domain)))
    return tuple(sorted(found, key=lambda metric: _ORDER.index(metric.metric)))


def sides_of(catalogue: Catalogue, readings: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Return the sides of each loophole that some of the readings take.

    Args:
        catalogue: The catalogue.
        readings: Ids of tasks and of readings that count there.
    """
    found: dict[str, set[str]] = {}
    for task, name in readings:
        gold_set = catalogue.gold_sets.get(task)
        for reading in gold_set.readings if gold_set else ():
            if reading.id == name:
                for loophole, side in reading.positions.items():
                    found.setdefault(loophole, set()).add(side)
    return {loophole: tuple(sorted(taken)) for loophole, taken in found.items()}


_SCORE, _RANK, _LEAD, _READING = "score over readings", "rank over readings", "lead over readings", "reading carries"
_ORDER = (_SCORE, _RANK, _LEAD, _READING)


def _metrics(found: Multiverse) -> Iterator[Metric]:
    method = f"every one of {found.universes} universes"
    for place, agent in enumerate(found.agents, start=1):
        yield _score(found, agent, method)
        yield _rank(found, agent, place, method)
    for pair in found.pairs:
        yield _lead(found, pair, method)
    for weight in found.readings[:MOST_READINGS]:
        yield _carried(found, weight)


def _score(found: Multiverse, agent: AgentRange, method: str) -> Metric:
    parts = []
    if agent.single is not None:
        parts.append(f"{agent.single:.4f} by the single gold")
    if agent.mean is not None:
        parts.append(f"{agent.mean:.4f} in the mean over universes")
    for word, sides in (("lowest", agent.lowest_sides), ("highest", agent.highest_sides)):
        if sides:
            parts.append(f"{word} with {', '.join(f'{name} {side}' for name, side in sides.items())}")
    return Metric(
        metric=_SCORE,
        agent=agent.agent,
        domain=found.domain,
        value=agent.any_reading,
        low=agent.lowest,
        high=agent.highest,
        lowest=agent.bounds[0] if agent.unscored else None,
        highest=agent.bounds[1] if agent.unscored else None,
        denominator=agent.runs,
        method=method,
        note="; ".join(parts),
    )


def _rank(found: Multiverse, agent: AgentRange, place: int, method: str) -> Metric:
    return Metric(
        metric=_RANK,
        agent=agent.agent,
        domain=found.domain,
        value=float(place) if agent.runs else None,
        low=None if agent.best_rank is None else float(agent.best_rank),
        high=None if agent.worst_rank is None else float(agent.worst_rank),
        method=method if found.ranks_exact else "bounds from the leads, as there are too many universes",
        note="" if agent.leads is None else f"first in {agent.leads:.1%} of the universes",
    )


def _lead(found: Multiverse, pair: PairOrder, method: str) -> Metric:
    return Metric(
        metric=_LEAD,
        agent=pair.first,
        domain=found.domain,
        part=f"over {pair.second}",
        value=pair.lead,
        low=pair.lowest,
        high=pair.highest,
        lowest=pair.bounds[0] if pair.bounds != (pair.lowest, pair.highest) else None,
        highest=pair.bounds[1] if pair.bounds != (pair.lowest, pair.highest) else None,
        method=method,
        note="the order hangs on the reading" if pair.hangs else "",
    )


def _carried(found: Multiverse, weight: ReadingWeight) -> Metric:
    task, _, reading = weight.reading.partition("/")
    change = "lost without it" if weight.change <= 0 and weight.standing == "core" else "won with it"
    return Metric(
        metric=_READING,
        domain=found.domain,
        task=task,
        part=reading,
        value=weight.change / weight.passes if weight.passes else None,
        numerator=weight.change,
        denominator=weight.passes,
        note=f"{weight.standing}; {abs(weight.change)} of its {weight.passes} passes {change}, {weight.gained} of them "
        f"beyond the single gold's {found.gain} in all; {weight.untouched} passes left the database untouched"
        + (f"; {weight.exchanged} pairs change places" if weight.exchanged else ""),
    )
