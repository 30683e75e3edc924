"""From a task and its gold set to what scoring needs: everything replayed, expanded and compared once."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from multigold.environments.base import Environment
from multigold.environments.replay import initial_state, replay, state_after_history
from multigold.errors import CallError, GoldSetError
from multigold.model.gold import Assertions, Explicit, GoldSet, Pattern, Reading
from multigold.model.task import Task
from multigold.model.verdict import Stratum
from multigold.scoring.compiled_golds import (
    Admitted,
    BenchmarkGold,
    CompiledAssertions,
    CompiledGolds,
    CompiledPattern,
    Member,
    PreparedState,
    normal_forms,
)
from multigold.scoring.expansion import admitted_states
from multigold.state.conventions import Conventions
from multigold.state.database import EndState
from multigold.state.delta import diff
from multigold.state.equivalence import check_names, comparable

BENCHMARK = "benchmark"
"""Id of the reading that stands for the benchmark's own gold where no gold set applies."""


def compile_golds(
    task: Task,
    gold_set: GoldSet | None,
    environment: Environment | None = None,
    *,
    equivalences: Sequence[str] = (),
    other_version: bool = False,
) -> CompiledGolds:
    """Replay and expand everything that the gold set and the benchmark say of a task.

    Args:
        task: The task; its criteria hold the benchmark's own gold.
        gold_set: The gold set as it stands for this text; None if none applies.
        environment: Where calls are replayed; None if every form gives its state outright.
        equivalences: Names of the equivalences to try after strict comparison.
        other_version: Whether the catalogue lists the task with another text.

    Raises:
        CallError: If an environment or an initial state is needed and missing, or an equivalence is unknown.
        GoldSetError: If a call of a reading fails, or the set refers to something that is not there.
    """
    names = check_names(equivalences)
    conventions = environment.conventions if environment else Conventions()
    start = _start(task, environment, gold_set)
    begun = state_after_history(environment, start, task.initial_state) if environment else start
    initial = comparable(begun, begun, conventions)
    scene = _Scene(initial=initial, start=begun, environment=environment, names=names, conventions=conventions)
    listed = gold_set.readings if gold_set else ()
    readings = tuple(_admit(reading, scene, _place(gold_set, reading)) for reading in listed)
    benchmark = _benchmark(task, gold_set, readings, scene)
    if gold_set is None and benchmark is not None:
        readings = (_benchmark_reading(benchmark, task, scene),)
    admitting = _admitting(readings, benchmark, scene) if gold_set else ()
    return CompiledGolds(
        initial=initial,
        start=start,
        readings=readings,
        benchmark=benchmark,
        benchmark_readings=admitting,
        gold_set=gold_set,
        stratum=_stratum(gold_set, readings, benchmark, admitting, other_version),
        equivalences=names,
        conventions=conventions,
        replays=environment is not None,
    )


@attrs.frozen(kw_only=True, eq=False)
class _Scene:
    """Where readings of one task are worked out."""

    initial: EndState
    start: EndState
    environment: Environment | None
    names: tuple[str, ...]
    conventions: Conventions

    def comparable(self, state: EndState) -> EndState:
        return comparable(state, self.initial, self.conventions)

    def member(self, state: EndState, label: str) -> Member:
        """Return the member of a state in comparable form."""
        return Member(state=state, label=label, forms=normal_forms(state, self.initial, self.names, self.conventions))


def _start(task: Task, environment: Environment | None, gold_set: GoldSet | None) -> EndState:
    if environment is not None:
        return initial_state(environment, task.initial, task.initial_state)
    if task.initial is not None:
        return task.initial
    raise CallError(
        f"task {task.id!r} has no initial state and no environment was given",
        where=gold_set.source if gold_set else "",
        remedy="Give the task initial=..., or pass environment=...",
    )


def _place(gold_set: GoldSet | None, reading: Reading) -> str:
    source = gold_set.source if gold_set else ""
    return f"{source}: reading {reading.id}" if source else f"reading {reading.id}"


def _admit(reading: Reading, scene: _Scene, where: str) -> Admitted:
    members: list[Member] = []
    patterns: list[CompiledPattern] = []
    predicates: list[CompiledAssertions] = []
    skipped = duplicates = 0
    for form in reading.admits:
        if isinstance(form, Pattern):
            patterns.append(_compile_pattern(form, scene, where))
            continue
        if isinstance(form, Assertions):
            predicates.append(_compile_assertions(form, scene, where))
            continue
        for admitted in admitted_states(form, scene.start, scene.environment, where=where):
            if admitted is None:
                skipped += 1
                continue
            state = scene.comparable(admitted.state)
            if any(known.state == state for known in members):
                duplicates += 1
            else:
                members.append(scene.member(state, admitted.label))
    return Admitted(
        reading=reading,
        members=tuple(members),
        patterns=tuple(patterns),
        predicates=tuple(predicates),
        skipped=skipped,
        duplicates=duplicates,
        ends_initial=any(member.state == scene.initial for member in members),
    )


