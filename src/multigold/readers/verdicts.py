"""Our own verdict files (`multigold rescore --json`): read back, so that they can be counted again and merged.

    {"schema": "multigold/rescore/1", "provenance", "files", "verdicts": [...], "report"}

A verdict is handed on as the file has it (`Run.extra["verdict"]`): nothing is replayed, and what made it stands in
`ResultsFile.origin`. The old report is not looked at; counting is done anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from multigold.errors import ResultsError
from multigold.model.trajectory import Recorded, Trajectory
from multigold.model.verdict import Reason
from multigold.readers.base import ReadOptions, ResultsFile, Run, Runs
from multigold.readers.decoding import Document, decoded
from multigold.readers.simulation import number, word
from multigold.readers.tasks import id_text

FORMAT: Final = "multigold verdicts"
SCHEMA: Final = "multigold/rescore/1"
_FAMILY: Final = "multigold/rescore/"


def recognise(document: Document) -> bool:
    """Tell whether a document is a file of our own verdicts."""
    return document.has("schema", "verdicts") and (document.value("schema", str) or "").startswith(_FAMILY)


def read(document: Document, options: ReadOptions) -> ResultsFile:
    """Read a file of our own verdicts.

    Raises:
        ResultsError: If it is of a version that is not known, or its members are not what they should be.
    """
    version = document.value("schema", str)
    if version != SCHEMA:
        raise ResultsError(
            f"its verdicts are of the form {version}, and this version of multigold reads {SCHEMA}",
            where=document.name,
            remedy="Re-score the original file, or use the version that wrote this one.",
        )
    raw = document.array("verdicts")
    files = document.value("files", list[dict[str, Any]]) or []

    def produce() -> Iterator[Run]:
        for index, item in enumerate(raw):
            yield _read_run(item, f"verdicts[{index}]", options)

    return ResultsFile(
        format=FORMAT,
        name=document.name,
        digest=document.digest,
        runs=Runs(count=len(raw), produce=produce),
        warnings=document.warnings,
        origin={"files": files, "provenance": document.value("provenance", dict[str, Any]) or {}},
    )


def _read_run(raw: msgspec.Raw, place: str, options: ReadOptions) -> Run:
    verdict = decoded(raw, dict[str, Any])
    stated = verdict or {}
    task_id = id_text(stated.get("task_id"))
    recorded = stated.get("recorded")
    match = recorded.get("db_match") if isinstance(recorded, dict) else None
    return Run(
        trajectory=Trajectory(
            run_id=id_text(stated.get("run_id")),
            task_id=task_id,
            trial=number(stated.get("trial")),
            agent=options.agent or word(stated.get("agent")),
            recorded=Recorded(db_match=match if isinstance(match, bool) else None),
        ),
        task_id=task_id,
        problem=None if verdict else Reason(code="unreadable_run", sentence=f"{place} is no verdict"),
        place=place,
        extra={"verdict": verdict} if verdict else {},
    )
