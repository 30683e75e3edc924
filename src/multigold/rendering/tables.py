"""Reports as terminal tables. What a file says is escaped: terminal control characters never reach the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from multigold.aggregation import BASELINES, Group, Report
from multigold.rescoring import Check, FileReport
from multigold.state.explain import printable
from multigold.stats.rates import Rate

if TYPE_CHECKING:
    from rich.console import RenderableType

HEADINGS = {
    "recorded": "recorded",
    "single": "single gold",
    "core": "core",
    "core_strict": "core, strict",
    "core_or_single": "core or single",
    "with_contested": "with contested",
}
"""Reward column to its heading."""


def report_tables(report: Report, *, by_task: bool = False) -> list[RenderableType]:
    """Return the tables of a report: overall, by stratum and, where asked for, by task.

    Args:
        report: The report.
        by_task: Whether to add the table by task.
    """
    tables = [
        _group_table("By agent", report.overall, report.columns),
        _group_table("By stratum", report.by_stratum, report.columns),
    ]
    if by_task:
        tables.append(_group_table("By task", report.by_task, report.columns))
    return [*tables, *(printable(line) for line in _notes(report))]


def _notes(report: Report) -> Iterator[str]:
    yield f"Strata: {report.strata_note}."
    yield (
        "Baselines, by the database factor alone, under the single gold / under core: an agent that does nothing, "
        "and one that looks everything up and then always refuses."
    )


def _group_table(title: str, groups: Sequence[Group], columns: Sequence[str]) -> RenderableType:
    """Return a table of groups; a key that is the same in all of them stands in the title instead."""
    from rich import box
    from rich.table import Table

    keys = list(groups[0].keys) if groups else []
    shared = [key for key in keys if len({group.keys[key] for group in groups}) == 1 and len(groups) > 1]
    shown = [key for key in keys if key not in shared]
    suffix = "".join(f", {key} {printable(groups[0].keys[key])}" for key in shared)
    table = Table(title=f"{title}{suffix}", box=box.SIMPLE, title_justify="left", pad_edge=False)
    for key in shown:
        table.add_column(key, overflow="fold")
    for heading in ("runs", "unscored", *(HEADINGS[column] for column in columns), *_BASELINE_HEADINGS):
        table.add_column(heading, justify="right")
    for group in groups:
        table.add_row(*(printable(group.keys[key]) for key in shown), *_cells(group, columns))
    return table


_BASELINE_HEADINGS = tuple(name.replace("_", " ") for name in BASELINES)


def _cells(group: Group, columns: Sequence[str]) -> list[str]:
    tally = group.tally
    baselines = (getattr(tally, name) for name in BASELINES)
    return [
        str(tally.runs),
        ", ".join(f"{number} {code}" for code, number in tally.unscored.items()) or "0",
        *(rate_text(tally.columns[column]) for column in columns),
        *(f"{percent_text(rates['single'])} / {percent_text(rates['core'])}" for rates in baselines),
    ]


def percent_text(rate: Rate) -> str:
    """Return a rate as `32.1%`; `-` where there is nothing to count."""
    return "-" if rate.value is None else f"{rate.value * 100:.1f}%"


def rate_text(rate: Rate) -> str:
    """Return a rate as `9/28 32.1%`; `-` where there is nothing to count."""
    return "-" if rate.value is None else f"{rate.successes}/{rate.of} {rate.value * 100:.1f}%"


def file_lines(files: Iterable[FileReport]) -> list[str]:
    """Return a line per file, and one for each of its warnings."""
    lines = []
    for file in files:
        if file.format or file.problem:
            lines.append(printable(f"{file.name}: {file.problem or _file_detail(file)}"))
            lines += [printable(f"  {line}") for line in (*_fidelity_lines(file), *_beside_lines(file))]
        lines += [printable(f"  {file.name if not file.format else 'warning'}: {warning}") for warning in file.warnings]
    return lines


def _file_detail(file: FileReport) -> str:
    unscored = ", ".join(f"{number} {code}" for code, number in file.unscored.items())
    outcomes = f"{file.matched} matched, {file.unmatched} unmatched, {sum(file.unscored.values())} unscored"
    return (
        f"{file.runs} runs, {file.format}, {file.domain}, {', '.join(file.agents)}: "
        f"{outcomes}{f' ({unscored})' if unscored else ''}"
    )


def _fidelity_lines(file: FileReport) -> Iterator[str]:
    """Yield how well the replay followed the record, in one line; nothing where nothing was replayed."""
    counts = file.fidelity
    if not counts.get("calls"):
        return
    words = {
        "skipped": "reads taken as recorded",
        "replayed": "carried out",
        "refused": "refused",
        "unknown": "of unknown tools",
        "differing": "with another result than recorded",
    }
    parts = ", ".join(f"{counts[name]} {word}" for name, word in words.items() if counts.get(name))
    drifting = counts.get("drifting", 0)
    yield f"{counts['calls']} calls: {parts}; {drifting} runs drift"


_BESIDE = {"theirs": "as recorded", "single": "with their gold", "core": "with every core reading"}


def _beside_lines(file: FileReport) -> Iterator[str]:
    """Yield another scorer's success rates, recomputed, in one line; nothing where there is none."""
    rates = [
        f"{passed}/{of} {_BESIDE[kind]}"
        for kind, numbers in file.beside.items()
        if kind in _BESIDE
        for passed, of in [numbers.get("is_successful", (0, 0))]
        if of
    ]
    if rates:
        yield f"their success: {', '.join(rates)}"


def check_lines(checks: Iterable[Check]) -> list[str]:
    """Return what `--check-recorded` found, a line per file and one for each run that differs."""
    lines = []
    for check in checks:
        unscored = ", ".join(f"{number} {code}" for code, number in check.unscored.items()) or "0"
        counted = f"{check.runs} runs, {check.recorded} with a recorded database verdict: {check.agree} agree"
        rest = f"{len(check.differ)} differ, unscored {unscored}, {check.no_gold} without a gold"
        spelling = f"{check.spelling} match only by number spelling"
        lines.append(printable(f"{check.name}: {counted}, {rest}; {spelling}"))
        lines += [printable(f"  {run}") for run in check.differ]
    return lines
