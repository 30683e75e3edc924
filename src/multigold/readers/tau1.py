"""tau-bench v1: a list of `{task_id, reward, info, traj, trial}`.

The benchmark's task stands in each item's `info.task`, so the tasks are gathered from the items. An item that crashed
has an empty `traj` and an error. Some agents call tools in their text (act, react): the words after the last "Action:"
of a message are the call, `respond` is talk, and the answer comes as a user message that begins with "API output: ".

v1 states no reason for an end. A verdict is only worked out where the talk came to an end, so one that is there means
`user_stop`, or `agent_stop` where the last step was a tool (`transfer_to_human_agents`); without one the steps ran out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import attrs
import msgspec

from multigold.model.call_shapes import parse_arguments
from multigold.model.message_shapes import RawMessage
from multigold.model.task import Criteria, Task, ToolCall
from multigold.model.trajectory import Recorded, Trajectory
from multigold.model.transcript import Transcript, parse_messages
from multigold.model.verdict import Reason
from multigold.readers.base import ReadOptions, ResultsFile, Run, Runs, stem
from multigold.readers.decoding import Document, decode_run, decoded
from multigold.readers.domains import guess_domain, guessed
from multigold.readers.simulation import number, reward_number, word
from multigold.readers.tasks import id_text, shortened
from multigold.state.canonical import Json
from multigold.state.json_values import is_too_deep


class _Action(msgspec.Struct):
    name: Any = None
    kwargs: Any = None


class _Task(msgspec.Struct):
    user_id: Any = None
    instruction: Any = None
    actions: list[_Action] | None = None
    outputs: list[Any] | None = None


class _Factors(msgspec.Struct):
    r_actions: Any = None
    r_outputs: Any = None


class _RewardInfo(msgspec.Struct):
    reward: Any = None
    info: _Factors | None = None


class _Info(msgspec.Struct):
    task: _Task | None = None
    source: Any = None
    reward_info: _RewardInfo | None = None
    error: Any = None


class _Head(msgspec.Struct):
    task_id: Any = None
    reward: Any = None
    trial: Any = None
    info: _Info | None = None


class _Item(_Head):
    traj: list[RawMessage] | None = None


class _Traj(msgspec.Struct):
    traj: Any = None


_DECODER: Final = msgspec.json.Decoder(_Item)


def recognise(document: Document) -> bool:
    """Tell whether a document is a list of tau-bench v1 items."""
    if not document.items:
        return False
    first = decoded(document.items[0], dict[str, msgspec.Raw]) or {}
    return "traj" in first and "task_id" in first


def read(document: Document, options: ReadOptions) -> ResultsFile:
    """Read a tau-bench v1 results file."""
    raw = document.items or ()
    survey = _survey(raw)
    domain, guesses = (options.domain, ()) if options.domain else guessed(guess_domain(survey.tools), "tau1")
    tasks = {task_id: attrs.evolve(task, domain=domain) for task_id, task in survey.tasks.items()}
    stated = survey.tasks
    agent = options.agent or stem(document.name)
    unnamed = () if options.agent else (f"the file names no agent: it is called {agent!r} after the file",)

    def produce() -> Iterator[Run]:
        for index, item in enumerate(raw):
            yield _read_run(item, f"[{index}]", agent, stated)

    return ResultsFile(
        format="tau1",
        name=document.name,
        digest=document.digest,
        domain=domain,
        agent=agent,
        tasks=tasks,
        runs=Runs(count=len(raw), produce=produce),
        warnings=(*document.warnings, *unnamed, *guesses, *shortened(survey.doubts), *_duplicates(survey.trials)),
    )


@attrs.define
class _Survey:
    """What one pass over all items tells of them together.

    Attributes:
        tasks: The tasks that the items hold.
        tools: Tools that their golds name.
        doubts: Where two items of one task id differ in it.
        trials: How often each task and trial stands.
    """

    tasks: dict[str, Task] = attrs.field(factory=dict)
    tools: list[str] = attrs.field(factory=list)
    doubts: list[str] = attrs.field(factory=list)
    trials: Counter[tuple[str, int]] = attrs.field(factory=Counter)


def _survey(raw: Iterable[msgspec.Raw]) -> _Survey:
    survey = _Survey()
    for index, item in enumerate(raw):
        head = decoded(item, _Head) or _Head()
        survey.trials[id_text(head.task_id), number(head.trial)] += 1
        task = _task(head)
        if task is None:
            continue
        if task.id not in survey.tasks:
            survey.tasks[task.id] = task
            survey.tools.extend(action.name for action in (task.criteria and task.criteria.actions) or ())
        elif survey.tasks[task.id] != task:
            survey.doubts.append(f"[{index}] holds another text or gold of task {task.id!r} than an earlier item")
    return survey


def _task(head: _Head) -> Task | None:
    raw = head.info.task if head.info else None
    task_id = id_text(head.task_id)
    if raw is None or not task_id or is_too_deep([raw.instruction, raw.user_id]):
        return None
    actions = None if raw.actions is None else tuple(_gold(action) for action in raw.actions)
    return Task(
        task_id,
        instructions={"user_id": raw.user_id, "instruction": raw.instruction},
        criteria=Criteria(
            actions=actions,
            communicate=tuple(str(item) for item in raw.outputs or () if isinstance(item, str | int | float)),
            reward_basis=("DB", "COMMUNICATE"),
        ),
    )


def _gold(action: _Action) -> ToolCall:
    return ToolCall(word(action.name), parse_arguments(action.kwargs)[0])


def _duplicates(trials: Mapping[tuple[str, int], int]) -> tuple[str, ...]:
    return shortened(
        [f"{count} runs are task {task!r} trial {trial}" for (task, trial), count in trials.items() if count > 1]
    )


def _read_run(raw: msgspec.Raw | bytes, place: str, agent: str, tasks: Mapping[str, Task]) -> Run:
    item, transcript, problem = _read_item(raw)
    return Run(
        trajectory=_trajectory(item, transcript, agent),
        task_id=id_text(item.task_id),
        problem=problem or _task_problem(item, tasks),
        place=place,
        notes=transcript.notes if transcript else (),
    )


def _read_item(raw: msgspec.Raw | bytes) -> tuple[_Head, Transcript | None, Reason | None]:
    try:
        item = decode_run(_DECODER, raw)
    except (ValueError, RecursionError) as error:
        problem = Reason(code="unreadable_run", sentence=f"the run cannot be read ({error})")
        return decoded(raw, _Head) or _Head(), None, problem
    if not item.traj:
        return item, None, _why_empty(item)
    return item, parse_messages(item.traj, lambda: (decoded(raw, _Traj) or _Traj()).traj), None


def _task_problem(item: _Head, tasks: Mapping[str, Task]) -> Reason | None:
    task_id, own = id_text(item.task_id), _task(item)
    if task_id not in tasks:
        return Reason(code="task_unknown", sentence=f"no item of the file holds task {task_id!r}")
    if own is not None and own != tasks[task_id]:
        sentence = f"the run holds another text or gold of task {task_id!r} than an earlier one"
        return Reason(code="contradiction", sentence=sentence)
    return None


def _why_empty(item: _Head) -> Reason:
    error = id_text(item.info.error) if item.info else ""
    if error:
        return Reason(code="infrastructure_error", sentence=f"the run crashed ({error[:200]})")
    return Reason(code="messages_missing", sentence="the file holds neither the run's messages nor its tool calls")


def _trajectory(item: _Head, transcript: Transcript | None, agent: str) -> Trajectory:
    return Trajectory(
        calls=transcript.calls if transcript else None,
        messages=transcript.messages if transcript else (),
        termination=_termination(item.info),
        problem=transcript.problem if transcript else None,
        recorded=_recorded(item),
        task_id=id_text(item.task_id),
        trial=number(item.trial),
        agent=agent,
    )


def _termination(info: _Info | None) -> str | None:
    if info is None:
        return None
    if info.error is not None:
        return "infrastructure_error"
    if info.reward_info is None:
        return "max_steps"
    return "user_stop" if info.source == "user" else "agent_stop"


def _recorded(item: _Head) -> Recorded:
    info = item.info.reward_info if item.info else None
    factors = (info.info if info else None) or _Factors()
    actions, outputs = reward_number(_as_number(factors.r_actions)), reward_number(_as_number(factors.r_outputs))
    breakdown = {"DB": actions, "COMMUNICATE": outputs}
    return Recorded(
        reward=reward_number(item.reward),
        db_match=None if actions is None else actions == 1.0,
        breakdown={name: value for name, value in breakdown.items() if value is not None},
    )


def _as_number(value: Json) -> Json:
    return float(value) if isinstance(value, bool) else value
