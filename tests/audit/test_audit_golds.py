"""Each kind of fault, planted in the library, is found; sound golds give none; the command, its JSON, its baseline."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from multigold.audit.findings import BaselineComparison, Finding, baseline_json, compare_with_baseline, read_baseline
from multigold.audit.golds.auditing import GoldAudit, audit_golds, document
from multigold.audit.golds.cases import golds_of_catalogue, golds_of_release
from multigold.audit.golds.checks import CHECKS, CODES
from multigold.audit.golds.targets import import_environment, read_tasks_at
from multigold.benchmark_data.releases import TaskRelease, TaskVersion
from multigold.catalogues import load_catalogue
from multigold.cli._group import multigold as cli
from multigold.environments.base import Drafts, Environment
from multigold.environments.tools import Tool
from multigold.errors import CallError, DataError, GoldSetError
from multigold.files.schemas import document_schema
from multigold.model.catalogue import Catalogue
from multigold.model.gold import Actions, CallEvidence, Choices, Explicit, GoldSet, Reading
from multigold.model.task import Criteria, Task, ToolCall
from multigold.rendering.golds import FEW_TASKS, audit_lines
from multigold.state.canonical import Json
from multigold.state.database import Database, Draft, EndState
from multigold.state.delta import Delta

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "examples" / "library"
OWN = f"{LIBRARY / 'library.py'}:build"
TEXT = "You are Ada Quist, member m-ada."


@pytest.fixture(scope="module")
def library(library_module: ModuleType) -> Environment:
    environment: Environment = library_module.build()
    return environment


def call(name: str, **arguments: Json) -> ToolCall:
    return ToolCall(name, arguments)


RENEW = call("renew_loan", loan_id="loan-1")


def task(*calls: ToolCall, text: str = TEXT, basis: Sequence[str] = ("DB",), **criteria: Any) -> Task:
    return Task("t", instructions=text, criteria=Criteria(actions=calls, reward_basis=tuple(basis), **criteria))


def release(*tasks: Task, name: str = "ours", assertions: Json = None) -> TaskRelease:
    versions = {t.id: TaskVersion(task=t, assertions=assertions) for t in tasks}
    return TaskRelease(name=name, tasks=versions)


def audit(environment: Environment, *tasks: Task, others: Sequence[TaskRelease] = (), **more: Any) -> GoldAudit:
    return audit_golds(golds_of_release(release(*tasks, **more), others), environment)


def codes(found: GoldAudit) -> list[str]:
    return [finding.code for finding in found.findings]


def only(found: GoldAudit) -> Finding:
    (finding,) = found.findings
    return finding


# Sound golds


def test_the_golds_of_the_library_are_sound(library: Environment) -> None:
    tasks = read_tasks_at(LIBRARY / "tasks.json", "library")
    found = audit_golds(golds_of_release(tasks), library)
    assert (found.golds, found.findings) == (4, ())


def test_the_gold_sets_of_the_library_are_sound(library: Environment) -> None:
    tasks = [version.task for version in read_tasks_at(LIBRARY / "tasks.json", "library").tasks.values()]
    found = audit_golds(golds_of_catalogue(load_catalogue(LIBRARY / "gold_sets"), tasks), library)
    assert (found.golds, found.findings) == (8, ())


# Calls that fail


def test_a_write_that_fails_is_an_error(library: Environment) -> None:
    finding = only(audit(library, task(call("renew_loan", loan_id="loan-3"), RENEW, text="loan-3 and loan-1")))
    assert (finding.code, finding.level, finding.task) == ("write-raises", "error", "t")
    assert "call 0 (renew_loan) fails on replay: loan-3 has been renewed before" in finding.sentence
    assert finding.evidence["calls"] == [{"name": "renew_loan", "arguments": {"loan_id": "loan-3"}}]


def test_a_read_that_fails_is_a_warning(library: Environment) -> None:
    finding = only(audit(library, task(call("view_member", member_id="m-nobody"), RENEW)))
    assert (finding.code, finding.level) == ("read-raises", "warning")


def test_a_call_of_an_unknown_tool_has_a_code_of_its_own(library: Environment) -> None:
    assert codes(audit(library, task(call("burn_book", book_id="b-oak"), RENEW))) == ["unknown-tool"]


# Golds that change nothing


def test_a_gold_without_effect_is_an_error_where_nothing_else_catches_doing_nothing(library: Environment) -> None:
    finding = only(audit(library, task(call("view_member", member_id="m-ada"))))
    assert (finding.code, finding.level) == ("vacuous", "error")
    assert "nothing else in the reward catches it" in finding.sentence


@pytest.mark.parametrize(
    ("basis", "criteria", "assertions", "guard"),
    [
        (("DB", "COMMUNICATE"), {"communicate": ("3.00",)}, None, "COMMUNICATE, 1 to be said"),
        (("DB", "NL_ASSERTION"), {}, [["is polite", "refuses"], None], "NL_ASSERTION, 2 judged by a model"),
        (("DB", "ACTION"), {}, None, "ACTION, 1 to be made"),
    ],
)
def test_a_gold_without_effect_is_a_warning_that_says_what_else_catches_it(
    library: Environment, basis: tuple[str, ...], criteria: dict[str, Any], assertions: Json, guard: str
) -> None:
    given = task(call("view_member", member_id="m-ada"), basis=basis, **criteria)
    finding = only(audit(library, given, assertions=assertions))
    assert (finding.code, finding.level, finding.evidence["guards"]) == ("vacuous", "warning", [guard])


def test_a_gold_without_effect_is_a_note_where_the_database_is_not_scored(library: Environment) -> None:
    finding = only(audit(library, task(basis=("ACTION",))))
    assert (finding.code, finding.level) == ("vacuous", "note")


def test_a_reading_that_ends_where_it_starts_needs_evidence(library: Environment) -> None:
    bare = Reading(id="refuse", admits=(Actions(()),))
    gated = attrs.evolve(bare, id="look", evidence=CallEvidence(tool="view_loan"))
    assert codes(audit_set(library, bare, gated)) == ["vacuous"]


# The order of writes

TWO_RESERVATIONS = (
    call("reserve_book", member_id="m-ada", book_id="b-moss", branch="hill"),
    call("reserve_book", member_id="m-ada", book_id="b-ferns", branch="harbour"),
)


def test_a_gold_that_hangs_on_the_order_of_its_writes_names_the_cure(library: Environment) -> None:
    finding = only(audit(library, task(*TWO_RESERVATIONS)))
    assert (finding.code, finding.level) == ("order-dependent", "warning")
    assert finding.evidence["cures"] == ["minted-ids"]
    assert "with calls 0 (reserve_book) and 1 (reserve_book) exchanged" in finding.sentence
    assert finding.remedy == "Score with --equivalence minted-ids."
    assert any("reservation-2" in pointer for pointer in finding.evidence["delta"]["changes"])


def test_an_order_that_nothing_cures_is_said_to_be_so(library: Environment) -> None:
    stamped = with_tool(library, renew_loan=_renew_and_number)
    found = audit(stamped, task(RENEW, call("renew_loan", loan_id="loan-2"), text="loan-1 and loan-2"))
    assert "no equivalence makes them the same" in only(found).sentence
    assert only(found).evidence["cures"] is None


def _renew_and_number(draft: Draft, loan_id: str) -> None:
    number = sum(draft.get("loans", other)["renewals"] == 5 for other in draft.ids("loans"))
    draft.edit("loans", loan_id).update(renewals=5, number=number)


def test_an_order_in_which_a_call_fails_is_no_finding(library: Environment) -> None:
    give_back_and_lend = (
        call("return_book", loan_id="loan-1"),
        call("lend_book", member_id="m-ada", book_id="b-oak"),
    )
    assert codes(audit(library, task(*give_back_and_lend))) == []


def test_an_order_that_the_reading_admits_as_well_is_no_finding(library: Environment) -> None:
    first = Actions(TWO_RESERVATIONS)
    reading = Reading(id="both", admits=(first, Actions(TWO_RESERVATIONS[::-1])))
    assert codes(audit_set(library, reading)) == []
    assert codes(audit_set(library, attrs.evolve(reading, admits=(first,)))) == ["order-dependent"]


# Ids from nowhere


def test_an_id_that_nothing_can_have_shown_is_found(library: Environment) -> None:
    finding = only(audit(library, task(call("pay_fine", loan_id="loan-3", amount=1, method="card"))))
    assert (finding.code, finding.evidence["id"]) == ("unreachable-id", "loan-3")
    assert finding.where == "task t, call 0, loan_id"


def test_ids_that_the_user_says_or_a_tool_can_show_are_reachable(library: Environment) -> None:
    # loan-1 stands in the member's record, b-oak in the loan's, b-moss in what anybody can search for.
    calls = (RENEW, call("reserve_book", member_id="m-ada", book_id="b-moss", branch="hill"))
    assert codes(audit(library, task(*calls))) == []


def test_an_id_that_an_earlier_call_made_is_reachable_and_one_that_is_not_made_yet_is_not(library: Environment) -> None:
    lend, give_back = call("lend_book", member_id="m-ada", book_id="b-moss"), call("return_book", loan_id="loan-4")
    assert codes(audit(library, task(lend, give_back))) == []
    assert sorted(codes(audit(library, task(give_back, lend)))) == ["unreachable-id", "write-raises"]


def test_without_the_users_text_nothing_is_called_unreachable(library: Environment) -> None:
    paying = Actions((call("pay_fine", loan_id="loan-3", amount=1, method="card"),))
    assert codes(audit_set(library, Reading(id="pay", admits=(paying,)))) == []


# Invariants, assertions, two sides, wording


def with_tool(environment: Environment, **functions: Callable[..., Json]) -> Environment:
    changed = {
        name: Tool(name=name, function=function, kind=environment.tools[name].kind)
        for name, function in functions.items()
    }
    return attrs.evolve(environment, tools={**environment.tools, **changed})


def _lose_the_copy(draft: Draft, loan_id: str) -> None:
    draft.edit("loans", loan_id)["status"] = "returned"


def test_an_end_state_that_breaks_an_invariant_is_found(library: Environment) -> None:
    found = audit(with_tool(library, return_book=_lose_the_copy), task(call("return_book", loan_id="loan-1")))
    finding = only(found)
    assert (finding.code, finding.level) == ("invariant-broken", "error")
    assert "copies-add-up: b-oak had 1 copies" in finding.sentence


def test_an_invariant_that_cannot_be_evaluated_is_a_finding_and_no_crash(library: Environment) -> None:
    def fails(initial: EndState, end: EndState) -> list[str]:
        raise KeyError("nowhere")

    found = audit(attrs.evolve(library, invariants={"fails": fails}), task(RENEW))
    assert "cannot be evaluated (KeyError: 'nowhere')" in only(found).sentence


def test_a_stated_end_state_is_held_against_invariants_too(library: Environment) -> None:
    lost = Delta.from_json({"/agent/books/b-oak/free": {"before": 0, "after": 7}})
    assert codes(audit_set(library, Reading(id="lost", admits=(Explicit(delta=lost),)))) == ["invariant-broken"]


def test_stated_changes_that_do_not_fit_are_found(library: Environment) -> None:
    wrong = Delta.from_json({"/agent/books/b-oak/free": {"before": 3, "after": 7}})
    assert codes(audit_set(library, Reading(id="lost", admits=(Explicit(delta=wrong),)))) == ["no-end"]


def test_a_task_whose_start_cannot_be_set_up_is_found(library: Environment) -> None:
    given = attrs.evolve(task(RENEW), initial_state={"initialization_data": {"agent_data": {}}, "x": 1})
    assert codes(audit(library, given)) == ["no-start"]


def test_a_gold_that_fails_the_tasks_own_assertion_is_found(library: Environment) -> None:
    def renewed(draft: Draft, loan_id: str) -> bool:
        return bool(draft.get("loans", loan_id)["renewals"])

    told = attrs.evolve(library, assertions={"renewed": renewed})
    asserted = [{"func_name": "renewed", "arguments": {"loan_id": "loan-2"}}]
    given = task(RENEW, env_assertions=tuple(asserted))
    assert codes(audit(told, given)) == ["assertion-fails"]
    assert (
        codes(
            audit(
                told,
                attrs.evolve(
                    given,
                    criteria=Criteria(
                        actions=(RENEW,), env_assertions=({"func_name": "renewed", "arguments": {"loan_id": "loan-1"}},)
                    ),
                ),
            )
        )
        == []
    )


def two_sided(library: Environment) -> Environment:
    """The library with a screen that shows the member what is due, refreshed after every call."""

    def refresh(drafts: Drafts) -> None:
        assert drafts.user is not None
        due = drafts.agent.get("loans", "loan-1")["due"]
        if drafts.user.get("screen", "m-ada")["due"] != due:
            drafts.user.edit("screen", "m-ada")["due"] = due

    screen = Database.from_json({"screen": {"m-ada": {"due": "2026-03-04"}}})
    return attrs.evolve(library, initial=EndState(library.initial.agent, user=screen), synchronise=refresh)


def test_a_gold_whose_sides_are_out_of_step_is_found(library: Environment) -> None:
    finding = only(audit(two_sided(library), task(RENEW)))
    assert (finding.code, finding.level) == ("not-synchronised", "error")
    assert "/user/screen/m-ada/due" in finding.evidence["delta"]["changes"]


def test_a_reading_is_replayed_as_an_agents_calls_are_and_so_is_in_step(library: Environment) -> None:
    assert codes(audit_set(two_sided(library), Reading(id="renew", admits=(Actions((RENEW,)),)))) == []


WORDS = "The member would like a fine waived and cannot be helped."


def test_somebodys_own_words_are_found_unless_the_benchmark_does_not_compare_them(library: Environment) -> None:
    telling = call("hand_over", summary=WORDS)
    finding = only(audit(library, task(RENEW, telling)))
    assert (finding.code, finding.level) == ("literal-text", "warning")
    assert "not a factor of this task's reward" in finding.sentence
    assert codes(audit(library, task(RENEW, attrs.evolve(telling, compared=())))) == []
    assert codes(audit(library, task(RENEW, attrs.evolve(telling, compared=("summary",))))) == ["literal-text"]


def test_own_words_are_an_error_where_calls_are_scored_or_the_words_are_stored(library: Environment) -> None:
    scored = audit(library, task(RENEW, call("hand_over", summary=WORDS), basis=("DB", "ACTION")))
    stored = audit(library, task(call("reserve_book", member_id="m-ada", book_id="b-moss", branch=WORDS)))
    assert [only(scored).level, only(stored).level] == ["error", "error"]


def test_words_that_the_user_says_are_nobodys_own(library: Environment) -> None:
    given = task(RENEW, call("hand_over", summary=WORDS), text=f"{TEXT} {WORDS}")
    assert codes(audit(library, given)) == []


# Other releases


def test_another_gold_for_the_same_text_contradicts(library: Environment) -> None:
    theirs = task(call("pay_fine", loan_id="loan-1", amount=3, method="card"), text=TEXT.upper())
    finding = only(audit(library, task(RENEW), others=[release(theirs, name="theirs")]))
    assert (finding.code, finding.where) == ("contradicted", "task t, against theirs")
    assert finding.evidence["calls"][0]["name"] == "pay_fine"


def test_another_text_or_another_road_to_the_same_end_does_not_contradict(library: Environment) -> None:
    other_text = release(task(call("waive_fine", loan_id="loan-1"), text="You are Ada. Ask for a waiver."), name="text")
    other_road = release(task(call("view_member", member_id="m-ada"), RENEW), name="road")
    assert codes(audit(library, task(RENEW), others=[other_text, other_road])) == []


# Gold sets


def audit_set(environment: Environment, *readings: Reading) -> GoldAudit:
    catalogue = Catalogue(domain="library", gold_sets={"t": GoldSet(task_id="t", readings=readings, source="t.json")})
    return audit_golds(golds_of_catalogue(catalogue), environment)


def test_members_beyond_the_first_are_counted_in_a_note(library: Environment) -> None:
    lend = ToolCall("reserve_book", {"member_id": "m-ada", "book_id": "b-oak", "branch": {"$slot": "branch"}})
    many = Choices(slots={"branch": tuple(f"branch {n}" for n in range(20))}, calls=(lend,))
    found = audit_set(library, Reading(id="any", admits=(many,)))
    assert found.golds == 16
    assert [(f.code, f.level, f.where) for f in found.findings] == [("members-left-out", "note", "t.json: reading any")]
    assert "4 more members" in found.findings[0].sentence


def test_members_that_may_fail_are_not_reported(library: Environment) -> None:
    lend = ToolCall("lend_book", {"member_id": "m-ada", "book_id": {"$slot": "book"}})
    any_book = Choices(slots={"book": ("b-oak", "b-moss")}, calls=(lend,), infeasible="skip")
    skipped = audit_set(library, Reading(id="any", admits=(any_book,)))
    strict = audit_set(library, Reading(id="any", admits=(attrs.evolve(any_book, infeasible="error"),)))
    assert "write-raises" not in codes(skipped)
    assert "write-raises" in codes(strict)


# Codes, JSON, baseline


def test_every_code_is_given_by_a_check_or_by_setting_the_scene() -> None:
    given = set().union(*CHECKS.values())
    assert given | {"no-start", "no-end"} == set(CODES)


def test_only_the_codes_that_are_asked_for_are_looked_for(library: Environment) -> None:
    tasks = release(task(*TWO_RESERVATIONS, call("view_member", member_id="m-nobody")))
    found = audit_golds(golds_of_release(tasks), library, codes=["read-raises"])
    assert codes(found) == ["read-raises"]
    with pytest.raises(CallError, match="no code 'odd'"):
        audit_golds((), library, codes=["odd"])


def faulty(library: Environment) -> GoldAudit:
    return audit(
        library, task(*TWO_RESERVATIONS, call("view_member", member_id="m-nobody"), call("hand_over", summary=WORDS))
    )


def test_the_document_validates_against_the_shipped_schema(library: Environment) -> None:
    schema = document_schema("golds")
    Draft202012Validator.check_schema(schema)
    found = faulty(library)
    provenance = {"sources": [{"target": "x", "environment": "library", "data_digest": ""}]}
    written = json.loads(json.dumps(document(found, compare_with_baseline(found.findings), provenance)))
    assert list(Draft202012Validator(schema).iter_errors(written)) == []
    assert written["counts"]["order-dependent"] == 1
    assert set(written["counts"]) == set(schema["$defs"]["code"]["enum"]) == set(CODES)


def test_a_baseline_accepts_what_it_names_and_nothing_else(library: Environment) -> None:
    found = faulty(library).findings
    rows = baseline_json(found[:1])["accepted"]
    accepted = {(row["code"], row["task"], row["place"]): "" for row in rows}
    apart = compare_with_baseline(found, {**accepted, ("vacuous", "u", "task u"): ""})
    assert apart.accepted == found[:1]
    assert apart.new == found[1:]
    assert apart.stale == (("vacuous", "u", "task u"),)
    assert apart.failing
    assert not compare_with_baseline(found[:1], accepted).failing


def test_notes_alone_are_no_failure() -> None:
    assert not compare_with_baseline([Finding(code="vacuous", where="x", sentence="y", level="note")]).failing


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ("[]", "`schema` is None and should be .*--write-baseline"),
        ('{"schema": "other/1", "accepted": []}', "`schema` is 'other/1' and should be"),
        ('{"schema": "multigold/baseline/1", "accepted": [{"code": "x"}]}', "'place' is missing|'task' is missing"),
    ],
)
def test_a_baseline_that_is_none_is_refused_in_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(text)
    with pytest.raises(CallError, match=said):
        read_baseline(path)


# The command


def run(*arguments: object) -> Any:
    return CliRunner().invoke(cli, ["audit", "golds", *map(str, arguments)])


def tasks_file(path: Path, *calls: ToolCall) -> Path:
    path.write_text(json.dumps([{"id": "t", "instructions": TEXT, "actions": [c.to_json() for c in calls]}]))
    return path


def test_the_command_says_nothing_was_found_and_exits_with_0() -> None:
    done = run(LIBRARY / "tasks.json", "--environment", OWN)
    assert (done.exit_code, done.output) == (0, "4 golds of 4 tasks: no findings\n")


def test_the_command_prints_findings_with_what_to_do_and_exits_with_1(tmp_path: Path) -> None:
    done = run(tasks_file(tmp_path / "tasks.json", *TWO_RESERVATIONS), "--environment", OWN)
    assert done.exit_code == 1
    assert "warning order-dependent task t: with calls 0 (reserve_book) and 1 (reserve_book) exchanged" in done.output
    assert "Score with --equivalence minted-ids." in done.output
    assert "1 golds of 1 tasks: 1 findings" in done.output


def test_a_written_baseline_silences_what_was_found_then(tmp_path: Path) -> None:
    tasks, baseline = tasks_file(tmp_path / "tasks.json", *TWO_RESERVATIONS), tmp_path / "baseline.json"
    assert run(tasks, "--environment", OWN, "--write-baseline", baseline).exit_code == 0
    done = run(tasks, "--environment", OWN, "--baseline", baseline)
    assert done.exit_code == 0
    assert "1 of them are accepted by the baseline" in done.output
    tasks_file(tasks, RENEW)
    stale = run(tasks, "--environment", OWN, "--baseline", baseline)
    assert stale.exit_code == 0
    assert "the baseline accepts order-dependent at task t (task t), which is not found any more" in stale.output


def test_reasons_in_a_baseline_survive_writing_it_again(tmp_path: Path) -> None:
    tasks, baseline = tasks_file(tmp_path / "tasks.json", *TWO_RESERVATIONS), tmp_path / "baseline.json"
    run(tasks, "--environment", OWN, "--write-baseline", baseline)
    plain = json.loads(baseline.read_text())
    plain["accepted"][0]["reason"] = "the policy says moss first"
    baseline.write_text(json.dumps(plain))
    run(tasks, "--environment", OWN, "--baseline", baseline, "--write-baseline", baseline)
    assert json.loads(baseline.read_text()) == plain


def test_the_json_is_one_document_on_standard_output(tmp_path: Path) -> None:
    done = run(tasks_file(tmp_path / "tasks.json", *TWO_RESERVATIONS), "--environment", OWN, "--json", "-")
    written = json.loads(done.output)
    assert list(Draft202012Validator(document_schema("golds")).iter_errors(written)) == []
    assert [finding["code"] for finding in written["findings"]] == ["order-dependent"]


def test_a_directory_of_gold_sets_is_audited_with_the_texts_of_its_tasks() -> None:
    done = run(LIBRARY / "gold_sets", "--environment", OWN, "--tasks", LIBRARY / "tasks.json")
    assert (done.exit_code, done.output) == (0, "8 golds of 3 tasks: no findings\n")


def test_another_release_is_named_with_against(tmp_path: Path) -> None:
    ours, theirs = (tmp_path / f"{name}.json" for name in ("ours", "theirs"))
    tasks_file(ours, RENEW)
    tasks_file(theirs, call("pay_fine", loan_id="loan-1", amount=3, method="card"))
    done = run(ours, "--environment", OWN, "--against", theirs)
    assert done.exit_code == 1
    assert "error contradicted task t, against" in done.output


def test_lines_of_one_code_are_limited_and_the_rest_counted(tmp_path: Path) -> None:
    missing = [call("view_member", member_id=f"m-{n}") for n in range(5)]
    done = run(tasks_file(tmp_path / "tasks.json", RENEW, *missing), "--environment", OWN, "--limit", 2)
    assert done.output.count("warning read-raises") == 2
    assert "... and 3 more of read-raises" in done.output


def many_tasks(path: Path, number: int) -> Path:
    """Tasks with a gold that changes nothing."""
    tasks = [{"id": f"t-{n}", "instructions": "You want nothing.", "actions": []} for n in range(number)]
    path.write_text(json.dumps(tasks))
    return path


def test_findings_of_one_code_in_many_tasks_share_a_line_with_the_tasks_below_it(tmp_path: Path) -> None:
    path = many_tasks(tmp_path / "tasks.json", FEW_TASKS + 1)
    short = run(path, "--environment", OWN)
    assert short.exit_code == 1
    lines = short.output.splitlines()
    assert lines[0].startswith(f"error vacuous, {FEW_TASKS + 1} tasks: the gold ends in the initial state")
    assert lines[1].strip() == ", ".join(f"t-{n}" for n in range(FEW_TASKS + 1))
    assert "--verbose" in lines[-1]
    long = run(path, "--environment", OWN, "--verbose")
    assert long.output.count("error vacuous task t-") == FEW_TASKS + 1
    assert "--verbose" not in long.output
    documents = [
        json.loads(run(path, "--environment", OWN, *words, "--json", "-").output) for words in ((), ("--verbose",))
    ]
    assert documents[0] == documents[1]
    assert len(documents[0]["findings"]) == FEW_TASKS + 1


def test_findings_in_few_tasks_have_a_line_each(tmp_path: Path) -> None:
    done = run(many_tasks(tmp_path / "tasks.json", FEW_TASKS), "--environment", OWN)
    assert done.output.count("error vacuous task t-") == FEW_TASKS
    assert "--verbose" not in done.output


def test_tasks_that_share_a_line_are_wrapped_limited_and_none_is_left_uncounted() -> None:
    findings = tuple(
        Finding(code="vacuous", where=f"task {n}", task=f"task-{n}", sentence="nothing", level="error")
        for n in range(100)
    )
    audit = GoldAudit(golds=100, tasks=100, findings=findings)
    whole = list(audit_lines(audit, BaselineComparison(new=findings), width=60))
    told = [name for line in whole if line.startswith("    task-") for name in line.strip().split(", ")]
    assert told == [f"task-{n}" for n in range(len(told))]
    assert f"    ... and {100 - len(told)} more tasks; --json has all" in whole
    assert all(len(line) <= 60 for line in whole if line.startswith("    task-"))
    limited = list(audit_lines(audit, BaselineComparison(new=findings), width=60, limit=3))
    shown = sum(line.count("task-") for line in limited)
    assert f"    ... and {100 - shown} more tasks" in limited
    assert len([line for line in limited if line.startswith("    task-")]) == 2


def test_findings_that_share_a_line_keep_their_level_and_several_in_a_task_are_counted() -> None:
    findings = [
        Finding(code="read-raises", where=f"task {n}, call {c}", task=str(n), sentence=f"call {c} fails", level=level)
        for level in ("error", "warning")
        for n in range(6)
        for c in range(2)
    ]
    audit = GoldAudit(golds=6, tasks=6, findings=tuple(findings))
    lines = list(audit_lines(audit, BaselineComparison(new=tuple(findings))))
    heads = [line for line in lines if "findings in" in line]
    assert [line.split(":")[0] for line in heads] == [
        "error read-raises, 12 findings in 6 tasks",
        "warning read-raises, 12 findings in 6 tasks",
    ]
    assert lines.count("    0, 1, 2, 3, 4, 5") == 2


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        (["nowhere"], CallError, "is not a domain, a file or a directory"),
        ([LIBRARY / "tasks.json"], CallError, "do not say which environment"),
        ([LIBRARY / "tasks.json", "--environment", "library"], CallError, "does not say where the environment is"),
        ([LIBRARY / "tasks.json", "--environment", "no_such_module:build"], CallError, "cannot be imported"),
        ([LIBRARY / "tasks.json", "--environment", "json:loads"], CallError, "cannot be called without arguments"),
        ([LIBRARY / "tasks.json", "--environment", "json:nothing"], CallError, "nothing called 'nothing'"),
        ([LIBRARY / "database.json", "--environment", OWN], DataError, "no tasks|tasks"),
    ],
)
def test_bad_input_is_one_sentence(arguments: list[object], error: type[Exception], said: str) -> None:
    done = run(*arguments)
    assert isinstance(done.exception, error)
    assert any(word in str(done.exception) for word in said.split("|"))


def test_an_environment_may_be_an_object_a_function_or_stand_in_a_file(
    library_module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_module, "shelf", library_module.build(), raising=False)
    assert import_environment("library:shelf") is library_module.shelf
    assert import_environment("library:build").name == "library"
    assert import_environment(OWN).name == "library"


def test_a_broken_catalogue_is_refused_with_its_faults(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "catalogue.json").write_text('{"domain": "library", "loopholes": [], "odd": 1}')
    assert isinstance(run(tmp_path, "--environment", OWN).exception, GoldSetError)
