"""Golds that take opposite sides of one loophole.

A gold takes a side if it is in a reading that does. Two tasks of one release whose golds take different sides of the
same loophole contradict each other, since the policy did not change between them; so do two golds of one task, in two
releases or in a benchmark and its fork.

Where a gold stands is either what the catalogue states for each text (`stated_positions`), or worked out by replaying
the golds of task files (`computed_positions`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Literal, TypeAlias

import attrs

from multigold.environments.base import Environment
from multigold.model.catalogue import Catalogue
from multigold.model.gold import GoldSet
from multigold.model.task import Task
from multigold.scoring import compile_golds
from multigold.state.canonical import Json
from multigold.stats.rows import natural

ContradictionKind: TypeAlias = Literal["one_release", "between_releases"]


@attrs.frozen(kw_only=True)
class GoldPosition:
    """The side of one loophole that one gold takes.

    Attributes:
        loophole: Id of the loophole.
        side: Id of the side.
        task_id: The task.
        releases: Releases that have this gold, as far as they are known.
        text: What the catalogue calls the task's text.
        readings: Readings that the gold is in.
        gold: Fingerprint of the gold's calls.
        forced: Whether the task's text leaves no core reading that takes another side, as where the user refuses.
    """

    loophole: str
    side: str
    task_id: str
    releases: tuple[str, ...]
    text: str
    readings: tuple[str, ...]
    gold: str = ""
    forced: bool = False


@attrs.frozen(kw_only=True)
class GoldSides:
    """The golds of one task that take one side, in one release or several.

    Attributes:
        task_id: The task.
        sides: Loophole to side.
        releases: Releases whose gold does.
        readings: Readings that these golds are in.
        forced: The releases in which the task's text leaves no other side.
    """

    task_id: str
    sides: Mapping[str, str]
    releases: tuple[str, ...]
    readings: tuple[str, ...]
    forced: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return them as plain data."""
        lists = {name: list(getattr(self, name)) for name in ("releases", "readings", "forced")}
        return {"task_id": self.task_id, "sides": dict(self.sides), **lists}


@attrs.frozen(kw_only=True)
class Contradiction:
    """Golds that take opposite sides.

    Attributes:
        kind: `one_release`: two tasks of one release; `between_releases`: one task in two.
        loopholes: Ids of the loopholes.
        clauses: Ids of the clauses that these stand on.
        first: Where the one side's golds stand.
        second: Where the other's do.
        shared: The releases that have both; empty between releases.
    """

    kind: ContradictionKind
    loopholes: tuple[str, ...]
    clauses: tuple[str, ...]
    first: GoldSides
    second: GoldSides
    shared: tuple[str, ...] = ()

    @property
    def tasks(self) -> tuple[str, ...]:
        """Ids of the tasks: two in one release, one between releases."""
        return tuple(dict.fromkeys((self.first.task_id, self.second.task_id)))

    def to_json(self) -> dict[str, Json]:
        """Return the contradiction as plain data."""
        return {
            "kind": self.kind,
            "tasks": list(self.tasks),
            "loopholes": list(self.loopholes),
            "clauses": list(self.clauses),
            "releases": list(self.shared),
            "first": self.first.to_json(),
            "second": self.second.to_json(),
        }


def stated_positions(catalogue: Catalogue) -> tuple[GoldPosition, ...]:
    """Return where the golds stand that a catalogue names, by what it states of them.

    A gold that it calls a conflict is in no reading and takes no side. Where several releases share a text and have
    different golds, the catalogue does not say which has which, and the releases stay empty: such golds can only
    contradict each other. Task files tell (`computed_positions`).
    """
    return tuple(position for gold_set in catalogue for position in _stated(gold_set))


def _stated(gold_set: GoldSet) -> Iterator[GoldPosition]:
    for text in gold_set.texts:
        selected = gold_set.select(text)
        releases = text.releases if len(text.golds) == 1 or len(text.releases) == 1 else ()
        for gold, reading_id in text.golds.items():
            if reading_id is None:
                continue
            for loophole, side in gold_set.reading(reading_id).positions.items():
                yield GoldPosition(
                    loophole=loophole,
                    side=side,
                    task_id=gold_set.task_id,
                    releases=releases,
                    text=text.id,
                    readings=(reading_id,),
                    gold=gold,
                    forced=_core_sides(selected, loophole) <= {side},
                )


