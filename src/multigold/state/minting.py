"""Renaming the ids that an environment minted during a run, so that the order in which it minted them is forgotten.

Two runs that make the same bookings in another order differ in which booking got which id. The normal form numbers
minted ids by what stands in the records that hold them, so it has to be the same whichever id a booking got. For that
the records are read as a graph: a vertex for each minted id, one for each record that holds any, and edges for where
they stand. What has no order of its own hangs on the record as a vertex too: an item of a list that an equivalence in
force says is unordered (a `Bag`), and what stands under a key that is a minted id. `labelling` puts the ids in an order
that depends on the shape of that graph alone.

The renaming is one to one, so states that differ in more than the names of minted ids never come to be equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple, TypeAlias

import attrs

from multigold.state.canonical import Json
from multigold.state.conventions import IdPool, Place
from multigold.state.database import GONE, WHOLE, Database
from multigold.state.labelling import Edge, canonical_order
from multigold.state.markers import Bag, Marker
from multigold.state.paths import Steps, content_text, find, within

Key: TypeAlias = tuple[str, str]
"""Table and record id."""

Records: TypeAlias = dict[Key, Json]
"""Records, or `GONE`, by table and id."""

Location: TypeAlias = tuple[bool, Steps]
"""Whether the id is a key, and the steps to it; a key without steps is the record's own id."""


class Symbol(NamedTuple):
    """A minted id: ids are told apart within their pool and scope."""

    pool: str
    scope: str
    id: str


Symbols: TypeAlias = dict[Location, Symbol]
Sites: TypeAlias = dict[Key, Symbols]


def rename(records: Records, initial: Database, pools: Sequence[IdPool]) -> Records:
    """Rename the minted ids of a state.

    Args:
        records: The records that changed since the run started, with a `Bag` for each list whose order means nothing.
        initial: What the run started with: ids that occur there in a pool's places are not renamed.
        pools: The ids that the environment mints.

    Returns:
        The records with markers for minted ids, their bags in order.

    Raises:
        StateError: If so many ids look alike and hang together that they cannot be put in order.
    """
    sites = _sites(records, initial, pools)
    symbols = list(dict.fromkeys(symbol for found in sites.values() for symbol in found.values()))
    if not symbols:
        return records
    graph = _Graph(symbols)
    for key, here in sites.items():
        if here:
            graph.add(key, records[key], here)
    naming = _numbered(symbols[place] for place in canonical_order(graph.labels, graph.edges, len(symbols)))
    return dict(_substitute(key, record, sites.get(key, {}), naming) for key, record in records.items())


def _numbered(symbols: Iterable[Symbol]) -> dict[Symbol, Marker]:
    """Number the ids of each pool from 1."""
    counts: dict[str, int] = {}
    naming = {}
    for symbol in symbols:
        counts[symbol.pool] = counts.get(symbol.pool, 0) + 1
        naming[symbol] = Marker(symbol.pool, str(counts[symbol.pool]))
    return naming


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


# What holds which


class _Graph:
    """The minted ids of a state and what holds them, as vertices and edges.

    An edge leads from what holds an id, or a part with ids in it, and says at which place. A vertex is labelled with
    all that stands in it but for ids and such parts, so that the graph has everything that the records have.
    """

    def __init__(self, symbols: Sequence[Symbol]) -> None:
        self.labels = [f"id of {symbol.pool}" for symbol in symbols]
        self.edges: list[Edge] = []
        self._vertices = {symbol: vertex for vertex, symbol in enumerate(symbols)}

    def add(self, key: Key, record: Json, sites: Symbols) -> None:
        """Add a record in which minted ids stand."""
        (table, record_id), own = key, sites.get((True, ()))
        reader = _Reader(graph=self, sites=sites, leading=_leading(sites))
        text = reader.text(record, ())
        if own is not None:
            reader.hold("its id", own)
        name = "" if own else content_text(record_id)
        self.vertex(f"record of {content_text(table)} {name}: {text}", reader.held)

    def vertex(self, label: str, held: Sequence[tuple[str, int]]) -> int:
        """Add a vertex for a record or a part, with what it holds at which place."""
        self.labels.append(label)
        vertex = len(self.labels) - 1
        self.edges += [(vertex, place, other) for place, other in held]
        return vertex

    def id(self, symbol: Symbol) -> int:
        """Return the vertex of an id."""
        return self._vertices[symbol]

    def is_id(self, vertex: int) -> bool:
        """Tell whether a vertex stands for an id."""
        return vertex < len(self._vertices)


