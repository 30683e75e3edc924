"""Databases that are shared and never written, and drafts that are.

A domain database has thousands of records and a run changes three. So a `Database` is a *root* (parsed once, shared by
every state derived from it) and a small overlay of changed records; a `Draft` is the same with an overlay that may be
written. Replay never copies the root, and two states on one root are compared by their overlays alone.

    root tables  {table: {id: record}}       one per file, never written
    changes      {table: {id: record|GONE}}  one per state

A top-level value that is not an object (some benchmarks keep a plain list or string next to their tables) is one record
whose id is `WHOLE`. An empty table and a missing one are the same: a database is its records.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, Final, TypeAlias

import attrs

from multigold.errors import StateError
from multigold.state.canonical import Json, canonical, canonical_text, clone, escape, same

Table: TypeAlias = dict[str, Json]
Tables: TypeAlias = dict[str, Table]
Rule: TypeAlias = Callable[[str, str, Json], Iterable[Any]]
"""What `Database.tally` counts in one record: `rule(table, id, record)` yields hashable things. Hashable itself."""


class _Gone(Enum):
    GONE = "gone"


GONE: Final = _Gone.GONE
"""In an overlay: the record of the root is deleted."""

WHOLE: Final = ""
"""The record id of a top-level value that is not an object. No real record has an empty id (`from_json` refuses it)."""

_MODULUS = 2**256


class DeferredTable(Mapping[str, Json]):
    """A read-only table, whose records are decoded when they are first looked at.

    A domain has thousands of records and a run looks at ten, so most of a large file need never become objects.

    Args:
        encoded: Record id to the record as text that is known to be sound.
        decode: Gives the record for such a text.
    """

    __slots__ = ("_decode", "_decoded", "_encoded")

    def __init__(self, encoded: Mapping[str, Any], decode: Callable[[Any], Json]) -> None:
        self._encoded = encoded
        self._decode = decode
        self._decoded: Table = {}

    def __getitem__(self, record_id: str) -> Json:
        if record_id not in self._decoded:
            self._decoded[record_id] = self._decode(self._encoded[record_id])
        return self._decoded[record_id]

    def get(self, record_id: str, default: Json = None) -> Json:
        """Return a record, or the default if there is none."""
        return self[record_id] if record_id in self._encoded else default

    def __contains__(self, record_id: object) -> bool:
        return record_id in self._encoded

    def __iter__(self) -> Iterator[str]:
        return iter(self._encoded)

    def __len__(self) -> int:
        return len(self._encoded)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self.items()),)


class _Root:
    """Read-only tables, with what was once computed about all their records."""

    __slots__ = ("_tallies", "_total", "tables")

    def __init__(self, tables: Mapping[str, Mapping[str, Json]]) -> None:
        self.tables = tables
        self._total: int | None = None
        self._tallies: dict[Rule, Counter[Any]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _Root, (self.tables,)  # what was worked out stays here: a rule may be a closure

    def total(self) -> int:
        if self._total is None:
            self._total = sum(_digest(t, i, r) for t, table in self.tables.items() for i, r in table.items()) % _MODULUS
        return self._total

    def tally(self, rule: Rule) -> Counter[Any]:
        if rule not in self._tallies:
            records = ((t, i, r) for t, table in self.tables.items() for i, r in table.items())
            self._tallies[rule] = Counter(found for record in records for found in rule(*record))
        return self._tallies[rule]


def _digest(table: str, record_id: str, record: Json) -> int:
    text = canonical_text([table, record_id, record])
    return int.from_bytes(hashlib.sha256(text.encode("ascii")).digest(), "big")


class Database:
    """Tables of records, frozen and shared: `{table: {record id: record}}` with JSON values.

    Records that it hands out are shared with every other state on the same root: read them, never write to them.
    To change something take a `draft()`. Two databases are equal when their canonical forms are.
    """

    __slots__ = ("_changes", "_root")

    def __init__(self, _root: _Root, _changes: Tables) -> None:
        self._root = _root
        self._changes = _changes

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> Database:
        """Make a database from plain data, which is checked and copied.

        Args:
            data: `{table: {record id: record}}`. A value that is not an object is kept whole.

        Raises:
            StateError: If the data is not JSON (its path is in the error) or a record id is the empty string.
        """
        if not isinstance(data, Mapping):
            raise StateError(f"a database is an object of tables, not a {type(data).__name__}")
        return cls.adopt(canonical(dict(data)))

    @classmethod
    def adopt(cls, data: dict[str, Json]) -> Database:
        """Make a database of decoded JSON without copying it; the caller gives the data away and never writes to it.

        A table may be a `DeferredTable`.

        The values are not looked at, which is what makes this free. What the canonical form refuses (nesting without
        end, say) is found by whatever comes to work on the record.

        Raises:
            StateError: If the data is not an object or a record id is the empty string.
        """
        if not isinstance(data, dict):
            raise StateError(f"a database is an object of tables, not a {type(data).__name__}")
        tables: dict[str, Mapping[str, Json]] = {}
        for name, value in data.items():
            is_table = isinstance(value, (dict, DeferredTable))
            if is_table and WHOLE in value:
                raise StateError("a record id is the empty string", where=f"/{escape(name)}")
            tables[name] = value if is_table else {WHOLE: value}
        return cls(_Root(tables), {})

    def tables(self) -> list[str]:
        """Return the names of the tables, sorted."""
        return sorted(self._root.tables.keys() | self._changes.keys())

    def ids(self, table: str) -> list[str]:
        """Return the ids of the records of a table: the root's order, then added ones; empty for an unknown table."""
        return _ids(self._root.tables.get(table, {}), self._changes.get(table, {}))

    def get(self, table: str, record_id: str) -> Json:
        """Return a record, to be read only.

        Raises:
            KeyError: If there is none.
        """
        found = self.find(table, record_id)
        if found is GONE:
            raise KeyError(record_id)
        return found

    def find(self, table: str, record_id: str) -> Json:
        """Return a record, to be read only, or `GONE` if there is none."""
        overlay = self._changes.get(table)
        if overlay is not None and record_id in overlay:
            return overlay[record_id]
        return self._root.tables.get(table, {}).get(record_id, GONE)

    def records(self) -> Iterator[tuple[str, str, Json]]:
        """Yield every (table, id, record)."""
        for table in self.tables():
            for record_id in self.ids(table):
                yield table, record_id, self.get(table, record_id)

    def to_json(self) -> dict[str, Json]:
        """Return the database as plain data of its own, safe to change."""
        tables: dict[str, Json] = {}
        for table, record_id, record in self.records():
            if record_id == WHOLE:
                tables[table] = clone(record)
            else:
                tables.setdefault(table, {})[record_id] = clone(record)
        return tables

    def draft(self) -> Draft:
        """Return a writable overlay; the database itself never changes."""
        return Draft(self)

    def fingerprint(self) -> str:
        """Return 64 hexadecimal digits that depend on the content alone, whatever root and path led to it.

        It is the sum modulo 2^256 of the SHA-256 of each canonical (table, id, record), so that a state on a large
        root costs only its changed records once the root's sum is known.
        """
        total = self._root.total()
        for table, overlay in self._changes.items():
            root = self._root.tables.get(table, {})
            for record_id, record in overlay.items():
                if record_id in root:
                    total -= _digest(table, record_id, root[record_id])
                if record is not GONE:
                    total += _digest(table, record_id, record)
        return f"{total % _MODULUS:064x}"

    def tally(self, rule: Rule) -> Mapping[Any, int]:
        """Count what a rule finds in all records; like the fingerprint, it walks a root only once per rule.

        Args:
            rule: Called with the table, id and record of every record. It is kept with the root, so it should be a
                record that compares by value or a function of a module, not a new closure for each call.

        Returns:
            How often each thing was found; things that are not there have no entry or 0.
        """
        total = self._root.tally(rule)
        if not self._changes:
            return total
        total = total.copy()
        for table, overlay in self._changes.items():
            root = self._root.tables.get(table, {})
            for record_id, record in overlay.items():
                if record_id in root:
                    total.subtract(rule(table, record_id, root[record_id]))
                if record is not GONE:
                    total.update(rule(table, record_id, record))
        return total

    def touched(self, other: Database) -> Iterator[tuple[str, str]]:
        """Yield every (table, id) whose record may differ between the two databases, in sorted order.

        On one root these are the records of the two overlays; otherwise all records of both.
        """
        if self._root is other._root:
            places = {(t, i) for changes in (self._changes, other._changes) for t, o in changes.items() for i in o}
        else:
            places = {(t, i) for database in (self, other) for t, i, _ in database.records()}
        yield from sorted(places)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Database):
            return NotImplemented
        return all(same_record(self.find(t, i), other.find(t, i)) for t, i in self.touched(other))

    def __hash__(self) -> int:
        return hash(self.fingerprint())

    def __repr__(self) -> str:
        sizes = ", ".join(f"{table}: {len(self.ids(table))}" for table in self.tables())
        return f"<Database {sizes}>"


