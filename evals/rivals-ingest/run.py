"""How much faster a graph is built than by the strongest rivals (bar B3).

Sixteen million weighted edges with string names: `outcore build` (both directions, weights, repeated pairs added up, a
memory limit of 1 GiB) against webgraph-rs (one direction, no weights, no limit for the names) and a DuckDB pipeline
(the whole job, 1 GB). Run evals/rivals.sh first.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import harness
from harness import Command

SIZES = {"full": (1_000_000, 16_000_000), "smoke": (20_000, 200_000)}
PROGRAMS = harness.EVALS / "ingest"


def main() -> int:
    options = harness.arguments("rivals-ingest", "build against webgraph-rs and DuckDB")
    full = options.scale == "full"
    nodes, edges = SIZES[options.scale]
    harness.rival("bin/webgraph")
    python = harness.rival("venv/bin/python")
    harness.require_space(edges * 200)
    graph = harness.planted(nodes, edges)
    folder = harness.fresh(harness.data_folder() / "rivals-ingest")

    def prepare() -> None:
        harness.fresh(folder)
        harness.settle(graph.path)

    webgraph = ["bash", str(PROGRAMS / "webgraph.sh"), str(graph.path), str(folder), str(nodes), "2"]
    rivals = {"RIVALS": str(harness.rivals_folder())}
    duckdb = [str(python), str(PROGRAMS / "duckdb_graph.py"), str(graph.path), "--dir", str(folder)]
    result = harness.Result("rivals-ingest", "B3", options.scale, graph.description)
    result.measure(
        [
            Command("outcore", harness.build_argv(graph.path, folder / "graph", folder / "work"), [folder], prepare),
            Command("webgraph", webgraph, [folder], prepare, env=rivals),
            Command("duckdb", [*duckdb, "--memory", "1GB", "--threads", "2"], [folder], prepare),
        ],
        options.repeats,
    )
    harness.fresh(folder)

    ours = result.summary("outcore").median_seconds
    result.check_runs("outcore")
    for name, bar in (("webgraph", 4), ("duckdb", 8)):
        theirs = result.summary(name)
        if theirs.failures == options.repeats:
            result.notes.append(f"{name} failed in every run: {result.samples[name][0].error.strip()[-200:]}")
        result.check(f"{name}: time / ours", theirs.median_seconds / ours, bar, ">=", unit="x", judged=full)
    return result.finish(baseline="outcore")


if __name__ == "__main__":
    sys.exit(main())
