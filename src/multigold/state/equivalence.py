"""Named equivalences: each an idempotent map of a state to a normal form. Off unless asked for.

Two states are equivalent under a set of names when their normal forms are equal (`==`). A domain declares what the maps
need (`Conventions`): which ids it mints, which lists have no order, which lists are payment logs.

Only records that changed since the run started are looked at. That is enough: minted ids stand in no other record, and
a record whose normal form is that of the record it started as is put back to it, so whether a record was touched makes
no difference. A normal form is the initial state with the normal forms of the records that changed.

`comparable` is not an equivalence but what strict comparison rests on: declared null defaults and log tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from multigold.errors import CallError
from multigold.state.canonical import Json, too_deep
from multigold.state.conventions import Conventions as Conventions
from multigold.state.conventions import IdPool as IdPool
from multigold.state.conventions import PaymentLog as PaymentLog
from multigold.state.conventions import Place as Place
from multigold.state.database import GONE, WHOLE, Database, EndState, same_record
from multigold.state.markers import Bag
from multigold.state.minting import Key, Records, rename
from multigold.state.paths import content_text, parse, rewrite, within

if TYPE_CHECKING:
    from fractions import Fraction  # imported where used: few runs net payments

EQUIVALENCES: Mapping[str, str] = {
    "minted-ids": "ids that the environment minted during the run are renamed by the content of their records",
    "unordered": "lists that the domain declares unordered are sorted",
    "net-payments": "append-only payment logs are netted per payment method",
}
"""Name to what the normal form does, in the order in which verdicts list them."""

Rules: TypeAlias = tuple[tuple[str, Callable[[Json], Json]], ...]
"""Declared paths, and what to do with what stands there, in order."""


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names in their fixed order, each once.

    Raises:
        CallError: If a name is not the name of an equivalence, or a string stands where a list of names should.
    """
    if isinstance(names, str):
        raise CallError(f"equivalences are a list of names, and {names!r} is a string", remedy=f"Write [{names!r}].")
    for name in names:
        if name not in EQUIVALENCES:
            raise CallError(f"there is no equivalence {name!r}", remedy=f"There are: {', '.join(EQUIVALENCES)}.")
    return tuple(name for name in EQUIVALENCES if name in names)


def normal_form(state: EndState, initial: EndState, names: Sequence[str], conventions: Conventions) -> EndState:
    """Return the normal form of a state: payments netted, lists sorted, then minted ids renamed, as asked for.

    It is its own normal form, equal for equal states, and equal for states that are equivalent under fewer names. So
    netted logs and sorted lists go into the renaming as bags: the order in which they stand by then follows the ids.
    Minted ids become markers that are equal to no string, so a normal form is to be compared with another, not written
    out. The user's side is left as it is.

    Args:
        state: The state.
        initial: The state that the run started in: ids that existed there are never renamed.
        names: The equivalences to apply, in any order.
        conventions: What the domain declares.

    Raises:
        CallError: If a name is not the name of an equivalence.
        StateError: If a changed record is not JSON or is nested too deep, or if so many minted ids look alike and hang
            together that they cannot be named.
    """
    chosen = check_names(names)
    if not chosen:
        return state
    finish = partial(_apply, _rules(chosen, conventions))
    try:
        records = {key: finish(key, record) for key, record in _changed(state.agent, initial.agent).items()}
        if "minted-ids" in chosen and conventions.id_pools:
            records = rename(records, initial.agent, conventions.id_pools)
        return _rebuilt(state, initial, records, finish)
    except RecursionError:
        raise too_deep() from None


def comparable(state: EndState, initial: EndState, conventions: Conventions) -> EndState:
    """Return a state as strict comparison takes it: log tables as they started, null defaults spelt as they started.

    A field that the domain declares null by default may be null or absent: it is spelt as in the record that the run
    started with, and absent in a record that is new, so that states which differ in the spelling come out equal and no
    delta mentions it. Changes of declared log tables are taken back.

    Args:
        state: The state.
        initial: The state that the run started in.
        conventions: What the domain declares.
    """
    after, before = state.agent, initial.agent
    if all(_is_comparable(place, after, before, conventions) for place in after.touched(before)):
        return state
    records = {}
    for (table, record_id), record in _changed(state.agent, initial.agent).items():
        if table not in conventions.log_tables:
            fields = conventions.null_defaults.get(table, ())
            records[table, record_id] = _spelt(record, initial.agent.find(table, record_id), fields)
    return _rebuilt(state, initial, records, lambda _, record: record)


