"""`multigold show`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import click

from multigold.cli._common import make_options, scoring_options, strata_option
from multigold.errors import CallError
from multigold.model.verdict import Verdict
from multigold.rescoring import rescore_runs
from multigold.state.explain import printable


@click.command(name="show")
@click.argument("results", type=click.Path(path_type=Path))
@click.option("--task", "task_id", required=True, metavar="ID", help="The task's id.")
@click.option("--trial", type=int, help="Only this trial; all of them without it.")
@click.option("--limit", type=click.IntRange(min=1), default=30, show_default=True, help="Lines per reading.")
@strata_option
@scoring_options
def command(results: Path, task_id: str, trial: int | None, limit: int, strata: str, **scoring: Any) -> None:
    """Hold every reading against the runs of one task in RESULTS: matched, or the fields that differ.

    A field that differs is written as what the reading has -> what the run has.
    """
    options = make_options({**scoring, "strata": strata})
    verdicts = rescore_runs(results, task_id=task_id, trial=trial, options=options)
    if not verdicts:
        trial_text = "" if trial is None else f" with trial {trial}"
        raise CallError(f"there is no run of task {task_id!r}{trial_text}", where=str(results))
    click.echo("\n\n".join([*(_text(verdict, limit) for verdict in verdicts), *_notes(verdicts)]))
    if strata != "extended" and not any(verdict.loopholes for verdict in verdicts):
        extended = attrs.evolve(options, strata="extended")
        if any(verdict.loopholes for verdict in rescore_runs(results, task_id=task_id, trial=trial, options=extended)):
            click.echo("\nThe catalogue proposes readings for this task: --strata extended applies them.")


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
