"""Putting the vertices of a graph into an order that depends on nothing but its shape and its labels.

Two graphs that differ only in which vertex is which get orders that map one onto the other: that is canonical
labelling, and it is done the way programs for graph isomorphism do it (McKay and Piperno, *Practical graph
isomorphism, II*, 2014), in four steps.

1. *Refine.* Vertices with one label share a cell. A cell is split where its vertices have different numbers of edges
   into some other cell, until no cell can be. This settles nearly everything.
2. *Take apart.* Edges that join every vertex of one cell to every vertex of another say nothing of who belongs to whom
   and are dropped; where most pairs are joined, those that are not are looked at instead. What does not hang together
   after that is ordered piece by piece, and pieces that come out the same can be exchanged. So hundreds of vertices
   that are alike, or pairs and small groups of them, cost no search.
3. *Single one out.* In a piece that still holds vertices which look alike, each of those of one cell is given a cell of
   its own in turn, and all begins again. The smallest outcome is kept.
4. *Prune.* Two outcomes that are the same are a symmetry. Vertices that a known symmetry maps to each other need only
   one trial, so a ring of 200 takes a handful of trials and not 200.

Finding such an order can take exponential time in graphs that are made for it. The work is counted, and past
`MAX_STEPS` the search gives up with an error. It neither hangs nor gives an order that depends on which vertex is
which.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import attrs

from multigold.errors import StateError

MAX_STEPS = 2_000_000
"""How many ends of edges are looked at before the search gives up: a few seconds."""

Edge: TypeAlias = tuple[int, str, int]
"""From which vertex, with which label, to which."""

Edges: TypeAlias = dict[int, list[tuple[int, int]]]
"""Vertex to the label and the other end of each of its edges."""


def canonical_order(labels: Sequence[str], edges: Iterable[Edge], chosen: int) -> list[int]:
    """Return the first vertices of a graph in an order that does not depend on how the vertices are numbered.

    The other vertices must hang below them as the branches of trees: once the chosen ones are told apart, those of the
    others that still look alike must be exchangeable.

    Args:
        labels: The label of each vertex. The order follows the labels first.
        edges: The edges; there may be several between two vertices.
        chosen: How many vertices, from the first on, are to be put in order.

    Raises:
        StateError: If that would take more than `MAX_STEPS` steps.
    """
    whole = _Piece(edges=_both_ways(edges, len(labels)), cells=_cells(labels), chosen=chosen, work=_Work())
    whole.refine(list(whole.cells))
    _, order = _label(whole)
    place = {vertex: number for number, vertex in enumerate(order)}
    return sorted(range(chosen), key=lambda vertex: (whole.colour[vertex], place[vertex]))


def _cells(labels: Sequence[str]) -> dict[int, set[int]]:
    """Return the vertices by label; a cell is numbered by how many vertices stand in the cells before it."""
    by_label: dict[str, set[int]] = {}
    for vertex, label in enumerate(labels):
        by_label.setdefault(label, set()).add(vertex)
    cells, start = {}, 0
    for label in sorted(by_label):
        cells[start] = by_label[label]
        start += len(by_label[label])
    return cells


def _both_ways(edges: Iterable[Edge], size: int) -> Edges:
    """Return the edges at both of their ends, labelled with numbers; several that are alike become one with a count."""
    counted = Counter(edges)
    kinds = {kind: number for number, kind in enumerate(sorted({(edge[1], n) for edge, n in counted.items()}))}
    found: Edges = {vertex: [] for vertex in range(size)}
    for (source, label, target), count in counted.items():
        kind = kinds[label, count]
        found[source].append((2 * kind, target))
        found[target].append((2 * kind + 1, source))
    return found


@attrs.define
class _Work:
    """Counts the steps of one search."""

    steps: int = 0

    def count(self, steps: int) -> None:
        self.steps += steps
        if self.steps > MAX_STEPS:
            raise StateError(
                f"ids that the environment minted look alike and hang together in so many ways that more than "
                f"{MAX_STEPS:,} steps would be needed to name them",
                remedy="Score this run without the equivalence minted-ids.",
            )


@attrs.define(eq=False)
class _Piece:
    """A part of the graph, with its vertices in cells.

    Attributes:
        edges: The edges between its vertices.
        cells: Its vertices by cell. Cells keep the numbers that they had in the piece that it was taken out of.
        chosen: Vertices below this number are to be told apart.
        work: What the search has cost so far.
        colour: The cell of each vertex.
    """

    edges: Edges
    cells: dict[int, set[int]]
    chosen: int
    work: _Work
    colour: dict[int, int] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.colour = {vertex: cell for cell, members in self.cells.items() for vertex in members}

    # Refining

    def refine(self, splitters: Iterable[int]) -> None:
        """Split cells by their edges into the splitters, and by those into what comes of it, until nothing changes."""
        queue = deque(splitters)
        waiting = set(queue)
        while queue:
            splitter = queue.popleft()
            waiting.discard(splitter)
            for cell, parts in self._split_by(splitter):
                # All but one of the parts are enough, unless the whole still waits for its turn.
                spared = None if cell in waiting else max(parts, key=lambda part: len(self.cells[part]))
                more = [part for part in parts if part != spared and part not in waiting]
                queue.extend(more)
                waiting.update(more)

    def _split_by(self, splitter: int) -> Iterator[tuple[int, list[int]]]:
        """Split cells by their edges into one cell; yield each that fell apart, and its parts."""
        seen: dict[int, dict[int, list[int]]] = {}
        for vertex in self.cells[splitter]:
            self.work.count(len(self.edges[vertex]))
            for kind, other in self.edges[vertex]:
                seen.setdefault(self.colour[other], {}).setdefault(other, []).append(kind)
        for cell in sorted(seen):
            parts = self._split(cell, seen[cell]) if len(self.cells[cell]) > 1 else [cell]
            if len(parts) > 1:
                yield cell, parts

    def _split(self, cell: int, kinds: dict[int, list[int]]) -> list[int]:
        groups: dict[tuple[int, ...], list[int]] = {}
        for vertex, found in kinds.items():
            groups.setdefault(tuple(sorted(found)), []).append(vertex)
        untouched = len(self.cells[cell]) - len(kinds)
        if not untouched and len(groups) == 1:
            return [cell]
        parts, start = ([cell], cell + untouched) if untouched else ([], cell)
        for key in sorted(groups):
            self._move(groups[key], cell, start)
            parts.append(start)
            start += len(groups[key])
        return parts

    def _move(self, vertices: list[int], cell: int, start: int) -> None:
        self.cells[cell].difference_update(vertices)
        self.cells.setdefault(start, set()).update(vertices)
        self.colour.update(dict.fromkeys(vertices, start))

    def singled_out(self, vertex: int) -> _Piece:
        """Return the piece with one of its vertices in a cell of its own, and refined."""
        cell = self.colour[vertex]
        self.work.count(len(self.colour))
        cells = {number: set(members) for number, members in self.cells.items()}
        cells[cell].discard(vertex)
        alone = cell + len(cells[cell])
        other = _Piece(edges=self.edges, cells={**cells, alone: {vertex}}, chosen=self.chosen, work=self.work)
        other.refine([alone])
        return other

    # What it looks like

    def described(self) -> str:
        """Return how many edges of which kind lead from each cell to which; refined, a cell's vertices are one."""
        return ";".join(f"{cell}*{len(self.cells[cell])}{sorted(self._degrees(cell))}" for cell in sorted(self.cells))

    def _degrees(self, cell: int) -> list[tuple[tuple[int, int], int]]:
        vertex = next(iter(self.cells[cell]))
        self.work.count(len(self.edges[vertex]))
        return list(Counter((kind, self.colour[other]) for kind, other in self.edges[vertex]).items())

    def settled(self) -> list[int]:
        """Return the chosen vertices that have a cell of their own, in the order of their cells."""
        alone = [next(iter(self.cells[cell])) for cell in sorted(self.cells) if len(self.cells[cell]) == 1]
        return [vertex for vertex in alone if vertex < self.chosen]

    def alike(self) -> list[int]:
        """Return the chosen vertices of the first cell that holds several; none if all are told apart."""
        for cell in sorted(self.cells):
            members = sorted(vertex for vertex in self.cells[cell] if vertex < self.chosen)
            if len(members) > 1:
                return members
        return []

    # Taking apart

    def taken_apart(self) -> list[_Piece]:
        """Return what hangs together once edges are dropped that say nothing; vertices that stand alone are left out.

        The pieces hold no vertex that has a cell of its own here.
        """
        edges = self._telling_edges()
        pieces, seen = [], set()
        for vertex in edges:
            if vertex not in seen:
                found = self._reached(vertex, edges)
                seen.update(found)
                pieces.append(self._cut_out(found, edges))
        return pieces

    def _telling_edges(self) -> Edges:
        """Return the edges that tell vertices of two cells apart, or those missing where they are fewer."""
        rules = {}
        for cell, members in self.cells.items():
            if len(members) > 1:
                rules[cell] = {
                    key: count
                    for key, count in self._degrees(cell)
                    if len(self.cells[key[1]]) > 1 and count < len(self.cells[key[1]])
                }
        return {vertex: self._telling(vertex, rule) for cell, rule in rules.items() for vertex in self.cells[cell]}

    def _telling(self, vertex: int, rule: dict[tuple[int, int], int]) -> list[tuple[int, int]]:
        self.work.count(len(self.edges[vertex]))
        ends: dict[tuple[int, int], list[int]] = {key: [] for key in rule}
        for kind, other in self.edges[vertex]:
            key = kind, self.colour[other]
            if key in ends:
                ends[key].append(other)
        telling = []
        for (kind, cell), others in ends.items():
            few = 2 * len(others) <= len(self.cells[cell])
            telling += [(kind, other) for other in (others if few else self.cells[cell].difference(others))]
        return telling

    @staticmethod
    def _reached(start: int, edges: Edges) -> set[int]:
        found, rest = {start}, [start]
        while rest:
            new = {other for _, other in edges[rest.pop()]} - found
            found |= new
            rest += new
        return found

    def _cut_out(self, vertices: set[int], edges: Edges) -> _Piece:
        cells: dict[int, set[int]] = {}
        for vertex in vertices:
            cells.setdefault(self.colour[vertex], set()).add(vertex)
        kept = {vertex: edges[vertex] for vertex in vertices}
        return _Piece(edges=kept, cells=cells, chosen=self.chosen, work=self.work)


