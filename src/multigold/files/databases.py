"""Databases in files: JSON, folders of JSON and CSV tables, and SQLite, read with the standard library.

    before, after = read_database("before.sqlite"), read_database("after.sqlite")
    multigold.diff(before, after)

A database is `{table: {record id: record}}`, so every row needs an id. JSON objects name theirs. For rows it is, in
this order: the columns that the caller names; the primary key, in SQLite; the rowid, in SQLite; the number of the row,
in CSV. A list in JSON stays one value, in its order, unless the caller names the member that is its key.

Files come from strangers. Nothing is written, SQLite files are opened read-only, no path that stands in a file is
opened, and what is read is bounded by `MAX_BYTES`, also where a file is compressed or computes its own columns.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, Literal, TypeAlias

import attrs

from multigold.errors import CallError, DataError, StateError
from multigold.files.reading import read_at_most
from multigold.state.canonical import Json
from multigold.state.database import Database

MAX_BYTES: Final = 512 * 2**20
"""More than this in one database is refused, counted as it is read."""

MAX_CELL_BYTES: Final = 64 * 2**20
"""A longer value in a cell of an SQLite table is refused."""

Keys: TypeAlias = Mapping[str, Sequence[str]]
"""Table to the columns that tell its rows apart."""

DatabaseForm: TypeAlias = Literal["json", "folder", "sqlite"]

_SQLITE_MAGIC: Final = b"SQLite format 3\0"
_ROWID_NAMES: Final = ("rowid", "_rowid_", "oid")
_WORKS: Final = "A database is a JSON file, a folder of JSON or CSV files (one for each table), or an SQLite file."


@attrs.frozen(kw_only=True)
class TableSet:
    """A database as it was read.

    Attributes:
        database: The tables.
        form: What it was read from.
        keys: Table to what its rows are distinguished by, in words; only tables of rows.
        numbered: Tables whose rows have no key and go by their number or rowid: a row that is inserted or removed
            moves the ones after it, or their numbers mean nothing.
    """

    database: Database
    form: DatabaseForm
    keys: Mapping[str, str] = attrs.field(factory=dict)
    numbered: tuple[str, ...] = ()


def read_database(path: Path | str, *, keys: Keys | None = None) -> Database:
    """Read a database; `read_tables` says what the arguments mean and what is raised."""
    return read_tables(path, keys=keys).database


def read_tables(path: Path | str, *, keys: Keys | None = None) -> TableSet:
    """Read a database from a JSON file, a folder of JSON or CSV files, or an SQLite file.

    Args:
        path: The file or folder. What a file is, its content says; compressed JSON and CSV end in `.gz`.
        keys: For tables of rows, the columns that tell them apart; several make a key together. Tables that are not
            there are passed over, as one of two databases may lack one.

    Returns:
        The database, and what its rows are distinguished by.

    Raises:
        CallError: A column that `keys` names is not there, or the table has no rows.
        DataError: The path is not a database, cannot be read, or is too large.
    """
    reading = _DatabaseReading(
        path=Path(path), named={table: tuple(columns) for table, columns in (keys or {}).items()}
    )
    form, tables = _tables(reading)
    try:
        database = Database.from_json(tables)
    except StateError as error:
        raise DataError(error.message, where=f"{path}: {error.where or '/'}", remedy=error.remedy) from error
    return TableSet(database=database, form=form, keys=reading.keys, numbered=tuple(sorted(reading.numbered)))


@attrs.define(kw_only=True)
class _DatabaseReading:
    """What is kept while one database is read: what is left to read of it, and what its rows are distinguished by."""

    path: Path
    named: dict[str, tuple[str, ...]]
    left: int = attrs.field(factory=lambda: MAX_BYTES)
    keys: dict[str, str] = attrs.field(factory=dict)
    numbered: set[str] = attrs.field(factory=set)

    def take(self, size: int, where: str = "") -> None:
        self.left -= size
        if self.left < 0:
            raise DataError(f"it holds more than {MAX_BYTES:,} bytes", where=where or str(self.path))


def _tables(reading: _DatabaseReading) -> tuple[DatabaseForm, dict[str, Json]]:
    path = reading.path
    if path.is_dir():
        return "folder", dict(_folder(reading))
    if not path.exists():
        raise DataError("there is no such file or folder", where=str(path), remedy=_WORKS)
    if not path.is_file():
        raise DataError("it is neither a file nor a folder", where=str(path), remedy=_WORKS)
    if _begins(path).startswith(_SQLITE_MAGIC):
        return "sqlite", _sqlite(reading)
    if _suffix(path) in (".csv", ".tsv"):
        raise DataError(
            "one CSV file is one table", where=str(path), remedy="Put it into a folder, and name the folder."
        )
    value = _parsed(path, reading)
    if not isinstance(value, dict):
        raise DataError("a database is an object of tables, and this is not", where=str(path), remedy=_WORKS)
    return "json", {table: _listed(table, records, reading, str(path)) for table, records in value.items()}


# Files


def _begins(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE_MAGIC))
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> DataError:
    return DataError(f"it cannot be read ({getattr(error, 'strerror', None) or error})", where=str(path))


def _contents(path: Path, reading: _DatabaseReading) -> str:
    """Return a text file's content, decompressed; a byte order mark is dropped."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            data = read_at_most(file, reading.left)
        reading.take(len(data), str(path))
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"it is not UTF-8 text (byte {error.start})", where=str(path), remedy=_WORKS) from error
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, error) from error


