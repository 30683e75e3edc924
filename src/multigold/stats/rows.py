"""The record of one run, as statistics see it, and cells: the trials of one agent on one task.

Statistics do not read verdicts. A row has one reward, in the column at hand, so every metric can be computed for every
column, and from results of any origin. Cells are counts, which is why the order of rows changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from numbers import Rational
from operator import attrgetter
from typing import Any, Literal, TypeAlias

import attrs

from multigold.errors import BugError, CallError
from multigold.model.verdict import is_success
from multigold.state.canonical import Json

Missing: TypeAlias = Literal["left_out", "failed"]
"""What becomes of trials that have no reward, or that were planned and are not there."""

MISSING: Mapping[Missing, str] = {
    "left_out": "trials without a reward are left out, and so is a task with too few trials left",
    "failed": "trials without a reward, and planned trials that are not there, count as failed",
}
"""The conventions for missing trials, in a sentence each."""


def _finite(_: object, __: object, value: float | None) -> None:
    if value is not None and not isfinite(value):
        raise CallError(f"a reward must be a finite number, or None if there is none; this one is {value}.")


@attrs.frozen(kw_only=True)
class RunRow:
    """One run.

    Attributes:
        agent: Who ran.
        task: The task's id.
        trial: Which of the agent's trials of that task; used only to pair two agents.
        reward: The reward in the column at hand; None if the run is unscored, which is not zero.
        domain: The task's domain; leave it empty if all rows are of one, so that tasks keep their short names.
        stratum: The run's stratum.
        loopholes: Loopholes that the task exercises; empty if there are no sides to take.
        positions: For each loophole, the sides that the matched readings take, as in a verdict.
        baselines: What agents that did not do the work earn on this task in the same column; empty if not known.
    """

    agent: str
    task: str
    trial: int = 0
    reward: float | None = attrs.field(default=None, validator=_finite)
    domain: str = ""
    stratum: str = ""
    loopholes: tuple[str, ...] = ()
    positions: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    baselines: Mapping[str, float] = attrs.field(factory=dict)

    @property
    def name(self) -> str:
        """The task's name among all rows: with its domain, if that is given."""
        return f"{self.domain}/{self.task}" if self.domain else self.task

    @property
    def taken(self) -> dict[str, tuple[str, ...]]:
        """The sides that the run takes of its task's loopholes, without those of which it takes none."""
        return {name: sides for name in self.loopholes if (sides := self.positions.get(name, ()))}

    @property
    def success(self) -> bool | None:
        """Whether the reward is within 1e-6 of 1; None if there is no reward."""
        return is_success(self.reward)


@attrs.frozen(kw_only=True)
class Cell:
    """The trials of one agent on one task.

    Attributes:
        agent: The agent.
        task: The task's name.
        rows: The runs, by trial.
        absent: Trials that were planned and are not there.
        successes: Runs that succeeded.
        scored: Runs that have a reward.
        unscored: Runs that have none.
    """

    agent: str
    task: str
    rows: tuple[RunRow, ...] = ()
    absent: int = 0
    successes: int = attrs.field(init=False)
    scored: int = attrs.field(init=False)
    unscored: int = attrs.field(init=False)

    @successes.default
    def _count_successes(self) -> int:
        return sum(row.success is True for row in self.rows)

    @scored.default
    def _count_scored(self) -> int:
        return sum(row.reward is not None for row in self.rows)

    @unscored.default
    def _count_unscored(self) -> int:
        return len(self.rows) - self.scored

    def trials(self, missing: Missing = "left_out") -> int:
        """Return the number of trials that count under a convention for missing ones."""
        return self.scored + (self.unscored + self.absent if missing == "failed" else 0)


