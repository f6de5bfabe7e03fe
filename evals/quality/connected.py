"""Well-connected communities: the same rule, written with igraph's minimum cuts, gives the same parts (bar N3).

    evals/rivals.sh python                                        # once
    python3 evals/quality/connected.py [--scale smoke|full] [--only GRAPH,..]

Ten graphs, four methods and bounds of several kinds. outcore finds the communities of each graph without and with
`--well-connected`; here, those without it are split by the definition: while the minimum cut of a community is at most
the bound for its size, all parts that cuts of no more edges divide are separated, one cut at a time, and each part is
looked at again. Both partitions must be equal, and `outcore score` must find that all communities are well-connected.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, running, subject
from harness.running import Command

places.use_rivals_python()

import igraph
import numpy as np

METHODS = ("map-equation", "modularity", "cpm", "label-propagation")
BOUNDS: dict[str, Callable[[int], float]] = {
    "log10": lambda nodes: math.log10(nodes),
    "2log10": lambda nodes: 2 * math.log10(nodes),
    "log2": lambda nodes: math.log2(nodes),
    "0.05n": lambda nodes: 0.05 * nodes,
    "1": lambda nodes: 1,
}
SCALES = {"smoke": ("log10",), "full": tuple(BOUNDS)}
Pairs = list[tuple[int, int]]


def planted(nodes: int, seed: int) -> Pairs:
    """Groups of Pareto sizes with nodes of Pareto degrees, a third of whose edges leave the group."""
    random = np.random.default_rng(seed)
    groups = np.repeat(np.arange(nodes), np.minimum(random.pareto(1.0, nodes) * 20 + 10, 300).astype(int))[:nodes]
    degrees = np.minimum(random.pareto(1.5, nodes) * 3 + 2, 60).astype(int)
    order = [np.flatnonzero(groups == group) for group in range(groups.max() + 1)]
    pairs = []
    for node in range(nodes):
        for _ in range(degrees[node]):
            other = random.choice(order[groups[node]]) if random.random() > 0.33 else random.integers(nodes)
            pairs.append((node, int(other)))
    return pairs


def stars(centers: int, leaves: int) -> Pairs:
    """A star of stars."""
    nodes = range(1, centers + 1)
    first = [(0, center) for center in nodes]
    return first + [(center, centers * (leaf + 1) + center) for center in nodes for leaf in range(leaves)]


def cliques(count: int, size: int, bridges: int) -> Pairs:
    """A ring of cliques, each joined to the next by some edges."""
    inside = [(size * at + a, size * at + b) for at in range(count) for a in range(size) for b in range(a)]
    nodes = count * size
    return inside + [(size * at + i, (size * (at + 1) + i) % nodes) for at in range(count) for i in range(bridges)]


def drawn(nodes: int, edges: int, seed: int, exponent: float = 0.0) -> Pairs:
    """Random ends, by the power of the node's number."""
    weights = np.arange(1, nodes + 1) ** -exponent
    ends = np.random.default_rng(seed).choice(nodes, (edges, 2), p=weights / weights.sum())
    return [(int(a), int(b)) for a, b in ends]


def stored(name: str) -> Pairs:
    """Return a graph of this repository, with nodes numbered."""
    numbers: dict[str, int] = {}
    lines = (places.REPOSITORY / "tests/graphs" / name).read_text().splitlines()
    words = [line.split() for line in lines if line.strip() and not line.startswith(("#", "%"))]
    return [(numbers.setdefault(a, len(numbers)), numbers.setdefault(b, len(numbers))) for a, b, *_ in words]


GRAPHS: dict[str, Callable[[], Pairs]] = {
    "karate": partial(stored, "karate.tsv"),
    "planted 2,000": partial(planted, 2000, 1),
    "planted 5,000": partial(planted, 5000, 2),
    "star of stars": partial(stars, 30, 40),
    "ring of cliques": partial(cliques, 40, 12, 2),
    "ring of small cliques": partial(cliques, 100, 5, 1),
    "random, sparse": partial(drawn, 2000, 3000, 3),
    "random, dense": partial(drawn, 1000, 9000, 4),
    "power law": partial(drawn, 3000, 12000, 5, 0.6),
    "power law, steep": partial(drawn, 3000, 9000, 6, 0.9),
}


