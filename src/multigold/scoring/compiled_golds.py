"""What readings admit, made ready for comparison: frozen records, compiled once per task text."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import attrs

from multigold.environments.assertions import holds, shown
from multigold.environments.base import Environment
from multigold.model.gold import Assertions, GoldSet, Pattern, PointerRule, Reading
from multigold.model.verdict import Rewards, Stratum
from multigold.state.conventions import Conventions
from multigold.state.database import EndState
from multigold.state.delta import ABSENT, Delta, diff
from multigold.state.equivalence import comparable, normal_form


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
        """Yield what the pattern refuses of a state, cheapest checks first; nothing if it admits the state.

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
        """Yield each assertion that does not hold of a state; nothing if the state is admitted."""
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
        """How many end states it admits; None if a pattern or an assertion leaves it open."""
        return None if self.open_forms else len(self.members)

    @property
    def open_forms(self) -> tuple[CompiledPattern | CompiledAssertions, ...]:
        """The forms that test a state instead of listing states."""
        return (*self.patterns, *self.predicates)

    def find(self, prepared: PreparedState) -> tuple[str, tuple[str, ...]] | None:
        """Return the label of the member that a state is, and the equivalences needed; None if it is in none.

        Strict comparison comes first, then patterns and assertions, then the combinations of equivalences, smallest
        first.
        """
        for member in self.members:
            if prepared.ends_in(member.state):
                return member.label, ()
        for compiled in self.open_forms:
            if not any(compiled.faults(prepared.initial, prepared.state, prepared.changes)):
                return compiled.label, ()
        for position, (names, form) in enumerate(prepared.forms):
            for member in self.members:
                if member.forms[position][1] == form:
                    return member.label, names
        return None


@attrs.frozen(kw_only=True, eq=False)
class PreparedState:
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
    _compared: dict[int, bool] = attrs.field(factory=dict, init=False, repr=False)

    def ends_in(self, state: EndState) -> bool:
        """Tell whether it is a state of the golds, each held against it once: one may be in several places."""
        if id(state) not in self._compared:
            self._compared[id(state)] = self.state == state
        return self._compared[id(state)]


@attrs.frozen(kw_only=True)
class BenchmarkGold:
    """The benchmark's own gold, as its own road makes it.

    Attributes:
        state: Where it ends, in comparable form.
        faults: What is wrong with it: `gold_broken` where a call fails, `gold_not_synced` where synchronising matters.
        details: A sentence for each fault.
        repaired: Where it ends synchronised after each call, in comparable form; None if that makes no difference.
    """

    state: EndState
    faults: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    repaired: EndState | None = None


@attrs.frozen(kw_only=True, eq=False, slots=False)
class CompiledGolds:
    """Everything that scoring needs to know of one task text.

    Attributes:
        initial: The state that the task is handed to the agent in, in comparable form.
        start: The state that a run is replayed from; another one only where the task begins in the middle of a talk.
        readings: What each reading admits; the benchmark's own gold as a single reading where no gold set applies.
        benchmark: The benchmark's own gold; None if it states none.
        benchmark_readings: Ids of the readings, not `off`, that admit the benchmark's gold.
        gold_set: The gold set; None if none applies.
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

    @cached_property
    def random(self) -> Rewards:
        """What an agent scores on average that picks blindly among the end states that the task is known to have.

        These are the untouched one, the benchmark's own gold, and the first of each reading, whatever its standing. It
        is the level of chance, as in a test with several answers to choose from.
        """
        states = [self.initial, *([self.benchmark.state] if self.benchmark else [])]
        states += [admitted.members[0].state for admitted in self.readings if admitted.members]
        different = [state for place, state in enumerate(states) if state not in states[:place]]
        found = [rewards_of(self, state, evidence=True) for state in different]
        return _by_column(found, lambda values: sum(values) / len(values))

    @cached_property
    def adversarial(self) -> Rewards:
        """What an agent scores that has learnt the published golds by heart, and refuses where that pays more."""
        found = [self.always_refuse]
        if self.benchmark is not None:
            found.append(rewards_of(self, self.benchmark.state, evidence=True))
        return _by_column(found, max)

    def prepare(self, end_state: EndState) -> PreparedState:
        """Make an end state ready to be held against the readings."""
        state = comparable(end_state, self.initial, self.conventions)
        return PreparedState(
            state=state,
            initial=self.initial,
            changes=diff(self.initial, state),
            forms=normal_forms(state, self.initial, self.equivalences, self.conventions),
        )


def normal_forms(
    state: EndState, initial: EndState, names: Sequence[str], conventions: Conventions
) -> tuple[tuple[tuple[str, ...], EndState], ...]:
    """Return a state's normal form under each combination of equivalences, smallest combination first."""
    sizes = range(1, len(names) + 1)
    combinations = itertools.chain.from_iterable(itertools.combinations(names, size) for size in sizes)
    return tuple((chosen, normal_form(state, initial, chosen, conventions)) for chosen in combinations)


def baseline(golds: CompiledGolds, *, evidence: bool) -> Rewards:
    """Return what a run scores that leaves the database untouched, by the database factor alone.

    Args:
        golds: The compiled golds.
        evidence: False for an agent that does nothing at all; True for one that always refuses, after looking at
            everything that a reading could ask for.
    """
    return rewards_of(golds, golds.initial, evidence=evidence)


def rewards_of(golds: CompiledGolds, state: EndState, *, evidence: bool) -> Rewards:
    """Return what a run scores that ends in a state, by the database factor alone.

    Args:
        golds: The compiled golds.
        state: The state.
        evidence: Whether the run has all the evidence that a reading could ask for.
    """
    prepared = golds.prepare(state)

    def admits(admitted: Admitted, standings: Sequence[str], *, strict: bool = False) -> bool:
        found = admitted.find(prepared)
        if found is None or admitted.reading.standing not in standings or (strict and found[1]):
            return False
        return golds.gold_set is None or evidence or (admitted.reading.evidence is None and not golds.replays)

    def column(standings: Sequence[str], *, strict: bool = False) -> float:
        return float(any(admits(admitted, standings, strict=strict) for admitted in golds.readings))

    single = None if golds.benchmark is None else float(golds.benchmark.state == prepared.state)
    core = column(("core",))
    return Rewards(
        single=single,
        core=core,
        core_or_single=max(core, single or 0.0),
        with_contested=column(("core", "contested")),
        core_strict=column(("core",), strict=True),
    )


def _by_column(found: Sequence[Rewards], combine: Callable[[list[float]], float]) -> Rewards:
    """Return rewards combined column by column; a column that is unknown of any of them is unknown."""
    columns: dict[str, list[float | None]] = {
        field.name: [getattr(rewards, field.name) for rewards in found] for field in attrs.fields(Rewards)
    }
    return Rewards(
        **{
            name: None if None in values else combine([value for value in values if value is not None])
            for name, values in columns.items()
        }
    )