def computed_positions(
    tasks: Iterable[Task], catalogue: Catalogue, environment: Environment | None, *, release: str
) -> tuple[GoldPosition, ...]:
    """Replay the golds of some tasks and return where they stand.

    A gold that is in readings of both sides of a loophole takes none.

    Args:
        tasks: The tasks of one release.
        catalogue: The catalogue; tasks whose text it does not know are left out.
        environment: Where golds and readings are replayed.
        release: What to call the release.

    Raises:
        GoldSetError: If a gold set is wrong.
    """
    return tuple(p for task in tasks for p in _computed(task, catalogue.gold_set(task), environment, release))


def _computed(
    task: Task, gold_set: GoldSet | None, environment: Environment | None, release: str
) -> Iterator[GoldPosition]:
    if gold_set is None:
        return
    golds = compile_golds(task, gold_set, environment)
    readings = [gold_set.reading(reading_id) for reading_id in golds.benchmark_readings]
    for loophole in dict.fromkeys(name for reading in readings for name in reading.positions):
        sides = {reading.positions[loophole] for reading in readings if loophole in reading.positions}
        if len(sides) == 1:
            (side,) = sides
            yield GoldPosition(
                loophole=loophole,
                side=side,
                task_id=task.id,
                releases=(release,),
                text=gold_set.text or "",
                readings=golds.benchmark_readings,
                gold=task.gold_fingerprint() or "",
                forced=_core_sides(gold_set, loophole) <= {side},
            )


def _core_sides(gold_set: GoldSet, loophole: str) -> set[str]:
    """Return the sides of a loophole that core readings of a text take."""
    core = (reading for reading in gold_set.readings if reading.standing == "core")
    return {reading.positions[loophole] for reading in core if loophole in reading.positions}


def find_contradictions(positions: Iterable[GoldPosition], catalogue: Catalogue) -> tuple[Contradiction, ...]:
    """Return the golds that take opposite sides: tasks of one release first, then one task between releases.

    Args:
        positions: Where the golds stand.
        catalogue: For the clauses that the loopholes stand on.
    """
    taken: dict[tuple[str, str, str], list[GoldPosition]] = {}
    for position in positions:
        taken.setdefault((position.loophole, position.task_id, position.side), []).append(position)
    pairs: dict[tuple[object, ...], list[tuple[GoldSides, GoldSides]]] = {}
    for (loophole, *one), (other_loophole, *other) in combinations(taken, 2):
        if loophole == other_loophole and one[1] != other[1]:
            pair = _ordered(*(_gold_sides(taken[loophole, task, side]) for task, side in (one, other)))
            pairs.setdefault(_key(*pair), []).append(pair)
    found = [_contradiction(parts, catalogue) for parts in pairs.values()]
    real = [one for one in found if one.shared or one.kind == "between_releases"]
    return tuple(sorted(real, key=lambda c: (c.kind == "between_releases", [natural(task) for task in c.tasks])))


def _gold_sides(positions: Sequence[GoldPosition]) -> GoldSides:
    return GoldSides(
        task_id=positions[0].task_id,
        sides={positions[0].loophole: positions[0].side},
        releases=tuple(dict.fromkeys(release for position in positions for release in position.releases)),
        readings=tuple(dict.fromkeys(reading for position in positions for reading in position.readings)),
        forced=tuple(dict.fromkeys(release for p in positions if p.forced for release in p.releases)),
    )


def _ordered(one: GoldSides, other: GoldSides) -> tuple[GoldSides, GoldSides]:
    return (other, one) if natural(other.task_id) < natural(one.task_id) else (one, other)


def _key(one: GoldSides, other: GoldSides) -> tuple[object, ...]:
    return tuple((sides.task_id, sides.releases, sides.readings) for sides in (one, other))


def _contradiction(parts: Sequence[tuple[GoldSides, GoldSides]], catalogue: Catalogue) -> Contradiction:
    """Make one record of the loopholes on which the same golds part."""
    one, other = (
        attrs.evolve(parts[0][place], sides={name: side for part in parts for name, side in part[place].sides.items()})
        for place in (0, 1)
    )
    entries = [catalogue.loopholes[name] for name in one.sides if name in catalogue.loopholes]
    two_tasks = one.task_id != other.task_id
    return Contradiction(
        kind="one_release" if two_tasks else "between_releases",
        loopholes=tuple(one.sides),
        clauses=tuple(dict.fromkeys(clause for entry in entries for clause in entry.clauses)),
        first=one,
        second=other,
        shared=tuple(release for release in one.releases if release in other.releases) if two_tasks else (),
    )


def contradictions_json(found: Mapping[str, Sequence[Contradiction]]) -> dict[str, Json]:
    """Return the contradictions of some domains as plain data."""
    domains = {domain: [one.to_json() for one in pairs] for domain, pairs in found.items()}
    return {"schema": "multigold/contradictions/1", "domains": domains}
