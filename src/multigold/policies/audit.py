"""Stage 1: every clause of a policy, put to four tests by a person, before any run is looked at (the paper, section 3).

The record of it is plain data that outlives the policy's edits. A record belongs to a *text*: it follows its clause to
another line or heading, and if the text was reworded it keeps what was decided and is marked for another look. A
clause that disappears takes nothing away; its record waits among the `gone`, should it come back.

    pass             the clause settles it
    fail             it does not; `question` says what it leaves open, and the clause is a candidate loophole
    not_looked_at    not looked at yet

Nothing in this module judges. It keeps, matches and counts what people decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

import attrs

from multigold.model.loophole import LoopholeCategory, Side
from multigold.policies.clauses import PolicyClause, split_policy
from multigold.policies.lines import policy_fingerprint
from multigold.policies.wording import ALIKE, slug
from multigold.state.canonical import Json

CLAUSE_TESTS: Mapping[str, str] = {
    "scope": "Does it cover every case that can come up, or is it silent on some?",
    "boundary": "Does it settle its edges: nothing, exactly at the limit, several at once, an offer that is declined?",
    "composition": "Where it meets other clauses, is there one way to apply them together, and one order?",
    "assumption": "Does it stand on its own, or rely on something that is not said?",
}
"""The four tests, each as the question to put to a clause."""

USUAL_CATEGORY: Mapping[str, LoopholeCategory] = {
    "scope": LoopholeCategory.SCOPE_GAP,
    "boundary": LoopholeCategory.SILENT_ON_EDGE,
    "composition": LoopholeCategory.COMPOSITIONAL_AMBIGUITY,
    "assumption": LoopholeCategory.IMPLICIT_PRECONDITION,
}
"""The category of a candidate if its record names none. Contradicting clauses fail composition and name theirs."""

TestResult: TypeAlias = Literal["pass", "fail", "not_looked_at"]
ChangeKind: TypeAlias = Literal["new", "moved", "changed", "gone", "returned"]

_ID_WORDS = 6


@attrs.frozen(kw_only=True)
class ClauseTest:
    """The result of one test of one clause.

    Attributes:
        result: What a person decided.
        question: What the clause leaves open; a test that fails states it.
        category: Place in the taxonomy, if it is not the usual one of the test.
        entry: Id of the entry that it becomes in a catalogue, such as `L6`; tests with one id are one candidate.
        sides: The ways to read it, as far as they are worked out.
        meets: Ids of the other clauses that it is about.
        by: Who looked.
        note: Anything else.
    """

    result: TestResult = "not_looked_at"
    question: str = ""
    category: LoopholeCategory | None = None
    entry: str = ""
    sides: tuple[Side, ...] = ()
    meets: tuple[str, ...] = ()
    by: str = ""
    note: str = ""


@attrs.frozen(kw_only=True)
class ClauseRecord:
    """A clause and the results of its tests.

    Attributes:
        id: Its name, given once and kept.
        heading: Headings above it, outermost first.
        first_line: Its first line, counted from 1.
        last_line: Its last line.
        text: Its lines.
        fingerprint: SHA-256 of them.
        tests: Test to its result; a test that is missing was not looked at.
        look_again: Why it needs another look; empty if it does not.
        note: Anything else.
    """

    id: str
    heading: tuple[str, ...] = ()
    first_line: int
    last_line: int
    text: str
    fingerprint: str
    tests: Mapping[str, ClauseTest] = attrs.field(factory=dict)
    look_again: str = ""
    note: str = ""

    def test(self, name: str) -> ClauseTest:
        """Return the result of a test."""
        return self.tests.get(name, _UNSEEN)

    @property
    def done(self) -> bool:
        """Whether all four tests were looked at and none needs another look."""
        return not self.look_again and all(self.test(name).result != "not_looked_at" for name in CLAUSE_TESTS)


_UNSEEN = ClauseTest()


@attrs.frozen(kw_only=True)
class PolicyAudit:
    """The records of one policy.

    Attributes:
        policy: Name of the policy's file.
        fingerprint: SHA-256 of the policy's bytes that the records were last brought up to date with.
        clauses: One record per clause, in the policy's order.
        gone: Records of clauses that the policy no longer has.
        note: Anything else.
    """

    policy: str
    fingerprint: str
    clauses: tuple[ClauseRecord, ...] = ()
    gone: tuple[ClauseRecord, ...] = ()
    note: str = ""


@attrs.frozen(kw_only=True)
class ClauseChange:
    """What an edit of the policy did to one clause.

    Attributes:
        clause: The clause's id.
        kind: What happened; `moved` is to another line or heading, with the text as it was.
        before: The text before, if it changed.
    """

    clause: str
    kind: ChangeKind
    before: str = ""


@attrs.frozen(kw_only=True)
class LoopholeCandidate:
    """A candidate loophole: one failed test, or several that name the same entry.

    Attributes:
        id: The entry's id, or `<clause>:<test>` if none was given.
        clauses: Ids of the clauses that it is about.
        tests: Tests that failed.
        questions: What is left open.
        category: Its place in the taxonomy.
        category_named: Whether a person named the category, instead of its being the usual one of the test.
        sides: The ways to read it, as far as they are worked out.
    """

    id: str
    clauses: tuple[str, ...]
    tests: tuple[str, ...]
    questions: tuple[str, ...]
    category: LoopholeCategory
    category_named: bool
    sides: tuple[Side, ...] = ()


@attrs.frozen(kw_only=True)
class AuditProgress:
    """How far the audit is.

    Attributes:
        clauses: How many clauses there are.
        done: Clauses with all four tests looked at, whatever the results, and nothing to look at again.
        look_again: Clauses to look at again.
        results: Test to result to number of clauses.
    """

    clauses: int
    done: int
    look_again: int
    results: Mapping[str, Mapping[str, int]]

    def to_json(self) -> dict[str, Json]:
        """Return the progress as plain data."""
        results = {test: dict(numbers) for test, numbers in self.results.items()}
        return {**attrs.asdict(self, recurse=False), "results": results}


def update_policy_audit(
    audit: PolicyAudit | None, policy: bytes, *, name: str, ids: Mapping[str, str] | None = None
) -> tuple[PolicyAudit, tuple[ClauseChange, ...]]:
    """Return the records as they stand for a policy's present text, and what happened to its clauses.

    A record is given to the clause with the same text under the same heading, else to one with the same text, else to
    the one with the most similar words, if at least six in ten are the same in order. What is left over is gone or new.

    Args:
        audit: The records so far; None to begin.
        policy: The policy's bytes.
        name: Name of the policy's file.
        ids: Fingerprint of a clause to the id to give it if it is new, such as the id that a catalogue knows it by.
    """
    clauses = split_policy(policy)
    records = [*audit.clauses, *audit.gone] if audit else []
    owner = _match(clauses, records, alive=len(audit.clauses) if audit else 0)
    taken = {record.id for record in records}
    kept: list[ClauseRecord] = []
    changes: list[ClauseChange] = []
    for position, clause in enumerate(clauses):
        index = owner.get(position)
        if index is None:
            record = _new_record(clause, taken, ids or {})
            taken.add(record.id)
            changes.append(ClauseChange(clause=record.id, kind="new"))
        else:
            returned = audit is not None and index >= len(audit.clauses)
            record, change = _follow(records[index], clause, returned=returned)
            changes += [change] if change else []
        kept.append(record)
    taken_over = set(owner.values())
    gone = [record for index, record in enumerate(records) if index not in taken_over]
    were_there = {record.id for record in audit.clauses} if audit else set()
    changes += [ClauseChange(clause=record.id, kind="gone") for record in gone if record.id in were_there]
    fresh = PolicyAudit(
        policy=name,
        fingerprint=policy_fingerprint(policy),
        clauses=tuple(_marked(kept, changes)),
        gone=tuple(gone),
        note=audit.note if audit else "",
    )
    return fresh, tuple(changes)


def _match(clauses: Sequence[PolicyClause], records: Sequence[ClauseRecord], *, alive: int) -> dict[int, int]:
    """Return the position of each clause that has a record, to the position of that record."""
    owner: dict[int, int] = {}
    for same_heading in (True, False):
        taken = set(owner.values())
        waiting: dict[tuple[str, tuple[str, ...]], list[int]] = {}
        for index, record in enumerate(records):
            if index not in taken:
                waiting.setdefault((record.fingerprint, record.heading if same_heading else ()), []).append(index)
        for position, clause in enumerate(clauses):
            found = waiting.get((clause.fingerprint, clause.heading if same_heading else ()))
            if position not in owner and found:
                owner[position] = found.pop(0)
    owner.update(_similar(clauses, records[:alive], owner))
    return owner


def _similar(
    clauses: Sequence[PolicyClause], records: Sequence[ClauseRecord], owner: Mapping[int, int]
) -> Iterator[tuple[int, int]]:
    """Yield pairs of clause and record whose words are alike, the most alike first; each at most once."""
    taken = set(owner.values())
    free = {i: record.text.split() for i, record in enumerate(records) if i not in taken}
    holders: dict[tuple[str, int], list[int]] = {}
    for index, words in free.items():
        for token in _counted(words):
            holders.setdefault(token, []).append(index)
    pairs = []
    for position, clause in enumerate(clauses):
        if position not in owner:
            words = clause.text.split()
            shared = Counter(index for token in _counted(words) for index in holders.get(token, ()))
            matcher = SequenceMatcher(None, [], words, autojunk=False)
            for index, count in shared.items():
                if 2 * count >= ALIKE * (len(words) + len(free[index])):
                    matcher.set_seq1(free[index])
                    pairs.append((matcher.ratio(), position, index))
    pairs = [pair for pair in pairs if pair[0] >= ALIKE]
    done: tuple[set[int], set[int]] = (set(), set())
    for _, position, index in sorted(pairs, key=lambda pair: (-pair[0], pair[1:])):
        if position not in done[0] and index not in done[1]:
            done[0].add(position)
            done[1].add(index)
            yield position, index


def _counted(words: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield each word with how often it came before, so that shared ones can be counted as often as they are shared."""
    seen: Counter[str] = Counter()
    for word in words:
        yield word, seen[word]
        seen[word] += 1


