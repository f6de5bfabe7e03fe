"""Generators of classes of graphs on which methods disagree, each from its parameters and a seed. Needs NumPy.

`CLASSES` has a few members of each class; others are made by other parameters and seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scores import Edges

Array = np.ndarray[Any, np.dtype[Any]]


def merged(nodes: int, sources: Array, targets: Array, weights: Array | None = None) -> Edges:
    """Sum repeated edges, and drop loops."""
    weights = np.ones(len(sources)) if weights is None else weights
    low, high = np.minimum(sources, targets), np.maximum(sources, targets)
    proper = low != high
    keys, places = np.unique(low[proper] * nodes + high[proper], return_inverse=True)
    return Edges(nodes, keys // nodes, keys % nodes, np.bincount(places, weights[proper], len(keys)))


def equal_groups(groups: int, size: int, degree: float, mixing: float, least: float, seed: int) -> Edges:
    """Equal groups of nodes with Pareto weights from `least`, capped at 50 times their mean.

    The first end of an edge is drawn by weight; the other with probability 1 - mixing from the same group, otherwise
    from all nodes, by weight.
    """
    random, nodes = np.random.default_rng(seed), groups * size
    weights = random.pareto(1.5, nodes) + least
    weights = np.minimum(weights, 50 * weights.mean())
    bounds = np.concatenate([[0], np.cumsum(weights)])
    count = int(nodes * degree / 2)

    def drawn(low: Array | float, high: Array | float) -> Array:
        at = low + random.random(count) * (high - low)
        return np.minimum(np.searchsorted(bounds[1:], at), nodes - 1)

    sources = drawn(0.0, bounds[-1])
    group = sources // size
    inside = drawn(bounds[group * size], bounds[(group + 1) * size])
    targets = np.where(random.random(count) < mixing, drawn(0.0, bounds[-1]), inside)
    return merged(nodes, sources, targets)


def nested(nodes: int, levels: Sequence[tuple[int, float]], seed: int) -> Edges:
    """Groups inside groups: each level, (size, degree), adds edges inside blocks of its size."""
    random = np.random.default_rng(seed)
    sources, targets = [], []
    for size, degree in levels:
        ends = random.integers(0, nodes, int(nodes * degree / 2))
        sources.append(ends)
        targets.append(np.minimum(ends // size * size + random.integers(0, size, len(ends)), nodes - 1))
    return merged(nodes, np.concatenate(sources), np.concatenate(targets))


def cells(nodes: int, jaccard: bool, seed: int) -> Edges:
    """The graph of 15 nearest neighbors of simulated cells of 14 related types: counts of 600 genes, 30 components."""
    from sklearn.decomposition import PCA
    from sklearn.neighbors import NearestNeighbors

    random, types, genes, neighbors = np.random.default_rng(seed), 14, 600, 15
    profiles = [random.gamma(0.5, 1, genes)]
    while len(profiles) < types:
        profile = profiles[random.integers(0, len(profiles))].copy()
        profile[random.choice(genes, 40, replace=False)] *= np.exp(random.normal(0, 1, 40))
        profiles.append(profile)
    kinds = random.choice(types, nodes, p=random.dirichlet(np.full(types, 2.0)))
    means = random.gamma(2, 0.5, (nodes, genes)) * np.array(profiles)[kinds]
    counts = random.poisson(means * np.exp(random.normal(0, 0.4, nodes))[:, None])
    points = PCA(30, random_state=0).fit_transform(np.log1p(counts))
    near = NearestNeighbors(n_neighbors=neighbors + 1).fit(points).kneighbors(points, return_distance=False)[:, 1:]
    sources, targets = np.repeat(np.arange(nodes), neighbors), near.ravel()
    keys = np.unique(np.minimum(sources, targets) * nodes + np.maximum(sources, targets))
    sources, targets = keys // nodes, keys % nodes
    if not jaccard:
        return merged(nodes, sources, targets)
    sets = [set(row.tolist()) for row in near]
    shares = [len(sets[a] & sets[b]) / len(sets[a] | sets[b]) for a, b in zip(sources, targets, strict=True)]
    return merged(nodes, sources, targets, np.array(shares) + 0.01)


def star_of_stars(hubs: int, leaves: int, seed: int) -> Edges:
    """A hub, its sub-hubs, and between a half and twice `leaves` leaves at each of them."""
    counts = np.random.default_rng(seed).integers(leaves // 2, 2 * leaves, hubs)
    inner = np.arange(1, hubs + 1)
    sources = np.concatenate([np.zeros(hubs, dtype=np.int64), np.repeat(inner, counts)])
    targets = np.concatenate([inner, hubs + 1 + np.arange(counts.sum())])
    return merged(int(hubs + 1 + counts.sum()), sources, targets)


def unequal(big: int, small: int, count: int, degree: int, mixing: float, seed: int) -> Edges:
    """One large group and many small ones, of nodes of equal degree."""
    random = np.random.default_rng(seed)
    starts = np.concatenate([[0], big + small * np.arange(count)])
    sizes = np.concatenate([[big], np.full(count, small)])
    group = np.repeat(np.arange(count + 1), sizes)
    nodes = len(group)
    ends = random.integers(0, nodes, nodes * degree // 2)
    inside = starts[group[ends]] + (random.random(len(ends)) * sizes[group[ends]]).astype(np.int64)
    others = np.where(random.random(len(ends)) < mixing, random.integers(0, nodes, len(ends)), inside)
    return merged(nodes, ends, others)


def uniform(nodes: int, degree: int, seed: int) -> Edges:
    """A random graph without communities."""
    random = np.random.default_rng(seed)
    return merged(nodes, *random.integers(0, nodes, (2, nodes * degree // 2)))


def core_and_periphery(core: int, nodes: int, density: float, degree: int, seed: int) -> Edges:
    """A dense core, and around it nodes of a few edges to the core each."""
    random = np.random.default_rng(seed)
    left, right = np.triu_indices(core, 1)
    kept = random.random(len(left)) < density
    outer = np.repeat(np.arange(core, nodes), degree)
    sources = np.concatenate([left[kept], outer])
    targets = np.concatenate([right[kept], random.integers(0, core, len(outer))])
    edges = merged(nodes, sources, targets)
    return Edges(nodes, edges.sources, edges.targets, np.ones(len(edges.sources)))


def barbell(size: int) -> Edges:
    """Two complete graphs with one edge between them."""
    left, right = np.triu_indices(size, 1)
    sources = np.concatenate([left, left + size, [size - 1]])
    targets = np.concatenate([right, right + size, [size]])
    return merged(2 * size, sources, targets)


TWO_LEVELS = ((20, 10.0), (400, 5.0), (20_000, 1.0))
THREE_LEVELS = ((20, 10.0), (200, 5.0), (2_000, 2.0), (20_000, 1.0))

CLASSES: dict[str, Callable[[int], Edges]] = {
    "10 groups of 2,000, mixing 0.55": lambda seed: equal_groups(10, 2_000, 20, 0.55, 1, seed),
    "5 groups of 1,000, mixing 0.45": lambda seed: equal_groups(5, 1_000, 20, 0.45, 1, seed),
    "10 groups of 2,000, light nodes": lambda seed: equal_groups(10, 2_000, 20, 0.55, 0, seed),
    "50 sparse groups of 200": lambda seed: equal_groups(50, 200, 2.5, 0.2, 1, seed),
    "groups of 20 in 400": lambda seed: nested(20_000, TWO_LEVELS, seed),
    "groups of 20 in 200 in 2,000": lambda seed: nested(20_000, THREE_LEVELS, seed),
    "groups of 30 in 300": lambda seed: nested(9_000, ((30, 12.0), (300, 4.0), (9_000, 1.0)), seed),
    "cells": lambda seed: cells(5_000, False, seed),
    "cells, Jaccard": lambda seed: cells(5_000, True, seed),
    "star of stars": lambda seed: star_of_stars(50, 20, seed),
    "10,000 and 200 x 50": lambda seed: unequal(10_000, 50, 200, 10, 0.3, seed),
    "random": lambda seed: uniform(10_000, 10, seed),
}
