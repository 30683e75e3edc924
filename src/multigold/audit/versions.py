"""What changed between two releases of a benchmark's tasks, or between a benchmark and its fork.

A release is its tasks, its policy and its database. Of a task, each part is compared by itself, because a change of the
user's instructions, of the gold and of a comment are three different things. A part that changed *cosmetically* reads
and scores as before: only white space or letter case differ, only a description for people, or a reward basis is now
written out that was implied.

Where the change shows how a maintainer dealt with an ambiguous clause, it is named (the paper, appendix F):

    user_refuses    the instructions now tell the user to refuse something, so that the other reading never comes up
    user_requests   the instructions now tell the user to ask for something that was left to the agent
    gold_flipped    the gold ends in another state
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Literal, TypeAlias

import attrs

from multigold.benchmark_data.releases import TaskRelease, TaskVersion
from multigold.environments.base import Environment
from multigold.environments.replay import initial_state
from multigold.model.task import Task, ToolCall, without_nulls
from multigold.policies.clauses import split_policy
from multigold.policies.wording import new_sentences, refuses, requests, rewords, same_wording
from multigold.scoring import benchmark_gold
from multigold.scoring.rewards import DEFAULT_BASIS
from multigold.state.canonical import Json, canonical_text
from multigold.state.database import EndState
from multigold.state.delta import Delta, diff
from multigold.state.equivalence import comparable
from multigold.stats.exact import TaskOverlap, overlap_of_tasks
from multigold.stats.rows import natural

PARTS = (
    "instructions",
    "initial_state",
    "gold_writes",
    "gold_reads",
    "assertions",
    "communicate",
    "reward_basis",
    "other_criteria",
    "description",
    "notes",
)
"""The parts of a task that are compared. `gold_reads` are the calls of the gold that change nothing, `other_criteria`
what else the scorer may look at, `notes` what is left: numbers of calls, annotations."""

FOR_READERS = frozenset({"description", "notes"})
"""Parts that neither the simulated user nor the scorer sees."""

Strategy: TypeAlias = Literal["user_refuses", "user_requests", "gold_flipped"]
FileStatus: TypeAlias = Literal["same", "differs", "not_given"]


@attrs.frozen(kw_only=True)
class TaskChange:
    """What changed in one task.

    Attributes:
        task_id: The task.
        parts: Parts that changed in substance.
        cosmetic: Parts that changed only cosmetically.
        added: Sentences of the user's instructions that are new.
        removed: Sentences of them that are gone.
        gold_before: The gold's calls that change something, before.
        gold_after: The same after.
        gold_delta: From the old gold's end state to the new one's, empty if they are the same; None if there is
            no environment to replay them in.
        gold_untouched: Whether the new gold leaves the initial state untouched; None if that is not known.
        strategies: How the change deals with an ambiguity, as far as its form shows; a proposal.
    """

    task_id: str
    parts: tuple[str, ...] = ()
    cosmetic: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    gold_before: tuple[ToolCall, ...] = ()
    gold_after: tuple[ToolCall, ...] = ()
    gold_delta: Delta | None = None
    gold_untouched: bool | None = None
    strategies: tuple[Strategy, ...] = ()

    @property
    def touched(self) -> tuple[str, ...]:
        """All the parts that differ in any way."""
        return tuple(part for part in PARTS if part in self.parts or part in self.cosmetic)

    def to_json(self) -> dict[str, Json]:
        """Return the change as plain data."""
        return {
            "task_id": self.task_id,
            "parts": list(self.parts),
            "cosmetic": list(self.cosmetic),
            "added": list(self.added),
            "removed": list(self.removed),
            "gold_before": [call.to_json() for call in self.gold_before],
            "gold_after": [call.to_json() for call in self.gold_after],
            "gold_delta": None if self.gold_delta is None else self.gold_delta.to_json(),
            "gold_untouched": self.gold_untouched,
            "strategies": list(self.strategies),
        }


@attrs.frozen(kw_only=True)
class FileChange:
    """Whether the policy, or the database, is the same in both releases.

    Attributes:
        status: `same` (a policy byte for byte, a database record by record), `differs`, or `not_given` if one is
            not at hand.
        clauses_added: Clauses that only the new policy has, each as one line.
        clauses_removed: Clauses that only the old one has.
    """

    status: FileStatus
    clauses_added: tuple[str, ...] = ()
    clauses_removed: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return it as plain data."""
        added, removed = list(self.clauses_added), list(self.clauses_removed)
        return {"status": self.status, "clauses_added": added, "clauses_removed": removed}


