"""The audit of versions as lines and a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from multigold.audit.versions import FileChange, TaskChange, VersionDiff
from multigold.state.explain import printable
from multigold.stats.exact import TaskOverlap

if TYPE_CHECKING:
    from rich.console import RenderableType


def version_tables(found: VersionDiff, *, replayed: bool) -> list[RenderableType]:
    """Return what changed between two releases, as lines and a table.

    Args:
        found: The comparison.
        replayed: Whether the golds were replayed, so that their end states are known.
    """
    lines = [
        f"{found.old} -> {found.new}: {len(found.common)} tasks in both",
        *(f"only in the older: {_ids(found.only_old)}" for _ in found.only_old[:1]),
        *(f"only in the newer: {_ids(found.only_new)}" for _ in found.only_new[:1]),
        f"changed in any way: {_count(found.changed())}",
        f"  reward_basis aside: {_count(found.changed(aside=('reward_basis',)))}",
        f"  description and notes aside too: {_count(found.changed(aside=('reward_basis', 'description', 'notes')))}",
        f"  in more than cosmetics: {_count(found.substantive)}",
        f"gold writes differ: {_count(found.changed_in('gold_writes'))}",
        f"gold end states differ: {_count(found.gold_states_differ) if replayed else 'not replayed'}",
        *_file_lines("policy", found.policy),
        *_file_lines("database", found.database),
    ]
    shown = [change for change in found.changes if set(change.touched) - _UNSHOWN]
    table = [_table(shown, replayed=replayed), STRATEGY_NOTE] if shown else []
    return [*(printable(line) for line in lines), *table]


_UNSHOWN = {"reward_basis", "notes"}
"""Tasks that differ in nothing but these are counted and not listed."""

STRATEGY_NOTE = (
    "What the change does is inferred from its form (words of the new sentences, the golds' end states): a proposal "
    "for a person to check."
)


def _ids(ids: Sequence[str]) -> str:
    return " ".join(ids)


def _count(ids: Sequence[str]) -> str:
    return f"{len(ids)}: {_ids(ids)}" if ids else "none"


def _file_lines(name: str, change: FileChange) -> Iterable[str]:
    words = {"same": "the same", "differs": "differs", "not_given": "not at hand in both"}
    yield f"{name}: {words[change.status]}"
    yield from (f"  + {clause}" for clause in change.clauses_added)
    yield from (f"  - {clause}" for clause in change.clauses_removed)


def _table(changes: Iterable[TaskChange], *, replayed: bool) -> RenderableType:
    from rich import box
    from rich.table import Table

    table = Table(title="By task", box=box.SIMPLE, title_justify="left", pad_edge=False)
    for heading in ("task", "changed", "only cosmetically", "gold state", "what it does", "added to the instructions"):
        table.add_column(heading, overflow="fold")
    for change in changes:
        table.add_row(
            change.task_id,
            " ".join(change.parts),
            " ".join(change.cosmetic),
            _gold_state(change) if replayed else "?",
            " ".join(change.strategies),
            printable(" / ".join(change.added)),
        )
    return table


def _gold_state(change: TaskChange) -> str:
    if change.gold_delta is None:
        return "no gold"
    untouched = ", untouched" if change.gold_untouched else ""
    return f"{'differs' if change.gold_delta else 'same'}{untouched}"


def overlap_line(overlap: TaskOverlap) -> str:
    """Return an overlap and its probability as a sentence."""
    return (
        f"{overlap.hits} of the {overlap.drawn} tasks named are among the {overlap.marked} changed of "
        f"{overlap.population}; the probability of at least so many by chance is "
        f"{overlap.p_value * 100:.2f} % (hypergeometric; {overlap.expected:.2f} expected)"
    )
