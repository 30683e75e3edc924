"""Golds to be audited, and the case of each: the environment, the state it starts in, its replay.

A gold is a list of calls that a benchmark, or a reading of a gold set, says to be right. The benchmark's own is
replayed in the benchmark's own way (failing calls skipped, sides not synchronised); a reading's calls as an agent's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import attrs

from multigold.audit.findings import Finding, Level
from multigold.audit.golds.value_index import StateIndex
from multigold.benchmark_data.releases import TaskRelease, TaskVersion
from multigold.environments.base import Environment
from multigold.environments.replay import Replay, replay
from multigold.errors import MultigoldError
from multigold.model.catalogue import Catalogue
from multigold.model.gold import Actions, Choices, Explicit, GoldSet, Reading
from multigold.model.task import Task, ToolCall
from multigold.scoring import CompiledGolds, compile_golds, expand
from multigold.state.canonical import Json
from multigold.state.database import EndState
from multigold.state.delta import Delta, diff
from multigold.state.equivalence import comparable

MAX_MEMBERS = 16
"""Members of a reading's `choices` that are audited; the rest are counted in a note."""


class ReadingMembership:
    """All that one reading admits, worked out when it is first asked for.

    Args:
        reading: The reading.
        task: The task that it is of.
    """

    def __init__(self, reading: Reading, task: Task) -> None:
        self.reading = reading
        self.task = task
        self._compiled: CompiledGolds | None = None

    def admits(self, state: EndState, environment: Environment) -> bool:
        """Tell whether the reading admits a state; False if it cannot be replayed, which is reported otherwise."""
        if self._compiled is None:
            try:
                alone = GoldSet(task_id=self.task.id, readings=(self.reading,))
                self._compiled = compile_golds(self.task, alone, environment)
            except MultigoldError:
                return False
        candidate = self._compiled.prepare(state)
        return any(admitted.find(candidate) is not None for admitted in self._compiled.readings)


@attrs.frozen(kw_only=True, eq=False)
class Gold:
    """One gold: the benchmark's own, or a member of a reading.

    Attributes:
        task: The task that it is of.
        calls: Its calls; None if it states an end state outright.
        where: Its place, for findings.
        reading: The reading that it is of; None for the benchmark's own.
        membership: What else the reading admits; None for the benchmark's own.
        version: The task as its release has it, with what the scorer does not need; None if that is not at hand.
        others: Name of another release to the same task there.
        explicit: The end state that it states outright, or the changes that lead to it; None if it is calls.
        may_fail: Whether failing calls are allowed for (`infeasible: skip`).
        left_out: Members of the same form that are not audited.
    """

    task: Task
    calls: tuple[ToolCall, ...] | None
    where: str
    reading: Reading | None = None
    membership: ReadingMembership | None = None
    version: TaskVersion | None = None
    others: Mapping[str, TaskVersion] = attrs.field(factory=dict)
    explicit: Explicit | None = None
    may_fail: bool = False
    left_out: int = 0


