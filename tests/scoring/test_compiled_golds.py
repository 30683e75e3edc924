"""From what a reading says to the end states that it admits."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import attrs
import pytest

import multigold
from multigold.environments.base import Environment
from multigold.errors import CallError, GoldSetError
from multigold.model.gold import Actions, Choices, Explicit, Form, GoldSet, Pattern, PointerRule, Reading
from multigold.scoring import MAX_MEMBERS, CompiledGolds, admitted_states, compile_golds, expand
from multigold.state.conventions import Conventions
from multigold.state.database import Database, EndState

TASK = multigold.Task("t", domain="library")


@pytest.fixture(scope="module")
def library(library_module: ModuleType) -> Environment:
    environment: Environment = library_module.build()
    return environment


def call(name: str, **arguments: Any) -> multigold.ToolCall:
    return multigold.ToolCall(name, arguments)


def reserve(book: Any, branch: Any) -> multigold.ToolCall:
    return call("reserve_book", member_id="m-cleo", book_id=book, branch=branch)


SLOT = {"$slot": "book"}


def compiled(environment: Environment, *forms: Form, **options: Any) -> CompiledGolds:
    return compile_golds(TASK, GoldSet(readings=(Reading(id="r", admits=forms),)), environment, **options)


def test_actions_admit_the_end_of_their_replay(library: Environment) -> None:
    (admitted,) = compiled(library, Actions((reserve("b-moss", "hill"),))).readings
    assert (admitted.width, admitted.ends_initial) == (1, False)
    assert admitted.members[0].state.agent.get("reservations", "reservation-2")["branch"] == "hill"


def test_no_actions_admit_the_initial_state(library: Environment) -> None:
    (admitted,) = compiled(library, Actions(())).readings
    assert (admitted.width, admitted.ends_initial) == (1, True)


def test_choices_admit_every_combination(library: Environment) -> None:
    form = Choices(
        slots={"book": ("b-moss", "b-ferns"), "branch": ("hill", "harbour")},
        calls=(reserve(SLOT, {"$slot": "branch"}),),
    )
    (admitted,) = compiled(library, form).readings
    assert admitted.width == 4
    assert admitted.members[0].label == "book=b-moss, branch=hill"


def test_things_that_vary_together_stay_together(library: Environment) -> None:
    pairs = ({"book": "b-moss", "branch": "hill"}, {"book": "b-ferns", "branch": "harbour"})
    form = Choices(slots={"x": pairs}, calls=(reserve({"$slot": "x/book"}, {"$slot": "x/branch"}),))
    assert compiled(library, form).readings[0].width == 2


def test_slots_stand_anywhere_in_the_arguments() -> None:
    form = Choices(slots={"a": (1, 2)}, calls=(call("f", deep=[{"x": {"$slot": "a"}}]),))
    assert [calls[0].arguments for _, calls in expand(form)] == [{"deep": [{"x": 1}]}, {"deep": [{"x": 2}]}]


def test_infeasible_members_are_an_error_or_are_counted(library: Environment) -> None:
    form = Choices(slots={"book": ("b-moss", "b-none")}, calls=(reserve(SLOT, "hill"),))
    with pytest.raises(GoldSetError, match=r"book=b-none.*there is no book b-none"):
        compiled(library, form)
    (admitted,) = compiled(library, attrs.evolve(form, infeasible="skip")).readings
    assert (admitted.width, admitted.skipped) == (1, 1)


def test_members_that_end_in_one_state_are_counted_once(library: Environment) -> None:
    forms = (
        Actions((reserve("b-moss", "hill"),)),
        Choices(slots={"book": ("b-moss",)}, calls=(reserve(SLOT, "hill"),)),
    )
    (admitted,) = compiled(library, *forms).readings
    assert (admitted.width, admitted.duplicates) == (1, 1)


def test_members_that_differ_in_the_spelling_of_a_declared_null_alone_are_counted_once() -> None:
    def ended(**fields: Any) -> EndState:
        return EndState(Database.from_json({"rooms": {"7": {"guest": "ada", **fields}}}))

    environment = Environment(
        name="hotel",
        initial=EndState(Database.from_json({"rooms": {"7": {"guest": None}}})),
        tools={},
        conventions=Conventions(null_defaults={"rooms": ("note",)}),
    )
    forms = [Explicit(state=ended()), Explicit(state=ended(note=None)), Explicit(state=ended(note="late"))]
    (admitted,) = compiled(environment, *forms).readings
    assert (admitted.width, admitted.duplicates) == (2, 1)
    (admitted,) = compiled(attrs.evolve(environment, conventions=Conventions()), *forms).readings
    assert (admitted.width, admitted.duplicates) == (3, 0)


def test_a_slot_that_is_not_there_is_named(library: Environment) -> None:
    form = Choices(slots={"book": ("b-moss",)}, calls=(reserve({"$slot": "title"}, "hill"),))
    with pytest.raises(GoldSetError, match="'title'"):
        compiled(library, form)


def test_too_many_combinations_are_refused(library: Environment) -> None:
    form = Choices(slots={"book": tuple(range(MAX_MEMBERS + 1))}, calls=(reserve(SLOT, "hill"),))
    with pytest.raises(GoldSetError, match=str(MAX_MEMBERS + 1)):
        compiled(library, form)


def test_a_failing_call_of_a_reading_is_an_error_of_the_gold_set(library: Environment) -> None:
    with pytest.raises(GoldSetError, match=r"call 1 \(waive_fine\) fails"):
        compiled(library, Actions((reserve("b-moss", "hill"), call("waive_fine", loan_id="loan-2"))))


def test_a_failing_call_of_the_benchmarks_gold_is_skipped_and_marked(library: Environment) -> None:
    actions = (call("waive_fine", loan_id="loan-2"), reserve("b-moss", "hill"))
    task = attrs.evolve(TASK, criteria=multigold.Criteria(actions=actions))
    benchmark = compile_golds(task, None, library).benchmark
    assert benchmark is not None
    assert benchmark.faults == ("gold_broken",)
    assert benchmark.state.agent.find("reservations", "reservation-2") is not None
    assert "loan-2" in benchmark.details[0]


def test_calls_without_an_environment_are_refused(library: Environment) -> None:
    with pytest.raises(CallError, match="environment"):
        next(admitted_states(Actions((reserve("b-moss", "hill"),)), library.initial, None))


def test_a_delta_admits_the_state_that_it_leads_to(library: Environment) -> None:
    pointer = "/agent/loans/loan-1/fine"
    form = Explicit(delta=multigold.Delta.from_json({pointer: {"before": 3, "after": 0}}))
    (admitted,) = compiled(library, form).readings
    assert admitted.members[0].state.agent.get("loans", "loan-1")["fine"] == 0


# Patterns


def any_loan(**changes: Any) -> Pattern:
    schema = {"type": "object", "properties": {"book_id": {"enum": ["b-moss", "b-ferns"]}, "fine": {"const": 0}}}
    pattern = Pattern(
        pointers={
            "/agent/loans/loan-4": PointerRule(schema=schema),
            "/agent/members/m-cleo/loans": PointerRule(schema={"const": ["loan-4"]}),
            "/agent/books/b-moss/free": PointerRule(schema={"type": "integer"}, optional=True),
            "/agent/books/b-ferns/free": PointerRule(schema={"type": "integer"}, optional=True),
        },
        invariants=("copies-add-up",),
    )
    return attrs.evolve(pattern, **changes)


def faults(environment: Environment, pattern: Pattern, *calls: multigold.ToolCall) -> Iterator[str]:
    golds = compiled(environment, pattern)
    prepared = golds.prepare(multigold.replay(environment, calls).end_state)
    (one,) = golds.readings[0].patterns
    return one.faults(prepared.initial, prepared.state, prepared.changes)


def lend(book: str) -> multigold.ToolCall:
    return call("lend_book", member_id="m-cleo", book_id=book)


def test_a_pattern_admits_its_family(library: Environment) -> None:
    for book in ("b-moss", "b-ferns"):
        assert list(faults(library, any_loan(), lend(book))) == []


def test_a_pattern_is_closed(library: Environment) -> None:
    found = list(faults(library, any_loan(), lend("b-moss"), call("renew_loan", loan_id="loan-2")))
    assert found == [
        "/agent/loans/loan-2/due changed, which the pattern does not name",
        "/agent/loans/loan-2/renewals changed, which the pattern does not name",
    ]


def test_a_pattern_wants_every_pointer_that_is_not_optional(library: Environment) -> None:
    assert list(faults(library, any_loan())) == [
        "/agent/loans/loan-4 did not change",
        "/agent/members/m-cleo/loans did not change",
    ]


def test_a_pattern_refuses_a_value_with_its_place(library: Environment) -> None:
    (fault,) = faults(library, any_loan(), lend("b-knots"))
    assert "b-knots" in fault
    (fault,) = faults(
        library,
        attrs.evolve(
            any_loan(), pointers={**any_loan().pointers, "/agent/books/b-knots/free": PointerRule(schema=True)}
        ),
        lend("b-knots"),
    )
    assert fault.startswith("/agent/loans/loan-4/book_id: ")


def test_a_patterns_invariants_hold(library: Environment) -> None:
    golds = compiled(library, any_loan())
    state = multigold.replay(library, [lend("b-moss")]).end_state
    tampered = state.agent.draft()
    tampered.edit("books", "b-moss")["free"] = 9
    prepared = golds.prepare(multigold.EndState(tampered.freeze()))
    (one,) = golds.readings[0].patterns
    (fault,) = one.faults(prepared.initial, prepared.state, prepared.changes)
    assert fault.startswith("copies-add-up: b-moss had 2 copies")


def test_a_pattern_can_ask_that_something_is_removed(library: Environment) -> None:
    pattern = Pattern(pointers={"/agent/reservations/reservation-1": PointerRule(schema=None)})
    golds = compiled(library, pattern)
    draft = library.initial.agent.draft()
    draft.remove("reservations", "reservation-1")
    prepared = golds.prepare(multigold.EndState(draft.freeze()))
    assert golds.readings[0].find(prepared) == ("", ())


def test_an_unknown_invariant_is_an_error_of_the_gold_set(library: Environment) -> None:
    with pytest.raises(GoldSetError, match="copies-add-up"):
        compiled(library, any_loan(invariants=("no-such",)))


def test_the_width_of_a_pattern_is_open(library: Environment) -> None:
    assert compiled(library, any_loan()).readings[0].width is None


# Equivalences, asked for by name


def test_the_equivalence_that_was_needed_is_named(library: Environment) -> None:
    gold = (reserve("b-moss", "hill"), reserve("b-ferns", "hill"))
    golds = GoldSet(readings=(Reading(id="both", admits=(Actions(gold),)),))
    trajectory = multigold.Trajectory.from_calls(gold[::-1])
    strict = multigold.score(TASK, trajectory, golds, environment=library)
    assert (strict.outcome, strict.matches) == ("unmatched", ())
    names = ["unordered", "minted-ids"]
    loose = multigold.score(TASK, trajectory, golds, environment=library, equivalences=names)
    assert [match.equivalences for match in loose.matches] == [("minted-ids",)]
    assert (loose.rewards.core, loose.rewards.core_strict) == (1.0, 0.0)


def test_law_6_turning_an_equivalence_on_never_unmatches(library: Environment) -> None:
    gold = (reserve("b-moss", "hill"), lend("b-ferns"), call("pay_fine", loan_id="loan-1", amount=3, method="card"))
    golds = GoldSet(readings=(Reading(id="all", admits=(Actions(gold),)),))
    for names in (["minted-ids"], ["unordered"], ["net-payments"], list(multigold.EQUIVALENCES)):
        verdict = multigold.score(
            TASK, multigold.Trajectory.from_calls(gold), golds, environment=library, equivalences=names
        )
        assert [match.equivalences for match in verdict.matches] == [()]