@attrs.frozen(kw_only=True)
class _Reader:
    """Reads a record, or a part of one, into the graph.

    Attributes:
        graph: The graph.
        sites: Where minted ids stand in the record.
        leading: The steps in the record that lead to them.
        start: The steps to the part.
        held: The ids and parts found so far, each with its place.
    """

    graph: _Graph
    sites: Symbols
    leading: Set[Steps]
    start: Steps = ()
    held: list[tuple[str, int]] = attrs.field(factory=list)

    def hold(self, place: str, symbol: Symbol) -> None:
        """Note that an id stands at a place."""
        self.held.append((place, self.graph.id(symbol)))

    def text(self, value: Json, steps: Steps) -> str:
        """Return what stands in a value, with `@` for ids and without the parts that the graph has apart from it."""
        if steps not in self.leading:
            return content_text(value)
        symbol = self.sites.get((False, steps))
        if symbol is not None:
            self.hold(self._place(steps), symbol)
            return "@"
        if isinstance(value, dict):
            return self._text_of_object(value, steps)
        if isinstance(value, Bag):
            return self._text_of_bag(value, steps)
        return f"[{','.join(self.text(item, (*steps, index)) for index, item in enumerate(value))}]"

    def _text_of_object(self, value: dict[str, Json], steps: Steps) -> str:
        members = []
        for key in sorted(value):
            inside = (*steps, key)
            symbol = self.sites.get((True, inside))
            if symbol is None:
                members.append(f"{content_text(key)}:{self.text(value[key], inside)}")
            else:
                self._add_part(value[key], inside, self._place(steps), symbol)
        return f"{{{','.join(members)}}}"

    def _text_of_bag(self, value: Bag, steps: Steps) -> str:
        members = []
        for index, item in enumerate(value):
            inside = (*steps, index)
            if inside in self.leading:
                self._add_part(item, inside, self._place(steps))
            else:
                members.append(content_text(item))
        return f"<{','.join(members)}>"

    def _add_part(self, value: Json, steps: Steps, place: str, its_key: Symbol | None = None) -> None:
        reader = attrs.evolve(self, start=steps, held=[])
        text = reader.text(value, steps)
        if its_key is not None:
            reader.hold("its key", its_key)
        others = {vertex for _, vertex in reader.held}
        if len(others) == 1 and self.graph.is_id(*others):
            # One id and nothing else that has a name, as most parts are, takes no vertex: an edge can say it all.
            places = sorted(place for place, _ in reader.held)
            self.held.append((f"{place} {text} {places}", others.pop()))
        else:
            self.held.append((place, self.graph.vertex(f"part: {text}", reader.held)))

    def _place(self, steps: Steps) -> str:
        return content_text(list(steps[len(self.start) :]))


# Writing the names


def _leading(sites: Iterable[Location]) -> Set[Steps]:
    """Return the steps to all that holds an id, and to ids that are values."""
    return {steps[:length] for is_key, steps in sites for length in range(len(steps) + (not is_key))}


def _substitute(key: Key, record: Json, sites: Symbols, naming: Mapping[Symbol, Marker]) -> tuple[Key, Json]:
    if not sites:
        return key, record
    names = {location: naming[symbol] for location, symbol in sites.items()}
    return (key[0], names.get((True, ()), key[1])), _renamed(record, (), names, _leading(names))


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
        items = [_renamed(item, (*steps, index), names, leading) for index, item in enumerate(value)]
        return Bag(sorted(items, key=content_text)) if isinstance(value, Bag) else items
    return names.get((False, steps), value)
