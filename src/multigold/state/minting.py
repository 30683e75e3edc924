"""Renaming the ids that an environment minted during a run, so that the order in which it minted them is forgotten.

Two runs that make the same bookings in another order differ in which booking got which id. The normal form names
minted ids by the content of the records that hold them. Finding such names is putting a small graph into canonical
form, and is done the way graph programs do it:

1. *Refine.* All ids of a pool start alike. Each is described by the records that it stands in, with the id itself
   written `self` and other minted ids written by their class. Ids with different descriptions part into classes, until
   nothing changes. This settles nearly everything: bookings differ in flights, certificates in amounts.
2. *Twins.* Ids that can be exchanged without changing any record get the class's names in any order.
3. *Try.* What is left are ids that look alike but hang together (two equal bookings, each paid with a certificate of
   its own): each possible order is tried, and the one with the smallest canonical text is kept.

Whatever order comes out, the renaming is one to one, so states that differ in more than the names of minted ids never
come to be equal. The bounds, `MAX_IDS` and `MAX_ORDERS`, can only make it miss that two states are equivalent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice, pairwise
from typing import Any, NamedTuple, TypeAlias

import attrs

from multigold.state.canonical import Json
from multigold.state.conventions import IdPool, Place
from multigold.state.database import GONE, WHOLE, Database
from multigold.state.paths import Steps, content_text, find, within

MAX_IDS = 200
"""Where more ids were minted than this, all keep their names."""

MAX_ORDERS = 120
"""Where more orders than this would have to be tried, ids that look alike are named in the order of the ids."""

Key: TypeAlias = tuple[str, str]
"""Table and record id."""

Records: TypeAlias = dict[Key, Json]
"""Records, or `GONE`, by table and id."""

Finish: TypeAlias = Callable[[Key, Json], Json]
"""The rest of the normal form of one record, applied after renaming."""

Location: TypeAlias = tuple[bool, Steps]
"""Whether the id is a key, and the steps to it; a key without steps is the record's own id."""


class Marker(str):
    """What stands for a minted id in a normal form: `<minted reservation 1>`.

    It is equal to no plain string, so that no record can forge one. Normal forms are for comparing with `==`; written
    out as JSON they lose this.
    """

    __slots__ = ("label", "pool", "tag")
    pool: str
    label: str
    tag: str

    def __new__(cls, pool: str, label: str, tag: str = "") -> Marker:
        """Make a marker; the tag tells apart markers that are written alike."""
        marker = super().__new__(cls, f"<minted {pool} {label}>")
        marker.pool, marker.label, marker.tag = pool, label, tag
        return marker

    def __reduce__(self) -> tuple[Any, ...]:
        return Marker, (self.pool, self.label, self.tag)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Marker) and (str(self), self.tag) == (str(other), other.tag)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((Marker, str(self), self.tag))


class Symbol(NamedTuple):
    """A minted id: ids are told apart within their pool and scope."""

    pool: str
    scope: str
    id: str


Sites: TypeAlias = dict[Key, dict[Location, Symbol]]
Naming: TypeAlias = Mapping[Symbol, Marker]
Colours: TypeAlias = dict[Symbol, int]


def rename(records: Records, initial: Database, pools: Sequence[IdPool], finish: Finish) -> Records:
    """Rename the minted ids of a state.

    Args:
        records: The records that changed since the run started, as finished as they are without renaming.
        initial: What the run started with: ids that occur there in a pool's places are not renamed.
        pools: The ids that the environment mints.
        finish: What is done to a record afterwards (lists sorted, logs netted); order is chosen with a view to it.

    Returns:
        The records with markers for minted ids, not finished.
    """
    sites = _sites(records, initial, pools)
    symbols = sorted({symbol for found in sites.values() for symbol in found.values()})
    if not symbols or len(symbols) > MAX_IDS:
        return records
    puzzle = _Puzzle(records=records, sites=sites, finish=finish)
    naming = _choose(puzzle, symbols)
    return dict(_substitute(key, record, sites.get(key, {}), naming) for key, record in records.items())


