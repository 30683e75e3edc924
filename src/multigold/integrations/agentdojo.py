"""AgentDojo: its environments as states, its tools as an environment, its ground truth as the benchmark's gold.

    suite = load_suite("banking")
    run = run_calls(suite, "user_task_9", calls, output="Done.")
    verdict = multigold.score(suite.tasks["user_task_9"], run, golds, environment=suite.environment)

An AgentDojo environment is a tree of pydantic models, and its tools write to it. Here each of its fields is a table,
such as `calendar.events` or `bank_account.transactions`; records with an id are keyed by it. Every call rebuilds the
pydantic environment from the tables, lets AgentDojo's own runtime run the tool, and takes over what it changed. Four
things of that environment are not part of what an agent decides, and are treated so:

- the clock: AgentDojo stamps sent mail and changed files with the time of day. Such stamps are `CLOCK`;
- the order of an event's participants: AgentDojo makes a set of them, and copies it to the recipients of the mails
  about the event. Both are sorted;
- what was looked at: the pages requested and the `read` flags of mail stand in tables that are declared logs;
- copies: `initial_...` fields, which AgentDojo's own comparisons leave out too.

One thing has to be restored. AgentDojo attaches an event to a mail as the same object, so that rescheduling the event
changes the invitation sent before. A record cannot show that two places are one object: an attachment that says the
same as the event of its id is taken to be it.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, get_args, get_origin

import attrs

from multigold.environments.base import Environment
from multigold.environments.tools import ToolKind
from multigold.errors import CallError, MissingExtraError
from multigold.model.task import Criteria, Task, ToolCall
from multigold.model.trajectory import Message, Recorded, RecordedCall, Trajectory
from multigold.state.canonical import Json
from multigold.state.conventions import Conventions
from multigold.state.database import EndState

__all__ = ["Suite", "ground_truth_run", "load_suite", "run_calls", "suite_names"]

VERSION = "v1.2.2"
"""The benchmark version that is used unless another one is asked for: the newest of agentdojo 0.1.35."""

CLOCK = "2000-01-01T00:00:00"
"""What stands for the time of day at which a run happened to be made."""

OUTPUT = "OUTPUT"
"""The factor of the reward that looks at what the agent said; see `run_calls`."""

_STAMPS = ("timestamp", "last_modified")
_SETS = ("participants", "recipients")
_READ_FLAGS = "read"
_LOGS = ("web.web_requests", "inbox.emails.read", "inbox.trash.read")
_UNORDERED = (
    "inbox.emails/*/cc",
    "inbox.emails/*/bcc",
    "slack.users",
    "slack.user_channels/*",
)
_READING = ("get_", "read_", "search_", "list_", "check_")
_READING_THAT_LEAVES_A_TRACE = ("get_unread_emails", "get_webpage")


@attrs.frozen(kw_only=True, eq=False)
class Suite:
    """One of AgentDojo's suites, ready to be scored with.

    Attributes:
        name: `workspace`, `travel`, `banking` or `slack`.
        version: AgentDojo's benchmark version, such as `v1.2.2`.
        environment: Its initial state and its tools; injections stand at their harmless defaults.
        tasks: Its user tasks by id, with AgentDojo's ground truth as the benchmark's gold.
        outputs: Task id to what AgentDojo's ground-truth agent says at the end.
        source: AgentDojo's own `TaskSuite`.
        start: AgentDojo's own environment in which every task starts; copied for each run.
    """

    name: str
    version: str
    environment: Environment
    tasks: Mapping[str, Task]
    outputs: Mapping[str, str]
    source: Any
    start: Any
    _words: dict[tuple[str, str], float] = attrs.field(factory=dict, init=False, repr=False)  # see `_judge_words`


def suite_names(version: str = VERSION) -> tuple[str, ...]:
    """Return the names of the suites of a benchmark version.

    Raises:
        MissingExtraError: AgentDojo is not installed.
        CallError: AgentDojo has no such version.
    """
    return tuple(_suites(version))


def load_suite(name: str, *, version: str = VERSION) -> Suite:
    """Load a suite. Importing AgentDojo takes seconds: it imports the clients of several model providers.

    Args:
        name: `workspace`, `travel`, `banking` or `slack`.
        version: AgentDojo's benchmark version.

    Raises:
        MissingExtraError: AgentDojo is not installed.
        CallError: AgentDojo has no such version or suite.
    """
    suites = _suites(version)
    if name not in suites:
        raise CallError(f"AgentDojo {version} has no suite {name!r}", remedy=f"It has {', '.join(suites)}.")
    source = suites[name]
    shape = EnvironmentShape(source.environment_type)
    start = source.load_and_inject_default_environment({})
    environment = Environment.from_functions(
        f"agentdojo-{name}",
        shape.tables(start),
        _functions(source.tools, shape),
        conventions=Conventions(log_tables=_LOGS, unordered=_UNORDERED),
    )
    found = {task_id: _task(task, start, shape, environment) for task_id, task in source.user_tasks.items()}
    outputs = {task_id: task.GROUND_TRUTH_OUTPUT for task_id, task in source.user_tasks.items()}
    return Suite(
        name=name,
        version=version,
        environment=environment,
        tasks=found,
        outputs=outputs,
        source=source,
        start=start,
    )


def _suites(version: str) -> dict[str, Any]:
    try:
        from agentdojo.task_suite.load_suites import get_suites
    except ImportError as error:
        raise MissingExtraError(
            f"AgentDojo cannot be imported ({error})", remedy='Install it with: pip install "multigold[agentdojo]".'
        ) from None
    suites: dict[str, Any] = get_suites(version)
    if not suites:
        raise CallError(f"AgentDojo has no benchmark version {version!r}", remedy=f"{VERSION} exists.")
    return suites


def _task(task: Any, start: Any, shape: EnvironmentShape, environment: Environment) -> Task:
    own = task.init_environment(start.model_copy(deep=True))
    initial = EndState(environment.initial.agent.from_json(shape.tables(own)))
    calls = (call.model_dump(mode="json") for call in task.ground_truth(own.model_copy(deep=True)))
    return Task(
        task.ID,
        initial=None if initial == environment.initial else initial,
        instructions={"prompt": task.PROMPT},
        criteria=Criteria(
            actions=tuple(ToolCall(call["function"], call["args"]) for call in calls), reward_basis=("DB", OUTPUT)
        ),
        domain=environment.name,
    )


# Tools


def _functions(tools: Iterable[Any], shape: EnvironmentShape) -> dict[ToolKind, list[Callable[..., Json]]]:
    functions: dict[ToolKind, list[Callable[..., Json]]] = {"read": [], "write": []}
    for tool in tools:
        functions[_kind(tool.name)].append(_function(tool, shape))
    return functions


def _kind(name: str) -> ToolKind:
    """Return whether a tool writes, by its name; one that is not known to read is taken to write."""
    return "read" if name.startswith(_READING) and name not in _READING_THAT_LEAVES_A_TRACE else "write"


def _function(tool: Any, shape: EnvironmentShape) -> Callable[..., Json]:
    """Return a tool as a plain function on tables; AgentDojo's runtime checks the arguments and runs it."""
    from agentdojo.functions_runtime import FunctionsRuntime

    runtime = FunctionsRuntime([tool])

    def call(data: dict[str, Json], **arguments: Json) -> Json:
        since, environment = datetime.now(), shape.environment(data)
        try:
            result, _ = runtime.run_function(environment, tool.name, arguments, raise_on_error=True)
            return _plain(result, since)
        finally:
            data.clear()
            data.update(shape.tables(environment, since))

    call.__name__ = tool.name
    call.__doc__ = tool.description
    call.__signature__ = _signature(tool.parameters)  # type: ignore[attr-defined]  # `inspect.signature` looks there
    return call