@attrs.frozen(kw_only=True)
class VersionDiff:
    """What changed between two releases.

    Attributes:
        old: Name of the older release.
        new: Name of the newer one.
        common: Ids of the tasks that both have, in natural order.
        only_old: Ids that only the older has.
        only_new: Ids that only the newer has.
        changes: One per task of both that differs in any way, in natural order.
        policy: Whether the policy changed.
        database: Whether the database changed.
    """

    old: str
    new: str
    common: tuple[str, ...]
    only_old: tuple[str, ...] = ()
    only_new: tuple[str, ...] = ()
    changes: tuple[TaskChange, ...] = ()
    policy: FileChange = attrs.field(factory=lambda: FileChange(status="not_given"))
    database: FileChange = attrs.field(factory=lambda: FileChange(status="not_given"))

    def changed(self, *, aside: Collection[str] = ()) -> tuple[str, ...]:
        """Return the ids of tasks that differ in any way in some part that is not left aside."""
        return tuple(change.task_id for change in self.changes if set(change.touched) - set(aside))

    def changed_in(self, part: str) -> tuple[str, ...]:
        """Return the ids of tasks of which one part differs in any way."""
        return tuple(change.task_id for change in self.changes if part in change.touched)

    @property
    def substantive(self) -> tuple[str, ...]:
        """Ids of tasks that differ in more than cosmetics."""
        return tuple(change.task_id for change in self.changes if change.parts)

    @property
    def gold_states_differ(self) -> tuple[str, ...]:
        """Ids of tasks whose golds end in different states; empty if nothing was replayed."""
        return tuple(change.task_id for change in self.changes if change.gold_delta)

    def overlap(self, tasks: Collection[str], *, aside: Collection[str] = ("reward_basis",)) -> TaskOverlap:
        """Return how surprising it is that so many of some tasks are among the changed ones.

        Args:
            tasks: The tasks, such as those that an audit found affected.
            aside: Parts whose change does not count.

        Raises:
            CallError: If one of them is in no task file.
        """
        return overlap_of_tasks(self.common, self.changed(aside=aside), tasks)

    def to_json(self) -> dict[str, Json]:
        """Return the whole as plain data."""
        return {
            "schema": "multigold/versions/1",
            "old": self.old,
            "new": self.new,
            "tasks_in_both": len(self.common),
            "only_old": list(self.only_old),
            "only_new": list(self.only_new),
            "policy": self.policy.to_json(),
            "database": self.database.to_json(),
            "changed": {
                "any": list(self.changed()),
                "reward_basis_aside": list(self.changed(aside=("reward_basis",))),
                "description_aside_too": list(self.changed(aside=("reward_basis", *FOR_READERS))),
                "substantive": list(self.substantive),
            },
            "by_part": {part: list(self.changed_in(part)) for part in PARTS},
            "gold_states_differ": list(self.gold_states_differ),
            "tasks": [change.to_json() for change in self.changes],
        }


def compare_releases(old: TaskRelease, new: TaskRelease, environment: Environment | None = None) -> VersionDiff:
    """Compare two releases task by task.

    Args:
        old: The older.
        new: The newer, or the fork.
        environment: Where golds are replayed, and by which one knows the calls that change something; None: every call
            of a gold counts as one that may, and end states are not compared.
    """
    ids = sorted(old.tasks.keys() | new.tasks.keys(), key=natural)
    common = tuple(i for i in ids if i in old.tasks and i in new.tasks)
    changes = (_task_change(old.tasks[i], new.tasks[i], environment) for i in common)
    return VersionDiff(
        old=old.name,
        new=new.name,
        common=common,
        only_old=tuple(i for i in ids if i not in new.tasks),
        only_new=tuple(i for i in ids if i not in old.tasks),
        changes=tuple(change for change in changes if change.touched),
        policy=_policy_change(old.policy, new.policy),
        database=FileChange(status=_status(old.database, new.database)),
    )


def _status(old: object, new: object) -> FileStatus:
    if old is None or new is None:
        return "not_given"
    return "same" if old == new else "differs"


