"""`multigold statistics`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import click

from multigold.catalogues.loading import load_catalogue_for
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
from multigold.errors import CallError
from multigold.model.verdict import Verdict
from multigold.rescoring import FileReport, Options, paper_split, strata_note, stream
from multigold.stats.aggregation import COLUMNS, ReportBuilder
from multigold.stats.intervals import DEFAULT, METHODS
from multigold.stats.multiverse import UniverseRun, universe_run
from multigold.stats.multiverse_metrics import sides_of, universe_metrics
from multigold.stats.rows import MISSING
from multigold.stats.summary import Metric, MetricSettings, Plan, RowBuilder, metrics


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
                help="Resamples per bootstrap; 0 enumerates it, which does not need numpy.",
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
    "--interval",
    type=click.Choice(list(METHODS)),
    default=DEFAULT,
    show_default=True,
    help="How intervals are found; the documentation of statistics says how often each of them holds.",
)
@click.option(
    "--by",
    type=click.Choice(["tasks", "trials"]),
    default="tasks",
    show_default=True,
    help="What a bootstrap resamples; by tasks, because four trials of one task are not four tasks.",
)
@click.option(
    "--universes",
    is_flag=True,
    help="Add scores and ranks under every coherent combination of sides, and what each reading carries.",
)
@JSON
@click.option("--csv", "csv_path", type=click.Path(path_type=Path), help="Write as CSV; - for stdout.")
@strata_option
@scoring_options
def command(
    results: tuple[str, ...],
    json_path: Path | None,
    csv_path: Path | None,
    strata: str,
    universes: bool,
    **values: Any,
) -> None:
    """Compute every statistic of stored RESULTS: rates and intervals, gaps, pass^k, variances, sides, what-ifs.

    Of several files, one that cannot be read is named, the others are counted, and the exit status is 2.
    """
    from multigold.rendering.metrics import metric_tables, metrics_json, write_csv

    names = ("column", "missing", "interval", "seed", "resamples", "level", "by")
    settings = MetricSettings(**{name: values.pop(name) for name in names})
    options = make_options({**values, "strata": strata})
    if universes and settings.column not in ("core", "with_contested"):
        raise CallError("the universes are of readings", remedy="Use --column core or with_contested.")
    summary = ReportBuilder(options.strata, paper_split=paper_split(options))
    builder, files = RowBuilder(settings.column, summary), []
    worlds = _Universes(settings.column == "with_contested") if universes else None
    with progress_bar() as progress:
        for item in stream(*results, options=options, keep_going=several(results), progress=progress):
            if isinstance(item, FileReport):
                files.append(item)
                continue
            builder.add(item)
            if worlds is not None:
                worlds.add(item)
    reports = tuple(files)
    to_terminal = Path("-") not in (json_path, csv_path)
    unread = left_out_lines(reports, shown=to_terminal)
    found = metrics(builder.rows(), attrs.evolve(settings, plans=plans_of(reports)))
    if worlds is not None:
        found = (*worlds.metrics(options), *found)
    if json_path is not None:
        write_json(metrics_json(found, settings, options, reports), json_path)
    if csv_path is not None:
        with opened_for_writing(csv_path) as sheet:
            write_csv(found, sheet)
    if to_terminal:
        note = f"Strata: {summary.report(note=strata_note(reports)).strata_note}."
        print_all([*unread, settings.described(), *metric_tables(found), note])
    stop_where_broken(reports)


def plans_of(files: Sequence[FileReport]) -> tuple[Plan, ...]:
    """Return what agents were to run, for those of one file that says so."""
    found: dict[tuple[str, str], list[FileReport]] = {}
    for file in files:
        for agent in file.agents:
            found.setdefault((agent, file.domain), []).append(file)
    return tuple(
        Plan(agent=agent, domain=domain, trials=own[0].plan.trials, tasks=own[0].plan.tasks)
        for (agent, domain), own in found.items()
        if len(own) == 1 and own[0].plan is not None and len(own[0].agents) == 1
    )


@attrs.define
class _Universes:
    """What is kept of each run for the multiverse, and which readings count on the tasks at hand."""

    contested: bool
    runs: list[UniverseRun] = attrs.field(factory=list)
    readings: dict[str, set[tuple[str, str]]] = attrs.field(factory=dict)

    def add(self, verdict: Verdict) -> None:
        self.runs.append(universe_run(verdict, contested=self.contested))
        standings = ("core", "contested") if self.contested else ("core",)
        counted = {(verdict.task_id, one.reading) for one in verdict.comparisons if one.standing in standings}
        self.readings.setdefault(verdict.domain, set()).update(counted)

    def metrics(self, options: Options) -> tuple[Metric, ...]:
        sides = {}
        for domain, readings in self.readings.items():
            catalogue = load_catalogue_for(domain, directory=options.gold_sets)
            if catalogue is not None:
                sides[domain] = sides_of(catalogue, readings)
        return universe_metrics(self.runs, sides=sides)
