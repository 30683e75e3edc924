"""The records of a trace audit as a JSON file: evidence that is regenerated, answers that are a person's.

Only `answers`, `by` and `note` are read back; the rest of a record is evidence, made again from the runs, or kept
word for word if the runs are not at hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from multigold.audit.runs.traces import (
    CRITERIA,
    EXCLUSIONS,
    Answer,
    TraceAudit,
    TraceRecord,
    summarise_traces,
)
from multigold.files.cursor import Cursor
from multigold.files.records import open_records, refuse_faults, write_records
from multigold.state.canonical import Json

SCHEMA: Final = "multigold/trace-audit/1"
"""Name and version of the form; its JSON Schema ships as `schemas/trace-audit.schema.json`."""

_QUESTIONS = {**CRITERIA, **EXCLUSIONS}


# Writing


def trace_audit_json(audit: TraceAudit) -> dict[str, Json]:
    """Return the records as plain data, those of earlier audits at the end."""
    return {
        "schema": SCHEMA,
        "criteria": dict(CRITERIA),
        "exclusions": dict(EXCLUSIONS),
        "runs": [trace_record_json(record) for record in (*audit.records, *audit.kept)],
        "note": audit.note,
    }


def trace_record_json(record: TraceRecord) -> dict[str, Json]:
    """Return one record as plain data."""
    if record.raw is not None:
        return dict(record.raw)
    names = ("file", "run_id", "agent", "domain", "task_id", "text", "trial", "termination", "ended")
    return {
        "run": {name: getattr(record, name) for name in names},
        "matches": [match.to_json() for match in record.matches],
        "end_state": {"cluster": record.cluster, "shared_by": record.shared_by},
        "evidence": {
            "calls": [{**call.to_json(), "succeeded": succeeded} for call, succeeded in record.calls],
            "changes": record.changes.to_json(),
            "from_gold": record.from_gold.to_json(),
            "statements": [{"message": s.message, "text": s.text} for s in record.statements],
            "remarks": [{"about": remark.about, "sentence": remark.sentence} for remark in record.remarks],
        },
        "answers": {name: _answer_json(record.answer(name)) for name in _QUESTIONS},
        "by": record.by,
        "note": record.note,
        "classification": record.classification,
    }


def _answer_json(answer: Answer) -> dict[str, Json]:
    return {"holds": answer.holds, "note": answer.note}


def write_trace_audit(audit: TraceAudit, path: Path) -> None:
    """Write the records to a file.

    Raises:
        MultigoldError: If it cannot be written.
    """
    write_records(trace_audit_json(audit), path)


# Reading


def read_trace_audit(path: Path) -> TraceAudit:
    """Read the answers from a file of records; the evidence is left where it is.

    Raises:
        CallError: If it cannot be read or has faults; all of them are named, each with its place.
    """
    top = open_records(path, SCHEMA)
    top.keys({"schema", "runs"}, {"$schema", "criteria", "exclusions", "note"})
    records = tuple(_record(item) for item in top.items("runs"))
    refuse_faults(top.found, path)
    return TraceAudit(records=records, note=top.text("note"))


def _record(at: Cursor) -> TraceRecord:
    at.keys({"run", "answers"}, {"matches", "end_state", "evidence", "by", "note", "classification"})
    run = at.at("run") if at.has("run") else Cursor({}, at.file, at.found, at.path)
    run.keys({"run_id", "agent", "domain", "task_id", "text", "trial"}, {"file", "termination", "ended"})
    return TraceRecord(
        file=run.text("file"),
        run_id=run.text("run_id"),
        agent=run.text("agent"),
        domain=run.text("domain"),
        task_id=run.text("task_id"),
        text=run.text("text"),
        trial=run.number("trial"),
        answers=dict(_answers(at)),
        by=at.text("by"),
        note=at.text("note"),
        raw=at.value,
    )


def _answers(at: Cursor) -> Iterator[tuple[str, Answer]]:
    for name, item in at.members("answers"):
        if name not in _QUESTIONS:
            item.fault("unknown-question", f"there is no question {name!r}; there are: {', '.join(_QUESTIONS)}")
            continue
        item.keys({"holds"}, {"note"})
        answered = item.has("holds") and item.value["holds"] is not None
        yield name, Answer(holds=item.flag("holds") if answered else None, note=item.text("note"))


# For programs


def trace_document(audit: TraceAudit) -> dict[str, Json]:
    """Return the records with their counts by task."""
    counts: Mapping[str, Json] = {
        "runs_followed": audit.runs,
        "passed": audit.passed,
        "no_gold": audit.no_gold,
        "other_basis": audit.other_basis,
        "left_out": dict(audit.left_out),
    }
    return {**trace_audit_json(audit), **counts, "tasks": [summary.to_json() for summary in summarise_traces(audit)]}
