"""tau2's results: the classic form, the 1.0 form, a bare list of simulations, and wrappers around such lists.

    classic   {timestamp, info, tasks, simulations}
    1.0       the same with `simulation_index`, and `mode`, `ticks`, `policy` ... in each simulation
    list      [simulation, ...]
    wrapper   {domain?, agent?, model?, ..., simulations} without `info` or without `tasks`

Only what scoring needs is decoded. `raw_data` is never read: arguments stand in `tool_calls` as objects.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from multigold.errors import ResultsError
from multigold.model.task import Task
from multigold.model.trajectory import Recorded, Trajectory
from multigold.model.verdict import Reason
from multigold.readers.base import ReadOptions, ResultsFile, Run, Runs
from multigold.readers.decoding import NULL, Document, decoded
from multigold.readers.talk import Talk, Transcript
from multigold.readers.tasks import id_text, read_tasks, shortened
from multigold.state.canonical import Json

_PLACEHOLDER: Final = "<string>"
DOMAINS: Final = ("airline", "retail", "telecom", "mock", "banking_knowledge")


class _Message(msgspec.Struct):
    role: Any = None
    content: Any = None
    tool_calls: Any = None
    id: Any = None
    tool_call_id: Any = None
    requestor: Any = None
    error: Any = None
    tool_messages: Any = None


class _Chunk(msgspec.Struct):
    content: Any = None
    tool_calls: Any = None


class _Tick(msgspec.Struct):
    agent_chunk: _Chunk | None = None
    user_chunk: _Chunk | None = None
    agent_tool_calls: Any = msgspec.UNSET
    user_tool_calls: Any = msgspec.UNSET
    agent_tool_results: Any = None
    user_tool_results: Any = None


class _Simulation(msgspec.Struct):
    id: Any = None
    task_id: Any = None
    trial: Any = None
    termination_reason: Any = None
    reward_info: msgspec.Raw = NULL
    messages: list[_Message] | None = None
    ticks: list[_Tick] | None = None


class _Head(msgspec.Struct):
    """What can be read of a simulation whose messages cannot."""

    id: Any = None
    task_id: Any = None
    trial: Any = None
    termination_reason: Any = None
    reward_info: msgspec.Raw = NULL


class _DbCheck(msgspec.Struct):
    db_match: Any = None


class _RewardInfo(msgspec.Struct):
    reward: Any = None
    db_check: _DbCheck | None = None
    reward_basis: Any = None
    reward_breakdown: Any = None


class _Actor(msgspec.Struct):
    implementation: Any = None
    llm: Any = None


class _EnvironmentInfo(msgspec.Struct):
    domain_name: Any = None


class _Info(msgspec.Struct):
    git_commit: Any = None
    agent_info: _Actor | None = None
    environment_info: _EnvironmentInfo | None = None


_DECODER: Final = msgspec.json.Decoder(_Simulation)


def recognise(document: Document) -> bool:
    """Tell whether a document is tau2's."""
    if document.has("simulations"):
        return True
    if not document.items:
        return False
    first = decoded(document.items[0], dict[str, msgspec.Raw]) or {}
    return ("messages" in first or "ticks" in first) and ("reward_info" in first or "task_id" in first)


def read(document: Document, options: ReadOptions) -> ResultsFile:
    """Read tau2's results.

    Raises:
        ResultsError: Where it is a template without runs, or its members are not what they should be.
    """
    if document.items is not None:
        raw: Sequence[msgspec.Raw] = document.items
    else:
        raw = document.array("simulations")
    info = document.value("info", _Info) or _Info()
    _refuse_template(document, info, raw)
    domain, warnings = _domain(document, info, options)
    table = read_tasks(document.array("tasks"), domain)
    agent = options.agent or _agent(document, info)
    tasks = table.tasks or options.tasks

    def produce() -> Iterator[Run]:
        for index, item in enumerate(raw):
            yield read_run(item, f"simulations[{index}]", agent, tasks)

    return ResultsFile(
        format=_form(document),
        name=document.name,
        digest=document.digest,
        domain=domain,
        agent=agent,
        release=_word(info.git_commit),
        tasks=table.tasks,
        runs=Runs(count=len(raw), produce=produce),
        warnings=(*document.warnings, *warnings, *table.warnings, *_repeated(raw)),
        solo="solo" in _word(info.agent_info and info.agent_info.implementation),
        acceptable=table.acceptable,
    )


