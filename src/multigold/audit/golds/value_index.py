"""Which values of a state fit which parameter of a tool, and which of them are ids.

A tool's signature says little of what its arguments may be, but a domain uses one name for one thing: what a tool
calls `reservation_id` is a key of the table `reservations` and a field of that name elsewhere. So values are collected
by the names under which they stand, and a parameter is looked up by its name, then without `new_` and the like, then as
the plural of a name. Nothing here knows a domain; if a domain names things otherwise, fewer values are found.

    {"users": {"ann": {"cards": {"c-1": {"limit": 50}}, "orders": ["o-1"]}}}

    user_id: ann     card_id: c-1     limit: 50     order_id: o-1     orders: ["o-1"]
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache

import attrs

from multigold.state.canonical import Json, canonical_text
from multigold.state.database import GONE, WHOLE, EndState, same_record
from multigold.state.json_values import strings

MAX_NESTED = 50
"""Lists and objects kept per name: they serve as examples, and a database may hold thousands."""

GUESSABLE = 64
"""A name with no more values than this can be guessed by anyone: airports, dates, cabins, first names."""

_PREFIXES = ("new_", "old_", "other_", "target_", "source_")


@attrs.frozen(kw_only=True)
class FittingValues:
    """Values that fit a parameter.

    Attributes:
        values: The values, in the order in which the state has them.
        many: Whether the parameter takes a list of such values.
    """

    values: tuple[Json, ...] = ()
    many: bool = False


@attrs.frozen(kw_only=True, eq=False, slots=False)
class ValueIndex:
    """Values by the names under which they stand.

    Attributes:
        values: Name to its distinct values.
    """

    values: Mapping[str, tuple[Json, ...]]

    def fitting(self, parameter: str) -> FittingValues:
        """Return the values that fit a parameter, by its name; none if no name is like it."""
        for name in _spellings(parameter):
            if name in self.values:
                return FittingValues(values=self.values[name])
        for name in _spellings(parameter):
            for single in singulars(name):
                if single in self.values:
                    return FittingValues(values=self.values[single], many=True)
        return FittingValues()

    def is_guessable(self, parameter: str) -> bool:
        """Tell whether a parameter has so few values that anyone may try them."""
        return 0 < len(self.fitting(parameter).values) <= GUESSABLE


def _spellings(parameter: str) -> Iterator[str]:
    yield parameter
    bare = next((parameter.removeprefix(p) for p in _PREFIXES if parameter.startswith(p)), parameter)
    if bare != parameter:
        yield bare
    yield f"{bare}_id"


@lru_cache(maxsize=4096)
def singulars(name: str) -> tuple[str, ...]:
    """Return what a plural may be the plural of: `orders` is order, `addresses` address, `entries` entry."""
    found = []
    for ending, single in (("ies", "y"), ("es", ""), ("s", "")):
        if name.endswith(ending) and len(name) > len(ending) + 1:
            found.append(name[: -len(ending)] + single)
    return tuple(reversed(found))


@attrs.frozen(kw_only=True, eq=False)
class Entity:
    """A record, or an item of a list that stands as a whole table.

    Attributes:
        table: The table.
        id: Its id; empty if it has none.
        value: Its value, to be read only.
    """

    table: str
    id: str
    value: Json


def entities(state: EndState) -> Iterator[Entity]:
    """Yield the entities of both sides of a state."""
    for _, database in state.sides():
        for table, record_id, record in database.records():
            yield from _entities(table, record_id, record)


def changed_entities(before: EndState, after: EndState) -> Iterator[Entity]:
    """Yield the entities of the records that a later state has otherwise than an earlier one, new records first."""
    changed = []
    for (_, old), (_, new) in zip(before.sides(), after.sides(), strict=True):
        for table, record_id in new.touched(old):
            record, was = new.find(table, record_id), old.find(table, record_id)
            if record is not GONE and not same_record(record, was):
                changed.append((was is not GONE, table, record_id, record))
    for _, table, record_id, record in sorted(changed, key=lambda row: row[:3]):
        yield from _entities(table, record_id, record)


def _entities(table: str, record_id: str, record: Json) -> Iterator[Entity]:
    if record_id != WHOLE:
        yield Entity(table=table, id=record_id, value=record)
    elif isinstance(record, list) and all(isinstance(item, dict) for item in record):
        for item in record:
            yield Entity(table=table, id=own_id(table, item), value=item)
    else:
        yield Entity(table=table, id="", value={table: record})


def own_id(table: str, record: Mapping[str, Json]) -> str:
    """Return the id that a record of a list states: its field `<singular>_id` or `id`; empty if it has none."""
    for name in (*(f"{single}_id" for single in singulars(table)), "id"):
        value = record.get(name)
        if isinstance(value, str):
            return value
    return ""


class Collector:
    """Collects a `ValueIndex` from entities, and counts how often each key of an object of records recurs."""

    def __init__(self) -> None:
        self._scalars: dict[str, dict[tuple[type, Json], Json]] = {}
        self._nested: dict[str, dict[str, Json]] = {}
        self.keys: dict[str, Counter[str]] = {}

    def add(self, entity: Entity) -> None:
        """Take in one entity."""
        if entity.id:
            for single in singulars(entity.table) or (entity.table,):
                self._note(f"{single}_id", entity.id)
        self._fields(entity.value, entity.table)

    def value_index(self) -> ValueIndex:
        """Return what was collected."""
        names = self._scalars.keys() | self._nested.keys()
        return ValueIndex(
            values={
                name: (*self._scalars.get(name, {}).values(), *self._nested.get(name, {}).values()) for name in names
            }
        )

    def _fields(self, value: Json, name: str) -> None:
        if isinstance(value, list):
            for item in value:
                self._item(item, name)
        elif isinstance(value, dict):
            if is_keyed(value):
                self._keyed(value, name)
            else:
                for key, item in value.items():
                    self._note(key, item)
                    self._fields(item, key)

    def _item(self, item: Json, name: str) -> None:
        if isinstance(item, dict | list):
            self._fields(item, name)
        else:
            self._note_id(name, item)

    def _keyed(self, value: Mapping[str, Json], name: str) -> None:
        for key, item in value.items():
            self._note_id(name, key)
            self.keys.setdefault(name, Counter())[key] += 1
            self._fields(item, "")

    def _note_id(self, name: str, value: Json) -> None:
        """Note what stands in a list or as a key: it may be an id of what the list's name says."""
        for single in singulars(name) or (name,):
            self._note(single, value)
            if not single.endswith("_id"):
                self._note(f"{single}_id", value)

    def _note(self, name: str, value: Json) -> None:
        if isinstance(value, dict | list):
            kept = self._nested.setdefault(name, {})
            if len(kept) < MAX_NESTED and not (isinstance(value, dict) and is_keyed(value)):
                kept.setdefault(canonical_text(value), value)
        elif value is not None:
            self._scalars.setdefault(name, {}).setdefault((type(value), value), value)