def parts(graph: igraph.Graph, nodes: list[int], bound: Callable[[int], float]) -> Iterator[list[int]]:
    """Return the well-connected parts of a community by the definition."""
    if len(nodes) == 1:
        yield nodes
        return
    least = graph.induced_subgraph(nodes).mincut().value
    # Rounding must not decide.
    if least > math.floor(bound(len(nodes)) + 1e-9):
        yield nodes
        return
    for part in undivided(graph, nodes, least):
        yield from parts(graph, part, bound)


def undivided(graph: igraph.Graph, nodes: list[int], most: float) -> Iterator[list[int]]:
    """Return the parts that no cut of up to `most` edges divides: cuts around one node first, which are quick."""
    waiting = [nodes]
    while waiting:
        # The order of nodes in a subgraph.
        nodes = sorted(waiting.pop())
        community = graph.induced_subgraph(nodes)
        low = {node for node, degree in zip(nodes, community.degree(), strict=True) if degree <= most}
        if len(nodes) > 1 and low:
            yield from ([node] for node in low)
            waiting.append([node for node in nodes if node not in low])
            continue
        cut = community.mincut() if len(nodes) > 1 else None
        if cut is None or cut.value > most:
            yield from [nodes] if nodes else []
        else:
            waiting.extend([nodes[at] for at in side] for side in cut.partition)


def found(source: Path, folder: Path, method: str, *options: str) -> dict[int, int]:
    """Return the community of each node."""
    output = folder / "communities.tsv"
    resolution = subject.method_resolution(method)
    work = places.fresh(folder / "work")
    argv = subject.cluster_argv(source, output, work, method=method, resolution=resolution)
    sample = running.run_once(Command("cluster", [*argv, *options]))
    if not sample.ok:
        places.cannot_run(f"cluster failed:\n{sample.error}")
    return {int(node): community for node, community in inputs.read_communities(output).items()}


def communities_of(labels: dict[int, int]) -> list[list[int]]:
    members: dict[int, list[int]] = {}
    for node, label in labels.items():
        members.setdefault(label, []).append(node)
    return list(members.values())


def score(graph: Path, communities: Path, bound: str) -> float:
    """Return the share of communities that outcore finds well-connected."""
    argv = [str(subject.outcore()), "score", str(graph), str(communities), f"--well-connected={bound}", "--json", "-q"]
    sample = running.run_once(Command("score", argv))
    if not sample.ok:
        places.cannot_run(f"score failed:\n{sample.error}")
    return json.loads(sample.output)["well_connected"]["community_share"]


def extend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", type=partial(str.split, sep=","), help="graphs, by name or part of it")


def main() -> int:
    options = results.arguments("quality", "well-connected parts by igraph's cuts", repeats=1, extend=extend)
    folder = places.fresh(places.data_folder() / "connected")
    bounds = SCALES[options.scale]
    result = results.Result("quality", "N3", options.scale, {"bounds": list(bounds)}, part="connected")
    for name, generate in GRAPHS.items():
        if options.only and not any(part in name for part in options.only):
            continue
        pairs = sorted({(min(pair), max(pair)) for pair in generate() if pair[0] != pair[1]})
        source, built = folder / "edges.tsv", folder / "edges.graph"
        source.write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
        places.fresh(built).rmdir()
        sample = running.run_once(Command("build", subject.build_argv(source, built, places.fresh(folder / "work"))))
        if not sample.ok:
            places.cannot_run(f"build failed:\n{sample.error}")
        graph = igraph.Graph(edges=pairs)
        for method in METHODS:
            before = communities_of(found(source, folder, method))
            for bound in bounds:
                print(f"  {name}, {method}, {bound} ..", file=sys.stderr)
                expected = {frozenset(part) for nodes in before for part in parts(graph, nodes, BOUNDS[bound])}
                after = found(source, folder, method, f"--well-connected={bound}")
                same = {frozenset(nodes) for nodes in communities_of(after)} == expected
                share = score(built, folder / "communities.tsv", bound)
                row = {"graph": name, "method": method, "bound": bound, "communities": len(before)}
                result.rows.append(row | {"parts": len(expected), "same": same, "well-connected": share})
                label = f"{name}, {method}, {bound}"
                result.check(f"{label}: same parts", float(same), 1.0, ">=")
                result.check(f"{label}: well-connected", share, 1.0, ">=")
    places.fresh(folder)
    header = list(result.rows[0])
    print("\n" + results.table(header, [[str(row[column]) for column in header] for row in result.rows]))
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
