"""Prints measures of communities by other programs, for the tests of `score`.

pip install igraph==1.0.0 leidenalg==0.12.0 scikit-learn==1.9.1 infomap==2.16.0 networkx==3.6.1
python tests/graphs/measures.py
"""

from pathlib import Path

import igraph
import infomap
import leidenalg
import networkx
from sklearn import metrics

HERE = Path(__file__).parent


def read(name):
    """A graph numbered by first appearance, and the true community of each node."""
    pairs = [line.split() for line in (HERE / f"{name}.tsv").read_text().splitlines()]
    truth = dict(line.split() for line in (HERE / f"{name}.truth.tsv").read_text().splitlines())
    index = {}
    edges = [tuple(index.setdefault(node, len(index)) for node in pair) for pair in pairs]
    graph = igraph.Graph(n=len(index), edges=edges)
    graph.es["weight"] = [1.0] * len(edges)
    numbers = {}
    return graph, [numbers.setdefault(truth[node], len(numbers)) for node in index]


def code_lengths(graph, labels, flags=""):
    walk = infomap.Infomap(f"--silent --two-level --no-infomap {flags}")
    for edge in graph.es:
        walk.add_link(edge.source, edge.target, edge["weight"])
    walk.initial_partition = {node: label + 1 for node, label in enumerate(labels)}
    walk.run()
    return walk.codelength, walk.one_level_codelength


def potts(graph, labels, resolution):
    """The value, where the resolution is in units of the mean weight of edges that are no loops."""
    weights = [e["weight"] for e in graph.es if e.source != e.target]
    partition = leidenalg.CPMVertexPartition(
        graph,
        initial_membership=labels,
        weights="weight",
        resolution_parameter=resolution * sum(weights) / len(weights),
        correct_self_loops=False,
    )
    # Of undirected graphs, leidenalg gives twice the weight inside communities less what is expected.
    return partition.quality() / (1 if graph.is_directed() else 2)


def rate(name, graph, labels):
    print(f"{name}: modularity", [graph.modularity(labels, "weight", resolution=r) for r in (1, 0.5)])
    print("  cpm", [potts(graph, labels, r) for r in (1, 0.5)])
    if graph.is_directed():
        for flags in ("--directed", "--directed --recorded-teleportation"):
            print("  code lengths", flags, code_lengths(graph, labels, flags))
        return
    print("  code lengths", code_lengths(graph, labels))
    plain = networkx.Graph()
    plain.add_weighted_edges_from((e.source, e.target, e["weight"]) for e in graph.es)
    members = [[v for v, own in enumerate(labels) if own == label] for label in sorted(set(labels))]
    values = [networkx.conductance(plain, nodes, weight="weight") for nodes in members]
    print("  conductance", sum(values) / len(values), max(values))


def compare(found, truth):
    print("  nmi", metrics.normalized_mutual_info_score(truth, found))
    print("  ami", metrics.adjusted_mutual_info_score(truth, found))
    print("  ari", metrics.adjusted_rand_score(truth, found))
    (_, only_found), (only_true, both) = metrics.pair_confusion_matrix(truth, found)
    print("  pairs: f1", 2 * both / (2 * both + only_found + only_true), end=" ")
    print("precision", both / (both + only_found), "recall", both / (both + only_true))


def main():
    for name in ("karate", "football"):
        graph, truth = read(name)
        rate(f"{name}, truth", graph, truth)
        found = [node % 4 for node in range(graph.vcount())]
        rate(f"{name}, index modulo 4", graph, found)
        compare(found, truth)
        some = [node for node in range(graph.vcount()) if node % 3]
        print("  without every third:")
        compare([found[node] for node in some], [truth[node] for node in some])
    edges = [(0, 0), (0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5), (5, 5), (6, 6)]
    graph = igraph.Graph(n=7, edges=edges)
    graph.es["weight"] = [2, 1.5, 0.5, 1, 0.25, 2, 1, 3, 0.5, 1]
    rate("loops", graph, [0, 0, 0, 1, 1, 1, 2])
    edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3), (3, 0)]
    graph = igraph.Graph(n=6, edges=edges, directed=True)
    graph.es["weight"] = [1, 2, 1, 0.5, 1, 1, 3, 0.25]
    rate("directed", graph, [0, 0, 0, 1, 1, 1])


if __name__ == "__main__":
    main()
