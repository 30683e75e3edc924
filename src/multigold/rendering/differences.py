"""Two databases compared: as lines, and as the JSON document of `multigold diff --json`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from multigold.files.databases import TableSet
from multigold.state.canonical import Json
from multigold.state.database import GONE, Database, same_record
from multigold.state.delta import Delta
from multigold.state.explain import explain_delta, printable

SCHEMA = "multigold/diff/1"
"""Name and version of the document's form; the schema itself ships as `schemas/diff.schema.json`."""


def difference_lines(before: TableSet, after: TableSet, delta: Delta, *, limit: int) -> Iterator[str]:
    """Yield a line for each pointer that differs, at most `limit`, then the counts, then what to know of the keys."""
    yield from explain_delta(delta, limit=limit)
    counts = table_counts(before.database, after.database)
    for table, found in counts.items():
        parts = ", ".join(f"{number} {what}" for what, number in found.items() if number)
        yield f"table {printable(table)}: {parts}"
    if not counts:
        tables, records = before.database.tables(), sum(1 for _ in before.database.records())
        yield f"The two databases are the same: {len(tables)} tables, {records} records."
    for table in sorted({*before.numbered, *after.numbered} & counts.keys()):
        key = after.keys.get(table) or before.keys.get(table, "")
        yield (
            f"note: rows of {printable(table)} are distinguished by {key}; "
            f"name a column that identifies them with --key {printable(table)}=COLUMN"
        )


def table_counts(before: Database, after: Database) -> dict[str, dict[Literal["added", "removed", "changed"], int]]:
    """Return, for each table that differs, how many of its records were added, removed and changed."""
    counts: dict[str, dict[Literal["added", "removed", "changed"], int]] = {}
    for table, record_id in before.touched(after):
        old, new = before.find(table, record_id), after.find(table, record_id)
        if not same_record(old, new):
            found = counts.setdefault(table, {"added": 0, "removed": 0, "changed": 0})
            found["added" if old is GONE else "removed" if new is GONE else "changed"] += 1
    return counts


def difference_json(names: tuple[str, str], before: TableSet, after: TableSet, delta: Delta) -> dict[str, Json]:
    """Return the whole of a comparison as plain data that validates against `document_schema("diff")`.

    Args:
        names: What the two are called.
        before: One database.
        after: The other.
        delta: What differs.
    """
    return {
        "schema": SCHEMA,
        "before": _described(names[0], before),
        "after": _described(names[1], after),
        "same": not delta,
        "tables": table_counts(before.database, after.database),
        "delta": delta.to_json(),
    }


def _described(name: str, tables: TableSet) -> dict[str, Json]:
    database = tables.database
    return {
        "name": name,
        "form": tables.form,
        "fingerprint": database.fingerprint(),
        "records": {table: len(database.ids(table)) for table in database.tables()},
        "keys": dict(tables.keys),
        "numbered": list(tables.numbered),
    }
