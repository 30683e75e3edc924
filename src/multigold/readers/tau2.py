"""tau2's results: the classic form, the 1.0 form, a bare list of simulations, and wrappers around such lists.

classic   {timestamp, info, tasks, simulations}
1.0       the same with `simulation_index`, and `mode`, `ticks`, `policy` ... in each simulation
list      [simulation, ...], or one a line
wrapper   {domain?, agent?, model?, ..., simulations} without `info` or without `tasks`
single    one simulation by itself
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

import attrs
import msgspec

from multigold.errors import ResultsError
from multigold.model.task import Task
from multigold.model.verdict import Reason
from multigold.readers.base import ReadOptions, ResultsFile, Run, Runs, stem
from multigold.readers.decoding import Document, decoded
from multigold.readers.domains import environment_name, guess_domain, guessed
from multigold.readers.joining import TaskIndex, contradiction, join_all
from multigold.readers.simulation import Head, Simulation, read_simulation, word
from multigold.readers.tasks import id_text, read_tasks, shortened

_PLACEHOLDER: Final = "<string>"
_LISTS: Final = ("simulations", "runs", "results", "trajectories", "episodes")
"""Names under which wrappers keep their runs."""

_PEEK: Final = 30
"""How many runs are looked at for a domain that is not stated."""


class _Actor(msgspec.Struct, gc=False):
    implementation: Any = None
    llm: Any = None


class _EnvironmentInfo(msgspec.Struct, gc=False):
    domain_name: Any = None
    policy: Any = None


class Info(msgspec.Struct, gc=False):
    """What a results file says of the run as a whole."""

    git_commit: Any = None
    num_trials: Any = None
    agent_info: _Actor | None = None
    environment_info: _EnvironmentInfo | None = None


@attrs.frozen(kw_only=True, eq=False)
class Pieces:
    """The raw parts of a results file, whatever form holds them together."""

    document: Document
    form: str
    runs: Sequence[msgspec.Raw]
    place: str = "simulations[{}]"
    places: Sequence[str] = ()
    digest: str = ""
    warnings: tuple[str, ...] = ()


def recognise(document: Document) -> bool:
    """Tell whether a document is tau2's."""
    return document.has("simulations") or _pieces(document) is not None


def read(document: Document, options: ReadOptions) -> ResultsFile:
    """Read tau2's results.

    Raises:
        ResultsError: If it is a template without runs, or its members are not what they should be.
    """
    pieces = _pieces(document)
    if pieces is None:
        raise ResultsError("it holds no simulations", where=document.name)
    return assemble(pieces, options)


def _pieces(document: Document) -> Pieces | None:
    if document.items is not None:
        if document.items and looks_like_run(document.items[0]):
            return Pieces(document=document, form="tau2-list", runs=document.items, place="[{}]")
        return None
    if document.has("simulations"):
        return Pieces(document=document, form=_form(document), runs=document.array("simulations"))
    if document.members is not None and _has_run_keys(document.members):
        return Pieces(document=document, form="tau2-single", runs=[document.load()], place="the run")
    for name in _LISTS:
        runs = document.arrays.get(name) or document.value(name, list[msgspec.Raw])
        if runs and looks_like_run(runs[0]):
            return Pieces(document=document, form="tau2-wrapper", runs=runs, place=f"{name}[{{}}]")
    return None


def _form(document: Document) -> str:
    if not document.has("info", "tasks"):
        return "tau2-wrapper"
    return "tau2-1.0" if document.has("simulation_index") else "tau2"


def looks_like_run(raw: msgspec.Raw) -> bool:
    """Tell whether raw JSON is a simulation: it has messages or ticks, and a task or a verdict."""
    return _has_run_keys(decoded(raw, dict[str, msgspec.Raw]) or {})


def _has_run_keys(members: Mapping[str, object]) -> bool:
    return ("messages" in members or "ticks" in members) and ("reward_info" in members or "task_id" in members)


