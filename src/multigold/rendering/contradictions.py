"""Contradictions as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from multigold.audit.golds.contradictions import Contradiction, GoldSides
from multigold.model.catalogue import Catalogue
from multigold.state.explain import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

_KINDS = {"one_release": "two tasks of one release", "between_releases": "one task between releases"}


def contradiction_tables(found: Sequence[Contradiction], catalogue: Catalogue) -> list[RenderableType]:
    """Return the contradictions of a domain as a table, or a line that there are none."""
    if not found:
        return [printable(f"{catalogue.domain}: no golds take opposite sides of one loophole")]
    return [_table(found, catalogue)]


def _table(found: Sequence[Contradiction], catalogue: Catalogue) -> RenderableType:
    from rich import box
    from rich.table import Table

    title = printable(f"Golds on opposite sides, {catalogue.domain}")
    table = Table(title=title, box=box.SIMPLE, title_justify="left", pad_edge=False)
    for heading in ("loophole", "kind", "one gold", "the other", "releases", "clauses (lines)"):
        table.add_column(heading, overflow="fold")
    for pair in found:
        cells = [" ".join(pair.loopholes), _KINDS[pair.kind], _gold_sides(pair.first), _gold_sides(pair.second)]
        table.add_row(*map(printable, (*cells, " ".join(pair.shared), _clauses(pair, catalogue))))
    return table


def _gold_sides(gold: GoldSides) -> str:
    sides = ", ".join(f"{loophole} {side}" for loophole, side in gold.sides.items())
    releases = f" at {', '.join(gold.releases)}" if gold.releases else ""
    forced = f"; no other side is left by the text at {', '.join(gold.forced)}" if gold.forced else ""
    return f"task {gold.task_id}: {sides} ({', '.join(gold.readings)}){releases}{forced}"


def _clauses(pair: Contradiction, catalogue: Catalogue) -> str:
    named = [catalogue.clauses[clause] for clause in pair.clauses if clause in catalogue.clauses]
    return ", ".join(f"{clause.id} ({clause.first_line})" for clause in named)