def is_keyed(value: Mapping[str, Json]) -> bool:
    """Tell whether an object is one of records by key (payment methods by id) and not a record with fields."""
    return bool(value) and all(isinstance(item, dict) for item in value.values())


def collect(found: Iterable[Entity]) -> ValueIndex:
    """Return the values of some entities."""
    collector = Collector()
    for entity in found:
        collector.add(entity)
    return collector.value_index()


class StateIndex:
    """The entities of a state, their values, and which entities refer to which.

    Args:
        state: The state. The index is of what it holds now; a later state has an index of its own.
    """

    def __init__(self, state: EndState) -> None:
        self.entities: tuple[Entity, ...] = tuple(entities(state))
        self.near = lru_cache(maxsize=1024)(self._near)

    @cached_property
    def _collected(self) -> Collector:
        collector = Collector()
        for entity in self.entities:
            collector.add(entity)
        return collector

    @cached_property
    def value_index(self) -> ValueIndex:
        """Every value by the names under which it stands."""
        return self._collected.value_index()

    @cached_property
    def by_id(self) -> Mapping[str, tuple[int, ...]]:
        """Id to the numbers of the entities that have it."""
        found: dict[str, list[int]] = {}
        for number, entity in enumerate(self.entities):
            if entity.id:
                found.setdefault(entity.id, []).append(number)
        return {entity_id: tuple(numbers) for entity_id, numbers in found.items()}

    @cached_property
    def ids(self) -> frozenset[str]:
        """Every id: of entities, and the keys of objects of records, unless the same keys recur everywhere (dates)."""
        keys = (counted.keys() for counted in self._collected.keys.values() if 2 * len(counted) > counted.total())
        return frozenset(self.by_id).union(*keys)

    def _near(self, entity_id: str) -> ValueIndex:
        """Return the values of what is around the entities of an id; none if there are none."""
        return collect(entity for number in self.by_id.get(entity_id, ()) for entity in self.around(number))

    def around(self, number: int, *, hops: int = 2, most: int = 12) -> tuple[Entity, ...]:
        """Return an entity and those that it refers to by id, directly or through others, nearest first.

        Args:
            number: The entity's number.
            hops: How far to follow.
            most: How many entities to return at most.
        """
        found = {number: self.entities[number]}
        edge = [number]
        for _ in range(hops):
            named = (
                other for at in edge for text in strings(self.entities[at].value) for other in self.by_id.get(text, ())
            )
            edge = [other for other in dict.fromkeys(named) if other not in found][: most - len(found)]
            found.update((other, self.entities[other]) for other in edge)
        return tuple(found.values())


_recent: deque[tuple[EndState, StateIndex]] = deque(maxlen=4)


def index_of(state: EndState) -> StateIndex:
    """Return the index of a state, kept for the last few: to index a database of some megabytes takes a second."""
    for known, index in _recent:
        if known is state:
            return index
    _recent.appendleft((state, StateIndex(state)))
    return _recent[0][1]
