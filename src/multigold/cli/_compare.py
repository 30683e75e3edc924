"""`multigold compare`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from multigold.cli._common import JSON, make_options, print_all, scoring_options, strata_option, write_json
from multigold.cli._statistics import metric_options
from multigold.errors import CallError
from multigold.rescoring import FileReport, paper_split, rescore
from multigold.stats.aggregation import ReportBuilder
from multigold.stats.many_agents import compare_many
from multigold.stats.paired_comparison import PAIRED_INTERVALS, compare_agents
from multigold.stats.resampling import generator
from multigold.stats.rows import RunRow, by_agent, plain
from multigold.stats.summary import rows_of


@click.command(name="compare")
@click.argument("results", type=click.Path(), nargs=-1, required=True)
@metric_options
@click.option(
    "--pairing",
    type=click.Choice(["tasks", "trials"]),
    default="tasks",
    show_default=True,
    help="Pair by task, or by task and trial if the agents ran their trials from the same seeds.",
)
@click.option(
    "--interval",
    type=click.Choice(list(PAIRED_INTERVALS)),
    default="adjusted",
    show_default=True,
    help="How the interval of a difference is found.",
)
@JSON
@strata_option
@scoring_options
def command(
    results: tuple[str, ...],
    json_path: Path | None,
    column: str,
    seed: int,
    resamples: int,
    level: float,
    **values: Any,
) -> None:
    """Compare the agents in RESULTS, paired by task; "not distinguishable" is a possible answer.

    Two agents are compared in detail. Of more, every pair is compared, with all pairs taken together: which agents
    cannot be told apart, and what ranks each may have. A file or directory is taken whole: if one cannot be read,
    nothing is compared. Name one twice to compare the runs of a file with themselves.
    """
    from multigold.rendering.metrics import comparison_lines, many_lines

    how = {name: values.pop(name) for name in ("pairing", "interval")}
    options = make_options(values)
    sides = [(path, rescore(path, options=options)) for path in results]
    several = len({verdict.domain for _, side in sides for verdict in side.verdicts}) > 1
    summary = ReportBuilder(options.strata, paper_split=paper_split(options))
    agents: dict[str, tuple[RunRow, ...]] = {}
    for path, side in sides:
        for agent, rows in by_agent(rows_of(side.verdicts, column, summary, several_domains=several)).items():
            agents[_label(agent, path, agents)] = rows
    drawn: dict[str, Any] = {
        "rng": generator(seed, "compare") if resamples else None,
        "resamples": resamples or 1,
        "level": level,
    }
    doubts = list(_not_comparable([report for _, side in sides for report in side.files]))
    settings = {"column": column, "seed": seed, "resamples": resamples, "level": level, **how}
    found: Any
    if len(agents) == 2:
        (one, rows), (other, others) = agents.items()
        found = compare_agents(rows, others, **how, **drawn)
        shown: list[Any] = list(comparison_lines(found, (one, other)))
    else:
        _at_least_two(agents, results)
        found = compare_many(agents, **how, **drawn)
        shown = many_lines(found)
    if json_path is not None:
        document = {"schema": "multigold/compare/1", "settings": settings, "not_comparable": doubts}
        write_json({**document, "comparison": plain(found)}, json_path)
    if json_path != Path("-"):
        intervals = f"{PAIRED_INTERVALS[how['interval']]}{_drawn_text(how['interval'], seed, resamples)}"
        settings_line = f"column {column}; runs without a reward are left out; intervals: {level:.0%} {intervals}"
        print_all([*(f"not comparable: {doubt}" for doubt in doubts), settings_line, *shown])


def _drawn_text(interval: str, seed: int, resamples: int) -> str:
    if interval != "bootstrap":
        return ""
    return f", {resamples} resamples, seed {seed}" if resamples else ", enumerated"


def _label(agent: str, path: str, taken: Mapping[str, object]) -> str:
    """Return what an agent of a file is called, so that no two have one name."""
    label = first = f"{agent} [{Path(path).name}]"
    number = 2
    while label in taken:
        label = f"{first} #{number}"
        number += 1
    return label


def _at_least_two(agents: Mapping[str, object], results: Sequence[str]) -> None:
    if len(agents) < 2:
        raise CallError(
            f"a comparison takes at least two agents, and there is {len(agents)}",
            where=", ".join(results),
            remedy="Name the results of several agents.",
        )


def _not_comparable(files: Sequence[FileReport]) -> Iterator[str]:
    """Yield how verdicts differ in what they were made with, each a sentence with the digests."""
    domains: dict[str, list[FileReport]] = {}
    for file in files:
        domains.setdefault(file.domain, []).append(file)
    for domain, own in domains.items():
        for name, of in _MADE_WITH.items():
            values = {file.name: _made_with(file, name) for file in own if file.runs}
            # A file that does not say which policy it was run under is not known to be of another.
            if len(set(values.values()) - ({""} if name == "policy_digest" else set())) > 1:
                said = ", ".join(f"{file} {value or 'none'}" for file, value in values.items())
                yield f"the verdicts on {domain} were made with different {of}: {said}"


_MADE_WITH = {
    "catalogue_digest": "catalogues",
    "data_digest": "databases",
    "policy_digest": "policies (as their files embed them)",
    "equivalences": "equivalences",
}


def _made_with(file: FileReport, name: str) -> str:
    value = getattr(file, name)
    return " ".join(value) if isinstance(value, tuple) else value[:12]
