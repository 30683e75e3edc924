"""The audit of golds as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from multigold.audit.findings import Sorted, counts_by_code
from multigold.audit.gold_checks import CODES
from multigold.audit.golds import Audit
from multigold.state.explain import printable


def audit_lines(audit: Audit, found: Sorted) -> Iterator[str]:
    """Yield what an audit of golds found: a line a finding, what to do below the first of each code, and the counts."""
    advised: set[str] = set()
    for finding in found.new:
        yield printable(f"{finding.level} {finding.code} {finding.where}: {finding.sentence}")
        if finding.remedy and finding.code not in advised:
            advised.add(finding.code)
            yield printable(f"    {finding.remedy}")
    yield from _counts(audit, found)


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