def _signature(parameters: Any) -> inspect.Signature:
    """Return what a call may name: the tool's own arguments, and any others, which AgentDojo passes over."""
    kind = inspect.Parameter
    named = [
        kind(name, kind.KEYWORD_ONLY, default=kind.empty if field.is_required() else field.default)
        for name, field in parameters.model_fields.items()
    ]
    return inspect.Signature(
        [kind("data", kind.POSITIONAL_ONLY), *named, kind("others", kind.VAR_KEYWORD)],
    )


def _plain(value: Any, since: datetime | None) -> Json:
    """Return what a tool or a field holds as plain JSON, with the clock stopped and sets in order."""
    from pydantic_core import to_jsonable_python

    return _settled(to_jsonable_python(value), since)


def _settled(value: Json, since: datetime | None, name: str = "") -> Json:
    if isinstance(value, dict):
        return {key: _settled(item, since, key) for key, item in value.items()}
    if isinstance(value, list):
        items = [_settled(item, since) for item in value]
        return sorted(items) if name in _SETS and all(isinstance(item, str) for item in items) else items
    return CLOCK if name in _STAMPS and since is not None and _is_later(value, since) else value


def _is_later(stamp: Json, since: datetime) -> bool:
    try:
        return datetime.fromisoformat(stamp).replace(tzinfo=None) >= since
    except (TypeError, ValueError):
        return False