def _form(document: Document) -> str:
    if document.items is not None:
        return "tau2-list"
    if not document.has("info") or not document.has("tasks"):
        return "tau2-wrapper"
    return "tau2-1.0" if document.has("simulation_index") else "tau2"


def _refuse_template(document: Document, info: _Info, raw: Sequence[msgspec.Raw]) -> None:
    first = (decoded(raw[0], _Head) if raw else None) or _Head()
    stated = (info.git_commit, info.environment_info and info.environment_info.domain_name, first.id, first.task_id)
    if _PLACEHOLDER in stated:
        raise ResultsError(
            f'it is a template: its values are placeholders such as "{_PLACEHOLDER}"',
            where=document.name,
            remedy="Give the file that a run of the benchmark wrote.",
        )


def _word(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _agent(document: Document, info: _Info) -> str:
    """Return the model, and the implementation in brackets."""
    actor = info.agent_info or _Actor()
    stated = [document.value(name, str) or "" for name in ("model", "agent_llm", "agent")]
    model = _word(actor.llm) or next(filter(None, stated), "")
    implementation = _word(actor.implementation)
    return f"{model} ({implementation})" if model and implementation else model or implementation


def _domain(document: Document, info: _Info, options: ReadOptions) -> tuple[str, tuple[str, ...]]:
    if options.domain:
        return options.domain, ()
    environment = info.environment_info
    stated = _word(environment and environment.domain_name) or document.value("domain", str) or ""
    return environment_name(stated)


def environment_name(domain: str) -> tuple[str, tuple[str, ...]]:
    """Return the environment's name for a domain as tau2 files write it, with a warning where that is a guess.

    Forks and variants call themselves `airline-relaxed`, `telecom-workflow`: their tools and data are taken to be those
    of the domain that they are named after.
    """
    if not domain:
        return "", ()
    base = next((known for known in DOMAINS if domain.startswith((f"{known}-", f"{known}_"))), None)
    if domain in DOMAINS or base is None:
        return f"tau2-{domain}", ()
    return f"tau2-{base}", (f"the file calls its domain {domain!r}: tools and data are taken to be those of {base!r}",)


def _repeated(raw: Sequence[msgspec.Raw]) -> tuple[str, ...]:
    counts = Counter(id_text(head.id) for head in (decoded(item, _Head) for item in raw) if head is not None)
    return shortened([f"{count} runs have the id {name!r}" for name, count in counts.items() if count > 1 and name])


def read_run(raw: msgspec.Raw | bytes, place: str, agent: str, tasks: Mapping[str, Task]) -> Run:
    """Read one simulation; what cannot be read of it becomes the run's problem."""
    simulation, talk, problem = _read_simulation(raw)
    trajectory = _trajectory(simulation, talk, agent)
    return Run(
        trajectory=trajectory,
        task_id=trajectory.task_id,
        problem=problem or _task_problem(trajectory.task_id, tasks),
        place=place,
        notes=talk.notes if talk else (),
    )


def _read_simulation(raw: msgspec.Raw | bytes) -> tuple[_Simulation | _Head, Transcript | None, Reason | None]:
    try:
        simulation = _DECODER.decode(raw)
    except (ValueError, RecursionError) as error:
        problem = Reason(code="unreadable_run", sentence=f"the run cannot be read ({error})")
        return decoded(raw, _Head) or _Head(), None, problem
    talk = _talk(simulation)
    return simulation, talk, None if talk else _NO_MESSAGES


_NO_MESSAGES: Final = Reason(
    code="messages_missing", sentence="the file holds neither the run's messages nor its tool calls"
)


def _task_problem(task_id: str, tasks: Mapping[str, Task]) -> Reason | None:
    if not task_id:
        return Reason(code="task_unknown", sentence="the file does not say which task the run is of")
    if tasks and task_id not in tasks:
        return Reason(code="task_unknown", sentence=f"the file has no task {task_id!r}")
    return None


def _trajectory(simulation: _Simulation | _Head, talk: Transcript | None, agent: str) -> Trajectory:
    return Trajectory(
        calls=talk.calls if talk else None,
        messages=talk.messages if talk else (),
        termination=_word(simulation.termination_reason) or None,
        recorded=read_recorded(simulation.reward_info),
        run_id=id_text(simulation.id),
        task_id=id_text(simulation.task_id),
        trial=_number(simulation.trial),
        agent=agent,
    )


def _number(value: Json) -> int:
    text = id_text(value)
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def read_recorded(raw: msgspec.Raw) -> Recorded:
    """Read the verdict that a simulation carries; whatever is not of the known form is left out."""
    info = decoded(raw, _RewardInfo)
    if info is None:
        return Recorded()
    breakdown = info.reward_breakdown if isinstance(info.reward_breakdown, dict) else {}
    factors = {name: reward_number(value) for name, value in breakdown.items()}
    match = info.db_check.db_match if info.db_check else None
    basis = info.reward_basis if isinstance(info.reward_basis, list) else None
    return Recorded(
        reward=reward_number(info.reward),
        db_match=match if isinstance(match, bool) else None,
        breakdown={name: value for name, value in factors.items() if value is not None},
        reward_basis=None if basis is None else tuple(name for name in basis if isinstance(name, str)),
    )


def reward_number(value: Json) -> float | None:
    """Return a reward as a float; None for anything that is no finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def _talk(simulation: _Simulation) -> Transcript | None:
    """Return messages and calls; None where the run holds neither messages nor ticks that tell what was called."""
    talk = Talk()
    if simulation.messages is not None:
        for message in simulation.messages:
            _add_message(talk, message)
    elif simulation.ticks and any(_tells(tick) for tick in simulation.ticks):
        for tick in simulation.ticks:
            _add_tick(talk, tick)
    else:
        return None
    return talk.finish()


def _add_message(talk: Talk, message: _Message) -> None:
    role = _word(message.role)
    talk.say(role, message.content)
    talk.call(message.tool_calls, role)
    if role == "tool":
        if isinstance(message.tool_messages, list):
            _add_results(talk, message.tool_messages)
        else:
            talk.answer(message.id or message.tool_call_id, message.content, message.error)


def _add_results(talk: Talk, results: Json) -> None:
    for result in results if isinstance(results, list) else ():
        if isinstance(result, dict):
            talk.answer(result.get("id"), result.get("content"), result.get("error"))


def _tells(tick: _Tick) -> bool:
    """Tell whether a tick says what was called in it, be it nothing: some files are stripped of that."""
    chunks = (tick.agent_chunk, tick.user_chunk)
    stated = tick.agent_tool_calls is not msgspec.UNSET or tick.user_tool_calls is not msgspec.UNSET
    return stated or any(chunk is not None and (chunk.content or chunk.tool_calls) for chunk in chunks)


def _add_tick(talk: Talk, tick: _Tick) -> None:
    """Add a tick, the user's side before the agent's."""
    sides = (
        ("user", tick.user_chunk, tick.user_tool_calls, tick.user_tool_results),
        ("assistant", tick.agent_chunk, tick.agent_tool_calls, tick.agent_tool_results),
    )
    for role, chunk, calls, results in sides:
        calls = calls or (chunk.tool_calls if chunk else None)
        if calls or (chunk and chunk.content):
            talk.say(role, chunk.content if chunk else None)
            talk.call(calls, role)
        _add_results(talk, results)
