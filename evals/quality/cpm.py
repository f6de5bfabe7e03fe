"""The constant Potts model on dense cores, real networks and planted groups, for gamma from 0.01 to 0.5 (bar N2).

    evals/rivals.sh python                                       # once
    python3 evals/quality/cpm.py --graphs FOLDER [--scale smoke|full]

The objective is divided by the best of five runs of leidenalg. It is computed here from the edges; gamma is the
weight per pair of nodes of a community, and edges have no weights.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import places, results

places.use_rivals_python()

import cases
import numpy as np
import rivals
import scores
from classes import barbell, core_and_periphery, equal_groups
from graphs import existing, folder_of_graphs, read_graph, take_folder
from rivals import leiden_cpm
from scores import Edges
from starts import found, write

GAMMAS = (0.01, 0.05, 0.1, 0.2, 0.5)
SEEDS = {"full": (1, 2, 3), "smoke": (1,)}
RIVAL_SEEDS = (1, 2, 3, 4, 5)
BAR = 0.995


def simple(edges: Edges) -> Edges:
    """Return the graph without weights."""
    return Edges(edges.nodes, edges.sources, edges.targets, np.ones(len(edges.sources)))


def famous(name: str) -> Edges:
    import igraph

    graph = igraph.Graph.Famous(name)
    ends = np.array(graph.get_edgelist())
    return Edges(graph.vcount(), ends[:, 0], ends[:, 1], np.ones(len(ends)))


def real(stem: str, folder: Path) -> Edges:
    return scores.merged_edges(read_graph(existing(folder, f"{stem}.tsv"), None))


def votes(folder: Path) -> Edges:
    case = next(case for case in cases.CASES["full"] if case.name == "wiki-vote")
    merged = scores.merged_edges(read_graph(case.files(folder)[0], None))
    # Votes in both directions are one edge.
    return simple(merged)


GRAPHS: dict[str, dict[str, Callable[[Path], Edges]]] = {
    "full": {
        "karate": partial(real, "karate"),
        "football": partial(real, "football"),
        "wiki-vote": votes,
        "Meredith": lambda _: famous("Meredith"),
        "core of 60 in 400": lambda _: core_and_periphery(60, 400, 0.6, 3, 1),
        "core of 150 in 1,000": lambda _: core_and_periphery(150, 1_000, 0.4, 4, 2),
        "barbell of 30": lambda _: barbell(30),
        "20 groups of 50": lambda _: simple(equal_groups(20, 50, 20, 0.3, 1, 1)),
    },
    "smoke": {"karate": partial(real, "karate"), "barbell of 30": lambda _: barbell(30)},
}


def main() -> int:
    options = results.arguments("quality", "constant Potts model on dense cores", repeats=1, extend=take_folder)
    graphs = folder_of_graphs(options)
    folder = places.fresh(places.data_folder() / "cpm")
    result = results.Result("quality", "N2", options.scale, {"seeds": list(SEEDS[options.scale])}, part="cpm")
    rows = []
    for name, generate in GRAPHS[options.scale].items():
        print(f"  {name} ..", file=sys.stderr)
        edges, source, stored = generate(graphs), folder / "edges.tsv", folder / "merged.npz"
        write(edges, source, 1)
        fingerprint = rivals.save_edges(stored, edges.nodes, edges.sources, edges.targets, edges.weights)
        row: dict[str, object] = {"graph": name, "edges": len(edges.sources)}
        worst = []
        for gamma in GAMMAS:
            answers = (rivals.ask(leiden_cpm(gamma), stored, fingerprint, seed) for seed in RIVAL_SEEDS)
            best = max(scores.constant_potts(edges, answer.communities, gamma) for answer in answers)
            run = partial(found, source, folder, edges, "cpm")
            ours = (run(seed, f"--resolution={gamma}") for seed in SEEDS[options.scale])
            least = min(scores.constant_potts(edges, communities, gamma) for communities in ours)
            share = least / best if best > 0 else 1.0
            row[f"gamma {gamma}"] = round(share, 5)
            worst.append(share)
        rows.append(row)
        result.check(f"{name}: CPM, worst", min(worst), BAR, ">=", unit="x leidenalg")
    result.rows = rows
    places.fresh(folder)
    print("\n" + result.rows_table())
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
