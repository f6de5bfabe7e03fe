"""Infomap and leidenalg: their own results, and what they say of ours. Results of Infomap are cached in DATA/flow."""

from __future__ import annotations

import hashlib
import json
import math
import warnings
from pathlib import Path
from typing import Any

warnings.simplefilter("ignore")

Ends = list[tuple[int, int, float]]


def read(path: Path) -> tuple[list[str], Ends]:
    """Return the names of the nodes, in order of appearance, and the edges."""
    numbers: dict[str, int] = {}
    edges = []
    for line in path.read_text().splitlines():
        source, target, *weight = line.split("\t")
        ends = [numbers.setdefault(name, len(numbers)) for name in (source, target)]
        edges.append((ends[0], ends[1], float(weight[0]) if weight else 1.0))
    return list(numbers), edges


def _infomap(path: Path, flags: str, trials: int) -> Any:
    from infomap import Infomap

    names, edges = read(path)
    # A tree has the numbers of a list of links, which are the names.
    ids = [int(name) for name in names]
    infomap = Infomap(f"--silent -N {trials} {flags}")
    for source, target, weight in edges:
        infomap.add_link(ids[source], ids[target], weight)
    return infomap


def best_infomap(path: Path, flags: str, trials: int, cache: Path) -> float:
    """Return the code length of Infomap's best of several trials."""
    key = hashlib.sha256(path.read_bytes() + f"{flags} {trials}".encode()).hexdigest()[:16]
    kept = cache / f"{key}.json"
    if not kept.exists():
        infomap = _infomap(path, flags, trials)
        infomap.run()
        kept.write_text(json.dumps({"network": path.name, "flags": flags, "codelength": infomap.codelength}) + "\n")
    return float(json.loads(kept.read_text())["codelength"])


def infomap_of(path: Path, flags: str, tree: Path) -> float:
    """Return the code length that Infomap computes for the modules in a file."""
    infomap = _infomap(path, flags, 1)
    infomap.run(cluster_data=str(tree), no_infomap=True)
    return float(infomap.codelength)


def best_directed_modularity(path: Path, trials: int) -> float:
    """Return the modularity of the best of several runs of leidenalg on a directed network."""
    import igraph
    import leidenalg

    names, edges = read(path)
    graph = igraph.Graph(len(names), [edge[:2] for edge in edges], directed=True)
    weights = [edge[2] for edge in edges]
    found = [
        leidenalg.find_partition(
            graph, leidenalg.ModularityVertexPartition, weights=weights, n_iterations=-1, seed=seed
        ).modularity
        for seed in range(trials)
    ]
    return max(found)


def best_two_mode_modularity(path: Path, trials: int) -> float:
    """Return Barber's modularity of the best of several runs of leidenalg's three layers for two modes."""
    import igraph
    import leidenalg

    names, edges = read(path)
    graph = igraph.Graph(len(names), [edge[:2] for edge in edges])
    kinds = [0] * len(names)
    for _, target, _ in edges:
        kinds[target] = 1
    weights = [edge[2] for edge in edges]
    total = sum(weights)
    graph.vs["type"] = kinds
    best = -math.inf
    for seed in range(trials):
        optimiser = leidenalg.Optimiser()
        optimiser.set_rng_seed(seed)
        layers = leidenalg.CPMVertexPartition.Bipartite(
            graph, resolution_parameter_01=1 / total, types="type", weights=weights, degree_as_node_size=True
        )
        optimiser.optimise_partition_multiplex(list(layers), layer_weights=[1, -1, -1], n_iterations=-1)
        best = max(best, barber(edges, layers[0].membership))
    return best


def barber(edges: Ends, labels: list[int]) -> float:
    """Return Barber's modularity by its definition."""
    total = sum(weight for *_, weight in edges)
    inside = sum(weight for source, target, weight in edges if labels[source] == labels[target]) / total
    first: dict[int, float] = {}
    second: dict[int, float] = {}
    for source, target, weight in edges:
        first[labels[source]] = first.get(labels[source], 0.0) + weight
        second[labels[target]] = second.get(labels[target], 0.0) + weight
    return inside - sum(strength * second.get(label, 0.0) for label, strength in first.items()) / total**2