def _new_record(clause: PolicyClause, taken: Collection[str], ids: Mapping[str, str]) -> ClauseRecord:
    wanted = ids.get(clause.fingerprint) or _name(clause)
    names = (wanted if number == 1 else f"{wanted}-{number}" for number in range(1, len(taken) + 2))
    return ClauseRecord(
        id=next(name for name in names if name not in taken),
        heading=clause.heading,
        first_line=clause.first_line,
        last_line=clause.last_line,
        text=clause.text,
        fingerprint=clause.fingerprint,
    )


def _name(clause: PolicyClause) -> str:
    place = slug(clause.heading[-1]) if clause.heading else ""
    words = slug(" ".join(clause.words.split()[:_ID_WORDS]))
    return f"{place}.{words}" if place else words


def _follow(record: ClauseRecord, clause: PolicyClause, *, returned: bool) -> tuple[ClauseRecord, ClauseChange | None]:
    """Return a record at the place and with the text of a clause, and what happened to it; None if nothing did."""
    followed = attrs.evolve(record, heading=clause.heading, first_line=clause.first_line, last_line=clause.last_line)
    if record.fingerprint != clause.fingerprint:
        again = f"the text changed; it was: {record.text}" if not record.look_again else record.look_again
        followed = attrs.evolve(followed, text=clause.text, fingerprint=clause.fingerprint, look_again=again)
        return followed, ClauseChange(clause=record.id, kind="changed", before=record.text)
    if returned:
        return followed, ClauseChange(clause=record.id, kind="returned")
    moved = followed != record
    return followed, ClauseChange(clause=record.id, kind="moved") if moved else None


