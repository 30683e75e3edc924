"""Metrics as terminal tables, JSON, CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

from multigold.rescoring import FileReport, Options, provenance
from multigold.state.canonical import Json
from multigold.state.explain import printable
from multigold.stats.many_agents import ManyAgents, PairDecision
from multigold.stats.paired_comparison import PAIRED_INTERVALS, PairedComparison, Sensitivity
from multigold.stats.rows import plain
from multigold.stats.summary import FIELDS, Metric, MetricSettings

if TYPE_CHECKING:
    from rich.console import RenderableType

_PLACES = ("agent", "domain", "stratum", "loophole", "task", "part")


def metric_tables(metrics: Sequence[Metric]) -> list[RenderableType]:
    """Return a table for each kind of metric, with just the columns that it uses; a line if none has a value."""
    kinds = list(dict.fromkeys(metric.metric for metric in metrics))
    return [_table(kind, [metric for metric in metrics if metric.metric == kind]) for kind in kinds]


def _table(kind: str, metrics: Sequence[Metric]) -> RenderableType:
    """Return a table; what is the same in all of its rows stands in the title instead."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    if all(metric.value is None and metric.numerator is None for metric in metrics):
        notes = "; ".join(dict.fromkeys(metric.note for metric in metrics if metric.note))
        return printable(f"{kind}: no value in {len(metrics)} rows{f' ({notes})' if notes else ''}") + "\n"
    used = [name for name in _PLACES if any(getattr(metric, name) for metric in metrics)]
    shared = [name for name in (*used, "method") if len(metrics) > 1 and _same(metrics, name)]
    common = {name: getattr(metrics[0], name) for name in shared if getattr(metrics[0], name)}
    titles = [kind, *(text if name == "method" else f"{name} {text}" for name, text in common.items())]
    table = Table(box=box.SIMPLE, pad_edge=False)
    shown = [name for name in used if name not in shared]
    for name in shown:
        table.add_column(name, overflow="fold")
    for name in ("value", "of"):
        table.add_column(name, justify="right", no_wrap=True)
    columns = {"interval": [_interval(metric, "method" not in shared) for metric in metrics]}
    columns["if unscored lost, won"] = [_bounds(metric) for metric in metrics]
    columns["note"] = [printable(metric.note) for metric in metrics]
    rest = {name: cells for name, cells in columns.items() if any(cells)}
    for name in rest:
        table.add_column(name, overflow="fold")
    for row, metric in enumerate(metrics):
        places = (printable(getattr(metric, name)) or ("" if name == "part" else "all") for name in shown)
        table.add_row(*places, _number(metric.value), _counts(metric), *(cells[row] for cells in rest.values()))
    # A table's own title is folded at the width of the table, which is often less than the title's.
    return Group(Text(printable(", ".join(titles)), style="table.title"), table)


def _same(metrics: Sequence[Metric], name: str) -> bool:
    return len({getattr(metric, name) for metric in metrics}) == 1


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _counts(metric: Metric) -> str:
    if metric.denominator is None:
        return ""
    return str(metric.denominator) if metric.numerator is None else f"{metric.numerator}/{metric.denominator}"


def _bounds(metric: Metric) -> str:
    """Return what a metric would be if every unscored run were lost, and were won; empty if all are scored."""
    if metric.lowest is None or metric.highest is None or metric.lowest == metric.highest:
        return ""
    return f"{metric.lowest:.4f} to {metric.highest:.4f}"


def _interval(metric: Metric, with_method: bool) -> str:
    method = metric.method if with_method else ""
    if metric.low is None or metric.high is None:
        return method
    return f"{metric.low:.4f} to {metric.high:.4f}{f' ({method})' if method else ''}"


def metrics_json(
    metrics: Iterable[Metric], settings: MetricSettings, options: Options, files: tuple[FileReport, ...]
) -> dict[str, Json]:
    """Return metrics as one document, with what they were computed from."""
    return {
        "schema": "multigold/statistics/1",
        "provenance": provenance(options, files),
        "settings": plain(settings),
        "files": [file.to_json() for file in files],
        "metrics": [metric.to_json() for metric in metrics],
    }


def write_csv(metrics: Iterable[Metric], stream: TextIO) -> None:
    """Write metrics as comma-separated values with a header; an empty cell is an unknown value."""
    writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_row(metric) for metric in metrics)


def _row(metric: Metric) -> dict[str, Json]:
    # A spreadsheet runs a cell that begins like a formula; what a stranger's file says must not.
    return {
        name: f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@")) else value
        for name, value in metric.to_json().items()
    }