def cells(rows: Iterable[RunRow], *, planned: int | None = None, tasks: Iterable[str] = ()) -> tuple[Cell, ...]:
    """Group runs by task and agent, in natural order of tasks, then by agent.

    Runs whose task is not known share a name, the empty one, and no task: they say nothing of how many trials a task
    has, and none of theirs is absent.

    Args:
        rows: The runs, in any order.
        planned: Trials that each agent was to make of each task; None takes, for each agent, the most that it made.
        tasks: Names of tasks that every agent should have run; those without a run become cells with none.
    """
    groups: dict[tuple[str, str], list[RunRow]] = {}
    for row in rows:
        groups.setdefault((row.name, row.agent), []).append(row)
    most: dict[str, int] = {}
    for (_, agent), group in groups.items():
        most[agent] = max(most.get(agent, 0), len(group) if group[0].task else 0)
    for task in tasks:
        for agent in most:
            groups.setdefault((task, agent), [])
    keys = sorted(groups, key=lambda key: (natural(key[0]), key[1]))
    return tuple(
        Cell(
            agent=agent,
            task=task,
            rows=_by_trial(groups[task, agent]),
            absent=_absent(groups[task, agent], most[agent] if planned is None else planned),
        )
        for task, agent in keys
    )


def _absent(group: Sequence[RunRow], planned: int) -> int:
    return 0 if group and not group[0].task else max(0, planned - len(group))


def _by_trial(group: list[RunRow]) -> tuple[RunRow, ...]:
    """Return runs by trial; what else is known of them is looked at only where two are the same trial."""
    if len({row.trial for row in group}) == len(group):
        return tuple(sorted(group, key=_trial))
    return tuple(sorted(group, key=_within_cell))


_trial = attrgetter("trial")


def cells_of_one_agent(
    rows: Iterable[RunRow], *, planned: int | None = None, tasks: Iterable[str] = ()
) -> tuple[Cell, ...]:
    """Group the runs of one agent by task.

    Raises:
        CallError: The rows are of several agents.
    """
    grid = cells(rows, planned=planned, tasks=tasks)
    agents = sorted({cell.agent for cell in grid})
    if len(agents) > 1:
        raise CallError(
            f"this metric is for one agent, and the rows are of {len(agents)}: {', '.join(agents[:5])}.",
            remedy="Call it once for each agent.",
        )
    return grid


def by_agent(rows: Iterable[RunRow]) -> dict[str, tuple[RunRow, ...]]:
    """Group runs by agent, in order of the agents' names."""
    groups: dict[str, list[RunRow]] = {}
    for row in rows:
        groups.setdefault(row.agent, []).append(row)
    return {agent: tuple(groups[agent]) for agent in sorted(groups)}


def leave_out(rows: Iterable[RunRow], tasks: Iterable[str]) -> tuple[RunRow, ...]:
    """Return the rows of all other tasks."""
    names = frozenset(tasks)
    return tuple(row for row in rows if row.name not in names)


def natural(name: str) -> tuple[str, ...]:
    """Return a sort key that puts task 2 before task 10."""
    parts = re.split(r"([0-9]+)", name)
    # A run of digits sorts by its length, then its letters: as a number, without ever becoming a huge one.
    parts[1::2] = [f"{len(digits.lstrip('0')):09}{digits.lstrip('0')}" for digits in parts[1::2]]
    return (*parts, name)


def check_option(name: str, value: str, options: Iterable[str]) -> None:
    """Refuse a value that is not one of the named options.

    Raises:
        CallError: It is not.
    """
    allowed = sorted(options)
    if value not in allowed:
        raise CallError(f"{name} must be one of {', '.join(allowed)}; it is {value!r}.")


def plain(value: object) -> Json:
    """Return a record of this package, or a container of them, as JSON values.

    Exact fractions become floats; the records' own fields keep the counts that they come from.

    Raises:
        BugError: There is something in it that no record should hold.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Rational):
        return float(value)
    kind: type[Any] = type(value)
    if attrs.has(kind):
        return {field.name: plain(getattr(value, field.name)) for field in attrs.fields(kind)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [plain(item) for item in value]
    raise BugError(f"a {type(value).__name__} does not belong in a table of statistics.")


def _within_cell(row: RunRow) -> tuple[Any, ...]:
    reward = (row.reward is None, row.reward or 0.0)
    return (row.trial, reward, sorted((k, sorted(v)) for k, v in row.positions.items()))
