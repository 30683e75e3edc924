"""Stage 2: runs that the benchmark's own gold fails, one record each, for a person to judge (the paper, appendix A).

A run's task is affected by a loophole where three criteria hold and no exclusion does:

    relied_on_clause           the agent relied on a clause that can be named
    clause_open                that clause is ambiguous or silent here
    defensible                 a competent human agent could decide so

    annotation_conflict        the gold is admissible under no reading
    simulator_deviation        the simulated user left its instructions
    procedural_error           the agent made an error that has nothing to do with the clause

What a machine can see is put next to the questions: the readings that the end state is in, else the states that other
runs reached too, the calls, what changed, what differs from the gold, and what the agent said that sounds like a
reason. The answers are a person's, are kept when the audit is run again, and are never guessed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

import attrs

from multigold.audit.runs.clusters import Cluster, by_run, cluster_runs, run_key, text_name
from multigold.audit.runs.judged import AuditedRun, LeftOut
from multigold.model.task import ToolCall
from multigold.model.verdict import Match
from multigold.scoring.judging import simulator_stopped
from multigold.scoring.rewards import reward_basis
from multigold.state.canonical import Json
from multigold.state.delta import Delta
from multigold.stats.rows import natural

CRITERIA: Mapping[str, str] = {
    "relied_on_clause": "Did the agent rely on a clause that you can name?",
    "clause_open": "Is that clause ambiguous, or silent, in this case?",
    "defensible": "Could a competent human agent decide so?",
}
"""The three criteria, all of which must hold."""

EXCLUSIONS: Mapping[str, str] = {
    "annotation_conflict": "Is the gold inadmissible under every reading?",
    "simulator_deviation": "Did the simulated user leave its instructions, and did that cause it?",
    "procedural_error": "Did the agent make an error that has nothing to do with the clause?",
}
"""The exclusions, any of which is enough."""

Classification: TypeAlias = Literal["open", "loophole_affected", "excluded", "not_affected"]

MOST_STATEMENTS = 4
"""Most statements of the agent that are kept of a run."""

LONGEST_STATEMENT = 900
"""Longest statement, in characters; what is over is cut."""

_REASONS = re.compile(
    r"\b(?:polic(?:y|ies)|rules?|cannot|can't|can not|unable|not able|only if|unless|eligib\w+|ineligible|because|"
    r"allow(?:ed|s)?|permit(?:ted|s)?|prohibit\w*|unfortunately|require[ds]?|requirement|qualif\w+|not possible|"
    r"restrict\w*|therefore|however|according to|since)\b",
    re.IGNORECASE,
)


@attrs.frozen(kw_only=True)
class Answer:
    """A person's answer to one criterion or exclusion.

    Attributes:
        holds: Whether it holds; None until a person has said.
        note: Why; for `relied_on_clause`, which clause.
    """

    holds: bool | None = None
    note: str = ""


@attrs.frozen(kw_only=True)
class Statement:
    """Something that the agent said which sounds like a reason.

    Attributes:
        message: Index of the message.
        text: What it said, cut where it is long.
    """

    message: int
    text: str


@attrs.frozen(kw_only=True)
class Remark:
    """What a machine can see that bears on an exclusion, without answering it.

    Attributes:
        about: The exclusion.
        sentence: What was seen.
    """

    about: str
    sentence: str


@attrs.frozen(kw_only=True)
class TraceRecord:
    """A run that the single gold fails, with the evidence and what a person made of it.

    Attributes:
        file: The file that it is from.
        run_id: The file's own id of it.
        agent: Its agent.
        domain: The environment.
        task_id: Its task.
        text: What the catalogue calls the task's text.
        trial: Which trial.
        termination: How it ended, in the file's word; empty if that is not recorded.
        ended: Whether that is a normal end, or nothing is known of it.
        matches: Readings that it matches, whatever their standing.
        cluster: Id of the end state that it shares with other runs.
        shared_by: How many runs reached that state.
        calls: Its calls, each with whether it succeeded; None if that was not recorded.
        changes: What changed from the initial state.
        from_gold: What differs from the benchmark's gold.
        statements: What the agent said that sounds like a reason, found by words alone.
        remarks: What a machine can see that bears on an exclusion; no answer to it.
        answers: Criterion or exclusion to a person's answer.
        by: Who answered.
        note: Anything else.
        raw: The record as a file holds it, if the run itself was not looked at.
    """

    file: str
    run_id: str
    agent: str
    domain: str
    task_id: str
    text: str
    trial: int
    termination: str = ""
    ended: bool = True
    matches: tuple[Match, ...] = ()
    cluster: str = ""
    shared_by: int = 1
    calls: tuple[tuple[ToolCall, bool | None], ...] = ()
    changes: Delta = attrs.field(factory=lambda: Delta({}))
    from_gold: Delta = attrs.field(factory=lambda: Delta({}))
    statements: tuple[Statement, ...] = ()
    remarks: tuple[Remark, ...] = ()
    answers: Mapping[str, Answer] = attrs.field(factory=dict)
    by: str = ""
    note: str = ""
    raw: Json = None

    @property
    def key(self) -> tuple[str, ...]:
        """What names the run wherever its file lies."""
        return self.domain, self.task_id, self.agent, str(self.trial), self.run_id or f"in {self.file}"

    def answer(self, name: str) -> Answer:
        """Return the answer to a criterion or exclusion."""
        return self.answers.get(name, _UNANSWERED)

    @property
    def classification(self) -> Classification:
        """What follows from the answers: an exclusion that holds decides, then a criterion that fails."""
        if any(self.answer(name).holds for name in EXCLUSIONS):
            return "excluded"
        if any(self.answer(name).holds is False for name in CRITERIA):
            return "not_affected"
        answered = all(self.answer(name).holds is not None for name in (*CRITERIA, *EXCLUSIONS))
        return "loophole_affected" if answered else "open"


_UNANSWERED = Answer()


@attrs.frozen(kw_only=True, eq=False)
class TraceAudit:
    """The records of the runs that the single gold fails.

    Attributes:
        records: By task, agent and trial.
        runs: Runs that were looked at.
        passed: Runs among them whose database the single gold accepts.
        no_gold: Runs among them whose task states no gold.
        other_basis: Failing runs of tasks whose reward does not depend on the database (tau2's telecom), so that the
            benchmark itself may have passed them.
        left_out: Reason code to number of runs that could not be followed.
        kept: Records of earlier audits whose runs are not among these; they are kept as they were.
        note: Anything else.
    """

    records: tuple[TraceRecord, ...]
    runs: int = 0
    passed: int = 0
    no_gold: int = 0
    other_basis: int = 0
    left_out: Mapping[str, int] = attrs.field(factory=dict)
    kept: tuple[TraceRecord, ...] = ()
    note: str = ""


@attrs.frozen(kw_only=True)
class TaskSummary:
    """The failing runs of one task text, counted.

    Attributes:
        domain: The environment.
        task_id: The task.
        text: Its text.
        runs: Failing runs.
        agents: Different agents among them.
        readings: Reading, with its standing, to number of runs that match it.
        clusters: End states that match no reading, to number of runs.
        ended_early: Runs that did not come to a normal end.
        classes: Classification to number of runs.
    """

    domain: str
    task_id: str
    text: str
    runs: int
    agents: int
    readings: Mapping[str, int]
    clusters: Mapping[str, int]
    ended_early: int
    classes: Mapping[str, int]

    @property
    def affected(self) -> bool:
        """Whether a person found a run of it affected by a loophole, which makes the task affected."""
        return self.classes.get("loophole_affected", 0) > 0

    def to_json(self) -> dict[str, Json]:
        """Return the summary as plain data."""
        maps = {name: dict(getattr(self, name)) for name in ("readings", "clusters", "classes")}
        return {**attrs.asdict(self, recurse=False), **maps, "affected": self.affected}


def audit_traces(runs: Iterable[AuditedRun | LeftOut], *, earlier: TraceAudit | None = None) -> TraceAudit:
    """Make a record of each run that the single gold fails.

    Args:
        runs: The runs, those that pass too: their end states tell which ones are shared.
        earlier: An earlier audit; the answers to its records are taken over, and records of other runs are kept.
    """
    failing: list[AuditedRun] = []
    verdicts: Counter[bool | None] = Counter()
    left_out: Counter[str] = Counter()

    def followed() -> Iterator[AuditedRun]:
        for run in runs:
            if isinstance(run, LeftOut):
                left_out[run.reason.code] += 1
                continue
            verdicts[run.verdict.benchmark_matched] += 1
            failing.extend([run] if run.fails_gold else [])
            yield run

    places = by_run(cluster_runs(followed()))
    known = {record.key: record for record in earlier.records + earlier.kept} if earlier else {}
    records = {record.key: record for record in (_record(run, places, known) for run in failing)}
    return TraceAudit(
        records=tuple(sorted(records.values(), key=_order)),
        runs=verdicts.total(),
        passed=verdicts[True],
        no_gold=verdicts[None],
        other_basis=sum("DB" not in reward_basis(run.task.criteria, run.trajectory) for run in failing),
        left_out=dict(sorted(left_out.items())),
        kept=tuple(record for key, record in known.items() if key not in records),
        note=earlier.note if earlier else "",
    )


def _order(record: TraceRecord) -> tuple[object, ...]:
    return record.domain, natural(record.task_id), record.text, record.agent, record.trial, record.run_id


def _record(
    run: AuditedRun, places: Mapping[tuple[str, ...], Cluster], known: Mapping[tuple[str, ...], TraceRecord]
) -> TraceRecord:
    trajectory = run.trajectory
    cluster = places[run_key(run.task, run.agent, run.file, trajectory.trial, trajectory.run_id)]
    record = TraceRecord(
        file=run.file,
        run_id=trajectory.run_id,
        agent=run.agent,
        domain=run.task.domain,
        task_id=run.task.id,
        text=text_name(run),
        trial=trajectory.trial,
        termination=trajectory.termination or "",
        ended=run.ended,
        matches=run.verdict.matches,
        cluster=cluster.id,
        shared_by=len(cluster.supporters),
        calls=run.replayed.calls or (),
        changes=run.prepared.changes,
        from_gold=run.from_gold or Delta({}),
        statements=tuple(statements(run)),
        remarks=tuple(_remarks(run)),
    )
    before = known.get(record.key)
    return record if before is None else attrs.evolve(record, answers=before.answers, by=before.by, note=before.note)


def statements(run: AuditedRun) -> Iterator[Statement]:
    """Yield what the agent said that sounds like a reason, in order: messages with several words of reasoning."""
    said = [(i, m.text) for i, m in enumerate(run.trajectory.messages) if m.role == "assistant" and m.text.strip()]
    weighed = [(len(set(map(str.lower, _REASONS.findall(text)))), index, text) for index, text in said]
    best = sorted((w for w in weighed if w[0] >= 2), key=lambda w: (-w[0], w[1]))[:MOST_STATEMENTS]
    for _, index, text in sorted(best, key=lambda w: w[1]):
        cut = text if len(text) <= LONGEST_STATEMENT else f"{text[:LONGEST_STATEMENT]}..."
        yield Statement(message=index, text=cut)


def _remarks(run: AuditedRun) -> Iterator[Remark]:
    """Yield what a machine can see that bears on an exclusion."""
    for about, found in (
        ("annotation_conflict", _gold_faults(run)),
        ("simulator_deviation", _simulator_faults(run)),
        ("procedural_error", _run_faults(run)),
    ):
        yield from (Remark(about=about, sentence=sentence) for sentence in found)


def _gold_faults(run: AuditedRun) -> Iterator[str]:
    if run.verdict.stratum == "conflict":
        yield "the gold is in no reading of the gold set"
    yield from (f"the gold itself is marked {fault}" for fault in run.verdict.benchmark_faults)


def _simulator_faults(run: AuditedRun) -> Iterator[str]:
    if simulator_stopped(run.trajectory):
        yield "the simulated user stopped because the conversation had left its instructions"


def _run_faults(run: AuditedRun) -> Iterator[str]:
    if not run.ended:
        yield f"the run ended by {run.trajectory.termination}"
    calls = run.replayed.calls or ()
    refused = sum(not succeeded for _, succeeded in calls)
    if refused:
        yield f"{refused} of its {len(calls)} calls were refused"
    yield from run.invariant_faults()


def summarise_traces(audit: TraceAudit) -> tuple[TaskSummary, ...]:
    """Count the records by task text."""
    groups: dict[tuple[str, str, str], list[TraceRecord]] = {}
    for record in audit.records:
        groups.setdefault((record.domain, record.task_id, record.text), []).append(record)
    return tuple(_summary(key, records) for key, records in groups.items())


def _summary(key: tuple[str, str, str], records: Sequence[TraceRecord]) -> TaskSummary:
    readings = Counter(f"{match.reading} ({standing_of(match)})" for record in records for match in record.matches)
    early = [record for record in records if not record.ended]
    return TaskSummary(
        domain=key[0],
        task_id=key[1],
        text=key[2],
        runs=len(records),
        agents=len({record.agent for record in records}),
        readings=dict(readings.most_common()),
        clusters=dict(Counter(r.cluster for r in records if not r.matches and r.ended).most_common()),
        ended_early=len(early),
        classes=dict(Counter(record.classification for record in records).most_common()),
    )


def standing_of(match: Match) -> str:
    """Return a match's standing, or `vacuous` if it is worth nothing."""
    return "vacuous" if match.vacuous else match.standing
