"""`multigold diff`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from multigold.cli._common import JSON, write_json
from multigold.errors import CallError
from multigold.files.databases import read_tables
from multigold.state.delta import diff


@click.command(name="diff")
@click.argument("before")
@click.argument("after")
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="TABLE=COLUMN[,COLUMN]",
    help="Identify the rows of a table by these columns. The default is the primary key in SQLite, and the row number "
    "in CSV. May be given several times.",
)
@click.option("--limit", type=click.IntRange(min=0), default=30, show_default=True, help="Lines of differences.")
@JSON
def command(before: str, after: str, keys: tuple[str, ...], limit: int, json_path: Path | None) -> None:
    """Compare two databases, BEFORE and AFTER: each a JSON file, a folder of JSON or CSV tables, or an SQLite file.

    Exit status: 0 they are the same; 1 they differ; 2 the input or the call is wrong.
    """
    from multigold.rendering.differences import difference_json, difference_lines

    named = _named(keys)
    one, other = (read_tables(path, keys=named) for path in (before, after))
    unknown = [table for table in named if table not in one.keys and table not in other.keys]
    if unknown:
        raise CallError(f"neither database has a table {unknown[0]!r} that could have a key")
    delta = diff(one.database, other.database)
    if json_path is not None:
        write_json(difference_json((before, after), one, other, delta), json_path)
    if json_path != Path("-"):
        for line in difference_lines(one, other, delta, limit=limit):
            click.echo(line)
    sys.exit(1 if delta else 0)


def _named(keys: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    named = {}
    for text in keys:
        table, equals, columns = text.rpartition("=")
        parts = tuple(columns.split(","))
        if not (table and equals and all(parts)):
            raise CallError(f"--key {text!r} does not name a table and a column", remedy="It is written TABLE=COLUMN.")
        named[table] = parts
    return named
