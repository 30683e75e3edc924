"""The laws of golds and gold sets, as functions that raise `LawError` if one does not hold.

Most golds are judged by the scorer under test, which would agree with itself even if it were wrong. So whether a
mutated gold *should* match is decided without it: its end state is compared with the states that the readings list, and
their patterns are asked directly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import attrs

from multigold.audit.golds.orders import differing_orders
from multigold.catalogues.distinct import overlaps
from multigold.catalogues.gating import ungated
from multigold.environments.base import Environment
from multigold.environments.replay import Replay, replay, state_after_history
from multigold.model.gold import Actions, Choices, GoldSet, Reading
from multigold.model.task import Task, ToolCall
from multigold.model.trajectory import Trajectory
from multigold.model.verdict import Verdict
from multigold.scoring import BENCHMARK, Admitted, CompiledGolds, compile_golds, expand
from multigold.scoring.judging import judge
from multigold.state.database import EndState
from multigold.state.delta import diff
from multigold.state.equivalence import check_names, comparable, normal_form
from multigold.testing.failures import LAWS, LawError
from multigold.testing.gold_strategies import Mutation, drawn_mutations, simple_mutations
from multigold.testing.search import RUNS, search
from multigold.testing.strategies import Repertoire


def members_of(reading: Reading, where: str = "") -> Iterator[tuple[str, tuple[ToolCall, ...], bool]]:
    """Yield label, calls, and whether they may fail, of every member of a reading that is calls.

    Raises:
        GoldSetError: If slots are wrong or there are too many combinations.
    """
    for form in reading.admits:
        if isinstance(form, Actions):
            yield form.label, form.calls, False
        elif isinstance(form, Choices):
            for label, calls in expand(form, where=where):
                yield label, calls, form.infeasible == "skip"


@attrs.frozen(kw_only=True, eq=False)
class _TaskUnderTest:
    """Where the golds of one task are tried.

    Attributes:
        task: The task.
        compiled: Its golds.
        environment: Where calls are replayed.
        begun: The state in which the task is handed to the agent.
        history: Calls of the conversation that the task begins in the middle of; a run's record has them as well.
    """

    task: Task
    compiled: CompiledGolds
    environment: Environment
    begun: EndState
    history: tuple[ToolCall, ...]

    def replay(self, calls: Sequence[ToolCall]) -> Replay:
        """Replay calls as an agent's."""
        return replay(self.environment, calls, initial=self.begun)

    def judge(self, calls: Sequence[ToolCall]) -> Verdict:
        """Score an agent that makes these calls."""
        run = Trajectory.from_calls((*self.history, *calls))
        return judge(self.task, run, self.compiled, environment=self.environment)

    def golds(self, only: str | None) -> Iterator[tuple[str, str, tuple[ToolCall, ...]]]:
        """Yield reading, label and calls of every member that can be made, or those of the benchmark's own gold."""
        if self.compiled.gold_set is None:
            yield BENCHMARK, "", (self.task.criteria.actions if self.task.criteria else None) or ()
            return
        for reading in self.compiled.gold_set.readings:
            if only in (None, reading.id):
                for label, calls, may_fail in members_of(reading, self.compiled.gold_set.source):
                    if not (may_fail and self.replay(calls).refusals):
                        yield reading.id, label, calls


def _under_test(task: Task, golds: GoldSet | None, environment: Environment) -> _TaskUnderTest:
    selected = golds if golds is None or golds.text is not None else golds.for_text(task.text_fingerprint())
    compiled = compile_golds(task, selected or golds, environment)
    history = task.initial_state.get("message_history") if isinstance(task.initial_state, dict) else None
    return _TaskUnderTest(
        task=task,
        compiled=compiled,
        environment=environment,
        begun=state_after_history(environment, compiled.start, task.initial_state),
        history=tuple(one.call for one in Trajectory.from_messages(history or ()).calls or () if not one.never_ran),
    )


def assert_gold_matches_itself(
    task: Task, golds: GoldSet | None, environment: Environment, *, reading: str | None = None
) -> None:
    """Assert that an agent which makes the calls of a gold matches its reading.

    Args:
        task: The task.
        golds: Its gold set; None for the benchmark's own gold.
        environment: Where calls are replayed.
        reading: Only this reading; None for all.

    Raises:
        LawError: If the law does not hold.
        GoldSetError: If the gold set itself is wrong: a call fails.
    """
    under_test = _under_test(task, golds, environment)
    for member_of, label, calls in under_test.golds(reading):
        verdict = under_test.judge(calls)
        if not any(match.reading == member_of and not match.equivalences for match in verdict.matches):
            detail = f"{_named(member_of, label)} is not matched"
            delta = next((c.delta for c in verdict.comparisons if c.reading == member_of), None)
            raise LawError(LAWS["gold_matches_itself"], detail, calls=calls, delta=delta)


