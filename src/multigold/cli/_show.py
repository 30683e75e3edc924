"""`multigold show`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from multigold.cli._common import (
    make_options,
    output_width,
    scoring_options,
    several,
    stop_where_broken,
    strata_option,
)
from multigold.errors import CallError
from multigold.model.verdict import Verdict
from multigold.rendering.calls import call_heading, call_lines, call_notes
from multigold.rescoring import FileReport
from multigold.rescoring.run_calls import CallKind, RunWithCalls, runs_with_calls
from multigold.state.explain import printable


@click.command(name="show")
@click.argument("results", type=click.Path(path_type=Path))
@click.option("--task", "task_id", required=True, metavar="ID", help="The task's id.")
@click.option("--trial", type=int, help="Only this trial; by default all of them.")
@click.option("--calls", is_flag=True, help="Add the run's calls in order, each with its result.")
@click.option("--limit", type=click.IntRange(min=1), default=30, show_default=True, help="Lines per reading.")
@strata_option
@scoring_options
def command(
    results: Path, task_id: str, trial: int | None, calls: bool, limit: int, strata: str, **scoring: Any
) -> None:
    """Hold every reading against the runs of one task in RESULTS: matched, or the fields that differ.

    A field that differs is written as what the reading has -> what the run has. With --calls, a call that may change
    the database is marked *, and arguments are cut to the width of the terminal. Of a directory, a file that cannot be
    read is named when the others were looked through, and the exit status is 2.
    """
    options = make_options({**scoring, "strata": strata})
    files: list[FileReport] = []
    on_report = files.append if several([results]) else None
    runs = runs_with_calls(results, task_id=task_id, trial=trial, options=options, on_report=on_report)
    if not runs:
        stop_where_broken(files)
        trial_text = "" if trial is None else f" with trial {trial}"
        raise CallError(f"there is no run of task {task_id!r}{trial_text}", where=str(results))
    verdicts = tuple(run.verdict for run in runs)
    texts = (_text(run.verdict, limit) + (f"\n{_calls_text(run)}" if calls else "") for run in runs)
    marks = call_notes(call for run in runs for call in run.calls or () if calls)
    click.echo("\n\n".join([*texts, *_notes(verdicts), *([marks] if marks else [])]))
    if any(run.proposed for run in runs):
        click.echo("\nThe catalogue proposes readings for this task: --strata extended applies them.")
    stop_where_broken(files)


def _notes(verdicts: tuple[Verdict, ...]) -> Iterator[str]:
    differing = (comparison for verdict in verdicts for comparison in verdict.comparisons if comparison.match is None)
    if any(comparison.delta for comparison in differing):
        yield "A field that differs: what the reading has -> what the run has."


def _text(verdict: Verdict, limit: int) -> str:
    recorded = verdict.recorded
    run = f"task {verdict.task_id}, trial {verdict.trial}, run {verdict.run_id}, {verdict.agent}"
    ended = f"ended by {verdict.termination or 'what was not recorded'}, stratum {verdict.stratum}"
    record = f"recorded reward {recorded.reward}, recorded database match {recorded.db_match}"
    heading = f"{run}: {ended}, {record}"
    return f"{printable(heading)}\n{verdict.explain(limit=limit)}"


_STYLES: dict[CallKind, dict[str, Any]] = {"read": {"dim": True}, "generic": {"dim": True}, "write": {"bold": True}}


def _calls_text(run: RunWithCalls) -> str:
    lines = call_lines(run.calls or (), width=output_width())
    return "\n".join(
        [call_heading(run.calls), *(click.style(line.text, **_STYLES.get(line.kind, {})) for line in lines)]
    )
