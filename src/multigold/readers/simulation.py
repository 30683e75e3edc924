"""One simulation of tau2, or anything that is written like one: messages or ticks, a verdict, and a few words.

Only what scoring needs is decoded. `raw_data` is never read: arguments stand in `tool_calls` as objects. Every field is
read leniently; a simulation that still cannot be decoded keeps its ids and its verdict and gets a problem.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Final

import attrs
import msgspec

from multigold.model.call_shapes import call_id, parse_call
from multigold.model.message_shapes import RawMessage, result_of
from multigold.model.task import ToolCall
from multigold.model.trajectory import Recorded, Trajectory
from multigold.model.transcript import Transcript, TranscriptBuilder, parse_messages
from multigold.model.verdict import Reason
from multigold.readers.decoding import NULL, decode_run, decoded
from multigold.readers.joining import Clues
from multigold.readers.tasks import id_text
from multigold.state.canonical import Json
from multigold.state.json_values import is_too_deep


class _Chunk(msgspec.Struct, gc=False):
    content: Any = None
    tool_calls: Any = None


class _Tick(msgspec.Struct, gc=False):
    agent_chunk: _Chunk | None = None
    user_chunk: _Chunk | None = None
    agent_tool_calls: Any = None
    user_tool_calls: Any = None
    agent_tool_results: Any = None
    user_tool_results: Any = None


class Head(msgspec.Struct, gc=False):
    """What can be read of a simulation whose messages cannot."""

    id: Any = None
    task_id: Any = None
    trial: Any = None
    termination_reason: Any = None
    reward: Any = None
    reward_info: msgspec.Raw = NULL


class _Simulation(Head, gc=False):
    messages: list[RawMessage] | None = None
    ticks: list[_Tick] | None = None
    mode: Any = None


class _Messages(msgspec.Struct, gc=False):
    messages: Any = None


class _DbCheck(msgspec.Struct, gc=False):
    db_match: Any = None


class _Check(msgspec.Struct, gc=False):
    action: Any = None


class _RewardInfo(msgspec.Struct, gc=False):
    reward: Any = None
    db_check: _DbCheck | None = None
    action_checks: list[_Check] | msgspec.UnsetType | None = msgspec.UNSET
    reward_basis: Any = None
    reward_breakdown: Any = None


@attrs.frozen(kw_only=True)
class Simulation:
    """A simulation as far as it could be read.

    Attributes:
        trajectory: What it did.
        clues: What it tells of its task.
        problem: Why it cannot be scored; None if nothing stands in the way.
        notes: What is odd about it.
    """

    trajectory: Trajectory
    clues: Clues = attrs.field(factory=Clues)
    problem: Reason | None = None
    notes: tuple[str, ...] = ()


_DECODER: Final = msgspec.json.Decoder(_Simulation)

_NO_MESSAGES: Final = Reason(
    code="messages_missing", sentence="the file holds neither the run's messages nor its tool calls"
)


def read_simulation(raw: msgspec.Raw | bytes, agent: str) -> Simulation:
    """Read one simulation."""
    try:
        simulation = decode_run(_DECODER, raw)
    except (ValueError, RecursionError) as error:
        problem = Reason(code="unreadable_run", sentence=f"the run cannot be read ({error})")
        return _simulation(decoded(raw, Head) or Head(), None, agent, problem)
    transcript = _transcript(simulation, raw)
    return _simulation(simulation, transcript, agent, None if transcript else _NO_MESSAGES)


def _simulation(head: Head, transcript: Transcript | None, agent: str, problem: Reason | None) -> Simulation:
    info = decoded(head.reward_info, _RewardInfo) or _RewardInfo(reward=head.reward)
    task_id = id_text(head.task_id)
    messages, calls = (transcript.messages, transcript.calls) if transcript else ((), None)
    recorded = _recorded(info)
    return Simulation(
        trajectory=Trajectory(
            calls=calls,
            messages=messages,
            termination=termination(head.termination_reason),
            recorded=recorded,
            problem=transcript.problem if transcript else None,
            run_id=id_text(head.id),
            task_id=task_id,
            trial=number(head.trial),
            agent=agent,
        ),
        clues=Clues(stated=task_id, checks=_quoted(info), messages=messages, calls=calls or ()),
        problem=problem or _own_contradiction(recorded),
        notes=transcript.notes if transcript else (),
    )


def termination(value: Json) -> str | None:
    """Return why a run ended; None if nothing is recorded. What is no text is kept as its JSON: it is no normal end."""
    if isinstance(value, str) or value is None:
        return value or None
    return "..." if is_too_deep(value) else json.dumps(value)[:80]


def word(value: Json) -> str:
    """Return a value that is a string; empty for anything else."""
    return value if isinstance(value, str) else ""


def number(value: Json) -> int:
    """Return a small count, written as a number or as digits; 0 for anything else."""
    text = id_text(value)
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def reward_number(value: Json) -> float | None:
    """Return a reward as a float; None for anything that is no finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def _recorded(info: _RewardInfo) -> Recorded:
    """Return the verdict that a simulation carries; whatever is not of the known form is left out."""
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


