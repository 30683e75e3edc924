"""The JSON document of `multigold rescore --json`: verdict by verdict, so that nothing a table rounds off is lost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TextIO

from multigold.model.verdict import Nearest, Rewards, Verdict
from multigold.readers import verdicts as verdict_files
from multigold.rescoring import FileReport, Options, Rescoring, provenance
from multigold.state.canonical import Json
from multigold.stats.aggregation import WITHOUT_WORK, Report

if TYPE_CHECKING:
    from multigold.rescoring.checking import RecordedCheck

SCHEMA = verdict_files.SCHEMA
"""Name and version of the document's form; the schema itself ships as `schemas/rescore.schema.json`."""


def document(rescoring: Rescoring, report: Report) -> dict[str, Json]:
    """Return the whole of a rescoring as plain data that validates against `document_schema("rescore")`."""
    return {
        "schema": SCHEMA,
        "provenance": provenance(rescoring.options, rescoring.files),
        "files": [file.to_json() for file in rescoring.files],
        "verdicts": [verdict_json(verdict) for verdict in rescoring.verdicts],
        "report": report.to_json(),
    }


class DocumentWriter:
    """Writes the document verdict by verdict, so that a long one is never held; members stand in another order.

    Args:
        stream: Where to write.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._verdicts = 0
        stream.write(f'{{"schema": {json.dumps(SCHEMA)},\n"verdicts": [')

    def add(self, verdict: Verdict) -> None:
        """Write one verdict."""
        self._stream.write(",\n" if self._verdicts else "\n")
        self._stream.write(json.dumps(verdict_json(verdict), ensure_ascii=True, allow_nan=False))
        self._verdicts += 1

    def close(self, options: Options, files: tuple[FileReport, ...], report: Report) -> None:
        """Write what is known only at the end."""
        rest = {
            "provenance": provenance(options, files),
            "files": [file.to_json() for file in files],
            "report": report.to_json(),
        }
        for name, value in rest.items():
            lead = "\n],\n" if name == "provenance" else ",\n"
            self._stream.write(f"{lead}{json.dumps(name)}: {json.dumps(value, ensure_ascii=True, allow_nan=False)}")
        self._stream.write("}\n")


def verdict_json(verdict: Verdict) -> dict[str, Json]:
    """Return a verdict as plain data."""
    return {
        "file": verdict.file,
        "domain": verdict.domain,
        "agent": verdict.agent,
        "task_id": verdict.task_id,
        "trial": verdict.trial,
        "run_id": verdict.run_id,
        "outcome": verdict.outcome,
        "matched": list(verdict.matched),
        "matches": [match.to_json() for match in verdict.matches],
        "benchmark_matched": verdict.benchmark_matched,
        "benchmark_faults": list(verdict.benchmark_faults),
        "repaired_matched": verdict.repaired_matched,
        "benchmark_readings": list(verdict.benchmark_readings),
        "recorded": _recorded(verdict),
        "rewards": rewards_json(verdict.rewards),
        "bounds": list(verdict.bounds) if verdict.bounds else None,
        "nearest": _nearest(verdict.nearest),
        "reason": None
        if verdict.reason is None
        else {"code": verdict.reason.code, "sentence": verdict.reason.sentence},
        "stratum": verdict.stratum,
        "loopholes": list(verdict.loopholes),
        "positions": {loophole: list(sides) for loophole, sides in verdict.positions.items()},
        "termination": verdict.termination,
        "fidelity": _fidelity(verdict),
        "ignored": list(verdict.ignored),
        "end_state": verdict.end_state,
        "other_scorer": dict(verdict.other_scorer),
        "baselines": {name: rewards_json(getattr(verdict, name)) for name in WITHOUT_WORK},
    }


def rewards_json(rewards: Rewards) -> dict[str, Json]:
    """Return reward columns as plain data."""
    columns = ("single", "core", "core_or_single", "with_contested", "core_strict")
    return {column: getattr(rewards, column) for column in columns}


def _recorded(verdict: Verdict) -> dict[str, Json]:
    recorded = verdict.recorded
    return {
        "reward": recorded.reward,
        "db_match": recorded.db_match,
        "breakdown": dict(recorded.breakdown),
        "reward_basis": None if recorded.reward_basis is None else list(recorded.reward_basis),
    }


def _nearest(nearest: Nearest | None) -> Json:
    if nearest is None:
        return None
    delta = None if nearest.delta is None else nearest.delta.to_json()
    return {"reading": nearest.reading, "delta": delta, "faults": list(nearest.faults)}


def _fidelity(verdict: Verdict) -> dict[str, Json]:
    fidelity = verdict.fidelity
    names = ("calls", "replayed", "refused", "unknown", "skipped", "differing", "first_difference", "drift")
    return {name: getattr(fidelity, name) for name in names}


def check_json(checks: Iterable[RecordedCheck]) -> dict[str, Json]:
    """Return what `--check-recorded` found as plain data."""
    names = ("name", "runs", "recorded", "agree", "spelling", "no_gold", "problem", "left_out")
    return {
        "schema": "multigold/check/1",
        "files": [
            {
                **{name: getattr(check, name) for name in names},
                "differ": list(check.differ),
                "unscored": dict(check.unscored),
            }
            for check in checks
        ],
    }


def dumps(value: Json) -> Iterator[str]:
    """Yield the pieces of a document as indented ASCII JSON, so that a large one is never one string."""
    yield from json.JSONEncoder(indent=1, ensure_ascii=True, allow_nan=False).iterencode(value)
    yield "\n"
