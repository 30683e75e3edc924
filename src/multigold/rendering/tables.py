"""Reports as terminal tables. What a file says is escaped: terminal control characters never reach the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import attrs

from multigold.rescoring import FileReport
from multigold.state.explain import printable
from multigold.stats.aggregation import BASELINES, Group, Report, cells_of, headings_of, text_table, titled

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table

    from multigold.rescoring.checking import RecordedCheck


def report_tables(report: Report, *, by_task: bool = False) -> list[RenderableType]:
    """Return the tables of a report: overall, by stratum and, where asked for, by task.

    Args:
        report: The report.
        by_task: Whether to add the table by task.
    """
    groups = {"agent": report.overall, "stratum": report.by_stratum, **({"task": report.by_task} if by_task else {})}
    tables = [GroupTable(by=by, groups=of, columns=report.columns) for by, of in groups.items()]
    return [*tables, *(printable(line) for line in report.notes())]


_NO_LIMIT = 10_000

_WIDE_GAP = (0, 1, 0, 1)
_NARROW_GAPS = ((0, 1, 0, 0), (0, 0, 0, 0))
"""Padding of a cell (top, right, bottom, left). The box adds a space, so that columns are 3, 2 or 1 apart."""


@attrs.frozen(kw_only=True)
class GroupTable:
    """A table of groups, laid out for the width at hand: a number is never cut short.

    One table; if that is too wide, the baselines stand in a second one, then rates are folded into two lines, then
    there is a table for each agent, then the columns move closer. A key that is the same in all groups stands in the
    title.

    Attributes:
        by: The key that the title names; it always is a column.
        groups: The groups, a row each.
        columns: The reward columns.
    """

    by: str
    groups: Sequence[Group]
    columns: Sequence[str]

    def to_text(self) -> str:
        """Return the table as plain text, as wide as it is."""
        return f"{text_table(self.groups, self.by, self.columns)}\n"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from rich.text import Text

        for table in self._tables(console, options):
            # A table's own title is folded at the width of the table, which is often less than the title's.
            title, table.title = table.title, None
            yield Text(str(title), style="table.title")
            yield table

    def _tables(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        unlimited = options.update(width=_NO_LIMIT)

        def fits(table: Table) -> bool:
            return console.measure(table, options=unlimited).maximum <= options.max_width

        whole = self._table(self.groups)
        if fits(whole):
            yield whole
            return
        layouts = list(self._layouts())
        yield from next((tables for tables in layouts if all(map(fits, tables))), layouts[-1])
        yield self._table(self.groups, slice(-len(BASELINES), None), kind="baselines ")

    def _layouts(self) -> Iterator[list[Table]]:
        """Yield what the scores may be laid out as, from wide to narrow."""
        scores = slice(-len(BASELINES))
        yield [self._table(self.groups, scores)]
        yield [self._table(self.groups, scores, folded=True)]
        parts: dict[tuple[str, ...], list[Group]] = {}
        for group in self.groups:
            outer = list(group.keys)[: list(group.keys).index(self.by)]
            parts.setdefault(tuple(group.keys[key] for key in outer), []).append(group)
        for gap in (_WIDE_GAP, *_NARROW_GAPS):
            yield [self._table(part, scores, folded=True, padding=gap) for part in parts.values()]

    def _table(
        self,
        groups: Sequence[Group],
        which: slice = slice(None),
        *,
        kind: str = "",
        folded: bool = False,
        padding: tuple[int, int, int, int] = _WIDE_GAP,
    ) -> Table:
        """Return a table of some of the groups and some of the columns that are not keys."""
        from rich import box
        from rich.table import Table

        title, keys = titled(groups, self.by, kind=kind)
        table = Table(title=title, box=box.SIMPLE, pad_edge=False, padding=padding)
        for key in keys:
            table.add_column(key, overflow="fold")
        for heading in headings_of(self.columns)[which]:
            table.add_column(_folded(heading) if folded else heading, justify="right", no_wrap=True)
        for group in groups:
            cells = cells_of(group, self.columns)[which]
            keyed = (printable(group.keys[key]) for key in keys)
            table.add_row(*keyed, *(map(_folded, cells) if folded else cells))
        return table


def _folded(text: str) -> str:
    """Return a heading or a cell with a word or a number on each line, such as `33/53` over `62.3%`."""
    return text.replace(", ", ",\n") if ", " in text else text.replace(" ", "\n")


_REMEDIES = {
    "tasks_missing": "without tasks no run is scored; --benchmark-release names the release that they belong to"
}
"""What to try where runs are unscored for this reason."""


def file_lines(files: Iterable[FileReport]) -> list[str]:
    """Return a line per file, and one for each of its warnings."""
    lines = []
    for file in files:
        if file.format or file.problem:
            lines.append(printable(_line_of(file.name, file.problem or _file_detail(file))))
            lines += [printable(f"  {line}") for line in (*_fidelity_lines(file), *_other_scorer_lines(file))]
        lines += [printable(f"  {file.name if not file.format else 'warning'}: {warning}") for warning in file.warnings]
        lines += [f"  {_REMEDIES[code]}" for code in file.unscored if code in _REMEDIES]
    return lines


def _line_of(name: str, text: str) -> str:
    """Return what is said of a file after its name, which a problem mostly begins with."""
    return text if text.startswith(f"{name}: ") else f"{name}: {text}"


def _file_detail(file: FileReport) -> str:
    unscored = ", ".join(f"{number} {code}" for code, number in file.unscored.items())
    outcomes = f"{file.matched} matched, {file.unmatched} unmatched, {sum(file.unscored.values())} unscored"
    about = ", ".join(filter(None, (f"{file.runs} runs", file.format, file.domain, *file.agents)))
    return f"{about}: {outcomes}{f' ({unscored})' if unscored else ''}"


def _fidelity_lines(file: FileReport) -> Iterator[str]:
    """Yield how well the replay followed the record, in one line; nothing if nothing was replayed."""
    counts = file.fidelity
    if not counts.get("calls"):
        return
    words = {
        "skipped": "reads taken as recorded",
        "replayed": "carried out",
        "refused": "refused",
        "unknown": "of unknown tools",
        "differing": "with a result other than recorded",
    }
    parts = ", ".join(f"{counts[name]} {word}" for name, word in words.items() if counts.get(name))
    drifting = counts.get("drifting", 0)
    yield f"{counts['calls']} calls: {parts}; {drifting} runs drift"


_BESIDE = {"theirs": "as recorded", "single": "with their gold", "core": "with every core reading"}


def _other_scorer_lines(file: FileReport) -> Iterator[str]:
    """Yield another scorer's success rates, recomputed, in one line; nothing if there is none."""
    rates = [
        f"{passed}/{of} {_BESIDE[kind]}"
        for kind, numbers in file.other_scorer.items()
        if kind in _BESIDE
        for passed, of in [numbers.get("is_successful", (0, 0))]
        if of
    ]
    if rates:
        yield f"their success: {', '.join(rates)}"


def check_lines(checks: Iterable[RecordedCheck]) -> list[str]:
    """Return what `--check-recorded` found, a line per file and one for each run that differs."""
    lines = []
    for check in checks:
        if check.problem or check.left_out:
            lines.append(printable(_line_of(check.name, check.problem or f"left out: {check.left_out}")))
            continue
        codes = ", ".join(f"{number} {code}" for code, number in check.unscored.items())
        unscored = f"{sum(check.unscored.values())} unscored{f' ({codes})' if codes else ''}"
        counted = f"{check.runs} runs, {check.recorded} with a recorded database verdict: {check.agree} agree"
        rest = f"{len(check.differ)} differ, {unscored}, {check.no_gold} without a gold"
        spelling = f"{check.spelling} match only by number spelling"
        lines.append(printable(f"{check.name}: {counted}, {rest}; {spelling}"))
        lines += [printable(f"  {run}") for run in check.differ]
    return lines
