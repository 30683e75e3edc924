"""From what a reading says to the end states that it admits.

A gold set is text: calls, slots, patterns. Before it can be compared with anything, calls are replayed, slots are
expanded and patterns are tied to the environment's invariants. That is done once per task text; the result,
`CompiledGolds`, is all that scoring needs and holds nothing that changes.

The benchmark's own gold takes another road. It is what the benchmark's evaluator makes of it, faults included: failing
calls are skipped and the two sides are not synchronised (tau2, `evaluator_env.py`). In a reading a failing call is an
error of the gold set.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs

from multigold.environments.assertions import holds, shown
from multigold.environments.base import Environment, Replay, initial_state, replay, state_after_history
from multigold.errors import CallError, GoldSetError
from multigold.model.gold import Actions, Assertions, Choices, Explicit, Form, GoldSet, Pattern, PointerRule, Reading
from multigold.model.task import Task, ToolCall
from multigold.model.verdict import Rewards, Stratum
from multigold.state.canonical import Json
from multigold.state.conventions import Conventions
from multigold.state.database import EndState
from multigold.state.delta import ABSENT, Delta, diff
from multigold.state.equivalence import check_names, comparable, normal_form

MAX_MEMBERS = 10_000
"""A `choices` form that expands to more members than this is refused: write it as a pattern."""

BENCHMARK = "benchmark"
"""Id of the reading that stands for the benchmark's own gold where no gold set applies."""


@attrs.frozen(kw_only=True)
class Member:
    """One admitted end state.

    Attributes:
        state: The state, in comparable form.
        label: What tells it from the reading's other members.
        forms: Its normal form under each combination of equivalences in force, smallest combination first.
    """

    state: EndState
    label: str = ""
    forms: tuple[tuple[tuple[str, ...], EndState], ...] = ()


@attrs.frozen(kw_only=True, slots=False, eq=False)
class CompiledPattern:
    """A pattern with its schemas compiled, on first use, and its invariants looked up."""

    pattern: Pattern
    environment: Environment | None

    @cached_property
    def _validators(self) -> dict[str, Any]:
        from jsonschema import Draft202012Validator

        rules = self.pattern.pointers.items()
        return {pointer: Draft202012Validator(rule.schema) for pointer, rule in rules if rule.schema is not None}

    @property
    def label(self) -> str:
        """What tells the pattern from the reading's other forms."""
        return self.pattern.label

    def faults(self, initial: EndState, end: EndState, changes: Delta) -> Iterator[str]:
        """Yield what the pattern refuses of a state, cheapest checks first; nothing where it admits the state.

        Args:
            initial: The state that the task starts in.
            end: The state that a run left behind.
            changes: What differs between them.
        """
        rules = self.pattern.pointers
        closed = [f"{pointer} changed, which the pattern does not name" for pointer in changes if pointer not in rules]
        missing = [f"{p} did not change" for p, rule in rules.items() if p not in changes.changes and not rule.optional]
        yield from closed
        yield from missing
        if closed or missing:
            return
        wrong = [fault for pointer in changes for fault in self._value_faults(pointer, rules[pointer], changes)]
        yield from wrong
        if not wrong and self.environment is not None:
            for name in self.pattern.invariants:
                yield from (f"{name}: {fault}" for fault in self.environment.invariants[name](initial, end))

    def _value_faults(self, pointer: str, rule: PointerRule, changes: Delta) -> Iterator[str]:
        after = changes.changes[pointer].after
        if rule.schema is None or after is ABSENT:
            if (rule.schema is None) != (after is ABSENT):
                yield f"{pointer} should{'' if rule.schema is None else ' not'} be removed"
            return
        for error in self._validators[pointer].iter_errors(after):
            yield f"{pointer}{''.join(f'/{part}' for part in error.absolute_path)}: {error.message}"


@attrs.frozen(kw_only=True, eq=False)
class CompiledAssertions:
    """Assertions tied to the environment that knows their predicates."""

    form: Assertions
    environment: Environment

    @property
    def label(self) -> str:
        """What tells the assertions from the reading's other forms."""
        return self.form.label

    def faults(self, _initial: EndState, end: EndState, _changes: Delta) -> Iterator[str]:
        """Yield each assertion that does not hold of a state; nothing where the state is admitted."""
        for assertion in self.form.assertions:
            held = holds(self.environment, end, assertion)
            if not held:
                yield f"{shown(assertion)} {'cannot be told' if held is None else 'does not hold'}"


