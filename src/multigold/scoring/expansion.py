"""From a form that lists its end states to those states: slots are filled, calls are replayed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import attrs

from multigold.environments.base import Environment
from multigold.environments.replay import Replay, replay
from multigold.errors import CallError, GoldSetError
from multigold.model.gold import Actions, Choices, Explicit, Form
from multigold.model.task import ToolCall
from multigold.scoring.compiled_golds import Member
from multigold.state.canonical import Json
from multigold.state.database import EndState
from multigold.state.delta import ABSENT

MAX_MEMBERS = 10_000
"""A `choices` form that expands to more members than this is refused: write it as a pattern."""


def admitted_states(
    form: Form, start: EndState, environment: Environment | None, *, where: str = ""
) -> Iterator[Member | None]:
    """Yield the end states of a form that lists them, None for each member that is left out as infeasible.

    Args:
        form: Any form but a pattern, which has no list.
        start: The state that the task starts in.
        environment: Where calls are replayed.
        where: Place of the form, for errors.

    Raises:
        CallError: If calls need an environment and there is none.
        GoldSetError: If a call fails that must not, or there are too many members.
    """

    def done(calls: Sequence[ToolCall]) -> Replay:
        if environment is None:
            raise CallError("calls can only be replayed in an environment", where=where, remedy="Pass environment=...")
        return replay(environment, calls, initial=start, observe=False)

    if isinstance(form, Explicit):
        yield Member(state=_explicit(form, start, where), label=form.label)
    elif isinstance(form, Actions):
        yield Member(state=_strict(done(form.calls), where), label=form.label)
    elif isinstance(form, Choices):
        for label, calls in expand(form, where=where):
            replayed = done(calls)
            if replayed.refusals and form.infeasible == "skip":
                yield None
            else:
                yield Member(state=_strict(replayed, f"{where} ({label})"), label=label)


def _explicit(form: Explicit, start: EndState, where: str) -> EndState:
    if form.state is not None:
        return form.state
    if form.delta is None:
        raise GoldSetError("an explicit end state has neither a database nor a delta", where=where)
    return form.delta.apply(start)


def _strict(done: Replay, where: str) -> EndState:
    for index, refusal in done.refusals:
        call = done.outcomes[index].call
        raise GoldSetError(f"call {index} ({call.name}) fails: {refusal.message}", where=where)
    return done.end_state


def expand(form: Choices, *, where: str = "") -> Iterator[tuple[str, tuple[ToolCall, ...]]]:
    """Yield a label and the calls of every combination of a form's alternatives, in the order of the slots.

    Raises:
        GoldSetError: If a call names a slot that is not there, or there are more than `MAX_MEMBERS` combinations.
    """
    count = 1
    for alternatives in form.slots.values():
        count *= len(alternatives)
    if count > MAX_MEMBERS:
        raise GoldSetError(f"the slots have {count} combinations, over the limit of {MAX_MEMBERS}", where=where)
    for values in itertools.product(*form.slots.values()):
        chosen = dict(zip(form.slots, values, strict=True))
        calls = tuple(attrs.evolve(call, arguments=_fill(call.arguments, chosen, where)) for call in form.calls)
        yield ", ".join(f"{slot}={_short(value)}" for slot, value in chosen.items()), calls


def _short(value: Json) -> str:
    if isinstance(value, dict):
        return str(value.get("label", "/".join(str(part) for part in value.values())))
    return str(value)


def _fill(template: Json, chosen: Mapping[str, Json], where: str) -> Json:
    if isinstance(template, Mapping):
        if template.keys() == {"$slot"}:
            return _slot(template["$slot"], chosen, where)
        return {key: _fill(value, chosen, where) for key, value in template.items()}
    if isinstance(template, list):
        return [_fill(item, chosen, where) for item in template]
    return template


def _slot(name: str, chosen: Mapping[str, Json], where: str) -> Json:
    slot, _, key = name.partition("/")
    value = chosen.get(slot, ABSENT)
    if key and value is not ABSENT:
        value = value.get(key, ABSENT) if isinstance(value, dict) else ABSENT
    if value is ABSENT:
        raise GoldSetError(f"a call names the slot {name!r}, which is not there", where=where)
    return value
