"""LFR benchmark graphs with known communities: power laws of degrees and community sizes, and a given mixing.

    python3 evals/quality/lfr.py --nodes 10000 --mixing 0.5 -o edges.tsv --truth truth.tsv [--weight-mixing 0.2]

Lancichinetti, Fortunato, Radicchi, "Benchmark graphs for testing community detection algorithms", Physical Review E
78 (2008); with weights: Lancichinetti, Fortunato, "Benchmarks for testing community detection algorithms on directed
and weighted graphs with overlapping communities", Physical Review E 80 (2009). Written from the papers:

1. Degrees follow a power law between a smallest degree, which gives the required mean, and `max_degree`. Community
   sizes follow another. A share 1 - mixing of a node's edges stays inside its community, which must have more nodes
   than that.
2. Inside a community: the graph of those degrees by Havel and Hakimi, then ten random swaps of ends per edge. Ends that
   no simple graph can place become ends of edges between communities.
3. Between communities: ends are paired at random; pairs that would be loops, repeated or inside a community are swapped
   with random others.
4. Weights: a node of degree k has the strength k^1.5, of which a share `weight_mixing` goes outside. Weights are scaled
   by the square root of what their two ends lack, until the strengths fit.

The graph is simple and depends only on the parameters: all choices come from `random.random()`, which Python guarantees
not to change. 100,000 nodes take about ten seconds.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import TypeVar

STRENGTH_EXPONENT = 1.5
SWAPS_PER_EDGE = 10
REPAIRS_PER_PAIR = 200
SCALING_ROUNDS = 50
MIXING_TOLERANCE = 0.01

Edge = tuple[int, int]
T = TypeVar("T")


@dataclass(frozen=True)
class Parameters:
    """Parameters of a graph. `weight_mixing` is None for a graph without weights."""

    nodes: int
    mixing: float
    weight_mixing: float | None = None
    community_max: int = 100
    community_min: int = 20
    mean_degree: float = 20.0
    max_degree: int = 50
    degree_exponent: float = 2.0
    community_exponent: float = 1.0
    seed: int = 1

    @property
    def stem(self) -> str:
        """Stem of file names."""
        size = f"-{self.community_min}to{self.community_max}"
        weights = "" if self.weight_mixing is None else f"-weight{self.weight_mixing}"
        seed = "" if self.seed == 1 else f"-seed{self.seed}"
        return f"lfr-{self.nodes}{size}-mixing{self.mixing}{weights}{seed}"


@dataclass(frozen=True)
class Benchmark:
    """Graph with sorted edges, the smaller node first, their weights, and the community of each node."""

    edges: list[Edge]
    weights: list[float] | None
    communities: list[int]


@dataclass(frozen=True)
class Realized:
    """Realized values of the parameters; mixing is the mean over the nodes, as in the papers."""

    nodes: int
    edges: int
    mean_degree: float
    max_degree: int
    communities: int
    smallest: int
    largest: int
    mixing: float
    weight_mixing: float | None


# Power laws ------------------------------------------------------------------------------------------------------


def power_law(minimum: int, maximum: int, exponent: float) -> list[float]:
    return [value**-exponent for value in range(minimum, maximum + 1)]


def degree_law(parameters: Parameters) -> tuple[int, list[float]]:
    """Return the smallest degree and the weights from there on; the first is lowered so that the mean is exact."""
    exponent, maximum, mean = parameters.degree_exponent, parameters.max_degree, parameters.mean_degree
    for minimum in range(maximum, 0, -1):
        weights = power_law(minimum, maximum, exponent)
        total, moment = sum(weights), sum(degree * weight for degree, weight in enumerate(weights, minimum))
        if moment / total <= mean:
            above, above_moment = total - weights[0], moment - minimum * weights[0]
            weights[0] = (above_moment - mean * above) / (mean - minimum) if mean > minimum else weights[0]
            return minimum, weights
    raise ValueError(f"no power law up to {maximum} has the mean {mean}")


def draw(random: Random, minimum: int, weights: Sequence[float], count: int) -> list[int]:
    steps = list(accumulate(weights))
    return [minimum + bisect_left(steps, random.random() * steps[-1]) for _ in range(count)]


def community_sizes(random: Random, parameters: Parameters) -> list[int]:
    """Return sizes by the power law that add up to the nodes; the excess of the last is taken from the others."""
    minimum, maximum = parameters.community_min, parameters.community_max
    steps = list(accumulate(power_law(minimum, maximum, parameters.community_exponent)))
    sizes: list[int] = []
    total = 0
    while total < parameters.nodes:
        size = minimum + bisect_left(steps, random.random() * steps[-1])
        sizes.append(size)
        total += size
    while total > parameters.nodes:
        place = below(random, len(sizes))
        if sizes[place] > minimum:
            sizes[place] -= 1
            total -= 1
    return sizes


def below(random: Random, count: int) -> int:
    return int(random.random() * count)


def shuffle(random: Random, items: list[T]) -> None:
    for last in range(len(items) - 1, 0, -1):
        other = below(random, last + 1)
        items[last], items[other] = items[other], items[last]


# Members of communities ------------------------------------------------------------------------------------------


def internal_degrees(random: Random, degrees: Sequence[int], mixing: float) -> list[int]:
    """Return the share 1 - mixing of each degree, rounded up or down at random so that the mean is right."""
    return [min(degree, math.floor((1 - mixing) * degree + random.random())) for degree in degrees]


def assign(random: Random, internal: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Return a community for each node, larger than its internal degree; nodes of high degree choose first."""
    communities_by_size = sorted(range(len(sizes)), key=lambda community: -sizes[community])
    order = list(range(len(internal)))
    shuffle(random, order)
    order.sort(key=lambda node: -internal[node])
    communities = [-1] * len(internal)
    places: list[int] = []
    opened = 0
    for node in order:
        while opened < len(sizes) and sizes[communities_by_size[opened]] > internal[node]:
            community = communities_by_size[opened]
            places.extend([community] * sizes[community])
            opened += 1
        if not places:
            raise ValueError("the communities are too small for the internal degrees")
        chosen = below(random, len(places))
        communities[node] = places[chosen]
        places[chosen] = places[-1]
        places.pop()
    return communities