# Environments as tables


@attrs.frozen
class _FieldPlace:
    """One field of one model of an environment: a table.

    Attributes:
        part: The environment's field, such as `calendar`.
        field: The model's field, such as `events`.
        adapter: pydantic's reader of the field's type.
        key: The field that keys the records of a list; empty if the list is kept whole, or is none.
        is_table: Whether the field holds records, so that it may be an empty table.
    """

    part: str
    field: str
    adapter: Any
    key: str = ""
    is_table: bool = False

    @property
    def table(self) -> str:
        return f"{self.part}.{self.field}"


class EnvironmentShape:
    """How an environment type is laid out in tables, both ways.

    Args:
        environment_type: A pydantic model whose fields are pydantic models.

    Raises:
        CallError: If a field is not a model.
    """

    def __init__(self, environment_type: Any) -> None:
        self._type = environment_type
        self._parts = {name: info.annotation for name, info in environment_type.model_fields.items()}
        self._places = tuple(_places(self._parts))

    def tables(self, environment: Any, since: datetime | None = None) -> dict[str, Json]:
        """Return an environment as `{table: {record id: record}}`; single values stand whole.

        Args:
            environment: An instance of the environment type.
            since: Stamps from then on are `CLOCK`; None for none.
        """
        data: dict[str, Json] = {}
        for place in self._places:
            value = _plain(getattr(getattr(environment, place.part), place.field), since)
            if place.key:
                value = {str(record[place.key]): record for record in value}
            data[place.table] = value
            if place.is_table and f"{place.table}.{_READ_FLAGS}" in _LOGS:
                data[f"{place.table}.{_READ_FLAGS}"] = {i: record.pop(_READ_FLAGS) for i, record in value.items()}
        return data

    def environment(self, data: Mapping[str, Json]) -> Any:
        """Return the environment that tables describe. What AgentDojo derives when it loads a suite is not redone."""
        fields: dict[str, dict[str, Any]] = {name: {} for name in self._parts}
        for place in self._places:
            fields[place.part][place.field] = place.adapter.validate_python(_value(place, data))
        for name, model in self._parts.items():
            fields[name].update({field: [] for field in model.model_fields if _is_copy(field)})
        parts = {name: model.model_construct(**fields[name]) for name, model in self._parts.items()}
        _join_attachments(parts)
        return self._type.model_construct(**parts)


def _places(parts: Mapping[str, Any]) -> Iterator[_FieldPlace]:
    from pydantic import BaseModel, TypeAdapter

    for part, model in parts.items():
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            raise CallError(f"the field {part!r} of an AgentDojo environment is not a model of fields")
        for field, info in model.model_fields.items():
            if not _is_copy(field):
                annotation: Any = info.annotation
                key = _key(annotation)
                table = bool(key) or get_origin(annotation) is dict
                yield _FieldPlace(part, field, TypeAdapter(annotation), key, table)


def _is_copy(field: str) -> bool:
    return field.startswith("initial_")


def _key(annotation: Any) -> str:
    """Return the field that keys the records of a list type; empty if the type is not a list, or they have no id."""
    if get_origin(annotation) is not list:
        return ""
    known = getattr(get_args(annotation)[0], "model_fields", {})
    return next((name for name in ("id", "id_") if name in known), "")


def _value(place: _FieldPlace, data: Mapping[str, Json]) -> Json:
    value = data.get(place.table, {} if place.is_table else None)
    flags = data.get(f"{place.table}.{_READ_FLAGS}")
    if flags is not None:
        value = {record_id: {**record, _READ_FLAGS: flags[record_id]} for record_id, record in value.items()}
    return list(value.values()) if place.key else value


def _join_attachments(parts: Mapping[str, Any]) -> None:
    """Make an attachment that says the same as the event of its id that very event, as AgentDojo has it."""
    events = getattr(parts.get("calendar"), "events", {})
    inbox = parts.get("inbox")
    emails = [] if inbox is None else [*inbox.emails.values(), *inbox.trash.values()]
    for email in emails if events else ():
        for index, attached in enumerate(email.attachments):
            event = events.get(getattr(attached, "id_", None))
            if event is not None and event == attached:
                email.attachments[index] = event