def _parsed(path: Path, reading: _DatabaseReading) -> Json:
    try:
        return json.loads(_contents(path, reading), object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise DataError(f"it is not JSON ({error})", where=str(path), remedy=_WORKS) from error


def _object(members: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(members)
    if len(found) < len(members):
        names = [name for name, _ in members]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice!r} occurs twice in one object")
    return found


def _suffix(path: Path) -> str:
    name = path.name.removesuffix(".gz")
    return Path(name).suffix.lower()


def _folder(reading: _DatabaseReading) -> Iterator[tuple[str, Json]]:
    """Yield the tables of a folder, one for each file; other files, hidden ones and folders inside are left alone."""
    found: dict[str, Path] = {}
    for path in sorted(reading.path.iterdir()):
        if _suffix(path) not in _READERS or path.name.startswith(".") or not path.is_file():
            continue
        table = path.name.removesuffix(".gz")[: -len(_suffix(path))]
        if table in found:
            raise DataError(f"the table {table!r} is in both {found[table].name} and {path.name}", where=str(path))
        found[table] = path
    if not found:
        raise DataError("the folder holds no JSON or CSV file", where=str(reading.path), remedy=_WORKS)
    for table, path in found.items():
        yield table, _READERS[_suffix(path)](table, path, reading)


def _json_table(table: str, path: Path, reading: _DatabaseReading) -> Json:
    return _listed(table, _parsed(path, reading), reading, str(path))


def _csv_table(table: str, path: Path, reading: _DatabaseReading) -> Json:
    """Return the rows of a CSV file with a heading line. Every value is text, exactly as it stands."""
    text = io.StringIO(_contents(path, reading), newline="")
    lines = csv.reader(text, delimiter="\t" if _suffix(path) == ".tsv" else ",", strict=True)
    try:
        heading = next(lines, [])
        rows = [_row(heading, cells, f"{path}: line {lines.line_num}") for cells in lines if cells]
    except csv.Error as error:
        raise DataError(f"it is not CSV ({error})", where=f"{path}: line {lines.line_num}") from error
    if len(set(heading)) < len(heading) or not heading:
        raise DataError("its first line must name every column once", where=str(path))
    columns = reading.named.get(table)
    if columns is None:
        reading.keys[table] = "the number of the row"
        reading.numbered.add(table)
        return {str(number): row for number, row in enumerate(rows, start=1)}
    return _keyed(table, rows, columns, reading, str(path))


def _row(heading: list[str], cells: list[str], where: str) -> dict[str, Json]:
    if len(cells) != len(heading):
        raise DataError(f"it has {len(cells)} values, and the first line names {len(heading)} columns", where=where)
    return dict(zip(heading, cells, strict=True))


_READERS: Final[Mapping[str, Callable[[str, Path, _DatabaseReading], Json]]] = {
    ".json": _json_table,
    ".csv": _csv_table,
    ".tsv": _csv_table,
}


# Keys


def _listed(table: str, value: Json, reading: _DatabaseReading, where: str) -> Json:
    """Return a JSON table; a list of rows is keyed if the caller names its key, and is one value otherwise."""
    columns = reading.named.get(table)
    if columns is None:
        return value
    rows = list(value.values()) if isinstance(value, dict) else value
    if not (isinstance(rows, list) and all(isinstance(row, dict) for row in rows)):
        raise CallError(f"the table {table!r} has no rows, so it cannot have a key", where=where)
    return _keyed(table, rows, columns, reading, where)


def _keyed(
    table: str, rows: Iterable[dict[str, Json]], columns: Sequence[str], reading: _DatabaseReading, where: str
) -> dict[str, Json]:
    records: dict[str, Json] = {}
    for number, row in enumerate(rows, start=1):
        missing = [column for column in columns if column not in row]
        if missing:
            raise CallError(f"row {number} of the table {table!r} has no {missing[0]!r}, which is its key", where=where)
        _add(records, _id([row[column] for column in columns]), row, table, where)
    reading.keys[table] = ", ".join(columns)
    return records


def _id(values: Sequence[Json]) -> str:
    """Return the record id for the values of a key: the value itself, or a JSON list if there are several."""
    if len(values) == 1 and isinstance(values[0], str | int) and not isinstance(values[0], bool):
        return str(values[0])
    return json.dumps(values if len(values) > 1 else values[0], ensure_ascii=False)


def _add(records: dict[str, Json], record_id: str, row: Json, table: str, where: str) -> None:
    if record_id in records:
        raise DataError(f"two rows of the table {table!r} have the key {record_id!r}", where=where)
    if not record_id:
        raise DataError(f"a row of the table {table!r} has an empty key", where=where)
    records[record_id] = row


# SQLite


def _sqlite(reading: _DatabaseReading) -> dict[str, Json]:
    where = str(reading.path)
    reading.take(reading.path.stat().st_size)
    reading.left = MAX_BYTES  # from here on the values count, which is all that is kept
    try:
        with closing(sqlite3.connect(f"{reading.path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_CELL_BYTES)
            connection.execute("PRAGMA trusted_schema = OFF")  # a stranger's schema calls no function with effects
            connection.execute("PRAGMA query_only = ON")
            connection.execute("BEGIN")  # one moment, whoever else writes
            # A virtual table has no pages of its own: it is a program, not data.
            names = connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name NOT LIKE 'sqlite\\_%' "
                "ESCAPE '\\' ORDER BY name"
            ).fetchall()
            return {name: _sqlite_table(connection, name, reading, where) for (name,) in names}
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise DataError(f"SQLite cannot read it ({error})", where=where) from error


def _sqlite_table(connection: sqlite3.Connection, table: str, reading: _DatabaseReading, where: str) -> dict[str, Json]:
    columns = connection.execute("SELECT name, pk FROM pragma_table_info(?)", (table,)).fetchall()
    primary = [name for name, position in sorted(columns, key=lambda column: column[1]) if position]
    names = [name for name, _ in columns]
    key = list(reading.named.get(table, primary))
    unknown = [name for name in key if name not in names]
    if unknown:
        raise CallError(f"the table {table!r} has no column {unknown[0]!r}, which should be its key", where=where)
    rowid = next((name for name in _ROWID_NAMES if name not in map(str.lower, names)), None)
    if not key and rowid is None:
        raise CallError(f"the table {table!r} has no key", where=where, remedy=f"Name one: --key {table}=COLUMN.")
    reading.keys[table] = ", ".join(key) or "the rowid"
    if not key:
        reading.numbered.add(table)
    # Columns by name, since `*` would bring the generated ones, which a stranger's schema computes.
    chosen = ", ".join(_quoted(name) for name in [*(key or [rowid or ""]), *names])
    records: dict[str, Json] = {}
    for values in connection.execute(f"SELECT {chosen} FROM {_quoted(table)}"):
        cells = [_cell(value, reading, where) for value in values]
        parts, row = cells[: len(key) or 1], dict(zip(names, cells[len(key) or 1 :], strict=True))
        _add(records, _id(parts), row, table, where)
    return records


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _cell(value: Json, reading: _DatabaseReading, where: str) -> Json:
    """Return a value as JSON: bytes, which JSON has not, as `{"$bytes": hexadecimal digits}`."""
    reading.take(len(value) if isinstance(value, str | bytes) else 8, where)
    return {"$bytes": value.hex()} if isinstance(value, bytes) else value
