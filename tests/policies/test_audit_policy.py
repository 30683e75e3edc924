"""Stage 1: records of the four tests that outlive the policy's edits, and places to look that are only proposals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import attrs
import jsonschema
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from multigold.benchmark_data import load_policy
from multigold.catalogues import load_catalogue
from multigold.cli._group import multigold as cli
from multigold.errors import CallError, DataError
from multigold.files.schemas import document_schema
from multigold.model.loophole import LoopholeCategory, Side
from multigold.policies.audit import (
    CLAUSE_TESTS,
    ClauseTest,
    PolicyAudit,
    audit_progress,
    loophole_candidates,
    update_policy_audit,
)
from multigold.policies.audit_records import (
    catalogue_stub,
    policy_audit_json,
    read_policy_audit,
    write_policy_audit,
)
from multigold.policies.clauses import split_policy
from multigold.policies.hints import MOST_PAIRS, Hint, find_hints

POLICY = b"""# Desk

## Loans

- A loan ends after 21 days.
- A member may have three loans.

## Fines

- A fine can be waived if the member complains and brings the book back.
- Do not waive a fine unless the member asks.
"""
WAIVE = "fines.a-fine-can-be-waived-if"
NO_OFFER = "fines.do-not-waive-a-fine-unless"


def begin(policy: bytes = POLICY) -> PolicyAudit:
    return update_policy_audit(None, policy, name="policy.md")[0]


def decided(audit: PolicyAudit, clause: str, **tests: ClauseTest) -> PolicyAudit:
    records = [attrs.evolve(r, tests={**r.tests, **tests}) if r.id == clause else r for r in audit.clauses]
    return attrs.evolve(audit, clauses=tuple(records))


def fail(question: str = "What then?", **more: object) -> ClauseTest:
    return ClauseTest(result="fail", question=question, **more)  # type: ignore[arg-type]


PASS = ClauseTest(result="pass")


def after(audit: PolicyAudit, policy: bytes) -> tuple[PolicyAudit, dict[str, str]]:
    fresh, changes = update_policy_audit(audit, policy, name="policy.md")
    return fresh, {change.clause: change.kind for change in changes}


def test_the_first_time_every_clause_is_new_and_nothing_is_looked_at() -> None:
    audit, changes = update_policy_audit(None, POLICY, name="policy.md")
    assert [record.id for record in audit.clauses][2:] == [WAIVE, NO_OFFER]
    assert {change.kind for change in changes} == {"new"}
    assert audit_progress(audit).done == 0
    assert audit_progress(audit).results["scope"] == {"pass": 0, "fail": 0, "not_looked_at": 4}


def test_the_same_policy_changes_nothing() -> None:
    audit = begin()
    assert after(audit, POLICY) == (audit, {})


def test_a_clause_that_moved_keeps_its_record_and_is_not_marked() -> None:
    audit = decided(begin(), WAIVE, scope=PASS)
    moved, changes = after(audit, POLICY.replace(b"# Desk\n", b"# Desk\n\nAn opening sentence.\n"))
    record = next(r for r in moved.clauses if r.id == WAIVE)
    assert record.test("scope") == PASS
    assert record.look_again == ""
    assert (record.first_line, changes[WAIVE]) == (12, "moved")


def test_a_clause_under_another_heading_keeps_its_record() -> None:
    audit = decided(begin(), WAIVE, scope=PASS)
    moved, changes = after(audit, POLICY.replace(b"## Fines", b"## Money"))
    record = next(r for r in moved.clauses if r.id == WAIVE)
    assert (record.heading, record.test("scope"), changes[WAIVE]) == (("Money",), PASS, "moved")


def test_a_clause_that_changed_keeps_its_record_and_is_marked_for_another_look() -> None:
    audit = decided(begin(), WAIVE, scope=PASS)
    changed, changes = after(audit, POLICY.replace(b"can be waived", b"is waived"))
    record = next(r for r in changed.clauses if r.id == WAIVE)
    assert record.test("scope") == PASS
    assert "can be waived" in record.look_again
    assert changes == {WAIVE: "changed"}
    assert audit_progress(changed).look_again == 1


def test_a_mark_stays_until_somebody_takes_it_away() -> None:
    changed, _ = after(begin(), POLICY.replace(b"can be waived", b"is waived"))
    again, changes = after(changed, POLICY.replace(b"can be waived", b"is waived"))
    assert again == changed
    assert changes == {}


def test_a_clause_whose_test_is_about_another_that_changed_is_marked_too() -> None:
    audit = decided(begin(), NO_OFFER, composition=fail(meets=(WAIVE,)))
    changed, _ = after(audit, POLICY.replace(b"can be waived", b"is waived"))
    record = next(r for r in changed.clauses if r.id == NO_OFFER)
    assert WAIVE in record.look_again


def test_a_clause_that_disappears_waits_and_comes_back_with_its_record() -> None:
    audit = decided(begin(), WAIVE, scope=PASS)
    shorter = POLICY.replace(b"- A fine can be waived if the member complains and brings the book back.\n", b"")
    without, changes = after(audit, shorter)
    assert changes[WAIVE] == "gone"
    assert [record.id for record in without.gone] == [WAIVE]
    back, changes = after(without, POLICY)
    assert changes[WAIVE] == "returned"
    assert next(r for r in back.clauses if r.id == WAIVE).test("scope") == PASS
    assert back.gone == ()


def test_two_clauses_with_one_text_have_two_records() -> None:
    policy = b"## A\n\n- Give your id.\n\n## B\n\n- Give your id.\n"
    audit = decided(begin(policy), "b.give-your-id", scope=PASS)
    swapped, _ = after(audit, b"## B\n\n- Give your id.\n\n## A\n\n- Give your id.\n")
    results = {record.id: record.test("scope").result for record in swapped.clauses}
    assert results == {"b.give-your-id": "pass", "a.give-your-id": "not_looked_at"}


def test_a_new_clause_takes_the_name_that_a_catalogue_knows_it_by() -> None:
    (clause,) = split_policy(b"One.")
    audit, _ = update_policy_audit(None, b"One.", name="p", ids={clause.fingerprint: "the-one"})
    assert audit.clauses[0].id == "the-one"


LINES = st.lists(st.sampled_from([f"- Clause {word} says something." for word in "abcdefgh"]), unique=True, max_size=6)


@given(LINES, LINES)
def test_no_record_is_ever_lost_and_ids_stay_unique(before: list[str], now: list[str]) -> None:
    audit = begin("\n".join(before).encode())
    marked = attrs.evolve(audit, clauses=tuple(attrs.evolve(r, note=r.text) for r in audit.clauses))
    fresh, _ = after(marked, "\n".join(now).encode())
    records = [*fresh.clauses, *fresh.gone]
    assert len({record.id for record in records}) == len(records)
    assert {record.note for record in records if record.note} == set(before)
    assert [record.text for record in fresh.clauses] == now


@given(LINES.flatmap(lambda lines: st.tuples(st.just(lines), st.permutations(lines))))
def test_reordering_clauses_moves_records_and_changes_none(pair: tuple[list[str], list[str]]) -> None:
    before, now = ("\n".join(lines).encode() for lines in pair)
    fresh, changes = after(begin(before), now)
    assert set(changes.values()) <= {"moved"}
    assert {r.id: r.text for r in fresh.clauses} == {r.id: r.text for r in begin(before).clauses}


# Candidates


def test_a_failed_test_is_a_candidate_with_the_usual_category_of_the_test() -> None:
    audit = decided(begin(), WAIVE, boundary=fail("What of a fine of 5.00?"))
    (candidate,) = loophole_candidates(audit)
    assert candidate.id == f"{WAIVE}:boundary"
    assert candidate.category is LoopholeCategory.SILENT_ON_EDGE
    assert not candidate.category_named


def test_tests_that_name_one_entry_are_one_candidate() -> None:
    conflict = LoopholeCategory.CONFLICTING_CLAUSES
    audit = decided(begin(), WAIVE, composition=fail("Which first?", entry="W1", meets=(NO_OFFER,), category=conflict))
    audit = decided(audit, NO_OFFER, scope=fail("And if nobody asks?", entry="W1"))
    (candidate,) = loophole_candidates(audit)
    assert (candidate.id, candidate.clauses) == ("W1", (WAIVE, NO_OFFER))
    assert candidate.questions == ("Which first?", "And if nobody asks?")
    assert candidate.category is conflict


def test_a_clause_is_done_when_all_four_tests_were_looked_at_whatever_came_of_them() -> None:
    audit = decided(begin(), WAIVE, **{**dict.fromkeys(CLAUSE_TESTS, PASS), "boundary": fail()})
    assert audit_progress(audit).done == 1
    assert audit_progress(audit).results["boundary"]["fail"] == 1


def test_candidates_become_a_catalogue_that_loads(tmp_path: Path) -> None:
    sides = (Side(id="strict", sentence="Only then."),)
    audit = decided(begin(), WAIVE, scope=fail(entry="W1", sides=sides, meets=(NO_OFFER,)))
    for name, document in catalogue_stub(audit, "library").items():
        (tmp_path / name).write_text(json.dumps(document))
    catalogue = load_catalogue(tmp_path)
    entry = catalogue.loopholes["W1"]
    assert entry.clauses == (WAIVE, NO_OFFER)
    assert [side.id for side in entry.sides] == ["strict", "side-2"]
    assert catalogue.policy_fingerprint == audit.fingerprint


# The file


def test_what_is_written_is_read_again_and_fits_the_schema(tmp_path: Path) -> None:
    test = fail(entry="W1", meets=(NO_OFFER,), by="somebody", category=LoopholeCategory.SCOPE_GAP)
    audit = decided(begin(), WAIVE, scope=test, boundary=PASS)
    write_policy_audit(audit, tmp_path / "records.json")
    assert read_policy_audit(tmp_path / "records.json") == attrs.evolve(
        audit,
        clauses=tuple(attrs.evolve(r, tests={name: r.test(name) for name in CLAUSE_TESTS}) for r in audit.clauses),
    )
    jsonschema.validate(json.loads((tmp_path / "records.json").read_text()), document_schema("policy-audit"))


Damage = Callable[[dict[str, object]], object]

DAMAGES: dict[str, Damage] = {
    "unknown-member": lambda clause: clause.update(colour="red"),
    "no-question": lambda clause: clause["tests"].update(scope="fail"),  # type: ignore[attr-defined]
    "unknown-test": lambda clause: clause["tests"].update(smell="pass"),  # type: ignore[attr-defined]
    "unknown-word": lambda clause: clause["tests"].update(scope="maybe"),  # type: ignore[attr-defined]
    "bad-lines": lambda clause: clause.update(lines=[3]),
    "missing-member": lambda clause: clause.pop("text"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_reader_and_schema_refuse_the_same_damage(tmp_path: Path, name: str) -> None:
    document = json.loads(json.dumps(policy_audit_json(begin())))
    DAMAGES[name](document["clauses"][1])
    path = tmp_path / "records.json"
    path.write_text(json.dumps(document))
    with pytest.raises(CallError, match=r"/clauses/1"):
        read_policy_audit(path)
    assert not jsonschema.Draft202012Validator(document_schema("policy-audit")).is_valid(document)


def test_an_edited_text_is_refused_because_the_records_would_follow_the_wrong_clause(tmp_path: Path) -> None:
    document = policy_audit_json(begin())
    document["clauses"][0]["text"] = "Something else."
    (tmp_path / "records.json").write_text(json.dumps(document))
    with pytest.raises(CallError, match="not that of the text"):
        read_policy_audit(tmp_path / "records.json")


@pytest.mark.parametrize("text", ["", "[]", '{"schema": "other"}', "NaN", '{"schema": "multigold/policy-audit/1"}'])
def test_what_is_no_file_of_records_is_refused_with_its_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "records.json"
    path.write_text(text)
    with pytest.raises(CallError) as caught:
        read_policy_audit(path)
    assert "records.json" in str(caught.value)


# Places to look


def kinds(policy: bytes) -> set[tuple[int, str]]:
    return {(hint.line, hint.kind) for hint in find_hints(split_policy(policy))}


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("The desk may help.", "hedge"),
        ("Help if the member is old or young.", "choice"),
        ("Help if the member is old and poor.", "conjunction"),
        ("Help within 3 days.", "limit"),
        ("Help after the talk.", "order"),
        ("Help with other things.", "residue"),
        ("Help if the book was frobnicated.", "undefined"),
    ],
)
def test_each_kind_of_word_is_a_place_to_look(sentence: str, kind: str) -> None:
    assert (1, kind) in kinds(sentence.encode())


def test_or_outside_of_a_condition_is_none() -> None:
    assert (1, "choice") not in kinds(b"Books or papers are lent.")


def test_a_word_that_is_explained_or_in_bold_is_not_undefined() -> None:
    explained = b"Help if the book is frobnicated.\n\nA book is frobnicated once it gets wet."
    assert "frobnicated" not in {word for hint in find_hints(split_policy(explained)) for word in hint.words}
    bold = b"Help if the book is **frobnicated**."
    assert "frobnicated" not in {word for hint in find_hints(split_policy(bold)) for word in hint.words}


def test_clauses_about_one_thing_that_allow_and_forbid_are_a_pair() -> None:
    found = find_hints(
        split_policy(b"Basic economy flights cannot be modified.\n\nBasic economy flights can be upgraded.")
    )
    (pair,) = [hint for hint in found if hint.kind == "opposites"]
    assert (pair.line, pair.other_line, pair.test) == (3, 1, "composition")


def test_what_completes_a_condition_is_one() -> None:
    policy = b"Cancel if any of the following is true:\n- The user is old or young.\n"
    assert (2, "choice") in kinds(policy)


@given(st.lists(st.sampled_from(["You can wash green socks.", "You cannot wash green socks."]), max_size=12))
def test_pairs_are_bounded_and_every_hint_stands_on_a_clause(lines: list[str]) -> None:
    clauses = split_policy("\n\n".join(lines).encode())
    found: tuple[Hint, ...] = find_hints(clauses)
    assert sum(hint.kind == "opposites" for hint in found) <= MOST_PAIRS
    assert {hint.line for hint in found} <= {clause.first_line for clause in clauses}
    assert all(hint.test in CLAUSE_TESTS for hint in found)


# The command


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["audit", "policy", *arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


def test_records_are_begun_edited_and_brought_up_to_date(tmp_path: Path) -> None:
    policy, records = tmp_path / "policy.md", tmp_path / "records.json"
    policy.write_bytes(POLICY)
    code, output = run(str(policy), "--records", str(records), "--update")
    assert code == 0
    assert "0 of 4 clauses done" in output

    document = json.loads(records.read_text())
    document["clauses"][2]["tests"]["scope"] = {"result": "fail", "question": "What of late books?", "entry": "W1"}
    records.write_text(json.dumps(document))
    code, output = run(str(policy), "--records", str(records), "--no-hints")
    assert code == 1
    assert "candidate W1" in output
    assert "Places to look" not in output

    policy.write_bytes(POLICY.replace(b"can be waived", b"is waived"))
    code, output = run(str(policy), "--records", str(records), "--update")
    assert f"changed: {WAIVE}" in output
    assert json.loads(records.read_text())["clauses"][2]["tests"]["scope"]["entry"] == "W1"

    code, _ = run(str(policy), "--records", str(records), "--stub", str(tmp_path / "new"), "--domain", "library")
    assert list(load_catalogue(tmp_path / "new").loopholes) == ["W1"]
    with pytest.raises(CallError, match="not overwritten"):
        run(str(policy), "--records", str(records), "--stub", str(tmp_path / "new"), "--domain", "library")


def test_a_policy_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(CallError, match="cannot be read"):
        run(str(tmp_path / "none.md"))
    with pytest.raises(CallError, match="--records"):
        run(str(tmp_path / "none.md"), "--update")


# The real policies


@pytest.mark.parametrize("domain", ["tau2-airline", "tau2-retail"])
def test_every_published_loophole_stands_on_a_clause_with_a_place_to_look(domain: str) -> None:
    """Recall, with the catalogue as the yardstick; they flag much else besides, which is why they only propose."""
    try:
        policy = load_policy(domain).path.read_bytes()
    except DataError as error:
        pytest.skip(f"tau2's data is not here: {error}")
    lines = {hint.line for hint in find_hints(split_policy(policy))}
    catalogue = load_catalogue(domain)
    for entry in catalogue.loopholes.values():
        clauses = [catalogue.clauses[name] for name in entry.clauses]
        assert any(set(range(c.first_line, c.last_line + 1)) & lines for c in clauses), entry.id


@pytest.mark.parametrize("domain", ["tau2-airline", "tau2-retail"])
def test_the_splitter_finds_every_clause_of_the_catalogue(domain: str) -> None:
    try:
        policy = load_policy(domain).path.read_bytes()
    except DataError as error:
        pytest.skip(f"tau2's data is not here: {error}")
    clauses = split_policy(policy)
    firsts, lasts = {c.first_line for c in clauses}, {c.last_line for c in clauses}
    for reference in load_catalogue(domain).clauses.values():
        assert reference.first_line in firsts, reference.id
        assert reference.last_line in lasts, reference.id