def _marked(records: Iterable[ClauseRecord], changes: Iterable[ClauseChange]) -> Iterator[ClauseRecord]:
    """Yield the records, those marked for another look whose tests are about a clause that changed or is gone."""
    touched = {change.clause for change in changes if change.kind in ("changed", "gone")}
    for record in records:
        met = [other for test in record.tests.values() for other in test.meets if other in touched]
        if met and not record.look_again:
            yield attrs.evolve(record, look_again=f"{met[0]}, which a test of this clause is about, changed or is gone")
        else:
            yield record


def audit_progress(audit: PolicyAudit) -> AuditProgress:
    """Count how far an audit is."""
    results = {name: Counter(record.test(name).result for record in audit.clauses) for name in CLAUSE_TESTS}
    return AuditProgress(
        clauses=len(audit.clauses),
        done=sum(record.done for record in audit.clauses),
        look_again=sum(bool(record.look_again) for record in audit.clauses),
        results={name: {r: results[name][r] for r in ("pass", "fail", "not_looked_at")} for name in CLAUSE_TESTS},
    )


def loophole_candidates(audit: PolicyAudit) -> tuple[LoopholeCandidate, ...]:
    """Return the candidate loopholes: each failed test, those that name one entry together, in the policy's order."""
    failed: dict[str, list[tuple[ClauseRecord, str, ClauseTest]]] = {}
    for record in audit.clauses:
        for name in CLAUSE_TESTS:
            test = record.test(name)
            if test.result == "fail":
                failed.setdefault(test.entry or f"{record.id}:{name}", []).append((record, name, test))
    return tuple(_candidate(entry, parts) for entry, parts in failed.items())


def _candidate(entry: str, parts: Sequence[tuple[ClauseRecord, str, ClauseTest]]) -> LoopholeCandidate:
    clauses = [clause for record, _, test in parts for clause in (record.id, *test.meets)]
    named = [test.category for _, _, test in parts if test.category is not None]
    sides = {side.id: side for _, _, test in parts for side in test.sides}
    return LoopholeCandidate(
        id=entry,
        clauses=tuple(dict.fromkeys(clauses)),
        tests=tuple(dict.fromkeys(name for _, name, _ in parts)),
        questions=tuple(dict.fromkeys(test.question for _, _, test in parts if test.question)),
        category=named[0] if named else USUAL_CATEGORY[parts[0][1]],
        category_named=bool(named),
        sides=tuple(sides.values()),
    )