# Runs


def run_calls(
    suite: Suite, task_id: str, calls: Iterable[ToolCall], *, output: str = "", agent: str = "", trial: int = 0
) -> Trajectory:
    """Run calls in AgentDojo itself, on a fresh environment of its own, and record its verdict.

    AgentDojo's `utility` looks at the end state and at what the agent said in one go. Its value for the run is the
    recorded reward. The part about what was said is found by asking it about the same words after the ground truth's
    calls: that is the recorded factor `OUTPUT`. It is left out if the ground truth itself fails AgentDojo's check,
    so that nothing follows from it.

    Args:
        suite: The suite.
        task_id: Its task.
        calls: What the agent called, in order.
        output: What it said at the end.
        agent: Who acted.
        trial: Which of several runs.

    Raises:
        CallError: If the suite has no such task.
    """
    task = suite.tasks.get(task_id)
    if task is None:
        raise CallError(f"the suite {suite.name} has no task {task_id!r}")
    utility, recorded = _run(suite, task_id, tuple(calls), output)
    sound = _judge_words(suite, task_id, suite.outputs[task_id])
    breakdown = {OUTPUT: _judge_words(suite, task_id, output)} if sound else {}
    return Trajectory(
        calls=recorded,
        messages=(Message(role="assistant", text=output),),
        termination="agent_stop",
        recorded=Recorded(reward=utility, breakdown=breakdown, reward_basis=("DB", OUTPUT)),
        run_id=f"{suite.name}/{task_id}/{agent}/{trial}",
        task_id=task_id,
        trial=trial,
        agent=agent,
    )


def ground_truth_run(suite: Suite, task_id: str) -> Trajectory:
    """Return the run of AgentDojo's ground-truth agent: the gold's calls, and what that agent says at the end."""
    criteria = suite.tasks[task_id].criteria
    calls = (criteria.actions if criteria else None) or ()
    return run_calls(suite, task_id, calls, output=suite.outputs[task_id], agent="ground truth")


def _judge_words(suite: Suite, task_id: str, output: str) -> float:
    """Return AgentDojo's verdict on some words after the ground truth's calls; its check takes up to seconds."""
    if (task_id, output) not in suite._words:
        criteria = suite.tasks[task_id].criteria
        suite._words[task_id, output] = _run(suite, task_id, (criteria.actions if criteria else None) or (), output)[0]
    return suite._words[task_id, output]


def _run(
    suite: Suite, task_id: str, calls: tuple[ToolCall, ...], output: str
) -> tuple[float, tuple[RecordedCall, ...]]:
    pipeline = _Pipeline(calls, output)
    user_task = suite.source.user_tasks[task_id]
    own = suite.start.model_copy(deep=True)
    utility, _ = suite.source.run_task_with_pipeline(pipeline, user_task, None, {}, environment=own)
    return float(utility), tuple(pipeline.recorded)


class _Pipeline:
    """An agent that makes given calls and says given words, in the form of AgentDojo's pipelines."""

    def __init__(self, calls: tuple[ToolCall, ...], output: str) -> None:
        self._calls = calls
        self._output = output
        self.recorded: list[RecordedCall] = []

    def query(self, query: str, runtime: Any, env: Any, messages: Any = (), extra_args: Any = None) -> tuple[Any, ...]:
        from agentdojo.functions_runtime import FunctionCall

        since, talk = datetime.now(), list(messages)
        for call in self._calls:
            made = FunctionCall(function=call.name, args=dict(call.arguments or {}))
            result, error = runtime.run_function(env, call.name, made.args)
            text = _shown(_plain(result, since)) if error is None else error
            self.recorded.append(RecordedCall(call=call, result=text, refused=error is not None))
            talk.append({"role": "assistant", "content": _text(""), "tool_calls": [made]})
            talk.append(
                {"role": "tool", "content": _text(text), "tool_call": made, "tool_call_id": None, "error": error}
            )
        talk.append({"role": "assistant", "content": _text(self._output), "tool_calls": None})
        return query, runtime, env, talk, extra_args or {}


def _shown(result: Json) -> str:
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)


def _text(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "content": text}]
