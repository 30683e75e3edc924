"""Whether the readings of a gold set are distinct (docs/laws.md, law 10).

A member is an end state, so whether another reading admits it is a question with an answer. Two patterns are not: their
schemas may meet in a state that no member lists. They are shown to be disjoint if that is plain, from what each
requires, and otherwise the pair is reported as undecided.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Literal, TypeAlias

import attrs

from multigold.model.gold import Pattern
from multigold.scoring import Admitted, CompiledGolds
from multigold.state.canonical import Json, same

OverlapKind: TypeAlias = Literal["shared", "undecided"]


@attrs.frozen(kw_only=True)
class ReadingOverlap:
    """Two readings that are not, or not provably, distinct.

    Attributes:
        readings: Their ids, in the order of the gold set.
        kind: `shared` if an end state of one is admitted by the other, `undecided` if two patterns may meet.
        member: The shared member's label; empty if it has none.
    """

    readings: tuple[str, str]
    kind: OverlapKind
    member: str = ""


def overlaps(golds: CompiledGolds) -> Iterator[ReadingOverlap]:
    """Yield every pair of readings that is not distinct, once, with the first state that they share."""
    for one, other in combinations(golds.readings, 2):
        pair = (one.reading.id, other.reading.id)
        shared = next(_shared(golds, one, other), None)
        if shared is not None:
            yield ReadingOverlap(readings=pair, kind="shared", member=shared)
        elif _undecided(one, other):
            yield ReadingOverlap(readings=pair, kind="undecided")


def _undecided(one: Admitted, other: Admitted) -> bool:
    """Tell whether two readings that both test states, and not only list them, might admit one that no member lists."""
    if (one.predicates and other.open_forms) or (other.predicates and one.open_forms):
        return True
    return not all(provably_distinct(a.pattern, b.pattern) for a in one.patterns for b in other.patterns)


def _shared(golds: CompiledGolds, one: Admitted, other: Admitted) -> Iterator[str]:
    for first, second in ((one, other), (other, one)):
        for member in first.members:
            if second.find(golds.prepare(member.state)) is not None:
                yield member.label


def provably_distinct(one: Pattern, other: Pattern) -> bool:
    """Tell whether it is plain that no state is in both patterns.

    It is where one requires a change that the other does not allow, or where the values of a change that both require
    exclude each other by constants, alternatives, types or lengths.
    """
    for first, second in ((one, other), (other, one)):
        for pointer, rule in first.pointers.items():
            if not rule.optional and pointer not in second.pointers:
                return True
    for pointer, rule in one.pointers.items():
        against = other.pointers.get(pointer)
        if against is None or (rule.optional and against.optional):
            continue
        if (rule.schema is None) != (against.schema is None):
            return True
        if rule.schema is not None and _exclude(rule.schema, against.schema):
            return True
    return False


def _exclude(one: Json, other: Json) -> bool:
    """Tell whether it is plain that no value satisfies both schemas."""
    if one is False or other is False:
        return True
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return False
    values, others = _values(one), _values(other)
    if values is not None and others is not None:
        return not any(same(a, b) for a in values for b in others)
    return _lengths_exclude(one, other) or _items_exclude(one, other) or _properties_exclude(one, other)


def _values(schema: Mapping[str, Json]) -> list[Json] | None:
    """Return the only values that a schema allows; None if it does not list them."""
    if "const" in schema:
        return [schema["const"]]
    return list(schema["enum"]) if "enum" in schema else None


def _lengths_exclude(one: Mapping[str, Json], other: Mapping[str, Json]) -> bool:
    if not _both(one, other, "type", "array"):
        return False
    return any("maxItems" in a and a["maxItems"] < b.get("minItems", 0) for a, b in ((one, other), (other, one)))


def _items_exclude(one: Mapping[str, Json], other: Mapping[str, Json]) -> bool:
    if not _both(one, other, "type", "array"):
        return False
    certain = max(one.get("minItems", 0), other.get("minItems", 0))
    pairs = list(zip(one.get("prefixItems", ()), other.get("prefixItems", ()), strict=False))
    return any(_exclude(a, b) for a, b in pairs[:certain])


def _properties_exclude(one: Mapping[str, Json], other: Mapping[str, Json]) -> bool:
    if not _both(one, other, "type", "object"):
        return False
    required = {*one.get("required", ()), *other.get("required", ())}
    ours, theirs = one.get("properties", {}), other.get("properties", {})
    return any(_exclude(ours[name], theirs[name]) for name in required & ours.keys() & theirs.keys())


def _both(one: Mapping[str, Json], other: Mapping[str, Json], key: str, value: Json) -> bool:
    return bool(one.get(key) == value and other.get(key) == value)
