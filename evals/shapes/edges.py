"""Edges of hostile shapes, and reading of communities; nodes are named 0, 1, 2 .."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from random import Random

from harness import places

BATCH = 100_000

Edges = Iterator[tuple[int, int]]


def star(leaves: int) -> Edges:
    return ((0, leaf) for leaf in range(1, leaves + 1))


def path(nodes: int) -> Edges:
    return ((node, node + 1) for node in range(nodes - 1))


CLIQUE = 10


def ring_of_cliques(cliques: int, size: int = CLIQUE) -> Edges:
    for clique in range(cliques):
        first = clique * size
        yield from ((first + a, first + b) for a in range(size) for b in range(a + 1, size))
        yield first + size - 1, (first + size) % (cliques * size)


def complete(nodes: int) -> Edges:
    return ((a, b) for a in range(nodes) for b in range(a + 1, nodes))


def pairs(count: int) -> Edges:
    return ((2 * pair, 2 * pair + 1) for pair in range(count))


def star_hub_last(leaves: int) -> Edges:
    """Yield a star after loops that name the leaves, so that the hub gets the last index; loops are dropped."""
    yield from loops(leaves)
    yield from ((leaves, leaf) for leaf in range(leaves))


def loops(nodes: int) -> Edges:
    return ((node, node) for node in range(nodes))


def shuffled_path(nodes: int) -> Edges:
    order = array("I", range(nodes))
    Random(1).shuffle(order)
    return ((order[place], order[place + 1]) for place in range(nodes - 1))


def cycle(nodes: int) -> Edges:
    return ((node, (node + 1) % nodes) for node in range(nodes))


def complete_bipartite(left: int, right: int) -> Edges:
    return ((a, left + b) for a in range(left) for b in range(right))


def random_bipartite(side: int, edges: int) -> Edges:
    """Yield random edges after loops that name all nodes, also those without an edge."""
    random = Random(1).random
    yield from loops(2 * side)
    yield from ((int(random() * side), side + int(random() * side)) for _ in range(edges))


def random_graph(nodes: int, edges: int) -> Edges:
    random = Random(1).random
    yield from loops(nodes)
    yield from ((int(random() * nodes), int(random() * nodes)) for _ in range(edges))


def two_cliques(size: int, links: int) -> Edges:
    """Yield two cliques, in which edge k between them joins member k of one to member k of the other."""
    for first in (0, size):
        yield from ((first + a, first + b) for a in range(size) for b in range(a + 1, size))
    yield from ((member, size + member) for member in range(links))


def grid(side: int) -> Edges:
    for row in range(side):
        for column in range(side):
            node = row * side + column
            if column + 1 < side:
                yield node, node + 1
            if row + 1 < side:
                yield node, node + side


def binary_tree(nodes: int) -> Edges:
    return (((node - 1) // 2, node) for node in range(1, nodes))


def write_edges(edges: Edges, output: Path) -> None:
    with output.open("w") as file:
        batch: list[str] = []
        for source, target in edges:
            batch.append(f"{source}\t{target}\n")
            if len(batch) == BATCH:
                file.write("".join(batch))
                batch.clear()
        file.write("".join(batch))


def read_answer(communities: Path) -> array[int]:
    """Return the community of each node; nodes are named 0, 1, 2 .."""
    values: dict[int, int] = {}
    answer = array("I")
    with communities.open("rb") as file:
        for line in file:
            node, community = map(int, line.split())
            # Nodes come nearly in order: those that come early wait in a dictionary.
            if node == len(answer):
                answer.append(community)
            else:
                values[node] = community
            while values and len(answer) in values:
                answer.append(values.pop(len(answer)))
    if values:
        places.cannot_run("the communities lack nodes")
    return answer
