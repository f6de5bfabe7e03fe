"""Several starts: the map equation and modularity on classes of graphs on which a single start fails (bars N1, N2).

    evals/rivals.sh python                                       # once
    python3 evals/quality/starts.py [--scale smoke|full] [--only CLASS,..]

Graphs of `classes.py`, by two graph seeds, five seeds of outcore and lines in random order. N1: the code length of the
map equation, divided by the smallest of that of one community, of outcore's own modularity communities and of the best
of five runs of Infomap. N2: modularity divided by the best of five runs of leidenalg. All scores are computed here from
the edges. The rows also have both figures of a single start (`--trials 1`).
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, running, subject
from harness.running import Command

places.use_rivals_python()

import numpy as np
import rivals
import scores
from classes import CLASSES
from rivals import INFOMAP, LEIDEN
from scores import Array, Edges

SEEDS = {"full": (1, 2, 3, 4, 5), "smoke": (1,)}
GRAPH_SEEDS = {"full": (1, 2), "smoke": (1,)}
RIVAL_SEEDS = (1, 2, 3, 4, 5)
CODE_LENGTH_BAR, CODE_LENGTH_MEAN_BAR = 1.0, 0.9995
# Equal partitions differ by rounding.
ROUNDING = 1e-9
MODULARITY_BAR, MODULARITY_MEAN_BAR = 0.999, 1.0


def write(edges: Edges, path: Path, seed: int) -> None:
    """Write the edges in random order."""
    order = np.random.default_rng(seed).permutation(len(edges.sources))
    columns = zip(edges.sources[order], edges.targets[order], edges.weights[order], strict=True)
    with path.open("w") as file:
        file.writelines(f"{source}\t{target}\t{weight:.9g}\n" for source, target, weight in columns)


def found(source: Path, folder: Path, edges: Edges, method: str, seed: int, *options: str) -> Array:
    """Return the community of each node; nodes without an edge are communities of their own."""
    output = folder / "communities.tsv"
    argv = [*subject.cluster_argv(source, output, places.fresh(folder / "work"), method=method, seed=seed), *options]
    sample = running.run_once(Command("cluster", argv))
    if not sample.ok:
        places.cannot_run(f"cluster failed:\n{sample.error}")
    communities = np.arange(edges.nodes) + edges.nodes
    for node, community in inputs.read_communities(output).items():
        communities[int(node)] = int(community)
    return np.unique(communities, return_inverse=True)[1]


def extend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", type=partial(str.split, sep=","), help="classes, by name or part of it")


def main() -> int:
    options = results.arguments("quality", "several starts on classes of graphs", repeats=1, extend=extend)
    folder = places.fresh(places.data_folder() / "starts")
    result = results.Result("quality", "N1", options.scale, {"seeds": list(SEEDS[options.scale])}, part="starts")
    rows, lengths, modularities = [], [], []
    for name, generate in CLASSES.items():
        if options.only and not any(part in name for part in options.only):
            continue
        for graph_seed in GRAPH_SEEDS[options.scale]:
            print(f"  {name}, graph {graph_seed} ..", file=sys.stderr)
            edges, source, stored = generate(graph_seed), folder / "edges.tsv", folder / "merged.npz"
            write(edges, source, graph_seed)
            fingerprint = rivals.save_edges(stored, edges.nodes, edges.sources, edges.targets, edges.weights)

            def best(rival: rivals.Rival, score, fold):
                answers = (rivals.ask(rival, stored, fingerprint, seed) for seed in RIVAL_SEEDS)
                return fold(score(edges, answer.communities) for answer in answers)

            infomap, leiden = best(INFOMAP, scores.code_length, min), best(LEIDEN, scores.modularity, max)
            one = scores.code_length(edges, np.zeros(edges.nodes, dtype=np.int64))
            maps, densities, counts, single = [], [], [], []
            for seed in SEEDS[options.scale]:
                run = partial(found, source, folder, edges, seed=seed)
                communities = run("map-equation")
                maps.append(scores.code_length(edges, communities))
                counts.append(len(np.unique(communities)))
                densities.append(run("modularity"))
                single.append(
                    scores.code_length(edges, found(source, folder, edges, "map-equation", seed, "--trials=1"))
                )
            bar = min(infomap, one, *(scores.code_length(edges, other) for other in densities))
            modularity = [scores.modularity(edges, other) / leiden for other in densities]
            label = f"{name}, graph {graph_seed}"
            rows.append(
                {
                    "graph": label,
                    "worst": round(max(maps) / bar, 5),
                    "mean": round(float(np.mean(maps)) / bar, 5),
                    "single start, worst": round(max(single) / bar, 5),
                    "one community": round(one / bar, 5),
                    "Infomap": round(infomap / bar, 5),
                    "communities": counts,
                    "modularity, worst": round(min(modularity), 5),
                }
            )
            lengths.append(float(np.mean(maps)) / bar)
            modularities.append(float(np.mean(modularity)))
            result.check(f"{label}: code length", max(maps) / bar - ROUNDING, CODE_LENGTH_BAR, unit="x best")
            result.check(f"{label}: modularity", min(modularity), MODULARITY_BAR, ">=", unit="x leidenalg")
    result.rows = rows
    result.check("code length, mean", float(np.mean(lengths)), CODE_LENGTH_MEAN_BAR, unit="x best")
    result.check("modularity, mean", float(np.mean(modularities)), MODULARITY_MEAN_BAR, ">=", unit="x leidenalg")
    places.fresh(folder)
    print("\n" + result.rows_table())
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
