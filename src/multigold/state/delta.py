"""What differs between two states, as data.

A delta is flat: JSON Pointer (RFC 6901) to what stood there before and after. Objects are recursed into. Lists are
atomic, because their order means something and an index means little. A record that appears or disappears is one
entry. Pointers begin with the side, `/agent` or `/user`.

    {"/agent/reservations/OWZ4XL/cabin": {"before": "basic_economy", "after": "economy"}}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from itertools import islice
from typing import Final

import attrs

from multigold.errors import StateError
from multigold.state.canonical import Json, canonical, clone, digest, same, too_deep
from multigold.state.canonical import escape as escape
from multigold.state.database import GONE, WHOLE, Database, Draft, EndState


class _Absent(Enum):
    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent.ABSENT
"""Nothing stood, or stands, at the pointer. Not null, which is a value."""


def _same_value(a: Json, b: Json) -> bool:
    return a is b if a is ABSENT or b is ABSENT else same(a, b)


@attrs.frozen(eq=False)
class Change:
    """What one pointer held before and holds after: a JSON value or `ABSENT`."""

    before: Json
    after: Json

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Change):
            return NotImplemented
        return _same_value(self.before, other.before) and _same_value(self.after, other.after)

    __hash__ = None  # type: ignore[assignment]  # holds lists and objects

    def inverted(self) -> Change:
        """Return the change that undoes this one."""
        return Change(self.after, self.before)

    def pair(self) -> dict[str, Json]:
        """Return `{before?, after?}`, to be read only; an absent side has no key."""
        pair = {"before": self.before, "after": self.after}
        return {key: value for key, value in pair.items() if value is not ABSENT}

    def to_json(self) -> dict[str, Json]:
        """Return `{before?, after?}`, safe to change; an absent side has no key."""
        return {key: clone(value) for key, value in self.pair().items()}


@attrs.frozen
class Delta:
    """The changes that lead from one state to another, by JSON Pointer, in sorted order.

    `delta.apply(before)` is `after`; `delta.inverted().apply(after)` is `before` (docs/laws.md, law 1).
    """

    changes: Mapping[str, Change]

    def __bool__(self) -> bool:
        return bool(self.changes)

    def __len__(self) -> int:
        return len(self.changes)

    def __iter__(self) -> Iterator[str]:
        return iter(self.changes)

    def inverted(self) -> Delta:
        """Return the delta that leads back."""
        return Delta({pointer: change.inverted() for pointer, change in self.changes.items()})

    def apply(self, state: EndState) -> EndState:
        """Return the state after the changes.

        Raises:
            StateError: If what stands in the state is not what the delta says stood there before.
        """
        drafts = {side: database.draft() for side, database in state.sides()}
        # What goes makes room first: a table may give way to a value, or a value to a table.
        for pointer, change in sorted(self.changes.items(), key=lambda item: item[1].after is not ABSENT):
            _apply_one(drafts, pointer, change)
        user = drafts.get("user")
        return EndState(drafts["agent"].freeze(), user=user.freeze() if user else None)

    def to_json(self) -> dict[str, dict[str, Json]]:
        """Return `{pointer: {before?, after?}}`."""
        return {pointer: change.to_json() for pointer, change in self.changes.items()}

    def fingerprint(self) -> str:
        """Return 64 hexadecimal digits: the digest of what `to_json` writes, equal for equal deltas.

        Raises:
            StateError: If a value is not JSON.
        """
        return digest({pointer: change.pair() for pointer, change in self.changes.items()})

    @classmethod
    def from_json(cls, data: Mapping[str, Mapping[str, Json]]) -> Delta:
        """Read what `to_json` wrote.

        Raises:
            StateError: If a pointer does not name a side and a table, or a change has neither side.
        """
        if not isinstance(data, Mapping):
            raise StateError(f"a delta is an object of pointers, not a {type(data).__name__}")
        changes = {}
        for pointer, change in sorted(data.items()):
            tokens = split_pointer(pointer)
            if len(tokens) < 2 or tokens[2:3] == (WHOLE,):
                raise StateError(
                    "a delta's pointer names a side, a table and, for tables of records, a record", where=pointer
                )
            if not isinstance(change, Mapping) or not change or not change.keys() <= {"before", "after"}:
                raise StateError("a change has the keys before, after, or both", where=pointer)
            pair = {key: canonical(value, where=pointer) for key, value in change.items()}
            if len(tokens) == 2 and any(isinstance(value, dict) for value in pair.values()):
                raise StateError("a table changes record by record", where=pointer, remedy="Name each of its records.")
            changes[pointer] = Change(pair.get("before", ABSENT), pair.get("after", ABSENT))
        return cls(changes)


def diff(before: EndState | Database, after: EndState | Database) -> Delta:
    """Return what differs between two states, empty exactly when they are the same.

    Args:
        before: A state; a bare database stands for a state that has no user side.
        after: Another.

    Raises:
        StateError: If one state has a user database and the other has none, if one is plain data, or if a
            record is nested too deep.
    """
    try:
        return Delta(dict(_differences(_as_state(before), _as_state(after))))
    except RecursionError:
        raise too_deep() from None


def shortest_diff(befores: Iterable[EndState], after: EndState) -> Delta:
    """Return the shortest delta that leads from one of several states to another; of equally short ones the first.

    Raises:
        StateError: As `diff` does.
        ValueError: If there is no state to start from.
    """
    shortest: dict[str, Change] | None = None
    try:
        for before in befores:
            # No more differences are looked for than would still make it the shortest.
            most = None if shortest is None else len(shortest)
            changes = dict(islice(_differences(before, after), most))
            if shortest is None or len(changes) < len(shortest):
                shortest = changes
    except RecursionError:
        raise too_deep() from None
    if shortest is None:
        raise ValueError("there is no state to start from")
    return Delta(shortest)


def _differences(before: EndState, after: EndState) -> Iterator[tuple[str, Change]]:
    sides_before, sides_after = dict(before.sides()), dict(after.sides())
    if sides_before.keys() != sides_after.keys():
        raise StateError("one state has a user database, the other has none")
    for side, database in sides_before.items():
        yield from _diff_databases(f"/{side}", database, sides_after[side])


def _as_state(state: EndState | Database) -> EndState:
    if isinstance(state, Database):
        return EndState(state)
    if not isinstance(state, EndState):
        raise StateError(
            f"a state is an EndState or a Database, and this is a {type(state).__name__}",
            remedy="Make one with multigold.Database.from_json(...).",
        )
    return state


def _diff_databases(prefix: str, a: Database, b: Database) -> Iterator[tuple[str, Change]]:
    for table, record_id in a.touched(b):
        tail = "" if record_id == WHOLE else f"/{escape(record_id)}"
        old, new = a.find(table, record_id), b.find(table, record_id)
        if old is not new:
            yield from _diff_values(
                f"{prefix}/{escape(table)}{tail}", ABSENT if old is GONE else old, ABSENT if new is GONE else new
            )


def _diff_values(pointer: str, old: Json, new: Json) -> Iterator[tuple[str, Change]]:
    if not (isinstance(old, dict) and isinstance(new, dict)):
        if not _same_value(old, new):
            yield pointer, Change(old, new)
        return
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key, ABSENT), new.get(key, ABSENT)
        if before is not after and not _same_value(before, after):
            yield from _diff_values(f"{pointer}/{escape(key)}", before, after)


def split_pointer(pointer: str) -> tuple[str, ...]:
    """Split a JSON Pointer into its unescaped tokens.

    Raises:
        StateError: If it does not begin with a slash.
    """
    if not pointer.startswith("/"):
        raise StateError(f"{pointer!r} is not a JSON Pointer", remedy="It begins with a slash, such as /agent/users.")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/"))


def join_pointer(tokens: Iterable[str]) -> str:
    """Join tokens to a JSON Pointer."""
    return "".join(f"/{escape(token)}" for token in tokens)


def _apply_one(drafts: dict[str, Draft], pointer: str, change: Change) -> None:
    side, table, *rest = split_pointer(pointer)
    if side not in drafts:
        raise StateError(f"the state has no {side} database", where=pointer)
    draft = drafts[side]
    record_id, path = (rest[0], rest[1:]) if rest else (WHOLE, [])
    if not path:
        _check_before(draft.get(table, record_id) if draft.has(table, record_id) else ABSENT, change, pointer)
        _put_record(draft, table, record_id, change.after)
        return
    if not draft.has(table, record_id):
        raise StateError("the delta changes a record that is not there", where=pointer)
    holder = draft.edit(table, record_id)
    for token in path[:-1]:
        holder = holder.get(token) if isinstance(holder, dict) else None
    if not isinstance(holder, dict):
        raise StateError("the delta points into a value that is not an object", where=pointer)
    _check_before(holder.get(path[-1], ABSENT), change, pointer)
    if change.after is ABSENT:
        del holder[path[-1]]
    else:
        holder[path[-1]] = clone(change.after)


def _put_record(draft: Draft, table: str, record_id: str, value: Json) -> None:
    if value is ABSENT:
        draft.remove(table, record_id)
    elif record_id == WHOLE:
        draft.put_whole(table, clone(value))
    else:
        draft.put(table, record_id, clone(value))


def _check_before(present: Json, change: Change, pointer: str) -> None:
    if not _same_value(present, change.before):
        raise StateError("the state does not hold the value that the delta gives as `before`", where=pointer)
