"""How close a graph and its communities come to the cost of copying the text (bar B2).

Fifty million weighted edges between five million named nodes, warm in the page cache, 1 GiB, two threads: the median
time of `build` and of `cluster` against that of `cp` and `sync` of the same file.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, running, subject
from harness.running import Command

SIZES = {"full": (5_000_000, 50_000_000), "smoke": (20_000, 200_000)}
COPY = 'cp --reflink=never -- "$1" "$2" && sync -- "$2"'


def main() -> int:
    options = results.arguments("ingest", "build and cluster against a copy of the text")
    full = options.scale == "full"
    nodes, edges = SIZES[options.scale]
    places.require_space(edges * 100)
    graph = inputs.planted(nodes, edges)
    folder = places.fresh(places.data_folder() / "ingest")
    work = folder / "work"

    def prepare() -> None:
        places.fresh(folder)
        running.settle(graph.path)

    result = results.Result("ingest", "B2", options.scale, graph.description)
    result.measure(
        [
            Command("copy", ["sh", "-c", COPY, "copy", str(graph.path), str(folder / "copy")], [folder], prepare),
            Command("build", subject.build_argv(graph.path, folder / "graph", work), [folder], prepare),
            Command("cluster", subject.cluster_argv(graph.path, folder / "communities", work), [folder], prepare),
        ],
        options.repeats,
    )
    places.fresh(folder)

    copy = result.summary("copy").median_seconds
    result.check_runs("copy", "build", "cluster")
    for name, bar, aim in (("build", 6, 4), ("cluster", 9, 6)):
        ratio = result.summary(name).median_seconds / copy
        result.check(f"{name}: time / copy's", ratio, bar, aim=aim, unit="x", judged=full)
    return result.finish(baseline="copy")


if __name__ == "__main__":
    sys.exit(main())
