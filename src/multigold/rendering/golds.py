"""The audit of golds as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from multigold.audit.findings import Finding, Sorted, counts_by_code
from multigold.audit.gold_checks import CODES
from multigold.audit.golds import Audit
from multigold.state.explain import printable


def audit_lines(audit: Audit, found: Sorted, *, limit: int | None = None) -> Iterator[str]:
    """Yield what an audit of golds found: a line a finding, what to do below the first of each code, and the counts.

    Args:
        audit: The audit.
        found: Its findings, set against a baseline.
        limit: Most lines for one code; what is left out is counted. None for all.
    """
    for code, findings in _by_code(found.new).items():
        shown = findings if limit is None else findings[:limit]
        for finding in shown:
            yield printable(f"{finding.level} {finding.code} {finding.where}: {finding.sentence}")
        if len(findings) > len(shown):
            yield printable(f"    ... and {len(findings) - len(shown)} more of {code}")
        if findings[0].remedy:
            yield printable(f"    {findings[0].remedy}")
    yield from _counts(audit, found)


def _by_code(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    groups: dict[str, list[Finding]] = {code: [] for code in CODES}
    for finding in findings:
        groups.setdefault(finding.code, []).append(finding)
    return {code: group for code, group in groups.items() if group}


def _counts(audit: Audit, found: Sorted) -> Iterator[str]:
    counts = {code: count for code, count in counts_by_code(audit.findings, CODES).items() if count}
    yield f"{audit.golds} golds of {audit.tasks} tasks: {len(audit.findings) or 'no'} findings"
    width = max(map(len, counts), default=0)
    for code, count in counts.items():
        yield printable(f"  {count:5}  {code.ljust(width)}  {CODES.get(code, '')}")
    if found.accepted:
        yield f"{len(found.accepted)} of them are accepted by the baseline"
    for code, task, place in found.stale:
        yield printable(f"the baseline accepts {code} at {place} (task {task}), which is not found any more")