# Edges -----------------------------------------------------------------------------------------------------------


def edge(a: int, b: int) -> Edge:
    return (a, b) if a < b else (b, a)


def havel_hakimi(members: Sequence[int], wanted: Sequence[int]) -> tuple[list[Edge], list[int]]:
    """Return a simple graph of the given degrees, and for each member the number of ends that could not be placed.

    The member with the most open ends is joined to the others with the most. Members stay sorted by open ends, so that
    the partners are a range; among members equal to the last partner, those that preserve the order are taken.
    """
    order = sorted(range(len(members)), key=lambda member: wanted[member])
    keys = [wanted[member] for member in order]
    edges: list[Edge] = []
    missing = [0] * len(members)
    while keys and keys[-1] > 0:
        member, count = order.pop(), keys.pop()
        placeable = min(count, len(keys) - bisect_right(keys, 0))
        missing[member] += count - placeable
        if not placeable:
            continue
        # Take the first of the members with as many open ends as the last partner, which preserves the order.
        last = keys[len(keys) - placeable]
        above = bisect_right(keys, last)
        first_equal = bisect_left(keys, last)
        from_equal = placeable - (len(keys) - above)
        for place in (*range(above, len(keys)), *range(first_equal, first_equal + from_equal)):
            edges.append(edge(members[member], members[order[place]]))
            keys[place] -= 1
    return edges, missing


def swap_ends(random: Random, edges: list[Edge]) -> None:
    """Exchange ends of random pairs of edges if the graph stays simple."""
    present = set(edges)
    count = len(edges)
    uniform = random.random
    for _ in range(SWAPS_PER_EDGE * count if count > 1 else 0):
        first, second = int(uniform() * count), int(uniform() * count)
        a, b = edges[first]
        c, d = edges[second] if uniform() < 0.5 else edges[second][::-1]
        if a == d or c == b:
            continue
        left, right = (a, d) if a < d else (d, a), (c, b) if c < b else (b, c)
        if left in present or right in present:
            continue
        present -= {edges[first], edges[second]}
        present |= {left, right}
        edges[first], edges[second] = left, right


