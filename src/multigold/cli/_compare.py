"""`multigold compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from multigold.cli._common import JSON, make_options, print_all, scoring_options, strata_option, write_json
from multigold.cli._statistics import metric_options
from multigold.errors import CallError
from multigold.rescoring import paper_split, rescore
from multigold.stats.aggregation import ReportBuilder
from multigold.stats.paired_comparison import compare_agents
from multigold.stats.resampling import generator
from multigold.stats.rows import RunRow, by_agent, plain
from multigold.stats.summary import rows_of


@click.command(name="compare")
@click.argument("first", type=click.Path())
@click.argument("second", type=click.Path())
@metric_options
@click.option(
    "--pairing",
    type=click.Choice(["tasks", "trials"]),
    default="tasks",
    show_default=True,
    help="Pair by task, or by task and trial if both ran their trials from the same seeds.",
)
@JSON
@strata_option
@scoring_options
def command(
    first: str,
    second: str,
    pairing: Any,
    json_path: Path | None,
    column: str,
    seed: int,
    resamples: int,
    level: float,
    **values: Any,
) -> None:
    """Compare two result files, FIRST and SECOND, paired by task; "not distinguishable" is a possible answer.

    Either may be a directory. A side is taken whole: if a file of it cannot be read, nothing is compared.
    """
    from multigold.rendering.metrics import comparison_lines

    options = make_options(values)
    sides = {path: rescore(path, options=options).verdicts for path in (first, second)}
    several = len({verdict.domain for verdicts in sides.values() for verdict in verdicts}) > 1
    summary = ReportBuilder(options.strata, paper_split=paper_split(options))
    one, other = (
        _of_one_agent(path, rows_of(sides[path], column, summary, several_domains=several)) for path in (first, second)
    )
    rng = generator(seed, "compare") if resamples else None
    found = compare_agents(one, other, pairing=pairing, rng=rng, resamples=resamples or 1, level=level)
    if json_path is not None:
        settings = {"column": column, "seed": seed, "resamples": resamples}
        write_json({"schema": "multigold/compare/1", "settings": settings, "comparison": plain(found)}, json_path)
    if json_path != Path("-"):
        intervals = f"bootstrap, {resamples} resamples, seed {seed}" if resamples else "exact bootstrap"
        settings_line = f"column {column}; runs without a reward are left out; intervals: {level:.0%} {intervals}"
        print_all([settings_line, *comparison_lines(found, (_label(first, one), _label(second, other)))])


def _of_one_agent(path: str, rows: tuple[RunRow, ...]) -> tuple[RunRow, ...]:
    """Return the runs of one side, which must be of one agent."""
    agents = list(by_agent(rows))
    if len(agents) != 1:
        raise CallError(
            f"it holds the runs of {len(agents)} agents, and a comparison takes one agent per side",
            where=path,
            remedy=f"Its agents: {', '.join(agents) or 'none'}. Split the file, or name one with --agent-name.",
        )
    return rows


def _label(path: str, rows: tuple[RunRow, ...]) -> str:
    return f"{rows[0].agent} [{Path(path).name}]"