# Where minted ids stand


def _sites(records: Records, initial: Database, pools: Sequence[IdPool]) -> Sites:
    """Return where minted ids stand; a place that several pools declare belongs to the first."""
    found: Sites = {}
    for (table, record_id), record in records.items():
        if record is not GONE:
            here: dict[Location, Symbol] = {}
            for pool in pools:
                for location, symbol in _sightings(pool, table, record_id, record):
                    here.setdefault(location, symbol)
            found[table, record_id] = here
    rules = {pool.name: _Occurring(pool) for pool in pools}
    return {
        key: {location: s for location, s in here.items() if _is_new(s, initial, rules)} for key, here in found.items()
    }


@attrs.frozen
class _Occurring:
    """Counts the ids of a pool, so that it is known once for a database which of them exist."""

    pool: IdPool

    def __call__(self, table: str, record_id: str, record: Json) -> Iterable[Symbol]:
        return (symbol for _, symbol in _sightings(self.pool, table, record_id, record))


def _is_new(symbol: Symbol, initial: Database, rules: Mapping[str, _Occurring]) -> bool:
    return isinstance(symbol.id, Marker) or not initial.tally(rules[symbol.pool]).get(symbol)


def _sightings(pool: IdPool, table: str, record_id: str, record: Json) -> Iterator[tuple[Location, Symbol]]:
    """Yield where ids that the pool could have minted stand in a record."""
    for is_key, places in ((True, pool.keys), (False, pool.references)):
        for place in places:
            parts = within(place.path, table, record_id)
            if parts is None:
                continue
            for steps, item in find(record, parts):
                found = (steps[-1] if steps else record_id) if is_key else item
                if isinstance(found, str) and found != WHOLE and _could_mint(pool, found):
                    yield (is_key, steps), Symbol(pool.name, _scope(place, record_id, record), found)


def _could_mint(pool: IdPool, found: str) -> bool:
    return found.pool == pool.name if isinstance(found, Marker) else pool.mints(found)


def _scope(place: Place, record_id: str, record: Json) -> str:
    if place.scope in ("", "$id"):
        return record_id if place.scope else ""
    value = record.get(place.scope) if isinstance(record, dict) else None
    return value if isinstance(value, str) else ""


def _substitute(key: Key, record: Json, sites: Mapping[Location, Symbol], naming: Naming) -> tuple[Key, Json]:
    if not sites:
        return key, record
    names = {location: naming[symbol] for location, symbol in sites.items()}
    leading = {steps[:length] for _, steps in names for length in range(len(steps) + 1)}
    return (key[0], names.get((True, ()), key[1])), _renamed(record, (), names, leading)


def _renamed(value: Json, steps: Steps, names: Mapping[Location, Marker], leading: Set[Steps]) -> Json:
    """Rename what stands in a value; only steps that lead to an id are followed."""
    if steps not in leading:
        return value
    if isinstance(value, dict):
        return {
            names.get((True, (*steps, key)), key): _renamed(item, (*steps, key), names, leading)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_renamed(item, (*steps, index), names, leading) for index, item in enumerate(value)]
    return names.get((False, steps), value)


# Which name each gets


@attrs.frozen(kw_only=True, slots=False, eq=False)
class _Puzzle:
    """The changed records, and their text under a naming of the minted ids."""

    records: Records
    sites: Sites
    finish: Finish

    def keys(self, *symbols: Symbol) -> list[Key]:
        """Return the records in which some of these ids stand; all that hold any id where none is given."""
        wanted = set(symbols)
        return [k for k, here in self.sites.items() if (not wanted.isdisjoint(here.values()) if wanted else here)]

    def texts(self, keys: Iterable[Key], naming: Naming) -> tuple[str, ...]:
        return tuple(sorted(self._text(key, naming) for key in keys))

    def _text(self, key: Key, naming: Naming) -> str:
        new_key, record = _substitute(key, self.records[key], self.sites[key], naming)
        return content_text([*new_key, self.finish(new_key, record)])


