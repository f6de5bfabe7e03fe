"""How sure a result is: communities across seeds, stability of right and wrong nodes, and warnings (bar N3).

    evals/rivals.sh python                                       # once
    python3 evals/quality/sure.py [--scale smoke|full]

On graphs of nearest neighbors, the number of communities of five seeds should be within 10 % of its median. On LFR
graphs with a mixing of 0.7, the stability of a node should tell whether it is right: whether its group is the most
frequent one in its community. The random graph and the unequal one are warned of, clear ones are not.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import places, results, running, subject
from harness.running import Command

places.use_rivals_python()

import lfr
from classes import barbell, cells, equal_groups, nested, unequal, uniform
from scores import Edges
from starts import write

METHODS = ("map-equation", "modularity")
SEEDS = {"full": (1, 2, 3, 4, 5), "smoke": (1, 2)}
COUNT_BAR, AUC_BAR = 0.1, 0.9
LFR = {"full": ((5_000, 1), (5_000, 2), (10_000, 1)), "smoke": ((2_000, 1),)}
#: Fewer wrong nodes say nothing about a ranking.
FEWEST_WRONG = 20
#: Beginnings of the warnings that a result says little.
DOUBTS = ("starts disagree", "these communities are no better", "a random graph")

NEIGHBORS: dict[str, dict[str, Callable[[], Edges]]] = {
    "full": {
        "5,000 cells": lambda: cells(5_000, False, 3),
        "5,000 cells, Jaccard": lambda: cells(5_000, True, 3),
        "15,000 cells": lambda: cells(15_000, False, 3),
    },
    "smoke": {"2,000 cells": lambda: cells(2_000, False, 3)},
}
DOUBTFUL: dict[str, Callable[[], Edges]] = {
    "random": lambda: uniform(10_000, 10, 1),
    "10,000 and 200 x 50": lambda: unequal(10_000, 50, 200, 10, 0.3, 1),
}
CLEAR: dict[str, Callable[[], Edges]] = {
    "20 groups of 50": lambda: equal_groups(20, 50, 20, 0.2, 1, 1),
    "groups of 30 in 300": lambda: nested(9_000, ((30, 12.0), (300, 4.0), (9_000, 1.0)), 1),
    "barbell of 30": lambda: barbell(30),
}


@dataclass(frozen=True)
class Found:
    """Community and stability of each node, and the warnings that the result says little."""

    communities: dict[int, str]
    stability: dict[int, float]
    doubts: list[str]


def found(source: Path, folder: Path, method: str, seed: int) -> Found:
    output, report = folder / "communities.tsv", folder / "report.json"
    work = places.fresh(folder / "work")
    argv = subject.cluster_argv(source, output, work, method=method, seed=seed, report=report)
    sample = running.run_once(Command("cluster", [*argv, "--stability"]))
    if not sample.ok:
        places.cannot_run(f"cluster failed:\n{sample.error}")
    rows = [line.split("\t") for line in output.read_text().splitlines()]
    warnings = json.loads(report.read_text())["warnings"]
    return Found(
        {int(node): community for node, community, _ in rows},
        {int(node): float(stability) for node, _, stability in rows},
        [text for text in warnings if text.startswith(DOUBTS)],
    )


def area(right: list[float], wrong: list[float]) -> float:
    """Return the probability that a right node is more stable than a wrong one; equal ones count half."""
    values = Counter(right), Counter(wrong)
    below, wins = 0, 0.0
    for value in sorted({*right, *wrong}):
        wins += values[0][value] * (below + values[1][value] / 2)
        below += values[1][value]
    return wins / (len(right) * len(wrong))


def area_of(of: Found, truth: dict[int, str]) -> tuple[float, int]:
    """Return how well stability tells right nodes from wrong ones, 1 if none is wrong, and the number of wrong ones."""
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    for node, community in of.communities.items():
        groups[community][truth[node]] += 1
    usual = {community: counts.most_common(1)[0][0] for community, counts in groups.items()}
    sides: tuple[list[float], list[float]] = ([], [])
    for node, community in of.communities.items():
        sides[usual[community] != truth[node]].append(of.stability[node])
    return area(*sides) if all(sides) else 1.0, len(sides[1])


def main() -> int:
    options = results.arguments("quality", "how sure a result is", repeats=1)
    folder = places.fresh(places.data_folder() / "sure")
    seeds, source = SEEDS[options.scale], folder / "edges.tsv"
    result = results.Result("quality", "N3", options.scale, {"seeds": list(seeds)}, part="sure")
    run = partial(found, source, folder)

    for name, generate in NEIGHBORS[options.scale].items():
        write(generate(), source, 1)
        for method in METHODS:
            counts = [len(set(run(method, seed).communities.values())) for seed in seeds]
            median = statistics.median(counts)
            spread = max(abs(count - median) for count in counts) / median
            result.check(f"{name}, {method}: communities from their median", spread, COUNT_BAR, unit="x")
            result.rows.append({"graph": name, "method": method, "communities": counts})

    for nodes, seed in LFR[options.scale]:
        parameters = lfr.Parameters(nodes, 0.7, seed=seed)
        lfr.make(parameters, source, folder / "truth.tsv")
        truth = dict(line.split("\t") for line in (folder / "truth.tsv").read_text().splitlines())
        for method in METHODS:
            under, wrong = area_of(run(method, 1), {int(node): group for node, group in truth.items()})
            name = f"LFR, {nodes:,} nodes, graph {seed}, {method}, {wrong:,} wrong: area under the curve"
            result.check(name, under, AUC_BAR, ">=", judged=wrong >= FEWEST_WRONG)

    for graphs, bar in ((DOUBTFUL, 1), (CLEAR, 0)):
        for name, generate in graphs.items():
            write(generate(), source, 1)
            for method in METHODS:
                warned = int(bool(run(method, 1).doubts))
                result.check(f"{name}, {method}: warned", warned, bar, ">=" if bar else "<=")
    places.fresh(folder)
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
