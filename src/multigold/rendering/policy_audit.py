"""The audit of a policy as a table and lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from multigold.policies.audit import (
    CLAUSE_TESTS,
    AuditProgress,
    ClauseChange,
    ClauseRecord,
    LoopholeCandidate,
    PolicyAudit,
)
from multigold.policies.hints import Hint
from multigold.state.explain import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

HINT_NOTE = "Places to look are found by words alone: a proposal each, and no finding."

_SIGNS = {"pass": "ok", "fail": "OPEN", "not_looked_at": "."}


def clause_table(audit: PolicyAudit, hints: Sequence[Hint]) -> RenderableType:
    """Return a row per clause: the result of each test, whether to look again, how many places to look."""
    from rich import box
    from rich.table import Table

    table = Table(title="Clauses", box=box.SIMPLE, title_justify="left", pad_edge=False)
    for heading in ("clause", "lines", *CLAUSE_TESTS, "again", "hints", "text"):
        table.add_column(heading, overflow="fold")
    numbers = Counter(hint.line for hint in hints)
    for record in audit.clauses:
        table.add_row(*_cells(record), str(numbers[record.first_line] or ""), _short(record.text))
    return table


def _cells(record: ClauseRecord) -> list[str]:
    results = [_SIGNS[record.test(name).result] for name in CLAUSE_TESTS]
    return [printable(record.id), lines_of(record), *results, "look again" if record.look_again else ""]


def lines_of(record: ClauseRecord) -> str:
    """Return a clause's lines as `110` or `20-27`."""
    first, last = record.first_line, record.last_line
    return str(first) if first == last else f"{first}-{last}"


def _short(text: str, width: int = 70) -> str:
    line = " ".join(text.split())
    return printable(line if len(line) <= width else f"{line[:width]}...")


def progress_lines(progress: AuditProgress) -> list[str]:
    """Return how far an audit is."""
    lines = [
        f"{progress.done} of {progress.clauses} clauses done, {progress.look_again} to look at again",
    ]
    for name, numbers in progress.results.items():
        lines.append(f"  {name}: {numbers['pass']} pass, {numbers['fail']} fail, {numbers['not_looked_at']} to look at")
    return lines


def change_lines(changes: Iterable[ClauseChange]) -> list[str]:
    """Return what an edit of the policy did to its clauses; nothing for clauses that are new to new records."""
    return [printable(f"{change.kind}: {change.clause}") for change in changes]


def again_lines(audit: PolicyAudit) -> list[str]:
    """Return the clauses to look at again, each with the reason."""
    return [
        printable(f"look again at {r.id} (line {lines_of(r)}): {r.look_again}") for r in audit.clauses if r.look_again
    ]


def candidate_lines(candidates: Iterable[LoopholeCandidate]) -> list[str]:
    """Return a line per candidate loophole."""
    lines = []
    for candidate in candidates:
        named = "" if candidate.category_named else ", as usual for the test"
        place = f"{candidate.category.value}{named}; {', '.join(candidate.clauses)}"
        lines.append(printable(f"candidate {candidate.id} ({place}): {' '.join(candidate.questions)}"))
    return lines


def hint_table(hints: Sequence[Hint]) -> RenderableType:
    """Return a row per place to look."""
    from rich import box
    from rich.table import Table

    table = Table(title="Places to look (proposals)", box=box.SIMPLE, title_justify="left", pad_edge=False)
    for heading in ("line", "test", "why", "words", "ask"):
        table.add_column(heading, overflow="fold")
    for hint in hints:
        line = f"{hint.line} and {hint.other_line}" if hint.other_line else str(hint.line)
        table.add_row(line, hint.test, hint.kind, printable(", ".join(hint.words)), hint.question)
    return table
