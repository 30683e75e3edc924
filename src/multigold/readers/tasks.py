"""The benchmark's tasks: as a results file embeds them, and as the benchmark's own task files hold them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import attrs
import msgspec

from multigold.model.call_shapes import parse_call
from multigold.model.task import Criteria, Task, ToolCall
from multigold.readers.base import AcceptableOutcome, KnownTasks
from multigold.readers.decoding import decoded
from multigold.state.canonical import Json
from multigold.state.json_values import is_too_deep

_MOST_WARNINGS = 5


class _Criteria(msgspec.Struct, gc=False):
    actions: list[dict[str, Any]] | None = None
    env_assertions: list[Any] | None = None
    communicate_info: list[Any] | str | None = None
    reward_basis: list[str] | None = None
    acceptable_outcomes: list[dict[str, Any]] | None = None


class _Task(msgspec.Struct, gc=False):
    id: Any = None
    user_scenario: Any = None
    initial_state: Any = None
    evaluation_criteria: _Criteria | None = None


@attrs.frozen(kw_only=True)
class TaskTable:
    """Tasks by id, the outcomes that a fork accepts, and what could not be read."""

    tasks: dict[str, Task] = attrs.field(factory=dict)
    acceptable: dict[str, tuple[AcceptableOutcome, ...]] = attrs.field(factory=dict)
    warnings: tuple[str, ...] = ()


def read_tasks(raw: Iterable[msgspec.Raw], domain: str = "", *, known: KnownTasks | None = None) -> TaskTable:
    """Read tau2 tasks.

    Args:
        raw: Each task as raw JSON.
        domain: The environment's name.
        known: Tasks that were read before; what is read now is added.

    Returns:
        The tasks that can be read; one that cannot is left out and named in a warning, and so is a second of one id.
    """
    table, faults = TaskTable(), []
    for index, item in enumerate(raw):
        try:
            task, outcomes = _read_task(item, domain, known)
        except (ValueError, RecursionError) as error:
            faults.append(f"tasks[{index}] cannot be read ({error})")
            continue
        if task.id in table.tasks:
            faults.append(f"tasks[{index}] has the id {task.id!r} of an earlier task, which is kept")
            continue
        table.tasks[task.id] = task
        if outcomes:
            table.acceptable[task.id] = outcomes
    return attrs.evolve(table, warnings=shortened(faults))


def _read_task(item: msgspec.Raw, domain: str, known: KnownTasks | None) -> tuple[Task, tuple[AcceptableOutcome, ...]]:
    key = (bytes(item), domain)
    found = known.get(key) if known is not None else None
    if found is None:
        task = msgspec.json.decode(item, type=_Task)
        found = _task(task, id_text(task.id), domain), tuple(_outcomes(task.evaluation_criteria))
        if known is not None:
            known[key] = found
    return found


def shortened(sentences: list[str], most: int = _MOST_WARNINGS) -> tuple[str, ...]:
    """Return the first few sentences, and the number of the rest."""
    rest = len(sentences) - most
    return (*sentences[:most], f"and {rest} more like these") if rest > 0 else tuple(sentences)


def id_text(value: Json) -> str:
    """Return an id as text: files write task ids as strings and as numbers; empty for anything else."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _task(task: _Task, task_id: str, domain: str) -> Task:
    criteria = task.evaluation_criteria
    if any(
        is_too_deep(part) for part in (task.user_scenario, task.initial_state, criteria and criteria.env_assertions)
    ):
        raise ValueError("it is nested too deeply")
    return Task(
        task_id,
        instructions=task.user_scenario,
        initial_state=task.initial_state,
        criteria=None if criteria is None else _read_criteria(criteria),
        domain=domain,
    )


def _read_criteria(criteria: _Criteria) -> Criteria:
    assertions, basis = criteria.env_assertions, criteria.reward_basis
    return Criteria(
        actions=read_actions(criteria.actions),
        env_assertions=None if assertions is None else tuple(assertions),
        communicate=_strings(criteria.communicate_info),
        reward_basis=None if basis is None else tuple(basis),
    )


def read_actions(actions: Json) -> tuple[ToolCall, ...] | None:
    """Read a gold's actions; None if there is no list of them."""
    if not isinstance(actions, list):
        return None
    return tuple(attrs.evolve(_action(action), compared=_compared(action)) for action in actions)


def _action(action: Json) -> ToolCall:
    return parse_call(action if isinstance(action, dict) else {})[0]


def _compared(action: Json) -> tuple[str, ...] | None:
    """Return the names of the arguments that the benchmark compares; None if it does not say."""
    value = action.get("compare_args") if isinstance(action, dict) else None
    return tuple(map(str, value)) if isinstance(value, list) else None


def _strings(value: Json) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(str(item) for item in value or () if isinstance(item, str | int | float))


def _outcomes(criteria: _Criteria | None) -> Iterator[AcceptableOutcome]:
    for index, outcome in enumerate((criteria and criteria.acceptable_outcomes) or ()):
        reward = outcome.get("reward")
        communicate = outcome.get("communicate_info")
        yield AcceptableOutcome(
            id=id_text(outcome.get("outcome_id")) or str(index),
            actions=read_actions(outcome.get("actions")),
            communicate=_strings(communicate if isinstance(communicate, list | str) else None),
            description=str(outcome.get("description") or ""),
            reward=float(reward) if isinstance(reward, int | float) else 1.0,
        )


def read_task_file(data: bytes, domain: str = "") -> TaskTable | None:
    """Read a benchmark's own task file, a JSON array of tasks; None if it is no array."""
    raw = decoded(data, list[msgspec.Raw])
    return None if raw is None else read_tasks(raw, domain)
