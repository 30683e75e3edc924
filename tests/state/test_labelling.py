"""Canonical order of vertices: graphs of one shape come out the same, others do not; an oracle tries every renaming."""

from __future__ import annotations

from itertools import combinations, permutations, product
from random import Random
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multigold.errors import StateError
from multigold.state import labelling
from multigold.state.labelling import Edge, canonical_order

Graph: TypeAlias = tuple[list[str], list[Edge]]
seeds = st.integers(0, 999)


def renumbered(graph: Graph, numbers: list[int]) -> Graph:
    """Return a graph in which vertex v is called numbers[v]."""
    labels, edges = graph
    by_number = dict(zip(numbers, labels, strict=True))
    return [by_number[v] for v in sorted(by_number)], [(numbers[a], label, numbers[b]) for a, label, b in edges]


def shuffled(graph: Graph, seed: int) -> Graph:
    numbers = list(range(len(graph[0])))
    Random(seed).shuffle(numbers)
    labels, edges = renumbered(graph, numbers)
    return labels, Random(seed).sample(edges, len(edges))


def canonical(graph: Graph) -> tuple[list[str], list[Edge]]:
    """Return the graph with its vertices numbered in canonical order."""
    order = canonical_order(*graph, len(graph[0]))
    assert sorted(order) == list(range(len(graph[0])))
    numbers = [order.index(vertex) for vertex in range(len(order))]
    labels, edges = renumbered(graph, numbers)
    return labels, sorted(edges)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    labels = draw(st.lists(st.sampled_from("aab"), min_size=1, max_size=5))
    vertices = st.integers(0, len(labels) - 1)
    return labels, draw(st.lists(st.tuples(vertices, st.sampled_from("xxy"), vertices), max_size=9))


@given(graphs(), seeds)
def test_a_graph_comes_out_the_same_however_its_vertices_are_numbered(graph: Graph, seed: int) -> None:
    assert canonical(shuffled(graph, seed)) == canonical(graph)


@given(graphs(), st.data())
def test_graphs_come_out_the_same_exactly_if_a_renumbering_makes_them_equal(graph: Graph, data: st.DataObject) -> None:
    labels, edges = shuffled(graph, data.draw(seeds))
    if edges and data.draw(st.booleans()):
        a, label, b = edges.pop()
        edges.append((b, label, a))
    renumberings = (renumbered(graph, list(numbers)) for numbers in permutations(range(len(labels))))
    possible = any((other[0], sorted(other[1])) == (labels, sorted(edges)) for other in renumberings)
    assert (canonical(graph) == canonical((labels, edges))) == possible


def undirected(size: int, pairs: list[tuple[int, int]]) -> Graph:
    return ["v"] * size, [edge for a, b in pairs for edge in ((a, "", b), (b, "", a))]


def ring(size: int, first: int = 0) -> list[tuple[int, int]]:
    return [(first + place, first + (place + 1) % size) for place in range(size)]


CELLS = list(product(range(4), repeat=2))


def on_a_torus(steps: set[tuple[int, int]]) -> Graph:
    pairs = [
        (i, j)
        for (i, a), (j, b) in combinations(enumerate(CELLS), 2)
        if ((a[0] - b[0]) % 4, (a[1] - b[1]) % 4) in steps
    ]
    return undirected(16, pairs)


SHRIKHANDE = on_a_torus({(0, 1), (0, 3), (1, 0), (3, 0), (1, 1), (3, 3)})
ROOK = undirected(
    16, [(i, j) for (i, a), (j, b) in combinations(enumerate(CELLS), 2) if (a[0] == b[0]) != (a[1] == b[1])]
)
PETERSEN = undirected(10, [*ring(5), *((v, v + 5) for v in range(5)), *((5 + v, 5 + (v + 2) % 5) for v in range(5))])
PRISM = undirected(10, [*ring(5), *ring(5, 5), *((v, v + 5) for v in range(5))])
ALIKE_TO_REFINEMENT = {
    "one ring and two": (undirected(6, ring(6)), undirected(6, [*ring(3), *ring(3, 3)])),
    "Petersen's graph and a prism": (PETERSEN, PRISM),
    "Shrikhande's graph and the rook's": (SHRIKHANDE, ROOK),
    "all but a ring and all but two": (
        undirected(8, [pair for pair in combinations(range(8), 2) if pair not in {tuple(sorted(p)) for p in ring(8)}]),
        undirected(
            8,
            [
                pair
                for pair in combinations(range(8), 2)
                if pair not in {tuple(sorted(p)) for p in [*ring(4), *ring(4, 4)]}
            ],
        ),
    ),
}


@pytest.mark.parametrize("name", ALIKE_TO_REFINEMENT)
def test_graphs_that_refinement_alone_cannot_tell_apart_are_told_apart(name: str) -> None:
    one, other = ALIKE_TO_REFINEMENT[name]
    degrees = [sorted(sum(v == a for a, _, _ in edges) for v in range(len(labels))) for labels, edges in (one, other)]
    assert degrees[0] == degrees[1]
    assert canonical(one) != canonical(other)
    for seed in range(5):
        assert canonical(shuffled(one, seed)) == canonical(one)
        assert canonical(shuffled(other, seed)) == canonical(other)


def test_the_order_follows_the_labels_first() -> None:
    assert canonical_order(["b", "a", "c"], [(0, "", 1)], 3) == [1, 0, 2]


def test_only_the_chosen_vertices_are_put_in_order() -> None:
    edges = [(2, "x", 1), (3, "x", 0), (3, "y", 0)]
    assert canonical_order(["v", "v", "part", "part"], edges, 2) == [1, 0]


@pytest.mark.parametrize("size", [3, 200])
def test_the_work_for_a_ring_grows_slower_than_the_square(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(labelling, "MAX_STEPS", 40 * size * size.bit_length())
    graph = undirected(size, ring(size))
    assert canonical(shuffled(graph, 1)) == canonical(graph)


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        [(v, v + 1) for v in range(0, 300, 2)],
        [pair for v in range(0, 300, 3) for pair in ring(3, v)],
        [(0, v) for v in range(1, 300)],
        list(combinations(range(300), 2)),
    ],
    ids=["alone", "pairs", "triangles", "star", "all to all"],
)
def test_the_work_for_many_small_groups_grows_with_the_edges(
    monkeypatch: pytest.MonkeyPatch, pairs: list[tuple[int, int]]
) -> None:
    monkeypatch.setattr(labelling, "MAX_STEPS", 30 * (300 + len(pairs)))
    graph = undirected(300, pairs)
    assert canonical(shuffled(graph, 1)) == canonical(graph)


def test_the_search_gives_up_with_an_error_where_it_would_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelling, "MAX_STEPS", 500)
    with pytest.raises(StateError, match=r"more than 500 steps.*without the equivalence minted-ids"):
        canonical(SHRIKHANDE)
