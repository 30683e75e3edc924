"""Directories of the NeMo voice-agent evaluation: one directory per scenario, of one or more domains.

    eval_.../run_args.json, all_metrics.json          what was run; written at the end, so both may be missing
    eval_.../<domain>__<task>/metrics.json            their verdict, with the hashes of the end state
             .../final_agent_response.json            the actions that changed something, in order
             .../bot_logs_agent/llm_context.json      the agent's messages, reads included
             .../scenario_config/metadata.json        the signals that make a success; assertions; initial changes
             .../scenario_config/reference_answer.json   the gold's actions

Every part may be missing, and "N/A" stands where a signal does not apply. Their success is the product of the signals
that are whitelisted and apply; a talk that stalled and an end state without a hash make it fail whatever else is true.
Written as factors (`DB`, `CLEAN_EXIT`, ..., `STALLED`, `DB_HASH`), our product is theirs, with `DB` to be replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs
import msgspec

from multigold.files.reading import sha256
from multigold.model.call_shapes import parse_arguments
from multigold.model.message_shapes import RawMessage
from multigold.model.task import Criteria, Requestor, Task, ToolCall
from multigold.model.trajectory import Recorded, RecordedCall, Trajectory
from multigold.model.transcript import Transcript, parse_messages
from multigold.model.verdict import Reason
from multigold.readers.base import ReadOptions, ResultsFile, Run, Runs, stem
from multigold.readers.decoding import decoded
from multigold.readers.folder import Folder
from multigold.readers.simulation import reward_number, word
from multigold.readers.tasks import id_text
from multigold.state.canonical import Json, digest
from multigold.state.json_values import is_too_deep

_METRICS: Final = "metrics.json"
_LOG: Final = "bot_logs_agent/llm_context.json"
_PROMPT: Final = "scenario_config/user_prompt.txt"
_FACTORS: Final[Mapping[str, tuple[str, str]]] = {
    "db_state_match": ("DB", "db_state_match"),
    "clean_exit": ("CLEAN_EXIT", "clean_exit"),
    "db_state_assertion": ("ENV_ASSERTION", "db_state_assertion_pass_rate"),
    "nl_assertion": ("NL_ASSERTION", "nl_assertion_pass_rate"),
    "is_action_match": ("ACTION", "is_action_match"),
    "judge_passed": ("JUDGE", "judge_passed"),
}
"""Their name of a success signal to our factor and the metric that it is read from."""

_KEPT: Final = (
    *("db_state_expected_hash", "db_state_actual_hash", "db_state_match", "user_db_state_actual_hash"),
    *("is_successful", "is_task_successful", "success_breakdown", "insufficient_agent_turns", "stop_reason"),
    *("clean_exit", "is_action_match", "judge_passed", "db_state_assertion_pass_rate", "nl_assertion_pass_rate"),
)
_OUTSIDE: Final = ("end_conversation",)
"""Tools of their runner, not of the domain."""

_AGENT_KEYS: Final = ("agent_model", "model", "llm_model", "agent_llm", "llm")


class _Action(msgspec.Struct):
    name: Any = None
    action_type: Any = None
    arguments: Any = None
    side: Any = None


class _Answer(msgspec.Struct):
    actions: list[_Action] | None = None


class _Function(msgspec.Struct):
    func_name: Any = None
    arguments: Any = None
    side: Any = None
    assert_value: Any = None
    message: Any = None


class _Metadata(msgspec.Struct):
    success_signals: list[str] | None = None
    db_state_assertions: list[_Function] | None = None
    initialization_actions: list[_Function] | None = None
    expected_db_hash: Any = None
    expected_user_db_hash: Any = None


def recognise(folder: Folder) -> bool:
    """Tell whether a folder is the result of such an evaluation."""
    return bool(_scenarios(folder))


def _scenarios(folder: Folder) -> list[str]:
    """Return the scenario directories: those that hold a verdict or a scenario's configuration."""
    signs = (_METRICS, "final_agent_response.json", "scenario_config/metadata.json")
    return [
        child
        for child in folder.children()
        if "__" in child and ".killed." not in child and any(folder.has(f"{child}/{sign}") for sign in signs)
    ]


def read(folder: Folder, options: ReadOptions) -> Iterator[ResultsFile]:
    """Yield one results file per domain, in sorted order."""
    domains: dict[str, list[str]] = {}
    for scenario in _scenarios(folder):
        domains.setdefault(scenario.split("__", 1)[0], []).append(scenario)
    for domain, scenarios in domains.items():
        yield _read_domain(folder, domain, scenarios, len(domains) > 1, options)


