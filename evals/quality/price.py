"""Price of several starts: the default compared with a single start (bar N4).

    evals/rivals.sh python                                       # once
    python3 evals/quality/price.py [--scale smoke|full] [--repeats 3] [--small]

The wall time of `cluster` on a graph that `build` has made, divided by that of `--trials 1`, in interleaved runs on two
threads. Graphs of fewer than a million edges, and a planted one of 50 million.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, running, subject
from harness.running import Command

places.use_rivals_python()

from classes import cells, equal_groups, unequal
from scores import Edges
from starts import write

METHODS = ("map-equation", "modularity")
SMALL_BAR, LARGE_BAR = 3.0, 1.15
GRAPHS: dict[str, dict[str, Callable[[], Edges]]] = {
    "full": {
        "5,000 cells": lambda: cells(5_000, False, 3),
        "15,000 cells, Jaccard": lambda: cells(15_000, True, 3),
        "10,000 and 200 x 50": lambda: unequal(10_000, 50, 200, 10, 0.3, 1),
        "10 groups of 2,000, mixing 0.55": lambda: equal_groups(10, 2_000, 20, 0.55, 1, 1),
    },
    "smoke": {"10 groups of 100": lambda: equal_groups(10, 100, 10, 0.3, 1, 1)},
}
PLANTED = {
    "full": {(30_000, 300_000): SMALL_BAR, (90_000, 900_000): SMALL_BAR, (5_000_000, 50_000_000): LARGE_BAR},
    "smoke": {},
}


def price(result: results.Result, name: str, graph: Path, bar: float, repeats: int) -> None:
    """Check the ratio of the times on a graph."""
    output = graph.with_name("communities.tsv")
    for method in METHODS:
        argv = subject.cluster_argv(graph, output, graph.with_name("work"), method=method)
        alone = Command(f"{name}, {method}, one", [*argv, "--trials=1"])
        commands = [Command(f"{name}, {method}, default", argv), alone]
        running.settle(*(file for file in graph.iterdir() if file.is_file()))
        several, one = running.measure(commands, repeats).values()
        if not all(sample.ok for sample in (*several, *one)):
            places.cannot_run(f"cluster failed on {name}")
        pairs = zip(several, one, strict=True)
        ratios = [default.wall_seconds / alone.wall_seconds for default, alone in pairs]
        result.check(f"{name}, {method}: time / one start", statistics.median(ratios), bar, unit="x")
        result.rows.append({"graph": name, "method": method, "ratios": [round(ratio, 3) for ratio in ratios]})


def extend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--small", action="store_true", help="leave out the graph of 50 million edges")


def main() -> int:
    options = results.arguments("quality", "the price of several starts", repeats=3, extend=extend)
    folder = places.fresh(places.data_folder() / "price")
    result = results.Result("quality", "N4", options.scale, {"threads": 2, "memory": "1GiB"}, part="price")
    source, graph = folder / "edges.tsv", folder / "edges.graph"

    def built(edges: Path) -> Path:
        shutil.rmtree(graph, ignore_errors=True)
        argv = subject.build_argv(edges, graph, places.fresh(folder / "work"))
        sample = running.run_once(Command("build", argv))
        if not sample.ok:
            places.cannot_run(f"build failed:\n{sample.error}")
        return graph

    for name, generate in GRAPHS[options.scale].items():
        write(generate(), source, 1)
        price(result, name, built(source), SMALL_BAR, options.repeats)
    for (nodes, edges), bar in PLANTED[options.scale].items():
        if options.small and bar == LARGE_BAR:
            continue
        planted = inputs.planted(nodes, edges)
        price(result, f"planted, {edges:,} edges", built(planted.path), bar, options.repeats)
    places.fresh(folder)
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
