"""Laws 3, 4, 7, 9, 10 and 11 as functions: each holds for the library and says in few words what breaks it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import attrs
import kit_libraries
import pytest

from multigold.benchmark_data import load_environment
from multigold.catalogues import load_catalogue
from multigold.environments.base import Environment
from multigold.errors import CallError, DataError, GoldSetError
from multigold.model.catalogue import Catalogue
from multigold.model.gold import (
    Actions,
    AllOf,
    AnyOf,
    CallEvidence,
    Evidence,
    Explicit,
    GoldSet,
    Pattern,
    PointerRule,
    Reading,
)
from multigold.model.task import Criteria, Task, ToolCall
from multigold.state.canonical import canonical_text
from multigold.state.database import Database, EndState
from multigold.state.delta import Delta
from multigold.testing import (
    LAWS,
    LawError,
    assert_agrees_with,
    assert_gated,
    assert_gold_matches_itself,
    assert_initial_state_untouched,
    assert_mutations_do_not_match,
    assert_order_independent,
    assert_readings_distinct,
    assert_reads_change_nothing,
    assert_replay_deterministic,
)

LIBRARY = Path(__file__).resolve().parents[2] / "examples" / "library"
RUNS = 60

WAIVE = ToolCall("waive_fine", {"loan_id": "loan-1"})
RESERVE = tuple(
    ToolCall("reserve_book", {"member_id": "m-cleo", "book_id": book, "branch": "hill"}) for book in ("b-oak", "b-moss")
)


@pytest.fixture
def library(library_module: ModuleType) -> Environment:
    environment: Environment = library_module.build()
    return environment


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue(LIBRARY / "gold_sets")


# Laws of an environment

ENVIRONMENT_LAWS: dict[str, Callable[[Environment], None]] = {
    "replay_deterministic": lambda environment: assert_replay_deterministic(environment, runs=RUNS),
    "reads_change_nothing": lambda environment: assert_reads_change_nothing(environment, runs=RUNS),
    "initial_state_untouched": lambda environment: assert_initial_state_untouched(environment, runs=RUNS),
}


@pytest.mark.parametrize("law", ENVIRONMENT_LAWS)
def test_the_law_holds_for_the_library(library: Environment, law: str) -> None:
    ENVIRONMENT_LAWS[law](library)


def test_the_library_agrees_with_another_copy_of_itself(library: Environment, library_module: ModuleType) -> None:
    assert_agrees_with(library, library_module.build(), runs=RUNS)


@pytest.mark.parametrize(
    ("law", "fault", "calls"),
    [
        ("replay_deterministic", kit_libraries.that_counts_for_itself, ["reserve_book"]),
        ("reads_change_nothing", kit_libraries.that_notes_who_looks, ["view_loan"]),
        ("initial_state_untouched", kit_libraries.that_writes_where_it_reads, ["view_loan"]),
    ],
)
def test_a_broken_law_is_shown_with_the_fewest_calls(
    library: Environment, law: str, fault: Callable[[Environment], Environment], calls: list[str]
) -> None:
    with pytest.raises(LawError) as caught:
        ENVIRONMENT_LAWS[law](fault(library))
    assert caught.value.law == LAWS[law]
    assert [call.name for call in caught.value.calls] == calls
    assert caught.value.delta


def test_a_failure_prints_the_law_the_calls_and_the_delta(library: Environment) -> None:
    with pytest.raises(LawError) as caught:
        assert_reads_change_nothing(kit_libraries.that_notes_who_looks(library), runs=RUNS)
    assert str(caught.value) == (
        "This law does not hold: reads and calls that fail cleanly change no end state, wherever they are inserted\n"
        "Instead: calls 0 were inserted, and the end state differs\n"
        "Calls (1):\n"
        '  0  view_loan(loan_id="loan-1")\n'
        "What differs (1):\n"
        "  /agent/loans/loan-1/seen: absent -> true"
    )
    assert not getattr(caught.value, "__notes__", None)


def test_harm_to_the_initial_state_is_undone(library: Environment) -> None:
    before = canonical_text(library.initial.agent.to_json())
    with pytest.raises(LawError):
        assert_initial_state_untouched(kit_libraries.that_writes_where_it_reads(library), runs=RUNS)
    assert canonical_text(library.initial.agent.to_json()) == before


def test_reads_are_put_into_a_gold_as_well(library: Environment) -> None:
    """A read that writes only once the fine is waived: only the gold brings it out."""

    def view_loan(draft: object, loan_id: str) -> object:
        loan = draft.get("loans", loan_id)  # type: ignore[attr-defined]
        if loan["fine"] == 0 and loan_id == "loan-1":
            draft.edit("loans", loan_id)["seen"] = True  # type: ignore[attr-defined]
        return loan

    late = kit_libraries.with_tools(library, view_loan=view_loan)
    assert_reads_change_nothing(late, runs=RUNS)
    with pytest.raises(LawError) as caught:
        assert_reads_change_nothing(late, [WAIVE], runs=RUNS)
    assert [call.name for call in caught.value.calls] == ["waive_fine", "view_loan"]


def test_the_same_search_gives_the_same_answer_and_another_seed_finds_the_fault_too(library: Environment) -> None:
    lax = kit_libraries.that_renews_twice(library)

    def failure(seed: int | None) -> tuple[ToolCall, ...]:
        with pytest.raises(LawError) as caught:
            assert_agrees_with(library, lax, runs=RUNS, seed=seed)
        return caught.value.calls

    assert failure(None) == failure(None)
    assert failure(7)[-1].name == "renew_loan"


def test_nothing_is_written_to_disk(library: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LawError):
        assert_agrees_with(library, kit_libraries.that_renews_twice(library), runs=RUNS)
    assert list(tmp_path.iterdir()) == []


# Agreement


@pytest.mark.parametrize(
    ("fault", "calls"),
    [
        (kit_libraries.that_renews_twice, ["renew_loan"]),
        (kit_libraries.that_forgets_returned_loans, ["lend_book", "return_book"]),
    ],
)
def test_a_port_with_a_fault_disagrees_and_the_calls_are_few(
    library: Environment, fault: Callable[[Environment], Environment], calls: list[str]
) -> None:
    with pytest.raises(LawError) as caught:
        assert_agrees_with(library, fault(library))
    assert [call.name for call in caught.value.calls] == calls


def test_a_disagreement_says_what_each_side_answered(library: Environment) -> None:
    lax = kit_libraries.that_renews_twice(library)
    with pytest.raises(LawError, match="call 0 is refused") as caught:
        assert_agrees_with(library, lax, calls=[ToolCall("renew_loan", {"loan_id": "loan-3"})])
    assert "answered" in caught.value.detail


def test_end_states_alone_can_be_compared(library: Environment) -> None:
    def view_loan(draft: object, loan_id: str) -> str:
        return f"loan {loan_id}" if draft.has("loans", loan_id) else draft.get("loans", loan_id)  # type: ignore[attr-defined]

    chatty = kit_libraries.with_tools(library, view_loan=view_loan)
    assert_agrees_with(library, chatty, observations=False, runs=RUNS)
    with pytest.raises(LawError):
        assert_agrees_with(library, chatty, runs=RUNS)


def test_end_states_may_be_compared_under_equivalences(library: Environment) -> None:
    # The other one lends in another order of the lists, which only `unordered` makes the same.
    def lend_book(draft: object, member_id: str, book_id: str) -> object:
        loan = library.tools["lend_book"].function(draft, member_id, book_id)
        draft.edit("members", member_id)["loans"].reverse()  # type: ignore[attr-defined]
        return loan

    turned = kit_libraries.with_tools(library, lend_book=lend_book)
    assert_agrees_with(library, turned, equivalences=["unordered"], observations=False, runs=RUNS)
    with pytest.raises(LawError, match="the end states differ"):
        assert_agrees_with(library, turned, observations=False, runs=RUNS)
    with pytest.raises(CallError, match="no equivalence 'same'"):
        assert_agrees_with(library, turned, equivalences=["same"])


def test_different_initial_states_are_said_to_be_the_difference(
    library: Environment, library_module: ModuleType
) -> None:
    other = {**library.initial.agent.to_json(), "loans": {}}
    with pytest.raises(LawError, match="the initial states differ") as caught:
        assert_agrees_with(library, library_module.build(Database.from_json(other)))
    assert caught.value.calls == ()


# Laws of golds


def task(*calls: ToolCall) -> Task:
    return Task("t", criteria=Criteria(actions=calls))


def gold_set(**readings: Sequence[ToolCall]) -> GoldSet:
    return GoldSet(readings=tuple(Reading(id=name, admits=(Actions(tuple(c)),)) for name, c in readings.items()))


def test_the_librarys_gold_sets_keep_every_law(library: Environment, catalogue: Catalogue) -> None:
    for golds in catalogue:
        given = Task(golds.task_id)
        assert_gold_matches_itself(given, golds, library)
        assert_readings_distinct(given, golds, library)
        assert_mutations_do_not_match(given, golds, library, runs=10)


def test_a_benchmarks_own_gold_matches_itself_unless_a_call_of_it_hangs_on_being_out_of_step(
    library: Environment,
) -> None:
    assert_gold_matches_itself(task(WAIVE), None, library)

    def refresh(drafts: object) -> None:
        fine = drafts.agent.get("loans", "loan-1")["fine"]  # type: ignore[attr-defined]
        if drafts.user.get("screen", "m-ada") != {"fine": fine}:  # type: ignore[attr-defined]
            drafts.user.put("screen", "m-ada", {"fine": fine})  # type: ignore[attr-defined]

    screen = Database.from_json({"screen": {"m-ada": {"fine": 3}}})
    two_sided = attrs.evolve(library, initial=EndState(library.initial.agent, user=screen), synchronise=refresh)
    with pytest.raises(LawError, match="benchmark is not matched"):
        assert_gold_matches_itself(task(WAIVE), None, two_sided)


def test_a_task_that_begins_in_the_middle_of_a_talk_is_tried_from_there(library: Environment) -> None:
    """The book has been brought back in the talk before, so the gold alone would fail."""
    given_back = {"id": "c", "name": "return_book", "arguments": {"loan_id": "loan-1"}}
    talk = [{"role": "assistant", "tool_calls": [given_back]}, {"role": "tool", "tool_call_id": "c", "content": "{}"}]
    begun = attrs.evolve(task(), initial_state={"message_history": talk})
    golds = gold_set(lend=[ToolCall("lend_book", {"member_id": "m-ada", "book_id": "b-oak"})])
    assert_gold_matches_itself(begun, golds, library)
    assert_mutations_do_not_match(begun, golds, library, runs=5)
    with pytest.raises(GoldSetError):
        assert_gold_matches_itself(task(), golds, library)


def test_mutations_report_what_is_inert_and_what_others_admit(library: Environment) -> None:
    golds = gold_set(waive=[WAIVE], nothing=[])
    report = assert_mutations_do_not_match(task(), golds, library, reading="waive", runs=20)
    assert 'without call 0, waive_fine(loan_id="loan-1"): admitted by nothing' in report.admitted
    assert report.tried > report.refused > 0
    twice = gold_set(renew=[ToolCall("return_book", {"loan_id": "loan-1"})])
    assert assert_mutations_do_not_match(task(), twice, library, runs=1).inert == ()


def test_a_write_that_changes_nothing_the_second_time_is_listed_as_inert(library: Environment) -> None:
    def renew_loan(draft: object, loan_id: str) -> None:
        draft.edit("loans", loan_id)["renewals"] = 1  # type: ignore[attr-defined]

    patient = kit_libraries.with_tools(library, renew_loan=renew_loan)
    golds = gold_set(renew=[ToolCall("renew_loan", {"loan_id": "loan-1"})])
    report = assert_mutations_do_not_match(task(), golds, patient, runs=1)
    assert 'with call 0 twice, renew_loan(loan_id="loan-1")' in report.inert


def test_a_scorer_that_takes_too_much_is_found_out(library: Environment) -> None:
    def lenient(calls: Sequence[ToolCall]) -> bool:
        return any(call.name == "waive_fine" for call in calls)

    with pytest.raises(LawError, match="is matched although it ends in another state") as caught:
        assert_mutations_do_not_match(task(), gold_set(waive=[WAIVE]), library, scorer=lenient, runs=100)
    assert "waive_fine" in [call.name for call in caught.value.calls]
    assert caught.value.delta


def test_the_order_of_writes_may_matter_and_the_failure_names_the_cure(library: Environment) -> None:
    assert_order_independent(library, [WAIVE, *RESERVE[:1]])
    with pytest.raises(LawError, match="minted-ids would make it the same") as caught:
        assert_order_independent(library, RESERVE)
    assert caught.value.calls == RESERVE[::-1]
    assert_order_independent(library, RESERVE, equivalences=["minted-ids"])
    assert_order_independent(library, RESERVE, admits=lambda state: len(state.agent.ids("reservations")) == 3)
    with pytest.raises(CallError, match="no equivalence 'any'"):
        assert_order_independent(library, RESERVE, equivalences=["any"])


def test_readings_that_share_an_end_state_are_found_unless_the_overlap_is_declared(library: Environment) -> None:
    shared = gold_set(one=[WAIVE], other=[ToolCall("view_loan", {"loan_id": "loan-1"}), WAIVE])
    with pytest.raises(LawError, match="one and other share an end state"):
        assert_readings_distinct(task(), shared, library)
    assert_readings_distinct(task(), attrs.evolve(shared, overlaps={("other", "one"): "the road differs"}), library)


def test_readings_of_stated_end_states_need_no_environment() -> None:
    before = {"orders": {"o-1": {"status": "open"}}}
    closed = Delta.from_json({"/agent/orders/o-1/status": {"before": "open", "after": "closed"}})
    readings = (Reading(id="open", admits=(Actions(()),)), Reading(id="closed", admits=(Explicit(delta=closed),)))
    with pytest.raises(CallError):
        assert_readings_distinct(Task("t", initial=before), GoldSet(readings=readings))
    stated = GoldSet(readings=(attrs.evolve(readings[1], id="shut"), readings[1]))
    with pytest.raises(LawError, match="shut and closed share"):
        assert_readings_distinct(Task("t", initial=before), stated)


def test_a_reading_of_the_untouched_state_asks_for_a_look(library: Environment) -> None:
    look = CallEvidence(tool="view_loan", arguments={"loan_id": "loan-1"})
    forms = {
        "calls": Actions(()),
        "open": Pattern(pointers={"/agent/loans/loan-1/note": PointerRule(schema=True, optional=True)}),
    }
    for form in forms.values():
        bare = Reading(id="keep", admits=(form,))
        golds = GoldSet(readings=(bare, Reading(id="waive", admits=(Actions((WAIVE,)),))))

        def asked(evidence: Evidence | None, golds: GoldSet = golds, bare: Reading = bare) -> GoldSet:
            return attrs.evolve(golds, readings=(attrs.evolve(bare, evidence=evidence), *golds.readings[1:]))

        assert_gated(task(), asked(look), library)
        assert_gated(task(), asked(AllOf((look, CallEvidence(tool="waive_fine")))), library)
        with pytest.raises(LawError, match="the reading keep admits the untouched state, and asks for no evidence"):
            assert_gated(task(), golds, library)
        weak = [
            CallEvidence(tool="view_loan"),
            attrs.evolve(look, succeeded=False),
            attrs.evolve(look, tool="waive_fine"),
        ]
        for evidence in (*weak, AnyOf((look, CallEvidence(tool="view_loan")))):
            with pytest.raises(LawError, match="keep admits the untouched state, and its evidence can be met without"):
                assert_gated(task(), asked(evidence), library)
        assert_gated(task(), golds, library, reading="waive")


def test_gold_sets_made_from_databases_are_not_gated_until_evidence_is_added() -> None:
    before, after = ({"orders": {"o-1": {"status": status}}} for status in ("open", "closed"))
    golds = GoldSet.from_databases({"keep": before, "close": after}, benchmark="keep")
    with pytest.raises(LawError, match="keep admits the untouched state"):
        assert_gated(Task("t", initial=before), golds)


# A whole domain: the airline


@pytest.fixture(scope="module")
def airline() -> Environment:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "environments"))
    try:
        import tiny_airline
    finally:
        sys.path.pop(0)
    environment: Environment = tiny_airline.environment()
    return environment


def releasing_seats(airline: Environment) -> Environment:
    """The airline, with one thing wrong: a cancellation gives the seats back."""

    def cancel_reservation(draft: object, reservation_id: object) -> object:
        answer = airline.tools["cancel_reservation"].function(draft, reservation_id)
        reservation = draft.get("reservations", reservation_id)  # type: ignore[attr-defined]
        for segment in reservation["flights"]:
            day = draft.edit("flights", segment["flight_number"])["dates"][segment["date"]]  # type: ignore[attr-defined]
            if "available_seats" in day:
                day["available_seats"][reservation["cabin"]] += len(reservation["passengers"])
        return answer

    return kit_libraries.with_tools(airline, cancel_reservation=cancel_reservation)


def refusing_a_second_cancellation(airline: Environment) -> Environment:
    """The airline, with another thing wrong: what is cancelled cannot be cancelled again."""

    def cancel_reservation(draft: object, reservation_id: object) -> object:
        if draft.get("reservations", reservation_id).get("status") == "cancelled":  # type: ignore[attr-defined]
            raise ValueError("cancelled already")
        return airline.tools["cancel_reservation"].function(draft, reservation_id)

    return kit_libraries.with_tools(airline, cancel_reservation=cancel_reservation)


@pytest.mark.parametrize(("fault", "calls"), [(releasing_seats, 1), (refusing_a_second_cancellation, 2)])
def test_a_seeded_fault_in_a_copy_of_the_airline_is_found_within_the_default_budget(
    airline: Environment, fault: Callable[[Environment], Environment], calls: int
) -> None:
    with pytest.raises(LawError) as caught:
        assert_agrees_with(airline, fault(airline))
    assert {call.name for call in caught.value.calls} == {"cancel_reservation"}
    assert len(caught.value.calls) == calls


def test_the_seeded_fault_is_found_on_the_benchmarks_own_data_too() -> None:
    try:
        airline = load_environment("tau2-airline")
    except DataError as error:
        pytest.skip(str(error))
    with pytest.raises(LawError) as caught:
        assert_agrees_with(airline, releasing_seats(airline))
    assert [call.name for call in caught.value.calls] == ["cancel_reservation"]


def test_the_airline_keeps_the_laws_of_an_environment(airline: Environment) -> None:
    for law in ENVIRONMENT_LAWS.values():
        law(airline)
