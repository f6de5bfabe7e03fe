"""Graphs with known communities, in memory and with any order of nodes; standard library only."""

from __future__ import annotations

import argparse
import os
import random
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import inputs, places


@dataclass(frozen=True)
class Graph:
    """Edge list in memory, with nodes numbered in order of first appearance, and the true communities."""

    names: list[str]
    sources: array[int]
    targets: array[int]
    weights: list[str]
    truth: dict[str, str]


def read_graph(path: Path, truth: Path | None) -> Graph:
    index: dict[str, int] = {}
    sources, targets, weights = array("I"), array("I"), []
    for line in inputs.lines(path):
        source, target, *weight = line.split("\t")
        sources.append(index.setdefault(source, len(index)))
        targets.append(index.setdefault(target, len(index)))
        weights.append("\t" + weight[0] if weight else "")
    return Graph(list(index), sources, targets, weights, {} if truth is None else inputs.read_communities(truth))


def random_order(graph: Graph) -> list[int]:
    order = list(range(len(graph.names)))
    random.Random(1).shuffle(order)
    return order


def degree_order(graph: Graph) -> list[int]:
    degrees = [0] * len(graph.names)
    for ends in (graph.sources, graph.targets):
        for node in ends:
            degrees[node] += 1
    return sorted(range(len(graph.names)), key=lambda node: (-degrees[node], node))


def community_order(graph: Graph) -> list[int]:
    # Nodes without a true community come last.
    return sorted(range(len(graph.names)), key=lambda node: (graph.truth.get(graph.names[node], "\uffff"), node))


ORDERS: dict[str, Callable[[Graph], list[int]]] = {
    "random": random_order,
    "degree": degree_order,
    "community": community_order,
}


def write_reordered(graph: Graph, order: Sequence[int], path: Path) -> list[str]:
    """Write the edges so that nodes appear in the given order, and return the new names of nodes.

    The new name of a node is its place in the order. Edges are sorted by their later end, so that a node appears at its
    place in the order or, if all its neighbors come later, with the first of them.
    """
    place = array("I", bytes(4 * len(order)))
    for position, node in enumerate(order):
        place[node] = position
    ends = ((place[source], place[target]) for source, target in zip(graph.sources, graph.targets, strict=True))
    keys = [(max(a, b), min(a, b), edge) for edge, (a, b) in enumerate(ends)]
    keys.sort()
    with path.open("w") as file:
        file.writelines(f"{low}\t{high}{graph.weights[edge]}\n" for high, low, edge in keys)
    return [str(position) for position in place]


def disconnected(graph: Graph, names: Sequence[str], found: dict[str, str]) -> int:
    """Return the number of additional communities if each were split into its connected parts."""
    communities = [found[name] for name in names]
    parent = list(range(len(names)))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for source, target in zip(graph.sources, graph.targets, strict=True):
        if communities[source] == communities[target]:
            a, b = root(source), root(target)
            if a != b:
                parent[a] = b
    parts = sum(1 for node in range(len(names)) if root(node) == node)
    return parts - len(set(communities))


def existing(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / (name + ".gz")):
        if path.exists():
            return path
    places.cannot_run(f"{name} (or {name}.gz) is not in the folder of graphs")


def take_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--graphs", type=Path, help="folder of graphs with known communities (default: OUTCORE_GRAPHS)")


def folder_of_graphs(options: argparse.Namespace) -> Path:
    if options.graphs is not None:
        os.environ["OUTCORE_GRAPHS"] = str(options.graphs)
    if "OUTCORE_GRAPHS" not in os.environ:
        places.cannot_run("name the folder of graphs by --graphs or OUTCORE_GRAPHS")
    return Path(os.environ["OUTCORE_GRAPHS"]).resolve()