def _named(reading: str, label: str) -> str:
    return f"the reading {reading}{f' ({label})' if label else ''}"


@attrs.frozen(kw_only=True)
class MutationReport:
    """What became of the mutations of a gold set.

    Attributes:
        tried: How many were tried.
        inert: Those whose calls can all be made and that end in the gold's own state, each in a sentence.
        admitted: Those that end in another state which some reading admits, each in a sentence.
        refused: How many had a call that failed although none of the gold's did.
    """

    tried: int = 0
    inert: tuple[str, ...] = ()
    admitted: tuple[str, ...] = ()
    refused: int = 0


def assert_mutations_do_not_match(
    task: Task,
    golds: GoldSet | None,
    environment: Environment,
    *,
    reading: str | None = None,
    golds_tried: Sequence[Sequence[ToolCall]] | None = None,
    scorer: Callable[[Sequence[ToolCall]], bool] | None = None,
    examples: Iterable[ToolCall] = (),
    runs: int = RUNS,
    seed: int | None = None,
) -> MutationReport:
    """Assert that a mutated gold matches no reading unless its end state is one that the reading admits.

    Every write is dropped and doubled; arguments are altered and writes added at random.

    Args:
        task: The task.
        golds: Its gold set; None for the benchmark's own gold alone.
        environment: Where calls are replayed.
        reading: Only the golds of this reading; None for all.
        golds_tried: Only these golds; None for every one that can be made.
        scorer: Your own scorer: tells whether calls are matched. None for `multigold.score`, strictly.
        examples: Calls whose arguments serve as examples for altered ones.
        runs: Random mutations to try per gold.
        seed: Another seed tries others.

    Returns:
        The mutations that are inert, and those that another reading or member admits.

    Raises:
        LawError: If the law does not hold.
        GoldSetError: If the gold set itself is wrong: a call fails.
    """
    under_test = _under_test(task, golds, environment)
    subject = _MutationSearch(under_test, scorer)
    for calls in golds_tried or [calls for _, _, calls in under_test.golds(reading)]:
        check = subject.check_of(calls)
        for mutation in simple_mutations(environment, calls):
            check(mutation)
        repertoire = Repertoire(environment, under_test.begun, (*calls, *examples))
        search(drawn_mutations(repertoire, calls), check, runs=runs, seed=seed)
    return subject.report


class _MutationSearch:
    """Tries mutations and keeps the report."""

    def __init__(self, under_test: _TaskUnderTest, scorer: Callable[[Sequence[ToolCall]], bool] | None) -> None:
        self.under_test = under_test
        self.scorer = scorer or (lambda calls: bool(under_test.judge(calls).matches))
        self.report = MutationReport()

    def check_of(self, calls: Sequence[ToolCall]) -> Callable[[Mutation], None]:
        """Return the check of one gold's mutations."""
        done = self.under_test.replay(calls)
        end = self.under_test.compiled.prepare(done.end_state).state
        return lambda mutation: self._try(mutation, end, len(done.refusals))

    def _try(self, mutation: Mutation, end: EndState, refusals: int) -> None:
        done = self.under_test.replay(mutation.calls)
        state = self.under_test.compiled.prepare(done.end_state).state
        inert = not diff(end, state)
        admitting = () if inert else self._admitting(state)
        self._note(mutation, inert, admitting, len(done.refusals) > refusals)
        if not inert and not admitting and self.scorer(mutation.calls):
            detail = f"the gold {mutation.sentence}, is matched although it ends in another state"
            raise LawError(LAWS["mutations_do_not_match"], detail, calls=mutation.calls, delta=diff(end, state))

    def _admitting(self, state: EndState) -> tuple[str, ...]:
        """Return the readings that admit a state, by looking at states and open forms and not at a verdict."""
        readings = self.under_test.compiled.readings
        return tuple(admitted.reading.id for admitted in readings if self._admits(admitted, state))

    def _admits(self, admitted: Admitted, state: EndState) -> bool:
        if any(not diff(member.state, state) for member in admitted.members):
            return True
        initial = self.under_test.compiled.initial
        changes = diff(initial, state)
        return any(not any(form.faults(initial, state, changes)) for form in admitted.open_forms)

    def _note(self, mutation: Mutation, inert: bool, admitting: Sequence[str], refused: bool) -> None:
        report = self.report
        admitted = (f"{mutation.sentence}: admitted by {', '.join(admitting)}",) if admitting else ()
        self.report = attrs.evolve(
            report,
            tried=report.tried + 1,
            inert=_added(report.inert, (mutation.sentence,) if inert and not refused else ()),
            admitted=_added(report.admitted, admitted),
            refused=report.refused + refused,
        )


