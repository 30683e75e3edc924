"""`multigold statistics`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from multigold.cli._common import (
    JSON,
    RESULTS,
    left_out_lines,
    make_options,
    opened_for_writing,
    print_all,
    progress_bar,
    scoring_options,
    several,
    stop_where_broken,
    strata_option,
    write_json,
)
from multigold.rescoring import paper_split, rescore, strata_note
from multigold.stats.aggregation import COLUMNS, ReportBuilder
from multigold.stats.rows import MISSING
from multigold.stats.summary import MetricSettings, metrics, rows_of


def metric_options(command: Any) -> Any:
    """Add the options that say how metrics are computed."""
    for option in reversed(
        (
            click.option(
                "--column",
                type=click.Choice(COLUMNS),
                default="core",
                show_default=True,
                help="Reward column to compute from.",
            ),
            click.option(
                "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all intervals."
            ),
            click.option(
                "--resamples",
                type=click.IntRange(min=0),
                default=10_000,
                show_default=True,
                help="Resamples per bootstrap; 0 for none, which does not need numpy.",
            ),
            click.option(
                "--level",
                type=click.FloatRange(0.5, 0.999),
                default=0.95,
                show_default=True,
                help="Confidence level of the intervals.",
            ),
        )
    ):
        command = option(command)
    return command


@click.command(name="statistics")
@RESULTS
@metric_options
@click.option(
    "--missing",
    type=click.Choice(list(MISSING)),
    default="left_out",
    show_default=True,
    help="How trials without a reward are treated: left out, or counted as failed.",
)
@click.option(
    "--by",
    type=click.Choice(["tasks", "trials"]),
    default="tasks",
    show_default=True,
    help="What is resampled; by tasks, because four trials of one task are not four tasks.",
)
@JSON
@click.option("--csv", "csv_path", type=click.Path(path_type=Path), help="Write as CSV; - for stdout.")
@strata_option
@scoring_options
def command(
    results: tuple[str, ...], json_path: Path | None, csv_path: Path | None, strata: str, **values: Any
) -> None:
    """Compute every statistic of stored RESULTS: rates and intervals, gaps, pass^k, variances, sides, what-ifs.

    Of several files, one that cannot be read is named, the others are counted, and the exit status is 2.
    """
    from multigold.rendering.metrics import metric_tables, metrics_json, write_csv

    settings = MetricSettings(
        **{name: values.pop(name) for name in ("column", "missing", "seed", "resamples", "level", "by")}
    )
    options = make_options({**values, "strata": strata})
    with progress_bar() as progress:
        rescoring = rescore(*results, options=options, keep_going=several(results), progress=progress)
    to_terminal = Path("-") not in (json_path, csv_path)
    unread = left_out_lines(rescoring.files, shown=to_terminal)
    summary = ReportBuilder(options.strata, paper_split=paper_split(options))
    found = metrics(rows_of(rescoring.verdicts, settings.column, summary), settings)
    if json_path is not None:
        write_json(metrics_json(found, settings, options, rescoring.files), json_path)
    if csv_path is not None:
        with opened_for_writing(csv_path) as stream:
            write_csv(found, stream)
    if to_terminal:
        note = f"Strata: {summary.report(note=strata_note(rescoring.files)).strata_note}."
        print_all([*unread, settings.described(), *metric_tables(found), note])
    stop_where_broken(rescoring.files)
