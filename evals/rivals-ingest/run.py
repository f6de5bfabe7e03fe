"""Speed of building a graph compared with the strongest rivals (bar B3).

Sixteen million weighted edges with string names: `outcore build` (both directions, weights, repeated pairs summed, a
memory limit of 1 GiB) against webgraph-rs (one direction, no weights, no limit for the names) and a DuckDB pipeline
(the whole job, 1 GB). Run evals/rivals.sh first.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, running, subject
from harness.running import Command

SIZES = {"full": (1_000_000, 16_000_000), "smoke": (20_000, 200_000)}
PROGRAMS = places.EVALS / "ingest"


def main() -> int:
    options = results.arguments("rivals-ingest", "build against webgraph-rs and DuckDB")
    full = options.scale == "full"
    nodes, edges = SIZES[options.scale]
    places.rival("bin/webgraph")
    python = places.rival("venv/bin/python")
    places.require_space(edges * 200)
    graph = inputs.planted(nodes, edges)
    folder = places.fresh(places.data_folder() / "rivals-ingest")

    def prepare() -> None:
        places.fresh(folder)
        running.settle(graph.path)

    webgraph = ["bash", str(PROGRAMS / "webgraph.sh"), str(graph.path), str(folder), str(nodes), "2"]
    rivals = {"RIVALS": str(places.rivals_folder())}
    duckdb = [str(python), str(PROGRAMS / "duckdb_graph.py"), str(graph.path), "--dir", str(folder)]
    result = results.Result("rivals-ingest", "B3", options.scale, graph.description)
    result.measure(
        [
            Command("outcore", subject.build_argv(graph.path, folder / "graph", folder / "work"), [folder], prepare),
            Command("webgraph", webgraph, [folder], prepare, env=rivals),
            Command("duckdb", [*duckdb, "--memory", "1GB", "--threads", "2"], [folder], prepare),
        ],
        options.repeats,
    )
    places.fresh(folder)

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