def inside(random: Random, communities: Sequence[int], internal: list[int]) -> list[Edge]:
    """Return the edges inside communities, and lower internal degrees that cannot be realized."""
    members: list[list[int]] = [[] for _ in range(max(communities) + 1)]
    for node, community in enumerate(communities):
        members[community].append(node)
    edges: list[Edge] = []
    for group in members:
        if sum(internal[node] for node in group) % 2:
            # Remove one end from the node that it affects least.
            internal[max(group, key=lambda node: internal[node])] -= 1
        placed, missing = havel_hakimi(group, [internal[node] for node in group])
        for node, count in zip(group, missing, strict=True):
            internal[node] -= count
        swap_ends(random, placed)
        edges.extend(placed)
    return edges


def between(random: Random, communities: Sequence[int], external: Sequence[int]) -> list[Edge]:
    """Return the edges between communities; ends without a partner after many tries are left out."""
    ends = [node for node, count in enumerate(external) for _ in range(count)]
    shuffle(random, ends)
    pairs = [[ends[place], ends[place + 1]] for place in range(0, len(ends) - 1, 2)]
    present: set[Edge] = set()
    bad = []
    for place, (a, b) in enumerate(pairs):
        if allowed(communities, present, a, b):
            present.add(edge(a, b))
        else:
            bad.append(place)
    open_pairs = set(bad)
    for place in bad:
        for _ in range(REPAIRS_PER_PAIR):
            other = below(random, len(pairs))
            (a, b), (c, d) = pairs[place], pairs[other]
            if other in open_pairs or not allowed(communities, present, a, d):
                continue
            if not allowed(communities, present, c, b) or edge(a, d) == edge(c, b):
                continue
            present.remove(edge(c, d))
            present |= {edge(a, d), edge(c, b)}
            pairs[place], pairs[other] = [a, d], [c, b]
            open_pairs.remove(place)
            break
    return list(present)


def allowed(communities: Sequence[int], present: set[Edge], a: int, b: int) -> bool:
    return communities[a] != communities[b] and edge(a, b) not in present


# Weights ---------------------------------------------------------------------------------------------------------


def weigh(edges: Sequence[Edge], communities: Sequence[int], weight_mixing: float) -> list[float]:
    """Return weights whose sums at each node, inside and outside, approximate the parts of its strength."""
    kind = [communities[a] != communities[b] for a, b in edges]
    degrees = [[0, 0] for _ in communities]
    for (a, b), outside in zip(edges, kind, strict=True):
        degrees[a][outside] += 1
        degrees[b][outside] += 1
    targets = [strengths(inner, outer, weight_mixing) for inner, outer in degrees]
    weights = [1.0] * len(edges)
    for _ in range(SCALING_ROUNDS):
        sums = [[0.0, 0.0] for _ in communities]
        for (a, b), outside, weight in zip(edges, kind, weights, strict=True):
            sums[a][outside] += weight
            sums[b][outside] += weight
        lacks = [
            [math.sqrt(target / found) if found else 1.0 for target, found in zip(wanted, node, strict=True)]
            for wanted, node in zip(targets, sums, strict=True)
        ]
        weights = [
            weight * lacks[a][outside] * lacks[b][outside]
            for (a, b), outside, weight in zip(edges, kind, weights, strict=True)
        ]
    return [max(float(f"{weight:.4g}"), 1e-6) for weight in weights]


def strengths(inner: int, outer: int, weight_mixing: float) -> tuple[float, float]:
    """Return the target weight of a node's edges inside and outside; it is all on one side if only that has edges."""
    strength = (inner + outer) ** STRENGTH_EXPONENT
    if not inner or not outer:
        return (strength, strength)
    return (1 - weight_mixing) * strength, weight_mixing * strength


