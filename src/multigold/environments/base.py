"""What an environment is, and how calls are replayed in it.

A tool is a function of a `Draft` and keyword arguments. It reads and writes the draft, returns what the agent sees, and
refuses by raising. As in tau2, a refusal is an answer and not the end: the run goes on, and whatever the tool wrote
before it raised stays (a booking that names one certificate twice has used it up when it fails).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, Literal, TypeAlias, cast

import attrs

from multigold.environments.lookup import CaselessDraft, IdLookup, respelled
from multigold.errors import CallError, DataError
from multigold.model.task import Requestor, ToolCall
from multigold.model.trajectory import Trajectory
from multigold.state.canonical import Json, clone
from multigold.state.conventions import Conventions
from multigold.state.database import Draft, EndState

ToolFunction: TypeAlias = Callable[..., Json]
"""`function(draft, **arguments) -> observation`; raises to refuse."""

ToolKind: TypeAlias = Literal["read", "write", "generic"]
"""`read` and `generic` tools never change a state; `generic` ones do not look at it either."""

Assertion: TypeAlias = Callable[..., bool]
"""`assertion(draft, **arguments)` tells whether something holds of one side of a state; it never writes."""

Invariant: TypeAlias = Callable[[EndState, EndState], Iterable[str]]
"""`invariant(initial, end)` yields a sentence for each fault among the records that changed; none where all is well."""


class RefusalError(Exception):
    """A tool says no. Part of the environment's behaviour, no error of multigold: `step` turns it into an answer."""


_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@attrs.frozen(kw_only=True, slots=False)
class Tool:
    """A tool of an environment.

    Attributes:
        name: What calls name it by.
        function: Its behaviour.
        kind: Whether it can change the state.
        total: Whether it answers whatever strings and nulls it is given. A read that is need not be run where nobody
            looks at the answer.
    """

    name: str
    function: ToolFunction
    kind: ToolKind
    total: bool = False

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The parameters that a call may give, by name: all but the draft."""
        return {parameter.name: parameter for parameter in self._declared if parameter.kind in _NAMED}

    @cached_property
    def takes_any(self) -> bool:
        """Whether the function takes arguments of any name (`**arguments`)."""
        return any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in self._declared)

    @cached_property
    def _declared(self) -> list[inspect.Parameter]:
        return list(inspect.signature(self.function).parameters.values())[1:]

    @cached_property
    def required(self) -> frozenset[str]:
        """Names of the parameters that a call must give."""
        return frozenset(n for n, p in self.parameters.items() if p.default is inspect.Parameter.empty)


def tool_table(
    functions: Mapping[ToolKind, Iterable[ToolFunction]], *, total: Iterable[ToolFunction] = ()
) -> dict[str, Tool]:
    """Return tools by name from plain functions grouped by kind; each is named as its function.

    Args:
        functions: The functions of each kind.
        total: Those that answer whatever strings and nulls they are given.
    """
    whole = frozenset(total)
    return {
        function.__name__: Tool(name=function.__name__, function=function, kind=kind, total=function in whole)
        for kind, group in functions.items()
        for function in group
    }


@attrs.frozen(kw_only=True, eq=False)
class Environment:
    """An initial state and the tools that change it.

    Attributes:
        name: Such as `tau2-airline`.
        initial: The state that every task starts in, unless it says otherwise.
        tools: The agent's tools by name.
        user_tools: The simulated user's tools by name.
        invariants: Named checks of what changed; patterns and the audit of golds use them.
        conventions: What the domain declares about its records, for equivalences and comparison.
        prepare: Applies a task's own initial state to the environment's; None where the domain has no such thing.
        synchronise: Brings the two sides in step after a call; None where the domain has one side.
        assertions: Predicates on one side of a state, by name; see `multigold.environments.assertions`.
        solo: Whether the agent holds the user's tools as well, and there is no user (tau2's solo mode).
        data_digest: SHA-256 of the data that the initial state was read from; empty where unknown.
        ids: How ids in calls are looked up; see `multigold.environments.lookup`.
    """

    name: str
    initial: EndState
    tools: Mapping[str, Tool]
    user_tools: Mapping[str, Tool] = attrs.field(factory=dict)
    invariants: Mapping[str, Invariant] = attrs.field(factory=dict)
    conventions: Conventions = attrs.field(factory=Conventions)
    prepare: Callable[[EndState, Json], EndState] | None = None
    synchronise: Callable[[Drafts], None] | None = None
    assertions: Mapping[str, Assertion] = attrs.field(factory=dict)
    solo: bool = False
    data_digest: str = ""
    ids: IdLookup = "exact"

    @classmethod
    def from_functions(
        cls, name: str, initial: Mapping[str, Json], functions: Mapping[ToolKind, Iterable[ToolFunction]], **more: Any
    ) -> Environment:
        """Return an environment whose tools are plain functions on a dictionary.

        Each call runs on a deep copy of the state, which is compared afterwards: correct, and slow where the state is
        large.

        Args:
            name: The environment's name.
            initial: The state that every task starts in: `{table: {record id: record}}`.
            functions: The agent's functions, by whether they change the state: `{"read": [...], "write": [...]}`. Each
                takes the state's data first, and becomes the tool of its name.
            more: What else `multigold.environments.plain.environment_from_functions` takes.

        Raises:
            CallError: Where a function cannot be a tool.
            StateError: Where the initial state is not JSON.
        """
        from multigold.environments.plain import environment_from_functions

        return environment_from_functions(name, initial, functions, **more)

    def tool(self, name: str, requestor: Requestor = "assistant") -> Tool | None:
        """Return the tool that a requestor gets by a name; None where there is none."""
        if self.solo and requestor == "user":
            return None
        return (self.user_tools if self.side(name, requestor) == "user" else self.tools).get(name)

    def side(self, name: str, requestor: Requestor) -> Requestor:
        """Return the side whose tools and draft a call is about: the requestor's, but for an agent in solo mode."""
        return "user" if self.solo and name in self.user_tools else requestor