def _added(known: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*known, *more)))


def assert_order_independent(
    environment: Environment,
    gold: Sequence[ToolCall],
    *,
    equivalences: Sequence[str] = (),
    admits: Callable[[EndState], bool] | None = None,
    initial: EndState | None = None,
    synchronise: bool = True,
) -> None:
    """Assert that the writes of a gold end in the same state in any order in which every call can be made.

    Args:
        environment: Where calls are replayed.
        gold: The gold's calls.
        equivalences: Names of equivalences under which end states are compared.
        admits: Tells whether another end state is admitted all the same, such as by the gold's own reading.
        initial: The state to start in; None for the environment's own.
        synchronise: Whether to bring the two sides in step after each call.

    Raises:
        LawError: If the law does not hold; it names the equivalences that would cure it, if any do.
        CallError: If an equivalence is unknown.
    """
    names, start = check_names(equivalences), initial or environment.initial
    end = replay(environment, gold, initial=start, synchronise=synchronise).end_state
    end = comparable(end, start, environment.conventions)
    for order in differing_orders(environment, gold, initial=start, synchronise=synchronise):
        forms = [normal_form(state, start, names, environment.conventions) for state in (end, order.end_state)]
        if forms[0] != forms[1] and not (admits and admits(order.end_state)):
            under = f" under {' + '.join(names)}" if names else ""
            cured = f"; {' + '.join(order.cures)} would make it the same" if order.cures else ""
            detail = f"in this order they end in another state{under}{cured}"
            raise LawError(LAWS["order_independent"], detail, calls=order.calls, delta=order.delta)


def assert_gated(
    task: Task, golds: GoldSet, environment: Environment | None = None, *, reading: str | None = None
) -> None:
    """Assert that a reading which admits the initial state asks for a successful read of a named record.

    An agent that did nothing ends there too, and would match the reading if it asked for no evidence. Every way to meet
    the evidence must hold such a read.

    Args:
        task: The task.
        golds: Its gold set.
        environment: Where calls are replayed, and what tells which tools read; not needed if every form gives its
            state outright, and then every tool is taken to read.
        reading: Only this reading; None for all.

    Raises:
        LawError: If the law does not hold.
        GoldSetError: If the gold set itself is wrong: a call fails.
    """
    selected = (golds if golds.text is not None else golds.for_text(task.text_fingerprint())) or golds
    tried = tuple(one for one in selected.readings if reading in (None, one.id))
    compiled = compile_golds(task, attrs.evolve(selected, readings=tried, benchmark=None), environment)
    for _, found in ungated(compiled, environment):
        lack = "asks for no evidence" if found.evidence is None else "its evidence can be met without such a read"
        raise LawError(LAWS["gated"], f"{_named(found.id, '')} admits the untouched state, and {lack}")


def assert_readings_distinct(task: Task, golds: GoldSet, environment: Environment | None = None) -> None:
    """Assert that no end state of a reading is admitted by another one, unless the gold set declares the overlap.

    Readings that are `off` for the task's text are left out. Two patterns are held to be distinct unless a listed end
    state is in both.

    Args:
        task: The task.
        golds: Its gold set.
        environment: Where calls are replayed; not needed if every form gives its state outright.

    Raises:
        LawError: If the law does not hold.
        GoldSetError: If the gold set itself is wrong: a call fails.
    """
    selected = (golds if golds.text is not None else golds.for_text(task.text_fingerprint())) or golds
    counted = tuple(reading for reading in selected.readings if reading.standing != "off")
    compiled = compile_golds(task, attrs.evolve(selected, readings=counted), environment)
    declared = {frozenset(pair) for pair in golds.overlaps}
    for overlap in overlaps(compiled):
        if overlap.kind == "shared" and frozenset(overlap.readings) not in declared:
            one, other = overlap.readings
            member = f", such as {overlap.member}" if overlap.member else ""
            raise LawError(LAWS["readings_distinct"], f"{one} and {other} share an end state{member}")
