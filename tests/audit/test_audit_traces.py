"""Stage 2: runs that the single gold fails, with evidence beside the questions and answers that only people give."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import audit_boxes as boxes
import jsonschema
import pytest
from audit_boxes import FILL, LOOK, call, run
from click.testing import CliRunner

import multigold
from multigold.audit.runs.judged import LeftOut
from multigold.audit.runs.trace_records import read_trace_audit, trace_audit_json, trace_document, write_trace_audit
from multigold.audit.runs.traces import (
    CRITERIA,
    EXCLUSIONS,
    LONGEST_STATEMENT,
    MOST_STATEMENTS,
    Answer,
    TraceAudit,
    TraceRecord,
    audit_traces,
    summarise_traces,
)
from multigold.cli._group import multigold as cli
from multigold.errors import CallError, DataError
from multigold.files.schemas import document_schema
from multigold.model.verdict import Reason

FILL_B = call("fill", box="b", amount=1)
TASK = boxes.task(FILL)
GOLDS = boxes.gold_set(TASK, boxes.reading("gold", FILL), boxes.reading("other", FILL_B))


def failing(*said: str, agent: str = "one", **more: object) -> TraceRecord:
    one = run(LOOK, FILL_B, of=TASK, golds=GOLDS, agent=agent, said=said, **more)  # type: ignore[arg-type]
    (record,) = audit_traces([one]).records
    return record


def test_runs_that_the_single_gold_accepts_have_no_record() -> None:
    lost = LeftOut(file="f", task_id="1", trial=0, reason=Reason(code="no_calls", sentence="x"))
    audit = audit_traces([run(FILL), run(FILL_B, agent="two"), lost])
    assert [record.agent for record in audit.records] == ["two"]
    assert (audit.runs, audit.passed, audit.left_out) == (2, 1, {"no_calls": 1})


def test_failing_runs_of_tasks_that_are_not_scored_by_the_database_are_counted() -> None:
    criteria = multigold.Criteria(actions=(FILL,), reward_basis=("ENV_ASSERTION",))
    task = attrs.evolve(TASK, criteria=criteria)
    audit = audit_traces([run(FILL_B, of=task), run(FILL_B, agent="two")])
    assert (len(audit.records), audit.other_basis) == (2, 1)


def test_a_record_holds_readings_calls_changes_and_what_differs_from_the_gold() -> None:
    record = failing()
    assert [match.reading for match in record.matches] == ["other"]
    assert [(one.name, succeeded) for one, succeeded in record.calls] == [("look", True), ("fill", True)]
    assert list(record.changes) == ["/agent/boxes/b/amount"]
    assert list(record.from_gold) == ["/agent/boxes/a/amount", "/agent/boxes/b/amount"]
    assert record.classification == "open"


def test_end_states_in_no_reading_are_shared_across_runs() -> None:
    much = call("fill", box="b", amount=5)
    audit = audit_traces([run(much, agent=agent) for agent in ("one", "two")])
    assert {record.shared_by for record in audit.records} == {2}
    (summary,) = summarise_traces(audit)
    assert list(summary.clusters.values()) == [2]
    assert (summary.runs, summary.agents, dict(summary.readings)) == (2, 2, {})


def test_messages_that_sound_like_reasons_are_kept_in_order_and_cut() -> None:
    reason = "Unfortunately the policy does not allow it. "
    said = ("Hello!", *[f"{number}: {reason}" for number in range(6)], reason * 100)
    record = failing(*said)
    assert len(record.statements) == MOST_STATEMENTS
    assert [s.message for s in record.statements] == sorted(s.message for s in record.statements)
    assert all("policy" in s.text and len(s.text) <= LONGEST_STATEMENT + 3 for s in record.statements)


def test_what_the_user_says_is_no_statement_of_the_agent() -> None:
    assert failing("Hello!").statements == ()


def about(record: TraceRecord) -> set[str]:
    return {remark.about for remark in record.remarks}


def test_what_a_machine_sees_is_a_remark_and_no_answer() -> None:
    early = failing(termination="max_steps")
    assert about(early) == {"procedural_error"}
    assert early.answers == {}
    conflict = boxes.gold_set(TASK, boxes.reading("other", FILL_B))
    (record,) = audit_traces([run(LOOK, of=TASK, golds=conflict)]).records
    assert about(record) == {"annotation_conflict"}
    (record,) = audit_traces([run(call("fill", box="b", amount=-1))]).records
    assert [remark.sentence for remark in record.remarks] == ["1 of its 1 calls were refused"]
    (record,) = audit_traces([run(call("fill", box="b", amount=50))]).records
    assert "more than nine" in record.remarks[0].sentence


def test_an_invariant_that_fails_on_an_odd_state_stops_nothing() -> None:
    (record,) = audit_traces([run(call("fill", box="b", amount="many"))]).records
    assert "cannot be checked (TypeError" in record.remarks[-1].sentence


def answered(record: TraceRecord, **holds: bool | None) -> TraceRecord:
    given = {**dict.fromkeys(CRITERIA, True), **dict.fromkeys(EXCLUSIONS, False), **holds}
    return attrs.evolve(record, answers={name: Answer(holds=value) for name, value in given.items()})


@pytest.mark.parametrize(
    ("holds", "expected"),
    [
        ({}, "loophole_affected"),
        ({"clause_open": False}, "not_affected"),
        ({"procedural_error": True}, "excluded"),
        ({"procedural_error": True, "clause_open": False}, "excluded"),
        ({"defensible": None}, "open"),
        ({"simulator_deviation": None}, "open"),
    ],
)
def test_the_classification_follows_from_the_answers(holds: dict[str, bool | None], expected: str) -> None:
    assert answered(failing(), **holds).classification == expected


def test_a_task_is_affected_when_one_of_its_runs_is() -> None:
    records = (failing(agent="two"), answered(failing()))
    (summary,) = summarise_traces(TraceAudit(records=records))
    assert summary.affected
    assert dict(summary.classes) == {"open": 1, "loophole_affected": 1}


# The file


def test_answers_survive_another_audit_and_evidence_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    record = attrs.evolve(answered(failing()), by="somebody", note="see line 9")
    write_trace_audit(TraceAudit(records=(record,), note="first round"), path)
    runs = [run(LOOK, FILL_B, of=TASK, golds=GOLDS, file="moved.json"), run(FILL_B, agent="two")]
    again = audit_traces(runs, earlier=read_trace_audit(path))
    kept = next(r for r in again.records if r.agent == "one")
    assert (kept.classification, kept.by, kept.note) == ("loophole_affected", "somebody", "see line 9")
    assert (kept.file, again.note) == ("moved.json", "first round")
    assert next(r for r in again.records if r.agent == "two").classification == "open"


def test_records_of_runs_that_are_not_at_hand_are_kept_word_for_word(tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    write_trace_audit(TraceAudit(records=(answered(failing()),)), path)
    before = json.loads(path.read_text())["runs"][0]
    audit = audit_traces([run(FILL_B, agent="two")], earlier=read_trace_audit(path))
    assert len(audit.kept) == 1
    write_trace_audit(audit, path)
    assert json.loads(path.read_text())["runs"][1] == before


def test_a_run_without_an_id_is_named_by_its_file() -> None:
    runs = [run(FILL_B, run_id="", file=file) for file in ("f", "g")]
    assert len(audit_traces(runs).records) == 2
    assert len(audit_traces([runs[0], runs[0]]).records) == 1


def test_what_is_written_fits_the_schema_and_reads_again(tmp_path: Path) -> None:
    audit = TraceAudit(records=(answered(failing("Our policy does not allow it, unfortunately.")),))
    jsonschema.validate(trace_audit_json(audit), document_schema("trace-audit"))
    write_trace_audit(audit, tmp_path / "r.json")
    assert read_trace_audit(tmp_path / "r.json").records[0].answers == audit.records[0].answers
    assert trace_document(audit)["tasks"][0]["affected"] is True


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ({"answers": {"smell": {"holds": True}}}, "no question"),
        ({"answers": {"defensible": {"holds": "yes"}}}, "true or false"),
        ({"colour": "red"}, "no member 'colour'"),
        ({"run": {"run_id": "x"}}, "missing"),
    ],
)
def test_reader_and_schema_refuse_the_same_damage(tmp_path: Path, damage: dict[str, object], words: str) -> None:
    document = json.loads(json.dumps(trace_audit_json(TraceAudit(records=(failing(),)))))
    document["runs"][0].update(damage)
    (tmp_path / "r.json").write_text(json.dumps(document))
    with pytest.raises(CallError, match=words):
        read_trace_audit(tmp_path / "r.json")
    assert not jsonschema.Draft202012Validator(document_schema("trace-audit")).is_valid(document)


# The command


def test_the_command_begins_records_and_brings_them_up_to_date(shared: Path, tmp_path: Path) -> None:
    file, records = str(shared / "data/results/tau2/airline_grok-3_4trials.json"), tmp_path / "records.json"
    arguments = ["audit", "traces", file, "--task", "32", "--records", str(records), "--update", "--full"]
    done = CliRunner().invoke(cli, arguments)
    if isinstance(done.exception, DataError):
        pytest.skip(f"tau2's data is not here: {done.exception}")
    assert done.exit_code == 1, done.output
    assert "refuse (core)" in done.output
    assert "said [" in done.output
    document = json.loads(records.read_text())
    jsonschema.validate(document, document_schema("trace-audit"))
    document["runs"][0]["answers"]["procedural_error"] = {"holds": True, "note": "no"}
    records.write_text(json.dumps(document))
    done = CliRunner().invoke(cli, arguments)
    assert "1 excluded" in done.output
    assert json.loads(records.read_text())["runs"][0]["classification"] == "excluded"


def test_update_without_a_file_is_refused() -> None:
    done = CliRunner().invoke(cli, ["audit", "traces", "none.json", "--update"])
    assert isinstance(done.exception, CallError)