class Drafts:
    """The two sides of a state while calls run: the agent's draft and, where the domain has one, the user's."""

    __slots__ = ("agent", "user")

    def __init__(self, state: EndState) -> None:
        self.agent = state.agent.draft()
        self.user: Draft | None = None if state.user is None else state.user.draft()

    def side(self, requestor: Requestor) -> Draft:
        """Return the draft that a requestor's tools work on; the agent's where the domain has one side."""
        return self.user if requestor == "user" and self.user is not None else self.agent

    def freeze(self) -> EndState:
        """Return the present content as a state; later writes leave it alone."""
        return EndState(self.agent.freeze(), user=None if self.user is None else self.user.freeze())


RefusalKind: TypeAlias = Literal["unknown_tool", "bad_arguments", "refused"]


@attrs.frozen(kw_only=True)
class Refusal:
    """A call that was not carried out, or not to its end.

    Attributes:
        kind: `unknown_tool`, `bad_arguments` (names missing or unexpected, or no object), or `refused` by the tool.
        message: What the tool said.
    """

    kind: RefusalKind
    message: str


@attrs.frozen(kw_only=True)
class Outcome:
    """What came of one call: an observation, or a refusal."""

    call: ToolCall
    observation: Json = None
    refusal: Refusal | None = None


def step(
    environment: Environment, drafts: Drafts, call: ToolCall, *, synchronise: bool = True, copy: bool = True
) -> Outcome:
    """Run one call.

    Args:
        environment: Whose tools to use.
        drafts: Read and written in place.
        call: The call; its arguments are copied, so that nothing of the record ends up in the state.
        synchronise: Whether to bring the two sides in step afterwards.
        copy: Whether the observation is a copy, which later calls leave alone; else it is good until the next call.

    Returns:
        What came of it. A tool that raises, whatever it raises, has refused: tau2 answers every exception of a tool
        with an error message and goes on, and brings the two sides in step only where there was none
        (`environment.py`, `get_response`).

    Raises:
        DataError: Where the database has a record that cannot be read.
    """
    tool = environment.tool(call.name, call.requestor)
    refusal = _unfit(tool, call)
    observation: Json = None
    if tool is not None and refusal is None:
        try:
            draft = _lookup(environment, drafts.side(environment.side(call.name, call.requestor)))
            observation = tool.function(draft, **clone(dict(call.arguments or {})))
            # What the sides' meeting writes may be what the tool has just answered with.
            observation = clone(observation) if copy or environment.synchronise is not None else observation
            if synchronise and environment.synchronise is not None:
                environment.synchronise(drafts)
        except DataError:
            raise  # the database cannot be read, which is no answer of a tool
        except Exception as error:
            refusal = Refusal(kind="refused", message=f"{_kind(error)}{error}")
    return Outcome(call=call, observation=None if refusal else observation, refusal=refusal)


def _lookup(environment: Environment, draft: Draft) -> Draft:
    """Return what a tool works on: the draft itself, or one that finds records by their ids in any case."""
    if environment.ids == "exact":
        return draft
    return cast("Draft", CaselessDraft(draft, environment.conventions.id_case))