def _choose(puzzle: _Puzzle, symbols: Sequence[Symbol]) -> dict[Symbol, Marker]:
    start = dict.fromkeys(symbols, 0)
    if _tie(start) is None:
        return _final(start)
    orders = list(islice(_orders(puzzle, start, all_of_them=True), MAX_ORDERS + 1))
    if len(orders) > MAX_ORDERS:
        orders = list(_orders(puzzle, start, all_of_them=False))
    namings = [_final(colours) for colours in orders]
    return min(namings, key=lambda naming: puzzle.texts(puzzle.keys(), naming)) if len(namings) > 1 else namings[0]


def _orders(puzzle: _Puzzle, colours: Colours, *, all_of_them: bool) -> Iterator[Colours]:
    """Yield the orders to choose from, or only the one that follows the ids where things look alike."""
    colours = _refine(puzzle, colours)
    tie = _tie(colours)
    if tie is None:
        yield colours
    elif all(_interchangeable(puzzle, a, b) for group in tie for a, b in pairwise(group)):
        place = {symbol: number for group in tie for number, symbol in enumerate(group)}
        parted = _ranked({symbol: (colour, place.get(symbol, 0)) for symbol, colour in colours.items()})
        yield from _orders(puzzle, parted, all_of_them=all_of_them)
    else:
        members = sorted((symbol for group in tie for symbol in group), key=_id_order)
        for chosen in members if all_of_them else members[:1]:
            parted = _ranked({symbol: (colour, symbol != chosen) for symbol, colour in colours.items()})
            yield from _orders(puzzle, parted, all_of_them=all_of_them)


def _refine(puzzle: _Puzzle, colours: Colours) -> Colours:
    """Part the classes by what stands in the records, until they stay as they are."""
    while True:
        naming = {symbol: Marker(symbol.pool, str(colour), symbol.id) for symbol, colour in colours.items()}
        described = {
            symbol: (
                colour,
                puzzle.texts(puzzle.keys(symbol), {**naming, symbol: Marker(symbol.pool, "self", symbol.id)}),
            )
            for symbol, colour in colours.items()
        }
        finer = _ranked(described)
        classes = len(set(finer.values()))
        if classes in (len(colours), len(set(colours.values()))):
            return finer
        colours = finer


def _ranked(by: Mapping[Symbol, Any]) -> Colours:
    rank = {value: number for number, value in enumerate(sorted(set(by.values())))}
    return {symbol: rank[value] for symbol, value in by.items()}


def _tie(colours: Colours) -> list[list[Symbol]] | None:
    """Return the first class that holds several ids of one pool and scope, grouped by those; None if none does."""
    classes: dict[int, dict[tuple[str, str], list[Symbol]]] = {}
    for symbol in sorted(colours, key=_id_order):
        classes.setdefault(colours[symbol], {}).setdefault(symbol[:2], []).append(symbol)
    for colour in sorted(classes):
        groups = [group for group in classes[colour].values() if len(group) > 1]
        if groups:
            return groups
    return None


def _id_order(symbol: Symbol) -> tuple[int, str]:
    """Order ids as they were minted where they are counted up; markers are ordered by their number."""
    return len(symbol.id), str(symbol.id)


def _interchangeable(puzzle: _Puzzle, a: Symbol, b: Symbol) -> bool:
    everything = {symbol for here in puzzle.sites.values() for symbol in here.values()}
    naming = {symbol: Marker(symbol.pool, str(number), symbol.id) for number, symbol in enumerate(sorted(everything))}
    keys = puzzle.keys(a, b)
    return puzzle.texts(keys, naming) == puzzle.texts(keys, {**naming, a: naming[b], b: naming[a]})


def _final(colours: Colours) -> dict[Symbol, Marker]:
    """Number the ids of each pool and scope from 1."""
    counts: dict[tuple[str, str], int] = {}
    naming = {}
    for symbol in sorted(colours, key=lambda symbol: (colours[symbol], _id_order(symbol))):
        counts[symbol[:2]] = counts.get(symbol[:2], 0) + 1
        naming[symbol] = Marker(symbol.pool, str(counts[symbol[:2]]))
    return naming
