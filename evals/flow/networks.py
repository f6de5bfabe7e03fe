"""Networks of evals/flow: generated ones, and those that a folder of graphs has; standard library only."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

Edge = tuple[str, str]


def write(path: Path, edges: Iterable[Edge]) -> Path:
    path.write_text("".join(f"{source}\t{target}\n" for source, target in edges))
    return path


def nested(nodes: int, degree: float, sizes: list[int], shares: list[float], seed: int) -> list[Edge]:
    """Return edges of groups inside groups: a share of each node's edges stays in its group of each size."""
    chance = random.Random(seed)
    edges = set()
    for node in range(nodes):
        for size, share in zip(sizes, shares, strict=True):
            mean = degree * share / 2
            first = node // size * size
            for _ in range(int(mean) + (chance.random() < mean - int(mean))):
                other = first + chance.randrange(min(size, nodes - first))
                if other != node:
                    edges.add((min(node, other), max(node, other)))
    return [(str(a), str(b)) for a, b in sorted(edges)]


def planted(nodes: int, sizes: list[int]) -> list[dict[str, str]]:
    """Return the group of each node of `nested` for each size but the last, which is the whole network."""
    return [{str(node): str(node // size) for node in range(nodes)} for size in sizes[:-1]]


def directed_hubs(nodes: int, groups: int, seed: int) -> list[Edge]:
    """Return arcs from the nodes of each group to its hub and to each other, and from hubs to other groups."""
    chance = random.Random(seed)
    size = nodes // groups
    arcs = set()
    for node in range(nodes):
        first = node // size * size
        arcs.add((node, first))
        arcs.add((first, first + chance.randrange(size)))
        for _ in range(3):
            arcs.add((node, first + chance.randrange(size)))
        if chance.random() < 0.3:
            arcs.add((node, chance.randrange(nodes)))
    return [(str(a), str(b)) for a, b in sorted(arcs) if a != b]


def citations(nodes: int, fields: int, seed: int) -> list[Edge]:
    """Return citations of earlier papers, mostly of the same field, more often of those that are cited already."""
    chance = random.Random(seed)
    cited: list[list[int]] = [[] for _ in range(fields)]
    arcs = set()
    for paper in range(nodes):
        field = paper % fields
        chosen = []
        for _ in range(6):
            pool = cited[field] if chance.random() < 0.85 else cited[chance.randrange(fields)]
            if pool:
                chosen.append(pool[chance.randrange(len(pool))])
        arcs.update((paper, other) for other in chosen)
        for other in chosen:
            cited[other % fields].append(other)
        cited[field].append(paper)
    return [(str(a), str(b)) for a, b in sorted(arcs) if a != b]


def ring(groups: int, size: int, seed: int) -> list[Edge]:
    """Return groups with arcs inside, each with arcs to the next one only."""
    chance = random.Random(seed)
    arcs = set()
    for node in range(groups * size):
        group = node // size
        for _ in range(5):
            arcs.add((node, group * size + chance.randrange(size)))
        if chance.random() < 0.4:
            arcs.add((node, (group + 1) % groups * size + chance.randrange(size)))
    return [(str(a), str(b)) for a, b in sorted(arcs) if a != b]


def two_modes(users: int, items: int, groups: int, seed: int) -> list[Edge]:
    """Return choices of users among items, mostly of their own group, and of popular items."""
    chance = random.Random(seed)
    edges = set()
    for user in range(users):
        for _ in range(1 + int(chance.expovariate(0.15))):
            group = user % groups if chance.random() < 0.8 else chance.randrange(groups)
            item = int(chance.random() ** 2 * (items // groups)) * groups + group
            edges.add((user, min(item, items - 1)))
    return [(f"u{a}", f"i{b}") for a, b in sorted(edges)]