def as_written(environment: Environment, drafts: Drafts, call: ToolCall) -> ToolCall:
    """Return a call with the ids that it names as their records have them; itself where ids are looked up exactly."""
    if environment.ids == "exact" or not call.arguments:
        return call
    draft = drafts.side(environment.side(call.name, call.requestor))
    return attrs.evolve(call, arguments=respelled(call.arguments, draft, environment.conventions.id_case))


def _kind(error: Exception) -> str:
    return "" if isinstance(error, RefusalError) else f"{type(error).__name__}: "


def _unfit(tool: Tool | None, call: ToolCall) -> Refusal | None:
    """Return why a call cannot even be tried; None where it can."""
    if tool is None:
        return Refusal(kind="unknown_tool", message=f"Tool '{call.name}' not found.")
    if call.arguments is None:
        return Refusal(kind="bad_arguments", message="the arguments are not a JSON object")
    unexpected = call.arguments.keys() - tool.parameters.keys()
    if unexpected and not tool.takes_any:
        return Refusal(kind="bad_arguments", message=f"unexpected argument {sorted(unexpected)[0]!r}")
    missing = tool.required - call.arguments.keys()
    if missing:
        return Refusal(kind="bad_arguments", message=f"missing argument {sorted(missing)[0]!r}")
    return None


@attrs.frozen(kw_only=True)
class Replay:
    """The end of a replay: the state, and what came of each call in order."""

    end_state: EndState
    outcomes: tuple[Outcome, ...]

    @property
    def refusals(self) -> tuple[tuple[int, Refusal], ...]:
        """Index and refusal of every call that was not carried out."""
        return tuple((index, o.refusal) for index, o in enumerate(self.outcomes) if o.refusal is not None)


def replay(
    environment: Environment,
    calls: Iterable[ToolCall],
    *,
    initial: EndState | None = None,
    synchronise: bool = True,
    observe: bool = True,
) -> Replay:
    """Run calls in order, from the environment's initial state or another; neither is changed (law 3).

    Args:
        environment: Whose tools to use.
        calls: The calls.
        initial: Where to start; None for the environment's own initial state.
        synchronise: Whether to bring the two sides in step after each call. tau2 does so for an agent's calls and not
            for a gold's (`evaluator_env.py`), so the benchmark's own gold is replayed with False.
        observe: Whether anybody looks at the observations; without, what is only good for them is left out.

    Returns:
        The end state and the outcome of each call.
    """
    drafts = Drafts(initial or environment.initial)
    sides_move = synchronise and environment.synchronise is not None
    outcomes = tuple(
        Outcome(call=call)
        if not observe and not sides_move and _is_idle(environment, call)
        else step(environment, drafts, call, synchronise=synchronise, copy=observe)
        for call in calls
    )
    return Replay(end_state=drafts.freeze(), outcomes=outcomes)


def _is_idle(environment: Environment, call: ToolCall) -> bool:
    """Tell whether a call can do nothing but answer."""
    tool = environment.tool(call.name, call.requestor)
    if tool is None or not tool.total or tool.kind == "write" or _unfit(tool, call) is not None:
        return False
    return all(value is None or isinstance(value, str) for value in (call.arguments or {}).values())


def initial_state(environment: Environment, task_initial: EndState | None, changes: Json) -> EndState:
    """Return the state that a task starts in.

    Args:
        environment: The environment.
        task_initial: The task's own state, which wins where it is given.
        changes: The task's changes to the environment's initial state (tau2: `initial_state`); None for none.

    Raises:
        CallError: Where the task asks for changes that the environment does not know how to make.
    """
    if task_initial is not None:
        return task_initial
    if not _asks_for_changes(changes):
        return environment.initial
    if environment.prepare is None:
        raise CallError(f"the environment {environment.name} cannot apply a task's own initial state")
    return environment.prepare(environment.initial, changes)


def _asks_for_changes(changes: Json) -> bool:
    if not isinstance(changes, dict):
        return bool(changes)
    return any(value for part, value in changes.items() if part != "message_history")


def state_after_history(environment: Environment, start: EndState, changes: Json) -> EndState:
    """Return the state in which a task is handed to the agent: some begin in the middle of a talk.

    The calls of that talk stand in the record of a run as well, so a run is replayed from `start` and a gold from here
    (tau2, `evaluator_env.py`).

    Args:
        environment: The environment.
        start: The state that the task starts in.
        changes: The task's own initial state, whose `message_history` is the talk so far.
    """
    history = changes.get("message_history") if isinstance(changes, dict) else None
    if not history:
        return start
    calls = [recorded.call for recorded in Trajectory.from_messages(history).calls or ()]
    return replay(environment, calls, initial=start).end_state