def _changed(after: Database, before: Database) -> Records:
    """Return the records that differ, as they are after."""
    found = {key: (before.find(*key), after.find(*key)) for key in after.touched(before)}
    return {key: new for key, (old, new) in found.items() if not same_record(old, new)}


def _rebuilt(state: EndState, initial: EndState, records: Records, finish: Callable[[Key, Json], Json]) -> EndState:
    """Return the initial state with these records, but for those that are the same once what they were is finished."""
    draft = initial.agent.draft()
    # What goes makes room first: a table may give way to a value.
    for (table, record_id), record in sorted(records.items(), key=lambda item: item[1] is not GONE):
        if same_record(record, finish((table, record_id), initial.agent.find(table, record_id))):
            continue
        if record is GONE:
            draft.remove(table, record_id)
        elif record_id == WHOLE:
            draft.put_whole(table, record)
        else:
            draft.put(table, record_id, record)
    return EndState(draft.freeze(), user=state.user)


def _is_comparable(place: Key, after: Database, before: Database, conventions: Conventions) -> bool:
    """Tell whether `comparable` would leave a record as it is, which nearly all of them are."""
    table, record_id = place
    if table in conventions.log_tables:
        return False
    fields = conventions.null_defaults.get(table)
    if not fields:
        return True
    record, original = after.find(table, record_id), before.find(table, record_id)
    if not isinstance(record, dict):
        return True
    spelling = original if isinstance(original, dict) else {}
    null = [field for field in fields if record.get(field) is None]
    return all((field in record) == (field in spelling and spelling[field] is None) for field in null)


def _spelt(record: Json, original: Json, fields: Sequence[str]) -> Json:
    if not isinstance(record, dict):
        return record
    spelling = original if isinstance(original, dict) else {}
    unset = [field for field in fields if record.get(field) is None]
    kept = {key: value for key, value in record.items() if key not in unset}
    return {**kept, **{field: None for field in unset if field in spelling and spelling[field] is None}}


# Rules for lists


def _rules(names: Sequence[str], conventions: Conventions) -> Rules:
    """Return what is done to lists, the innermost first: whether entries are alike is seen once they are finished."""
    rules: list[tuple[str, Callable[[Json], Json]]] = []
    if "net-payments" in names:
        rules += [(log.path, partial(_netted, log)) for log in conventions.payment_logs]
    if "unordered" in names:
        rules += [(path, _sorted) for path in conventions.unordered]
    return tuple(sorted(rules, key=lambda rule: -len(parse(rule[0]))))


def _apply(rules: Rules, key: Key, record: Json) -> Json:
    if record is GONE:
        return record
    for path, change in rules:
        parts = within(path, *key)
        if parts is not None:
            record = rewrite(record, parts, change)
    return record


def _sorted(value: Json) -> Json:
    return Bag(sorted(value, key=content_text)) if isinstance(value, list) else value


def _netted(log: PaymentLog, entries: Json) -> Json:
    """Return a payment log with one entry per method, as a bag; entries that differ in anything else stay apart.

    Amounts are added as the decimal numbers that they are written as, so that the order of entries is of no account.
    A log that holds anything but payments is left as it is.
    """
    if not isinstance(entries, list):
        return entries
    from fractions import Fraction

    totals: dict[str, Fraction] = {}
    bare: dict[str, dict[str, Json]] = {}
    for entry in entries:
        amount = _signed_amount(log, entry)
        if amount is None:
            return entries
        rest = {key: value for key, value in entry.items() if key not in (log.amount, log.direction)}
        group = content_text(rest)
        totals[group] = totals.get(group, Fraction()) + amount
        bare[group] = rest
    try:
        return _sorted([{**bare[group], log.amount: _number(totals[group])} for group in totals if totals[group]])
    except OverflowError:
        return entries


def _signed_amount(log: PaymentLog, entry: Any) -> Fraction | None:
    if not isinstance(entry, dict) or not isinstance(entry.get(log.method), str):
        return None
    amount = entry.get(log.amount)
    if isinstance(amount, bool) or not isinstance(amount, int | float) or not math.isfinite(amount):
        return None
    direction = entry.get(log.direction) if log.direction else None
    sign = 1 if direction is None else log.signs.get(direction) if isinstance(direction, str) else None
    return None if sign is None else sign * _as_written(amount)


def _as_written(amount: int | float) -> Fraction:
    from fractions import Fraction

    return Fraction(amount) if isinstance(amount, int) else Fraction(repr(amount))


def _number(total: Fraction) -> int | float:
    return total.numerator if total.denominator == 1 else float(total)