def _read_domain(
    folder: Folder, domain: str, scenarios: Sequence[str], several: bool, options: ReadOptions
) -> ResultsFile:
    name = domain.replace("_", "-", 1)
    agent, unnamed = _agent(folder, options)
    tasks = {task.id: task for task in (_task(folder.sub(s), name, options) for s in scenarios)}

    def produce() -> Iterator[Run]:
        for scenario in scenarios:
            yield _read_run(folder.sub(scenario), agent, scenario)

    paths = [path for scenario in scenarios for path in folder.within(f"{scenario}/")]
    return ResultsFile(
        format="nemo",
        name=f"{folder.name}#{domain}" if several else folder.name,
        digest=digest({path: sha256(folder.load(path)) for path in paths}),
        domain=options.domain or name,
        agent=agent,
        tasks=tasks,
        runs=Runs(count=len(scenarios), produce=produce),
        warnings=unnamed,
    )


def _agent(folder: Folder, options: ReadOptions) -> tuple[str, tuple[str, ...]]:
    arguments = folder.value("run_args.json", dict[str, Any]) or {}
    stated = next((word(arguments.get(key)) for key in _AGENT_KEYS if word(arguments.get(key))), "")
    if options.agent or stated:
        return options.agent or stated, ()
    name = stem(folder.name)
    return name, (f"the directory names no agent: it is called {name!r} after the directory",)


def _task_id(scenario: str) -> str:
    return scenario.split("__", 1)[1]


def _task(folder: Folder, domain: str, options: ReadOptions) -> Task:
    """Return the scenario's task: its gold as the directory states it, its text as the caller's tasks state it."""
    task_id = _task_id(folder.name.rsplit("/", 1)[-1])
    metadata = _metadata(folder)
    answer = folder.value("scenario_config/reference_answer.json", _Answer)
    known = options.tasks.get(task_id)
    if known is not None and not _is_told(folder, known.instructions):
        known = None  # of another release, which has another text under this id
    return Task(
        task_id,
        instructions=known.instructions if known else None,
        initial_state=known.initial_state if known else _initial(metadata.initialization_actions),
        criteria=Criteria(
            actions=None if answer is None or answer.actions is None else tuple(map(_call, answer.actions)),
            env_assertions=_assertions(metadata.db_state_assertions),
            reward_basis=_basis(metadata),
        ),
        domain=domain,
    )


_TOLD: Final = ("reason_for_call", "known_info", "unknown_info", "task_instructions")
"""Parts of a tau2 task's text that the simulated user's prompt holds word by word."""


def _is_told(folder: Folder, instructions: Json) -> bool:
    """Tell whether a task's text is what the simulated user was told; True if the prompt is not there to tell."""
    if not folder.has(_PROMPT):
        return True
    told = " ".join(folder.load(_PROMPT).decode("utf-8", "replace").split())
    inner = instructions.get("instructions") if isinstance(instructions, dict) else None
    parts = [inner.get(part) for part in _TOLD] if isinstance(inner, dict) else [inner]
    return all(" ".join(part.split()) in told for part in parts if isinstance(part, str))


def _metadata(folder: Folder) -> _Metadata:
    return folder.value("scenario_config/metadata.json", _Metadata) or _Metadata()


def _basis(metadata: _Metadata) -> tuple[str, ...] | None:
    if metadata.success_signals is None:
        return None
    return tuple(_FACTORS[signal][0] for signal in metadata.success_signals if signal in _FACTORS)


def _initial(functions: list[_Function] | None) -> Json:
    """Return initial changes as tau2 writes them; None for none."""
    return {"initialization_actions": [_function(item) for item in functions]} if functions else None


def _assertions(functions: list[_Function] | None) -> tuple[Json, ...] | None:
    if functions is None:
        return None
    return tuple(
        {**_function(item), "assert_value": item.assert_value is not False, "message": item.message}
        for item in functions
    )


def _function(item: _Function) -> dict[str, Json]:
    arguments = parse_arguments(item.arguments)[0]
    return {"env_type": _requestor(item.side), "func_name": word(item.func_name), "arguments": arguments or {}}


def _requestor(side: Json) -> Requestor:
    return "user" if side == "user" else "assistant"


def _call(action: _Action) -> ToolCall:
    name = word(action.name) or word(action.action_type)
    return ToolCall(name, parse_arguments(action.arguments)[0], requestor=_requestor(action.side))


def _read_run(folder: Folder, agent: str, scenario: str) -> Run:
    metrics = folder.value(_METRICS, dict[str, Any])
    answers = folder.document("final_agent_response.json")
    actions = _actions(answers.items if answers else None)
    transcript = _transcript(folder)
    problem = _problem(metrics, actions)
    return Run(
        trajectory=Trajectory(
            calls=None if actions is None else _merged(transcript, actions),
            messages=transcript.messages,
            problem=_lost_evidence(transcript),
            recorded=_recorded(metrics or {}, _metadata(folder)),
            run_id=scenario,
            task_id=_task_id(scenario),
            agent=agent,
        ),
        task_id=_task_id(scenario),
        problem=problem,
        place=scenario,
        notes=transcript.notes,
        extra=_extra(metrics or {}, _metadata(folder)),
    )


