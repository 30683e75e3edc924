"""The admissible end states of a task: readings, what each admits, and the evidence that it asks for.

A reading admits the union of its `admits`, each of one form:

    Actions    calls whose replay is the end state
    Choices    calls with named slots; the product of the alternatives is expanded and replayed
    Explicit   an end state, or the changes from the initial one
    Pattern    a closed set of changed pointers, a JSON Schema for each, and named invariants of the environment
    Assertions predicates of the environment that hold of the state
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

import attrs

from multigold.errors import CallError
from multigold.model.task import Requestor, ToolCall
from multigold.state.canonical import Json
from multigold.state.database import Database, EndState
from multigold.state.delta import Delta

Standing: TypeAlias = Literal["core", "contested", "off"]
"""`core` counts, `contested` counts only when asked for, `off` is recorded and never counts."""

Origin: TypeAlias = Literal["paper", "clause", "trace"]


@attrs.frozen(kw_only=True)
class Actions:
    """Calls whose replay is the admitted end state, as benchmarks write a gold."""

    calls: tuple[ToolCall, ...] = attrs.field(kw_only=False)
    label: str = ""


@attrs.frozen(kw_only=True)
class Choices:
    """Calls with slots: every combination of the alternatives is one member.

    Attributes:
        slots: For each slot its alternatives, any JSON values.
        calls: Calls in whose arguments `{"$slot": "name"}` stands for the chosen value, and `{"$slot": "name/key"}`
            for a member of a chosen object, so that things that vary together stay together.
        infeasible: `error`, or `skip` to leave out (and count) members of which a call fails.
    """

    slots: Mapping[str, tuple[Json, ...]]
    calls: tuple[ToolCall, ...]
    infeasible: Literal["error", "skip"] = "error"
    label: str = ""


@attrs.frozen(kw_only=True)
class Explicit:
    """An end state given outright, or as changes from the initial one: exactly one of the two."""

    state: EndState | None = None
    delta: Delta | None = None
    label: str = ""


@attrs.frozen(kw_only=True)
class PointerRule:
    """What a pattern asks of one changed pointer.

    Attributes:
        schema: JSON Schema that the value after must satisfy; None if the pointer must be removed.
        optional: Whether the pointer may also be unchanged.
    """

    schema: Json
    optional: bool = False


@attrs.frozen(kw_only=True)
class Pattern:
    """A family of end states. Closed: a changed pointer that no rule names is refused.

    Attributes:
        pointers: JSON Pointer into the delta, to its rule.
        invariants: Names of the environment's invariants that must hold as well.
    """

    pointers: Mapping[str, PointerRule]
    invariants: tuple[str, ...] = ()
    label: str = ""


@attrs.frozen(kw_only=True)
class Assertions:
    """Every end state of which predicates of the environment hold, however it was reached.

    Attributes:
        assertions: The predicates, as a benchmark writes them; see `multigold.environments.assertions`.
    """

    assertions: tuple[Json, ...] = attrs.field(kw_only=False)
    label: str = ""


Form: TypeAlias = Actions | Choices | Explicit | Pattern | Assertions


@attrs.frozen(kw_only=True)
class CallEvidence:
    """Evidence: some recorded call of this tool, with at least these arguments.

    Attributes:
        tool: The tool's name.
        arguments: Arguments that the call must have, among others.
        requestor: Who must have called; None for either.
        succeeded: Whether it must have succeeded (or failed); None for either.
    """

    tool: str
    arguments: Mapping[str, Json] = attrs.field(factory=dict)
    requestor: Requestor | None = None
    succeeded: bool | None = True


@attrs.frozen(kw_only=True)
class AllOf:
    """Evidence: every part of it."""

    parts: tuple[Evidence, ...] = attrs.field(kw_only=False)


@attrs.frozen(kw_only=True)
class AnyOf:
    """Evidence: at least one part of it."""

    parts: tuple[Evidence, ...] = attrs.field(kw_only=False)


Evidence: TypeAlias = CallEvidence | AllOf | AnyOf


@attrs.frozen(kw_only=True)
class Reading:
    """One defensible interpretation of the policy for one task.

    Attributes:
        id: Its name within the gold set.
        title: A few words.
        rationale: Why it is defensible, in our own words.
        positions: For each loophole, the side that the reading takes.
        standing: Whether it counts, for the task text that the gold set was selected for.
        standing_reason: Why.
        admits: What end states it admits: the union of these forms.
        evidence: What a run must have done for a match to count; None if nothing is asked.
        communicate: What must be said under this reading, where that differs from the benchmark's; None if not.
        worth: What a match is worth, in 0..1; below 1 only where a benchmark says so itself (`acceptable_outcomes`).
        origin: Where the reading comes from: the paper, a clause, or a trace.
        notes: Anything else.
    """

    id: str
    title: str = ""
    rationale: str = ""
    positions: Mapping[str, str] = attrs.field(factory=dict)
    standing: Standing = "core"
    standing_reason: str = ""
    admits: tuple[Form, ...]
    evidence: Evidence | None = None
    communicate: tuple[str, ...] | None = None
    worth: float = 1.0
    origin: Origin = "clause"
    notes: str = ""


@attrs.frozen(kw_only=True)
class TaskText:
    """One text that a gold set was written for: the same task id is another task in another release.

    Attributes:
        id: The text's name within the gold set, usually the release that it first appeared in.
        fingerprint: `Task.text_fingerprint()` of it.
        releases: Benchmark releases that have this text.
        standing: For each reading its standing under this text, with the reason.
        golds: What is expected of each known benchmark gold: gold fingerprint to the reading that it is, or
            to None if it is in no reading (a conflict). Checked, never used for a verdict.
    """

    id: str
    fingerprint: str
    releases: tuple[str, ...] = ()
    standing: Mapping[str, tuple[Standing, str]] = attrs.field(factory=dict)
    golds: Mapping[str, str | None] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class NegativeExample:
    """An end state that no core reading may admit, kept with the gold set and run as a test.

    Attributes:
        id: Its name.
        reason: Why it is not defensible.
        admits: The end state, in the forms of a reading.
        texts: Ids of the texts that it holds for; empty for all.
        refused: Whether calls are expected to fail on replay.
    """

    id: str
    reason: str
    admits: Form
    texts: tuple[str, ...] = ()
    refused: bool = False


@attrs.frozen(kw_only=True)
class GoldSet:
    """The readings of one task text.

    Attributes:
        task_id: The task's id in the benchmark.
        title: A few words.
        loopholes: Ids of the catalogue entries that the task exercises.
        status: `published` where the paper lists the task, `proposed` where this catalogue adds it.
        readings: The readings.
        benchmark: Id of the reading that is the benchmark's own gold, where the set itself says so (`from_databases`).
        texts: The texts that the set was written for; empty if it applies to any.
        text: Id of the text that was selected; None before `Catalogue.gold_set` selected one.
        negatives: End states that must not match.
        overlaps: Pairs of readings that are declared to share end states, each with the reason.
        notes: Anything else.
        source: Where it was read from, for errors.
    """

    task_id: str = ""
    title: str = ""
    loopholes: tuple[str, ...] = ()
    status: Literal["published", "proposed"] = "published"
    readings: tuple[Reading, ...]
    benchmark: str | None = None
    texts: tuple[TaskText, ...] = ()
    text: str | None = None
    negatives: tuple[NegativeExample, ...] = ()
    overlaps: Mapping[tuple[str, str], str] = attrs.field(factory=dict)
    notes: str = ""
    source: str = ""

    @classmethod
    def from_databases(
        cls,
        databases: Mapping[str, Database | EndState | Mapping[str, Json]],
        *,
        benchmark: str | None = None,
        contested: Iterable[str] = (),
    ) -> GoldSet:
        """Make a gold set from one admissible end state per reading.

        No reading asks for evidence: where one is the untouched database, a run that is known by its end state alone
        matches it by doing nothing. `attrs.evolve(reading, evidence=...)` says what such a run must show.

        Args:
            databases: Reading id to the database after the task, as a `Database`, an `EndState` or plain data.
            benchmark: Id of the reading that is the benchmark's own gold, if any.
            contested: Ids of readings that count only when asked for.

        Raises:
            CallError: If the databases have no names, or `benchmark` or `contested` names no reading.
            StateError: If a database is not JSON.
        """
        _check_named(databases)
        disputed = set(contested)
        unknown = (disputed | ({benchmark} if benchmark is not None else set())) - databases.keys()
        if unknown:
            raise CallError(f"no reading is called {sorted(unknown)[0]!r}", remedy=f"There are {sorted(databases)}.")
        readings = tuple(
            Reading(
                id=name,
                standing="contested" if name in disputed else "core",
                admits=(Explicit(state=_state(database)),),
            )
            for name, database in databases.items()
        )
        return cls(readings=readings, benchmark=benchmark)

    def for_text(self, fingerprint: str) -> GoldSet | None:
        """Return the set as it stands for a task text: each reading with its standing; None for an unknown text."""
        if not self.texts:
            return self
        for text in self.texts:
            if text.fingerprint == fingerprint:
                return self.select(text)
        return None

    def select(self, text: TaskText) -> GoldSet:
        """Return the set as it stands for one of its texts."""
        readings = []
        for reading in self.readings:
            standing, reason = text.standing.get(reading.id, ("off", "the set states no standing for this text"))
            readings.append(attrs.evolve(reading, standing=standing, standing_reason=reason))
        negatives = tuple(n for n in self.negatives if not n.texts or text.id in n.texts)
        return attrs.evolve(self, readings=tuple(readings), negatives=negatives, text=text.id)

    def reading(self, reading_id: str) -> Reading:
        """Return a reading by id.

        Raises:
            KeyError: If there is none.
        """
        for reading in self.readings:
            if reading.id == reading_id:
                return reading
        raise KeyError(reading_id)


def _check_named(databases: object) -> None:
    if not isinstance(databases, Mapping):
        raise CallError(
            f"from_databases takes databases by the id of their reading, and was given a {type(databases).__name__}",
            remedy='Write {"strict": database, ...}.',
        )


def _state(database: Database | EndState | Mapping[str, Json]) -> EndState:
    if isinstance(database, EndState):
        return database
    return EndState(database if isinstance(database, Database) else Database.from_json(database))