def _compile_pattern(form: Pattern, scene: _Scene, where: str) -> CompiledPattern:
    known = scene.environment.invariants if scene.environment else {}
    unknown = [name for name in form.invariants if name not in known]
    if unknown:
        raise GoldSetError(f"no invariant is called {unknown[0]!r}", where=where, remedy=f"There are {sorted(known)}.")
    return CompiledPattern(pattern=form, environment=scene.environment)


def _compile_assertions(form: Assertions, scene: _Scene, where: str) -> CompiledAssertions:
    if scene.environment is None:
        raise CallError("assertions need an environment", where=where, remedy="Pass environment=...")
    known = scene.environment.assertions
    for assertion in form.assertions:
        name = assertion.get("func_name") if isinstance(assertion, dict) else None
        if name not in known:
            raise GoldSetError(f"no assertion is called {name!r}", where=where, remedy=f"There are {sorted(known)}.")
    return CompiledAssertions(form=form, environment=scene.environment)


def _benchmark(
    task: Task, gold_set: GoldSet | None, readings: Sequence[Admitted], scene: _Scene
) -> BenchmarkGold | None:
    if task.criteria is not None and task.criteria.states_gold and scene.environment is not None:
        return benchmark_gold(task, scene.environment, scene.start)
    if gold_set is not None and gold_set.benchmark is not None:
        for admitted in readings:
            if admitted.reading.id == gold_set.benchmark and len(admitted.members) == 1:
                return BenchmarkGold(state=admitted.members[0].state)
        raise GoldSetError(
            f"the benchmark's reading {gold_set.benchmark!r} must admit exactly one end state", where=gold_set.source
        )
    return None


def benchmark_gold(task: Task, environment: Environment, start: EndState) -> BenchmarkGold:
    """Replay the benchmark's own gold by the benchmark's own road, and say what is wrong with it.

    Args:
        task: A task whose criteria state a gold.
        environment: Where it is replayed.
        start: The state that the task starts in.

    Returns:
        Where it ends by tau2's road (`evaluator_env.py`: failing calls are skipped, sides not synchronised).
    """
    calls = (task.criteria.actions if task.criteria else None) or ()
    done = replay(environment, calls, initial=start, synchronise=False, observe=False)
    faults, details = [], []
    if done.refusals:
        faults.append("gold_broken")
        details += [f"call {i} ({done.outcomes[i].call.name}) fails: {refusal.message}" for i, refusal in done.refusals]
    repaired = None
    if environment.synchronise is not None:
        synced = replay(environment, calls, initial=start, observe=False)
        if diff(done.end_state, synced.end_state):
            faults.append("gold_not_synced")
            details.append("synchronised after each call, as an agent's calls are, the gold ends in another state")
            repaired = comparable(synced.end_state, start, environment.conventions)
    state = comparable(done.end_state, start, environment.conventions)
    return BenchmarkGold(state=state, faults=tuple(faults), details=tuple(details), repaired=repaired)


def _benchmark_reading(benchmark: BenchmarkGold, task: Task, scene: _Scene) -> Admitted:
    """Return the reading that stands for the benchmark's own gold: its end state, or what its reward asserts."""
    form = _scored_assertions(task, scene) or Explicit(state=benchmark.state)
    return _admit(Reading(id=BENCHMARK, title="the benchmark's own gold", admits=(form,)), scene, "")


def _scored_assertions(task: Task, scene: _Scene) -> Assertions | None:
    """Return the benchmark's assertions where its reward rests on them and not on the database; None otherwise."""
    criteria, known = task.criteria, scene.environment.assertions if scene.environment else {}
    if criteria is None or not judged_by_assertions(criteria.reward_basis or ()):
        return None
    stated = criteria.env_assertions or ()
    names = [assertion.get("func_name") if isinstance(assertion, dict) else None for assertion in stated]
    return Assertions(stated) if names and all(name in known for name in names) else None


def judged_by_assertions(basis: Sequence[str]) -> bool:
    """Tell whether a reward with these factors looks at the end state through assertions alone."""
    return "ENV_ASSERTION" in basis and "DB" not in basis


def _admitting(readings: Sequence[Admitted], benchmark: BenchmarkGold | None, scene: _Scene) -> tuple[str, ...]:
    if benchmark is None:
        return ()
    prepared = PreparedState(
        state=benchmark.state, initial=scene.initial, changes=diff(scene.initial, benchmark.state), forms=()
    )
    return tuple(a.reading.id for a in readings if a.reading.standing != "off" and a.find(prepared) is not None)


def _stratum(
    gold_set: GoldSet | None,
    readings: Sequence[Admitted],
    benchmark: BenchmarkGold | None,
    admitting: Sequence[str],
    other_version: bool,
) -> Stratum:
    if gold_set is None:
        return "other_version" if other_version else "free"
    if benchmark is not None and not admitting:
        return "conflict"
    core = [admitted for admitted in readings if admitted.reading.standing == "core"]
    if _differ(core):
        return "affected"
    return "resolved" if gold_set.texts else "free"


def _differ(core: Sequence[Admitted]) -> bool:
    """Tell whether at least two readings differ in state: members by their states, any other form from anything."""
    if len(core) < 2:
        return False
    if any(admitted.open_forms for admitted in core):
        return True
    first = [member.state for member in core[0].members]
    return any(len(a.members) != len(first) or any(m.state not in first for m in a.members) for a in core[1:])