@attrs.frozen(kw_only=True, eq=False)
class Admitted:
    """What one reading admits for one initial state.

    Attributes:
        reading: The reading.
        members: Its end states, without repetition.
        patterns: Its patterns.
        predicates: Its assertions.
        skipped: Members left out because a call fails and the reading says `infeasible: skip`.
        duplicates: Members that came out as a state already listed.
        ends_initial: Whether one of the members is the initial state.
    """

    reading: Reading
    members: tuple[Member, ...]
    patterns: tuple[CompiledPattern, ...] = ()
    predicates: tuple[CompiledAssertions, ...] = ()
    skipped: int = 0
    duplicates: int = 0
    ends_initial: bool = False

    @property
    def width(self) -> int | None:
        """How many end states it admits; None where a pattern or an assertion leaves it open."""
        return None if self.open_forms else len(self.members)

    @property
    def open_forms(self) -> tuple[CompiledPattern | CompiledAssertions, ...]:
        """The forms that test a state instead of listing states."""
        return (*self.patterns, *self.predicates)

    def find(self, candidate: Candidate) -> tuple[str, tuple[str, ...]] | None:
        """Return the label of the member that a state is, and the equivalences needed; None where it is in none.

        Strict comparison comes first, then patterns and assertions, then the combinations of equivalences, smallest
        first.
        """
        for member in self.members:
            if member.state == candidate.state:
                return member.label, ()
        for compiled in self.open_forms:
            if not any(compiled.faults(candidate.initial, candidate.state, candidate.changes)):
                return compiled.label, ()
        for position, (names, form) in enumerate(candidate.forms):
            for member in self.members:
                if member.forms[position][1] == form:
                    return member.label, names
        return None


@attrs.frozen(kw_only=True, eq=False)
class Candidate:
    """An end state made ready to be held against readings.

    Attributes:
        state: The state, in comparable form.
        initial: The state that the task starts in.
        changes: What differs between the two.
        forms: Its normal form under each combination of equivalences in force, smallest combination first.
    """

    state: EndState
    initial: EndState
    changes: Delta
    forms: tuple[tuple[tuple[str, ...], EndState], ...] = ()


@attrs.frozen(kw_only=True)
class BenchmarkGold:
    """The benchmark's own gold, as its own road makes it.

    Attributes:
        state: Where it ends, in comparable form.
        faults: What is wrong with it: `gold_broken` where a call fails, `gold_not_synced` where synchronising matters.
        details: A sentence for each fault.
    """

    state: EndState
    faults: tuple[str, ...] = ()
    details: tuple[str, ...] = ()


@attrs.frozen(kw_only=True, eq=False, slots=False)
class CompiledGolds:
    """Everything that scoring needs to know of one task text.

    Attributes:
        initial: The state that the task is handed to the agent in, in comparable form.
        start: The state that a run is replayed from; another one only where the task begins in the middle of a talk.
        readings: What each reading admits; the benchmark's own gold as a single reading where no gold set applies.
        benchmark: The benchmark's own gold; None where it states none.
        benchmark_readings: Ids of the readings, not `off`, that admit the benchmark's gold.
        gold_set: The gold set; None where none applies.
        stratum: The stratum of runs of this text.
        equivalences: Names of the equivalences in force, in the order in which they are applied.
        conventions: What the domain declares about its records.
        replays: Whether runs are replayed, so that a run without calls is known to have done nothing.
    """

    initial: EndState
    start: EndState
    readings: tuple[Admitted, ...]
    benchmark: BenchmarkGold | None
    benchmark_readings: tuple[str, ...]
    gold_set: GoldSet | None
    stratum: Stratum
    equivalences: tuple[str, ...]
    conventions: Conventions
    replays: bool = False

    @cached_property
    def do_nothing(self) -> Rewards:
        """What a run that does nothing at all scores, by the database factor alone."""
        return baseline(self, evidence=False)

    @cached_property
    def always_refuse(self) -> Rewards:
        """What a run scores that leaves the database untouched and has all evidence, by the database factor alone."""
        return baseline(self, evidence=True)

    def candidate(self, end_state: EndState) -> Candidate:
        """Make an end state ready to be held against the readings."""
        state = comparable(end_state, self.initial, self.conventions)
        return Candidate(
            state=state,
            initial=self.initial,
            changes=diff(self.initial, state),
            forms=_forms(state, self.initial, self.equivalences, self.conventions),
        )


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
        gold_set: The gold set as it stands for this text; None where none applies.
        environment: Where calls are replayed; None where every form gives its state outright.
        equivalences: Names of the equivalences to try after strict comparison.
        other_version: Whether the catalogue lists the task with another text.

    Raises:
        CallError: Where an environment or an initial state is needed and missing, or an equivalence is unknown.
        GoldSetError: Where a call of a reading fails, or the set refers to something that is not there.
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

    def member(self, state: EndState, label: str) -> Member:
        state = comparable(state, self.initial, self.conventions)
        return Member(state=state, label=label, forms=_forms(state, self.initial, self.names, self.conventions))

    def replay(self, calls: Sequence[ToolCall], where: str) -> Replay:
        if self.environment is None:
            raise CallError("calls can only be replayed in an environment", where=where, remedy="Pass environment=...")
        return replay(self.environment, calls, initial=self.start)