# Generator -------------------------------------------------------------------------------------------------------


def generate(parameters: Parameters) -> Benchmark:
    random = Random(parameters.seed)
    sizes = community_sizes(random, parameters)
    degrees = draw(random, *degree_law(parameters), parameters.nodes)
    internal = internal_degrees(random, degrees, parameters.mixing)
    communities = assign(random, internal, sizes)
    edges = inside(random, communities, internal)
    edges += between(random, communities, [k - inner for k, inner in zip(degrees, internal, strict=True)])
    edges.sort()
    mixing = parameters.weight_mixing
    weights = None if mixing is None else weigh(edges, communities, mixing)
    return Benchmark(edges, weights, communities)


def realized(graph: Benchmark) -> Realized:
    count = len(graph.communities)
    degrees, outside = [0] * count, [0] * count
    strength, outside_strength = [0.0] * count, [0.0] * count
    for place, (a, b) in enumerate(graph.edges):
        weight = 1.0 if graph.weights is None else graph.weights[place]
        leaves = graph.communities[a] != graph.communities[b]
        for node in (a, b):
            degrees[node] += 1
            outside[node] += leaves
            strength[node] += weight
            outside_strength[node] += weight * leaves
    sizes = [0] * (max(graph.communities) + 1)
    for community in graph.communities:
        sizes[community] += 1
    return Realized(
        nodes=count,
        edges=len(graph.edges),
        mean_degree=sum(degrees) / count,
        max_degree=max(degrees),
        communities=len(sizes),
        smallest=min(sizes),
        largest=max(sizes),
        mixing=mean_share(outside, degrees),
        weight_mixing=None if graph.weights is None else mean_share(outside_strength, strength),
    )


def mean_share(parts: Sequence[float], wholes: Sequence[float]) -> float:
    return sum(part / whole for part, whole in zip(parts, wholes, strict=True) if whole) / len(parts)


def check(parameters: Parameters, found: Realized) -> None:
    """Raise an error if the graph does not have the required properties."""
    pairs = [(parameters.mixing, found.mixing)]
    if parameters.weight_mixing is not None and found.weight_mixing is not None:
        pairs.append((parameters.weight_mixing, found.weight_mixing))
    for wanted, got in pairs:
        if abs(wanted - got) > MIXING_TOLERANCE:
            raise ValueError(f"the mixing is {got:.4f} instead of {wanted}")


def write(graph: Benchmark, edges: Path, truth: Path) -> None:
    with edges.open("w") as file:
        if graph.weights is None:
            file.writelines(f"{a}\t{b}\n" for a, b in graph.edges)
        else:
            file.writelines(f"{a}\t{b}\t{w:.4g}\n" for (a, b), w in zip(graph.edges, graph.weights, strict=True))
    with truth.open("w") as file:
        file.writelines(f"{node}\t{community}\n" for node, community in enumerate(graph.communities))


def make(parameters: Parameters, edges: Path, truth: Path) -> Realized:
    graph = generate(parameters)
    found = realized(graph)
    check(parameters, found)
    write(graph, edges, truth)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="evals/quality/lfr.py", description="an LFR graph and its communities")
    option: Callable[..., argparse.Action] = parser.add_argument
    option("--nodes", type=int, required=True)
    option("--mixing", type=float, required=True, help="share of a node's edges that leave its community")
    option("--weight-mixing", type=float, help="share of a node's weight on these edges; without it no weights")
    option("--community-min", type=int, default=20)
    option("--community-max", type=int, default=100)
    option("--mean-degree", type=float, default=20.0)
    option("--max-degree", type=int, default=50)
    option("--seed", type=int, default=1)
    option("-o", "--output", type=Path, required=True)
    option("--truth", type=Path, required=True)
    options = vars(parser.parse_args())
    output, truth = options.pop("output"), options.pop("truth")
    print(json.dumps(asdict(make(Parameters(**options), output, truth))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