def comparison_lines(found: PairedComparison, names: tuple[str, str]) -> list[str]:
    """Return a comparison as text: the difference, its interval, the test, the decision, and the tasks that decide."""
    first, second = names
    lines = [f"{first} against {second}: {found.tasks} shared tasks, paired by {found.pairing}"]
    if found.difference is None or found.first_rate is None or found.second_rate is None:
        return [printable(line) for line in [*lines, found.note or "nothing to compare"]]
    rates = f"{found.first_rate:.4f} and {found.second_rate:.4f}, difference {found.difference:+.4f}"
    lines.append(f"  rates (mean over shared tasks) {rates}")
    if found.interval is not None:
        interval = found.interval
        method = PAIRED_INTERVALS.get(interval.method, interval.method)
        lines.append(f"  {interval.level:.0%} interval {interval.low:+.4f} to {interval.high:+.4f} ({method})")
    if found.bounds is not None and found.uncounted:
        low, high = found.bounds
        lines.append(f"  with unscored runs lost by one and won by the other: {low:+.4f} to {high:+.4f}")
    if found.test is not None:
        test = found.test
        lines.append(f"  sign-flip test: {_p_text(test.p_value)} ({test.method}, {test.differing} tasks differ)")
    decisions = {"first": f"{first} is ahead", "second": f"{second} is ahead"}
    lines.append(f"  decision: {decisions.get(found.decision, 'not distinguishable')}")
    lines += _sensitivity_lines(found.sensitivity)
    lines += [f"  task {one.task}: {_pair(one.first)} against {_pair(one.second)}" for one in found.deciding]
    if found.lead_rests_on:
        lines.append(f"  tasks that the lead rests on: {', '.join(found.lead_rests_on)}")
    uncounted = {"only the first has": found.only_first, "only the second has": found.only_second}
    lines += [f"  tasks that {name} scored: {', '.join(tasks)}" for name, tasks in uncounted.items() if tasks]
    if found.uncounted:
        lines.append(f"  {found.uncounted} runs of shared tasks are not counted: unscored, or without a partner")
    return [printable(line) for line in (*lines, *([f"  note: {found.note}"] if found.note else []))]


def _sensitivity_lines(found: Sensitivity | None) -> list[str]:
    if found is None:
        return []
    if not found.deviation:
        return ["  sensitivity: not known, as the difference is the same on every task"]
    share = [] if found.trial_share is None else [found.trial_share]
    lines = [
        f"  sensitivity: two equal agents differ by up to {found.floor:.4f} here",
        f"  a true difference of {found.detectable:.4f} is found in {found.power:.0%} of such comparisons",
        *(
            f"  {one:.0%} of the variance between tasks is chance between trials, which more trials reduce"
            for one in share
        ),
    ]
    return [*lines, f"  {needed_text(found)}"] if found.tasks_needed else lines


def needed_text(found: Sensitivity) -> str:
    """Return how many tasks, or trials, would tell two agents apart that differ by as much as they seem to."""
    if found.tasks_needed is None:
        return "no difference is seen"
    trials = (
        f", or {found.trials_needed} trials of each of these"
        if found.trials_needed
        else "; no number of trials of these tasks is known to do"
    )
    return f"to tell such a difference apart: {found.tasks_needed} tasks like these{trials}"


def _p_text(p_value: float) -> str:
    """Return a p-value; one that is rounded to nothing as what it is below of."""
    return f"p = {p_value:.4f}" if p_value >= 0.00005 else "p < 0.0001"


def _pair(counts: tuple[int, int]) -> str:
    return f"{counts[0]}/{counts[1]}"


def many_lines(found: ManyAgents) -> list[RenderableType]:
    """Return any number of agents compared: ranks, groups that cannot be told apart, and every pair."""
    return [_standings(found), *_group_lines(found), _pairs(found)]


def _standings(found: ManyAgents) -> RenderableType:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("agent", overflow="fold")
    for name in ("rate", "of", "if unscored lost, won", "rank"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("note", overflow="fold")
    for agent in found.agents:
        rate = agent.rate
        table.add_row(
            printable(agent.name),
            _number(rate.value),
            f"{rate.successes}/{rate.of}",
            "" if rate.lowest == rate.highest else f"{_number(rate.lowest)} to {_number(rate.highest)}",
            f"{agent.best_rank} to {agent.worst_rank}" if not agent.note else "-",
            agent.note,
        )
    return table


def _group_lines(found: ManyAgents) -> list[str]:
    groups = [group for group in found.groups if len(group) > 1]
    lines = [f"cannot be told apart: {', '.join(group)}" for group in groups]
    together = f"all pairs and all ranks together at {found.level:.0%} (Holm)"
    return [printable(line) for line in (*(lines or ["all can be told apart"]), together)]


def _pairs(found: ManyAgents) -> RenderableType:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False)
    for name in ("first", "second"):
        table.add_column(name, overflow="fold")
    for name in ("difference", "interval", "p (Holm)", "tasks"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("decision", overflow="fold")
    for pair in found.pairs:
        one = pair.comparison
        interval = "" if one.interval is None else f"{one.interval.low:+.4f} to {one.interval.high:+.4f}"
        table.add_row(
            printable(one.first),
            printable(one.second),
            "-" if one.difference is None else f"{one.difference:+.4f}",
            interval,
            "-" if pair.adjusted is None else _p_text(pair.adjusted).removeprefix("p ").removeprefix("= "),
            str(one.tasks),
            printable(_decision_text(pair)),
        )
    return table


def _decision_text(pair: PairDecision) -> str:
    if pair.decision == "not_distinguishable":
        needed = pair.comparison.sensitivity
        return "not distinguishable" if needed is None else f"not distinguishable; {needed_text(needed)}"
    return f"{pair.comparison.first if pair.decision == 'first' else pair.comparison.second} is ahead"
