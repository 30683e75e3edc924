"""A run followed to its end: its calls replayed, and what comes of them held against what was recorded."""

from __future__ import annotations

import attrs

from multigold.environments.base import Drafts, Environment
from multigold.environments.replay import StepOutcome, as_written, step
from multigold.environments.tools import Tool
from multigold.errors import CallError, StateError
from multigold.model.task import ToolCall, without_nulls
from multigold.model.trajectory import RecordedCall, Trajectory
from multigold.model.verdict import Fidelity
from multigold.state.canonical import Json, same
from multigold.state.database import EndState
from multigold.state.delta import diff


@attrs.frozen(kw_only=True)
class ReplayedRun:
    """A run followed to its end.

    Attributes:
        end_state: Where it ended.
        calls: Each call and whether it succeeded, None if that was not recorded; None if no calls are known.
        fidelity: How well the replay followed the record.
    """

    end_state: EndState
    calls: tuple[tuple[ToolCall, bool | None], ...] | None
    fidelity: Fidelity


def replay_run(
    trajectory: Trajectory, start: EndState, environment: Environment | None, *, check_reads: bool = False
) -> ReplayedRun:
    """Replay the calls of a run, or take the end state that it states.

    Reads whose recorded outcome is known are not run again: they change nothing. Writes are run, and what comes of them
    is held against the record. A recorded success that the environment refuses, or a recorded refusal that it carries
    out and that changes something, is drift: the state is not the one that the run had.

    Raises:
        CallError: If calls must be replayed and there is no environment.
    """
    if trajectory.end_state is not None:
        return ReplayedRun(end_state=trajectory.end_state, calls=_recorded_calls(trajectory), fidelity=Fidelity())
    if environment is None:
        raise CallError("the run's calls can only be replayed in an environment", remedy="Pass environment=...")
    drafts = Drafts(start)
    counts = dict.fromkeys(("replayed", "refused", "unknown", "skipped", "differing"), 0)
    calls: list[tuple[ToolCall, bool]] = []
    drift = first_difference = ""
    for index, recorded in enumerate(trajectory.calls or ()):
        tool = environment.tool(recorded.call.name, recorded.call.requestor)
        written = as_written(environment, drafts, recorded.call)
        known_read = tool is not None and tool.kind != "write" and recorded.refused is not None and not check_reads
        if known_read or recorded.never_ran:
            counts["skipped"] += 1
            calls.append((written, not (recorded.never_ran or recorded.refused)))
            continue
        if recorded.out_of_bounds:
            _refuse_unholdable(tool, recorded, index)
        before = drafts.freeze() if recorded.refused else None
        outcome = step(environment, drafts, recorded.call, copy=False)
        succeeded = outcome.refusal is None
        counts[_count_of(outcome)] += 1
        calls.append((written, succeeded if recorded.refused is None else not recorded.refused))
        difference = _difference(recorded, outcome)
        if difference:
            counts["differing"] += 1
            first_difference = first_difference or f"call {index} ({recorded.call.name}): {difference}"
            untouched = (before is not None and not diff(before, drafts.freeze())) or (tool and tool.kind != "write")
            drift = drift or ("" if untouched else _drift(recorded, outcome, index))
    fidelity = Fidelity(calls=len(calls), first_difference=first_difference, drift=drift, **counts)
    return ReplayedRun(end_state=drafts.freeze(), calls=tuple(calls), fidelity=fidelity)


def _refuse_unholdable(tool: Tool | None, recorded: RecordedCall, index: int) -> None:
    """Refuse a write that was carried out with arguments that no state can hold.

    Raises:
        StateError: If it is one.
    """
    if tool is not None and tool.kind == "write":
        raise StateError("the arguments hold what no state can hold", where=f"call {index} ({recorded.call.name})")


def _recorded_calls(trajectory: Trajectory) -> tuple[tuple[ToolCall, bool | None], ...] | None:
    if trajectory.calls is None:
        return None
    outcomes = ((one.call, True if one.never_ran else one.refused) for one in trajectory.calls)
    return tuple((call, None if refused is None else not refused) for call, refused in outcomes)


def _count_of(outcome: StepOutcome) -> str:
    if outcome.refusal is None:
        return "replayed"
    return "unknown" if outcome.refusal.kind == "unknown_tool" else "refused"


def _difference(recorded: RecordedCall, outcome: StepOutcome) -> str:
    """Say how a recorded result differs from the recomputed one; empty if it does not or nothing was recorded."""
    if recorded.refused is None or recorded.result is None:
        return ""
    if recorded.refused != (outcome.refusal is not None):
        return "recorded as refused, now carried out" if recorded.refused else "recorded as carried out, now refused"
    if outcome.refusal is None and not _same_result(recorded.result, outcome.observation):
        return "the recorded result differs from the recomputed one"
    return ""


def _same_result(recorded: str, observation: Json) -> bool:
    if isinstance(observation, str):
        return recorded == observation
    import msgspec

    try:
        value = msgspec.json.decode(recorded)
        # Whether a tool prints a null or leaves it out is no difference in what it did.
        return same(value, observation) or same(without_nulls(value), without_nulls(observation))
    except (msgspec.DecodeError, RecursionError, ValueError):
        return False


def _drift(recorded: RecordedCall, outcome: StepOutcome, index: int) -> str:
    if recorded.refused == (outcome.refusal is not None):
        return ""
    did, does = ("refused", "carries it out") if recorded.refused else ("carried out", "refuses it")
    detail = f" ({outcome.refusal.message})" if outcome.refusal else ""
    return f"call {index} ({recorded.call.name}) was {did} when it was recorded, and the replay {does}{detail}"
