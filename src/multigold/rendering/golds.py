"""The audit of golds as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from multigold.audit.findings import BaselineComparison, Finding, counts_by_code
from multigold.audit.golds.auditing import GoldAudit
from multigold.audit.golds.checks import CODES
from multigold.state.explain import printable

FEW_TASKS = 5
"""Findings of one kind in more tasks than these are printed in one line, with the tasks below it."""

MAX_ROWS = 8
"""Most lines of tasks below such a line: more ids are no longer read."""


def audit_lines(
    audit: GoldAudit, found: BaselineComparison, *, limit: int | None = None, verbose: bool = False, width: int = 120
) -> Iterator[str]:
    """Yield what an audit of golds found: line by line, what to do below the last of each code, and the counts.

    A finding has a line, but findings of one code in many tasks share one, with the tasks below it.

    Args:
        audit: The audit.
        found: Its findings, set against a baseline.
        limit: Most lines for one code; what is left out is counted. None for all.
        verbose: Whether every finding has a line, however many tasks it is in.
        width: Characters to a line of tasks.
    """
    grouped = False
    for code, findings in _by_code(found.new).items():
        lines: list[_Line] = []
        for group in _by_level(findings):
            many = not verbose and len(_tasks(group)) > FEW_TASKS
            grouped = grouped or many
            lines += _group_lines(group, width) if many else map(_finding_line, group)
        yield from _limited(lines, code, limit)
        if findings[0].remedy:
            yield printable(f"    {findings[0].remedy}")
    yield from _counts(audit, found)
    if grouped:
        yield "--verbose has a line for every finding"


@attrs.frozen
class _Line:
    """A line, with how many findings and tasks would not be shown without it."""

    text: str
    findings: int = 0
    tasks: int = 0


def _limited(lines: list[_Line], code: str, limit: int | None) -> Iterator[str]:
    shown = lines if limit is None else lines[:limit]
    yield from (printable(line.text) for line in shown)
    rest = lines[len(shown) :]
    findings, tasks = sum(line.findings for line in rest), sum(line.tasks for line in rest)
    if findings or tasks:
        left = [f"{findings} more of {code}"] * bool(findings) + [f"{tasks} more tasks"] * bool(tasks)
        yield printable(f"    ... and {' and '.join(left)}")


def _finding_line(finding: Finding) -> _Line:
    return _Line(f"{finding.level} {finding.code} {finding.where}: {finding.sentence}", findings=1)


def _group_lines(findings: list[Finding], width: int) -> list[_Line]:
    """Return one line for findings of one code and level, and below it the tasks that they are in."""
    first, tasks = findings[0], _tasks(findings)
    alike = all(finding.sentence == first.sentence for finding in findings)
    many = f"{len(tasks)} tasks" if len(findings) == len(tasks) else f"{len(findings)} findings in {len(tasks)} tasks"
    sentence = first.sentence if alike else CODES.get(first.code, "")
    head = _Line(f"{first.level} {first.code}, {many}{f': {sentence}' if sentence else ''}", findings=len(findings))
    rows = list(_rows(tasks, width - 4))
    shown = [_Line(f"    {', '.join(row)}", tasks=len(row)) for row in rows[:MAX_ROWS]]
    rest = sum(len(row) for row in rows[MAX_ROWS:])
    return [head, *shown, *([_Line(f"    ... and {rest} more tasks; --json has all", tasks=rest)] if rest else [])]


def _tasks(findings: Iterable[Finding]) -> list[str]:
    return list(dict.fromkeys(finding.task for finding in findings))


def _rows(names: Iterable[str], width: int) -> Iterator[list[str]]:
    """Yield names in rows that fit a width; one that is longer has a row of its own."""
    row: list[str] = []
    for name in names:
        if row and len(", ".join((*row, printable(name)))) > width:
            yield row
            row = []
        row.append(printable(name))
    if row:
        yield row


def _by_level(findings: Iterable[Finding]) -> Iterator[list[Finding]]:
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.level, []).append(finding)
    yield from groups.values()


def _by_code(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    groups: dict[str, list[Finding]] = {code: [] for code in CODES}
    for finding in findings:
        groups.setdefault(finding.code, []).append(finding)
    return {code: group for code, group in groups.items() if group}


def _counts(audit: GoldAudit, found: BaselineComparison) -> Iterator[str]:
    counts = {code: count for code, count in counts_by_code(audit.findings, CODES).items() if count}
    yield f"{audit.golds} golds of {audit.tasks} tasks: {len(audit.findings) or 'no'} findings"
    width = max(map(len, counts), default=0)
    for code, count in counts.items():
        yield printable(f"  {count:5}  {code.ljust(width)}  {CODES.get(code, '')}")
    if found.accepted:
        yield f"{len(found.accepted)} of them are accepted by the baseline"
    for code, task, place in found.stale:
        yield printable(f"the baseline accepts {code} at {place} (task {task}), which is not found any more")
