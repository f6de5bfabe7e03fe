"""Scores of partitions, computed from the edges, for outcore and its rivals alike. Needs NumPy and scikit-learn.

A graph is undirected: an edge given twice, or in both directions, has the sum of the weights; loops are dropped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from graphs import Graph
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

Array = np.ndarray[Any, np.dtype[Any]]

UNKNOWN = -1


@dataclass(frozen=True)
class Edges:
    """Sorted edges of a graph, each once, the smaller node first."""

    nodes: int
    sources: Array
    targets: Array
    weights: Array

    @property
    def total(self) -> float:
        return float(self.weights.sum())

    @property
    def mean_weight(self) -> float:
        return self.total / len(self.weights)

    @property
    def unweighted(self) -> bool:
        return bool((self.weights == 1).all())


def merged_edges(graph: Graph) -> Edges:
    nodes = len(graph.names)
    sources, targets = np.array(graph.sources, dtype=np.int64), np.array(graph.targets, dtype=np.int64)
    weights = np.array([float(weight) if weight else 1.0 for weight in graph.weights])
    low, high = np.minimum(sources, targets), np.maximum(sources, targets)
    proper = low != high
    keys, places = np.unique(low[proper] * nodes + high[proper], return_inverse=True)
    return Edges(nodes, keys // nodes, keys % nodes, np.bincount(places, weights[proper], len(keys)))


def numbered(communities: list[str]) -> Array:
    """Return communities as numbers from 0 instead of names."""
    return np.unique(np.array(communities), return_inverse=True)[1].astype(np.int64)


@dataclass(frozen=True)
class Sums:
    """Weight of the edges inside, strength of the nodes, and number of nodes of each community."""

    inside: Array
    strength: Array
    size: Array


def community_sums(edges: Edges, communities: Array) -> Sums:
    count = int(communities.max()) + 1
    left, right = communities[edges.sources], communities[edges.targets]
    strength = np.bincount(left, edges.weights, count) + np.bincount(right, edges.weights, count)
    same = left == right
    return Sums(
        np.bincount(left[same], edges.weights[same], count), strength, np.bincount(communities, minlength=count)
    )


def modularity(edges: Edges, communities: Array) -> float:
    """Return the modularity.

    Newman and Girvan, "Finding and evaluating community structure in networks", Physical Review E 69 (2004).
    """
    sums, total = community_sums(edges, communities), edges.total
    return float((sums.inside / total - (sums.strength / (2 * total)) ** 2).sum())


def constant_potts(edges: Edges, communities: Array, gamma: float) -> float:
    """Return the objective of the constant Potts model: the weight inside less gamma per pair of nodes of a community.

    Traag, Van Dooren, Nesterov, "Narrow scope for resolution-limit-free community detection", Physical Review E 84
    (2011).
    """
    sums = community_sums(edges, communities)
    return float((sums.inside - gamma * sums.size * (sums.size - 1.0) / 2).sum())


def code_length(edges: Edges, communities: Array) -> float:
    """Return the bits per step of a random walk, with two levels and undirected edges.

    Rosvall, Axelsson, Bergstrom, "The map equation", European Physical Journal Special Topics 178 (2009).
    """
    sums, doubled = community_sums(edges, communities), 2 * edges.total
    exits, flows = (sums.strength - 2 * sums.inside) / doubled, sums.strength / doubled
    exits[np.abs(exits) < 1e-12] = 0.0
    strengths = np.bincount(edges.sources, edges.weights, edges.nodes)
    strengths += np.bincount(edges.targets, edges.weights, edges.nodes)
    inner = bits(exits + flows).sum() - 2 * bits(exits).sum() - bits(strengths / doubled).sum()
    return float(bits(np.array([exits.sum()])).sum() + inner)


def bits(shares: Array) -> Array:
    """Return x log2 x, which is 0 at 0."""
    positive = shares > 0
    result = np.zeros(len(shares))
    result[positive] = shares[positive] * np.log2(shares[positive])
    return result


def disconnected(edges: Edges, communities: Array) -> int:
    """Return the number of additional communities if each were split into its connected parts."""
    same = communities[edges.sources] == communities[edges.targets]
    ends = (edges.sources[same], edges.targets[same])
    inner = coo_array((np.ones(int(same.sum()), dtype=np.int8), ends), shape=(edges.nodes, edges.nodes))
    parts = connected_components(inner, directed=False, return_labels=False)
    return int(parts) - len(np.unique(communities))


def largest_share(communities: Array) -> float:
    return float(np.bincount(communities).max() / len(communities))


@dataclass(frozen=True)
class Agreement:
    """Agreement with the true communities, over the nodes that have one."""

    nmi: float = math.nan
    ari: float = math.nan
    pair_f1: float = math.nan


def agreement(truth: Array, found: Array) -> Agreement:
    """Return the agreement. NMI is 2 I / (H1 + H2); pairs are two nodes of a true community that are found together."""
    known = truth != UNKNOWN
    if not known.any():
        return Agreement()
    truth, found = truth[known], found[known]
    keys = truth * (int(found.max()) + 1) + found
    together = pairs(np.unique(keys, return_counts=True)[1])
    wanted, got = pairs(np.bincount(truth)), pairs(np.unique(found, return_counts=True)[1])
    return Agreement(
        float(normalized_mutual_info_score(truth, found)),
        float(adjusted_rand_score(truth, found)),
        2 * together / (wanted + got) if wanted + got else math.nan,
    )


def pairs(sizes: Array) -> float:
    return float((sizes * (sizes - 1.0) / 2).sum())