def _forms(
    state: EndState, initial: EndState, names: Sequence[str], conventions: Conventions
) -> tuple[tuple[tuple[str, ...], EndState], ...]:
    sizes = range(1, len(names) + 1)
    combinations = itertools.chain.from_iterable(itertools.combinations(names, size) for size in sizes)
    return tuple((chosen, normal_form(state, initial, chosen, conventions)) for chosen in combinations)


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
        for member in admitted_states(form, scene.start, scene.environment, where=where):
            if member is None:
                skipped += 1
            elif any(known.state == member.state for known in members):
                duplicates += 1
            else:
                members.append(scene.member(member.state, member.label))
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
        CallError: Where calls need an environment and there is none.
        GoldSetError: Where a call fails that must not, or there are too many members.
    """
    scene = _Scene(initial=start, start=start, environment=environment, names=(), conventions=Conventions())
    if isinstance(form, Explicit):
        yield Member(state=_explicit(form, start, where), label=form.label)
    elif isinstance(form, Actions):
        yield Member(state=_strict_replay(scene.replay(form.calls, where), where), label=form.label)
    elif isinstance(form, Choices):
        for label, calls in expand(form, where=where):
            done = scene.replay(calls, where)
            if done.refusals and form.infeasible == "skip":
                yield None
            else:
                yield Member(state=_strict_replay(done, f"{where} ({label})"), label=label)


def _explicit(form: Explicit, start: EndState, where: str) -> EndState:
    if form.state is not None:
        return form.state
    if form.delta is None:
        raise GoldSetError("an explicit end state has neither a database nor a delta", where=where)
    return form.delta.apply(start)


def _strict_replay(done: Replay, where: str) -> EndState:
    for index, refusal in done.refusals:
        call = done.outcomes[index].call
        raise GoldSetError(f"call {index} ({call.name}) fails: {refusal.message}", where=where)
    return done.end_state


def expand(form: Choices, *, where: str = "") -> Iterator[tuple[str, tuple[ToolCall, ...]]]:
    """Yield a label and the calls of every combination of a form's alternatives, in the order of the slots.

    Raises:
        GoldSetError: Where a call names a slot that is not there, or there are more than `MAX_MEMBERS` combinations.
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
    done = replay(environment, calls, initial=start, synchronise=False)
    faults, details = [], []
    if done.refusals:
        faults.append("gold_broken")
        details += [f"call {i} ({done.outcomes[i].call.name}) fails: {refusal.message}" for i, refusal in done.refusals]
    if environment.synchronise is not None:
        synced = replay(environment, calls, initial=start)
        if diff(done.end_state, synced.end_state):
            faults.append("gold_not_synced")
            details.append("synchronised after each call, as an agent's calls are, the gold ends in another state")
    state = comparable(done.end_state, start, environment.conventions)
    return BenchmarkGold(state=state, faults=tuple(faults), details=tuple(details))


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
    candidate = Candidate(
        state=benchmark.state, initial=scene.initial, changes=diff(scene.initial, benchmark.state), forms=()
    )
    return tuple(a.reading.id for a in readings if a.reading.standing != "off" and a.find(candidate) is not None)


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


def baseline(golds: CompiledGolds, *, evidence: bool) -> Rewards:
    """Return what a run scores that leaves the database untouched, by the database factor alone.

    Args:
        golds: The compiled golds.
        evidence: False for an agent that does nothing at all; True for one that always refuses, after looking at
            everything that a reading could ask for.
    """
    untouched = golds.candidate(golds.initial)

    def admits(admitted: Admitted, standings: Sequence[str], *, strict: bool = False) -> bool:
        found = admitted.find(untouched)
        if found is None or admitted.reading.standing not in standings or (strict and found[1]):
            return False
        return golds.gold_set is None or evidence or (admitted.reading.evidence is None and not golds.replays)

    def column(standings: Sequence[str], *, strict: bool = False) -> float:
        return float(any(admits(admitted, standings, strict=strict) for admitted in golds.readings))

    single = None if golds.benchmark is None else float(golds.benchmark.state == untouched.state)
    core = column(("core",))
    return Rewards(
        single=single,
        core=core,
        core_or_single=max(core, single or 0.0),
        with_contested=column(("core", "contested")),
        core_strict=column(("core",), strict=True),
    )
