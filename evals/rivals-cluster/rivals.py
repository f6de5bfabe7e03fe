"""Whole jobs of programs that hold a graph in memory: read an edge list, find communities, write them.

    rivals.py TOOL EDGES.tsv ANSWER.npy      # prints seconds of the parts as JSON
    rivals.py nmi ANSWER TRUTH.tsv           # of a rival, or communities of outcore as text

Each tool reads the file in the fastest way that it has for numbered nodes, and uses two threads if it can. The answer
has one number per node and is written as an array, which is faster than text.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
THREADS = 2
SEED = 1


def read_numbers(path: Path) -> Array:
    """Return the numbers in a text of two columns."""
    return np.fromstring(path.read_bytes(), dtype=np.int64, sep="\t").reshape(-1, 2)


def igraph_leiden(edges: Path) -> Callable[[], Array]:
    import random

    import igraph

    random.seed(SEED)
    graph = igraph.Graph.Read_Edgelist(str(edges), directed=False)
    return lambda: np.array(graph.community_leiden("modularity", n_iterations=2).membership)


def leidenalg(edges: Path) -> Callable[[], Array]:
    import igraph
    import leidenalg

    graph = igraph.Graph.Read_Edgelist(str(edges), directed=False)
    kind = leidenalg.ModularityVertexPartition
    return lambda: np.array(leidenalg.find_partition(graph, kind, n_iterations=2, seed=SEED).membership)


def networkit(edges: Path, method: str) -> Callable[[], Array]:
    import networkit

    networkit.setNumberOfThreads(THREADS)
    networkit.setSeed(SEED, False)
    # A tenth of the time of its EdgeListReader.
    ends = np.ascontiguousarray(read_numbers(edges).T)
    graph = networkit.GraphFromCoo((ends[0], ends[1]), n=int(ends.max()) + 1)
    del ends

    def find() -> Array:
        finder = getattr(networkit.community, method)(graph)
        finder.run()
        return np.array(finder.getPartition().getVector())

    return find


def infomap(edges: Path) -> Callable[[], Array]:
    from infomap import Infomap

    finder = Infomap(two_level=True, flow_model="undirected", num_trials=1, num_threads=THREADS, seed=SEED, silent=True)
    # Two thirds of the time of its `read_file`.
    finder.add_links(read_numbers(edges))

    def find() -> Array:
        finder.run()
        modules = finder.get_modules()
        nodes = np.fromiter(modules.keys(), np.int64, len(modules))
        # Nodes without an edge stay alone.
        answer = np.arange(nodes.max() + 1) + len(modules) + 1
        answer[nodes] = np.fromiter(modules.values(), np.int64, len(modules))
        return answer

    return find


READERS: dict[str, Callable[[Path], Callable[[], Array]]] = {
    "igraph-leiden": igraph_leiden,
    "leidenalg": leidenalg,
    "networkit-plm": lambda edges: networkit(edges, "PLM"),
    "networkit-plp": lambda edges: networkit(edges, "PLP"),
    "infomap": infomap,
}


def answer(tool: str, edges: Path, output: Path) -> dict[str, float]:
    start = time.perf_counter()
    find = READERS[tool](edges)
    middle = time.perf_counter()
    communities = find()
    end = time.perf_counter()
    np.save(output, communities)
    return {"read": middle - start, "find": end - middle}


def labels(path: Path, nodes: int) -> Array:
    """Return the community of each node."""
    if path.suffix == ".npy":
        return np.load(path)
    found = np.arange(nodes) + nodes
    numbers = read_numbers(path)
    found[numbers[:, 0]] = numbers[:, 1]
    return found


def entropy(counts: Array) -> float:
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def nmi(found: Array, truth: Array) -> float:
    """Return 2 I / (H1 + H2)."""
    pairs = np.unique(truth * (found.max() + 1) + found, return_counts=True)[1]
    one, other, both = (entropy(np.unique(found, return_counts=True)[1]), entropy(np.bincount(truth)), entropy(pairs))
    return 2 * (one + other - both) / (one + other)


def main() -> int:
    tool, source, target = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    if tool == "nmi":
        truth = read_numbers(target)
        truth = truth[np.argsort(truth[:, 0]), 1]
        found = labels(source, len(truth))
        print(json.dumps({"nmi": nmi(found[: len(truth)], truth)}))
        return 0
    print(json.dumps(answer(tool, source, target)))
    sys.stdout.flush()
    # The graph need not be freed piece by piece.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