@attrs.frozen(kw_only=True, eq=False, slots=False)
class GoldCase:
    """A gold with what its checks need: the environment and the state that the task starts in.

    Attributes:
        gold: The gold.
        environment: The environment.
        start: The state in which the task is handed to the agent.
        index: The index of that state.
    """

    gold: Gold
    environment: Environment
    start: EndState
    index: StateIndex

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The gold's calls; none if it states an end state outright."""
        return self.gold.calls or ()

    @property
    def synchronise(self) -> bool:
        """Whether the two sides are brought in step after each call, which they are not for a benchmark's own gold."""
        return self.gold.reading is not None

    @cached_property
    def replay(self) -> Replay:
        """The gold replayed."""
        return replay(self.environment, self.calls, initial=self.start, synchronise=self.synchronise)

    @cached_property
    def end(self) -> EndState:
        """Where the gold ends, in comparable form."""
        return self.settled(self._stated_end or self.replay.end_state)

    @cached_property
    def _stated_end(self) -> EndState | None:
        """The end state that the gold states outright; None if it is calls."""
        form = self.gold.explicit
        if form is None or form.delta is None:
            return None if form is None else form.state
        return form.delta.apply(self.start)

    @cached_property
    def synced_end(self) -> EndState:
        """Where an agent ends who makes the gold's calls, both sides in step."""
        if self._stated_end is not None:
            return self._stated_end
        if self.synchronise or self.environment.synchronise is None:
            return self.replay.end_state
        return replay(self.environment, self.calls, initial=self.start).end_state

    @cached_property
    def delta(self) -> Delta:
        """What the gold changes."""
        return diff(self.settled(self.start), self.end)

    def settled(self, state: EndState) -> EndState:
        """Return a state as strict comparison takes it."""
        return comparable(state, self.start, self.environment.conventions)

    def finding(
        self,
        code: str,
        sentence: str,
        *,
        level: Level = "error",
        place: str = "",
        evidence: Json = None,
        remedy: str = "",
    ) -> Finding:
        """Return a finding about this gold, at the gold's place and what is added to it."""
        return Finding(
            code=code,
            where=f"{self.gold.where}{place}",
            sentence=sentence,
            level=level,
            task=self.gold.task.id,
            evidence=evidence,
            remedy=remedy,
        )


# Where golds come from


def golds_of_release(release: TaskRelease, others: Sequence[TaskRelease] = ()) -> Iterator[Gold]:
    """Yield the benchmark's own gold of every task of a release that states one.

    Args:
        release: The release.
        others: Other releases of the same benchmark, which may contradict it.
    """
    for version in release.tasks.values():
        criteria = version.task.criteria
        if criteria is not None and criteria.states_gold:
            yield Gold(
                task=version.task,
                calls=criteria.actions or (),
                where=f"task {version.task.id}",
                version=version,
                others={o.name: o.tasks[version.task.id] for o in others if version.task.id in o.tasks},
            )


def golds_of_catalogue(catalogue: Catalogue, tasks: Iterable[Task] = ()) -> Iterator[Gold]:
    """Yield what the readings of a catalogue admit, if that is calls or an end state; patterns have no calls.

    Args:
        catalogue: The catalogue.
        tasks: The benchmark's tasks, of any number of releases: a gold set's task is the one of them whose text it was
            written for. A gold set that finds none is audited from the environment's initial state, without a text.
    """
    texts = {task.text_fingerprint(): task for task in tasks}
    for gold_set in catalogue:
        known = (texts[text.fingerprint] for text in gold_set.texts if text.fingerprint in texts)
        task = next(known, None) or Task(gold_set.task_id, domain=catalogue.domain)
        for reading in gold_set.readings:
            yield from _golds_of_reading(gold_set, reading, task)


def _golds_of_reading(gold_set: GoldSet, reading: Reading, task: Task) -> Iterator[Gold]:
    place = f"{gold_set.source or gold_set.task_id}: reading {reading.id}"
    membership = ReadingMembership(reading, task)
    for number, form in enumerate(reading.admits):
        where = f"{place}, form {number}" if len(reading.admits) > 1 else place
        if isinstance(form, Actions):
            yield Gold(task=task, calls=form.calls, where=where, reading=reading, membership=membership)
        elif isinstance(form, Explicit):
            yield Gold(task=task, calls=None, where=where, reading=reading, membership=membership, explicit=form)
        elif isinstance(form, Choices):
            yield from _members(form, where, membership)


def _members(form: Choices, where: str, membership: ReadingMembership) -> Iterator[Gold]:
    members = list(expand(form, where=where))
    for label, calls in members[:MAX_MEMBERS]:
        yield Gold(
            task=membership.task,
            calls=calls,
            where=f"{where} ({label})",
            reading=membership.reading,
            membership=membership,
            may_fail=form.infeasible == "skip",
            left_out=max(0, len(members) - MAX_MEMBERS),
        )