def assemble(pieces: Pieces, options: ReadOptions) -> ResultsFile:
    """Put the parts of a results file together.

    Raises:
        ResultsError: If it is a template without runs, or its tasks are no list.
    """
    document, raw = pieces.document, pieces.runs
    info = document.value("info", Info) or Info()
    _refuse_template(document, info, raw)
    domain, guesses = _domain(document, info, raw, options)
    embedded = document.array("tasks")
    table = read_tasks(embedded, domain, known=options.known_tasks)
    stated = options.agent or _agent(document, info)
    agent = stated or stem(document.name)
    unnamed = () if stated else (f"the file names no agent: it is called {agent!r} after the file",)
    index = TaskIndex(tasks=table.tasks or options.tasks)
    repeated = repeated_ids(raw)
    joined = _joined(raw, index)

    def produce() -> Iterator[Run]:
        for number, item in enumerate(raw):
            simulation = read_simulation(item, agent)
            place = pieces.places[number] if pieces.places else pieces.place.format(number)
            yield settle(simulation, place, index, joined[number] if joined else "", repeated, options)

    return ResultsFile(
        format=pieces.form,
        name=document.name,
        digest=pieces.digest or document.digest,
        domain=domain,
        agent=agent,
        release=word(info.git_commit),
        tasks=table.tasks,
        runs=Runs(count=len(raw), produce=produce),
        warnings=(*document.warnings, *pieces.warnings, *unnamed, *guesses, *table.warnings, *_repetitions(repeated)),
        solo="solo" in word(info.agent_info and info.agent_info.implementation),
        acceptable=table.acceptable,
        embeds_tasks=len(embedded) > 0,
        planned_trials=_planned_trials(info),
        policy_digest=_policy_digest(info),
    )


def _planned_trials(info: Info) -> int | None:
    number = info.num_trials
    return number if isinstance(number, int) and not isinstance(number, bool) and 0 < number <= _MOST_TRIALS else None


_MOST_TRIALS = 1_000_000
"""Most trials of a task that a file is believed to have planned."""


def _policy_digest(info: Info) -> str:
    policy = info.environment_info.policy if info.environment_info else None
    return sha256(policy.encode("utf-8", "surrogatepass")).hexdigest() if isinstance(policy, str) and policy else ""


def _refuse_template(document: Document, info: Info, raw: Sequence[msgspec.Raw]) -> None:
    first = (decoded(raw[0], Head) if raw else None) or Head()
    stated = (info.git_commit, info.environment_info and info.environment_info.domain_name, first.id, first.task_id)
    if _PLACEHOLDER in stated:
        raise ResultsError(
            f'it is a template: its values are placeholders such as "{_PLACEHOLDER}"',
            where=document.name,
            remedy="Give the file that a run of the benchmark wrote.",
        )


def _agent(document: Document, info: Info) -> str:
    """Return the model, and the implementation in brackets."""
    actor = info.agent_info or _Actor()
    stated = [document.value(name, str) or "" for name in ("model", "agent_llm", "agent")]
    model = word(actor.llm) or next(filter(None, stated), "")
    implementation = word(actor.implementation)
    return f"{model} ({implementation})" if model and implementation else model or implementation


def _domain(
    document: Document, info: Info, raw: Sequence[msgspec.Raw], options: ReadOptions
) -> tuple[str, tuple[str, ...]]:
    if options.domain:
        return options.domain, ()
    environment = info.environment_info
    stated = word(environment and environment.domain_name) or document.value("domain", str) or ""
    return environment_name(stated) if stated else guessed(guess_domain(_tools(raw)), "tau2")


def _tools(raw: Sequence[msgspec.Raw]) -> Iterator[str]:
    for item in raw[:_PEEK]:
        for recorded in read_simulation(item, "").trajectory.calls or ():
            yield recorded.call.name


class _Id(msgspec.Struct, gc=False):
    id: Any = None


