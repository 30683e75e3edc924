"""`multigold audit traces`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from multigold.audit.runs.judged import AuditedRun, LeftOut, audited_runs
from multigold.audit.runs.trace_records import read_trace_audit, trace_document, write_trace_audit
from multigold.audit.runs.traces import TraceAudit, audit_traces
from multigold.cli._common import (
    JSON,
    RESULTS,
    left_out_lines,
    make_options,
    print_all,
    progress_bar,
    scoring_options,
    several,
    stop_where_broken,
    write_json,
)
from multigold.errors import CallError
from multigold.rescoring import FileReport


@click.command(name="traces")
@RESULTS
@click.option("--task", "tasks", multiple=True, metavar="ID", help="Only this task. May be given several times.")
@click.option("--records", type=click.Path(path_type=Path, dir_okay=False), help="File with the decisions so far.")
@click.option("--update", is_flag=True, help="Update --records, or start it.")
@click.option("--full", is_flag=True, help="Show each run with its calls and what the agent said.")
@JSON
@scoring_options
def command(
    results: tuple[Path, ...],
    tasks: tuple[str, ...],
    records: Path | None,
    update: bool,
    full: bool,
    json_path: Path | None,
    **scoring: Any,
) -> None:
    """Make a record of each run in RESULTS that the single gold fails: evidence, and questions for a person.

    Exit status 1 if there are any. Of several files, one that cannot be read is named, the others are audited, and
    the exit status is 2.
    """
    if update and records is None:
        raise CallError("--update needs a file to write", remedy="Give it with --records.")
    if records is not None and not update and not records.exists():
        raise CallError("there is no such records file", where=str(records), remedy="--update starts it.")
    earlier = read_trace_audit(records) if records is not None and (records.exists() or not update) else None
    files: list[FileReport] = []
    with progress_bar() as progress:
        report = files.append if several(results) else None
        runs = audited_runs(*results, options=make_options(scoring), progress=progress, on_report=report)
        audit = audit_traces(_of_tasks(runs, tasks), earlier=earlier)
    unread = left_out_lines(files, shown=json_path != Path("-"))
    if update and records is not None:
        write_trace_audit(audit, records)
    if json_path is not None:
        write_json(trace_document(audit), json_path)
    if json_path != Path("-"):
        _print(audit, unread, full=full)
    stop_where_broken(files)
    if audit.records:
        click.get_current_context().exit(1)


def _of_tasks(runs: Iterator[AuditedRun | LeftOut], tasks: tuple[str, ...]) -> Iterator[AuditedRun | LeftOut]:
    for run in runs:
        if not tasks or (run.task_id if isinstance(run, LeftOut) else run.task.id) in tasks:
            yield run


def _print(audit: TraceAudit, unread: list[str], *, full: bool) -> None:
    from multigold.rendering.runs_audit import record_lines, trace_tables

    lines = [*unread, *trace_tables(audit)]
    if full:
        lines += [line for record in audit.records for line in record_lines(record)]
    print_all(lines)