def _lost_evidence(transcript: Transcript) -> Reason | None:
    """Return why the log does not tell what the agent looked at; None if it does.

    What was carried out is known from the actions, so a call that the log leaves without an answer is no hindrance.
    """
    problem = transcript.problem
    return problem if problem is not None and problem.code == "calls_not_understood" else None


def _problem(metrics: Mapping[str, Json] | None, actions: Sequence[ToolCall] | None) -> Reason | None:
    if actions is None:
        return Reason(code="messages_missing", sentence="the directory does not hold the agent's final actions")
    if metrics is None:
        return Reason(
            code="metrics_missing", sentence="the directory holds no metrics: the run did not come to its end"
        )
    return None


def _extra(metrics: Mapping[str, Json], metadata: _Metadata) -> dict[str, Json]:
    kept = {name: metrics[name] for name in _KEPT if name in metrics and not is_too_deep(metrics[name])}
    hashes = {"expected_db_hash": metadata.expected_db_hash, "expected_user_db_hash": metadata.expected_user_db_hash}
    stated = {name: value for name, value in hashes.items() if isinstance(value, str)}
    return {**kept, **stated, "success_signals": metadata.success_signals}


def _actions(items: Sequence[msgspec.Raw] | None) -> list[ToolCall] | None:
    """Return the actions that changed something, from a list of `{"actions": [...]}`; None if there is none."""
    if items is None:
        return None
    try:
        answers = [msgspec.json.decode(item, type=_Answer) for item in items]
    except (ValueError, RecursionError):
        return None
    return [_call(action) for answer in answers for action in answer.actions or ()]


def _transcript(folder: Folder) -> Transcript:
    document = folder.document(_LOG)
    items = (document.items if document else None) or ()
    messages = [message for item in items if (message := decoded(item, RawMessage)) is not None]
    return parse_messages(messages, lambda: [decoded(item, Any) for item in items])


_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def tool_name(written: str) -> str:
    """Return a tool's name in the domain for the class name that the agent's log uses (`CancelReservationTool`)."""
    if "_" in written or not written[:1].isupper():
        return written
    return _WORD.sub("_", written.removesuffix("Tool")).lower()


def _merged(transcript: Transcript, actions: Sequence[ToolCall]) -> tuple[RecordedCall, ...]:
    """Return one list of calls: what changed something as `actions` states it, the other calls as the log states them.

    The log has the agent's side only and its arguments as they were said; the actions are what was carried out, in
    order. So a logged call of a tool that stands among the actions only marks their place.
    """
    changing = {action.name for action in actions}
    merged: list[RecordedCall] = []
    waiting = list(actions)
    for recorded in transcript.calls:
        call = attrs.evolve(recorded.call, name=tool_name(recorded.call.name))
        if call.name in _OUTSIDE:
            continue
        if call.name not in changing:
            merged.append(attrs.evolve(recorded, call=call))
            continue
        place = next((i for i, a in enumerate(waiting) if a.requestor == "assistant" and a.name == call.name), None)
        if place is not None:
            merged.extend(RecordedCall(call=action, refused=False) for action in waiting[: place + 1])
            del waiting[: place + 1]
    return (*merged, *(RecordedCall(call=action, refused=False) for action in waiting))


def _recorded(metrics: Mapping[str, Json], metadata: _Metadata) -> Recorded:
    """Return their verdict as factors whose product it is."""
    factors = {factor: _factor(metrics.get(metric)) for factor, metric in _FACTORS.values()}
    if metrics.get("insufficient_agent_turns") is True:
        factors["STALLED"] = 0.0
    if "db_state_actual_hash" in metrics and not id_text(metrics["db_state_actual_hash"]):
        factors["DB_HASH"] = 0.0
    breakdown = {name: value for name, value in factors.items() if value is not None}
    match = metrics.get("db_state_match")
    return Recorded(
        reward=_factor(metrics.get("is_successful")),
        db_match=match if isinstance(match, bool) else None,
        breakdown=breakdown,
        reward_basis=_gating(metadata, breakdown),
    )


def _gating(metadata: _Metadata, breakdown: Mapping[str, float]) -> tuple[str, ...] | None:
    """Return the factors that gate their success: the whitelisted ones that apply, and the two rules above all."""
    basis = _basis(metadata)
    if basis is None:
        return None
    always = [name for name in ("STALLED", "DB_HASH") if name in breakdown]
    return (*(name for name in basis if name in breakdown), *always)


def _factor(value: Json) -> float | None:
    """Return a signal as 0 or 1; None if it does not apply. A rate passes at 1 only."""
    if isinstance(value, bool):
        return float(value)
    rate = reward_number(value)
    return None if rate is None else float(rate == 1.0)
