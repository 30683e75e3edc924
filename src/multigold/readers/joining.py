"""Which task a run is of, where a file does not say, or contradicts itself.

Three things tell. The *checks* that a run carries quote the actions of its task's gold. The *talk* names a user, and a
task's text names one. Last, the *position*: some files list one run per task in the tasks' order, but most do not, so
it is believed only where every run of the file that can be joined by the other two stands where it says.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final

import attrs

from multigold.model.task import Task, ToolCall
from multigold.model.trajectory import Message, RecordedCall
from multigold.model.verdict import Reason
from multigold.state.canonical import Json, same

_USER_ID: Final = re.compile(r"\b[a-z]+_[a-z]+_\d{2,6}\b")


@attrs.frozen(kw_only=True, eq=False, slots=False)
class TaskIndex:
    """Tasks, and what tells them apart."""

    tasks: Mapping[str, Task]

    @cached_property
    def _actions(self) -> dict[str, list[tuple[str, ToolCall]]]:
        found: dict[str, list[tuple[str, ToolCall]]] = defaultdict(list)
        for task in self.tasks.values():
            for action in (task.criteria and task.criteria.actions) or ():
                found[action.name].append((task.id, action))
        return found

    @cached_property
    def users(self) -> dict[str, frozenset[str]]:
        """Task id to the user ids that its text names."""
        return {task.id: frozenset(user_ids(task.instructions)) for task in self.tasks.values()}

    @cached_property
    def known_users(self) -> frozenset[str]:
        """All user ids that some task's text names."""
        return frozenset().union(*self.users.values())

    def by_checks(self, checks: Sequence[ToolCall]) -> frozenset[str]:
        """Return the tasks that have all the actions that a run's checks quote; none if the run quotes none."""
        found: frozenset[str] | None = None
        for check in checks:
            having = frozenset(
                task_id for task_id, action in self._actions.get(check.name, ()) if _alike(action, check)
            )
            found = having if found is None else found & having
        return found or frozenset()

    def has_actions(self, task_id: str, checks: Sequence[ToolCall]) -> bool:
        """Tell whether these are just the gold actions of a task, in order."""
        task = self.tasks.get(task_id)
        actions = (task.criteria.actions if task and task.criteria else None) or ()
        if [action.name for action in actions] != [check.name for check in checks]:
            return False
        ids_agree = all(not a.id or not b.id or a.id == b.id for a, b in zip(actions, checks, strict=True))
        return ids_agree and same([a.arguments for a in actions], [b.arguments for b in checks])

    def by_users(self, named: frozenset[str], *, without_actions: bool) -> frozenset[str]:
        """Return the tasks that may be about these users; only those without gold actions where a run quotes none.

        A task whose text names no user id may be about anybody: some name their users by name and postcode only.
        """
        if not named & self.known_users:
            return frozenset()
        return frozenset(
            task_id
            for task_id, users in self.users.items()
            if (users & named or not users) and not (without_actions and self._has_actions(task_id))
        )

    def _has_actions(self, task_id: str) -> bool:
        criteria = self.tasks[task_id].criteria
        return bool(criteria and criteria.actions)


def _alike(a: ToolCall, b: ToolCall) -> bool:
    return (not b.id or not a.id or a.id == b.id) and same(a.arguments, b.arguments)


def user_ids(value: Json) -> Iterable[str]:
    """Yield what looks like a user id (`mia_li_3668`) in any string of a JSON value."""
    if isinstance(value, str):
        yield from _USER_ID.findall(value)
    elif isinstance(value, dict):
        for item in value.values():
            yield from user_ids(item)
    elif isinstance(value, list):
        for item in value:
            yield from user_ids(item)


@attrs.frozen(kw_only=True, slots=False)
class Clues:
    """What a run tells of the task that it is of.

    Attributes:
        stated: The task id in the file; empty if there is none.
        checks: The gold actions that its checks quote; None if it was not evaluated.
        messages: Its talk.
        calls: Its calls.
    """

    stated: str = ""
    checks: tuple[ToolCall, ...] | None = None
    messages: tuple[Message, ...] = ()
    calls: tuple[RecordedCall, ...] = ()

    def asks_for(self, users: frozenset[str]) -> bool:
        """Tell whether a call asks for one of these users."""
        return any(
            recorded.call.arguments.get("user_id") in users for recorded in self.calls if recorded.call.arguments
        )

    @cached_property
    def users(self) -> frozenset[str]:
        """The user ids that the user names or that calls ask for."""
        said = (user for message in self.messages if message.role == "user" for user in user_ids(message.text))
        asked = (user for recorded in self.calls for user in user_ids((recorded.call.arguments or {}).get("user_id")))
        return frozenset(said) | frozenset(asked)


def join(clues: Clues, index: TaskIndex) -> frozenset[str]:
    """Return the tasks that a run without a task id may be of, by its checks, else by the user that it names."""
    if clues.checks:
        return index.by_checks(clues.checks)
    return index.by_users(clues.users, without_actions=clues.checks is not None)


def join_all(runs: Iterable[Clues], index: TaskIndex) -> list[str]:
    """Return the task of each run of a file without task ids; empty if it cannot be told."""
    candidates = [join(clues, index) for clues in runs]
    order = list(index.tasks)
    in_order = len(order) > 0 and len(candidates) % len(order) == 0 and _in_order(candidates, order)
    return [
        next(iter(found)) if len(found) == 1 else order[place % len(order)] if in_order else ""
        for place, found in enumerate(candidates)
    ]


def _in_order(candidates: Sequence[frozenset[str]], order: Sequence[str]) -> bool:
    """Tell whether no run contradicts that the runs stand in the tasks' order, and some run says so."""
    places = [(order[place % len(order)], found) for place, found in enumerate(candidates) if found]
    return bool(places) and all(task_id in found for task_id, found in places)


def contradiction(clues: Clues, index: TaskIndex) -> tuple[Reason | None, str]:
    """Hold a run's stated task against its own checks and the user that it is about.

    Returns:
        Why the parts contradict each other, None if they do not; and the task that the checks speak of, empty if
        they speak of no single other one.
    """
    if clues.checks is not None and clues.stated in index.tasks:
        if not index.has_actions(clues.stated, clues.checks):
            return _other_gold(clues, index)
        if clues.checks:
            return None, ""
    return _other_user(clues, index), ""


def _other_gold(clues: Clues, index: TaskIndex) -> tuple[Reason, str]:
    claimed = index.by_checks(clues.checks or ())
    if not claimed or clues.stated in claimed:
        sentence = f"the checks of the run are of another gold of task {clues.stated!r}: of another release, perhaps"
        return Reason(code="contradiction", sentence=sentence), ""
    sentence = f"the run says task {clues.stated!r}, its own checks are those of task {', '.join(sorted(claimed))}"
    return Reason(code="contradiction", sentence=sentence), next(iter(claimed)) if len(claimed) == 1 else ""


def _other_user(clues: Clues, index: TaskIndex) -> Reason | None:
    own = index.users.get(clues.stated, frozenset())
    if not own or clues.asks_for(own):
        return None
    named = clues.users & index.known_users
    if not named or own & clues.users:
        return None
    sentence = f"the run says task {clues.stated!r}, and is about user {min(named)} instead of {min(own)}"
    return Reason(code="contradiction", sentence=sentence)
