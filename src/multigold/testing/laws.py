"""The laws of an environment, as functions that raise `LawError` if one does not hold.

Each searches for a counterexample and shrinks it, always in the same way: the same input gives the same answer, and
nothing is written to disk. `runs` says how many examples are tried; `seed` varies them.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Iterator, Sequence

from hypothesis import strategies as st

from multigold.environments.base import Drafts, Environment
from multigold.environments.replay import Replay, StepOutcome, replay, step
from multigold.model.task import ToolCall, without_nulls
from multigold.state.canonical import Json, clone, same
from multigold.state.database import WHOLE, Database, EndState
from multigold.state.delta import Delta, diff
from multigold.state.equivalence import check_names, comparable, normal_form
from multigold.testing.failures import LAWS, LawError, outcome_text
from multigold.testing.gold_strategies import Interleaving, interleavings
from multigold.testing.search import RUNS, search, search_calls
from multigold.testing.strategies import call_sequences


def _sequences(
    environment: Environment, initial: EndState | None, examples: Iterable[ToolCall], calls: Sequence[ToolCall] | None
) -> st.SearchStrategy[tuple[ToolCall, ...]]:
    if calls is not None:
        return st.just(tuple(calls))
    return call_sequences(environment, initial=initial, examples=examples)


def assert_replay_deterministic(
    environment: Environment,
    calls: Sequence[ToolCall] | None = None,
    *,
    initial: EndState | None = None,
    examples: Iterable[ToolCall] = (),
    runs: int = RUNS,
    seed: int | None = None,
) -> None:
    """Assert that replaying the same calls twice, with other calls replayed in between, comes to the same.

    Args:
        environment: The environment.
        calls: The calls; None to try generated sequences.
        initial: The state to start in; None for the environment's own.
        examples: Calls whose arguments serve as examples for generated ones.
        runs: Generated sequences to try.
        seed: Another seed tries others.

    Raises:
        LawError: If the law does not hold.
    """

    def check(sequences: tuple[tuple[ToolCall, ...], tuple[ToolCall, ...]]) -> None:
        chosen, between = sequences
        first = replay(environment, chosen, initial=initial)
        replay(environment, between, initial=initial)
        again = replay(environment, chosen, initial=initial)
        _same_replays("replay_deterministic", first, again, ("at first", "the second time"))

    given_calls = _sequences(environment, initial, examples, calls)
    others = call_sequences(environment, initial=initial, examples=examples, max_size=3)
    search(st.tuples(given_calls, others), check, runs=runs, seed=seed)


def _same_replays(law: str, first: Replay, again: Replay, names: tuple[str, str]) -> None:
    calls = [outcome.call for outcome in first.outcomes]
    for number, (one, other) in enumerate(zip(first.outcomes, again.outcomes, strict=True)):
        if not same_outcome(one, other):
            said = f"call {number} is {outcome_text(one)} {names[0]} and {outcome_text(other)} {names[1]}"
            raise LawError(LAWS[law], said, calls=calls)
    delta = diff(first.end_state, again.end_state)
    if delta:
        raise LawError(LAWS[law], f"the end state {names[0]} differs from the one {names[1]}", calls=calls, delta=delta)


def same_outcome(one: StepOutcome, other: StepOutcome, *, observations: bool = True) -> bool:
    """Tell whether two calls had the same result: the same answer, nulls aside, or the same kind of refusal.

    Args:
        one: The result of one call.
        other: The result of the other.
        observations: Whether answers are compared at all.
    """
    if one.refusal is not None or other.refusal is not None:
        return one.refusal is not None and other.refusal is not None and one.refusal.kind == other.refusal.kind
    return not observations or same(without_nulls(one.observation), without_nulls(other.observation))


def assert_reads_change_nothing(
    environment: Environment,
    gold: Sequence[ToolCall] = (),
    *,
    initial: EndState | None = None,
    examples: Iterable[ToolCall] = (),
    runs: int = RUNS,
    seed: int | None = None,
) -> None:
    """Assert that reads and cleanly failing calls, put into a gold anywhere, change no end state.

    Args:
        environment: The environment.
        gold: The calls that they are put into; none to try reads on the initial state alone.
        initial: The state to start in; None for the environment's own.
        examples: Calls whose arguments serve as examples for generated ones.
        runs: Interleavings to try.
        seed: Another seed tries others.

    Raises:
        LawError: If the law does not hold.
    """
    alone = replay(environment, gold, initial=initial).end_state

    def check(woven: Interleaving) -> None:
        delta = diff(alone, replay(environment, woven.calls, initial=initial).end_state)
        if delta:
            put = ", ".join(map(str, woven.inserted))
            raise LawError(
                LAWS["reads_change_nothing"],
                f"calls {put} were inserted, and the end state differs",
                calls=woven.calls,
                delta=delta,
            )

    search(interleavings(environment, gold, initial=initial, examples=examples), check, runs=runs, seed=seed)


def assert_initial_state_untouched(
    environment: Environment,
    calls: Sequence[ToolCall] | None = None,
    *,
    initial: EndState | None = None,
    examples: Iterable[ToolCall] = (),
    runs: int = RUNS,
    seed: int | None = None,
) -> None:
    """Assert that a replay leaves the state that it starts from as it was.

    A tool that breaks the law does harm to the environment; it is undone before the error is raised.

    Args:
        environment: The environment.
        calls: The calls; None to try generated sequences.
        initial: The state to start in; None for the environment's own.
        examples: Calls whose arguments serve as examples for generated ones.
        runs: Generated sequences to try.
        seed: Another seed tries others.

    Raises:
        LawError: If the law does not hold.
    """
    state = initial or environment.initial
    snapshot = _Snapshot(state)

    def check(chosen: tuple[ToolCall, ...]) -> None:
        replay(environment, chosen, initial=state)
        harm = snapshot.harm(state)
        if harm:
            snapshot.restore(state)
            detail = "the state that the calls started from has changed"
            raise LawError(LAWS["initial_state_untouched"], detail, calls=chosen, delta=harm)

    look = search if calls is not None else search_calls
    look(_sequences(environment, initial, examples, calls), check, runs=runs, seed=seed)


class _Snapshot:
    """What a state holds, record by record. `marshal` is several times faster than JSON, and exact for JSON values."""

    def __init__(self, state: EndState) -> None:
        self._held = {key: marshal.dumps(record, 2) for key, record in _records(state)}

    def _harmed(self, state: EndState) -> Iterator[tuple[tuple[str, str, str], Json, Json]]:
        """Yield the key of every record that is not what it was, what it was, and the record."""
        for key, record in _records(state):
            if marshal.dumps(record, 2) != self._held[key]:
                yield key, marshal.loads(self._held[key]), record

    def harm(self, state: EndState) -> Delta:
        """Return what differs from the state that this was taken from, whose records were changed in place."""
        sides: dict[str, tuple[dict[str, Json], dict[str, Json]]] = {side: ({}, {}) for side, _ in state.sides()}
        for (side, table, record_id), before, after in self._harmed(state):
            for tables, record in zip(sides[side], (before, after), strict=True):
                _put(tables, table, record_id, clone(record))
        was, now = ({side: Database.adopt(pair[n]) for side, pair in sides.items()} for n in (0, 1))
        return diff(EndState(was["agent"], user=was.get("user")), EndState(now["agent"], user=now.get("user")))

    def restore(self, state: EndState) -> None:
        """Write back into a state what it held."""
        for _, before, record in self._harmed(state):
            if isinstance(record, dict):
                record.clear()
                record.update(before)
            else:
                record[:] = before


def _records(state: EndState) -> Iterator[tuple[tuple[str, str, str], Json]]:
    for side, database in state.sides():
        for table, record_id, record in database.records():
            yield (side, table, record_id), record


def _put(tables: dict[str, Json], table: str, record_id: str, record: Json) -> None:
    if record_id == WHOLE:
        tables[table] = record
    else:
        tables.setdefault(table, {})[record_id] = record


def assert_agrees_with(
    environment: Environment,
    other: Environment,
    *,
    calls: Sequence[ToolCall] | None = None,
    examples: Iterable[ToolCall] = (),
    equivalences: Sequence[str] = (),
    observations: bool = True,
    runs: int = RUNS,
    seed: int | None = None,
) -> None:
    """Assert that two environments are the same to a caller of their tools.

    Args:
        environment: One environment; calls are generated from its tools and state.
        other: The other, with the same initial state, nulls aside that the domain declares as defaults.
        calls: The calls; None to try generated sequences.
        examples: Calls whose arguments serve as examples for generated ones, such as those of golds.
        equivalences: Names of equivalences under which end states are compared, such as `minted-ids`.
        observations: Whether answers are compared as well.
        runs: Generated sequences to try.
        seed: Another seed tries others.

    Raises:
        LawError: If the law does not hold, or the initial states differ.
        CallError: If an equivalence is unknown.
    """
    names = check_names(equivalences)
    apart = _apart(environment, environment.initial, other.initial, ())
    if apart:
        raise LawError(LAWS["agrees_with"], "the initial states differ", delta=apart)

    def check(chosen: tuple[ToolCall, ...]) -> None:
        ours, theirs = Drafts(environment.initial), Drafts(other.initial)
        for number, call in enumerate(chosen):
            one, two = step(environment, ours, call), step(other, theirs, call)
            if not same_outcome(one, two, observations=observations):
                said = f"call {number} is {outcome_text(one)} in one and {outcome_text(two)} in the other"
                raise LawError(LAWS["agrees_with"], said, calls=chosen)
        delta = _apart(environment, ours.freeze(), theirs.freeze(), names)
        if delta:
            raise LawError(LAWS["agrees_with"], "the end states differ", calls=chosen, delta=delta)

    look = search if calls is not None else search_calls
    look(_sequences(environment, None, examples, calls), check, runs=runs, seed=seed)


def _apart(one: Environment, ours: EndState, theirs: EndState, names: Sequence[str]) -> Delta:
    """Return what differs between two end states as one environment's conventions compare them."""
    start, conventions = one.initial, one.conventions
    ours, theirs = (comparable(state, start, conventions) for state in (ours, theirs))
    delta = diff(ours, theirs)
    if delta and names:
        forms = [normal_form(state, start, names, conventions) for state in (ours, theirs)]
        return Delta({}) if forms[0] == forms[1] else delta
    return delta