def _own_contradiction(recorded: Recorded) -> Reason | None:
    """Return why a reward is not the product of its own factors; None if it is, or where some are missing."""
    basis, factors = recorded.reward_basis, recorded.breakdown
    if recorded.reward is None or not basis or any(name not in factors for name in basis):
        return None
    product = math.prod(factors[name] for name in basis)
    if math.isclose(product, recorded.reward, abs_tol=1e-6):
        return None
    sentence = f"the recorded reward {recorded.reward:g} is not the product {product:g} of its own factors"
    return Reason(code="contradiction", sentence=sentence)


def _quoted(info: _RewardInfo) -> tuple[ToolCall, ...] | None:
    """Return the gold actions that the checks quote: none if the gold has none; None if nothing was checked.

    tau2 writes null in both cases, but holds the databases against each other in the first only. Where a file has no
    such field at all, nothing is known.
    """
    if info.action_checks is msgspec.UNSET:
        return None
    if info.action_checks is None:
        return () if info.db_check is not None and isinstance(info.db_check.db_match, bool) else None
    return tuple(parse_call(check.action)[0] for check in info.action_checks if isinstance(check.action, dict))


def _transcript(simulation: _Simulation, raw: msgspec.Raw | bytes) -> Transcript | None:
    """Return what a simulation's messages or ticks tell; None if neither tells what was called.

    A voice run may carry both, and the ticks are the record (tau2, `evaluator.py`: by the mode of the run). Ticks that
    were stripped of their calls tell nothing, and neither do messages beside them that hold nothing but talk.
    """
    messages, ticks = simulation.messages, simulation.ticks or ()
    tell = any(map(_tells, ticks))
    if tell and not (messages and simulation.mode == "half_duplex"):
        return _with_other_carrier(_ticks(ticks), messages)
    if messages is None:
        return None
    transcript = parse_messages(messages, lambda: (decoded(raw, _Messages) or _Messages()).messages)
    return transcript if transcript.calls or not ticks else None


def _with_other_carrier(transcript: Transcript, messages: Sequence[RawMessage] | None) -> Transcript:
    """Return the transcript of ticks, with a note if messages beside them hold other calls."""
    beside = parse_messages(messages).calls if messages else ()
    if not beside or [c.call for c in beside] == [c.call for c in transcript.calls]:
        return transcript
    note = "the messages hold other calls than the ticks, which count"
    return attrs.evolve(transcript, notes=(*transcript.notes, note))


def _ticks(ticks: Sequence[_Tick]) -> Transcript:
    """Return what the ticks of a voice run tell."""
    builder = TranscriptBuilder("ticks")
    for builder.index, tick in enumerate(ticks):
        _add_tick(builder, tick)
    return builder.finish()


def _tells(tick: _Tick) -> bool:
    """Tell whether a tick says what was called in it, be it nothing: some files are stripped of that."""
    chunks = (tick.agent_chunk, tick.user_chunk)
    stated = any(calls is not None for calls in (tick.agent_tool_calls, tick.user_tool_calls))
    return stated or any(chunk is not None and chunk.tool_calls for chunk in chunks)


def _add_tick(builder: TranscriptBuilder, tick: _Tick) -> None:
    """Add a tick, the user's side before the agent's."""
    sides = (
        ("user", tick.user_chunk, tick.user_tool_calls, tick.user_tool_results),
        ("assistant", tick.agent_chunk, tick.agent_tool_calls, tick.agent_tool_results),
    )
    for role, chunk, stated, results in sides:
        calls = stated or (chunk.tool_calls if chunk else None)
        if calls or (chunk and chunk.content):
            builder.say(role, chunk.content if chunk else None)
        if calls:
            builder.call(calls, role)
        for result in results if isinstance(results, list) else ():
            if isinstance(result, dict):
                builder.answer(call_id(result), *result_of(result))