_FIRST_ID: Final = re.compile(rb'\s*\{\s*"id"\s*:\s*"([^"\\]*)"')
"""A run whose first member is its id, as tau2 writes them: the rest of it need not be looked at for that."""


def repeated_ids(raw: Sequence[msgspec.Raw]) -> Mapping[str, int]:
    """Return the run ids that stand more than once, with how often.

    Only hashes of the others are kept: a file may hold a hundred thousand.
    """
    seen: set[int] = set()
    repeated: dict[str, None] = {}
    for item in raw:
        run_id = _peeked_id(item)
        if run_id and hash(run_id) in seen:
            repeated[run_id] = None
        seen.add(hash(run_id))
    if not repeated:
        return {}
    # A line that breaks off may begin like the run that was written anew after it, and is no run.
    counts = Counter(run_id for run_id in map(_run_id, raw) if run_id in repeated)
    return {run_id: counts[run_id] for run_id in repeated if counts[run_id] > 1}


def _peeked_id(item: msgspec.Raw) -> str:
    first = _FIRST_ID.match(item)
    return first[1].decode(errors="replace") if first is not None else _run_id(item)


def _run_id(item: msgspec.Raw) -> str:
    head = decoded(item, _Id)
    return id_text(head.id) if head else ""


def _repetitions(repeated: Mapping[str, int]) -> tuple[str, ...]:
    return shortened([f"{count} runs have the id {run_id!r}" for run_id, count in repeated.items()])


def _joined(raw: Sequence[msgspec.Raw], index: TaskIndex) -> list[str]:
    """Return the task of each run of a file of which no run states one; nothing if some run does."""
    if not index.tasks or any(_states_task(item) for item in raw):
        return []
    return join_all((read_simulation(item, "").clues for item in raw), index)


def _states_task(item: msgspec.Raw) -> bool:
    head = decoded(item, Head)
    return head is not None and bool(id_text(head.task_id))


def settle(
    simulation: Simulation,
    place: str,
    index: TaskIndex,
    joined: str,
    repeated: Mapping[str, int],
    options: ReadOptions,
) -> Run:
    """Decide which task a run is of, and whether its parts agree."""
    trajectory = simulation.trajectory
    task_id, doubt, notes = _task_of(simulation, index, joined, options)
    if trajectory.run_id in repeated and not options.rejoin:
        sentence = f"{repeated[trajectory.run_id]} runs of the file have the id {trajectory.run_id!r}"
        doubt = doubt or Reason(code="contradiction", sentence=sentence)
    return Run(
        trajectory=trajectory if trajectory.task_id == task_id else attrs.evolve(trajectory, task_id=task_id),
        task_id=task_id,
        problem=simulation.problem or task_problem(task_id, index.tasks) or doubt,
        place=place,
        notes=(*simulation.notes, *notes),
    )


def _task_of(
    simulation: Simulation, index: TaskIndex, joined: str, options: ReadOptions
) -> tuple[str, Reason | None, tuple[str, ...]]:
    """Return a run's task, what speaks against it, and a note where it is not the stated one."""
    stated = simulation.trajectory.task_id
    if not stated:
        return joined, None, (_JOINED,) if joined else ()
    doubt, claimed = contradiction(simulation.clues, index) if index.tasks else (None, "")
    if doubt and claimed and options.rejoin:
        return claimed, None, (f"rejoined: {doubt.sentence}",)
    return stated, doubt, ()


_JOINED: Final = "the file names no task: it was joined by its checks, its user or its position"


def task_problem(task_id: str, tasks: Mapping[str, Task]) -> Reason | None:
    """Return why a run's task is not known; None if it is, or where the file embeds no tasks at all."""
    if not task_id:
        return Reason(code="task_unknown", sentence="nothing tells which task the run is of")
    if tasks and task_id not in tasks:
        return Reason(code="task_unknown", sentence=f"the file has no task {task_id!r}")
    return None