def _label(piece: _Piece) -> tuple[str, list[int]]:
    """Return a text that is the same for pieces of one shape, and the chosen vertices of the piece in order.

    The piece is refined. For two pieces with one text, the map from one order to the other is an isomorphism.
    """
    text, order = piece.described(), piece.settled()
    if not piece.alike():
        return text, order
    pieces = piece.taken_apart()
    if len(pieces) == 1 and len(pieces[0].colour) == len(piece.colour):
        inner = [_best_of(pieces[0])]
    else:
        inner = sorted((_label(each) for each in pieces), key=lambda found: found[0])
    for _, found in inner:
        order += found
    return f"{text}({','.join(text for text, _ in inner)})", order


def _best_of(piece: _Piece) -> tuple[str, list[int]]:
    """Single out each of the vertices that look alike, leaving out those that a symmetry maps to one that was tried."""
    alike = piece.alike()
    same = _Orbits(alike)
    tried: dict[str, list[int]] = {}
    for vertex in alike:
        if same.is_new(vertex):
            text, order = _label(piece.singled_out(vertex))
            for one, other in zip(tried.setdefault(text, order), order, strict=True):
                same.join(one, other)
            same.tried(vertex)
    return min(tried.items())


class _Orbits:
    """Which vertices are known to be exchangeable, and whether one of them was tried."""

    def __init__(self, vertices: Iterable[int]) -> None:
        self._parent = {vertex: vertex for vertex in vertices}
        self._tried: list[int] = []

    def _root(self, vertex: int) -> int:
        while self._parent[vertex] != vertex:
            self._parent[vertex] = vertex = self._parent[self._parent[vertex]]
        return vertex

    def join(self, one: int, other: int) -> None:
        if one in self._parent and other in self._parent:
            self._parent[self._root(one)] = self._root(other)

    def tried(self, vertex: int) -> None:
        self._tried.append(vertex)

    def is_new(self, vertex: int) -> bool:
        return self._root(vertex) not in {self._root(tried) for tried in self._tried}