def _policy_change(old: bytes | None, new: bytes | None) -> FileChange:
    status = _status(old, new)
    if old is None or new is None or status == "same":
        return FileChange(status=status)
    before, after = ({clause.fingerprint: clause.words for clause in split_policy(policy)} for policy in (old, new))
    return FileChange(
        status=status,
        clauses_added=tuple(words for key, words in after.items() if key not in before),
        clauses_removed=tuple(words for key, words in before.items() if key not in after),
    )


def _task_change(old: TaskVersion, new: TaskVersion, environment: Environment | None) -> TaskChange:
    before, after = _parts(old, environment), _parts(new, environment)
    differing = [part for part in PARTS if canonical_text(before[part]) != canonical_text(after[part])]
    cosmetic = tuple(part for part in differing if _is_cosmetic(part, before[part], after[part]))
    instructions = old.task.instructions, new.task.instructions
    added, removed = new_sentences(*instructions), new_sentences(*reversed(instructions))
    gold_delta, untouched = _gold_states(old.task, new.task, environment)
    parts = tuple(part for part in differing if part not in cosmetic)
    return TaskChange(
        task_id=old.task.id,
        parts=parts,
        cosmetic=cosmetic,
        added=added,
        removed=removed,
        gold_before=_writes(old.task, environment),
        gold_after=_writes(new.task, environment),
        gold_delta=gold_delta,
        gold_untouched=untouched,
        strategies=tuple(_strategies(added, removed, parts, gold_delta)),
    )


def _parts(version: TaskVersion, environment: Environment | None) -> dict[str, Json]:
    """Return the parts of a task in the form in which they are compared: nulls dropped, ids of calls left out."""
    criteria = version.task.criteria
    writes = _writes(version.task, environment)
    reads = [call for call in (criteria and criteria.actions) or () if call not in writes]
    parts: dict[str, Json] = {
        "instructions": version.task.instructions,
        "initial_state": version.task.initial_state,
        "gold_writes": _plain_calls(writes),
        "gold_reads": _plain_calls(reads),
        "assertions": version.assertions,
        "communicate": list(criteria.communicate) if criteria else [],
        "reward_basis": list(criteria.reward_basis) if criteria and criteria.reward_basis is not None else None,
        "other_criteria": version.other_criteria,
        "description": version.description,
        "notes": version.notes,
    }
    return {part: without_nulls(value) for part, value in parts.items()}


def _plain_calls(calls: Sequence[ToolCall]) -> list[Json]:
    return [[call.name, call.arguments, call.requestor] for call in calls]


def _writes(task: Task, environment: Environment | None) -> tuple[ToolCall, ...]:
    calls = (task.criteria.actions if task.criteria else None) or ()
    if environment is None:
        return tuple(calls)
    tools = [(call, environment.tool(call.name, call.requestor)) for call in calls]
    return tuple(call for call, tool in tools if tool is None or tool.kind == "write")


def _is_cosmetic(part: str, old: Json, new: Json) -> bool:
    if part in FOR_READERS:
        return True
    if part == "reward_basis":
        return (old or list(DEFAULT_BASIS)) == (new or list(DEFAULT_BASIS))
    return part in ("instructions", "assertions") and same_wording(old, new)


def _gold_states(old: Task, new: Task, environment: Environment | None) -> tuple[Delta | None, bool | None]:
    """Return what differs between the end states of two golds, and whether the new one leaves everything untouched."""
    if environment is None or not all(task.criteria and task.criteria.states_gold for task in (old, new)):
        return None, None
    (_, before), (start, after) = (_gold_state(task, environment) for task in (old, new))
    return diff(before, after), not diff(start, after)


def _gold_state(task: Task, environment: Environment) -> tuple[EndState, EndState]:
    start = initial_state(environment, task.initial, task.initial_state)
    return comparable(start, start, environment.conventions), benchmark_gold(task, environment, start).state


def _strategies(
    added: Sequence[str], removed: Sequence[str], parts: Collection[str], gold_delta: Delta | None
) -> Iterator[Strategy]:
    if any(refuses(sentence) for sentence in added):
        yield "user_refuses"
    if any(requests(sentence) and not rewords(sentence, removed) for sentence in added):
        yield "user_requests"
    if gold_delta or (gold_delta is None and "gold_writes" in parts):
        yield "gold_flipped"
