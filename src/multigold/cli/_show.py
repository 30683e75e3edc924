"""`multigold show`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from multigold.cli._common import make_options, scoring_options
from multigold.errors import CallError
from multigold.model.verdict import Verdict
from multigold.rescoring import rescore_runs
from multigold.state.explain import printable


@click.command(name="show")
@click.argument("results", type=click.Path(path_type=Path))
@click.option("--task", "task_id", required=True, metavar="ID", help="The task's id.")
@click.option("--trial", type=int, help="Only this trial; all of them without it.")
@click.option("--limit", type=click.IntRange(min=1), default=30, show_default=True, help="Lines per reading.")
@scoring_options
def command(results: Path, task_id: str, trial: int | None, limit: int, **scoring: Any) -> None:
    """Hold every reading against the runs of one task in RESULTS: matched, or the fields that differ."""
    options = make_options({**scoring, "strata": "extended"})
    verdicts = rescore_runs(results, task_id=task_id, trial=trial, options=options)
    if not verdicts:
        trial_text = "" if trial is None else f" with trial {trial}"
        raise CallError(f"there is no run of task {task_id!r}{trial_text}", where=str(results))
    click.echo("\n\n".join(_text(verdict, limit) for verdict in verdicts))


def _text(verdict: Verdict, limit: int) -> str:
    recorded = verdict.recorded
    run = f"task {verdict.task_id}, trial {verdict.trial}, run {verdict.run_id}, {verdict.agent}"
    ended = f"ended by {verdict.termination or 'what was not recorded'}, stratum {verdict.stratum}"
    record = f"recorded reward {recorded.reward}, recorded database match {recorded.db_match}"
    heading = f"{run}: {ended}, {record}"
    return f"{printable(heading)}\n{verdict.explain(limit=limit)}"
