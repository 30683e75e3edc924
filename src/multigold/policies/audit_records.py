"""The records of a policy audit as a JSON file, and as the beginnings of a catalogue.

A test that has nothing but a result is written as that word, so that marking a clause is changing one word:

    "scope": "pass",
    "boundary": {"result": "fail", "question": "What of a fine of exactly 5.00?", "entry": "W3"}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, cast, get_args

from multigold.files.cursor import Cursor
from multigold.files.records import open_records, refuse_faults, write_records
from multigold.model.loophole import LoopholeCategory, Side
from multigold.policies.audit import (
    CLAUSE_TESTS,
    ClauseRecord,
    ClauseTest,
    LoopholeCandidate,
    PolicyAudit,
    TestResult,
    audit_progress,
    loophole_candidates,
)
from multigold.policies.lines import lines_fingerprint
from multigold.state.canonical import Json

SCHEMA: Final = "multigold/policy-audit/1"
"""Name and version of the form; its JSON Schema ships as `schemas/policy-audit.schema.json`."""

_CATEGORIES = {category.value: category for category in LoopholeCategory}
_TEST_MEMBERS = frozenset({"question", "category", "entry", "sides", "meets", "by", "note"})


# Writing


def policy_audit_json(audit: PolicyAudit) -> dict[str, Json]:
    """Return the records as plain data."""
    return {
        "schema": SCHEMA,
        "policy": {"file": audit.policy, "fingerprint": audit.fingerprint},
        "clauses": [_record_json(record) for record in audit.clauses],
        "gone": [_record_json(record) for record in audit.gone],
        "note": audit.note,
    }


def _record_json(record: ClauseRecord) -> dict[str, Json]:
    return {
        "id": record.id,
        "heading": list(record.heading),
        "lines": [record.first_line, record.last_line],
        "fingerprint": record.fingerprint,
        "text": record.text,
        "look_again": record.look_again,
        "tests": {name: _test_json(record.test(name)) for name in CLAUSE_TESTS},
        "note": record.note,
    }


def _test_json(test: ClauseTest) -> Json:
    members: dict[str, Json] = {
        "question": test.question,
        "category": test.category.value if test.category else "",
        "entry": test.entry,
        "sides": [{"id": side.id, "sentence": side.sentence} for side in test.sides],
        "meets": list(test.meets),
        "by": test.by,
        "note": test.note,
    }
    said = {key: value for key, value in members.items() if value}
    return {"result": test.result, **said} if said else test.result


def write_policy_audit(audit: PolicyAudit, path: Path) -> None:
    """Write the records to a file.

    Raises:
        MultigoldError: If it cannot be written.
    """
    write_records(policy_audit_json(audit), path)


# Reading


def read_policy_audit(path: Path) -> PolicyAudit:
    """Read the records from a file.

    Raises:
        CallError: If it cannot be read or has faults; all of them are named, each with its place.
    """
    top = open_records(path, SCHEMA)
    top.keys({"schema", "policy", "clauses"}, {"$schema", "gone", "note"})
    policy = top.at("policy") if top.has("policy") else Cursor({}, top.file, top.found, ("policy",))
    policy.keys({"file", "fingerprint"})
    clauses, gone = ([_record(item) for item in top.items(key)] for key in ("clauses", "gone"))
    _check_ids(top, [*clauses, *gone])
    refuse_faults(top.found, path)
    return PolicyAudit(
        policy=policy.text("file"),
        fingerprint=policy.text("fingerprint"),
        clauses=tuple(clauses),
        gone=tuple(gone),
        note=top.text("note"),
    )


def _check_ids(top: Cursor, records: Sequence[ClauseRecord]) -> None:
    known: set[str] = set()
    for record in records:
        if record.id in known:
            top.fault("duplicate", f"two clauses are called {record.id!r}")
        known.add(record.id)
    meetings = [(r.id, name, other) for r in records for name, test in r.tests.items() for other in test.meets]
    for clause, name, other in meetings:
        if other not in known:
            top.fault("unknown-clause", f"the test {name!r} of {clause!r} names {other!r}, which is not a clause")


def _record(at: Cursor) -> ClauseRecord:
    at.keys({"id", "lines", "fingerprint", "text", "tests"}, {"heading", "look_again", "note"})
    lines = [item.value for item in at.items("lines")]
    if not (len(lines) == 2 and all(type(line) is int for line in lines) and 1 <= lines[0] <= lines[1]):
        at.fault("bad-lines", "lines are the first and the last line, counted from 1")
        lines = [1, 1]
    text = at.text("text")
    if at.text("fingerprint") != lines_fingerprint(text.split("\n")):
        at.fault("bad-fingerprint", "the fingerprint is not that of the text; only tests and notes are to be edited")
    return ClauseRecord(
        id=at.text("id"),
        heading=at.texts("heading"),
        first_line=lines[0],
        last_line=lines[1],
        text=text,
        fingerprint=at.text("fingerprint"),
        tests={name: _test(item) for name, item in at.members("tests") if _is_test(name, item)},
        look_again=at.text("look_again"),
        note=at.text("note"),
    )


def _is_test(name: str, at: Cursor) -> bool:
    if name not in CLAUSE_TESTS:
        at.fault("unknown-test", f"no test is called {name!r}; there are: {', '.join(CLAUSE_TESTS)}")
    return name in CLAUSE_TESTS


def _test(at: Cursor) -> ClauseTest:
    if isinstance(at.value, str):
        at = Cursor({"result": at.value}, at.file, at.found, at.path)
    at.keys({"result"}, _TEST_MEMBERS)
    result = cast(TestResult, at.word("result", get_args(TestResult), "not_looked_at"))
    if result == "fail" and not at.text("question").strip():
        at.fault("no-question", "a test that fails states the question that the clause leaves open")
    category = at.word("category", tuple(_CATEGORIES), "scope_gap") if at.text("category") else ""
    return ClauseTest(
        result=result,
        question=at.text("question"),
        category=_CATEGORIES.get(category),
        entry=at.text("entry"),
        sides=tuple(_sides(at.items("sides"))),
        meets=at.texts("meets"),
        by=at.text("by"),
        note=at.text("note"),
    )


def _sides(items: Iterable[Cursor]) -> Iterable[Side]:
    for item in items:
        item.keys({"id", "sentence"})
        yield Side(id=item.text("id"), sentence=item.text("sentence"))


# Towards a catalogue


def candidate_json(candidate: LoopholeCandidate) -> dict[str, Json]:
    """Return a candidate loophole as plain data."""
    return {
        "id": candidate.id,
        "clauses": list(candidate.clauses),
        "tests": list(candidate.tests),
        "questions": list(candidate.questions),
        "category": candidate.category.value,
        "category_named": candidate.category_named,
        "sides": [{"id": side.id, "sentence": side.sentence} for side in candidate.sides],
    }


def audit_document(audit: PolicyAudit) -> dict[str, Json]:
    """Return the records with their counts and candidates, for programs."""
    return {
        **policy_audit_json(audit),
        "progress": audit_progress(audit).to_json(),
        "candidates": [candidate_json(candidate) for candidate in loophole_candidates(audit)],
    }


def catalogue_stub(audit: PolicyAudit, domain: str) -> dict[str, Json]:
    """Return the files of a catalogue with an entry for each candidate: what stage 1 hands to stage 2.

    A candidate with fewer than two sides gets empty ones to fill in, as an entry has at least two.

    Args:
        audit: The records.
        domain: The environment that the catalogue is for.

    Returns:
        File name to document.
    """
    found = loophole_candidates(audit)
    named = {clause for candidate in found for clause in candidate.clauses}
    references = [_reference(record) for record in audit.clauses if record.id in named]
    policy = {"file": audit.policy, "fingerprint": audit.fingerprint}
    return {
        "catalogue.json": {"domain": domain, "loopholes": [_entry(candidate) for candidate in found]},
        "clauses.json": {"policy": policy, "clauses": references},
    }


def _reference(record: ClauseRecord) -> dict[str, Json]:
    lines = [record.first_line, record.last_line]
    return {"id": record.id, "heading": list(record.heading), "lines": lines, "fingerprint": record.fingerprint}


def _entry(candidate: LoopholeCandidate) -> dict[str, Json]:
    sides = [{"id": side.id, "sentence": side.sentence} for side in candidate.sides]
    blanks = [{"id": f"side-{number}", "sentence": "TODO"} for number in range(len(sides) + 1, 3)]
    return {
        "id": candidate.id,
        "title": "TODO",
        "category": candidate.category.value,
        "question": " ".join(candidate.questions),
        "sides": [*sides, *blanks],
        "clauses": list(candidate.clauses),
        "effect": "untested",
        "stages": ["S1"],
        "status": "proposed",
    }
