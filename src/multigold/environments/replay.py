"""Running calls: one at a time, or a whole record of them from a state to its end.

As in tau2, a refusal is an answer and not the end: the run goes on, and whatever the tool wrote before it raised stays
(a booking that names one certificate twice has used it up when it fails).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias, cast

import attrs

from multigold.environments.base import Drafts, Environment
from multigold.environments.lookup import CaselessDraft, respelled
from multigold.environments.tools import RefusalError, Tool
from multigold.errors import CallError, DataError
from multigold.model.task import ToolCall
from multigold.model.trajectory import Trajectory
from multigold.state.canonical import Json, clone
from multigold.state.database import Draft, EndState

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
class StepOutcome:
    """The result of one call: an observation, or a refusal."""

    call: ToolCall
    observation: Json = None
    refusal: Refusal | None = None


def step(
    environment: Environment, drafts: Drafts, call: ToolCall, *, synchronise: bool = True, copy: bool = True
) -> StepOutcome:
    """Run one call.

    Args:
        environment: Whose tools to use.
        drafts: Read and written in place.
        call: The call; its arguments are copied, so that nothing of the record ends up in the state.
        synchronise: Whether to bring the two sides in step afterwards.
        copy: Whether the observation is a copy, which later calls leave alone; else it is good until the next call.

    Returns:
        Its result. A tool that raises, whatever it raises, has refused: tau2 answers every exception of a tool
        with an error message and goes on, and brings the two sides in step only if there was none
        (`environment.py`, `get_response`).

    Raises:
        DataError: If the database has a record that cannot be read.
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
            raise  # the database cannot be read, which is not an answer of a tool
        except Exception as error:
            refusal = Refusal(kind="refused", message=f"{_kind(error)}{error}")
    return StepOutcome(call=call, observation=None if refusal else observation, refusal=refusal)


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
    """Return why a call cannot even be tried; None if it can."""
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
    """The end of a replay: the state, and the result of each call in order."""

    end_state: EndState
    outcomes: tuple[StepOutcome, ...]

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
    """Run calls in order, from the environment's initial state or another; neither is changed.

    Args:
        environment: Whose tools to use.
        calls: The calls.
        initial: Where to start; None for the environment's own initial state.
        synchronise: Whether to bring the two sides in step after each call. tau2 does so for an agent's calls and not
            for a gold's (`evaluator_env.py`), so the benchmark's own gold is replayed with False.
        observe: Whether observations are used; if not, work that only serves them is skipped.

    Returns:
        The end state and the outcome of each call.
    """
    drafts = Drafts(initial or environment.initial)
    sides_move = synchronise and environment.synchronise is not None
    outcomes = tuple(
        StepOutcome(call=call)
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
        task_initial: The task's own state, which wins if it is given.
        changes: The task's changes to the environment's initial state (tau2: `initial_state`); None for none.

    Raises:
        CallError: If the task asks for changes that the environment does not know how to make.
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
    """Return the state in which a task is handed to the agent: some begin in the middle of a conversation.

    The record of a run has the calls of that conversation as well, so a run is replayed from `start` and a gold from
    here (tau2, `evaluator_env.py`).

    Args:
        environment: The environment.
        start: The state that the task starts in.
        changes: The task's own initial state, whose `message_history` is the conversation so far.
    """
    history = changes.get("message_history") if isinstance(changes, dict) else None
    if not history:
        return start
    known = Trajectory.from_messages(history).calls or ()
    calls = [recorded.call for recorded in known if not recorded.never_ran]
    return replay(environment, calls, initial=start).end_state
