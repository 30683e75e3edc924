"""EVA records: a directory each, with the database before and after the talk.

    <record id>/result.json                  what was run, and the hashes of the two databases
                initial_scenario_db.json, final_scenario_db.json
                audit_log.json               the messages, with calls and results
    *.jsonl                                  the data set, where it lies beside them: the expected databases

The end state is stored, so nothing is replayed. The `session` of a database is who is logged in and no part of the
verdict on the state: it is taken out and kept beside, because EVA holds it against the expected one by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs
import msgspec

from multigold.errors import MultigoldError, ResultsError
from multigold.files.reading import sha256
from multigold.model.gold import GoldSet
from multigold.model.message_shapes import RawMessage
from multigold.model.task import Task
from multigold.model.trajectory import Trajectory
from multigold.model.transcript import Transcript, parse_messages
from multigold.model.verdict import Reason
from multigold.readers.base import ReadOptions, ResultsFile, Run, Runs, stem
from multigold.readers.decoding import Document, decoded, read_document
from multigold.readers.folder import Folder
from multigold.readers.simulation import word
from multigold.readers.tasks import id_text
from multigold.state.canonical import Json, digest
from multigold.state.database import Database, EndState

_FINAL: Final = "final_scenario_db.json"
_INITIAL: Final = "initial_scenario_db.json"
_SESSION: Final = "session"
_EXPECTED: Final = "expected"
_MESSAGES: Final = "conversation_messages"
_DEPTH: Final = 2
_KEPT: Final = ("initial_scenario_db_hash", "final_scenario_db_hash", "conversation_ended_reason", "completed", "error")


class _AuditLog(msgspec.Struct):
    conversation_messages: list[RawMessage] | None = None


class _Truth(msgspec.Struct):
    expected_scenario_db: dict[str, Any] | None = None


class _Row(msgspec.Struct):
    id: Any = None
    ground_truth: _Truth | None = None
    user_goal: Any = None


@attrs.frozen(kw_only=True, eq=False)
class Expected:
    """What an EVA data set expects of each record.

    Attributes:
        gold_sets: Record id to a gold set of one reading, the expected database.
        sessions: Record id to the expected session.
        goals: Record id to the user's goal.
    """

    gold_sets: Mapping[str, GoldSet] = attrs.field(factory=dict)
    sessions: Mapping[str, Json] = attrs.field(factory=dict)
    goals: Mapping[str, Json] = attrs.field(factory=dict)


def recognise(folder: Folder) -> bool:
    """Tell whether a folder is an EVA record, or holds some."""
    return any(True for _ in _records(folder))


def _records(folder: Folder) -> Iterator[Folder]:
    """Yield the records in a folder: itself, or what stands at most two levels below it."""
    for record in folder.below("result.json"):
        depth = record.name[len(folder.name) :].count("/")
        if depth <= _DEPTH and (record.has(_FINAL) or record.has(_INITIAL)):
            yield record


def is_dataset(document: Document) -> bool:
    """Tell whether a document is an EVA data set, which holds tasks and no runs."""
    rows = _rows(document)
    first = decoded(rows[0], dict[str, msgspec.Raw]) if rows else None
    return first is not None and "ground_truth" in first and "user_goal" in first


def _rows(document: Document) -> Sequence[msgspec.Raw]:
    """Return the rows of a document of lines; one line by itself is an object."""
    return [document.load()] if document.members is not None else document.items or ()


def read_dataset(document: Document) -> Expected:
    """Read an EVA data set.

    Raises:
        ResultsError: If a row is not of the data set's form.
    """
    sets, sessions, goals = {}, {}, {}
    for index, item in enumerate(_rows(document)):
        row = decoded(item, _Row)
        if row is None or row.ground_truth is None or row.ground_truth.expected_scenario_db is None:
            raise ResultsError("the row has no expected database", where=f"{document.name}: row {index}")
        record_id = id_text(row.id)
        database, sessions[record_id] = _without_session(row.ground_truth.expected_scenario_db)
        sets[record_id] = GoldSet.from_databases({_EXPECTED: database}, benchmark=_EXPECTED)
        goals[record_id] = row.user_goal
    return Expected(gold_sets=sets, sessions=sessions, goals=goals)


def _without_session(data: dict[str, Json]) -> tuple[Database, Json]:
    """Return a database without its session, and the session."""
    rest = {name: table for name, table in data.items() if name != _SESSION}
    return Database.from_json(rest), data.get(_SESSION)


def read(folder: Folder, options: ReadOptions) -> Iterator[ResultsFile]:
    """Yield one results file of all the records of a folder."""
    records = list(_records(folder))
    expected, warnings = _expected(folder)
    agent = options.agent or _model(folder) or stem(folder.name)
    tasks = {task.id: task for task in (_task(record, expected) for record in records)}

    def produce() -> Iterator[Run]:
        for record in records:
            yield _read_run(record, agent, expected)

    yield ResultsFile(
        format="eva",
        name=folder.name,
        digest=digest({path: sha256(folder.load(path)) for path in folder.paths}),
        domain=options.domain or "eva-airline",
        agent=agent,
        tasks=tasks,
        gold_sets=expected.gold_sets,
        runs=Runs(count=len(records), produce=produce),
        warnings=warnings,
    )


def _expected(folder: Folder) -> tuple[Expected, tuple[str, ...]]:
    """Return the data set that lies in the folder, if one does."""
    for path in folder.paths:
        document = folder.document(path) if path.endswith(".jsonl") else None
        if document is not None and is_dataset(document):
            return read_dataset(document), ()
    return Expected(), ("the data set with the expected databases does not lie in the directory",)


def _model(folder: Folder) -> str:
    for path in folder.paths:
        if path.endswith("config.json"):
            config = folder.value(path, dict[str, Any]) or {}
            pipeline = config.get("pipeline")
            if isinstance(pipeline, dict):
                return word(pipeline.get("llm_model"))
    return ""


def _record_id(record: Folder, result: Mapping[str, Json]) -> str:
    return id_text(result.get("record_id")) or record.name.rsplit("/", 1)[-1]


def _task(record: Folder, expected: Expected) -> Task:
    record_id = _record_id(record, record.value("result.json", dict[str, Any]) or {})
    state = _state(record, _INITIAL)
    return Task(
        record_id,
        initial=state[0] if state else None,
        instructions=expected.goals.get(record_id),
        domain="eva-airline",
    )


def _state(record: Folder, path: str) -> tuple[EndState, Json] | None:
    """Return a stored state and its session; None if there is none."""
    data = record.value(path, dict[str, Any])
    if data is None:
        return None
    try:
        database, session = _without_session(data)
    except MultigoldError:
        return None
    return EndState(database), session


def _read_run(record: Folder, agent: str, expected: Expected) -> Run:
    result = record.value("result.json", dict[str, Any]) or {}
    record_id = _record_id(record, result)
    state = _state(record, _FINAL)
    transcript = _transcript(record)
    extra = {name: result[name] for name in _KEPT if isinstance(result.get(name), str | bool)}
    return Run(
        trajectory=Trajectory(
            # The end state is stored: calls are evidence only, and those that are not understood are not known.
            calls=transcript.calls if transcript and not transcript.problem else None,
            messages=transcript.messages if transcript else (),
            end_state=state[0] if state else None,
            run_id=record_id,
            task_id=record_id,
            agent=agent,
        ),
        task_id=record_id,
        problem=None if state else Reason(code="end_state_missing", sentence="the record holds no final database"),
        place=record.name,
        notes=_notes(transcript),
        extra={**extra, "session": state[1] if state else None, "expected_session": expected.sessions.get(record_id)},
    )


def _notes(transcript: Transcript | None) -> tuple[str, ...]:
    if transcript is None:
        return ()
    return (*transcript.notes, *([transcript.problem.sentence] if transcript.problem else []))


def _transcript(record: Folder) -> Transcript | None:
    log = record.value("audit_log.json", _AuditLog)
    messages: Sequence[RawMessage] | None = log.conversation_messages if log else None
    if messages is None:
        return None
    return parse_messages(messages, lambda: (record.value("audit_log.json", dict[str, Any]) or {}).get(_MESSAGES))


def parse_dataset(data: bytes, name: str) -> Expected:
    """Read an EVA data set from its file's bytes.

    Raises:
        ResultsError: If it is none.
    """
    document = read_document(data, name)
    if not is_dataset(document):
        raise ResultsError("it is no EVA data set", where=name)
    return read_dataset(document)