def same_record(a: Json, b: Json) -> bool:
    """Tell whether two records, or absences (`GONE`), are the same."""
    if a is GONE or b is GONE:
        return a is b
    return same(a, b)


def _ids(root: Mapping[str, Json], overlay: Table) -> list[str]:
    kept = [i for i in root if overlay.get(i, None) is not GONE]
    return kept + [i for i, record in overlay.items() if i not in root and record is not GONE]


class Draft:
    """A copy-on-write overlay on a `Database`: what a tool reads and writes.

    `get` returns a record to be read only; `edit` returns one that may be changed in place, copied from the database
    the first time. `freeze` hands the result over; a draft may be used on after that without touching what it froze.
    """

    __slots__ = ("_base", "_own")

    def __init__(self, base: Database) -> None:
        self._base = base
        self._own: Tables = {}

    def _find(self, table: str, record_id: str) -> Json:
        overlay = self._own.get(table)
        if overlay is not None and record_id in overlay:
            return overlay[record_id]
        return self._base.find(table, record_id)

    def has(self, table: str, record_id: object) -> bool:
        """Tell whether the table has a record of that id; False for anything that is not a string."""
        return isinstance(record_id, str) and self._find(table, record_id) is not GONE

    def get(self, table: str, record_id: str) -> Json:
        """Return a record, to be read only.

        Raises:
            KeyError: If there is none.
        """
        found = self._find(table, record_id)
        if found is GONE:
            raise KeyError(record_id)
        return found

    def edit(self, table: str, record_id: str) -> Json:
        """Return a record that may be changed in place.

        Raises:
            KeyError: If there is none.
        """
        overlay = self._own.setdefault(table, {})
        if record_id not in overlay:
            overlay[record_id] = clone(self.get(table, record_id))
        return self.get(table, record_id)

    def put(self, table: str, record_id: str, record: Json) -> None:
        """Store a record, which the caller gives away; an existing one is replaced.

        Raises:
            StateError: If the id is the empty string, or what stands there is a value and no table.
        """
        if record_id == WHOLE:
            raise StateError("a record id is the empty string", where=f"/{escape(table)}")
        if self.has(table, WHOLE):
            raise StateError("a value stands where a table of records should be", where=f"/{escape(table)}")
        self._own.setdefault(table, {})[record_id] = record

    def put_whole(self, table: str, value: Json) -> None:
        """Store a top-level value that is not an object, which the caller gives away; it replaces a table's records.

        Raises:
            StateError: If the value is an object: that would be a table.
        """
        if isinstance(value, dict):
            raise StateError("a table is stored record by record", where=f"/{escape(table)}")
        gone: Table = dict.fromkeys(self.ids(table), GONE)
        self._own[table] = {**self._own.get(table, {}), **gone, WHOLE: value}

    def remove(self, table: str, record_id: str) -> None:
        """Delete a record.

        Raises:
            KeyError: If there is none.
        """
        self.get(table, record_id)
        self._own.setdefault(table, {})[record_id] = GONE

    def ids(self, table: str) -> list[str]:
        """Return the ids of the records of a table: the database's order, then added ones."""
        own = self._own.get(table)
        base = self._base.ids(table)
        if not own:
            return base
        return _ids(dict.fromkeys(base), own)

    def freeze(self) -> Database:
        """Return the present content as a `Database` on the same root; later writes to the draft leave it alone."""
        changes = {table: dict(overlay) for table, overlay in self._base._changes.items()}
        for table, overlay in self._own.items():
            changes.setdefault(table, {}).update(overlay)
        frozen = Database(self._base._root, changes)
        self._base, self._own = frozen, {}
        return frozen


@attrs.frozen
class EndState:
    """What a run leaves behind: the agent's database and, if the domain has one, the user's."""

    agent: Database
    user: Database | None = attrs.field(default=None, kw_only=True)

    def sides(self) -> Iterator[tuple[str, Database]]:
        """Yield (`agent`, its database) and, if there is one, (`user`, its database)."""
        yield "agent", self.agent
        if self.user is not None:
            yield "user", self.user

    def fingerprint(self) -> str:
        """Return 64 hexadecimal digits for the content of both sides."""
        if self.user is None:
            return self.agent.fingerprint()
        joined = f"{self.agent.fingerprint()}:{self.user.fingerprint()}"
        return hashlib.sha256(joined.encode("ascii")).hexdigest()
